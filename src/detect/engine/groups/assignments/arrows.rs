//! Arrows: those that give a value to a name, `password <- "value"`, `My password's value`, and those between the value that was
//! and the one that will be: `password = "old" -> "new"`.

use super::form::ValueForm;
use super::named::LocatedName;
use super::text::{NeedMore, WindowText, is_dense};
use super::value::AssignedValue;

/// The longest value before an arrow that is stepped over, in bytes.
const OLD: usize = 128;
/// Arrows between two values of one name.
const ARROWS: [&str; 6] = ["-> ", "--> ", "=> ", "\u{2192} ", "\u{21d2} ", "\u{279c} "];
/// Those that give a value to the name before them, in R.
const LEFT: [&str; 2] = ["<<-", "<-"];
/// What follows a name whose value a sentence gives.
const OWNS: [&str; 2] = ["'s ", "\u{2019}s "];

impl WindowText<'_> {
    /// Where the value stands behind the arrow at `at`, which follows blanks.
    pub(super) fn behind_arrow(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let sign = self.blanks(at)?;
        if sign == at || !matches!(self.byte(sign)?, Some(b'-' | b'=' | 0xE2)) {
            return Ok(None);
        }
        for arrow in ARROWS {
            if self.follows(sign, arrow)? {
                return Ok(Some(self.blanks(sign + arrow.len())?));
            }
        }
        Ok(None)
    }

    /// The value that a name will have, behind the arrow that follows what it has at `at`, which is no secret.
    pub(super) fn changed_value(
        &self,
        name: LocatedName,
        at: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if !matches!(form, ValueForm::Assigned { .. }) || !name.meaning.strong {
            return Ok(None);
        }
        let open = self.quote(at)?;
        let end = match open {
            Some(open) => match self.closed(open, OLD)? {
                Some(end) => end + open.escapes + 1,
                None => return Ok(None),
            },
            None => self.run(at, OLD, is_dense)?,
        };
        let Some(value) = self.behind_arrow(end)? else { return Ok(None) };
        if open.is_some() {
            return self.value_at_link(name, value, form);
        }
        // Programs write types and functions so.
        let glyph = memchr::memmem::find(self.view.slice(end, value), "\u{2192}".as_bytes()).is_some();
        if !glyph && self.quote(value)?.is_none() {
            return Ok(None);
        }
        let word = self.random_word(name, value)?;
        word.map_or(Ok(None), |(at, form)| self.value_at_link(name, at, form))
    }

    /// Where the text in quotes stands behind R's arrow at `at`.
    pub(super) fn behind_left_arrow(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        if !self.is(at, b'<')? {
            return Ok(None);
        }
        for arrow in LEFT {
            if self.follows(at, arrow)? {
                let value = self.blanks(at + arrow.len())?;
                return Ok(self.quote(value)?.map(|_| value));
            }
        }
        Ok(None)
    }

    /// The word behind the name and the letter that says whose it is: `My password's value`.
    pub(super) fn owned_word(&self, name: LocatedName) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        if !matches!(self.byte(name.end)?, Some(b'\'' | 0xE2)) {
            return Ok(None);
        }
        for owns in OWNS {
            if self.follows(name.end, owns)? {
                return self.random_word(name, self.blanks(name.end + owns.len())?);
            }
        }
        Ok(None)
    }
}
