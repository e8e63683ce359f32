//! Values that a layout parts from their names: dots that lead to them, the lines of a record, the rows of LaTeX's tables, and
//! the base64 of directories.

use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::{has_label, is_code, is_marked, is_random, names_itself};
use super::text::{NeedMore, WindowText, is_base64};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::NameMeaning;
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The most dots that lead to a value.
const LEADER: usize = 128;
/// The longest value in a record or a row, in bytes.
const CELL: usize = 128;
/// The shortest password where the layout says that it is one, in bytes.
const SHORTEST: usize = 5;
/// The fewest letters of a value behind dots: lists of tests have times there.
const LETTERS: usize = 3;
/// The bar of tables that are drawn.
const BAR: &str = "│";
/// Macros of LaTeX that set their text as it is.
const VERBATIM: [&[u8]; 4] = [b"verb", b"lstinline", b"texttt", b"code"];

impl WindowText<'_> {
    /// What the layout gives the name.
    pub(super) fn laid_out(&self, name: LocatedName) -> Result<Option<AssignedValue>, NeedMore> {
        let at = match self.byte(name.end)? {
            Some(b':') if self.is(name.end + 1, b':')? => return self.in_directory(name, name.end + 2),
            Some(b':') => {
                let dots = self.blanks(name.end + 1)?;
                return if self.is(dots, b'.')? { self.behind_leader(name, dots) } else { Ok(None) };
            }
            Some(b'.' | b' ' | b'\t') => self.blanks(name.end)?,
            Some(b'}') => self.blanks(name.end + 1)?,
            _ => return Ok(None),
        };
        match self.byte(at)? {
            Some(b'.') => self.behind_leader(name, at),
            Some(b'|') => self.in_record(name, at + 1),
            Some(b'&') => self.in_row(name, at + 1),
            Some(byte) if !byte.is_ascii() && self.follows(at, BAR)? => self.in_record(name, at + BAR.len()),
            _ => Ok(None),
        }
    }

    /// `Password ........ value`, with a colon behind the dots or none.
    fn behind_leader(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let end = self.run(at, LEADER, |byte| byte == b'.')?;
        let colon = self.run(self.blanks(end)?, 1, |byte| byte == b':')?;
        let value = self.blanks(colon)?;
        let word = self.run(value, CELL, |byte| !byte.is_ascii_whitespace())?;
        let letters = self.view.slice(value, word).iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        if end < at + 3 || value == end || letters < LETTERS {
            return Ok(None);
        }
        let form = match name.meaning.named {
            NameMeaning::Password if end > at + 3 => ValueForm::Prose,
            // Three are a pause.
            NameMeaning::Password => ValueForm::Said,
            _ => ValueForm::Assigned { tight: false, first: false, colon: true },
        };
        self.value_at_link(name, value, form)
    }

    /// `password | value`, of a record whose fields have a line each (psql's expanded display), or of a table without bars around
    /// it. Its other lines say that it is one.
    fn in_record(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if !self.begins_line(name) {
            return Ok(None);
        }
        let value = self.blanks(at)?;
        let end = self.run(value, CELL, |byte| !byte.is_ascii_whitespace() && byte != b'|')?;
        if end == value || !self.ends_line(end)? {
            return Ok(None);
        }
        let above = self.head(name).rsplit(|&byte| byte == b'\n').nth(1).unwrap_or_default();
        let drawn = |sign: &str| memchr::memmem::find(above, sign.as_bytes()).is_some();
        Ok(self.cell(name, value, end, drawn("|") || drawn(BAR) || drawn("[ RECORD ")))
    }

    /// `Password & value \\`, of a table of LaTeX.
    fn in_row(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if self.is(at, b'&')? {
            return Ok(None);
        }
        let cell = self.blanks(at)?;
        if self.is(cell, b'\\')? && !self.is(cell + 1, b'\\')? {
            return self.in_macro(name, cell + 1);
        }
        let stop = self.run(cell, CELL, |byte| !byte.is_ascii_whitespace())?;
        let text = self.view.slice(cell, stop);
        let end = cell + text.windows(2).position(|pair| pair == b"\\\\").unwrap_or(text.len());
        let closes = end > cell && self.follows(self.blanks(end)?, "\\\\")?;
        // A tilde is a blank.
        let whole = !self.view.slice(cell, end).contains(&b'~');
        Ok(if closes { self.cell(name, cell, end, whole) } else { None })
    }

    /// `\verb|value|`, `\texttt{value}`, whose name begins at `at`.
    fn in_macro(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let stop = self.run(at, LEADER, |byte| byte.is_ascii_alphabetic())?;
        if !VERBATIM.contains(&self.view.slice(at, stop)) {
            return Ok(None);
        }
        let open = self.run(stop, 1, |byte| byte == b'*')?;
        let Some(sign) = self.byte(open)?.filter(u8::is_ascii_punctuation) else { return Ok(None) };
        let close = if sign == b'{' { b'}' } else { sign };
        let stop = self.run(open + 1, CELL, |byte| !byte.is_ascii_whitespace())?;
        let length = self.view.slice(open + 1, stop).iter().position(|&byte| byte == close);
        Ok(length.and_then(|length| self.cell(name, open + 1, open + 1 + length, true)))
    }

    /// `userPassword:: value`, base64 of it in an LDIF file (RFC 2849), behind whose colons `at` is.
    fn in_directory(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let value = self.blanks(at)?;
        if value == at || !self.begins_line(name) {
            return Ok(None);
        }
        let end = self.run(value, LONGEST, is_base64)?;
        let text = self.value_at(value, end);
        let fits = text.len() >= 8 && text.len().is_multiple_of(4) && credential::packed(text);
        let kind = match name.meaning.named {
            NameMeaning::Password => SecretKind::Password,
            NameMeaning::Secret => SecretKind::Secret,
            _ => SecretKind::Key,
        };
        Ok((fits && self.ends_line(end)?).then(|| piece(kind, value, end, 0.0)))
    }

    /// The value `start..end` of a cell. Where it is not `sure` that the cell beside it names it, only what nobody writes by
    /// chance is one.
    fn cell(&self, name: LocatedName, start: usize, end: usize, sure: bool) -> Option<AssignedValue> {
        let text = self.value_at(start, end);
        let strong = name.meaning.strong;
        let chosen = || sure && strong && text.len() >= SHORTEST && is_marked(text);
        let kind = match name.meaning.named {
            NameMeaning::Password if chosen() || is_random(text) => SecretKind::Password,
            NameMeaning::Secret if is_random(text) || credential::key(text, strong) => SecretKind::Secret,
            NameMeaning::Key if credential::key(text, strong) => SecretKind::Key,
            _ => return None,
        };
        // `KEY_READ | reg.KEY_WOW64_32KEY`: flags of programs.
        let named = kind != SecretKind::Password && has_label(text);
        let fits = credential::password(text) && !names_itself(text) && !is_code(text) && !named;
        fits.then(|| piece(kind, start, end, 0.0))
    }

    /// Whether the name stands first in its line.
    fn begins_line(&self, name: LocatedName) -> bool {
        let line = self.line_before(name);
        line.iter().all(u8::is_ascii_whitespace) && (line.len() < self.head(name).len() || self.begins(name))
    }
}
