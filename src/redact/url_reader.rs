//! [`UrlReader`]: the URLs in a text, as any reader may take them (browsers by the WHATWG URL Standard, others by RFC 3986),
//! character by character.
//!
//! What counts as a URL is what any reader may take for one, and it ends where the last of them lets it end:
//!
//! | begins | ends |
//! |---|---|
//! | a scheme and two slashes; `http:` and the like also with backslashes, or without | in the value of an attribute of HTML: with that |
//! | two slashes behind `(`, `=`, `<`, `,`, `:` or a quote; behind `(`, `<`, `[label]:`, and wherever there was a tag or `url(`, of either kind, and with blanks between | behind a quote: at the same, or with the line |
//! | `www.` where a word may begin | behind `<`: at `>`, or with the line |
//! | `javascript:`, which leads anywhere | else at a blank; outside of parentheses also at `<` |
//!
//! Letters count as they are read, so that `&#104;ttps` begins one; what is escaped ends none. A URL within another
//! leads where both do.

use crate::redact::index::More;
use crate::redact::units::{NextUnit, TextUnits};
use crate::redact::url_scheme::Scheme;

/// The longest authority (RFC 3986, section 3.2) that is read, in bytes: a host name has 253 at most.
const LONGEST: usize = 512;

/// The longest host.
const LONGEST_HOST: usize = 260;

/// The longest scheme that is known.
const SCHEME: usize = 32;

/// What stands between the slashes of a URL and its path (RFC 3986, section 3.2).
#[derive(Clone, Debug, Default)]
pub(super) struct Authority {
    text: String,
    /// The scheme's own port.
    port: Option<u16>,
    /// Whether readers may differ about it.
    odd: bool,
    /// Whether it ended with its URL.
    last: bool,
}

impl Authority {
    /// What is read of it; `None` where readers may differ.
    fn text(&self) -> Option<&str> {
        let Self { text, odd, last, .. } = self;
        (!odd).then(|| match last {
            // Behind it stands what ends a sentence.
            true => text.trim_end_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, ']')),
            false => text.as_str(),
        })
    }

    /// One that no host is read from, as it is spelled, in a form that no host has: the settings of services run on behind
    /// theirs (`https://name.example.net;AccessKey=…`). Whatever reads two that are spelled alike is led to one place.
    pub(super) fn spelled(&self) -> Option<Box<str>> {
        let text = self.text().filter(|text| !text.is_empty() && self.host().is_none())?;
        Some(format!("//{text}").into())
    }

    /// The host that it leads to; `None` where readers may differ.
    pub(super) fn host(&self) -> Option<Box<str>> {
        let (text, port) = (self.text()?, &self.port);
        let host = match text.split_once('@') {
            Some((_, host)) if host.contains('@') => return None,
            Some((user, host)) => Some(host).filter(|_| user.chars().all(in_user))?,
            None => text,
        };
        named(host, *port)
    }

    /// The same, or as much of it as one can be.
    pub(super) fn begins_with(&self) -> Option<Box<str>> {
        self.host().or_else(|| {
            let host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
            let plain = !self.odd && !self.text.contains(['@', '%']);
            let end = self.text.find(|c: char| !host(c)).filter(|_| plain)?;
            named(self.text.get(..end)?.trim_end_matches([':', '-', '_']), self.port)
        })
    }
}

/// Whether what it is in a URL changes where that leads to, for a reader that undoes its escape first.
fn is_structure(c: char) -> bool {
    matches!(c, '/' | '?' | '#' | '\\' | ':' | '[' | ']')
}

fn in_user(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%' | '+' | '~' | '!' | '$' | '*')
}

/// A host and its port as they are compared. Names in other scripts are compared as they are written: `xn--…` is another.
fn named(text: &str, own: Option<u16>) -> Option<Box<str>> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (address, rest) = inner.split_once(']')?;
            let fits = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
            if !address.chars().all(fits) {
                return None;
            }
            (address, rest.strip_prefix(':').or_else(|| rest.is_empty().then_some(""))?)
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    let bracketed = text.starts_with('[');
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_') || bracketed && c == ':';
    let host = host.strip_suffix('.').unwrap_or(host).to_lowercase();
    if host.is_empty() || host.len() > LONGEST_HOST || !host.chars().all(fits) {
        return None;
    }
    let port = if port.is_empty() { None } else { Some(port.parse::<u16>().ok()?) };
    Some(match port.filter(|port| Some(*port) != own) {
        Some(port) => format!("{host}:{port}").into(),
        None => host.into(),
    })
}

