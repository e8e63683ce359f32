//! Marks of formatting around a name and its value: `**Password:** value`, `<b>Password</b>: <code>value</code>`; and what
//! programs put around a value: `Some("value")`, `"""value"""`, `string(5) "value"`.

use super::named::LocatedName;
use super::shape::is_bare;
use super::text::{NeedMore, Quote, WindowText, is_tag};
use super::value::LONGEST;

/// The most of emphasis in one place, in signs.
const EMPHASIS: usize = 3;
/// The most that is read of a tag, in bytes.
const TAG: usize = 96;
/// The most of an element's prefix, in bytes.
const PREFIX: usize = 16;
/// The most marks in a row.
const MARKS: usize = 4;

/// Elements within a line of text.
const INLINE: [&[u8]; 14] = [
    b"br", b"strong", b"b", b"em", b"i", b"u", b"code", b"kbd", b"tt", b"samp", b"span", b"label", b"mark",
    b"font",
];

/// What stands around a value in quotes in programs.
const WRAPPERS: [&str; 35] = [
    "(",
    "new string(",
    "std::string(",
    "string(",
    "str(",
    "some(",
    "ok(",
    "string::from(",
    "secretstr(",
    "secretstring::from(",
    "secretstring::new(",
    "secret::new(",
    "secret(",
    "securestring(",
    "new securestring(",
    "new secretstring(",
    "secret.new(",
    "optional.of(",
    "box::new(",
    "buffer.from(",
    "crypt(",
    "md5(",
    "sha1(",
    "sha2(",
    "sha256(",
    "sha512(",
    "hash(",
    "password(",
    "password_hash(",
    "bcrypt(",
    "bcrypt.hash(",
    "bcrypt.hashsync(",
    "hex(",
    "encode(",
    "quote(",
];

/// How many of them may stand around one value.
const NESTED: usize = 3;

/// The beginning of text in XML that is taken as it is.
const CDATA: &str = "<![CDATA[";

