//! A resumable tokenizer for JSON text (RFC 8259), and for documents one after another (NDJSON, JSON sequences).
//!
//! It knows grammar and spelling, nothing of values or paths. What cannot be told yet stays with the caller: the
//! bytes from the cursor on are to be shown again with what follows them. These are never many: a literal, a
//! number with the white space behind it, an escape, or a cut UTF-8 sequence.

use crate::stream::json::escape::{EscapeRead, unescape};
use crate::stream::json::tail::Tail;
use crate::stream::path::Nesting;
use crate::stream::utf8::{BOM, complete};

/// Where in the bytes shown the lexer is.
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) tail: Tail,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The byte that comes next.
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The bytes from `from` up to where the lexer is.
    pub(super) fn since(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.at).unwrap_or_default()
    }
}

/// What a string is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringRole {
    Key,
    Value,
}

/// What the lexer found before the cursor. `from` is where it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    Open(Nesting),
    Close,
    Comma,
    Colon,
    Literal,
    Number {
        from: usize,
    },
    /// The opening quote.
    Begin(StringRole),
    /// Bytes of a string that spell themselves; not checked to be UTF-8, but never cut within a sequence unless
    /// the sequence itself is cut short.
    Run {
        from: usize,
    },
    /// A whole escape, or two that are a surrogate pair. Half a pair is U+FFFD.
    Escape {
        from: usize,
        decoded: char,
    },
    /// A reverse solidus in a string that begins no escape.
    Stray {
        from: usize,
    },
    /// The closing quote.
    End(StringRole),
    /// The byte under the cursor cannot be JSON. What comes now is not for this lexer.
    Broken,
    /// The bytes from the cursor on (often none) need what follows.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LexerState {
    /// Before the first byte.
    Start,
    /// Between documents.
    Between,
    Value,
    ElementOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    Within(StringRole),
}

/// The open arrays and objects, one bit each: exact at any depth.
#[derive(Debug, Default)]
struct Nest {
    objects: Vec<u64>,
    depth: usize,
}

impl Nest {
    fn push(&mut self, nesting: Nesting) {
        let bit = 1 << (self.depth % 64);
        if self.depth.is_multiple_of(64) {
            self.objects.push(0);
        }
        if let Some(word) = self.objects.last_mut() {
            match nesting {
                Nesting::Object => *word |= bit,
                Nesting::Array => *word &= !bit,
            }
        }
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth.is_multiple_of(64) {
            self.objects.pop();
        }
    }

    fn top(&self) -> Option<Nesting> {
        let last = self.depth.checked_sub(1)?;
        let object = self.objects.last()? & (1 << (last % 64)) != 0;
        Some(if object { Nesting::Object } else { Nesting::Array })
    }
}

/// The tokenizer's state between two calls.
pub(super) struct JsonLexer {
    state: LexerState,
    nest: Nest,
}

impl Default for JsonLexer {
    fn default() -> Self {
        Self::new()
    }
}

impl JsonLexer {
    pub(super) fn new() -> Self {
        Self { state: LexerState::Start, nest: Nest::default() }
    }

    /// Arrays and objects that are open.
    pub(super) fn depth(&self) -> usize {
        self.nest.depth
    }

    /// Whether a whole document has passed and no other has begun.
    pub(super) fn between(&self) -> bool {
        self.state == LexerState::Between
    }

    /// Bytes of memory that grow with the depth.
    pub(super) fn weight(&self) -> usize {
        self.nest.objects.len() * size_of::<u64>()
    }

    /// Reads on from the cursor.
    pub(super) fn next(&mut self, cursor: &mut Cursor<'_>) -> Lexeme {
        if let LexerState::Within(role) = self.state {
            return self.within(role, cursor);
        }
        if self.state == LexerState::Start && !self.start(cursor) {
            return Lexeme::More;
        }
        self.skip_space(cursor);
        let Some(byte) = cursor.peek() else { return Lexeme::More };
        match self.state {
            LexerState::Colon => self.step(cursor, byte == b':', LexerState::Value, Lexeme::Colon),
            LexerState::Key => self.quote(cursor, byte, StringRole::Key),
            LexerState::KeyOrEnd if byte == b'}' => self.close(cursor),
            LexerState::KeyOrEnd => self.quote(cursor, byte, StringRole::Key),
            LexerState::ElementOrEnd if byte == b']' => self.close(cursor),
            LexerState::CommaOrEnd => match (byte, self.nest.top()) {
                (b']', Some(Nesting::Array)) | (b'}', Some(Nesting::Object)) => self.close(cursor),
                (_, Some(Nesting::Object)) => self.step(cursor, byte == b',', LexerState::Key, Lexeme::Comma),
                _ => self.step(cursor, byte == b',', LexerState::Value, Lexeme::Comma),
            },
            _ => self.value(cursor, byte),
        }
    }

