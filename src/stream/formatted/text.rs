//! [`FormattedText`]: one text of a body, where it lies in the bytes, and how what is written in it is spelled there.

use std::ops::Range;

use crate::edit::{SourceMap, reference, spliced_text};
use crate::stream::Edit;

/// How text is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextSpelling {
    /// As it is.
    Plain,
    /// A cell without quotes, of a table with this delimiter: what cannot stand there brings quotes for all of it.
    Cell(u8),
    /// A cell in quotes, without them.
    QuotedCell,
    /// Between tags, with references.
    Text,
    /// An attribute's value in these quotes, or in none.
    Attribute(Option<u8>),
    /// A CDATA section.
    Cdata,
    /// Within a comment, a declaration or an instruction.
    Remark,
    /// A program or a style sheet in an element of its own.
    Raw,
}

/// One text of a body.
#[derive(Debug)]
pub struct FormattedText {
    text: String,
    /// The way from the text to the unit that it is in.
    map: SourceMap,
    /// What of the text stands for markup, which stays: an empty range where a tag is left out.
    marks: Vec<Range<usize>>,
    spelling: TextSpelling,
    span: Range<usize>,
}

impl FormattedText {
    /// An empty text at `at`.
    pub(super) fn at(at: usize, spelling: TextSpelling) -> Self {
        Self { text: String::new(), map: SourceMap::at(at), marks: Vec::new(), spelling, span: at..at }
    }

    /// A text that `bytes`, which begin at `at`, spell so.
    pub(super) fn of(bytes: &[u8], at: usize, spelling: TextSpelling) -> Self {
        let mut text = Self::at(at, spelling);
        text.push(bytes);
        text
    }

    /// All of `bytes` as they stand.
    pub(super) fn plain(bytes: &[u8]) -> Self {
        Self::of(bytes, 0, TextSpelling::Plain)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes that spell text come next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let begins = match self.spelling {
            TextSpelling::QuotedCell => b'"',
            TextSpelling::Text | TextSpelling::Attribute(_) => b'&',
            _ => return self.valid(bytes),
        };
        let (mut rest, mut from) = (bytes, 0);
        while let Some(at) = memchr::memchr(begins, rest.get(from..).unwrap_or_default()) {
            let at = from + at;
            let spelled = rest.get(at..).unwrap_or_default();
            let escape = match begins {
                b'"' => spelled.starts_with(b"\"\"").then_some(('"', 2)),
                _ => reference(spelled.get(..LONGEST).unwrap_or(spelled)),
            };
            let Some((character, length)) = escape else {
                from = at + 1;
                continue;
            };
            self.valid(rest.get(..at).unwrap_or_default());
            self.spelled(character, length);
            rest = rest.get(at + length..).unwrap_or_default();
            from = 0;
        }
        self.valid(rest);
    }

    /// Bytes that spell themselves; those that are not UTF-8 are U+FFFD.
    fn valid(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.text.push_str(chunk.valid());
            self.map.plain(chunk.valid().len());
            if !chunk.invalid().is_empty() {
                self.spelled(char::REPLACEMENT_CHARACTER, chunk.invalid().len());
            }
        }
        self.span.end = self.map.source_end();
    }

    fn spelled(&mut self, character: char, length: usize) {
        self.text.push(character);
        self.map.spelled(character.len_utf8(), length);
        self.span.end = self.map.source_end();
    }

    /// Markup of `length` bytes comes next, which reads as `as_text`.
    pub(super) fn mark(&mut self, as_text: &str, length: usize) {
        let from = self.text.len();
        self.text.push_str(as_text);
        self.map.spelled(as_text.len(), length);
        self.marks.push(from..self.text.len());
        self.span.end = self.map.source_end();
    }

    /// Edits of the text as edits of the unit.
    pub fn in_source(&self, edits: Vec<Edit>) -> Vec<Edit> {
        if let TextSpelling::Cell(delimiter) = self.spelling {
            let odd = |c: char| matches!(c, '"' | '\r' | '\n') || u32::from(c) == u32::from(delimiter);
            if edits.iter().any(|edit| edit.with.contains(odd)) {
                let cell = spliced_text(&self.text, &edits);
                let with = format!("\"{}\"", TextSpelling::QuotedCell.spell(&cell));
                return vec![Edit { range: self.span.clone(), with }];
            }
        }
        edits.into_iter().flat_map(|edit| self.parted(edit)).collect()
    }

    /// An edit, in parts where markup stands in its range: what is as long as the text there keeps each character's
    /// place, and what is not stands where the text began.
    fn parted(&self, Edit { range, with }: Edit) -> Vec<Edit> {
        let characters =
            |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default().chars().count();
        let alike = with.chars().count() == characters(&range);
        let (mut rest, mut parts) = (with.as_str(), Vec::new());
        for (range, is_mark) in self.stretches(&range) {
            let length = match (alike, is_mark) {
                (true, _) => rest.char_indices().nth(characters(&range)).map_or(rest.len(), |(at, _)| at),
                (false, true) => 0,
                (false, false) => rest.len(),
            };
            let (own, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            rest = behind;
            if !is_mark {
                let edit = Edit { range, with: own.to_owned() };
                parts.push(edit.through(&self.map, |with| self.spelling.spell(&with)));
            }
        }
        parts
    }

    /// What a range of the text is made of, in order, and whether each is markup.
    fn stretches(&self, range: &Range<usize>) -> Vec<(Range<usize>, bool)> {
        let (mut at, mut all) = (range.start, Vec::new());
        let behind = self.marks.partition_point(|mark| mark.end <= range.start);
        let marks = self.marks.get(behind..).unwrap_or_default();
        for mark in marks.iter().take_while(|mark| mark.start < range.end) {
            all.push((at..mark.start.max(at), false));
            all.push((mark.start.max(at)..mark.end.min(range.end), true));
            at = mark.end;
        }
        all.push((at..range.end.max(at), false));
        all.retain(|(range, _)| !range.is_empty());
        all
    }
}

/// The longest reference, in bytes: one may have zeros before its number.
const LONGEST: usize = 24;

impl TextSpelling {
    /// How `text` is spelled.
    fn spell(self, text: &str) -> String {
        match self {
            Self::Plain | Self::Cell(_) => text.to_owned(),
            Self::QuotedCell => text.replace('"', "\"\""),
            Self::Cdata => text.replace("]]>", "]]]]><![CDATA[>"),
            Self::Raw => text.replace("</", "<\\/"),
            Self::Text | Self::Remark => referred(text, |c| matches!(c, '<' | '>' | '&')),
            Self::Attribute(None) => referred(text, |c| {
                c.is_ascii_whitespace() || matches!(c, '<' | '>' | '&' | '"' | '\'' | '=' | '`')
            }),
            Self::Attribute(Some(quote)) => referred(text, |c| {
                matches!(c, '<' | '>' | '&' | '\t' | '\r' | '\n') || u32::from(c) == u32::from(quote)
            }),
        }
    }
}

/// A text with references in the place of characters that are markup. Characters that no document may have
/// (XML, section 2.2) become U+FFFD.
fn referred(text: &str, is_markup: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if !is_markup(c) && (!c.is_control() || matches!(c, '\t' | '\r' | '\n')) => out.push(c),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if is_markup(c) => out.push_str(&format!("&#{};", u32::from(c))),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out
}
