//! Values that a layout parts from their names: dots that lead to them, the lines of a record, the rows of LaTeX's tables, and
//! the base64 of directories.

use super::form::ValueForm;
use super::named::LocatedName;
use super::plain::{is_measure, is_of_program};
use super::shape::{has_label, is_code, is_marked, is_random, names_itself};
use super::text::{NeedMore, WindowText, is_base64};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::NameMeaning;
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The most dots that lead to a value.
const LEADER: usize = 128;
/// The shortest password where the layout says that it is one, in bytes.
const SHORTEST: usize = 5;
/// The fewest letters of a value behind dots: lists of tests have times there.
const LETTERS: usize = 3;
/// Three dots in one sign, and as how many it counts.
const ELLIPSIS: &str = "…";
const ELLIPSIS_DOTS: usize = 3;
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
                let at = self.blanks(name.end + 1)?;
                let brace = self.run(at, 1, |byte| byte == b'}')?;
                let cell = self.blanks(brace)?;
                return match self.byte(cell)? {
                    Some(b'.') if cell == at => self.behind_leader(name, at),
                    Some(b'&') => self.in_row(name, cell + 1),
                    _ => Ok(None),
                };
            }
            Some(b'.' | b' ' | b'\t' | b'_' | 0xE2) => self.blanks(name.end)?,
            Some(b'}') => self.blanks(name.end + 1)?,
            _ => return Ok(None),
        };
        match self.byte(at)? {
            Some(b'.' | b'_') => self.behind_leader(name, at),
            Some(0xE2) if self.follows(at, ELLIPSIS)? => self.behind_leader(name, at),
            Some(b'|') => self.in_record(name, at + 1),
            Some(b'&') => self.in_row(name, at + 1),
            Some(byte) if !byte.is_ascii() && self.follows(at, BAR)? => self.in_record(name, at + BAR.len()),
            _ => Ok(None),
        }
    }

    /// `Password ........ value`, with a colon behind the dots or none.
    fn behind_leader(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let (end, signs) = self.leader(at)?;
        let sign = self.blanks(end)?;
        let colon = self.run(sign, 1, |byte| byte == b':')?;
        let value = self.blanks(colon)?;
        let word = self.run(value, LONGEST, |byte| !byte.is_ascii_whitespace())?;
        let text = self.view.slice(value, word);
        let letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let given = colon > sign || signs >= 3;
        let password = name.meaning.named == NameMeaning::Password;
        if !given || letters < LETTERS || password && !is_marked(text) || is_report(text) {
            return Ok(None);
        }
        let form = match name.meaning.named {
            NameMeaning::Password if value > end && (signs > 3 || colon > sign) => ValueForm::Prose,
            // Three are a pause.
            NameMeaning::Password => ValueForm::Said,
            _ => ValueForm::Assigned { tight: false, first: false, colon: true },
        };
        self.value_at_link(name, value, form)
    }

    /// Where the leader at `at` ends, and how many signs it has: dots, with blanks between or none, or low lines.
    fn leader(&self, at: usize) -> Result<(usize, usize), NeedMore> {
        let line = self.run(at, LEADER, |byte| byte == b'_')?;
        if line > at {
            return Ok((line, line - at));
        }
        let mut end = at;
        let mut signs = 0;
        while end < at + LEADER {
            let dots = self.run(end, LEADER, |byte| byte == b'.')?;
            let next = if dots > end {
                dots
            } else if self.is(end, 0xE2)? && self.follows(end, ELLIPSIS)? {
                end + ELLIPSIS.len()
            } else {
                break;
            };
            signs += if dots > end { dots - end } else { ELLIPSIS_DOTS };
            end = next;
            let blank = self.run(end, 1, |byte| byte == b' ')?;
            let more = self.is(blank, b'.')? || self.is(blank, 0xE2)? && self.follows(blank, ELLIPSIS)?;
            end = if more { blank } else { end };
        }
        Ok((end, signs))
    }

    /// `password | value`, of a record whose fields have a line each (psql's expanded display), or of a table without bars around
    /// it. Its other lines say that it is one.
    fn in_record(&self, name: LocatedName, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if !self.begins_line(name) {
            return Ok(None);
        }
        let value = self.blanks(at)?;
        let end = self.run(value, LONGEST, |byte| !byte.is_ascii_whitespace() && byte != b'|')?;
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
        let stop = self.run(cell, LONGEST, |byte| !byte.is_ascii_whitespace())?;
        let text = self.view.slice(cell, stop);
        let end = cell + text.windows(2).position(|pair| pair == b"\\\\").unwrap_or(text.len());
        let closes = end > cell && self.follows(self.blanks(end)?, "\\\\")?;
        let written = closes && is_written(self.view.slice(cell, end));
        Ok(if written { self.cell(name, cell, end, true) } else { None })
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
        let stop = self.run(open + 1, LONGEST, |byte| !byte.is_ascii_whitespace())?;
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
        // Types and remarks stand in such cells, too.
        let said = !is_random(text) && (is_of_program(text, false) || is_report(text));
        let fits = credential::password(text) && !names_itself(text) && !is_code(text) && !named && !said;
        fits.then(|| piece(kind, start, end, 0.0))
    }

    /// Whether the name stands first in its line.
    fn begins_line(&self, name: LocatedName) -> bool {
        let line = self.line_before(name);
        line.iter().all(u8::is_ascii_whitespace) && self.sees_line_start(name)
    }
}

