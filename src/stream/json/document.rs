//! A JSON document that is in memory whole: its leaves with their paths ([`walk`]), and the text that an encoded
//! string stands for with the way back ([`Decoded`]).
//!
//! Strict RFC 8259, unlike [`JsonSlots`](crate::stream::json::JsonSlots), which must make do with what passes.

use std::borrow::Cow;
use std::ops::Range;

use crate::edit::SourceMap;
use crate::stream::json::escape::{EscapeRead, encoded, unescape};
use crate::stream::json::lexer::{Cursor, JsonLexer, Lexeme, RECORD_SEPARATOR, StringRole, is_number};
use crate::stream::json::tail::Tail;
use crate::stream::path::{JsonToken, LONG_NUMBER, MAX_DEPTH, Path, PathTracker};

/// A string, a key or a long number of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The bytes between the quotes, or the whole number with its sign.
    pub span: Range<usize>,
    /// Which of these it is; never [`JsonToken::Rest`].
    pub token: JsonToken,
}

/// Why bytes are not one JSON document. Holds none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not valid JSON at byte {offset}: {fault}")]
pub struct JsonError {
    /// Where, in bytes from 0.
    pub offset: usize,
    /// What is wrong there.
    pub fault: JsonFault,
}

/// What is wrong with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonFault {
    /// A byte that the grammar does not allow there.
    #[error("unexpected byte")]
    Unexpected,
    /// The document ends before it is complete.
    #[error("unexpected end")]
    Truncated,
    /// Something follows the document.
    #[error("bytes after the document")]
    Trailing,
    /// More than [`MAX_DEPTH`] arrays and objects are open.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A control character that is not escaped.
    #[error("control character in a string")]
    Control,
    /// A reverse solidus that begins no escape.
    #[error("invalid escape")]
    Escape,
    /// The document is not UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
}

