//! The whole picture, decoded within bounds.

use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::error::ImageError;
use image::metadata::Orientation;
use image::{
    AnimationDecoder, DynamicImage, ExtendedColorType, Frames, ImageDecoder, ImageFormat, ImageReader, Limits,
};

use crate::sanitize::format::image::directory::{self, TiffPages};
use crate::sanitize::format::image::resolution::TiffResolution;
use crate::sanitize::{Rejection, Work};

/// The widest and highest picture, in pixels.
pub(super) const SIDE: u32 = 65_535;

/// The most memory that one picture takes, in bytes: 85 million pixels in colour.
pub(super) const MEMORY: u64 = 256 << 20;

/// A picture, or a page of one.
pub(super) struct DecodedPicture {
    pub(super) picture: DynamicImage,
    pub(super) turn: Orientation,
    /// Of black and white: in a file it takes a bit a dot.
    pub(super) bilevel: bool,
    /// Whether its colours were multiplied by how much of them is seen.
    pub(super) associated: bool,
    pub(super) resolution: TiffResolution,
}

impl DecodedPicture {
    /// The picture as it is looked at, in colours that every format has.
    pub(super) fn upright(self) -> DynamicImage {
        let mut picture = self.picture;
        picture.apply_orientation(self.turn);
        match picture {
            DynamicImage::ImageLumaA8(_) => DynamicImage::ImageRgba8(picture.into_rgba8()),
            DynamicImage::ImageLumaA16(_) => DynamicImage::ImageRgba16(picture.into_rgba16()),
            other => other,
        }
    }
}

/// Decodes a picture, and each frame of an animation or page of a TIFF.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::Unsupported`], [`Rejection::OverLimit`].
pub(super) fn shown(file: &[u8], format: ImageFormat, work: &mut Work<'_>) -> Result<(), Rejection> {
    if format == ImageFormat::Tiff {
        return paged(file, work);
    }
    let picture = decoded(file, format, work)?.picture;
    let frame = (picture.width() as usize).saturating_mul(picture.height() as usize).saturating_mul(4);
    drop(picture);
    let file = Cursor::new(file);
    match format {
        ImageFormat::Gif => {
            let mut decoder = GifDecoder::new(file).map_err(rejection)?;
            decoder.set_limits(limits()).map_err(rejection)?;
            played(decoder.into_frames(), frame, work)
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(file).map_err(rejection)?;
            if decoder.has_animation() { played(decoder.into_frames(), frame, work) } else { Ok(()) }
        }
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(file, limits()).map_err(rejection)?;
            if !decoder.is_apng().map_err(rejection)? {
                return Ok(());
            }
            played(decoder.apng().map_err(rejection)?.into_frames(), frame, work)
        }
        _ => Ok(()),
    }
}

/// Decodes a TIFF page by page.
fn paged(file: &[u8], work: &mut Work<'_>) -> Result<(), Rejection> {
    let TiffPages { shown, .. } = TiffPages::of(file)?;
    work.items(shown.len())?;
    if shown.is_empty() {
        return Err(Rejection::Malformed);
    }
    // Decoders read the page that a file begins with.
    let mut file = file.to_vec();
    for page in shown {
        directory::begin_with(&mut file, page);
        decoded(&file, ImageFormat::Tiff, work)?;
    }
    Ok(())
}

/// The picture in the same format, upright, and nothing else.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::Unsupported`], [`Rejection::OverLimit`].
pub(super) fn encoded(file: &[u8], format: ImageFormat, work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let picture = decoded(file, format, work)?.upright();
    let mut out = Cursor::new(Vec::new());
    picture.write_to(&mut out, format).map_err(rejection)?;
    Ok(out.into_inner())
}

/// The picture; of a TIFF, its first page.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::Unsupported`], [`Rejection::OverLimit`].
pub(super) fn decoded(
    file: &[u8],
    format: ImageFormat,
    work: &mut Work<'_>,
) -> Result<DecodedPicture, Rejection> {
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(rejection)?;
    let size = decoder.total_bytes();
    if size > MEMORY {
        return Err(Rejection::OverLimit);
    }
    let bilevel = format == ImageFormat::Tiff && decoder.original_color_type() == ExtendedColorType::L1;
    // What it unfolds to is what a file of it takes: faxes of many pages are nearly nothing but white.
    let unfolded = if bilevel { size / 8 } else { size };
    work.unpacked(usize::try_from(unfolded).unwrap_or(usize::MAX))?;
    let turn = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let picture = DynamicImage::from_decoder(decoder).map_err(rejection)?;
    let resolution = TiffResolution::default();
    Ok(DecodedPicture { picture, turn, bilevel, associated: false, resolution })
}

fn played(frames: Frames<'_>, size: usize, work: &mut Work<'_>) -> Result<(), Rejection> {
    for frame in frames {
        work.unpacked(size)?;
        frame.map_err(rejection)?;
    }
    Ok(())
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(SIDE), Some(SIDE));
    limits.max_alloc = Some(MEMORY);
    limits
}

fn rejection(error: ImageError) -> Rejection {
    match error {
        ImageError::Limits(_) => Rejection::OverLimit,
        ImageError::Unsupported(_) => Rejection::Unsupported,
        _ => Rejection::Malformed,
    }
}
