//! Escapes in a text: what a program would read where a person sees `%20`, `\u0040` or `&#64;`. Prose quotes addresses of
//! pages, pieces of code and documents that only lenient readers take; what is spelled there is looked for too, beside the
//! text as it is written.

use std::borrow::Cow;
use std::ops::Range;

use crate::detect::as_read;
use crate::edit::{REFERENCES, SourceMap, reference};
use crate::redact::index::More;
use crate::redact::left_context::{behind_esc, terminal_sequence};
use crate::redact::quoted::{may_be_quoted, quoted, quoted_like};

/// How many spellings are undone, one within another.
const LEVELS: usize = 3;

/// The longest escape, in bytes: a reference may have zeros before its number.
const LONGEST: usize = 24;

/// The most backslashes of one escape: each string of JSON within a string doubles them.
const NESTED: usize = 16;

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
    for spot in spots(bytes) {
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
fn spots(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut written = memchr::memchr3_iter(b'%', b'\\', b'&', bytes).peekable();
    let mut terminal = memchr::memchr3_iter(0x1b, b'[', b'^', bytes).peekable();
    std::iter::from_fn(move || match (written.peek(), terminal.peek()) {
        (Some(one), Some(other)) if other < one => terminal.next(),
        (Some(_), _) => written.next(),
        (None, _) => terminal.next(),
    })
}

/// What is spelled at `spot`, and by how many bytes; `None` as a character is what is not read at all.
fn spelled(bytes: &[u8], spot: usize) -> Option<(Option<char>, usize)> {
    let rest = bytes.get(spot..).unwrap_or_default();
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

/// The character by which sequences for terminals begin.
const ESC: char = '\u{1b}';

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStart {
    /// An escape of this character, of so many bytes.
    Escape(char, usize),
    /// None.
    No,
    /// What may become one, or another one.
    Cut,
}

/// Whether an escape may begin with this byte.
const fn may_begin(byte: u8) -> bool {
    matches!(byte, b'%' | b'\\' | b'&' | b'$' | b'[' | b'\'')
}

/// Whether a text is in ASCII, and no escape begins in it.
pub(super) fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && !may_begin(byte))
}

/// The escape at the beginning of `bytes`, where more may follow.
pub(super) fn begins(bytes: &[u8], more: More) -> TextStart {
    let window = bytes.get(..LONGEST).unwrap_or(bytes);
    if !window.first().is_some_and(|&first| may_begin(first)) {
        return TextStart::No;
    }
    if more == More::Yes && window.len() < LONGEST && (goes_on(window) || may_be_quoted(window)) {
        return TextStart::Cut;
    }
    let escaped = nested_unicode(window).or_else(|| quoted(window)).or_else(|| escape(window));
    escaped.map_or(TextStart::No, |(c, length)| TextStart::Escape(c, length))
}

/// How many backslashes text begins with, if that may be an escape of JSON that stands in strings of JSON itself.
fn nesting(text: &[u8]) -> Option<usize> {
    let count = text.iter().take_while(|&&byte| byte == b'\\').count();
    (2..=NESTED).contains(&count).then_some(count)
}

/// `\\u011b`: a character in a document of JSON that stands in strings, however deep.
fn nested_unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let before = nesting(bytes)? - 1;
    let (c, length) = unicode(bytes.get(before..)?)?;
    (!c.is_control() && length == 6).then_some((c, before + length))
}