/// Calls `see` for every string value, every key and every number of [`LONG_NUMBER`] digits or more, in the order
/// in which they stand. A key's path is its object's; equal keys of an object are each reported. Half a surrogate
/// pair is legal, as the grammar has it.
pub fn walk(doc: &[u8], see: &mut dyn FnMut(&Path<'_>, Leaf)) -> Result<(), JsonError> {
    walk_numbers(doc, &is_long, see)
}

/// The same with the numbers that `which` wants.
pub fn walk_numbers(
    doc: &[u8],
    which: &dyn Fn(&[u8]) -> bool,
    see: &mut dyn FnMut(&Path<'_>, Leaf),
) -> Result<(), JsonError> {
    let fail = |offset, fault| Err(JsonError { offset, fault });
    if let Err(error) = std::str::from_utf8(doc) {
        return fail(error.valid_up_to(), JsonFault::Utf8);
    }
    if let Some(offset) = memchr::memchr(RECORD_SEPARATOR, doc) {
        return fail(offset, JsonFault::Control);
    }
    let mut lexer = JsonLexer::new();
    let mut trail = PathTracker::default();
    let mut cursor = Cursor { bytes: doc, at: 0, tail: Tail::Closed };
    let mut string = 0;
    let mut complete = false;
    loop {
        let lexeme = lexer.next(&mut cursor);
        if lexeme == Lexeme::More {
            return if complete { Ok(()) } else { fail(doc.len(), JsonFault::Truncated) };
        }
        if complete {
            return fail(cursor.at, JsonFault::Trailing);
        }
        match lexeme {
            Lexeme::Open(_) if lexer.depth() > MAX_DEPTH => return fail(cursor.at - 1, JsonFault::TooDeep),
            Lexeme::Open(nesting) => trail.open(nesting),
            Lexeme::Close => trail.close(),
            Lexeme::Comma => trail.comma(),
            Lexeme::Number { from } if which(cursor.since(from)) => {
                see(&trail.path(), Leaf { span: from..cursor.at, token: JsonToken::Number });
            }
            Lexeme::Begin(role) => {
                string = cursor.at;
                if role == StringRole::Key {
                    trail.name();
                }
            }
            Lexeme::Run { from } => {
                if let Some(at) = cursor.since(from).iter().position(|b| *b < b' ') {
                    return fail(from + at, JsonFault::Control);
                }
            }
            Lexeme::End(role) => {
                let span = string..cursor.at - 1;
                let token = if role == StringRole::Key { JsonToken::Key } else { JsonToken::Text };
                see(&trail.path(), Leaf { span: span.clone(), token });
                if role == StringRole::Key {
                    trail.named(Decoded::of(doc.get(span).unwrap_or_default()).text());
                    trail.end_name();
                }
            }
            Lexeme::Stray { from } => return fail(from, JsonFault::Escape),
            Lexeme::Broken => return fail(cursor.at, JsonFault::Unexpected),
            Lexeme::Colon
            | Lexeme::Literal
            | Lexeme::Number { .. }
            | Lexeme::Escape { .. }
            | Lexeme::More => {}
        }
        complete = lexer.between();
    }
}

/// Whether a number has enough digits to be looked at; an exponent's do not count.
pub(crate) fn is_long(number: &[u8]) -> bool {
    let digits = number.iter().take_while(|b| !matches!(b, b'e' | b'E')).filter(|b| b.is_ascii_digit());
    number.len() >= LONG_NUMBER && digits.count() >= LONG_NUMBER
}

/// What of a number is looked at: its digits and its fraction, without its sign and its exponent.
pub fn digits_of(spelled: &str) -> &str {
    parts_of(spelled).1
}

fn parts_of(spelled: &str) -> (&str, &str, &str) {
    let (sign, rest) = spelled.split_at(usize::from(spelled.starts_with('-')));
    let (digits, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    (sign, digits, exponent)
}

/// A number with these in place of its [digits](digits_of): a number while they are some without a leading zero, with its
/// sign and its exponent beside them; else a string, in its quotes. Some hexadecimal texts spell a number with an exponent;
/// those too become strings.
pub fn with_digits(spelled: &str, digits: &str) -> String {
    let (sign, _, exponent) = parts_of(spelled);
    let edited = format!("{sign}{digits}");
    let plain = edited.bytes().all(|b| matches!(b, b'0'..=b'9' | b'-' | b'.'));
    let is_number = plain && is_number(edited.as_bytes());
    if is_number { format!("{edited}{exponent}") } else { format!("\"{}\"", encoded(&edited)) }
}

/// The text of an encoded string, and where each part of it stands in the encoding.
pub struct Decoded<'a> {
    text: Cow<'a, str>,
    map: SourceMap,
}

impl<'a> Decoded<'a> {
    /// Decodes what stands between the quotes of a string. Total: a reverse solidus that begins no escape is
    /// itself, bytes that are not UTF-8 are U+FFFD, as is half a surrogate pair.
    pub fn of(encoded: &'a [u8]) -> Self {
        if memchr::memchr(b'\\', encoded).is_none()
            && let Ok(text) = std::str::from_utf8(encoded)
        {
            let mut map = SourceMap::at(0);
            map.plain(text.len());
            return Self { text: Cow::Borrowed(text), map };
        }
        Self::spelled(encoded)
    }

    #[cold]
    fn spelled(encoded: &'a [u8]) -> Self {
        let mut text = String::with_capacity(encoded.len());
        let mut map = SourceMap::at(0);
        let mut rest = encoded;
        while !rest.is_empty() {
            let length = match unescape_at(rest) {
                Some((decoded, length)) => {
                    text.push(decoded);
                    map.spelled(decoded.len_utf8(), length);
                    length
                }
                None => {
                    let next = rest.iter().skip(1).position(|b| *b == b'\\');
                    let run = rest.get(..next.map_or(rest.len(), |at| at + 1)).unwrap_or_default();
                    for chunk in run.utf8_chunks() {
                        text.push_str(chunk.valid());
                        map.plain(chunk.valid().len());
                        if !chunk.invalid().is_empty() {
                            text.push(char::REPLACEMENT_CHARACTER);
                            map.spelled(char::REPLACEMENT_CHARACTER.len_utf8(), chunk.invalid().len());
                        }
                    }
                    run.len()
                }
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        Self { text: Cow::Owned(text), map }
    }

    /// The decoded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The encoded bytes (from the string's beginning) that spell `range` of the text (in bytes); a range that
    /// begins or ends within a character takes all of it.
    pub fn encoded(&self, range: Range<usize>) -> Range<usize> {
        self.map.range(range)
    }

    /// The way from the text to the encoded bytes.
    pub fn map(&self) -> &SourceMap {
        &self.map
    }
}

fn unescape_at(bytes: &[u8]) -> Option<(char, usize)> {
    match (bytes.first(), unescape(bytes, Tail::Closed)) {
        (Some(b'\\'), EscapeRead::Char(decoded, length)) => Some((decoded, length)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(doc: &str) -> Result<Vec<String>, JsonError> {
        let mut all = Vec::new();
        walk(doc.as_bytes(), &mut |path, leaf| {
            let text = Decoded::of(&doc.as_bytes()[leaf.span]).text().to_owned();
            all.push(format!("{:?} {path} {text}", leaf.token));
        })?;
        Ok(all)
    }

    #[test]
    fn walks_leaves_in_order_with_their_paths() {
        let doc = r#" {"a": ["x", {"b\u002fc": "y\n", "n": 42, "n": -4111111111111111}, null],
                       "a": 1.234567, "e": 1e9999999, "": "z" } "#;
        let expected = [
            "Key  a",
            "Text /a/0 x",
            "Key /a/1 b/c",
            "Text /a/1/b~1c y\n",
            "Key /a/1 n",
            "Key /a/1 n",
            "Number /a/1/n -4111111111111111",
            "Key  a",
            "Number /a 1.234567",
            "Key  e",
            "Key  ",
            "Text / z",
        ];
        assert_eq!(leaves(doc).unwrap(), expected);
        assert_eq!(leaves("\"only\"").unwrap(), ["Text  only"]);
        assert_eq!(leaves("12345678").unwrap(), ["Number  12345678"]);
    }

    #[test]
    fn refuses_what_is_not_one_document() {
        use JsonFault::{Control, Escape, TooDeep, Trailing, Truncated, Unexpected, Utf8};
        let deep = "[".repeat(129);
        let cases: &[(&[u8], usize, JsonFault)] = &[
            (b"", 0, Truncated),
            (b" ", 1, Truncated),
            (b"{\"a\":\"b", 7, Truncated),
            (b"{\"a\":1", 6, Truncated),
            (b"[1,]", 3, Unexpected),
            (b"{} x", 3, Trailing),
            (b"{}{}", 3, Trailing),
            (b"\"a\nb\"", 2, Control),
            (b"\"a\\xb\"", 2, Escape),
            (b"\"\\u12\"", 1, Escape),
            (b"\"a\xffb\"", 2, Utf8),
            (b"\x1e{}", 0, Control),
            (b"[01]", 1, Unexpected),
            (b"[nul]", 1, Unexpected),
            (b"{\"a\" 1}", 5, Unexpected),
            (deep.as_bytes(), 128, TooDeep),
        ];
        for (doc, offset, fault) in cases {
            let error = walk(doc, &mut |_, _| {}).unwrap_err();
            assert_eq!((error.offset, error.fault), (*offset, *fault), "{}", doc.escape_ascii());
        }
        let bottom = format!("{}{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(walk(bottom.as_bytes(), &mut |_, _| {}), Ok(()));
    }

    #[test]
    fn decoded_ranges_lead_back_to_whole_escapes() {
        let encoded = br"a\u0040b\n\ud83d\ude00c\q";
        let decoded = Decoded::of(encoded);
        assert_eq!(decoded.text(), "a@b\n😀c\\q");
        let cases: &[(Range<usize>, &str)] = &[
            (0..1, "a"),
            (1..2, r"\u0040"),
            (0..3, r"a\u0040b"),
            (3..4, r"\n"),
            (4..8, r"\ud83d\ude00"),
            (5..6, r"\ud83d\ude00"),
            (8..9, "c"),
            (8..11, r"c\q"),
            (0..0, ""),
        ];
        for (range, expected) in cases {
            let got = &encoded[decoded.encoded(range.clone())];
            assert_eq!(got.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
        }
    }

    #[test]
    fn decoding_is_total() {
        let decoded = Decoded::of(b"a\xffb\\");
        assert_eq!(decoded.text(), "a\u{fffd}b\\");
        assert_eq!((decoded.encoded(1..4), decoded.encoded(4..6)), (1..2, 2..4));
        assert!(matches!(Decoded::of("é".as_bytes()).text, Cow::Borrowed("é")));
    }

    #[test]
    fn edited_numbers_stay_numbers_while_they_can() {
        let cases = [
            ("4111", "1234567", "1234567"),
            ("-4111", "12.50", "-12.50"),
            ("4111", "0123", "\"0123\""),
            ("4111", "12e4567", "\"12e4567\""),
            ("4111", "[CARD]", "\"[CARD]\""),
            ("4111", "", "\"\""),
            ("4111e0", "1234", "1234e0"),
            ("-4111.0E+2", "1234.0", "-1234.0E+2"),
            ("4111e0", "****", "\"****\""),
        ];
        for (spelled, with, expected) in cases {
            assert_eq!(with_digits(spelled, with), expected, "{spelled}");
            assert_eq!(with_digits(spelled, digits_of(spelled)), spelled);
        }
    }
}
