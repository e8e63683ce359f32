//! The strings of the documents in a unit of a stream, each with its place, and how edits of them are spelled.

use std::ops::Range;
use std::sync::Arc;

use data_encoding::BASE64;

use crate::edit::spliced_text;
use crate::stream::Edit;
use crate::stream::json::{Decoded, JsonToken, Path, Segment, encoded, walk_numbers};
use crate::stream::reassembly::containers::{Containers, FoundMember};
use crate::stream::reassembly::event_words::{ends, goes_on};
use crate::stream::reassembly::labelled_line::LabelledLine;
use crate::stream::reassembly::member_role::{MemberRole, says_state};
use crate::stream::reassembly::place::{StreamPlace, TellingMember, hashed};
use crate::stream::sse::SseLines;

/// The longest value of a member that tells texts apart, in bytes as it is spelled.
const LONGEST_VALUE: usize = 128;
/// Of a document with more strings the others are read by themselves.
const MOST_STRINGS: usize = 4096;

/// How a text is spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Plain,
    Json,
    Base64,
}

/// A string of a unit.
pub(super) struct UnitString {
    pub(super) place: StreamPlace,
    pub(super) text: String,
    /// Whether its document says that it is a piece of a text.
    pub(super) is_piece: bool,
    pub(super) spelled: SpelledString,
}

/// Where a string is in its unit, and how its text is spelled there.
pub(super) struct SpelledString {
    span: Range<usize>,
    spelling: Spelling,
}

impl SpelledString {
    /// Whether it is a text in an encoding, which those who read documents may take for bytes.
    pub(super) fn is_encoded(&self) -> bool {
        self.spelling == Spelling::Base64
    }

    /// Edits of its text as edits of its unit.
    pub(super) fn in_unit(&self, unit: &[u8], edits: Vec<Edit>, out: &mut Vec<Edit>) {
        let spelled = unit.get(self.span.clone()).unwrap_or_default();
        match self.spelling {
            Spelling::Plain => out.extend(edits.into_iter().map(|edit| edit.behind(self.span.start))),
            Spelling::Json => {
                let decoded = Decoded::of(spelled);
                out.extend(edits.into_iter().map(|edit| {
                    let range = decoded.encoded(edit.range);
                    Edit { range, with: encoded(&edit.with) }.behind(self.span.start)
                }));
            }
            Spelling::Base64 => {
                let with = |text: String| BASE64.encode(spliced_text(&text, &edits).as_bytes());
                let with = text_in_base64(Decoded::of(spelled).text()).map(with);
                out.extend(with.map(|with| Edit { range: self.span.clone(), with }));
            }
        }
    }
}

/// The text that a string is in base64; `None` if it is none.
fn text_in_base64(text: &str) -> Option<String> {
    String::from_utf8(BASE64.decode(text.as_bytes()).ok()?).ok()
}

/// What a unit says.
#[derive(Default)]
pub(super) struct UnitTexts {
    pub(super) strings: Vec<UnitString>,
    /// The members that may tell texts apart.
    pub(super) members: Vec<TellingMember>,
    /// What it says of itself, if that is that texts end with it.
    pub(super) ends: Option<u64>,
}

/// Knows which strings of documents somebody else follows, or must stay.
pub trait Followed: Send + Sync {
    /// Whether the string at a path of this document is one of them.
    fn paths<'d>(&'d self, document: &'d [u8]) -> Box<dyn Fn(&Path<'_>) -> bool + 'd>;
}

impl UnitTexts {
    /// Reads a unit that is called `label`: a document, documents in lines (those of an event stream, or with a letter
    /// before each), or else a text.
    pub(super) fn of(unit: &[u8], label: &[u8], followed: Option<&dyn Followed>) -> Self {
        let label = String::from_utf8_lossy(label);
        let mut texts = Self { ends: ends(&label).then(|| hashed(&*label)), ..Self::default() };
        if texts.document(unit, 0..unit.len(), &label, followed) || texts.lines(unit, &label, followed) {
            return texts;
        }
        texts.strings.clear();
        texts.members.clear();
        // A protocol says what its documents are.
        if let Ok(text) = std::str::from_utf8(unit)
            && !text.is_empty()
            && followed.is_none()
        {
            texts.strings.push(UnitString {
                place: StreamPlace { way: hashed((&*label, "text")), members: Arc::new([]) },
                text: text.to_owned(),
                is_piece: true,
                spelled: SpelledString { span: 0..unit.len(), spelling: Spelling::Plain },
            });
        }
        if unit.trim_ascii() == b"[DONE]" {
            texts.ends = Some(hashed("[DONE]"));
        }
        texts
    }

    /// Reads a unit of lines with a document each; `false` if a line is anything else.
    fn lines(&mut self, unit: &[u8], label: &str, followed: Option<&dyn Followed>) -> bool {
        let mut end = 0;
        for line in SseLines::of(unit) {
            let text_end = end + line.text().len();
            end += line.length();
            let labelled = LabelledLine::parse(&line);
            let name = labelled.as_ref().map_or(&b""[..], |labelled| labelled.label);
            let is_empty = line.text().trim_ascii().is_empty() || line.text().starts_with(b":");
            if is_empty || matches!(name, b"event" | b"id" | b"retry") {
                continue;
            }
            let label = if name == b"data" { label.into() } else { String::from_utf8_lossy(name) };
            let document = labelled.map_or(line.text(), |labelled| labelled.document);
            if !self.document(unit, text_end - document.len()..text_end, &label, followed) {
                return false;
            }
        }
        !self.strings.is_empty()
    }