/// Whether what follows `window` may be part of the escape that it is, or may become.
fn goes_on(window: &[u8]) -> bool {
    let all = |digits: &[u8], radix| digits.iter().all(|digit| char::from(*digit).is_digit(radix));
    let fewer = |digits: &[u8], count, radix| digits.len() < count && all(digits, radix);
    match window {
        [b'%' | b'\\' | b'&'] => true,
        [b'\\', b'\\', ..] => match nesting(window).and_then(|count| window.get(count..)) {
            Some([]) => true,
            Some([b'u', digits @ ..]) => fewer(digits, 4, 16),
            _ => false,
        },
        [b'%', b'u' | b'U', digits @ ..] => fewer(digits, 4, 16),
        [b'%', ..] => {
            let one = |part: &[u8]| matches!(part, [b'%', digits @ ..] if all(digits, 16));
            window.len() < 12 && window.chunks(3).all(one) && percent(window).is_none()
        }
        [b'\\', b'u', b'{', digits @ ..] => all(digits, 16),
        [b'\\', b'u', digits @ ..] if digits.len() < 4 => all(digits, 16),
        [b'\\', b'u', _, _, _, _, next @ ..] => {
            let beginning = match next {
                [] => true,
                [b'\\'] => true,
                [b'\\', b'u', digits @ ..] => fewer(digits, 4, 16),
                _ => false,
            };
            beginning && unicode(window).is_none() && window.get(2..6).is_some_and(|digits| all(digits, 16))
        }
        [b'\\', b'U', digits @ ..] => fewer(digits, 8, 16),
        [b'\\', b'x', digits @ ..] => fewer(digits, 2, 16),
        [b'\\', b'0'..=b'1', digits @ ..] => fewer(digits, 2, 8),
        [b'&', b'#', b'x' | b'X', digits @ ..] => all(digits, 16),
        [b'&', b'#', digits @ ..] => all(digits, 10),
        [b'&', name @ ..] => REFERENCES.iter().any(|(known, _)| known.as_bytes().starts_with(name)),
        _ => false,
    }
}

/// `c` spelled as the escape `like` spells its character; a letter or digit of ASCII is itself where `like` is a name, a
/// backslash before a mark, or of a character beyond ASCII.
pub(super) fn respelled(like: &str, c: char) -> String {
    let lower = like.bytes().any(|byte| matches!(byte, b'a'..=b'f'))
        || !like.bytes().any(|byte| matches!(byte, b'A'..=b'F')) && like.starts_with('\\');
    let hex = |number: u32, width: usize| match lower {
        true => format!("{number:0width$x}"),
        false => format!("{number:0width$X}"),
    };
    let code = u32::from(c);
    let mut bytes = [0; 4];
    let mut units = [0; 2];
    if let Some(quoted) = quoted_like(like, c) {
        return quoted;
    }
    if let Some((before, inner)) = nesting(like.as_bytes()).and_then(|count| like.split_at_checked(count - 1))
    {
        return respelled(inner, c).replace('\\', &format!("{before}\\"));
    }
    // Who spells what is beyond ASCII so leaves letters and digits as they are.
    if c.is_ascii_alphanumeric() && escape(like.as_bytes()).is_some_and(|(known, _)| !known.is_ascii()) {
        return c.to_string();
    }
    match like.as_bytes() {
        [b'%', b'u' | b'U', ..] => {
            c.encode_utf16(&mut units).iter().map(|unit| format!("%u{}", hex(u32::from(*unit), 4))).collect()
        }
        [b'%', ..] => {
            let upper = !like.bytes().any(|byte| matches!(byte, b'a'..=b'f'));
            let spell = |byte: &u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
            c.encode_utf8(&mut bytes).as_bytes().iter().map(spell).collect()
        }
        [b'\\', b'u', b'{', ..] => format!("\\u{{{}}}", hex(code, 1)),
        [b'\\', b'x', ..] if c.is_ascii() => format!("\\x{}", hex(code, 2)),
        [b'\\', b'0'..=b'1', _, _] if c.is_ascii() => format!("\\{code:03o}"),
        [b'\\', b'U', ..] => format!("\\U{}", hex(code, 8)),
        [b'\\', b'u' | b'x' | b'0'..=b'1', ..] => {
            c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{}", hex(u32::from(*unit), 4))).collect()
        }
        [b'\\', ..] if c.is_ascii_punctuation() => format!("\\{c}"),
        [b'&', b'#', x @ (b'x' | b'X'), ..] => format!("&#{}{};", char::from(*x), hex(code, 1)),
        [b'&', b'#', ..] => format!("&#{code};"),
        [b'&', ..] if !c.is_alphanumeric() => match REFERENCES.iter().find(|(_, known)| *known == c) {
            Some((name, _)) => format!("&{name};"),
            None => format!("&#{code};"),
        },
        _ => c.to_string(),
    }
}

