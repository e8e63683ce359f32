//! Tokens of markup, as readers of HTML and XML tell them apart; what is none is text.

use std::ops::Range;

/// The longest name of an element, in bytes.
const NAME: usize = 256;

/// The longest declaration without its brackets, in bytes.
const DECLARED: usize = 4096;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Text,
    /// `<a …>`, `</a>`, `<a/>`.
    Tag,
    /// `<!--…-->`.
    Comment,
    /// `<![CDATA[…]]>`.
    Cdata,
    /// `<!…>` and `<?…>`.
    Declaration,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
}

/// Tells tokens apart. What was seen of one whose end has not come is remembered.
#[derive(Debug)]
pub(super) struct MarkupLexer {
    html: bool,
    /// Where in the token to go on, and what was seen before.
    seen: usize,
    tag: TagState,
}

/// Where in a tag a scan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TagState {
    /// Between attributes and in their names.
    #[default]
    Name,
    /// Behind an `=`.
    Equals,
    /// In a value without quotes.
    Bare,
    /// In a value with this quote.
    Quoted(u8),
}

/// How a token ends.
enum TokenEnd {
    At(usize),
    More,
    /// It is none.
    Never,
}

const OPEN_COMMENT: &[u8] = b"<!--";
const OPEN_CDATA: &[u8] = b"<![CDATA[";

impl MarkupLexer {
    pub(super) fn new(html: bool) -> Self {
        Self { html, seen: 0, tag: TagState::Name }
    }

    /// The token at `at`; `None` while it has no end. `ended` when nothing follows.
    pub(super) fn token(&mut self, held: &[u8], at: usize, ended: bool) -> Option<Token> {
        let rest = held.get(at..).filter(|rest| !rest.is_empty())?;
        let (kind, end) = self.end(rest);
        let (kind, length) = match end {
            TokenEnd::At(end) => (kind, end),
            TokenEnd::More if !ended => return None,
            // Without an end it is no markup, and neither is what it would hold.
            TokenEnd::More => (TokenKind::Text, rest.len()),
            TokenEnd::Never => (TokenKind::Text, 1),
        };
        self.reset();
        Some(Token { kind, range: at..at + length })
    }

    /// What the element `name` holds is no markup: up to where it ends.
    pub(super) fn raw(&mut self, held: &[u8], at: usize, name: &str, ended: bool) -> Option<Token> {
        let rest = held.get(at..).filter(|rest| !rest.is_empty())?;
        let mut from = self.seen;
        let found = loop {
            let Some(next) = memchr::memmem::find(rest.get(from..).unwrap_or_default(), b"</") else {
                break None;
            };
            let behind = rest.get(from + next + 2..).unwrap_or_default();
            let own = behind.get(..name.len()).unwrap_or(behind);
            if own.eq_ignore_ascii_case(name.as_bytes()) {
                break Some(from + next);
            }
            if behind.len() < name.len() && !ended {
                self.seen = from + next;
                return None;
            }
            from += next + 2;
        };
        if found.is_none() && !ended {
            self.seen = rest.len().saturating_sub(1).max(from);
            return None;
        }
        self.reset();
        Some(Token { kind: TokenKind::Text, range: at..at + found.unwrap_or(rest.len()) })
    }

    pub(super) fn reset(&mut self) {
        (self.seen, self.tag) = (0, TagState::Name);
    }

    fn end(&mut self, rest: &[u8]) -> (TokenKind, TokenEnd) {
        if rest.first() != Some(&b'<') {
            let end = memchr::memchr(b'<', rest.get(self.seen..).unwrap_or_default());
            let end = end.map_or(TokenEnd::More, |at| TokenEnd::At(self.seen + at));
            self.seen = rest.len();
            return (TokenKind::Text, end);
        }
        match rest.get(1) {
            None => (TokenKind::Tag, TokenEnd::More),
            Some(b'!') if rest.starts_with(OPEN_COMMENT) => {
                (TokenKind::Comment, self.until(rest, OPEN_COMMENT.len(), b"-->"))
            }
            Some(b'!') if rest.starts_with(OPEN_CDATA) => {
                (TokenKind::Cdata, self.until(rest, OPEN_CDATA.len(), b"]]>"))
            }
            Some(b'!') if OPEN_COMMENT.starts_with(rest) || OPEN_CDATA.starts_with(rest) => {
                (TokenKind::Declaration, TokenEnd::More)
            }
            Some(b'!') => (TokenKind::Declaration, self.declaration(rest)),
            Some(b'?') if self.html => (TokenKind::Declaration, self.until(rest, 2, b">")),
            Some(b'?') => (TokenKind::Declaration, self.until(rest, 2, b"?>")),
            Some(_) => (TokenKind::Tag, self.tag(rest)),
        }
    }

    /// Where `end` ends behind `from`.
    fn until(&mut self, rest: &[u8], from: usize, end: &[u8]) -> TokenEnd {
        let from = self.seen.max(from);
        match memchr::memmem::find(rest.get(from..).unwrap_or_default(), end) {
            Some(at) => TokenEnd::At(from + at + end.len()),
            None => {
                self.seen = rest.len().saturating_sub(end.len() - 1).max(from.min(rest.len()));
                TokenEnd::More
            }
        }
    }

    /// A declaration may hold others, between brackets.
    fn declaration(&mut self, rest: &[u8]) -> TokenEnd {
        match memchr::memchr2(b'[', b'>', rest.get(..DECLARED).unwrap_or(rest)) {
            None if rest.len() >= DECLARED => TokenEnd::Never,
            None => TokenEnd::More,
            Some(at) if rest.get(at) == Some(&b'[') => self.until(rest, at, b"]>"),
            Some(at) => TokenEnd::At(at + 1),
        }
    }

    fn tag(&mut self, rest: &[u8]) -> TokenEnd {
        let from = if rest.get(1) == Some(&b'/') { 2 } else { 1 };
        let name = rest.get(from..).unwrap_or_default();
        let length = name.iter().take(NAME + 1).take_while(|byte| is_name(**byte)).count();
        if length > NAME || name.first().is_some_and(|first| !begins_name(*first)) {
            return TokenEnd::Never;
        }
        match name.get(length) {
            None => return TokenEnd::More,
            Some(byte) if byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>') => {}
            Some(_) => return TokenEnd::Never,
        }
        let begin = self.seen.max(from + length);
        for (at, &byte) in rest.iter().enumerate().skip(begin) {
            self.tag = match (self.tag, byte) {
                (TagState::Quoted(quote), byte) if byte == quote => TagState::Name,
                // XML has none there, and so the quote was none.
                (TagState::Quoted(_), b'<') if !self.html => return TokenEnd::Never,
                (TagState::Quoted(_), _) => self.tag,
                (_, b'>') => return TokenEnd::At(at + 1),
                (_, b'<') => return TokenEnd::Never,
                (TagState::Equals, b'"' | b'\'') => TagState::Quoted(byte),
                (TagState::Equals, byte) if byte.is_ascii_whitespace() => TagState::Equals,
                (TagState::Equals, _) => TagState::Bare,
                (TagState::Bare, byte) if byte.is_ascii_whitespace() => TagState::Name,
                (TagState::Bare, _) => TagState::Bare,
                (TagState::Name, b'=') => TagState::Equals,
                (TagState::Name, _) => TagState::Name,
            };
        }
        self.seen = rest.len();
        TokenEnd::More
    }
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || !byte.is_ascii()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-' | b'.') || !byte.is_ascii()
}