/// What ends a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UrlEnd {
    Blank,
    /// A blank; it stands in parentheses, where `<` ends none.
    Parenthesis,
    Angle,
    Quote(ReadChar),
    Attribute,
    /// A blank, or the end of a tag.
    Unquoted,
}

/// A character as it is read, and whether it was written otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReadChar {
    c: char,
    escaped: bool,
}

impl Default for ReadChar {
    fn default() -> Self {
        Self { c: ' ', escaped: false }
    }
}

/// Where in a tag of HTML a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TagPosition {
    #[default]
    Outside,
    /// Behind `<`.
    Opened,
    /// Between its values; whether behind `=`.
    Inside(bool),
    Value(char),
}

impl TagPosition {
    fn after(self, c: char) -> Self {
        match (self, c) {
            (Self::Value(quote), c) if c == quote => Self::Inside(false),
            (Self::Value(_), _) => self,
            (Self::Inside(_), '>') => Self::Outside,
            (Self::Inside(_), '=') => Self::Inside(true),
            (Self::Inside(true), '"' | '\'') => Self::Value(c),
            (Self::Inside(equals), c) => Self::Inside(equals && c.is_ascii_whitespace()),
            (_, '<') => Self::Opened,
            (Self::Opened, 'a'..='z' | 'A'..='Z') => Self::Inside(false),
            _ => Self::Outside,
        }
    }
}

/// How far the beginning of a URL has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Start {
    #[default]
    Nothing,
    /// Behind the colon of a scheme and so many slashes.
    Scheme(Scheme, usize),
    /// Behind so many slashes alone.
    Slashes(usize),
}

/// Reads a text character by character.
#[derive(Clone, Default)]
pub(super) struct UrlReader {
    /// The beginning of an escape, or of a character.
    pending: Vec<u8>,
    /// The last letters, in lower case, and what stands before them.
    word: String,
    before_word: ReadChar,
    /// The last character, and the last that is no blank.
    last: ReadChar,
    solid: ReadChar,
    /// Whether that is the colon of `[label]:`, behind which Markdown has a URL, or the second of reStructuredText's `image::`.
    labelled: bool,
    /// Whether a tag has begun, in whichever spelling: from there on the text may be HTML, whatever of it was understood.
    html: bool,
    /// Whether the text is within `url(` of CSS.
    css: bool,
    /// Whether the slashes that may begin a URL may be backslashes too.
    wide: bool,
    /// Whether the next character stands behind a backslash.
    escaped: bool,
    tag: TagPosition,
    start: Start,
    /// What stands before the URL that may begin.
    opener: ReadChar,
    end: Option<UrlEnd>,
    authority: Option<Authority>,
}

/// Takes authorities as they end.
pub(super) type AuthoritySink<'t> = &'t mut dyn FnMut(Option<Authority>);

impl UrlReader {
    /// Whether a URL goes on.
    pub(super) fn is_within(&self) -> bool {
        self.end.is_some()
    }

    /// Whether it is not known yet where a URL leads that goes on, or begins.
    pub(super) fn in_authority(&self) -> bool {
        self.authority.is_some() || self.start != Start::Nothing
    }

    /// Whether a letter, a digit or a blank that comes next is only remembered: no URL, tag or escape goes on.
    fn is_idle(&self) -> bool {
        self.pending.is_empty()
            && self.end.is_none()
            && self.authority.is_none()
            && self.start == Start::Nothing
            && self.tag == TagPosition::Outside
            && !self.escaped
    }

    /// Reads one more byte.
    pub(super) fn byte(&mut self, byte: u8, take: AuthoritySink<'_>) {
        // Most of a text.
        if (byte.is_ascii_alphanumeric() || byte == b' ') && self.is_idle() {
            self.note(ReadChar { c: char::from(byte), escaped: false });
            return;
        }
        if self.pending.is_empty() && byte.is_ascii() && !matches!(byte, b'%' | b'&' | b'\\') {
            take(self.char(Some(char::from(byte)), b""));
            return;
        }
        self.pending.push(byte);
        let begun = match self.pending.first() {
            Some(0..=0x7f) | None => false,
            Some(0xc0..=0xdf) => self.pending.len() < 2,
            Some(0xe0..=0xef) => self.pending.len() < 3,
            Some(_) => self.pending.len() < 4,
        };
        if !begun {
            self.units(More::Yes, take);
        }
    }

    /// Reads what is pending as it stands.
    pub(super) fn flush(&mut self, take: AuthoritySink<'_>) {
        self.units(More::No, take);
        self.pending.clear();
    }

