//! Forms (`application/x-www-form-urlencoded`; WHATWG URL, section 5.1): names and values, in which `+` is a space and
//! `%40` a byte. Bytes that nobody changes leave as they came, whichever way they spell their text.

use std::ops::Range;

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::base::path::hex_digit;
use crate::edit::{SourceMap, spliced};
use crate::stream::json::Embedded;
use crate::stream::path::{JsonToken, Path, PathTracker};
use crate::stream::{Edit, Editor, Rewriter, StreamError};

/// The largest field that is taken, in bytes: it is judged whole.
const MAX_FIELD: usize = 16 << 20;

/// Names are looked at if they are longer, in bytes: shorter ones identify nobody.
const SHORT: usize = 3;

/// A name or a value of a form.
struct FormPart {
    /// [`JsonToken::Key`] or [`JsonToken::Text`].
    token: JsonToken,
    text: String,
    /// The way from the text to the field's bytes.
    map: SourceMap,
}

/// What a field (what stands between `&`) says: its name, and its value if it has one.
pub fn read(field: &[u8]) -> (String, Option<String>) {
    let (mut name, mut value) = (String::new(), None);
    parts(field, &mut |_, part| match part.token {
        JsonToken::Key => name = part.text,
        _ => value = Some(part.text),
    });
    (name, value)
}

/// The parts of a field, its value at the path of its name.
fn parts(field: &[u8], see: &mut dyn FnMut(&Path<'_>, FormPart)) {
    let equals = memchr::memchr(b'=', field);
    let (name, value) = field.split_at(equals.unwrap_or(field.len()));
    let (text, map) = decoded(name, 0);
    let trail = PathTracker::to(&text);
    see(&PathTracker::default().path(), FormPart { token: JsonToken::Key, text, map });
    if let Some(value) = value.strip_prefix(b"=") {
        let (text, map) = decoded(value, name.len() + 1);
        see(&trail.path(), FormPart { token: JsonToken::Text, text, map });
    }
}

/// What `spelled`, which begins at byte `at`, says. Bytes that are not UTF-8 are U+FFFD.
fn decoded(spelled: &[u8], at: usize) -> (String, SourceMap) {
    let mut bytes = Vec::with_capacity(spelled.len());
    // How many bytes spell each of them.
    let mut lengths = Vec::with_capacity(spelled.len());
    let mut rest = spelled;
    while let [first, behind @ ..] = rest {
        let escaped = match (first, behind) {
            (b'%', [high, low, ..]) => {
                hex_digit(*high).zip(hex_digit(*low)).map(|(high, low)| high << 4 | low)
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        let length = if escaped.is_some() { 3 } else { 1 };
        lengths.push(length);
        rest = rest.get(length..).unwrap_or_default();
    }
    let mut lengths = lengths.into_iter();
    let mut take = |width: usize| lengths.by_ref().take(width).sum::<usize>();
    let (mut text, mut map) = (String::with_capacity(bytes.len()), SourceMap::at(at));
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let width = character.len_utf8();
            match take(width) {
                length if length == width => map.plain(width),
                length => map.spelled(width, length),
            }
            text.push(character);
        }
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            map.spelled(char::REPLACEMENT_CHARACTER.len_utf8(), take(chunk.invalid().len()));
        }
    }
    (text, map)
}

/// How a form spells `text`.
pub fn encoded(text: &str) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_' => out.push(byte.into()),
            b' ' => out.push('+'),
            _ => {
                let digit = |half: u8| DIGITS.get(usize::from(half)).copied().unwrap_or_default();
                out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    out
}

/// How a form spells `text` in place of `before`: what was written as it reads there is so here (`@` in a cookie), since not
/// everybody undoes escapes.
fn encoded_as(text: &str, before: &[u8]) -> String {
    let raw = |c: char| c.is_ascii_punctuation() && !"%+&=;".contains(c) && before.contains(&(c as u8));
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(raw) {
        match part.strip_suffix(raw) {
            Some(front) => {
                out.push_str(&encoded(front));
                out.push_str(part.get(front.len()..).unwrap_or_default());
            }
            None => out.push_str(&encoded(part)),
        }
    }
    // A blank, as it was written: a cookie has no `+` for it.
    let escaped = before.windows(3).any(|three| three == b"%20");
    match before.contains(&b'+') {
        false if before.contains(&b' ') => out.replace('+', " "),
        false if escaped => out.replace('+', "%20"),
        _ => out,
    }
}

