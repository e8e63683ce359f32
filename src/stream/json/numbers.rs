//! [`NumberReader`]: the numbers of JSON as it passes, with where they stand. It changes nothing, and holds nothing but a cut
//! token and the names on the way.

use crate::stream::json::lexer::{Cursor, JsonLexer, Lexeme, StringRole};
use crate::stream::json::tail::Tail;
use crate::stream::path::{Path, PathTracker};

/// Reads the numbers of one document, or of several that follow each other.
///
/// ```
/// use portcullis::stream::json::NumberReader;
///
/// let (mut reader, mut found) = (NumberReader::default(), Vec::new());
/// for piece in ["{\"usage\": {\"in\": 1", "2, \"out\": 3}}"] {
///     reader.feed(piece.as_bytes(), &mut |path, number| found.push(format!("{path}={number}")));
/// }
/// assert_eq!(found, ["/usage/in=12", "/usage/out=3"]);
/// ```
#[derive(Default)]
pub struct NumberReader {
    lexer: JsonLexer,
    trail: PathTracker,
    /// A cut token: the last bytes that came.
    carry: Vec<u8>,
    /// Whether the string under way is a name.
    in_name: bool,
    /// What came was no JSON: nothing more is read.
    broken: bool,
}

impl NumberReader {
    /// Reads on, and shows each number that has ended, as it is spelled.
    pub fn feed(&mut self, bytes: &[u8], see: &mut dyn FnMut(&Path<'_>, &str)) {
        if self.broken {
            return;
        }
        let mut carry = std::mem::take(&mut self.carry);
        if carry.is_empty() {
            let read = self.run(bytes, Tail::Open, see);
            carry.extend_from_slice(bytes.get(read..).unwrap_or_default());
        } else {
            carry.extend_from_slice(bytes);
            let read = self.run(&carry, Tail::Open, see);
            carry.drain(..read);
        }
        self.carry = carry;
    }

    /// The bytes have ended: a number that nothing follows has, too. Others may begin.
    pub fn end(&mut self, see: &mut dyn FnMut(&Path<'_>, &str)) {
        let carry = std::mem::take(&mut self.carry);
        if !self.broken {
            self.run(&carry, Tail::Closed, see);
        }
        *self = Self { carry, ..Self::default() };
        self.carry.clear();
    }

    /// Bytes held now.
    pub fn held(&self) -> usize {
        self.carry.len()
    }

    /// Reads as far as it can be told what the bytes are; returns how many those were.
    fn run(&mut self, bytes: &[u8], tail: Tail, see: &mut dyn FnMut(&Path<'_>, &str)) -> usize {
        let mut cursor = Cursor { bytes, at: 0, tail };
        loop {
            match self.lexer.next(&mut cursor) {
                Lexeme::More => return cursor.at,
                Lexeme::Open(nesting) => self.trail.open(nesting),
                Lexeme::Close => self.trail.close(),
                Lexeme::Comma => self.trail.comma(),
                Lexeme::Number { from } => {
                    if let Ok(number) = std::str::from_utf8(cursor.since(from)) {
                        see(&self.trail.path(), number);
                    }
                }
                Lexeme::Begin(role) => {
                    self.in_name = role == StringRole::Key;
                    if self.in_name {
                        self.trail.name();
                    }
                }
                Lexeme::Run { from } | Lexeme::Stray { from } if self.in_name => {
                    self.trail.named(&String::from_utf8_lossy(cursor.since(from)));
                }
                Lexeme::Escape { decoded, .. } if self.in_name => {
                    self.trail.named(decoded.encode_utf8(&mut [0; 4]));
                }
                Lexeme::End(StringRole::Key) => self.trail.end_name(),
                Lexeme::Broken => {
                    self.broken = true;
                    return bytes.len();
                }
                Lexeme::Colon
                | Lexeme::Literal
                | Lexeme::Run { .. }
                | Lexeme::Stray { .. }
                | Lexeme::Escape { .. }
                | Lexeme::End(StringRole::Value) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(pieces: &[&[u8]]) -> Vec<String> {
        let (mut reader, mut found) = (NumberReader::default(), Vec::new());
        let mut see = |path: &Path<'_>, number: &str| found.push(format!("{path}={number}"));
        pieces.iter().for_each(|piece| reader.feed(piece, &mut see));
        reader.end(&mut see);
        found
    }

    #[test]
    fn numbers_are_found_wherever_a_body_is_cut() {
        let rows: [(&str, &[&str]); 7] = [
            (
                r#"{"a":{"b":1,"c":[2,{"d":-3.5e1}]},"e":"4","f":5}"#,
                &["/a/b=1", "/a/c/0=2", "/a/c/1/d=-3.5e1", "/f=5"],
            ),
            (r#"{"us\u0061ge":{"x\"y":7}}"#, &["/usage/x\"y=7"]),
            ("{\"n\":1}\n{\"n\":2}\n", &["/n=1", "/n=2"]),
            (r#"[{"n":1},{"n":2}]"#, &["/0/n=1", "/1/n=2"]),
            ("12", &["=12"]),
            (r#"{"n":1} rest {"n":2}"#, &["/n=1"]),
            (r#"{"s":"\\\"usage\":{\"n\":9}","n":3}"#, &["/n=3"]),
        ];
        for (text, want) in rows {
            assert_eq!(numbers(&[text.as_bytes()]), want, "{text}");
            for at in 0..=text.len() {
                let (one, other) = text.as_bytes().split_at(at);
                assert_eq!(numbers(&[one, other]), want, "{text} cut at {at}");
            }
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(numbers(&bytes), want, "{text} byte by byte");
        }
    }

    #[test]
    fn a_reader_holds_no_more_than_a_token() {
        let mut reader = NumberReader::default();
        let long = format!("{{\"text\":\"{}", "word \\u0041 ".repeat(50_000));
        for piece in long.as_bytes().chunks(997) {
            reader.feed(piece, &mut |_, _| {});
            assert!(reader.held() < 16, "{}", reader.held());
        }
    }
}