    fn units(&mut self, more: More, take: AuthoritySink<'_>) {
        let pending = std::mem::take(&mut self.pending);
        let (mut units, mut read) = (TextUnits::of(&pending, more), 0);
        while let NextUnit::Unit(unit) = units.step() {
            read = unit.start + unit.len;
            let source = pending.get(unit.start..read).unwrap_or_default();
            take(self.char(unit.read, if unit.is_escaped() { source } else { b"" }));
        }
        self.pending.extend_from_slice(pending.get(read..).unwrap_or_default());
    }

    /// The text ends.
    pub(super) fn end(&mut self) -> Option<Authority> {
        self.start = Start::Nothing;
        self.finish(true)
    }

    fn finish(&mut self, last: bool) -> Option<Authority> {
        let authority = self.authority.take()?;
        Some(Authority { last, ..authority })
    }

    /// One character, as it is read, and the escape that spells it.
    fn char(&mut self, read: Option<char>, escape: &[u8]) -> Option<Authority> {
        let Some(c) = read else {
            // Readers differ about what nobody reads.
            self.authority.iter_mut().for_each(|authority| authority.odd = true);
            return self.finish(false);
        };
        let escaped = !escape.is_empty() || std::mem::take(&mut self.escaped);
        self.escaped = c == '\\' && !escaped;
        if !escaped {
            self.tag = self.tag.after(c);
        }
        // In a value, browsers leave these out.
        let left_out = matches!(c, '\t' | '\n' | '\r') && matches!(self.tag, TagPosition::Value(_));
        let mark = ReadChar { c, escaped };
        // A backslash is a slash to browsers.
        let slashes = if escape.starts_with(b"\\") { 2 } else { 1 };
        let ended = self.end.is_some_and(|end| self.ends(end, mark));
        let mut read = None;
        if ended {
            read = self.finish(true);
            self.end = None;
            self.start = Start::Nothing;
        } else if self.authority.is_some() {
            read = self.in_host(c, escape);
            self.note(mark);
            return read;
        }
        if let (true, Start::Scheme(Scheme::Service, slashes)) = (left_out, self.start) {
            // Who takes a value for several URLs begins another here.
            self.start = Start::Scheme(Scheme::Other, slashes);
        }
        if !left_out {
            read = read.or(self.begin(mark, slashes));
            self.note(mark);
        }
        read
    }

    fn ends(&self, end: UrlEnd, ReadChar { c, escaped }: ReadChar) -> bool {
        let line = !escaped && matches!(c, '\n' | '\r');
        match end {
            UrlEnd::Blank => !escaped && (c.is_ascii_whitespace() || c == '<'),
            UrlEnd::Parenthesis => !escaped && c.is_ascii_whitespace(),
            UrlEnd::Angle => line || !escaped && c == '>',
            UrlEnd::Quote(quote) => line || c == quote.c && (quote.escaped || !escaped),
            UrlEnd::Attribute => !matches!(self.tag, TagPosition::Value(_)),
            UrlEnd::Unquoted => {
                !escaped && c.is_ascii_whitespace() || !matches!(self.tag, TagPosition::Inside(_))
            }
        }
    }

