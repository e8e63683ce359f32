//! [`FORMATS`]: the format of each kind of file.

use crate::sanitize::format::{
    archive, csv, html, image, json, mail, markdown, odf, ole2, ooxml, pdf, rtf, text, xml,
};
use crate::sanitize::{Formats, Kind, identify};

/// All formats. A kind without a row is not rewritten.
pub static FORMATS: Formats = Formats {
    identify,
    table: &[
        (Kind::Pdf, pdf::clean),
        (Kind::Html, html::clean),
        (Kind::Svg, xml::clean_drawing),
        (Kind::Xml, xml::clean_data),
        (Kind::Rtf, rtf::clean),
        (Kind::Text, text::clean),
        (Kind::Markdown, markdown::clean),
        (Kind::Csv, csv::clean),
        (Kind::Json, json::clean),
        (Kind::Ooxml, ooxml::clean),
        (Kind::Odf, odf::clean),
        (Kind::Ole2, ole2::clean),
        (Kind::Zip, archive::zip),
        (Kind::Tar, archive::tar),
        (Kind::Gzip, archive::gzip),
        (Kind::Mail, mail::clean),
        (Kind::Image, image::clean),
    ],
};
