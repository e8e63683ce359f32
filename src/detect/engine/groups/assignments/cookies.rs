//! Sessions in cookies (RFC 6265 section 4): `Cookie: session=…`, `Set-Cookie: sid=…; Path=/`. Elsewhere such a name says
//! nothing of a secret: logs have the ids of sessions.

use super::super::super::track::{ListLayout, ListPlace, OpenList, SecretList};
use super::beside::GIVEN;
use super::lists::ListItem;
use super::text::{NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{self, AssignedValue, LONGEST, piece};
use crate::detect::naming::{self, Meaning, NAME, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far before a cookie its header is looked for, in bytes.
const BEFORE: usize = 60;

/// What follows a cookie that is set.
const ATTRIBUTES: [&str; 7] = ["path=", "httponly", "secure", "samesite=", "expires=", "max-age=", "domain="];

/// What names of cookies have in them whose values log somebody in.
const SESSIONS: [&[u8]; 7] = [b"sess", b"sid", b"auth", b"token", b"logged", b"login", b"cookie"];

/// The cookies of a header whose name ends at `end`, as a list of secrets.
pub(super) const fn cookies(end: usize) -> OpenList {
    let meaning = Meaning { named: NameMeaning::Key, strong: false, doubtful: false };
    let list = SecretList { meaning, plural: false, layout: ListLayout::Cookies };
    OpenList { list, place: ListPlace::At(end) }
}

impl WindowText<'_> {
    /// The value of the cookie of a session whose name, with the sign behind it, ends at `end`, and in which a word begins at
    /// `start`.
    pub(super) fn session_cookie(&self, start: usize, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        let line = head.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let letters = line.iter().rev().take_while(|&&byte| is_name(byte)).count();
        let name = self.view.slice(start - letters, end - 1).to_ascii_lowercase();
        // A word of its own: `windowsid` and `obsession` are others.
        let word = |word: &[u8]| {
            let before = name.strip_suffix(word);
            before.is_some_and(|before| !before.last().is_some_and(u8::is_ascii_alphanumeric))
        };
        if !word(b"session") && !word(b"sid") && !word(b"usersession") {
            return Ok(None);
        }
        let stop = self.run(end, LONGEST, |byte| is_dense(byte) && byte != b',')?;
        let before = line.get(..line.len() - letters).unwrap_or_default();
        let text = self.value_at(end, stop);
        let fits = is_session(text) && (is_header(before) || is_woven(text) && self.is_cookie_end(stop)?);
        Ok(fits.then(|| piece(SecretKind::Key, end, stop, 0.0)))
    }

    /// Where the next cookie of a header begins, behind the one that ends at `at`, or behind blanks in it.
    pub(super) fn next_cookie(&self, at: usize) -> Result<usize, NeedMore> {
        let quote = self.run(at, 1, |byte| byte == b'"')?;
        let at = if self.is(quote, b';')? { quote } else { at };
        let end =
            self.run(at, LONGEST, |byte| !is_quote(byte) && !matches!(byte, b';' | b'\\' | b'\n' | b'\r'))?;
        self.blanks(self.run(end, 1, |byte| byte == b';')?)
    }

    /// The cookie of a header that begins at `at`, or behind blanks there.
    pub(super) fn cookie_at(&self, at: usize) -> Result<Option<ListItem>, NeedMore> {
        let start = self.blanks(at)?;
        let stop = self.run(start, NAME, |byte| is_name(byte) || byte == b'%')?;
        if stop == start || !self.is(stop, b'=')? {
            return Ok(None);
        }
        let value = self.run(stop + 1, 1, |byte| byte == b'"')?;
        let end = self.run(value, LONGEST, |byte| is_dense(byte) && byte != b',')?;
        let name = self.view.slice(start, stop).to_ascii_lowercase();
        let holds = |word: &[u8]| memchr::memmem::find(&name, word).is_some();
        let session = SESSIONS.iter().any(|word| holds(word));
        let forged = holds(b"csrf") || holds(b"xsrf");
        let text = self.value_at(value, end);
        let meaning = naming::meaning(&name);
        let kind = match meaning {
            // What is sent back against forged requests logs nobody in.
            _ if forged => None,
            _ if session && is_session(text) => Some(SecretKind::Key),
            Some(meaning) => value::kind(meaning, text, GIVEN),
            None => None,
        };
        let start = if forged || meaning.is_some() { value } else { start };
        let value = kind.map(|kind| piece(kind, value, end, 0.0));
        Ok(Some(ListItem { start, end, value }))
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

/// Whether a cookie stands behind this: in a header or an option of that name.
fn is_header(before: &[u8]) -> bool {
    let open = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let named = ["ookie", "OOKIE"].iter().any(|word| memchr::memmem::find(before, word.as_bytes()).is_some());
    named || open.ends_with(b"-b ")
}

/// Whether a value can be that of a session: generated, and no id of a Windows user.
fn is_session(text: &[u8]) -> bool {
    credential::key(text, false) && !text.starts_with(b"S-1-")
}

/// Whether a value has a part of letters and digits that is no word and no number.
fn is_woven(text: &[u8]) -> bool {
    let any = |part: &[u8], is: fn(&u8) -> bool| part.iter().any(is);
    text.split(|byte| !byte.is_ascii_alphanumeric()).any(|part| {
        part.len() >= 8
            && any(part, u8::is_ascii_digit)
            && any(part, u8::is_ascii_alphabetic)
            && (part.len() >= 24 || part.iter().any(u8::is_ascii_lowercase))
    })
}
