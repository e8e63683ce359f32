//! API bodies as JSON values, strictly: RFC 8259, no duplicate member anywhere, a depth limit, and a JSON Pointer
//! to what is wrong. (`serde_json` alone keeps the last duplicate and says only line and column.)

use std::cell::RefCell;
use std::fmt;
use std::str::Chars;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::api::error::{Code, Invalid};
use crate::base::pointer::Pointer;

/// Nesting allowed in an API body.
pub const MAX_DEPTH: usize = 128;

/// Reads a whole body.
///
/// # Errors
/// [`Code::BadFormat`] at the place of a duplicate, of too deep a value, or of a text that is none, and
/// [`Code::NotWithinRange`] at that of a number beyond all; else [`Code::BadFormat`] at the whole body with line and column
/// in the detail.
pub fn parse(body: &[u8]) -> Result<Value, Invalid> {
    let body = without_mark(body);
    let found = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(body);
    reader.disable_recursion_limit();
    let strict = Strict { at: JsonLocation::Root, depth: 0, found: &found, keep: true };
    let value = strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| refused(found, &error))
}

/// Reads a whole body, of which the members named in `raw` are checked as strictly but left as they are written:
/// documents that may be large, and of which what is not touched must not change.
///
/// # Errors
/// As [`parse`].
pub fn parse_keeping<'b>(body: &'b [u8], raw: &[&str]) -> Result<(Value, RawMembers<'b>), Invalid> {
    let body = without_mark(body);
    if body.trim_ascii_start().first() != Some(&b'{') {
        return parse(body).map(|value| (value, RawMembers::new()));
    }
    let found = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(body);
    let top = TopLevel { raw, found: &found };
    let parsed = reader.deserialize_any(top).and_then(|parsed| reader.end().map(|()| parsed));
    parsed.map_err(|error| refused(found, &error))
}

/// A body without the mark of the byte order, which some clients on Windows send and a reader may ignore (RFC 8259, section
/// 8.1).
fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)
}

/// Hands on the text of a JSON string, piece by piece: the reader of a whole value would keep it in a buffer that it does
/// not wipe. `None` if `written` is no string of JSON.
pub fn unescape(written: &str, mut piece: impl FnMut(&str)) -> Option<()> {
    let mut rest = written.strip_prefix('"')?.strip_suffix('"')?;
    while let Some((plain, escape)) = rest.split_once('\\') {
        piece(plain);
        let mut letters = escape.chars();
        let meant = match letters.next()? {
            same @ ('"' | '\\' | '/') => same,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => character(&mut letters)?,
            _ => return None,
        };
        piece(meant.encode_utf8(&mut [0; 4]));
        rest = letters.as_str();
    }
    piece(rest);
    Some(())
}

/// The character of `\u` and what follows it: one unit of UTF-16, or a pair (RFC 8259 section 7).
fn character(letters: &mut Chars<'_>) -> Option<char> {
    let unit = |letters: &mut Chars<'_>| {
        (0..4).try_fold(0, |sum: u16, _| Some(sum << 4 | u16::try_from(letters.next()?.to_digit(16)?).ok()?))
    };
    let first = unit(letters)?;
    let mut units = vec![first];
    if (0xD800..0xDC00).contains(&first) {
        let low = letters.as_str().strip_prefix("\\u")?;
        *letters = low.chars();
        units.push(unit(letters)?);
    }
    let mut read = char::decode_utf16(units);
    read.next()?.ok().filter(|_| read.next().is_none())
}

/// The members that were left as they are written.
pub type RawMembers<'b> = Vec<(String, &'b RawValue)>;

/// What is JSON by its grammar and still cannot be read, by what the reader says of it.
fn beyond(error: &dyn fmt::Display) -> Option<(Code, &'static str)> {
    let said = error.to_string();
    let begins = |words: &[&str]| words.iter().any(|words| said.starts_with(words));
    if begins(&["number out of range"]) {
        return Some((
            Code::NotWithinRange,
            "a number must lie within those of 64 bits (IEEE 754), up to 1.8e308",
        ));
    }
    begins(&["lone leading surrogate", "unexpected end of hex escape"]).then_some((Code::BadFormat, HALF))
}

const HALF: &str = "half of a surrogate pair (\\ud800 to \\udfff) is no character; send both halves";

/// Says of a value that cannot be read what it is, and where; what lies deepest is told first.
fn told<E: fmt::Display>(found: &RefCell<Option<Invalid>>, at: &JsonLocation<'_>, error: E) -> E {
    let known = found.borrow().is_some();
    if let Some((code, detail)) = beyond(&error).filter(|_| !known) {
        found.replace(Some(Invalid::new(code, at.pointer(), detail)));
    }
    error
}

