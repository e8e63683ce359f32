//! [`absent`]: the proof that values are gone from a file.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, Object, Stream};
use lopdf::StringFormat;

use crate::sanitize::format::pdf::text::lexer::{PdfLexer, PdfToken};
use crate::sanitize::format::pdf::text::reading::GlyphText;
use crate::sanitize::format::pdf::text::streams::ContentStreams;
use crate::sanitize::format::pdf::text::walk;
use crate::sanitize::format::pdf::{graph, open, strings};
use crate::sanitize::values::Needles;
use crate::sanitize::{Rejection, Work};

/// Whether none of these values is left in a file that was written: not in its strings and streams as another reader
/// opens them, plain, in UTF-16, in hexadecimal, or parted into operands; and not in what its pages read like.
///
/// # Errors
/// [`Rejection::Unproven`] if it cannot be read again; [`Rejection::OverLimit`].
pub(in crate::sanitize::format) fn absent(
    file: &[u8],
    needles: &Needles,
    work: &mut Work<'_>,
) -> Result<bool, Rejection> {
    if needles.is_empty() {
        return Ok(true);
    }
    let pdf = Pdf::new(Arc::new(file.to_vec())).map_err(|_| Rejection::Unproven)?;
    let search = AbsentSearch::new(needles)?;
    let left = pdf.objects().into_iter().any(|object| search.object(&object, graph::DEPTH));
    Ok(!left && !shown(file, needles, work)?)
}

/// Whether a page or another stream shows one of them.
fn shown(file: &[u8], needles: &Needles, work: &mut Work<'_>) -> Result<bool, Rejection> {
    let doc = open::open(file, work)?;
    let mut streams = ContentStreams::new(&doc);
    let mut sources: Vec<_> = streams.pages().into_iter().map(|page| (page, None)).collect();
    let mut next = 0;
    let mut pages = true;
    loop {
        let Some((source, resources)) = sources.get(next).copied() else {
            if !pages {
                return Ok(false);
            }
            pages = false;
            sources.extend(streams.stray());
            continue;
        };
        next += 1;
        let record = walk::read(&mut streams, source, resources, work)?;
        for reading in [GlyphText::as_written(&record.glyphs), GlyphText::as_seen(&record.glyphs)] {
            if needles.stand_in(&reading.text) {
                return Ok(true);
            }
        }
    }
}

/// What is searched for.
struct AbsentSearch<'n> {
    needles: &'n Needles,
    /// The same as bytes, in the ways in which text is written. Without short values and mere numbers, which other
    /// data hold by chance.
    bytes: Option<AhoCorasick>,
}

impl<'n> AbsentSearch<'n> {
    fn new(needles: &'n Needles) -> Result<Self, Rejection> {
        let mut bytes = Vec::new();
        for text in needles.shortest_within() {
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            for hex in [hex(text.as_bytes()), hex(&big)] {
                bytes.push(hex.to_uppercase().into_bytes());
                bytes.push(hex.into_bytes());
            }
            bytes.extend([text.as_bytes().to_vec(), big, little]);
        }
        let bytes = (!bytes.is_empty()).then(|| AhoCorasick::new(&bytes)).transpose();
        Ok(Self { needles, bytes: bytes.map_err(|_| Rejection::OverLimit)? })
    }

    fn object(&self, object: &Object<'_>, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        match object {
            Object::String(string) => self.string(string.as_bytes()),
            Object::Array(array) => array.iter::<Object<'_>>().any(|item| self.object(&item, depth - 1)),
            Object::Dict(dict) => self.dict(dict, depth - 1),
            Object::Stream(stream) => self.dict(stream.dict(), depth - 1) || self.stream(stream),
            _ => false,
        }
    }

    fn dict(&self, dict: &Dict<'_>, depth: usize) -> bool {
        // What is referred to comes by itself.
        let mut keys = dict.keys().filter(|key| dict.get_ref(key.as_ref()).is_none());
        keys.any(|key| dict.get::<Object<'_>>(key.as_ref()).is_some_and(|object| self.object(&object, depth)))
    }

    fn string(&self, bytes: &[u8]) -> bool {
        let string = lopdf::Object::String(bytes.to_vec(), StringFormat::Literal);
        let text = strings::text(&string).unwrap_or_default();
        self.needles.stand_in(&text)
    }

    fn stream(&self, stream: &Stream<'_>) -> bool {
        let dict = stream.dict();
        let named = |key: &str, names: &[&str]| {
            let name = dict.get::<hayro_syntax::object::Name<'_>>(key);
            name.is_some_and(|name| names.iter().any(|other| name.as_ref() == other.as_bytes()))
        };
        // Images are not looked into, files in the file have formats of their own, and what objects are packed into
        // comes object by object.
        if named("Subtype", &["Image"]) || named("Type", &["EmbeddedFile", "ObjStm", "XRef"]) {
            return false;
        }
        // Programs of fonts name their makers.
        if named("Subtype", &["Type1C", "CIDFontType0C", "OpenType"]) || dict.contains_key("Length1") {
            return false;
        }
        let Ok(bytes) = stream.decoded_data() else { return false };
        self.bytes.as_ref().is_some_and(|search| search.is_match(&*bytes)) || self.operands(&bytes)
    }

    /// Whether the strings of a stream, one after the other, make up a value.
    fn operands(&self, bytes: &[u8]) -> bool {
        let mut joined = Vec::new();
        let mut lexer = PdfLexer::new(bytes);
        while let Some((token, _)) = lexer.next() {
            match token {
                PdfToken::String(codes) => joined.extend_from_slice(&codes),
                PdfToken::Word(b"ID") => {
                    lexer.skip_image();
                }
                _ => {}
            }
        }
        let blank = |byte: &u8| matches!(byte, 0 | b' ' | b'\n' | b'\r' | b'\t');
        joined.retain(|byte| !blank(byte));
        self.needles.stand_within(&String::from_utf8_lossy(&joined))
    }
}
