//! [`PartHead`]: the head of a part, and the texts in it.

use std::ops::Range;

use crate::base::path::hex_digit;
use crate::edit::{Edit, SourceMap};
use crate::stream::StreamError;
use crate::stream::json::LONG_NUMBER;

const BAD_HEAD: &str = "a part of the multipart body has a head that servers may read differently: at most 64 lines of `name: value` that \
     end in CRLF, and each name once";
const NESTED: &str = "a part of the multipart body is multipart itself; send its parts one by one";
const ENCODED: &str = "a part of the multipart body is in a transfer encoding; send its bytes as they are";

/// The most lines of a head, and parameters of a line: each is compared with all before it.
const MAX_LINES: usize = 64;
const MAX_PARAMETERS: usize = 32;

const ENCODED_WORD: &str =
    "a part of the multipart body has an encoded word (`=?utf-8?…?=`) in its head; send the text as it is";

/// Whether a text has an encoded word (RFC 2047), which some servers decode in names of files.
fn has_encoded_word(text: &str) -> bool {
    text.split_once("=?").is_some_and(|(_, rest)| rest.contains("?="))
}

/// How a text of a head is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSpelling {
    /// A parameter's value without quotes (RFC 9110, section 5.6.2).
    Token,
    /// The same in quotes, with `\` before quotes and itself.
    Quoted,
    /// `UTF-8''` and a text in percent-encoding (RFC 8187).
    Extended,
    /// A line's value.
    Line,
}

/// A text of a head in which a caller's value may stand.
#[derive(Debug)]
pub struct HeadText {
    /// What it says.
    pub text: String,
    /// The way to its bytes in the head.
    map: SourceMap,
    spelling: FieldSpelling,
}

impl HeadText {
    /// An edit of the text as one of the head.
    pub fn in_source(&self, edit: Edit) -> Edit {
        let all = edit.range == (0..self.text.len());
        edit.through(&self.map, |with| match self.spelling {
            FieldSpelling::Quoted => quoted(&with),
            FieldSpelling::Extended => percent(&with),
            FieldSpelling::Token if with.bytes().all(is_token) => with,
            // Quotes around a part of a token would be a part of the name.
            FieldSpelling::Token if all => format!("\"{}\"", quoted(&with)),
            FieldSpelling::Token => with.chars().map(|c| if is_token_char(c) { c } else { '_' }).collect(),
            FieldSpelling::Line => with.replace(['\r', '\n'], " "),
        })
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("%22"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            '\\' => out.push_str("\\\\"),
            other => out.push(other),
        }
    }
    out
}

fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_token_char(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_token)
}

/// What a head says of the length of its part, as some clients do though nobody needs it (RFC 7578, section 4.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidLength {
    /// Where the digits are in the head.
    pub digits: Range<usize>,
    /// In bytes.
    pub bytes: usize,
}

/// The head of a part.
#[derive(Debug)]
pub struct PartHead<'h> {
    /// Its lines, as they came.
    pub lines: &'h [u8],
    /// The name of the form's field.
    pub name: Option<String>,
    /// The name of the file.
    pub file_name: Option<String>,
    /// The media type, as it is written.
    pub media_type: Option<String>,
    /// How long it says the part is: right only for whoever can see all of that.
    pub length: Option<SaidLength>,
    /// Texts in it, in order.
    pub texts: Vec<HeadText>,
}

