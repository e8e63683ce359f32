//! The whole picture, decoded within bounds.

use std::collections::HashSet;
use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::error::ImageError;
use image::metadata::Orientation;
use image::{AnimationDecoder, DynamicImage, Frames, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::sanitize::{ChangedObject, ObjectAction, ObjectKind, Rejection, Work};

/// The widest and highest picture, in pixels.
const SIDE: u32 = 65_535;

/// The most memory that one picture takes, in bytes: 85 million pixels in colour.
const MEMORY: u64 = 256 << 20;

/// More pages than any scan has.
const PAGES: usize = 10_000;

/// Decodes a picture, and each frame of an animation.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::OverLimit`].
pub(super) fn shown(file: &[u8], format: ImageFormat, work: &mut Work<'_>) -> Result<(), Rejection> {
    let (picture, _) = decoded(file, format, work)?;
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

/// The picture in the same format, upright, and nothing else.
///
/// # Errors
/// [`Rejection::Malformed`], [`Rejection::OverLimit`].
pub(super) fn encoded(file: &[u8], format: ImageFormat, work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let (mut picture, orientation) = decoded(file, format, work)?;
    picture.apply_orientation(orientation);
    let writable = match picture {
        DynamicImage::ImageLumaA8(_) => DynamicImage::ImageRgba8(picture.into_rgba8()),
        DynamicImage::ImageLumaA16(_) => DynamicImage::ImageRgba16(picture.into_rgba16()),
        other => other,
    };
    if format == ImageFormat::Tiff {
        let others = pages(file).saturating_sub(1);
        work.leave_out(ChangedObject::new(ObjectKind::Picture, ObjectAction::LeftOut, others as u64));
    }
    let mut out = Cursor::new(Vec::new());
    writable.write_to(&mut out, format).map_err(rejection)?;
    Ok(out.into_inner())
}

fn decoded(
    file: &[u8],
    format: ImageFormat,
    work: &mut Work<'_>,
) -> Result<(DynamicImage, Orientation), Rejection> {
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(rejection)?;
    let size = decoder.total_bytes();
    if size > MEMORY {
        return Err(Rejection::OverLimit);
    }
    work.unpacked(usize::try_from(size).unwrap_or(usize::MAX))?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(rejection)?, orientation))
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

/// How many pages a TIFF has (TIFF 6.0, section 2): image file directories, each of which says where the next is.
fn pages(file: &[u8]) -> usize {
    let big = file.starts_with(b"MM");
    let short = |at: usize| {
        let bytes = file.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let long = |at: usize| {
        let bytes = file.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) } as usize)
    };
    let mut seen = HashSet::new();
    let mut next = long(4);
    while let Some(at) = next.filter(|at| *at > 0) {
        let Some(entries) = short(at) else { break };
        if !seen.insert(at) || seen.len() >= PAGES {
            break;
        }
        next = at.checked_add(usize::from(entries).saturating_mul(12).saturating_add(2)).and_then(long);
    }
    seen.len()
}

fn rejection(error: ImageError) -> Rejection {
    match error {
        ImageError::Limits(_) => Rejection::OverLimit,
        _ => Rejection::Malformed,
    }
}