    /// Reads a document; `false` if it is none that may hold texts.
    fn document(
        &mut self,
        unit: &[u8],
        range: Range<usize>,
        label: &str,
        followed: Option<&dyn Followed>,
    ) -> bool {
        let data = unit.get(range.clone()).unwrap_or_default();
        if !matches!(data.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')) {
            return false;
        }
        let mut reading = DocumentReading {
            data,
            label: hashed(label),
            found: Vec::new(),
            containers: Containers::default(),
            ends: None,
            goes_on: goes_on(label),
        };
        let paths = followed.map(|followed| followed.paths(data));
        let is_followed = |path: &Path<'_>| paths.as_ref().is_some_and(|is_followed| is_followed(path));
        let walked = walk_numbers(data, &|_| true, &mut |path, leaf| {
            if leaf.token.is_value() {
                reading.see(path, leaf.token, leaf.span, &is_followed);
            }
        });
        if walked.is_err() {
            return false;
        }
        self.ends = self.ends.or(reading.ends);
        reading.finish(range.start, self);
        true
    }
}

/// A document that is read.
struct DocumentReading<'d> {
    data: &'d [u8],
    label: u64,
    found: Vec<FoundString>,
    /// What its strings are in.
    containers: Containers,
    ends: Option<u64>,
    goes_on: bool,
}

/// A string of a document.
struct FoundString {
    span: Range<usize>,
    /// A number for the way to it.
    way: u64,
    /// The number of what it is in.
    container: usize,
    in_bytes: bool,
    in_delta: bool,
}

impl DocumentReading<'_> {
    /// Sees a value.
    fn see(
        &mut self,
        path: &Path<'_>,
        token: JsonToken,
        span: Range<usize>,
        is_followed: &dyn Fn(&Path<'_>) -> bool,
    ) {
        let name = match path.last() {
            Some(Segment::Key(name)) => name,
            _ => "",
        };
        let spelled = self.data.get(span.clone()).unwrap_or_default();
        let role = MemberRole::of(name);
        if token == JsonToken::Text && path.len() <= 2 {
            let said =
                String::from_utf8_lossy(spelled.get(..LONGEST_VALUE.min(spelled.len())).unwrap_or_default());
            if says_state(name) && ends(&said) {
                self.ends = Some(hashed(said.as_ref()));
            }
            self.goes_on |= role == Some(MemberRole::Kind) && goes_on(&said);
        }
        if let Some(role) = role.filter(|_| spelled.len() <= LONGEST_VALUE) {
            self.member(path, token, role, hashed(spelled));
        } else if token == JsonToken::Text
            && !span.is_empty()
            && self.found.len() < MOST_STRINGS
            && !is_followed(path)
            && let Some(container) = self.containers.around(path)
        {
            let in_delta = path.segments().any(|segment| segment == Segment::Key("delta"));
            let (way, in_bytes) = (self.way(path), name == "bytes");
            self.found.push(FoundString { span, way, container, in_bytes, in_delta });
        }
    }

    /// Sees a member that may tell texts apart.
    fn member(&mut self, path: &Path<'_>, token: JsonToken, role: MemberRole, value: u64) {
        let ordinal = role == MemberRole::Ordinal;
        // A number that is called an id is that of a token.
        if (token == JsonToken::Number) != ordinal {
            return;
        }
        let Some(container) = self.containers.around(path) else { return };
        let in_array = || path.segments().any(|segment| matches!(segment, Segment::Index(_)));
        let always = role == MemberRole::Kind || (ordinal && in_array());
        let member = TellingMember { at: self.way(path), value, ordinal };
        self.containers.tell(container, FoundMember { member, always });
    }

    /// A number for the way to a value of a document that is called so.
    fn way(&self, path: &Path<'_>) -> u64 {
        hashed((self.label, path.fingerprint(path.len())))
    }

    /// What has been read, of a document that begins at `start` of its unit.
    fn finish(self, start: usize, out: &mut UnitTexts) {
        let told = self.containers.told();
        for FoundString { span, way, container, in_bytes, in_delta } in self.found {
            let Some(told) = told.get(container) else { continue };
            let place = StreamPlace { way: hashed((way, told.kinds)), members: Arc::clone(&told.members) };
            let decoded = Decoded::of(self.data.get(span.clone()).unwrap_or_default());
            let bytes = in_bytes.then(|| text_in_base64(decoded.text())).flatten();
            let (text, spelling) = match bytes {
                Some(text) => (text, Spelling::Base64),
                None => (decoded.text().to_owned(), Spelling::Json),
            };
            let spelled = SpelledString { span: start + span.start..start + span.end, spelling };
            out.strings.push(UnitString { place, text, is_piece: in_delta || self.goes_on, spelled });
        }
        out.members.extend(self.containers.into_members());
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
