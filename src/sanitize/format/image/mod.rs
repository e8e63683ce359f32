//! Raster images: decoded to the end within bounds, so that what cannot be shown is not passed, and put together anew
//! from the parts that make the picture. Metadata (EXIF, XMP, comments, colour profiles, thumbnails), parts that
//! nobody knows, and what lies behind the picture are gone.
//!
//! PNG, JPEG, GIF and WebP keep their compressed picture, so no pixel changes and animations stay whole; one that is to
//! be turned keeps just that. BMP and TIFF are encoded anew, upright, a TIFF with all of its pages; smaller copies of
//! them are left out ([`Note::Dropped`](crate::sanitize::Note::Dropped) counts those). Colour profiles hold texts of
//! anybody's and tables that nobody here reads: without them colours are those of sRGB.
//!
//! | file | noun |
//! |---|---|
//! | `directory` | where the pages of a TIFF are |
//! | `check` | the whole picture, decoded |
//! | `exif` | how a picture is turned |
//! | `jpeg`, `png`, `gif`, `webp` | their parts |
//! | `tiff` | the pages of one, written |
//! | `clean` | all of this for an image |
//! | `picture` | an image within a document |

mod check;
mod clean;
mod directory;
mod exif;
mod gif;
mod jpeg;
mod picture;
mod png;
mod tiff;
mod webp;

pub(super) use clean::clean;
pub(in crate::sanitize) use clean::format;
pub(super) use jpeg::written as jpeg_segments;
pub(super) use picture::{is_picture, picture, shown};

#[cfg(test)]
mod tests;
