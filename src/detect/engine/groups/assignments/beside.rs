//! Names that are values themselves, with what they name beside them: `name: DB_PASSWORD` and `value: …` below,
//! `"key": "apiKey", "value": "…"`, `<key>password</key><string>…`, a row of a table with two columns, a block that has
//! the name for a label.

use super::form::ValueForm;
use super::text::{NeedMore, WindowText, is_name, is_quote, is_tag};
use super::value;

/// What a member is called that holds the value of the name beside it.
const VALUES: [&str; 6] = ["value", "val", "default", "parametervalue", "defaultvalue", "stringvalue"];
/// The longest of them.
const LONGEST: usize = 14;
/// Elements that hold values, beside elements that hold names.
const ELEMENTS: [&str; 3] = ["value", "val", "string"];
/// Elements that hold anything, beside their heads.
const CELLS: [&str; 2] = ["td", "dd"];
/// Elements that hold any text.
const TEXTS: [&str; 7] = ["span", "code", "kbd", "strong", "b", "p", "div"];
/// The most that is read of the tag of such an element, in bytes.
const TAG: usize = 128;

/// The longest name of a field of CEF with what its label's name ends in, in bytes.
const FIELD: usize = 32;

/// How far into a block its value is looked for, in bytes.
const BLOCK: usize = 160;

/// How a value is given that stands beside its name.
pub(super) const GIVEN: ValueForm = ValueForm::Assigned { tight: true, first: true, colon: false };

impl WindowText<'_> {
    /// Where the value stands that is given beside the name that begins at `start` and ends before `at`, which is behind its
    /// quote if it is `quoted`.
    pub(super) fn given_beside(
        &self,
        start: usize,
        at: usize,
        quoted: bool,
    ) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        // `Password: </td><td>…`.
        let tag = self.blanks(self.run(at, 1, |byte| byte == b':')?)?;
        if self.is(tag, b'<')? && self.is(tag + 1, b'/')? {
            return self.element_behind(tag);
        }
        match self.byte(at)? {
            Some(b',') => self.member_below(self.space(at + 1)?),
            Some(b'>') if quoted && self.names_element(start) => {
                Ok(Some((self.space(at + 1)?, ValueForm::Prose)))
            }
            Some(b'\n' | b'\r') => self.member_below(self.space(at)?),
            Some(b' ') if quoted && self.is(at + 1, b'{')? => self.member_within(at + 2),
            // The text format of Protocol Buffers parts members by blanks.
            Some(b' ')
                if quoted
                    && self.follows(at + 1, "value:")?
                    && self.quote(self.blanks(at + 7)?)?.is_some() =>
            {
                self.member_below(at + 1)
            }
            Some(b' ') if !quoted && self.before(start) == Some(b'=') => {
                match self.field_labelled(start, at)? {
                    Some(value) => Ok(Some((value, GIVEN))),
                    None => self.cell_behind(at),
                }
            }
            Some(b' ' | b'\t' | b'|' | b'*') => self.cell_behind(at),
            _ => Ok(None),
        }
    }

    /// `default = …` among the first members of a block whose label the name is: `variable "db_password" {`.
    fn member_within(&self, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let mut line = self.space(at)?;
        while line < at + BLOCK {
            let stop = self.run(line, LONGEST + 1, is_name)?;
            let equals = self.blanks(stop)?;
            if stop == line || !self.is(equals, b'=')? {
                return Ok(None);
            }
            let value = self.blanks(equals + 1)?;
            if matches!(self.view.slice(line, stop), b"default" | b"value") {
                return Ok(Some((value, GIVEN)));
            }
            let end = self.run(value, (at + BLOCK).saturating_sub(value), |byte| byte != b'\n')?;
            line = self.space(end)?;
        }
        Ok(None)
    }

    /// Where the value of a field begins whose label is the name at `start..end`, in an event of CEF: `cs1Label=password cs1=…`.
    fn field_labelled(&self, start: usize, end: usize) -> Result<Option<usize>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(FIELD), start);
        let Some(head) = head.strip_suffix(b"Label=") else { return Ok(None) };
        let length = head.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let field = head.get(head.len() - length..).unwrap_or_default();
        let equals = end + 1 + length;
        let given = length > 0 && self.is(equals, b'=')? && self.view.slice(end + 1, equals) == field;
        Ok(given.then_some(equals + 1))
    }

    /// `<entry key="…">`, whose name begins at `start`.
    fn names_element(&self, start: usize) -> bool {
        let head = self.view.slice(start.saturating_sub(6), start);
        let head = head.strip_suffix(b"\"").or_else(|| head.strip_suffix(b"'")).unwrap_or_default();
        head.ends_with(b" key=") || head.ends_with(b"name=")
    }

    /// `value: …` at `at`, which is behind a line end or a comma.
    fn member_below(&self, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let start = self.quote(at)?.map_or(at, |quote| quote.end);
        let stop = self.run(start, LONGEST + 1, |byte| byte.is_ascii_alphabetic())?;
        let word = self.view.slice(start, stop);
        if !VALUES.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())) {
            return Ok(None);
        }
        let behind = self.blanks(self.quote(stop)?.map_or(stop, |quote| quote.end))?;
        let given = matches!(self.byte(behind)?, Some(b':' | b'='));
        let value = if given { self.blanks(behind + 1)? } else { return Ok(None) };
        Ok(Some((value, GIVEN)))
    }

    /// `</name><value>…` at `at`, or `</label><input value="…">`.
    fn element_behind(&self, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        if !self.is(at + 1, b'/')? {
            return Ok(None);
        }
        let end = self.run(at + 2, TAG, is_tag)?;
        let mut open = if self.is(end, b'>')? { self.space(end + 1)? } else { return Ok(None) };
        if self.follows(open, "<br")? {
            open = self.space(self.run(open + 1, TAG, is_tag)? + 1)?;
        }
        if !self.is(open, b'<')? {
            return Ok(None);
        }
        let stop = self.run(open + 1, TAG, |byte| byte.is_ascii_alphabetic())?;
        let word = self.view.slice(open + 1, stop);
        if word.eq_ignore_ascii_case(b"input") {
            return self.input_value(stop);
        }
        let is = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
        let form = match () {
            () if is(&ELEMENTS) => ValueForm::Element,
            () if is(&CELLS) => ValueForm::Prose,
            () if is(&TEXTS) => ValueForm::Said,
            () => return Ok(None),
        };
        let end = self.run(stop, TAG, is_tag)?;
        Ok(if self.is(end, b'>')? { Some((self.space(end + 1)?, form)) } else { None })
    }

    /// ` | … |` at `at`, with which the row of the table ends.
    fn cell_behind(&self, at: usize) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let bar = self.blanks(self.run(at, 2, |byte| byte == b'*')?)?;
        let value = if self.is(bar, b'|')? { self.blanks(bar + 1)? } else { return Ok(None) };
        let end = self.run(value, value::LONGEST, |byte| !matches!(byte, b'|' | b'\n' | b'\r'))?;
        // What is longer is a value if it is one word.
        let cut = end == value + value::LONGEST;
        let last = if cut {
            !self.view.slice(value, end).trim_ascii_end().contains(&b' ')
        } else if end == value || !self.is(end, b'|')? {
            false
        } else {
            self.ends_line(end + 1)?
        };
        let opened = self.run(value, 2, |byte| byte == b'*')?;
        Ok(last.then_some((
            if self.byte(value)?.is_some_and(is_quote) { value } else { opened },
            ValueForm::Prose,
        )))
    }
}
