//! [`UnescapedText`]: a text with its escapes undone. Prose quotes addresses of pages, pieces of code and documents that only
//! lenient readers take; what is spelled there is looked for too, beside the text as it is written.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::detect::as_read;
use crate::edit::SourceMap;
use crate::redact::escapes::{ESC, LONGEST, escape, mark, within_word};
use crate::redact::left_context::{behind_esc, terminal_sequence};

/// How many spellings are undone, one within another.
const LEVELS: usize = 3;

/// What people read there once all escapes are undone.
pub(super) fn read(text: &str) -> Cow<'_, str> {
    match UnescapedText::of(text) {
        Some(unescaped) => Cow::Owned(as_read(&unescaped.text).into_owned()),
        None => as_read(text),
    }
}

/// A text with all its escapes undone, and without what colours it on a terminal. What it reads like in between is not looked at:
/// each look costs as much as the first.
pub(super) struct UnescapedText {
    pub(super) text: String,
    /// One for each level, the outermost first.
    maps: Vec<SourceMap>,
    /// Where the text has escapes of what is neither letter nor digit, each with those within it; in order.
    marks: Vec<EscapeMark>,
}

/// An escape of what is neither letter nor digit.
#[derive(Clone)]
struct EscapeMark {
    range: Range<usize>,
    /// Whether it is one for terminals, which nobody sees.
    unseen: bool,
}

impl UnescapedText {
    /// `None` if the text has no escapes.
    pub(super) fn of(text: &str) -> Option<Self> {
        let UnescapedOnce { text, map, mut marks } = undone(text)?;
        let mut all = Self { text, maps: vec![map], marks: Vec::new() };
        while all.maps.len() < LEVELS
            && let Some(inner) = undone(&all.text)
        {
            let in_source = |mark: EscapeMark| EscapeMark { range: all.range(mark.range), ..mark };
            marks.extend(inner.marks.into_iter().map(in_source));
            all.text = inner.text;
            all.maps.push(inner.map);
        }
        marks.sort_by_key(|mark| (mark.range.start, mark.range.end));
        for mark in marks {
            match all.marks.last_mut() {
                Some(last) if mark.range.start < last.range.end => {
                    last.range.end = last.range.end.max(mark.range.end);
                    last.unseen |= mark.unseen;
                }
                _ => all.marks.push(mark),
            }
        }
        Some(all)
    }

    /// `span` of the text without the part of an escape that it begins or ends within, since a person sees no letters there, and without
    /// what colours it at its ends.
    pub(super) fn without_halves(&self, span: Range<usize>) -> Range<usize> {
        let around = |at: usize| {
            let behind = self.marks.partition_point(|mark| mark.range.end <= at);
            self.marks.get(behind).map(|mark| &mark.range).filter(|range| range.start < at)
        };
        let mut start = around(span.start).map_or(span.start, |range| range.end);
        let mut end = around(span.end).map_or(span.end, |range| range.start);
        let from = self.marks.partition_point(|mark| mark.range.start < start);
        for mark in self.marks.get(from..).unwrap_or_default() {
            if !(mark.unseen && mark.range.start == start && mark.range.end < end) {
                break;
            }
            start = mark.range.end;
        }
        let before = self.marks.partition_point(|mark| mark.range.end <= end);
        for mark in self.marks.get(..before).unwrap_or_default().iter().rev() {
            if !(mark.unseen && mark.range.end == end && mark.range.start > start) {
                break;
            }
            end = mark.range.start;
        }
        start..end.max(start)
    }

    /// What spells `range` of the text.
    pub(super) fn range(&self, range: Range<usize>) -> Range<usize> {
        self.maps.iter().rev().fold(range, |range, map| map.range(range))
    }
}

/// A text with its outermost escapes undone.
struct UnescapedOnce {
    text: String,
    /// Where each part of it stands in the text as it was.
    map: SourceMap,
    /// Where that has escapes of what is neither letter nor digit.
    marks: Vec<EscapeMark>,
}