    /// Passes a byte order mark, which a reader may ignore (RFC 8259 section 8.1).
    fn start(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let rest = cursor.rest();
        if rest.is_empty() || (cursor.tail == Tail::Open && rest.len() < BOM.len() && BOM.starts_with(rest)) {
            return false;
        }
        if rest.starts_with(BOM) {
            cursor.at += BOM.len();
        }
        self.state = LexerState::Between;
        true
    }

    fn step(&mut self, cursor: &mut Cursor<'_>, fits: bool, then: LexerState, lexeme: Lexeme) -> Lexeme {
        if !fits {
            return Lexeme::Broken;
        }
        cursor.at += 1;
        self.state = then;
        lexeme
    }

    fn quote(&mut self, cursor: &mut Cursor<'_>, byte: u8, role: StringRole) -> Lexeme {
        self.step(cursor, byte == b'"', LexerState::Within(role), Lexeme::Begin(role))
    }

    fn close(&mut self, cursor: &mut Cursor<'_>) -> Lexeme {
        cursor.at += 1;
        self.nest.pop();
        self.valued();
        Lexeme::Close
    }

    fn valued(&mut self) {
        self.state = if self.nest.depth == 0 { LexerState::Between } else { LexerState::CommaOrEnd };
    }

    fn value(&mut self, cursor: &mut Cursor<'_>, byte: u8) -> Lexeme {
        let (nesting, then) = match byte {
            b'{' => (Nesting::Object, LexerState::KeyOrEnd),
            b'[' => (Nesting::Array, LexerState::ElementOrEnd),
            b'"' => return self.quote(cursor, byte, StringRole::Value),
            b'-' | b'0'..=b'9' => return self.number(cursor),
            b't' => return self.literal(cursor, b"true"),
            b'f' => return self.literal(cursor, b"false"),
            b'n' => return self.literal(cursor, b"null"),
            _ => return Lexeme::Broken,
        };
        cursor.at += 1;
        self.nest.push(nesting);
        self.state = then;
        Lexeme::Open(nesting)
    }

    fn literal(&mut self, cursor: &mut Cursor<'_>, word: &[u8]) -> Lexeme {
        let rest = cursor.rest();
        if rest.starts_with(word) {
            cursor.at += word.len();
            self.valued();
            return Lexeme::Literal;
        }
        match cursor.tail {
            Tail::Open if word.starts_with(rest) => Lexeme::More,
            _ => Lexeme::Broken,
        }
    }

    /// A number is settled only by what stands behind it: text that begins with digits (`4111 1111 …`) must reach
    /// its reader from the first of them.
    fn number(&mut self, cursor: &mut Cursor<'_>) -> Lexeme {
        let rest = cursor.rest();
        let length = rest.iter().position(|b| !is_numeric(*b)).unwrap_or(rest.len());
        if cursor.tail == Tail::Open && length > NUMBER_MAX {
            return Lexeme::Broken;
        }
        let behind = rest.get(length..).unwrap_or_default();
        let space = behind.iter().position(|b| !is_space(*b)).unwrap_or(behind.len());
        let settled = match behind.get(space) {
            _ if space >= SPACE_MAX && cursor.tail == Tail::Open => true,
            None if cursor.tail == Tail::Open => return Lexeme::More,
            None => true,
            Some(_) if self.nest.depth == 0 => behind.iter().take(space).any(|b| matches!(b, b'\n' | b'\r')),
            Some(b) => matches!(b, b',' | b']' | b'}'),
        };
        if !settled || !is_number(rest.get(..length).unwrap_or_default()) {
            return Lexeme::Broken;
        }
        let from = cursor.at;
        cursor.at += length;
        self.valued();
        Lexeme::Number { from }
    }

    fn within(&mut self, role: StringRole, cursor: &mut Cursor<'_>) -> Lexeme {
        let from = cursor.at;
        let rest = cursor.rest();
        match cursor.peek() {
            None => Lexeme::More,
            Some(b'"') => {
                cursor.at += 1;
                match role {
                    StringRole::Key => self.state = LexerState::Colon,
                    StringRole::Value => self.valued(),
                }
                Lexeme::End(role)
            }
            Some(b'\\') => match unescape(rest, cursor.tail) {
                EscapeRead::Char(decoded, length) => {
                    cursor.at += length;
                    Lexeme::Escape { from, decoded }
                }
                EscapeRead::Cut => Lexeme::More,
                EscapeRead::Stray => {
                    cursor.at += 1;
                    Lexeme::Stray { from }
                }
            },
            Some(_) => {
                let length = match (memchr::memchr2(b'"', b'\\', rest), cursor.tail) {
                    (Some(length), _) => length,
                    (None, Tail::Open) => complete(rest),
                    (None, Tail::Closed) => rest.len(),
                };
                cursor.at += length;
                if length > 0 { Lexeme::Run { from } } else { Lexeme::More }
            }
        }
    }

