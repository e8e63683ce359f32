//! [`Font`]: what the codes of a font are, how wide they are, and how they read (ISO 32000-2, 9.6 to 9.10).

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object};

use crate::sanitize::format::pdf::text::cmap::Cmap;
use crate::sanitize::format::pdf::text::codes::Codes;
use crate::sanitize::format::pdf::text::{metrics, outlines, simple};
use crate::sanitize::format::pdf::{graph, parts};
use crate::sanitize::{Rejection, Work};

/// One code of a string.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// How many bytes it takes.
    pub(super) length: usize,
    /// Its advance, in thousandths of the size.
    pub(super) width: f64,
    /// How it reads; none if that cannot be told.
    pub(super) text: Option<Rc<str>>,
    /// Whether it is the one byte to which spacing between words applies.
    pub(super) space: bool,
}

/// A font, as far as text is concerned.
#[derive(Debug)]
pub(super) struct Font {
    codes: Codes,
    text: HashMap<u32, Rc<str>>,
    widths: HashMap<u32, f64>,
    default: f64,
    /// Whether it writes from top to bottom.
    pub(super) vertical: bool,
}

/// How many widths ranges may give in one font.
const WIDTHS: usize = 200_000;

/// What the text of a font without a map of its own goes by.
const REPLACED: &[(char, &str)] = &[
    ('\u{fb00}', "ff"),
    ('\u{fb01}', "fi"),
    ('\u{fb02}', "fl"),
    ('\u{fb03}', "ffi"),
    ('\u{fb04}', "ffl"),
    ('\u{a0}', " "),
    ('\u{ad}', "-"),
];

impl Font {
    /// Reads a font.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] if its maps unfold to too much.
    pub(super) fn read(doc: &Document, dict: &Dictionary, work: &mut Work<'_>) -> Result<Self, Rejection> {
        let map = match parts::entry(doc, dict, b"ToUnicode", work)? {
            Some(bytes) => Cmap::read(&bytes),
            None => Cmap::default(),
        };
        if graph::name(doc, dict, b"Subtype") == b"Type0" {
            Self::composite(doc, dict, &map, work)
        } else {
            Ok(Self::simple(doc, dict, &map))
        }
    }

    /// What readers take where a font is missing.
    pub(super) fn missing() -> Self {
        Self::simple(&Document::new(), &Dictionary::new(), &Cmap::default())
    }

    fn simple(doc: &Document, dict: &Dictionary, map: &Cmap) -> Self {
        let base = String::from_utf8_lossy(graph::name(doc, dict, b"BaseFont")).into_owned();
        let encoding = simple::encoding(doc, dict);
        let mut font = Self {
            codes: Codes::Bytes,
            text: HashMap::new(),
            widths: HashMap::new(),
            default: 0.0,
            vertical: false,
        };
        let given = graph::array(doc, dict, b"Widths");
        let first = graph::integer(doc, dict, b"FirstChar").unwrap_or(0);
        // Widths of Type 3 fonts are in their own space.
        let scale = match graph::numbers::<6>(doc, dict, b"FontMatrix") {
            Some([scale, ..]) if graph::name(doc, dict, b"Subtype") == b"Type3" => scale * 1000.0,
            _ => 1.0,
        };
        for (code, width) in (first..).zip(given).take(256) {
            if let Ok(code) = u32::try_from(code) {
                font.widths.insert(code, number(graph::resolve(doc, width)) * scale);
            }
        }
        if let Some(descriptor) = graph::sub(doc, dict, b"FontDescriptor") {
            font.default = number(graph::entry(doc, descriptor, b"MissingWidth"));
        }
        for code in 0..=255_u8 {
            let text = map.text(code.into()).map(str::to_owned).or_else(|| encoding.text(code));
            if given.is_empty() {
                let character = text.as_deref().and_then(|text| text.chars().next());
                font.widths.insert(code.into(), metrics::width(&base, character.unwrap_or('n')));
            }
            if let Some(text) = text {
                font.text.insert(code.into(), plain(&text));
            }
        }
        font
    }

