//! [`FileKind`]: what a file really is.

use serde::{Deserialize, Serialize};

/// Kinds of files that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
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
    /// Markdown, by its name: its bytes do not tell.
    Markdown,
    /// iCalendar or vCard: entries of a calendar, or contacts.
    Calendar,
    /// A script, a shortcut, or other text that a program acts on when it is opened.
    Script,
    /// Text of no other kind.
    Text,
    /// A mail message (RFC 5322).
    Mail,
    /// Mail messages one behind the other (RFC 4155, mbox).
    Mailbox,
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
