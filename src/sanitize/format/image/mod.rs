//! Raster images: decoded to the end within bounds, so that what cannot be shown is not passed, and put together anew
//! from the parts that make the picture. Metadata (EXIF, XMP, comments, colour profiles, thumbnails), parts that
//! nobody knows, and what lies behind the picture are gone.
//!
//! PNG, JPEG, GIF and WebP keep their compressed picture, so no pixel changes and animations stay whole; a JPEG that
//! is to be turned keeps just that. BMP and TIFF are encoded anew, upright; of a TIFF the first page stays
//! ([`Note::Dropped`] counts the others).
//!
//! | file | noun |
//! |---|---|
//! | `check` | the whole picture, decoded |
//! | `reader` | bytes, taken one by one |
//! | `jpeg`, `png`, `gif`, `webp` | their parts |

mod check;
mod gif;
mod jpeg;
mod png;
mod reader;
mod webp;

use image::ImageFormat;

use crate::sanitize::{Note, Redaction, Rejection, Work};

/// The format of an image that is rewritten.
pub(in crate::sanitize) fn format(file: &[u8]) -> Option<ImageFormat> {
    let format = match infer::get(file)?.mime_type() {
        "image/png" => ImageFormat::Png,
        "image/jpeg" => ImageFormat::Jpeg,
        "image/gif" => ImageFormat::Gif,
        "image/webp" => ImageFormat::WebP,
        "image/tiff" => ImageFormat::Tiff,
        "image/bmp" if is_bitmap(file) => ImageFormat::Bmp,
        _ => return None,
    };
    Some(format)
}

/// Two letters are no proof: its header has a known length, and zeros where they belong.
fn is_bitmap(file: &[u8]) -> bool {
    let length = file.get(14..18).and_then(|length| length.try_into().ok()).map(u32::from_le_bytes);
    file.get(6..10) == Some(&[0; 4]) && matches!(length, Some(12 | 40 | 52 | 56 | 64 | 108 | 124))
}

/// Cleans an image.
///
/// # Errors
/// [`Rejection::Malformed`] when it cannot be shown, [`Rejection::OverLimit`].
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let format = format(file).ok_or(Rejection::Malformed)?;
    let written = match format {
        ImageFormat::Png => png::written(file, work)?,
        ImageFormat::Jpeg => jpeg::written(file),
        ImageFormat::Gif => gif::written(file),
        ImageFormat::WebP => webp::written(file),
        _ => Some(check::encoded(file, format, work)?),
    };
    let written = written.ok_or(Rejection::Malformed)?;
    // What is decoded is what leaves.
    check::shown(&written, format, work)?;
    if work.options().redaction != Redaction::Off {
        work.stats().note(Note::Images, 1);
    }
    Ok(written)
}

#[cfg(test)]
mod tests;
