//! Encodings of simple fonts (ISO 32000-2, 9.6.5): a base and its differences, by the names of glyphs.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object};

use crate::sanitize::format::pdf::graph;

/// The text of one-byte codes.
pub(super) struct Encoding {
    base: Dictionary,
    /// By code; none for a name that says nothing.
    differences: HashMap<u8, Option<String>>,
}

/// The encoding of a font.
pub(super) fn encoding(doc: &Document, font: &Dictionary) -> Encoding {
    let given = graph::entry(doc, font, b"Encoding");
    let base = match given {
        Object::Name(name) => name.clone(),
        Object::Dictionary(dict) => graph::name(doc, dict, b"BaseEncoding").to_vec(),
        _ => Vec::new(),
    };
    // Fonts of files that name nothing are most often made for Windows, which the standard encoding is a part of.
    let base = match base.as_slice() {
        b"MacRomanEncoding" | b"MacExpertEncoding" | b"WinAnsiEncoding" | b"PDFDocEncoding" => base,
        _ => b"WinAnsiEncoding".to_vec(),
    };
    let mut differences = HashMap::new();
    let mut code = 0_u8;
    if let Object::Dictionary(dict) = given {
        for item in graph::array(doc, dict, b"Differences") {
            match graph::resolve(doc, item) {
                Object::Integer(next) => code = u8::try_from(*next).unwrap_or(u8::MAX),
                Object::Name(name) => {
                    differences.insert(code, glyph(name));
                    code = code.wrapping_add(1);
                }
                _ => {}
            }
        }
    }
    Encoding { base: table(Object::Name(base)), differences }
}

impl Encoding {
    /// How a code reads.
    pub(super) fn text(&self, code: u8) -> Option<String> {
        match self.differences.get(&code) {
            Some(text) => text.clone(),
            None => decoded(&self.base, code),
        }
    }
}

fn table(encoding: Object) -> Dictionary {
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", encoding);
    font
}

fn decoded(font: &Dictionary, code: u8) -> Option<String> {
    let doc = Document::new();
    let text = font.get_font_encoding(&doc).ok()?.bytes_to_string(&[code]).ok()?;
    (!text.is_empty() && text != "\u{fffd}").then_some(text)
}

/// What a glyph's name stands for (Adobe Glyph List Specification, 2).
fn glyph(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() {
        return None;
    }
    stem.split('_').map(component).collect()
}

fn component(name: &str) -> Option<String> {
    if let Some(text) = listed(name) {
        return Some(text);
    }
    let hex = name.strip_prefix("uni").filter(|hex| hex.len() >= 4 && hex.len() % 4 == 0);
    if let Some(units) = hex.and_then(|hex| {
        let unit = |unit: &[u8]| u16::from_str_radix(std::str::from_utf8(unit).ok()?, 16).ok();
        hex.as_bytes().chunks(4).map(unit).collect::<Option<Vec<u16>>>()
    }) {
        return String::from_utf16(&units).ok();
    }
    let hex = name.strip_prefix('u').filter(|hex| (4..=6).contains(&hex.len()))?;
    u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).map(String::from)
}

fn listed(name: &str) -> Option<String> {
    // A code that no base holds, so that only the name can give it a meaning.
    let differences = vec![Object::Integer(1), Object::Name(name.as_bytes().to_vec())];
    let mut encoding = Dictionary::new();
    encoding.set("Differences", differences);
    decoded(&table(Object::Dictionary(encoding)), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs_are_read() {
        let read = |name: &str| glyph(name.as_bytes());
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(read("Aacute"), text("Á"));
        assert_eq!(read("f_i.alt"), text("fi"));
        assert_eq!(read("uni00410042"), text("AB"));
        assert_eq!(read("u1F600"), text("\u{1f600}"));
        assert_eq!([read("g12"), read(".notdef"), read("")], [None, None, None]);
    }
}