    /// Remembers a character for those behind it.
    fn note(&mut self, mark: ReadChar) {
        let ReadChar { c, .. } = mark;
        let drive = c == ':' && self.word.len() == 1;
        self.css = c == '(' && self.word == "url" || self.css && c != ')';
        if c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.') {
            if self.word.is_empty() {
                self.before_word = self.last;
            }
            if self.word.len() == SCHEME {
                self.word.remove(0);
            }
            self.word.push(c.to_ascii_lowercase());
        } else {
            self.word.clear();
        }
        if !c.is_ascii_whitespace() && !drive {
            self.solid = mark;
            self.labelled = c == ':' && matches!(self.last.c, ']' | ':');
        }
        self.html |= c.is_ascii_alphabetic() && self.last.c == '<';
        self.last = mark;
    }

    /// A character between the slashes and the path.
    fn in_host(&mut self, c: char, escape: &[u8]) -> Option<Authority> {
        let authority = self.authority.as_mut()?;
        match (c, escape) {
            ('/' | '?' | '#', [] | [b'&' | b'\\', ..]) => {
                if c == '/' && authority.text.ends_with(':') {
                    // Another begins in what was no authority.
                    self.start = Start::Scheme(Scheme::of(authority.text.trim_end_matches(':')), 1);
                    self.opener = ReadChar::default();
                }
                return self.finish(false);
            }
            // In a user's name or password it stands for itself alone (RFC 3986 section 3.2.1); in a host's name it is odd.
            (c, [b'%', ..]) if c.is_alphanumeric() || c.is_ascii_punctuation() && !is_structure(c) => {
                authority.text.push('%');
            }
            ('\\', _) | (_, [b'%' | b'\\', ..]) => authority.odd = true,
            _ => authority.text.push(c),
        }
        if authority.text.len() > LONGEST {
            authority.odd = true;
        }
        if authority.odd { self.finish(false) } else { None }
    }

    /// A character that may begin a URL, or go on with a beginning; as a slash it counts for so many.
    fn begin(&mut self, mark: ReadChar, more: usize) -> Option<Authority> {
        let c = mark.c;
        let slash = matches!(c, '/' | '\\');
        let blank = c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ')');
        match std::mem::take(&mut self.start) {
            // A letter alone is a drive.
            Start::Nothing if c == ':' && self.word.len() != 1 => {
                self.start = Start::Scheme(Scheme::of(&self.word), 0);
                self.opener = if self.word.is_empty() { self.last } else { self.before_word };
            }
            Start::Nothing if slash && self.may_be_relative(c) => {
                (self.start, self.opener, self.wide) = (Start::Slashes(more), self.last, self.may_be_wide());
            }
            Start::Nothing if c == '.' && self.word == "www" && self.may_be_name() => {
                self.opener = self.before_word;
                self.open("www.", Some(80));
            }
            Start::Nothing => {}
            // To those of other schemes a backslash is none (WHATWG URL, section 4.4).
            Start::Scheme(Scheme::Other, _) if c == '\\' => {}
            Start::Scheme(scheme, slashes) if slash => self.start = Start::Scheme(scheme, slashes + more),
            Start::Slashes(_) if c == '\\' && !self.wide => {}
            Start::Slashes(slashes) if slash => self.start = Start::Slashes(slashes + more),
            _ if blank => {}
            Start::Scheme(Scheme::Script, _) => {
                self.open("", None);
                self.authority.iter_mut().for_each(|authority| authority.odd = true);
                return self.finish(false);
            }
            // A file of this machine.
            Start::Scheme(Scheme::File, 3) | Start::Scheme(Scheme::Service, _) => {}
            Start::Scheme(Scheme::Special(port), _) => return self.open_with(mark, Some(port)),
            Start::Scheme(_, 2..) | Start::Slashes(2..) => return self.open_with(mark, None),
            Start::Scheme(..) if c == ':' => self.start = Start::Scheme(Scheme::Other, 0),
            Start::Scheme(..) | Start::Slashes(_) => {}
        }
        None
    }

    /// Whether two slashes of which the first is `c` may alone begin a URL here. In text that nobody takes for HTML, CSS or a link
    /// of Markdown, what stands behind a blank is a comment or a division, and a backslash is an escape.
    fn may_be_relative(&self, c: char) -> bool {
        let begins = matches!(self.solid.c, '(' | '<' | '=' | ',' | ':' | '"' | '\'' | '`');
        let apart = |c: char| c.is_ascii_whitespace() || c.is_control() || c == ';';
        begins && (self.may_be_wide() || c == '/' && self.last == self.solid)
            || matches!(self.tag, TagPosition::Value(_)) && apart(self.last.c)
    }

    /// Whether a backslash may be a slash here, and blanks stand before one.
    const fn may_be_wide(&self) -> bool {
        self.html || self.css || self.labelled || matches!(self.solid.c, '(' | '<')
    }

    fn may_be_name(&self) -> bool {
        let ReadChar { c, .. } = self.before_word;
        !(c.is_alphanumeric() || matches!(c, '@' | '/' | ':' | '_'))
    }

    /// An authority begins.
    fn open(&mut self, text: &str, port: Option<u16>) {
        let end = match (self.tag, self.opener) {
            (TagPosition::Value(_), _) => UrlEnd::Attribute,
            (_, ReadChar { c: '<', .. }) => UrlEnd::Angle,
            (TagPosition::Inside(_), ReadChar { c: '=', .. }) => UrlEnd::Unquoted,
            (_, ReadChar { c: '(', .. }) => UrlEnd::Parenthesis,
            (_, quote) if matches!(quote.c, '"' | '\'' | '`') => UrlEnd::Quote(quote),
            _ => UrlEnd::Blank,
        };
        self.end.get_or_insert(end);
        self.authority = Some(Authority { text: text.to_owned(), port, ..Authority::default() });
    }

    /// One begins with a character.
    fn open_with(&mut self, mark: ReadChar, port: Option<u16>) -> Option<Authority> {
        self.open("", port);
        match mark.c {
            '?' | '#' => self.finish(false),
            c => {
                let authority = self.authority.as_mut()?;
                authority.text.push(c);
                None
            }
        }
    }
}