    fn composite(
        doc: &Document,
        dict: &Dictionary,
        map: &Cmap,
        work: &mut Work<'_>,
    ) -> Result<Self, Rejection> {
        let encoding = graph::name(doc, dict, b"Encoding").to_vec();
        let embedded = parts::entry(doc, dict, b"Encoding", work)?;
        let named = match graph::entry(doc, dict, b"Encoding") {
            Object::Stream(stream) => graph::name(doc, &stream.dict, b"CMapName").to_vec(),
            _ => encoding,
        };
        let upright = match graph::entry(doc, dict, b"Encoding") {
            Object::Stream(stream) => graph::integer(doc, &stream.dict, b"WMode") == Some(1),
            _ => false,
        };
        let codes = match embedded {
            Some(bytes) => Codes::Map(Cmap::read(&bytes)),
            None => Codes::named(&named),
        };
        let empty = Dictionary::new();
        let descendant = graph::array(doc, dict, b"DescendantFonts").first();
        let descendant = descendant.and_then(|font| graph::dict(graph::resolve(doc, font))).unwrap_or(&empty);
        let vertical = upright || named.ends_with(b"-V") || named == b"V";
        let mut font =
            Self { codes, text: HashMap::new(), widths: HashMap::new(), default: 1000.0, vertical };
        font.text = map.texts().map(|(code, text)| (code, plain(text))).collect();
        if vertical {
            font.default = graph::numbers::<2>(doc, descendant, b"DW2").map_or(-1000.0, |[_, down]| down);
            return Ok(font);
        }
        if descendant.has(b"DW") {
            font.default = number(graph::entry(doc, descendant, b"DW"));
        }
        font.widths(doc, graph::array(doc, descendant, b"W"));
        if font.text.is_empty() && matches!(font.codes, Codes::Pairs) {
            for (glyph, character) in outlines::characters(doc, descendant, work)? {
                font.text.entry(glyph).or_insert_with(|| plain(character.encode_utf8(&mut [0; 4])));
            }
        }
        Ok(font)
    }

    /// Widths of characters (ISO 32000-2, 9.7.4.3): `c [w …]` and `c c w`.
    fn widths(&mut self, doc: &Document, given: &[Object]) {
        let given: Vec<&Object> = given.iter().map(|item| graph::resolve(doc, item)).collect();
        let mut rest = given.as_slice();
        let mut room = WIDTHS;
        while let [first, second, after @ ..] = rest {
            let first = number(first) as u32;
            if let Object::Array(list) = second {
                for (cid, width) in (first..).zip(list) {
                    self.widths.insert(cid, number(graph::resolve(doc, width)));
                }
                rest = after;
                continue;
            }
            let [width, after @ ..] = after else { break };
            let last = (number(second) as u32).min(first.saturating_add(0xffff)).min(0xffff);
            for cid in (first..=last).take(room) {
                self.widths.insert(cid, number(width));
                room -= 1;
            }
            rest = after;
        }
    }

    /// The code that comes next; `rest` is not empty.
    pub(super) fn code(&self, rest: &[u8]) -> Code {
        let length = self.codes.length(rest).clamp(1, rest.len().max(1));
        let bytes = rest.get(..length).unwrap_or(rest);
        let code = bytes.iter().fold(0_u32, |code, byte| code << 8 | u32::from(*byte));
        let cid = self.codes.character(code);
        let width = self.widths.get(&cid).copied().unwrap_or(self.default);
        let text = self.text.get(&code).cloned().or_else(|| self.codes.text(bytes).map(|text| plain(&text)));
        Code { length, width, text, space: length == 1 && code == 32 }
    }
}

fn plain(text: &str) -> Rc<str> {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match REPLACED.iter().find(|(from, _)| *from == c) {
            Some((_, to)) => out.push_str(to),
            None => out.push(c),
        }
    }
    Rc::from(out)
}

/// A number, whichever way it is written; 0 for anything else.
pub(super) fn number(object: &Object) -> f64 {
    let number = match object {
        Object::Integer(number) => *number as f64,
        Object::Real(number) => f64::from(*number),
        _ => 0.0,
    };
    if number.is_finite() { number } else { 0.0 }
}
