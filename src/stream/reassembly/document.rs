//! The strings of the documents in a unit of a stream, each with its place, and how edits of them are spelled.

use std::collections::HashMap;
use std::ops::Range;

use data_encoding::BASE64;

use crate::edit::spliced_text;
use crate::stream::Edit;
use crate::stream::json::{Decoded, JsonToken, Path, Segment, encoded, walk_numbers};
use crate::stream::reassembly::names::{SiblingRole, ends, goes_on, says_state};
use crate::stream::reassembly::place::{StreamPlace, TellingMember, hashed};

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
    span: Range<usize>,
    spelling: Spelling,
}

impl UnitString {
    /// Whether it is a text in an encoding, which those who read documents may take for bytes.
    pub(super) fn is_encoded(&self) -> bool {
        self.spelling == Spelling::Base64
    }

    /// Edits of it as edits of its unit.
    pub(super) fn in_unit(&self, unit: &[u8], edits: Vec<Edit>, out: &mut Vec<Edit>) {
        match self.spelling {
            Spelling::Plain => out.extend(edits.into_iter().map(|edit| edit.behind(self.span.start))),
            Spelling::Json => {
                let decoded = Decoded::of(unit.get(self.span.clone()).unwrap_or_default());
                out.extend(edits.into_iter().map(|edit| {
                    let range = decoded.encoded(edit.range);
                    Edit { range, with: encoded(&edit.with) }.behind(self.span.start)
                }));
            }
            Spelling::Base64 => {
                let with = BASE64.encode(spliced_text(&self.text, &edits).as_bytes());
                out.push(Edit { range: self.span.clone(), with });
            }
        }
    }
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
                place: StreamPlace { way: hashed((&*label, "text")), members: Vec::new() },
                text: text.to_owned(),
                is_piece: true,
                span: 0..unit.len(),
                spelling: Spelling::Plain,
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
        for line in unit.split_inclusive(|byte| *byte == b'\n') {
            let start = end;
            end += line.len();
            let (name, rest) = labelled(line);
            let range = start + (line.len() - rest.len())..end;
            let empty = line.trim_ascii().is_empty() || line.starts_with(b":");
            if empty || matches!(name, b"event" | b"id" | b"retry") {
                continue;
            }
            let label = if name == b"data" { label.into() } else { String::from_utf8_lossy(name) };
            if !self.document(unit, range, &label, followed) {
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
            members: HashMap::new(),
            ends: None,
            goes_on: goes_on(label),
        };
        let is_followed = followed.map(|followed| followed.paths(data));
        let walked = walk_numbers(data, &|_| true, &mut |path, leaf| {
            let passes = is_followed.as_ref().is_some_and(|is_followed| is_followed(path));
            reading.see(path, leaf.token, leaf.span, passes);
        });
        if walked.is_err() {
            return false;
        }
        self.ends = self.ends.or(reading.ends);
        reading.finish(range.start, self);
        true
    }
}

/// What stands before the document of a line, and the document: `data: {…}`, `0:"…"`.
fn labelled(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().take(8).position(|byte| !byte.is_ascii_alphanumeric());
    match end.and_then(|at| line.split_at_checked(at)) {
        Some((name, [b':', rest @ ..])) if !name.is_empty() => (name, rest),
        _ => (b"", line),
    }
}

/// A document that is read.
struct DocumentReading<'d> {
    data: &'d [u8],
    label: u64,
    found: Vec<FoundString>,
    /// What tells texts apart, by the object that it is in.
    members: HashMap<u64, Vec<FoundMember>>,
    ends: Option<u64>,
    goes_on: bool,
}

/// A string of a document.
struct FoundString {
    span: Range<usize>,
    /// The way to it: what it is in, and itself.
    way: Vec<u64>,
    in_bytes: bool,
    in_delta: bool,
}

/// A member that tells texts apart.
struct FoundMember {
    member: TellingMember,
    /// Whether it does whatever others say.
    always: bool,
}

impl DocumentReading<'_> {
    fn see(&mut self, path: &Path<'_>, token: JsonToken, span: Range<usize>, passes: bool) {
        if !token.is_value() {
            return;
        }
        let mut way = vec![self.label];
        let mut at = self.label;
        let mut in_array = false;
        for segment in path.segments() {
            at = hashed((at, segment));
            way.push(at);
            in_array |= matches!(segment, Segment::Index(_));
        }
        let name = match path.last() {
            Some(Segment::Key(name)) => name,
            _ => "",
        };
        let spelled = self.data.get(span.clone()).unwrap_or_default();
        if token == JsonToken::Text && path.len() <= 2 {
            let said =
                String::from_utf8_lossy(spelled.get(..LONGEST_VALUE.min(spelled.len())).unwrap_or_default());
            if says_state(name) && ends(&said) {
                self.ends = Some(hashed(said.as_ref()));
            }
            self.goes_on |= SiblingRole::of(name) == Some(SiblingRole::Kind) && goes_on(&said);
        }
        match (SiblingRole::of(name), token) {
            (Some(role), _) if spelled.len() <= LONGEST_VALUE => {
                let ordinal = role == SiblingRole::Ordinal;
                // A number that is called an id is that of a token.
                if (token == JsonToken::Number) == ordinal {
                    let member = TellingMember { at, value: hashed(spelled), ordinal };
                    let always = role == SiblingRole::Kind || (ordinal && in_array);
                    let object = way.iter().rev().nth(1).copied().unwrap_or_default();
                    self.members.entry(object).or_default().push(FoundMember { member, always });
                }
            }
            (_, JsonToken::Text) if !passes && !span.is_empty() && self.found.len() < MOST_STRINGS => {
                let in_delta = path.segments().any(|segment| segment == Segment::Key("delta"));
                self.found.push(FoundString { span, way, in_bytes: name == "bytes", in_delta });
            }
            _ => {}
        }
    }

    /// What has been read, of a document that begins at `start` of its unit.
    fn finish(self, start: usize, out: &mut UnitTexts) {
        for FoundString { span, way, in_bytes, in_delta } in self.found {
            let mut place = StreamPlace { way: way.last().copied().unwrap_or_default(), members: Vec::new() };
            let (_, above) = way.split_last().unwrap_or((&0, &[]));
            for FoundMember { member, always } in above.iter().filter_map(|at| self.members.get(at)).flatten()
            {
                if *always {
                    place.way = hashed((place.way, member.at, member.value));
                } else {
                    place.members.push(*member);
                }
            }
            let decoded = Decoded::of(self.data.get(span.clone()).unwrap_or_default());
            let bytes = in_bytes.then(|| BASE64.decode(decoded.text().as_bytes()).ok()).flatten();
            let (text, spelling) = match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(text) => (text, Spelling::Base64),
                None => (decoded.text().to_owned(), Spelling::Json),
            };
            let span = start + span.start..start + span.end;
            out.strings.push(UnitString { place, text, is_piece: in_delta || self.goes_on, span, spelling });
        }
        let telling = self.members.into_values().flatten().filter(|found| !found.always);
        out.members.extend(telling.map(|found| found.member));
    }
}