/// A field with these changes to what its parts say, which are counted from 0: its name, and its value. Everything else keeps
/// its bytes.
pub fn with_edits(field: &[u8], edits: &[(usize, Edit)]) -> Vec<u8> {
    let (mut all, mut at) = (Vec::new(), 0);
    parts(field, &mut |_, part| {
        let own = edits.iter().filter(|(part, _)| *part == at);
        all.extend(own.map(|(_, edit)| in_source(edit.range.clone(), &edit.with, &part.map, field)));
        at += 1;
    });
    spliced(field, &all)
}

/// A change to what spells a part of `field`.
fn in_source(range: Range<usize>, with: &str, map: &SourceMap, field: &[u8]) -> Edit {
    let range = map.range(range);
    let with = encoded_as(with, field.get(range.clone()).unwrap_or_default());
    Edit { range, with }
}

/// Edits the names and values of a form as it passes, each a channel of its own and whole; a value that is JSON is
/// edited within.
pub struct FormBody<E> {
    editor: Embedded<E>,
    /// A field whose end has not come.
    field: Vec<u8>,
    edits: Vec<Edit>,
    charge: MemoryCharge,
}

impl<E: Editor> FormBody<E> {
    /// Shows the form's texts to `editor`; what is held back is charged to `budget`.
    pub fn new(editor: E, budget: &MemoryBudget) -> Self {
        let editor = Embedded::new(editor);
        Self { editor, field: Vec::new(), edits: Vec::new(), charge: budget.charge() }
    }

    /// Writes the field that is held.
    fn give(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let field = std::mem::take(&mut self.field);
        let mut outcome = Ok(());
        let mut all = Vec::new();
        parts(&field, &mut |path, part| {
            let quiet = part.token == JsonToken::Key && part.text.len() <= SHORT;
            if outcome.is_ok() && !quiet {
                self.editor.under(part.token.is_value().then_some(path));
                outcome = self.editor.last(&part.text, &mut self.edits);
                all.extend(
                    self.edits.drain(..).map(|edit| in_source(edit.range, &edit.with, &part.map, &field)),
                );
            }
        });
        outcome?;
        out.extend_from_slice(&spliced(&field, &all));
        Ok(self.charge.set(0)?)
    }
}

impl<E: Editor> Rewriter for FormBody<E> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        for piece in chunk.split_inclusive(|b| *b == b'&') {
            let (text, end) = match piece.strip_suffix(b"&") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            if self.field.len() + text.len() > MAX_FIELD {
                return Err(StreamError::TooLarge { unit: "form field", limit: MAX_FIELD });
            }
            self.charge.set(self.field.len() + text.len())?;
            self.field.extend_from_slice(text);
            if end {
                self.give(out)?;
                out.extend_from_slice(b"&");
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.give(out)
    }

    fn held(&self) -> usize {
        self.field.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_read_as_the_standard_says() {
        let rows: [(&[u8], &[&str]); 7] = [
            (b"a+b=c%20d", &["Key  a b 0..3", "Text /a b c d 4..9"]),
            (b"%c3%A9=%40x%4", &["Key  é 0..6", "Text /é @x%4 7..13"]),
            (b"", &["Key   0..0"]),
            (b"z", &["Key  z 0..1"]),
            (b"=\xFF%ff1", &["Key   0..0", "Text / \u{fffd}\u{fffd}1 1..6"]),
            (b"a=b=c", &["Key  a 0..1", "Text /a b=c 2..5"]),
            (b"a=", &["Key  a 0..1", "Text /a  2..2"]),
        ];
        for (field, expected) in rows {
            let mut all = Vec::new();
            parts(field, &mut |path, part| {
                let whole = part.map.range(0..part.text.len());
                all.push(format!("{:?} {path} {} {whole:?}", part.token, part.text));
            });
            assert_eq!(all, expected, "{}", field.escape_ascii());
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["", "a b+c", "é@€\u{1F600}&=%\r\n", "*-._~"] {
            assert_eq!(decoded(encoded(text).as_bytes(), 0).0, text);
        }
    }
}
