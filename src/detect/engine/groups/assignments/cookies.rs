//! Sessions in cookies (RFC 6265 section 4): `Cookie: session=…`, `Set-Cookie: sid=…; Path=/`. Elsewhere such a name says
//! nothing of a secret: logs have the ids of sessions.

use super::text::{NeedMore, WindowText, is_dense, is_name};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far before a cookie its header is looked for, in bytes.
const BEFORE: usize = 60;

/// What follows a cookie that is set.
const ATTRIBUTES: [&str; 7] = ["path=", "httponly", "secure", "samesite=", "expires=", "max-age=", "domain="];

impl WindowText<'_> {
    /// The value of the cookie whose name, with the sign behind it, ends at `end`, and in which a word begins at `start`.
    pub(super) fn cookie(&self, start: usize, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        let line = head.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let letters = line.iter().rev().take_while(|&&byte| is_name(byte)).count();
        let name = self.view.slice(start - letters, end - 1).to_ascii_lowercase();
        // `ssid` is what a network is called.
        if !name.ends_with(b"session") && (!name.ends_with(b"sid") || name.ends_with(b"ssid")) {
            return Ok(None);
        }
        let stop = self.run(end, LONGEST, |byte| is_dense(byte) && byte != b',')?;
        let before = line.get(..line.len() - letters).unwrap_or_default();
        if !(is_header(before) || self.is_cookie_end(stop)?) {
            return Ok(None);
        }
        let fits = credential::key(self.value_at(end, stop), false);
        Ok(fits.then(|| piece(SecretKind::Key, end, stop, 0.0)))
    }

    /// Whether attributes of a cookie follow at `at`.
    fn is_cookie_end(&self, at: usize) -> Result<bool, NeedMore> {
        if !self.is(at, b';')? {
            return Ok(false);
        }
        let word = self.blanks(at + 1)?;
        for attribute in ATTRIBUTES {
            if self.follows(word, attribute)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a cookie stands behind this: in a header or an option of that name, or behind another cookie.
fn is_header(before: &[u8]) -> bool {
    let open = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let named = ["ookie", "OOKIE"].iter().any(|word| memchr::memmem::find(before, word.as_bytes()).is_some());
    named || before.ends_with(b"; ") || open.ends_with(b"-b ")
}