impl WindowText<'_> {
    /// Behind emphasis that ends and tags of inline elements at `at`.
    pub(super) fn marks(&self, at: usize) -> Result<usize, NeedMore> {
        let mut at = at;
        for _ in 0..MARKS {
            at = match self.byte(at)? {
                Some(b'*') => self.run(at, EMPHASIS, |byte| byte == b'*')?,
                Some(b'<') => match self.inline_tag(at)? {
                    Some(end) => end,
                    None => break,
                },
                _ => break,
            };
        }
        Ok(at)
    }

    /// Behind the tag of an inline element at `at`.
    fn inline_tag(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let name = if self.is(at + 1, b'/')? { at + 2 } else { at + 1 };
        let stop = self.run(name, PREFIX, |byte| byte.is_ascii_alphabetic())?;
        if !INLINE.iter().any(|known| self.view.slice(name, stop).eq_ignore_ascii_case(known)) {
            return Ok(None);
        }
        let end = self.run(stop, TAG, is_tag)?;
        Ok(if self.is(end, b'>')? { Some(end + 1) } else { None })
    }

    /// Where the value begins behind the sign that gives it, which ends at `at`: behind marks that the name's end has there and
    /// those that the value begins with.
    pub(super) fn behind_marks(&self, at: usize) -> Result<usize, NeedMore> {
        let closed = self.run(self.marks(at)?, EMPHASIS, |byte| byte == b'_')?;
        let parted = matches!(self.byte(closed)?, Some(b' ' | b'\t' | b'\n' | b'\r' | b'`' | b'"'));
        let value = self.blanks(if parted { closed } else { at })?;
        let opened = self.marks(value)?;
        let signs = self.emphasis_before(opened).min(opened - value);
        // What is not closed is a sign of the value, or of a program.
        if signs == 0 || self.emphasized(opened, signs)? { Ok(opened) } else { Ok(value) }
    }

    /// How many signs of emphasis stand right before `at`.
    fn emphasis_before(&self, at: usize) -> usize {
        let head = self.view.slice(at.saturating_sub(EMPHASIS), at);
        head.iter().rev().take_while(|&&byte| byte == b'*').count()
    }

    /// Whether what begins at `at` ends with so many signs of emphasis.
    fn emphasized(&self, at: usize, signs: usize) -> Result<bool, NeedMore> {
        let end = match self.quote(at)? {
            Some(open) => match self.closed(open, LONGEST)? {
                Some(close) => self.run(close + 1, EMPHASIS, |byte| byte == b'*')?,
                None => return Ok(false),
            },
            None => self.run(at, LONGEST, is_bare)?,
        };
        Ok(end > at + signs && self.view.slice(end - signs, end).iter().all(|&byte| byte == b'*'))
    }

    /// Where the value `start..stop` ends without the marks that close what stands before it.
    pub(super) fn without_marks(&self, start: usize, stop: usize) -> usize {
        let text = self.view.slice(start, stop);
        let signs = self.emphasis_before(start);
        let emphasis = text.iter().rev().take(signs).take_while(|&&byte| byte == b'*').count();
        let cdata = self.view.slice(start.saturating_sub(CDATA.len()), start) == CDATA.as_bytes();
        let tail = if cdata && text.ends_with(b"]]") { 2 } else { emphasis };
        stop - tail
    }

    /// Where the content of the element begins whose name this is: `<password>`, `<wsse:Password Type="…">`.
    pub(super) fn content(&self, name: LocatedName) -> Result<Option<usize>, NeedMore> {
        let start = name.start - name.dashes;
        let head = self.view.slice(start.saturating_sub(PREFIX), start);
        let prefix = head.strip_suffix(b":").unwrap_or(head);
        let letters = prefix.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let opens = match head.last() {
            Some(b'<') => true,
            Some(b':') => letters > 0 && prefix.iter().rev().nth(letters) == Some(&b'<'),
            _ => false,
        };
        if !opens || !matches!(self.byte(name.end)?, Some(b'>' | b' ' | b'\t' | b'\n')) {
            return Ok(None);
        }
        let end = self.run(name.end, TAG, is_tag)?;
        if !self.is(end, b'>')? || self.view.get(end - 1) == Some(b'/') {
            return Ok(None);
        }
        let at = self.space(end + 1)?;
        Ok(Some(if self.follows(at, CDATA)? { at + CDATA.len() } else { at }))
    }

    /// Whether the content of an element ends at `at`.
    pub(super) fn content_ends(&self, at: usize) -> Result<bool, NeedMore> {
        let close = self.space(at)?;
        Ok(self.follows(close, "</")?
            || self.view.slice(at.saturating_sub(2), at) == b"]]" && self.is(at, b'>')?)
    }

    /// Where the quote stands of a value that a call or brackets are around.
    pub(super) fn unwrapped(&self, at: usize) -> Result<usize, NeedMore> {
        let mut inner = at;
        for _ in 0..NESTED {
            let Some(within) = self.behind_wrapper(inner)? else { break };
            inner = within;
        }
        Ok(if inner > at && self.quote(inner)?.is_some() { inner } else { at })
    }

    /// Behind the beginning of what may stand around a value at `at`.
    fn behind_wrapper(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        if !self.byte(at)?.is_some_and(|byte| byte == b'(' || byte.is_ascii_alphabetic()) {
            return Ok(None);
        }
        for wrapper in WRAPPERS {
            if self.follows(at, wrapper)? {
                return Ok(Some(self.blanks(at + wrapper.len())?));
            }
        }
        Ok(None)
    }

    /// The last of three quotes that open one text, where `open` is the first.
    pub(super) fn tripled(&self, open: Quote) -> Result<Quote, NeedMore> {
        let three = open.escapes == 0 && self.is(open.end, open.byte)? && self.is(open.end + 1, open.byte)?;
        Ok(if three { Quote { end: open.end + 2, ..open } } else { open })
    }

    /// Where the quote of a text stands that a dump tells with its length: `string(5) "value"` at `at`.
    pub(super) fn dumped(&self, at: usize) -> Result<usize, NeedMore> {
        let line = if matches!(self.byte(at)?, Some(b'\n' | b'\r')) { self.space(at)? } else { at };
        if !self.follows(line, "string(")? {
            return Ok(at);
        }
        let digits = self.run(line + 7, 6, |byte| byte.is_ascii_digit())?;
        Ok(if self.is(digits, b')')? { self.blanks(digits + 1)? } else { at })
    }

    /// Where the text stands that follows a key in what PHP serializes: `;s:5:"value"` at `at`.
    pub(super) fn serialized(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        if !self.follows(at, ";s:")? {
            return Ok(None);
        }
        let digits = self.run(at + 3, 6, |byte| byte.is_ascii_digit())?;
        Ok(if self.is(digits, b':')? { Some(digits + 1) } else { None })
    }
}
