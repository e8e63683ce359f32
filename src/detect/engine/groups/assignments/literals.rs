//! Values on a line of their own between signs, and in the brackets of Ruby's strings: `<<EOF⏎value⏎EOF`, `"""⏎value⏎"""`,
//! `@"⏎value⏎"@`, `%q(value)`.

use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::is_marked;
use super::text::{NeedMore, WindowText, is_quote};
use super::value::{AssignedValue, LONGEST};

/// The longest word that ends a here-document, in bytes.
const WORD: usize = 24;
/// The most that stands behind that word on its line, in bytes.
const BEHIND: usize = 16;

/// Blanks between the words of a value, at the most.
const WORDS: usize = 2;

/// Quotes behind which a line ends, and what closes them on the line behind the value.
const QUOTES: [(&str, &str); 5] =
    [("\"\"\"", "\"\"\""), ("'''", "'''"), ("@\"", "\"@"), ("@'", "'@"), ("`", "`")];

impl WindowText<'_> {
    /// The value of the literal at `at`.
    pub(super) fn literal(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        match self.byte(at)? {
            Some(b'<') => self.here_document(name, at, form),
            Some(b'%') => self.percent_literal(name, at, form),
            Some(b'"' | b'\'' | b'`' | b'@') => {
                for (open, close) in QUOTES {
                    if self.follows(at, open)? {
                        return self.line_between(name, at + open.len(), close.as_bytes(), form);
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// `<<EOF⏎value⏎EOF`, also `<<-`, `<<~` and with the word in quotes.
    fn here_document(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if !self.is(at + 1, b'<')? {
            return Ok(None);
        }
        let sign = self.run(at + 2, 1, |byte| matches!(byte, b'-' | b'~'))?;
        let start = self.run(sign, 1, is_quote)?;
        let stop = self.run(start, WORD, |byte| byte.is_ascii_alphanumeric() || byte == b'_')?;
        if start == stop {
            return Ok(None);
        }
        let line = self.run(stop, BEHIND, |byte| !matches!(byte, b'\n' | b'\r'))?;
        self.line_between(name, line, self.view.slice(start, stop), form)
    }

    /// The value on the line behind the one that ends at `at`, if the next begins with `close`.
    fn line_between(
        &self,
        name: LocatedName,
        at: usize,
        close: &[u8],
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if !matches!(self.byte(at)?, Some(b'\n' | b'\r')) {
            return Ok(None);
        }
        let start = self.space(at)?;
        let line = self.run(start, LONGEST - 1, |byte| !matches!(byte, b'\n' | b'\r'))?;
        let next = self.space(line)?;
        for (n, &byte) in close.iter().enumerate() {
            if !self.is(next + n, byte)? {
                return Ok(None);
            }
        }
        let text = self.view.slice(start, line);
        let end = start + text.trim_ascii_end().len();
        // Words without more are what documents say of it.
        let blanks = text.trim_ascii_end().iter().filter(|&&byte| byte == b' ').count();
        let says = blanks > 0 && (blanks > WORDS || !is_marked(text));
        Ok(if next == line || says { None } else { self.quoted(name.meaning, start, end, form) })
    }

    /// `%q(value)`, `%Q[value]`.
    fn percent_literal(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if !matches!(self.byte(at + 1)?, Some(b'q' | b'Q')) {
            return Ok(None);
        }
        let (open, close) = match self.byte(at + 2)? {
            Some(b'(') => (b'(', b')'),
            Some(b'[') => (b'[', b']'),
            Some(b'{') => (b'{', b'}'),
            Some(b'<') => (b'<', b'>'),
            Some(sign @ (b'|' | b'!' | b'/')) => (sign, sign),
            _ => return Ok(None),
        };
        let start = at + 3;
        let line = self.run(start, LONGEST - 1, |byte| byte != b'\n')?;
        let mut depth = 1_usize;
        let length = self.view.slice(start, line).iter().position(|&byte| {
            depth = match byte {
                byte if byte == close => depth - 1,
                byte if byte == open => depth + 1,
                _ => depth,
            };
            depth == 0
        });
        Ok(length.and_then(|length| self.quoted(name.meaning, start, start + length, form)))
    }
}
