//! How a JSON string spells a character (RFC 8259 section 7), both ways.

use bytes::BufMut;

use crate::stream::json::tail::Tail;

/// What stands at a reverse solidus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapeRead {
    /// A character, and the bytes that spell it. Half a surrogate pair is U+FFFD.
    Char(char, usize),
    /// An escape that what follows may complete.
    Cut,
    /// No escape.
    Stray,
}

/// Reads the escape at the beginning of `bytes`, whose first byte is a reverse solidus.
pub(super) fn unescape(bytes: &[u8], tail: Tail) -> EscapeRead {
    let simple = match bytes.get(1) {
        Some(b'u') => return unicode(bytes, tail),
        Some(b'n') => '\n',
        Some(&mark @ (b'"' | b'\\' | b'/')) => char::from(mark),
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        None if tail == Tail::Open => return EscapeRead::Cut,
        _ => return EscapeRead::Stray,
    };
    EscapeRead::Char(simple, 2)
}

fn unicode(bytes: &[u8], tail: Tail) -> EscapeRead {
    const LONE: EscapeRead = EscapeRead::Char(char::REPLACEMENT_CHARACTER, UNIT);
    let first = match unit(bytes) {
        EscapeUnit::Code(code) => code,
        EscapeUnit::Cut if tail == Tail::Open => return EscapeRead::Cut,
        _ => return EscapeRead::Stray,
    };
    if let Some(single) = char::from_u32(u32::from(first)) {
        return EscapeRead::Char(single, UNIT);
    }
    if first >= 0xDC00 {
        return LONE;
    }
    match unit(bytes.get(UNIT..).unwrap_or_default()) {
        EscapeUnit::Code(second) => match char::decode_utf16([first, second]).next() {
            Some(Ok(pair)) => EscapeRead::Char(pair, 2 * UNIT),
            _ => LONE,
        },
        EscapeUnit::Cut if tail == Tail::Open => EscapeRead::Cut,
        _ => LONE,
    }
}

enum EscapeUnit {
    Code(u16),
    Cut,
    Other,
}

/// Reads one `\uXXXX`.
fn unit(bytes: &[u8]) -> EscapeUnit {
    let mut code = 0;
    for (at, byte) in bytes.iter().take(UNIT).enumerate() {
        match (at, byte, char::from(*byte).to_digit(16)) {
            (0, b'\\', _) | (1, b'u', _) => {}
            (2.., _, Some(digit)) => code = code * 16 + digit,
            _ => return EscapeUnit::Other,
        }
    }
    match u16::try_from(code) {
        Ok(code) if bytes.len() >= UNIT => EscapeUnit::Code(code),
        _ => EscapeUnit::Cut,
    }
}

/// Bytes of one `\uXXXX`.
const UNIT: usize = 6;

/// Appends `text` as a JSON string spells it, without the quotes: `"`, `\` and control characters are escaped, all
/// else is written as it is.
pub fn encode(text: &str, out: &mut impl BufMut) {
    spell(text, |piece| out.put_slice(piece.as_bytes()));
}

/// As [`encode`], to a `String`.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    spell(text, |piece| out.push_str(piece));
    out
}

/// How long the escape is with which `encoded` ends, if that is the first half of a surrogate pair (RFC 8259 section 7) whose
/// second may follow in another string; else 0.
pub fn half_at_end(encoded: &[u8]) -> usize {
    let Some((rest, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', third, fourth])) =
        encoded.split_last_chunk::<UNIT>()
    else {
        return 0;
    };
    let escaped = rest.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
    if escaped || !third.is_ascii_hexdigit() || !fourth.is_ascii_hexdigit() { 0 } else { UNIT }
}

fn spell(text: &str, mut put: impl FnMut(&str)) {
    let mut rest = text;
    while let Some((at, escape)) = rest.bytes().enumerate().find_map(|(at, b)| Some((at, escape(b)?))) {
        let (plain, behind) = rest.split_at(at);
        put(plain);
        put(escape);
        rest = behind.get(1..).unwrap_or_default();
    }
    put(rest);
}

fn escape(byte: u8) -> Option<&'static str> {
    match byte {
        b'"' => Some("\\\""),
        b'\\' => Some("\\\\"),
        _ => CONTROL.get(usize::from(byte)).copied(),
    }
}

const CONTROL: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
    "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
    "\\u001d", "\\u001e", "\\u001f",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_known_at_the_end() {
        for (text, length) in [
            (r"hi \ud83d", 6),
            (r"\uD83D", 6),
            (r"\\\ud83d", 6),
            (r"\\ud83d", 0),
            (r"\ude00", 0),
            (r"\ud83d\ude00", 0),
            (r"\ud83d ", 0),
            (r"\ud8zz", 0),
            ("d83d", 0),
            ("", 0),
        ] {
            assert_eq!(half_at_end(text.as_bytes()), length, "{text}");
        }
    }

    #[test]
    fn reads_escapes_cut_or_whole() {
        use EscapeRead::{Char, Cut, Stray};
        let lone = char::REPLACEMENT_CHARACTER;
        let cases: &[(&str, EscapeRead, EscapeRead)] = &[
            (r"\n", Char('\n', 2), Char('\n', 2)),
            (r"\", Cut, Stray),
            (r"\x", Stray, Stray),
            (r"\u00", Cut, Stray),
            (r"\u00zz", Stray, Stray),
            (r"\u0040", Char('@', 6), Char('@', 6)),
            (r"\u00E9", Char('é', 6), Char('é', 6)),
            (r"\ud83d", Cut, Char(lone, 6)),
            (r"\ud83d\", Cut, Char(lone, 6)),
            (r"\ud83d\ude0", Cut, Char(lone, 6)),
            (r"\ud83d\ude00", Char('😀', 12), Char('😀', 12)),
            (r"\ud83d\u0040", Char(lone, 6), Char(lone, 6)),
            (r"\ud83dx", Char(lone, 6), Char(lone, 6)),
            (r"\ud83d\n", Char(lone, 6), Char(lone, 6)),
            (r"\ude00", Char(lone, 6), Char(lone, 6)),
        ];
        for (text, open, closed) in cases {
            assert_eq!(unescape(text.as_bytes(), Tail::Open), *open, "{text}");
            assert_eq!(unescape(text.as_bytes(), Tail::Closed), *closed, "{text}");
        }
    }

    #[test]
    fn writes_what_a_string_may_hold() {
        let mut out = Vec::new();
        encode("a\"b\\c\n\u{1}\u{7f}é😀/", &mut out);
        assert_eq!(out, "a\\\"b\\\\c\\n\\u0001\u{7f}é😀/".as_bytes());
        assert_eq!(encoded("\t\"").as_bytes(), br#"\t\""#);
    }
}
