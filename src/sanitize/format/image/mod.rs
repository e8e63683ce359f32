//! Raster images: decoded to the end within bounds, so that what cannot be shown is not passed, and put together anew
//! from the parts that make the picture. Metadata (EXIF, XMP, comments, colour profiles, thumbnails), parts that
//! nobody knows, and what lies behind the picture are gone.
//!
//! PNG, JPEG, GIF and WebP keep their compressed picture, so no pixel changes and animations stay whole; one that is to
//! be turned keeps just that. BMP and TIFF are encoded anew, upright, a TIFF with all of its pages, as large as they were;
//! smaller copies of them are left out ([`Note::Dropped`](crate::sanitize::Note::Dropped) counts those). Colour profiles
//! hold texts of anybody's and tables that nobody here reads: without them colours are those of sRGB.
//!
//! Other pictures, which only documents show, are not decoded: what does not make the picture is taken out of them.
//!
//! | file | noun |
//! |---|---|
//! | `directory` | where the pages of a TIFF are, and what their directories say |
//! | `page` | what a page of a TIFF says of its pixels |
//! | `resolution` | how large it is |
//! | `chunk`, `fax`, `strip_jpeg` | its strips and tiles, unpacked |
//! | `pixels` | its pixels |
//! | `tiff` | the pages of one, written |
//! | `check` | the whole picture, decoded |
//! | `exif` | how a picture is turned |
//! | `jpeg`, `png`, `gif`, `webp` | their parts |
//! | `png_rows`, `gif_pixels` | where their pixels end, and which colours these have |
//! | `clean` | all of this for an image |
//! | `boxes` | of which HEIF, AVIF and JPEG 2000 consist |
//! | `blanked` | a file in boxes of which parts become zero |
//! | `heif`, `heif_items` | HEIF and AVIF |
//! | `jpeg2000`, `jpeg_xr`, `icon` | JPEG 2000, JPEG XR, ICO |
//! | `other` | these, and metafiles |
//! | `picture` | an image within a document |

mod blanked;
mod boxes;
mod check;
mod chunk;
mod clean;
mod directory;
mod exif;
mod fax;
mod gif;
mod gif_pixels;
mod heif;
mod heif_items;
mod icon;
mod jpeg;
mod jpeg2000;
mod jpeg_xr;
mod other;
mod page;
mod picture;
mod pixels;
mod png;
mod png_rows;
mod resolution;
mod strip_jpeg;
mod tiff;
mod webp;

pub(super) use clean::clean;
pub(in crate::sanitize) use clean::format;
pub(super) use jpeg::written as jpeg_segments;
pub(super) use jpeg2000::written as jpeg2000_boxes;
pub(super) use picture::{is_picture, picture, shown};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tiff_tests;
