//! [`clean`]: an image, known by its first bytes, written and proven.

use image::ImageFormat;

use crate::sanitize::format::image::{check, directory, gif, jpeg, png, tiff, webp};
use crate::sanitize::{Note, RedactionMode, Rejection, Work};

/// The format of an image that is rewritten.
pub(in crate::sanitize) fn format(file: &[u8]) -> Option<ImageFormat> {
    if directory::is_big_tiff(file) {
        return Some(ImageFormat::Tiff);
    }
    let format = image::guess_format(file).ok()?;
    let known = match format {
        ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::WebP => true,
        ImageFormat::Tiff => !is_raw(file),
        ImageFormat::Bmp => is_bitmap(file),
        _ => false,
    };
    known.then_some(format)
}

/// A camera's raw picture in the shape of a TIFF (Canon CR2), whose first page is only a preview.
fn is_raw(file: &[u8]) -> bool {
    file.get(8..10) == Some(b"CR")
}

/// Two letters are no proof: its header has a known length, and zeros where they belong.
fn is_bitmap(file: &[u8]) -> bool {
    let length = file.get(14..18).and_then(|length| length.try_into().ok()).map(u32::from_le_bytes);
    file.get(6..10) == Some(&[0; 4]) && matches!(length, Some(12 | 40 | 52 | 56 | 64 | 108 | 124))
}

/// Cleans an image. One that nobody here reads passes where such files may.
///
/// # Errors
/// [`Rejection::Malformed`] when it cannot be shown, [`Rejection::Unsupported`], [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let format = format(file).ok_or(Rejection::Malformed)?;
    let written = match written(file, format, work) {
        Err(Rejection::Unsupported) => work.pass(file)?,
        written => written?,
    };
    if work.options().redaction != RedactionMode::Off {
        work.stats().note(Note::Images, 1);
    }
    Ok(written)
}

/// An image in the same format, written and proven.
///
/// # Errors
/// [`Rejection::Malformed`] when it cannot be shown, [`Rejection::Unsupported`], [`Rejection::OverLimit`].
pub(super) fn written(file: &[u8], format: ImageFormat, work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let written = match format {
        ImageFormat::Png => png::written(file, work)?,
        ImageFormat::Jpeg => jpeg::written(file),
        ImageFormat::Gif => gif::written(file),
        ImageFormat::WebP => webp::written(file),
        ImageFormat::Tiff => Some(tiff::written(file, work)?),
        _ => Some(check::encoded(file, format, work)?),
    };
    let written = written.ok_or(Rejection::Malformed)?;
    // What is decoded is what leaves.
    check::shown(&written, format, work)?;
    Ok(written)
}
