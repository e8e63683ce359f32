//! Values of several strings that a program or a shell joins: `"first" + "second"`, `'first' || 'second'`, `'first' \⏎ 'second'`.

use super::form::ValueForm;
use super::text::{NeedMore, Quote, WindowText};
use super::value::{AssignedValue, LONGEST, kind, piece};
use crate::detect::naming::Meaning;

/// The most strings behind the first.
const STRINGS: usize = 6;
/// The longest of them, in bytes.
const STRING: usize = 128;
/// What joins two strings.
const SIGNS: [&[u8]; 5] = [b"+", b"&", b".", b"..", b"||"];

/// Whether a string names another setting, whose value follows: `&user=`, `, host: `.
fn names_another(string: &[u8]) -> bool {
    let Some(sign) = string.iter().position(|byte| matches!(byte, b':' | b'=')) else { return false };
    let (head, behind) = string.split_at(sign);
    let name = |byte: &u8| {
        byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'&' | b'?' | b';' | b',' | b' ')
    };
    behind.len() == 1 || behind.get(1) == Some(&b' ') || head.iter().all(name)
}

impl WindowText<'_> {
    /// The value whose first string `open` opens and `end` ends, up to the last that is joined to it; `None` if it is alone.
    pub(super) fn joined_strings(
        &self,
        meaning: Meaning,
        open: Quote,
        end: usize,
        form: ValueForm,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        if !matches!(form, ValueForm::Assigned { .. }) || open.escapes > 0 {
            return Ok(None);
        }
        let mut whole = self.view.slice(open.end, end).to_vec();
        let spaced = whole.contains(&b' ');
        let mut last = end;
        for _ in 0..STRINGS {
            let Some(next) = self.next_string(open, last, form)? else { break };
            let Some(close) = self.closed(next, STRING)? else { break };
            let string = self.view.slice(next.end, close);
            // A message goes on with words, another setting with a sign.
            let words = string.contains(&b' ') && !spaced || names_another(string);
            if words || close >= open.end + LONGEST {
                break;
            }
            whole.extend_from_slice(string);
            last = close;
        }
        if last == end {
            return Ok(None);
        }
        let first = self.quoted(meaning, open.end, end, form).map(|value| value.kind);
        // All of it was looked at, and counts as that.
        self.value_at(open.end, last);
        let kind = first.or_else(|| kind(meaning, &whole, form).filter(|_| !whole.contains(&b' ')));
        Ok(kind.map(|kind| piece(kind, open.end, last, 0.0)))
    }

    /// The quote of the string that is joined to the one which a quote like `open` closes at `close`.
    fn next_string(&self, open: Quote, close: usize, form: ValueForm) -> Result<Option<Quote>, NeedMore> {
        let behind = self.blanks(close + 1)?;
        // In brackets a string may follow on the next line, and a sign on a line that is indented.
        let bracketed = self.view.before(open.end, 2) == Some(b'(');
        let (sign, lined) = match self.byte(behind)? {
            Some(b'\n' | b'\r') => (self.space(behind)?, true),
            _ => (behind, false),
        };
        let indented = !lined || matches!(self.before(sign), Some(b' ' | b'\t'));
        let next = match self.byte(sign)? {
            Some(b'+' | b'&' | b'.' | b'|') if indented => {
                let end = self.run(sign, 3, |byte| matches!(byte, b'+' | b'&' | b'.' | b'|'))?;
                if !SIGNS.contains(&self.view.slice(sign, end)) {
                    return Ok(None);
                }
                let line = self.blanks(end)?;
                // Basic goes on with the line so.
                let line = if self.is(line, b'_')? { line + 1 } else { line };
                self.space(line)?
            }
            Some(b'\\') if !lined && matches!(self.byte(sign + 1)?, Some(b'\n' | b'\r')) => {
                self.space(sign + 1)?
            }
            Some(byte) if byte == open.byte => {
                let apart = matches!(form, ValueForm::Assigned { tight: false, colon: false, .. });
                let beside = !lined && sign > close + 1 && apart;
                if beside || lined && bracketed { sign } else { return Ok(None) }
            }
            _ => return Ok(None),
        };
        Ok(self.quote(next)?.filter(|next| next.byte == open.byte && next.escapes == 0))
    }
}
