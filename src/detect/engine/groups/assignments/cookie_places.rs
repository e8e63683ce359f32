//! Cookies apart from a header: of an object, `cookies = {"session": "…"}`, of a call, `setcookie("session", "…")`, and of the files
//! that curl and browsers' tools write.

use super::cookies::cookie_kind;
use super::list_items::ListItem;
use super::text::{NeedMore, WindowText};
use super::value::{AssignedValue, LONGEST, piece};

/// The longest name of a cookie here, and the longest other field of a line, in bytes.
const FIELD: usize = 64;

/// What stands before the path in a line of a file of cookies: whether others of the domain get it.
const FLAGS: [&[u8]; 2] = [b"\tTRUE", b"\tFALSE"];

impl WindowText<'_> {
    /// The cookie of an object that begins at `at`, or behind blanks there.
    pub(super) fn cookie_member_at(&self, at: usize) -> Result<Option<ListItem>, NeedMore> {
        let start = self.space(at)?;
        let Some((name, sign)) = self.cookie_name(start)? else { return Ok(None) };
        if !self.is(sign, b':')? {
            return Ok(None);
        }
        let value = self.space(sign + 1)?;
        let Some(open) = self.quote(value)? else {
            // A variable.
            let end = self.run(value, FIELD, |byte| !matches!(byte, b',' | b'}' | b'\n' | b'\r'))?;
            return Ok(Some(ListItem { start: value, end, value: None }));
        };
        let Some(end) = self.closed_or_cut(open)? else { return Ok(None) };
        let kind = cookie_kind(&name, self.value_at(open.end, end));
        Ok(Some(ListItem { start: value, end, value: kind.map(|kind| piece(kind, open.end, end, 0.0)) }))
    }

    /// Where the cookie of an object begins behind the one that ends at `at`.
    pub(super) fn next_cookie_member(&self, at: usize) -> Result<Option<usize>, NeedMore> {
        let comma = self.space(self.quote(at)?.map_or(at, |quote| quote.end))?;
        Ok(if self.is(comma, b',')? { Some(self.space(comma + 1)?) } else { None })
    }

    /// The value of a cookie that is set by a call whose arguments begin at `at`.
    pub(super) fn cookie_call(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some((name, comma)) = self.cookie_name(self.space(at)?)? else { return Ok(None) };
        if !self.is(comma, b',')? {
            return Ok(None);
        }
        let Some(open) = self.quote(self.space(comma + 1)?)? else { return Ok(None) };
        let Some(end) = self.closed_or_cut(open)? else { return Ok(None) };
        let kind = cookie_kind(&name, self.value_at(open.end, end));
        Ok(kind.map(|kind| piece(kind, open.end, end, 0.0)))
    }

    /// The name in quotes at `at`, in lower case, and where stands what follows it.
    fn cookie_name(&self, at: usize) -> Result<Option<(Vec<u8>, usize)>, NeedMore> {
        let Some(open) = self.quote(at)? else { return Ok(None) };
        let Some(end) = self.closed(open, FIELD)? else { return Ok(None) };
        let name = self.view.slice(open.end, end).to_ascii_lowercase();
        Ok(Some((name, self.space(end + open.escapes + 1)?)))
    }

    /// The value in a line of a file of cookies: domain, flag, path, flag, expiry, name and value, with tabs between. The first
    /// flag ends with the letter at `start`, and the path has begun before `at`.
    pub(super) fn cookie_file(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(6), start + 1);
        if !FLAGS.iter().any(|flag| head.ends_with(flag)) {
            return Ok(None);
        }
        let mut field = at;
        let mut name = at..at;
        for _ in 0..4 {
            let end = self.run(field, FIELD, |byte| !byte.is_ascii_whitespace())?;
            if !self.is(end, b'\t')? {
                return Ok(None);
            }
            name = field..end;
            field = end + 1;
        }
        let end = self.run(field, LONGEST, |byte| !byte.is_ascii_whitespace())?;
        let name = self.view.slice(name.start, name.end).to_ascii_lowercase();
        let kind = cookie_kind(&name, self.value_at(field, end));
        Ok(kind.map(|kind| piece(kind, field, end, 0.0)))
    }
}