fn refused(found: RefCell<Option<Invalid>>, error: &serde_json::Error) -> Invalid {
    told(&found, &JsonLocation::Root, error);
    found.into_inner().unwrap_or_else(|| {
        let (line, column) = (error.line(), error.column());
        Invalid::body(Code::BadFormat, format!("the body is not JSON (line {line}, column {column})"))
    })
}

/// The body itself.
struct TopLevel<'a> {
    raw: &'a [&'a str],
    found: &'a RefCell<Option<Invalid>>,
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = (Value, RawMembers<'de>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut members, mut kept) = (Map::new(), RawMembers::new());
        while let Some(key) = map.next_key::<String>()? {
            let at = JsonLocation::Key(&JsonLocation::Root, &key);
            let strict = |keep| Strict { at, depth: 1, found: self.found, keep };
            if members.contains_key(&key) || kept.iter().any(|(known, _)| *known == key) {
                return Err(strict(true).refuse(&at, "the same member twice"));
            }
            if self.raw.contains(&key.as_str()) {
                let value: &'de RawValue = map.next_value()?;
                if value.get().starts_with('"') {
                    // Its form has been looked at: what is left to be wrong is what it means.
                    unescape(value.get(), |_| {}).ok_or_else(|| strict(false).refuse(&at, HALF))?;
                } else {
                    let mut reader = serde_json::Deserializer::from_str(value.get());
                    reader.disable_recursion_limit();
                    let read = strict(false).deserialize(&mut reader);
                    read.map_err(|error| A::Error::custom(told(self.found, &at, error)))?;
                }
                kept.push((key, value));
            } else {
                let value =
                    map.next_value_seed(strict(true)).map_err(|error| told(self.found, &at, error))?;
                members.insert(key, value);
            }
        }
        Ok((Value::Object(members), kept))
    }
}

/// Where the reader is: a list in the stack's frames, printed only when something is wrong.
#[derive(Clone, Copy)]
enum JsonLocation<'a> {
    Root,
    Key(&'a JsonLocation<'a>, &'a str),
    Index(&'a JsonLocation<'a>, usize),
}

impl JsonLocation<'_> {
    fn pointer(&self) -> Pointer {
        match self {
            Self::Root => Pointer::root(),
            Self::Key(parent, key) => parent.pointer().key(key),
            Self::Index(parent, index) => parent.pointer().index(*index),
        }
    }
}

struct Strict<'a> {
    at: JsonLocation<'a>,
    depth: usize,
    found: &'a RefCell<Option<Invalid>>,
    /// Whether the value is wanted, or only looked through.
    keep: bool,
}