/// `None` if the text has no escapes.
fn undone(text: &str) -> Option<UnescapedOnce> {
    let (mut read, mut map, mut marks, mut at) = (String::new(), SourceMap::at(0), Vec::new(), 0);
    let bytes = text.as_bytes();
    for spot in spots(bytes, has_doubled_quotes(bytes)) {
        // Within the escape before.
        if spot < at {
            continue;
        }
        let Some((spelled, length)) = spelled(bytes, spot) else { continue };
        let plain = text.get(at..spot).unwrap_or_default();
        read.push_str(plain);
        map.plain(plain.len());
        read.extend(spelled);
        map.spelled(spelled.map_or(0, char::len_utf8), length);
        at = spot + length;
        if !spelled.is_some_and(char::is_alphanumeric) {
            let unseen = !matches!(spelled, Some(c) if c != ' ' && c != ESC);
            marks.push(EscapeMark { range: spot..at, unseen });
        }
    }
    if at == 0 {
        return None;
    }
    let plain = text.get(at..).unwrap_or_default();
    read.push_str(plain);
    map.plain(plain.len());
    Some(UnescapedOnce { text: read, map, marks })
}

/// Where escapes may begin, in order.
fn spots(bytes: &[u8], doubled: bool) -> impl Iterator<Item = usize> + '_ {
    let mut written = memchr::memchr3_iter(b'%', b'\\', b'&', bytes).peekable();
    let mut terminal = memchr::memchr3_iter(0x1b, b'[', b'^', bytes).peekable();
    let quotes = doubled.then(|| memmem::find_iter(bytes, DOUBLED));
    let mut quotes = quotes.into_iter().flatten().peekable();
    std::iter::from_fn(move || {
        let firsts = [written.peek(), terminal.peek(), quotes.peek()];
        let first = firsts.into_iter().flatten().min().copied()?;
        match (written.peek() == Some(&first), terminal.peek() == Some(&first)) {
            (true, _) => written.next(),
            (_, true) => terminal.next(),
            _ => quotes.next(),
        }
    })
}

/// A quote in a cell of CSV that is in quotes itself (RFC 4180, section 2).
const DOUBLED: &[u8] = b"\"\"";

/// Whether there are such in a text, and not only strings of nothing: a cell holds an object of JSON.
fn has_doubled_quotes(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"\"\":")
        .is_some_and(|at| memmem::rfind(bytes.get(..at).unwrap_or_default(), DOUBLED).is_some())
}

/// What is spelled at `spot`, and by how many bytes; `None` as a character is what is not read at all.
fn spelled(bytes: &[u8], spot: usize) -> Option<(Option<char>, usize)> {
    let rest = bytes.get(spot..).unwrap_or_default();
    if rest.starts_with(DOUBLED) {
        return Some((Some('"'), DOUBLED.len()));
    }
    let window = rest.get(..LONGEST).unwrap_or(rest);
    let escaped = escape(window).or_else(|| mark(window).filter(|_| within_word(bytes, spot)));
    if escaped.is_some_and(|(c, _)| c != ESC) {
        return escaped.map(|(c, length)| (Some(c), length));
    }
    // Several in a row are one: a colour and what else a terminal is to do.
    let mut length = 0;
    while let Some(more) = sequence(rest.get(length..).unwrap_or_default()) {
        length += more;
    }
    match length {
        0 => escaped.map(|(c, length)| (Some(c), length)),
        _ => Some((seen(bytes, spot, length), length)),
    }
}

/// A sequence for terminals at the beginning of `bytes`, whichever way its ESC is spelled: so many bytes.
fn sequence(bytes: &[u8]) -> Option<usize> {
    let spelled = match bytes {
        [b'^', b'[', ..] => Some(2),
        [b'%' | b'\\' | b'&', ..] => {
            let window = bytes.get(..LONGEST).unwrap_or(bytes);
            escape(window).filter(|(c, _)| *c == ESC).map(|(_, length)| length)
        }
        _ => return terminal_sequence(bytes),
    };
    let length = spelled?;
    Some(length + behind_esc(bytes.get(length..)?)?)
}

