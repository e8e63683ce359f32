//! Sessions in cookies (RFC 6265 section 4): `Cookie: session=…`, `Set-Cookie: sid=…; Path=/`. Elsewhere such a name says
//! nothing of a secret: logs have the ids of sessions.

use super::super::super::track::{CookieEnd, ListLayout, ListPlace, OpenList, SecretList};
use super::beside::GIVEN;
use super::list_items::ListItem;
use super::text::{NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{self, AssignedValue, LONGEST, piece};
use crate::detect::naming::{self, Meaning, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far before a cookie its header is looked for, in bytes.
const BEFORE: usize = 60;

/// What follows a cookie that is set.
const ATTRIBUTES: [&str; 7] = ["path=", "httponly", "secure", "samesite=", "expires=", "max-age=", "domain="];

/// What names of cookies have in them whose values log somebody in.
const SESSIONS: [&[u8]; 12] = [
    b"sess",
    b"sid",
    b"auth",
    b"token",
    b"logged",
    b"login",
    b"cookie",
    b"remember",
    b"jwt",
    b"access",
    b"identity",
    b"clearance",
];
/// The longest name of a cookie that is looked at, in bytes.
const COOKIE: usize = 128;
/// The most backslashes before a quote.
const ESCAPES: usize = 4;

/// The cookies of this layout from `at` on.
const fn cookie_list(layout: ListLayout, at: usize) -> OpenList {
    let meaning = Meaning { named: NameMeaning::Key, strong: false, doubtful: false };
    OpenList { list: SecretList { meaning, plural: false, layout }, place: ListPlace::At(at) }
}

/// The cookies of a header whose value begins at `at`.
pub(super) const fn cookies(at: usize) -> OpenList {
    cookie_list(ListLayout::Cookies(CookieEnd::Line), at)
}

/// The cookies of an object whose bracket ends at `end`.
pub(super) const fn cookie_members(end: usize) -> OpenList {
    cookie_list(ListLayout::CookieMembers, end)
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
        // What is longer than a piece has its attributes behind that.
        let cut = stop == end + LONGEST;
        let fits =
            is_session(text) && (is_header(before) || is_woven(text) && (cut || self.is_cookie_end(stop)?));
        Ok(fits.then(|| piece(SecretKind::Key, end, stop, 0.0)))
    }

    /// The cookies of the header that the word at `start..end` begins, as a list of secrets.
    pub(super) fn cookie_header(&self, start: usize, end: usize) -> Result<OpenList, NeedMore> {
        let word = self.view.slice(start, end);
        if let Some(&byte) = word.last().filter(|&&byte| is_quote(byte)) {
            let escapes = self.escapes_before(end - 1);
            return Ok(cookie_list(ListLayout::Cookies(CookieEnd::Quote { byte, escapes }), end));
        }
        if let Some(open) = self.quote(self.blanks(end)?)? {
            let ends = CookieEnd::Quote { byte: open.byte, escapes: open.escapes };
            return Ok(cookie_list(ListLayout::Cookies(ends), open.end));
        }
        // The header may be the text in quotes.
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        let letters = head.iter().rev().take_while(|&&byte| is_name(byte)).count();
        let name = start - letters;
        // Programs write so: `cookie:e.cookie`, `document.cookie=`.
        let tight = self.before(start) == Some(b'c') && self.blanks(end)? == end;
        let ends = match self.before(name).filter(|&byte| is_quote(byte)) {
            Some(byte) => CookieEnd::Quote { byte, escapes: self.escapes_before(name - 1) },
            None if word.ends_with(b"=") || tight => CookieEnd::Any,
            None => CookieEnd::Line,
        };
        Ok(cookie_list(ListLayout::Cookies(ends), end))
    }

    /// How many backslashes stand right before `at`.
    fn escapes_before(&self, at: usize) -> usize {
        let head = self.view.slice(at.saturating_sub(ESCAPES), at);
        head.iter().rev().take_while(|&&byte| byte == b'\\').count()
    }

    /// Whether a header of cookies ends at `at`.
    fn cookies_end(&self, at: usize, ends: CookieEnd) -> Result<bool, NeedMore> {
        let behind = self.run(at, ESCAPES, |byte| byte == b'\\')?;
        let Some(byte) = self.byte(behind)? else { return Ok(true) };
        let line = matches!(byte, b'\n' | b'\r') || behind > at && matches!(byte, b'n' | b'r');
        Ok(line
            || match ends {
                CookieEnd::Line => false,
                CookieEnd::Any => behind > at || is_quote(byte),
                CookieEnd::Quote { byte: quote, escapes } => byte == quote && behind - at <= escapes,
            })
    }

    /// Where a header of cookies goes on behind `at`: with the next cookie, or within this one, if it is longer than a piece.
    pub(super) fn next_cookie(&self, at: usize, ends: CookieEnd) -> Result<Option<ListPlace>, NeedMore> {
        let limit = at + LONGEST;
        let mut end = at;
        while end < limit {
            end = self.run(end, limit - end, |byte| {
                !is_quote(byte) && !matches!(byte, b';' | b',' | b'\\' | b'\n' | b'\r')
            })?;
            if end >= limit {
                break;
            }
            if matches!(self.byte(end)?, Some(b';' | b',')) {
                return Ok(Some(ListPlace::At(self.unfolded(end + 1)?)));
            }
            if self.cookies_end(end, ends)? {
                return Ok(None);
            }
            // A quote or an escaped sign of the value.
            end = self.run(end, ESCAPES, |byte| byte == b'\\')? + 1;
        }
        Ok(Some(ListPlace::Behind(end)))
    }

    /// Behind blanks at `at`, and the end of a line with which the header goes on (RFC 9112 section 5.2).
    fn unfolded(&self, at: usize) -> Result<usize, NeedMore> {
        let line = self.blanks(at)?;
        let end = self.run(line, 2, |byte| matches!(byte, b'\r' | b'\n'))?;
        Ok(if end > line && matches!(self.byte(end)?, Some(b' ' | b'\t')) { self.blanks(end)? } else { line })
    }

    /// The cookie of a header that begins at `at`, or behind blanks there. One without a name and a sign has no value.
    pub(super) fn cookie_at(&self, at: usize, ends: CookieEnd) -> Result<Option<ListItem>, NeedMore> {
        let start = self.unfolded(at)?;
        if self.cookies_end(start, ends)? {
            return Ok(None);
        }
        let stop = self.run(start, COOKIE, is_cookie_name)?;
        if stop == start || !self.is(stop, b'=')? {
            return Ok(Some(ListItem { start, end: stop, value: None }));
        }
        let ended = self.cookies_end(stop + 1, ends)?;
        let open = self.quote(stop + 1)?.filter(|_| !ended);
        let value = open.map_or(stop + 1, |open| open.end);
        let end = self.run(value, LONGEST, |byte| is_dense(byte) && byte != b',')?;
        let name = self.view.slice(start, stop).to_ascii_lowercase();
        let text = self.value_at(value, end);
        let is_whole = match open {
            Some(open) => self.quote(end)?.is_some_and(|close| close.byte == open.byte),
            None => end > value && !matches!(text.last(), Some(b'(' | b'[' | b'{')),
        };
        // What is torn is no cookie: an argument of a call, say. The place by its name reads all of it.
        let named = naming::meaning(&name).is_some();
        let kind = if named && !is_whole { None } else { cookie_kind(&name, text) };
        // Where the name says what its value is, this is no place of its own.
        let start = if is_whole && (named || is_forged(&name)) { value } else { start };
        Ok(Some(ListItem { start, end, value: kind.map(|kind| piece(kind, value, end, 0.0)) }))
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

/// What names of cookies are made of here: what does not part them.
fn is_cookie_name(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !is_quote(byte) && !matches!(byte, b'=' | b';' | b',' | b'\\')
}

/// What the cookie of this name, in lower case, and this value is, if it is a secret.
pub(super) fn cookie_kind(name: &[u8], text: &[u8]) -> Option<SecretKind> {
    if is_forged(name) {
        return None;
    }
    let session = SESSIONS.iter().any(|word| memchr::memmem::find(name, word).is_some()) || name == b"li_at";
    if session && is_session(text) {
        return Some(SecretKind::Key);
    }
    naming::meaning(name).and_then(|meaning| value::kind(meaning, text, GIVEN))
}

/// Whether it is the name of what is sent back against forged requests, which logs nobody in.
fn is_forged(name: &[u8]) -> bool {
    ["csrf", "xsrf"].iter().any(|word| memchr::memmem::find(name, word.as_bytes()).is_some())
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