impl<'h> PartHead<'h> {
    /// Reads lines that each end in CRLF.
    ///
    /// # Errors
    /// What two servers may read differently, and parts whose text lies in an encoding or within others.
    pub fn parse(lines: &'h [u8]) -> Result<Self, StreamError> {
        let bad = || StreamError::NotText(BAD_HEAD);
        let (name, file_name, media_type, length) = (None, None, None, None);
        let mut head = Self { lines, name, file_name, media_type, length, texts: Vec::new() };
        let mut names: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
            let end = memchr::memmem::find(rest, b"\r\n").ok_or_else(bad)?;
            let line = rest.get(..end).unwrap_or_default();
            let colon = memchr::memchr(b':', line).ok_or_else(bad)?;
            let (name, value) = line.split_at(colon);
            // Nothing is looked for in names, so nobody's number may be one.
            let digits = name.iter().filter(|byte| byte.is_ascii_digit()).count();
            let fits = !name.is_empty() && digits < LONG_NUMBER && name.iter().all(|byte| is_token(*byte));
            if !fits || value.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
                return Err(bad());
            }
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            if names.len() == MAX_LINES || names.contains(&name) {
                return Err(bad());
            }
            head.field(&name, value.get(1..).unwrap_or_default(), at + colon + 1)?;
            names.push(name);
            at += end + 2;
        }
        Ok(head)
    }

    /// Takes a line whose value begins at byte `at` of the head.
    fn field(&mut self, name: &str, value: &[u8], at: usize) -> Result<(), StreamError> {
        let bad = || StreamError::NotText(BAD_HEAD);
        let plain = String::from_utf8_lossy(value.trim_ascii()).to_ascii_lowercase();
        match name {
            "content-disposition" => self.disposition(value, at),
            // Comments may stand before it (RFC 2045, section 5.1).
            "content-type" if plain.contains("multipart/") => Err(StreamError::NotText(NESTED)),
            "content-type" => {
                let media_type = std::str::from_utf8(value.trim_ascii()).map_err(|_| bad())?;
                self.media_type = Some(media_type.to_owned());
                self.line(value, at)
            }
            "content-transfer-encoding" | "content-encoding" | "transfer-encoding" => {
                let known = ["7bit", "8bit", "binary", "identity", ""].contains(&plain.as_str());
                if known { Ok(()) } else { Err(StreamError::NotText(ENCODED)) }
            }
            "content-length" => {
                let blank = value.len() - value.trim_ascii_start().len();
                let bytes = Some(&plain).filter(|plain| plain.bytes().all(|byte| byte.is_ascii_digit()));
                let bytes = bytes.and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
                let digits = at + blank..at + blank + plain.len();
                self.length = Some(SaidLength { digits, bytes });
                Ok(())
            }
            _ => self.line(value, at),
        }
    }

    /// A value all of which is text.
    fn line(&mut self, value: &[u8], at: usize) -> Result<(), StreamError> {
        let text = std::str::from_utf8(value).map_err(|_| StreamError::NotText(BAD_HEAD))?;
        if has_encoded_word(text) {
            return Err(StreamError::NotText(ENCODED_WORD));
        }
        let mut map = SourceMap::at(at);
        map.plain(text.len());
        self.texts.push(HeadText { text: text.to_owned(), map, spelling: FieldSpelling::Line });
        Ok(())
    }

    fn disposition(&mut self, value: &[u8], at: usize) -> Result<(), StreamError> {
        let bad = || StreamError::NotText(BAD_HEAD);
        let kind = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if !["form-data", "attachment", "inline"]
            .iter()
            .any(|known| kind.eq_ignore_ascii_case(known.as_bytes()))
        {
            return Err(bad());
        }
        for parameter in parameters(value, at).ok_or_else(bad)? {
            if !parameter.name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-') {
                return Err(bad());
            }
            if has_encoded_word(&parameter.text) {
                return Err(StreamError::NotText(ENCODED_WORD));
            }
            let place = match parameter.name.as_str() {
                "name" => Some(&mut self.name),
                "filename" => Some(&mut self.file_name),
                _ => None,
            };
            // Who understands the extended spelling believes it.
            if let Some(place) = place
                && (place.is_none() || parameter.spelling == FieldSpelling::Extended)
            {
                *place = Some(parameter.text.clone());
            }
            let Parameter { text, map, spelling, .. } = parameter;
            self.texts.push(HeadText { text, map, spelling });
        }
        Ok(())
    }
}

/// A parameter of a value.
pub(super) struct Parameter {
    /// In small letters, without the `*` of the extended spelling.
    pub(super) name: String,
    pub(super) text: String,
    map: SourceMap,
    spelling: FieldSpelling,
}

