//! The formats: each reads one family of files, takes out what acts, redacts what is written, and writes one fresh
//! file. Pure and synchronous; they never wait, log or touch files, and hold on any input.
//!
//! | file | noun |
//! |---|---|
//! | `html` | HTML |
//! | `xml` | SVG, other XML |
//! | `markup` | what HTML, SVG and XML share |
//! | `text`, `csv`, `json` | text, tables and JSON |
//! | `calendar` | iCalendar and vCard |
//! | `markdown` | Markdown |
//! | `rtf` | RTF |
//! | `ooxml`, `odf` | Office Open XML and OpenDocument |
//! | `formula`, `link_target` | formulas in both, and where links in them lead |
//! | `ole2` | compound files: looked into, not rewritten |
//! | `pdf` | PDF |
//! | `package` | zip files within bounds |
//! | `content` | what a part of a package is by its bytes |
//! | `xml_tree`, `xml_editor` | an XML document by its bytes, and changes to it |
//! | `passage` | text that is read as one over several runs |
//! | `archive` | zip, tar, gzip |
//! | `image` | raster images |
//! | `mail` | mail messages |
//! | `charset` | a text file's encoding |
//! | `table` | [`FORMATS`]: the format of each kind |
//! | `patch` | changes to a file's bytes, and text with the way back to them |

mod archive;
mod calendar;
pub(in crate::sanitize) mod charset;
mod content;
#[cfg(test)]
mod corpus_tests;
mod csv;
mod formula;
#[cfg(test)]
mod hostile_tests;
mod html;
pub(in crate::sanitize) mod image;
pub(in crate::sanitize) mod json;
mod link_target;
pub(in crate::sanitize) mod mail;
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
#[cfg(test)]
mod sample_tests;
mod table;
mod text;
mod xml;
mod xml_editor;
mod xml_tree;

pub use table::FORMATS;