    fn skip_space(&self, cursor: &mut Cursor<'_>) {
        // RFC 7464 puts a record separator before each document.
        let between = self.state == LexerState::Between;
        while let Some(byte) = cursor.peek()
            && (is_space(byte) || (between && byte == RECORD_SEPARATOR))
        {
            cursor.at += 1;
        }
    }
}

/// The longest number held until it is whole; a longer one is text.
const NUMBER_MAX: usize = 1024;
/// White space behind a number that settles it.
const SPACE_MAX: usize = 64;
/// Separates the documents of a JSON text sequence (RFC 7464).
pub(super) const RECORD_SEPARATOR: u8 = 0x1E;

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_numeric(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Whether the text is a number by the grammar of RFC 8259 section 6.
pub(super) fn is_number(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> (&[u8], &[u8]) {
        text.split_at(text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len()))
    }
    let (whole, mut rest) = digits(text.strip_prefix(b"-").unwrap_or(text));
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with(b"0")) {
        return false;
    }
    if let [b'.', fraction @ ..] = rest {
        let (fraction, behind) = digits(fraction);
        if fraction.is_empty() {
            return false;
        }
        rest = behind;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', power @ ..] | [b'e' | b'E', power @ ..] => {
            !power.is_empty() && power.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the lexer says of `text` when shown in one piece, as a short word per lexeme.
    fn words(text: &str) -> Vec<&'static str> {
        let mut lexer = JsonLexer::new();
        let mut cursor = Cursor { bytes: text.as_bytes(), at: 0, tail: Tail::Closed };
        let mut words = Vec::new();
        loop {
            words.push(match lexer.next(&mut cursor) {
                Lexeme::Open(Nesting::Array) => "[",
                Lexeme::Open(Nesting::Object) => "{",
                Lexeme::Close => "]",
                Lexeme::Comma => ",",
                Lexeme::Colon => ":",
                Lexeme::Literal => "lit",
                Lexeme::Number { .. } => "num",
                Lexeme::Begin(StringRole::Key) => "key",
                Lexeme::Begin(StringRole::Value) => "str",
                Lexeme::Run { .. } => "run",
                Lexeme::Escape { .. } => "esc",
                Lexeme::Stray { .. } => "stray",
                Lexeme::End(_) => "end",
                Lexeme::Broken => "broken",
                Lexeme::More => "more",
            });
            if matches!(words.last(), Some(&"broken" | &"more")) {
                return words;
            }
        }
    }

    #[test]
    fn tells_lexemes() {
        let cases: &[(&str, &str)] = &[
            ("", "more"),
            (" \n", "more"),
            ("\u{feff}{}", "{ ] more"),
            ("\u{1e}{}\n\u{1e}[]", "{ ] [ ] more"),
            (r#"{"a":1}"#, "{ key run end : num ] more"),
            (r#"["x\n\u00e9y", true]"#, "[ str run esc esc run end , lit ] more"),
            (r#"["\ud83d\ude00","\ud83d"]"#, "[ str esc end , str esc end ] more"),
            (r#"["\d"]"#, "[ str stray run end ] more"),
            ("[1,]", "[ num , broken"),
            ("[,", "[ broken"),
            ("{}{} []", "{ ] { ] [ ] more"),
            ("{1", "{ broken"),
            (r#"{"a"}"#, "{ key run end broken"),
            ("[}", "[ broken"),
            ("[1}", "[ num broken"),
            ("tru", "broken"),
            ("[4111 1111]", "[ broken"),
            ("4111 1111", "broken"),
            ("4111\n1111\n", "num num more"),
            ("12", "num more"),
            ("[-01]", "[ broken"),
            ("jane", "broken"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), *expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_those_of_the_grammar() {
        for good in ["0", "-0", "10", "1.5", "1e5", "1.0E-7", "-12.50e+10"] {
            assert!(is_number(good.as_bytes()), "{good}");
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1.5.2", "--1"] {
            assert!(!is_number(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn nesting_is_exact_at_any_depth() {
        let mut nest = Nest::default();
        let kind = |n: usize| if n.is_multiple_of(3) { Nesting::Object } else { Nesting::Array };
        for n in 0..500 {
            nest.push(kind(n));
        }
        for n in (0..500).rev() {
            assert_eq!(nest.top(), Some(kind(n)));
            nest.pop();
        }
        assert_eq!(nest.top(), None);
    }
}