impl Strict<'_> {
    fn refuse<E: Error>(&self, at: &JsonLocation<'_>, detail: &str) -> E {
        self.found.borrow_mut().get_or_insert_with(|| Invalid::new(Code::BadFormat, at.pointer(), detail));
        E::custom("refused")
    }

    fn deeper<E: Error>(&self) -> Result<usize, E> {
        if self.depth == MAX_DEPTH {
            return Err(self.refuse(&self.at, "nested deeper than 128 levels"));
        }
        Ok(self.depth + 1)
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if !self.keep {
            return Ok(Value::Null);
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(if self.keep { Value::String(value.to_owned()) } else { Value::Null })
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut items = Vec::new();
        for index in 0.. {
            let at = JsonLocation::Index(&self.at, index);
            let item = seq.next_element_seed(Strict { at, depth, ..self });
            let Some(item) = item.map_err(|error| told(self.found, &at, error))? else { break };
            if self.keep {
                items.push(item);
            }
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let depth = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let at = JsonLocation::Key(&self.at, &key);
            if members.contains_key(&key) {
                return Err(self.refuse(&at, "the same member twice"));
            }
            let value = map.next_value_seed(Strict { at, depth, ..self });
            let value = value.map_err(|error| told(self.found, &at, error))?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_is_named_wherever_it_is() {
        let fault = parse(br#"{"a":[{"b/c":1,"b/c":1}]}"#).unwrap_err();
        assert_eq!((fault.code, fault.source.as_str()), (Code::BadFormat, "/a/0/b~1c"));
    }

    #[test]
    fn depth_is_counted_not_crashed_into() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        let fault = parse(nested(MAX_DEPTH + 1).as_bytes()).unwrap_err();
        assert_eq!(fault.source.as_str(), "/0".repeat(MAX_DEPTH));
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_kept_is_checked_as_strictly() {
        let body = br#" {"a":{"n":1.50e40,"s":"x"},"t":"y"} "#;
        let (value, kept) = parse_keeping(body, &["a"]).unwrap();
        assert_eq!(value.to_string(), r#"{"t":"y"}"#);
        assert_eq!((kept[0].0.as_str(), kept[0].1.get()), ("a", r#"{"n":1.50e40,"s":"x"}"#));
        let nested = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(parse_keeping(nested(MAX_DEPTH - 1).as_bytes(), &["a"]).is_ok());
        let rows = [
            (r#"{"a":[{"b":1,"b":2}]}"#.to_owned(), "/a/0/b"),
            (r#"{"a":1,"a":2}"#.to_owned(), "/a"),
            (r#"{"a":01}"#.to_owned(), ""),
            (r#"{"a":"\ud800"}"#.to_owned(), "/a"),
            (r#"{"a":["\ud800"]}"#.to_owned(), "/a/0"),
            (r#"{"a":1} x"#.to_owned(), ""),
            (nested(MAX_DEPTH), &*format!("/a{}", "/0".repeat(MAX_DEPTH - 1))),
        ]
        .map(|(body, at)| (body, at.to_owned()));
        for (body, at) in rows {
            let fault = parse_keeping(body.as_bytes(), &["a"]).unwrap_err();
            assert_eq!((fault.code, fault.source.as_str()), (Code::BadFormat, at.as_str()), "{body}");
        }
    }

    #[test]
    fn a_string_is_read_as_the_reader_reads_it() {
        let rows = [
            r#""""#,
            r#""plain ä""#,
            r#""a\nb\t\"\\\/\b\f\r""#,
            r#""\u00e4\u0000x""#,
            r#""\ud83d\ude00!""#,
            r#""\uD83D""#,
            r#""\ude00""#,
            r#""\ud83d\u0041""#,
            r#""\ud83dx""#,
            r#""\u+123""#,
            r#""\u12""#,
            r#""\x""#,
            r#""\""#,
        ];
        for written in rows {
            let mut text = String::new();
            let read = unescape(written, |piece| text.push_str(piece)).map(|()| text);
            assert_eq!(read, serde_json::from_str(written).ok(), "{written}");
        }
        assert_eq!(unescape("1", |_| {}), None);
    }

    /// RFC 8259 sections 6 and 8.2: both are JSON by its grammar, and what software makes of them is its own.
    #[test]
    fn what_cannot_be_read_is_said_where_it_is() {
        let (half, number) = (Code::BadFormat, Code::NotWithinRange);
        let rows = [
            (r#""\ud800""#, "", half),
            (r#"{"text":"a\ud800"}"#, "/text", half),
            (r#"{"text":"\udfff"}"#, "/text", half),
            (r#"{"text":"\ud800\u0041"}"#, "/text", half),
            (r#"{"rules":["A","\ud800"]}"#, "/rules/1", half),
            (r#"{"a":{"\ud800":1}}"#, "/a", half),
            ("1e400", "", number),
            (r#"{"size":1e400}"#, "/size", number),
            (r#"{"size":-1e400,"b":1}"#, "/size", number),
            (r#"{"a":{"b/c":[0,1e999]}}"#, "/a/b~1c/1", number),
        ];
        for (body, at, code) in rows {
            for fault in [
                parse(body.as_bytes()).unwrap_err(),
                parse_keeping(body.as_bytes(), &["text", "a"]).unwrap_err(),
            ] {
                assert_eq!((fault.code, fault.source.as_str()), (code, at), "{body}");
                assert!(!fault.detail.contains("not JSON"), "{body}");
            }
        }
        assert_eq!(parse("\u{feff}{}".as_bytes()).unwrap(), serde_json::json!({}));
        assert!(parse_keeping("\u{feff}{\"a\":1}".as_bytes(), &["a"]).is_ok());
        for good in [r#""\ud83d\ude00""#, "1e308", "1e-400", "123456789012345678901234567890"] {
            assert!(parse(good.as_bytes()).is_ok(), "{good}");
        }
    }

    #[test]
    fn what_is_not_json_says_where_and_not_what() {
        for bad in ["", " ", "{", "{} {}", "[1,]", "01", "\"\\x\"", "\"a\nb\"", "NaN", "{}\u{feff}"] {
            let fault = parse(bad.as_bytes()).unwrap_err();
            assert_eq!((fault.code, fault.source.as_str()), (Code::BadFormat, ""), "{bad:?}");
            assert!(fault.detail.starts_with("the body is not JSON (line "), "{bad:?}");
        }
    }
}