/// How sequences for terminals read. Between digits, or letters of one case, and beside what is no word, they are not seen: a search marks
/// a part of a word so. Else they part words, such as a label and its value.
fn seen(bytes: &[u8], spot: usize, length: usize) -> Option<char> {
    let around = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or_default();
    let (before, after) = (around(spot.checked_sub(1)), around(spot.checked_add(length)));
    let both = |is: fn(&u8) -> bool| is(&before) && is(&after);
    let alike = both(u8::is_ascii_digit) || both(u8::is_ascii_lowercase) || both(u8::is_ascii_uppercase);
    (both(u8::is_ascii_alphanumeric) && !alike).then_some(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read() {
        let cases = [
            ("a%20b%C3%BC", Some("a b\u{fc}")),
            ("100% of %zz and %e9", None),
            ("&#000000000064; &#64h &#x40z", Some("@ @h @z")),
            (r"\u{40} \U00000040 %u0040 \100", Some("@ @ @ @")),
            (r"\u{110000} \u{} \U0000004 \u{ffffffffffffffff} &#99999999999999999999;", None),
            (r"jo\u0040ab.de \ud83d\ude42 \x40", Some("jo@ab.de \u{1f642} @")),
            (r"C:\users\data", None),
            (r"jo\_ab@c\.de \+1 \.x a\. 1\+2", Some(r"jo_ab@c.de \+1 \.x a\. 1\+2")),
            (r#"{\"a\":1}\n"#, Some("{\"a\":1}\n")),
            ("jo&#64;ab&#x2E;de &amp; &unknown; &;", Some("jo@ab.de & &unknown; &;")),
            ("&#1114112; &#-1; \\ud800 %", None),
            (r#"1,"{""a"":""b"",""c"":""""}",2"#, Some(r#"1,"{"a":"b","c":""}",2"#)),
            (r#"{"a":"","b":""}"#, None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(undone(text).as_ref().map(|read| read.text.as_str()), expected, "{text}");
        }
    }

    #[test]
    fn places_lead_back_through_all_levels() {
        let text = "to jo%2540ab.de";
        let read = UnescapedText::of(text).unwrap();
        assert_eq!(read.text, "to jo@ab.de");
        assert_eq!((read.range(5..6), read.range(3..11)), (5..10, 3..15));
        assert!(UnescapedText::of("to jo@ab.de").is_none());
    }

    #[test]
    fn what_colours_a_text_is_not_read() {
        let cases = [
            ("\u{1b}[33m4111\u{1b}[0m x", "4111 x"),
            (r"\u001b[1m\x1b[K4111\033[m, ^[[31mred\e[0m", "4111, red"),
            ("key=[01;31mAKIA[m", "key=AKIA[m"),
            ("jane.\u{1b}[01;31m\u{1b}[Kdoe\u{1b}[m\u{1b}[K@x ja\u{1b}[1mne", "jane.doe@x jane"),
            ("4111\u{1b}[01;31m\u{1b}[K1111\u{1b}[m\u{1b}[K1", "411111111"),
            ("card\u{1b}[0m4111 41\u{1b}[31m11\u{1b}[m", "card 4111 4111"),
        ];
        for (text, expected) in cases {
            assert_eq!(UnescapedText::of(text).unwrap().text, expected, "{text}");
        }
        for text in ["a[0] = b[12]", "[x]", "2^[3]"] {
            assert!(UnescapedText::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_half_of_an_escape_is_no_part_of_a_value() {
        let text = "\\u003cjo@ab.de\\u003e \\\\x2541 hunter2\u{1b}[0m";
        let read = UnescapedText::of(text).unwrap();
        assert_eq!(read.text, "<jo@ab.de> A hunter2");
        let part = |start: usize, end: usize| text.get(read.without_halves(start..end)).unwrap();
        assert_eq!((part(1, 14), part(6, 16), part(6, 14)), ("jo@ab.de", "jo@ab.de", "jo@ab.de"));
        let at = text.find("hunter2").unwrap();
        assert_eq!((part(at, text.len()), part(at, at + 7)), ("hunter2", "hunter2"));
        let text = "\u{1b}[1m\u{1b}[Khunter2\u{1b}[0m";
        let read = UnescapedText::of(text).unwrap();
        assert_eq!(text.get(read.without_halves(0..text.len())), Some("hunter2"));
    }
}
