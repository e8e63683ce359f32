//! [`FORMATS`]: the format of each kind of file.

use crate::sanitize::format::{
    archive, calendar, csv, html, image, json, mail, markdown, odf, ole2, ooxml, pdf, rtf, text, xml,
};
use crate::sanitize::{FileKind, Formats, identify};

/// All formats. A kind without a row is not rewritten.
pub static FORMATS: Formats = Formats {
    identify,
    table: &[
        (FileKind::Pdf, pdf::clean),
        (FileKind::Html, html::clean),
        (FileKind::Svg, xml::clean_drawing),
        (FileKind::Xml, xml::clean_data),
        (FileKind::Rtf, rtf::clean),
        (FileKind::Text, text::clean),
        (FileKind::Script, text::clean_script),
        (FileKind::Calendar, calendar::clean),
        (FileKind::Markdown, markdown::clean),
        (FileKind::Csv, csv::clean),
        (FileKind::Json, json::clean),
        (FileKind::Ooxml, ooxml::clean),
        (FileKind::Odf, odf::clean),
        (FileKind::Ole2, ole2::clean),
        (FileKind::Zip, archive::zip),
        (FileKind::Tar, archive::tar),
        (FileKind::Gzip, archive::gzip),
        (FileKind::Mail, mail::clean),
        (FileKind::Mailbox, mail::clean_mailbox),
        (FileKind::Image, image::clean),
    ],
};