/// The character at the beginning of `bytes`, and how many of them spell it.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'%', b'u' | b'U', ..] => code(bytes.get(2..6)?, 6),
        [b'%', ..] => percent(bytes),
        [b'\\', b'u', b'{', ..] => {
            let end = memchr::memchr(b'}', bytes)?;
            code(bytes.get(3..end)?, end + 1)
        }
        [b'\\', b'u', ..] => unicode(bytes),
        [b'\\', b'U', ..] => code(bytes.get(2..10)?, 10),
        [b'\\', b'x', ..] => code(bytes.get(2..4)?, 4).filter(|(c, _)| c.is_ascii()),
        [b'\\', a @ b'0'..=b'1', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            let octal = [a, b, c].into_iter().fold(0, |sum, digit| sum * 8 + (digit - b'0'));
            Some((char::from(octal), 4))
        }
        [b'\\', mark, ..] => {
            let c = match mark {
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'v' => '\u{b}',
                b'f' => '\u{c}',
                b'a' => '\u{7}',
                b'b' => '\u{8}',
                b'"' | b'\'' | b'/' | b'\\' => char::from(*mark),
                b'e' if bytes.get(2) == Some(&b'[') => ESC,
                _ => return None,
            };
            Some((c, 2))
        }
        [b'&', ..] => reference(bytes),
        _ => None,
    }
}

/// A mark that is none of Markdown's behind a backslash (CommonMark section 2.4), of those that values have.
fn mark(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'\\', mark @ (b'_' | b'-' | b'.' | b'@' | b'+' | b'*' | b'(' | b')'), ..] => {
            Some((char::from(*mark), 2))
        }
        _ => None,
    }
}

/// Whether the backslash at `spot` and the mark behind it stand within a word.
fn within_word(bytes: &[u8], spot: usize) -> bool {
    let around = spot.checked_sub(1).and_then(|from| bytes.get(from..spot + 3));
    matches!(around, Some([before, _, b'_' | b'-' | b'.' | b'@', after])
        if before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric())
}

/// The character of this number, which `length` bytes spell.
fn code(digits: &[u8], length: usize) -> Option<(char, usize)> {
    Some((char::from_u32(hex(digits)?)?, length))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let value = |sum: u32, digit: &u8| sum.checked_mul(16)?.checked_add(char::from(*digit).to_digit(16)?);
    if digits.is_empty() { None } else { digits.iter().try_fold(0, value) }
}

/// `%40`, or as many of them as a character has bytes (RFC 3986 section 2.1).
fn percent(bytes: &[u8]) -> Option<(char, usize)> {
    let mut spelled = [0; 4];
    for (n, part) in bytes.chunks_exact(3).take(4).enumerate() {
        let [b'%', digits @ ..] = part else { return None };
        *spelled.get_mut(n)? = u8::try_from(hex(digits)?).ok()?;
        let read = std::str::from_utf8(spelled.get(..=n)?).ok().and_then(|text| text.chars().next());
        if let Some(c) = read {
            return Some((c, 3 * (n + 1)));
        }
    }
    None
}

/// `\u0040`, or two of them (RFC 8259 section 7).
fn unicode(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let [b'\\', b'u', digits @ ..] = bytes.get(at..at + 6)? else { return None };
        u16::try_from(hex(digits)?).ok()
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(first.into()) {
        return Some((c, 6));
    }
    char::decode_utf16([first, unit(6)?]).next()?.ok().map(|c| (c, 12))
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
