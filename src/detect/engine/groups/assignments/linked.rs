//! The value behind the sign that gives it to a name: in quotes, in what programs put around it, or bare.

use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::is_random_in_quotes;
use super::text::{NeedMore, Quote, WindowText};
use super::value::{AssignedValue, LONGEST, kind, piece};

impl WindowText<'_> {
    /// The value at `at`.
    pub(super) fn value_at_link(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if let Some(open) = self.reopened(at)? {
            let end = self.closed_or_cut(open)?;
            return Ok(end.and_then(|end| self.quoted(name.meaning, open.end, end, form)));
        }
        let assigned = matches!(form, ValueForm::Assigned { .. });
        if (assigned || form == ValueForm::Flag)
            && let Some(value) = self.fallback(name, at)?
        {
            return Ok(Some(value));
        }
        if assigned && let Some(value) = self.literal(name, at, form)? {
            return Ok(Some(value));
        }
        let at = if assigned { self.unwrapped(at)? } else { at };
        // The first of a list, which may as well be one of rules for such values.
        let (at, form) = match self.listed(at)? {
            Some(first) if matches!(form, ValueForm::Assigned { colon: true, .. }) => {
                (first, ValueForm::Said)
            }
            _ => (at, form),
        };
        let marked = matches!(
            self.byte(at)?,
            Some(b'@' | b'$' | b'^' | b'b' | b'r' | b'u' | b'f' | b'L' | b'N' | b'R')
        );
        let open = match self.quote(at)? {
            None if marked => self.quote(at + 1)?,
            open => open,
        };
        if let Some(open) = open {
            let mut open = self.tripled(open)?;
            if let Some(inner) = self.quote(open.end)?.filter(|inner| inner.byte != open.byte) {
                open = inner;
            }
            return self.value_in_quotes(name, open, form);
        }
        if matches!(form, ValueForm::Compared | ValueForm::Argument(_) | ValueForm::Beside | ValueForm::Or) {
            return Ok(None);
        }
        if let Some(inner) = self.behind_opening(at)? {
            return self.bare(name, inner, form);
        }
        if assigned && let Some(value) = self.unencoded(name, at)? {
            return Ok(Some(value));
        }
        let ValueForm::Assigned { colon: true, .. } = form else { return self.bare(name, at, form) };
        // `name: Type = "value"`.
        let stop = self.run(at, 32, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'<' | b'>' | b'&' | b'.')
        })?;
        let equals = self.blanks(stop)?;
        if equals > stop && self.is(equals, b'=')? {
            let value = self.blanks(equals + 1)?;
            if let Some(open) = self.quote(value)? {
                let end = self.closed_or_cut(open)?;
                return Ok(end.and_then(|end| self.quoted(name.meaning, open.end, end, form)));
            }
        }
        self.bare(name, at, form)
    }

    /// The value that `open` opens.
    fn value_in_quotes(
        &self,
        name: LocatedName,
        open: Quote,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(end) = self.closed_or_cut(open)? else { return self.bare(name, open.end, form) };
        let cut = end == open.end + LONGEST;
        if !cut && let Some(value) = self.joined_strings(name.meaning, open, end, form)? {
            return Ok(Some(value));
        }
        // What closes the quotes of `^"value^"` for Windows' shell.
        let escaped = !cut && self.view.before(open.end, 2) == Some(b'^') && self.before(end) == Some(b'^');
        let end = if escaped && end > open.end { end - 1 } else { end };
        match self.quoted(name.meaning, open.end, end, form) {
            // The text may go on for long behind its first word.
            None if cut => self.bare(name, open.end, form),
            None => match self.first_quoted(name, open, end, form) {
                Some(value) => Ok(Some(value)),
                None => self.exported_value(name, open, end),
            },
            given => Ok(given),
        }
    }

    /// The value `open.end..end` that begins like what stands between two texts of a program, if its quote is the first of the line,
    /// so that it closes no text, and no program could stand in it.
    fn first_quoted(
        &self,
        name: LocatedName,
        open: Quote,
        end: usize,
        form: ValueForm,
    ) -> Option<AssignedValue> {
        let line = self.line_before(name);
        let whole = self.sees_line_start(name);
        let between = self.view.slice(name.end, open.end.saturating_sub(open.escapes + 1));
        if !whole || line.contains(&open.byte) || between.contains(&open.byte) {
            return None;
        }
        let text = self.value_at(open.end, end);
        let kind = kind(name.meaning, text, form).filter(|_| is_random_in_quotes(text));
        kind.map(|kind| piece(kind, open.end, end, 0.0))
    }

    /// Where the quote stands that opens the first value of a list at `at`.
    fn listed(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        if !self.is(at, b'[')? {
            return Ok(None);
        }
        let first = self.blanks(at + 1)?;
        Ok(self.quote(first)?.map(|_| first))
    }
}
