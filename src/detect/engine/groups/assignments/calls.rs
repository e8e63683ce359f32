//! Passwords among the arguments of calls that have no names: `SetBasicAuth("user", "password")`, `strcmp(password,
//! "password")`.

use super::named::LocatedName;
use super::shape::{is_label, is_marked};
use super::text::{NeedMore, WindowText};
use super::value::{AssignedValue, piece};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The longest argument that is stepped over, in bytes.
const ARGUMENT: usize = 96;

/// Calls that compare their first argument with the second, or type that into it.
const ARGUMENTS: [&[u8]; 7] =
    [b"strcmp(", b"strncmp(", b"strcasecmp(", b"memcmp(", b"equals(", b".fill(", b"type("];

impl WindowText<'_> {
    /// Whether the name is the first argument of a call that compares it, or types into it.
    pub(super) fn is_first_argument(&self, name: LocatedName) -> bool {
        let line = self.line_before(name);
        name.dashes == 0 && ARGUMENTS.iter().any(|call| line.ends_with(call))
    }

    /// The argument of this number, from 0, of a call whose arguments begin at `at`.
    pub(super) fn argument(&self, at: usize, n: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut at = self.space(at)?;
        for _ in 0..n {
            let end = match self.quote(at)? {
                Some(quote) => match self.closed(quote, ARGUMENT)? {
                    Some(end) => end + quote.escapes + 1,
                    None => return Ok(None),
                },
                None => self.run(at, ARGUMENT, |byte| !matches!(byte, b',' | b'(' | b')' | b'\n'))?,
            };
            let comma = self.space(end)?;
            if end == at || !self.is(comma, b',')? {
                return Ok(None);
            }
            at = self.space(comma + 1)?;
        }
        let at = if self.follows(at, "key=")? { at + 4 } else { at };
        let at = if self.is(at, b'b')? { at + 1 } else { at };
        let Some(quote) = self.quote(at)? else { return Ok(None) };
        let Some(end) = self.closed_or_cut(quote)? else { return Ok(None) };
        let text = self.value_at(quote.end, end);
        let fits = credential::password(text)
            && is_marked(text)
            && !text.starts_with(b"/")
            && !is_label(text)
            && !text.contains(&b' ');
        Ok(fits.then(|| piece(SecretKind::Password, quote.end, end, 0.0)))
    }
}
