//! [`Kind`]: what a file really is. Its bytes decide; a name only helps where bytes leave it open (CSV or text).

use serde::{Deserialize, Serialize};

use crate::sanitize::written;

/// Kinds of files that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Portable Document Format.
    Pdf,
    /// An Office Open XML package: docx, xlsx, pptx and their macro-enabled and template kin.
    Ooxml,
    /// An OpenDocument package.
    Odf,
    /// A compound file: doc, xls, ppt, msg, or an encrypted Office package.
    Ole2,
    /// Rich Text Format.
    Rtf,
    /// HTML.
    Html,
    /// SVG.
    Svg,
    /// Other XML.
    Xml,
    /// JSON.
    Json,
    /// Comma- or tab-separated values.
    Csv,
    /// Text of no other kind.
    Text,
    /// A mail message (RFC 5322).
    Mail,
    /// A raster image: PNG, JPEG, GIF, WebP, BMP, TIFF.
    Image,
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// Something in gzip.
    Gzip,
    /// Anything else.
    Unknown,
}

impl Kind {
    /// The kind of a file, which its owner calls `name`.
    pub fn of(file: &[u8], name: &str) -> Self {
        let head = file.get(..1024).unwrap_or(file);
        if memchr::memmem::find(head, b"%PDF-").is_some() {
            return Self::Pdf;
        }
        if file.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) {
            return Self::Ole2;
        }
        if file.starts_with(b"PK\x03\x04") {
            return Self::Zip;
        }
        written::kind(file, name).unwrap_or(Self::Unknown)
    }
}
