//! Raster images: decoded to the end within bounds, so that what cannot be shown is not passed, and put together anew
//! from the parts that make the picture. Metadata (EXIF, XMP, comments, colour profiles, thumbnails), parts that
//! nobody knows, and what lies behind the picture are gone.
//!
//! PNG, JPEG, GIF and WebP keep their compressed picture, so no pixel changes and animations stay whole; a JPEG that
//! is to be turned keeps just that. BMP and TIFF are encoded anew, upright; of a TIFF the first page stays
//! ([`Note::Dropped`](crate::sanitize::Note::Dropped) counts the others).
//!
//! | file | noun |
//! |---|---|
//! | `check` | the whole picture, decoded |
//! | `jpeg`, `png`, `gif`, `webp` | their parts |
//! | `clean` | all of this for an image |
//! | `picture` | an image within a document |

mod check;
mod clean;
mod gif;
mod jpeg;
mod picture;
mod png;
mod webp;

pub(super) use clean::clean;
pub(in crate::sanitize) use clean::format;
pub(super) use jpeg::written as jpeg_segments;
pub(super) use picture::{is_picture, picture, shown};

#[cfg(test)]
mod tests;
