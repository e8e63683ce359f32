//! Escapes in a text: what a program would read where a person sees `%20`, `\u0040` or `&#64;`. Prose quotes addresses of
//! pages, pieces of code and documents that only lenient readers take; what is spelled there is looked for too, beside the
//! text as it is written.

use std::borrow::Cow;
use std::ops::Range;

use crate::detect::as_read;
use crate::edit::{REFERENCES, SourceMap, reference};
use crate::redact::index::More;

/// How many spellings are undone, one within another.
const LEVELS: usize = 3;

/// The longest escape, in bytes: a reference may have zeros before its number.
const LONGEST: usize = 24;

/// What people read there once all escapes are undone.
pub(super) fn read(text: &str) -> Cow<'_, str> {
    match Unescaped::of(text) {
        Some(unescaped) => Cow::Owned(as_read(&unescaped.text).into_owned()),
        None => as_read(text),
    }
}

/// A text with all its escapes undone. What it reads like in between is not looked at: each look costs as much as the first.
pub(super) struct Unescaped {
    pub(super) text: String,
    /// One for each level, the outermost first.
    maps: Vec<SourceMap>,
}

impl Unescaped {
    /// `None` if the text has no escapes.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (mut text, map) = undone(text)?;
        let mut maps = vec![map];
        while maps.len() < LEVELS
            && let Some((next, map)) = undone(&text)
        {
            text = next;
            maps.push(map);
        }
        Some(Self { text, maps })
    }

    /// What spells `range` of the text.
    pub(super) fn range(&self, range: Range<usize>) -> Range<usize> {
        self.maps.iter().rev().fold(range, |range, map| map.range(range))
    }
}

/// The text with its outermost escapes undone, and where each part of that stands in it; `None` if it has none.
fn undone(text: &str) -> Option<(String, SourceMap)> {
    let (mut read, mut map, mut at) = (String::new(), SourceMap::at(0), 0);
    let bytes = text.as_bytes();
    for spot in memchr::memchr3_iter(b'%', b'\\', b'&', bytes) {
        // Within the escape before.
        if spot < at {
            continue;
        }
        let window = bytes.get(spot..bytes.len().min(spot + LONGEST)).unwrap_or_default();
        let escaped = escape(window).or_else(|| mark(window).filter(|_| within_word(bytes, spot)));
        let Some((spelled, length)) = escaped else { continue };
        let plain = text.get(at..spot).unwrap_or_default();
        read.push_str(plain);
        map.plain(plain.len());
        read.push(spelled);
        map.spelled(spelled.len_utf8(), length);
        at = spot + length;
    }
    if at == 0 {
        return None;
    }
    let plain = text.get(at..).unwrap_or_default();
    read.push_str(plain);
    map.plain(plain.len());
    Some((read, map))
}

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begins {
    /// An escape of this character, of so many bytes.
    Escape(char, usize),
    /// None.
    No,
    /// What may become one, or another one.
    Cut,
}

/// The escape at the beginning of `bytes`, where more may follow.
pub(super) fn begins(bytes: &[u8], more: More) -> Begins {
    let window = bytes.get(..LONGEST).unwrap_or(bytes);
    if !matches!(window, [b'%' | b'\\' | b'&', ..]) {
        return Begins::No;
    }
    if more == More::Yes && window.len() < LONGEST && goes_on(window) {
        return Begins::Cut;
    }
    escape(window).or_else(|| mark(window)).map_or(Begins::No, |(c, length)| Begins::Escape(c, length))
}

/// Whether what follows `window` may be part of the escape that it is, or may become.
fn goes_on(window: &[u8]) -> bool {
    let all = |digits: &[u8], radix| digits.iter().all(|digit| char::from(*digit).is_digit(radix));
    let fewer = |digits: &[u8], count, radix| digits.len() < count && all(digits, radix);
    match window {
        [b'%' | b'\\' | b'&'] => true,
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

/// `c` spelled as the escape `like` spells its character; a letter or digit is itself where `like` is a name or a
/// backslash before a mark.
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
                b'"' | b'\'' | b'/' | b'\\' => char::from(*mark),
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
            assert_eq!(undone(text).as_ref().map(|(read, _)| read.as_str()), expected, "{text}");
        }
    }

    #[test]
    fn places_lead_back_through_all_levels() {
        let text = "to jo%2540ab.de";
        let read = Unescaped::of(text).unwrap();
        assert_eq!(read.text, "to jo@ab.de");
        assert_eq!((read.range(5..6), read.range(3..11)), (5..10, 3..15));
        assert!(Unescaped::of("to jo@ab.de").is_none());
    }
}
