//! The formats: each reads one family of files, takes out what acts, redacts what is written, and writes one fresh
//! file. Pure and synchronous; they never wait, log or touch files, and hold on any input.
//!
//! | file | noun |
//! |---|---|
//! | `html` | HTML |
//! | `xml` | SVG, other XML |
//! | `markup` | what HTML, SVG and XML share |
//! | `text`, `csv`, `json` | text, tables and JSON |
//! | `markdown` | Markdown |
//! | `rtf` | RTF |
//! | `ooxml`, `odf` | Office Open XML and OpenDocument |
//! | `ole2` | compound files: looked into, not rewritten |
//! | `pdf` | PDF |
//! | `package` | zip files within bounds |
//! | `spans`, `draft` | an XML document by its bytes, and changes to it |
//! | `passage` | text that is read as one over several runs |
//! | `archive` | zip, tar, gzip |
//! | `image` | raster images |
//! | `mail` | mail messages |
//! | `charset` | a text file's encoding |
//! | `patch` | changes to a file's bytes, and text with the way back to them |

mod archive;
mod charset;
#[cfg(test)]
mod corpus_tests;
mod csv;
mod draft;
#[cfg(test)]
mod hostile_tests;
mod html;
mod image;
mod json;
mod mail;
mod markdown;
mod markup;
#[cfg(test)]
mod mutant_tests;
mod odf;
mod ole2;
mod ooxml;
mod package;
mod passage;
mod patch;
mod pdf;
mod rtf;
mod spans;
mod text;
mod xml;

use crate::sanitize::{Kind, Note, Rejection, Work};
pub(in crate::sanitize) use charset::text_of;
pub(in crate::sanitize) use image::format as image_format;
pub(in crate::sanitize) use json::is_json;
pub(in crate::sanitize) use mail::is_mail;

/// Cleans a file of this kind.
///
/// # Errors
/// Why there is no clean file.
pub fn clean(kind: Kind, file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    work.unpacked(file.len())?;
    match kind {
        Kind::Pdf => pdf::clean(file, work),
        Kind::Html => html::clean(file, work),
        Kind::Svg => xml::clean(file, true, work),
        Kind::Xml => xml::clean(file, false, work),
        Kind::Rtf => rtf::clean(file, work),
        Kind::Text => text::clean(file, work),
        Kind::Markdown => markdown::clean(file, work),
        Kind::Csv => csv::clean(file, work),
        Kind::Json => json::clean(file, work),
        Kind::Ooxml => ooxml::clean(file, work),
        Kind::Odf => odf::clean(file, work),
        Kind::Ole2 => ole2::clean(file, work),
        Kind::Zip => archive::zip(file, work),
        Kind::Tar => archive::tar(file, work),
        Kind::Gzip => archive::gzip(file, work),
        Kind::Mail => mail::clean(file, work),
        Kind::Image => image::clean(file, work),
        _ if work.options().pass_unknown => {
            work.stats().note(Note::Passed, 1);
            Ok(file.to_vec())
        }
        _ => Err(Rejection::Unsupported),
    }
}
