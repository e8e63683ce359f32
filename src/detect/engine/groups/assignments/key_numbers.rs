//! The private numbers of keys as members of documents: `"d": "…"` of a JSON Web Key (RFC 7518 sections 6.2.2, 6.3.2 and
//! 6.4.1), `<D>…</D>` of an XML key (W3C XML Signature, and .NET's `RSAKeyValue`).

use super::shape::is_key_number;
use super::text::{NeedMore, WindowText, is_base64};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::rules::SecretKind;

impl WindowText<'_> {
    /// What is given to the member whose name, with the sign behind it, ends at `end`.
    pub(super) fn key_number(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let element = self.before(end) == Some(b'>');
        let end = if element { end } else { end - 1 };
        let start = if element {
            self.space(end)?
        } else {
            let Some(quote) = self.quote(end)? else { return Ok(None) };
            let colon = self.space(quote.end)?;
            let value = if self.is(colon, b':')? { self.space(colon + 1)? } else { return Ok(None) };
            let Some(open) = self.quote(value)? else { return Ok(None) };
            open.end
        };
        let end = self.run(start, LONGEST, is_base64)?;
        let text = self.value_at(start, end);
        let closed = end - start == LONGEST
            || matches!(self.byte(end)?, Some(b'"' | b'\\')) && !element
            || element && self.is(self.space(end)?, b'<')?;
        let fits = closed && is_key_number(text);
        Ok(fits.then(|| piece(SecretKind::Key, start, end, 0.0)))
    }
}