/// Whether a text is what tables of contents and lists of tests have behind dots: a measure, a page, an outcome.
fn is_report(text: &[u8]) -> bool {
    let digits = |byte: &&u8| byte.is_ascii_digit();
    let word = text.get(..text.len() - text.iter().rev().take_while(digits).count()).unwrap_or_default();
    // `SKIP(3)`, `100%done`.
    let called = word.iter().position(|&byte| byte == b'(').and_then(|at| word.get(..at)).unwrap_or(word);
    let letters = called.iter().all(u8::is_ascii_alphabetic);
    letters && is_of_program(&[called, b"1"].concat(), false) || is_measure(text)
}

/// Whether a cell of LaTeX is a value as it stands: no formula, no macro but those of signs, no number with a unit, and letters.
fn is_written(cell: &[u8]) -> bool {
    let mut escaped = false;
    let mut letters = 0;
    for &byte in cell {
        if escaped && !matches!(byte, b'_' | b'&' | b'#' | b'%' | b'$' | b'{' | b'}') {
            return false;
        }
        // A tie is a blank, and what stands between dollars a formula.
        if !escaped && matches!(byte, b'~' | b'$' | b'{') {
            return false;
        }
        letters += usize::from(byte.is_ascii_alphabetic());
        escaped = byte == b'\\' && !escaped;
    }
    letters >= LETTERS && !is_measure(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_outcomes_are_no_values() {
        for text in
            ["SKIP2", "12ms/iter", "page12", "PASSED2", "SKIP(3)", "8-12chars", "String2", "optional2"]
        {
            assert!(is_report(text.as_bytes()), "{text}");
        }
        for text in ["sunflower7", "Gx7!kkpw", "SUNFLOWER7"] {
            assert!(!is_report(text.as_bytes()), "{text}");
        }
        for cell in
            [r"85.3\%", r"12.3\,s", r"$3.2\times10^5$", "p<0.05", "Sec.~4.2", "12bit", r"\textbf{0.92}"]
        {
            assert!(!is_written(cell.as_bytes()), "{cell}");
        }
        for cell in ["Gx7!kkpw", r"Gx7\_kkpw9", r"Gx7\&kkpw9", "sunflower7"] {
            assert!(is_written(cell.as_bytes()), "{cell}");
        }
    }
}