/// The parameters of a value that begins at byte `at` (RFC 9110, section 5.6.6); `None` where it is not written so.
pub(super) fn parameters(value: &[u8], at: usize) -> Option<Vec<Parameter>> {
    let mut all: Vec<Parameter> = Vec::new();
    let mut from = memchr::memchr(b';', value).unwrap_or(value.len());
    while let Some(rest) = value.get(from..).filter(|rest| !rest.trim_ascii().is_empty()) {
        let rest = rest.strip_prefix(b";")?;
        let blank = rest.len() - rest.trim_ascii_start().len();
        let rest = rest.trim_ascii_start();
        from += 1 + blank;
        if rest.is_empty() || rest.starts_with(b";") {
            continue;
        }
        let equals = memchr::memchr(b'=', rest)?;
        let (name, given) = rest.split_at(equals);
        let name = std::str::from_utf8(name.trim_ascii_end()).ok()?.to_ascii_lowercase();
        let given = given.get(1..)?;
        let blank = given.len() - given.trim_ascii_start().len();
        let start = from + equals + 1 + blank;
        let given = given.trim_ascii_start();
        let (parameter, length) = match given.first() {
            Some(b'"') => in_quotes(name, given, at + start)?,
            _ => bare(name, given, at + start)?,
        };
        let fits = all.len() < MAX_PARAMETERS && parameter.name.bytes().all(is_token);
        if !fits || all.iter().any(|known| known.is_same(&parameter)) {
            return None;
        }
        all.push(parameter);
        from = start + length;
        from += value.get(from..)?.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }
    Some(all)
}

impl Parameter {
    /// Whether both say the same thing the same way, so that one of them is one too many.
    fn is_same(&self, other: &Self) -> bool {
        let extended = |one: &Self| one.spelling == FieldSpelling::Extended;
        self.name == other.name && extended(self) == extended(other)
    }
}

fn in_quotes(name: String, given: &[u8], at: usize) -> Option<(Parameter, usize)> {
    let (mut text, mut map) = (Vec::new(), SourceMap::at(at + 1));
    let mut rest = given.get(1..)?;
    let mut length = 1;
    loop {
        let (byte, spelled) = match rest {
            [b'"', ..] => break,
            [b'\\', next @ (b'"' | b'\\'), ..] => (*next, 2),
            [byte, ..] => (*byte, 1),
            [] => return None,
        };
        text.push(byte);
        if spelled == 1 {
            map.plain(1)
        } else {
            map.spelled(1, 2)
        }
        rest = rest.get(spelled..)?;
        length += spelled;
    }
    let text = String::from_utf8(text).ok()?;
    Some((Parameter { name, text, map, spelling: FieldSpelling::Quoted }, length + 1))
}

fn bare(name: String, given: &[u8], at: usize) -> Option<(Parameter, usize)> {
    let length = memchr::memchr(b';', given).unwrap_or(given.len());
    let given = given.get(..length)?.trim_ascii_end();
    let extended = name.strip_suffix('*').map(str::to_owned);
    let Some(name) = extended else {
        let text = std::str::from_utf8(given).ok()?.to_owned();
        let mut map = SourceMap::at(at);
        map.plain(text.len());
        return Some((Parameter { name, text, map, spelling: FieldSpelling::Token }, length));
    };
    // The charset, a language, and the text.
    let mut quotes = memchr::memchr_iter(b'\'', given);
    let (first, second) = (quotes.next()?, quotes.next()?);
    if !given.get(..first)?.eq_ignore_ascii_case(b"utf-8") {
        return None;
    }
    let (text, map) = unescaped(given, second + 1..given.len(), at)?;
    Some((Parameter { name, text, map, spelling: FieldSpelling::Extended }, length))
}

/// What stands at `range` of a value in percent-encoding.
fn unescaped(given: &[u8], range: Range<usize>, at: usize) -> Option<(String, SourceMap)> {
    let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
    let mut rest = given.get(range.clone())?;
    while let [first, behind @ ..] = rest {
        let (byte, length) = match (first, behind) {
            (b'%', [high, low, ..]) => (hex_digit(*high)? << 4 | hex_digit(*low)?, 3),
            (b'%', _) => return None,
            _ => (*first, 1),
        };
        bytes.push(byte);
        lengths.push(length);
        rest = rest.get(length..)?;
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut map = SourceMap::at(at + range.start);
    let mut lengths = lengths.into_iter();
    for c in text.chars() {
        let width = c.len_utf8();
        let length = lengths.by_ref().take(width).sum();
        if length == width { map.plain(width) } else { map.spelled(width, length) }
    }
    Some((text, map))
}
