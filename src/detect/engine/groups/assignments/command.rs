//! Passwords on command lines: `curl -u`, `mysql -p`, `net user`, `sshpass -p`.

use super::text::{NeedMore, Text, is_dense, is_quote};
use super::value::{Value, piece};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far from a command its option can stand, in bytes.
const LINE: usize = 384;
/// The longest word of a command that is looked at, in bytes; with quotes in it, twice that.
const WORD: usize = 128;
impl Text<'_> {
    /// A word of a shell with quotes in it: `user:'pass word'`.
    fn word(&self, at: usize) -> Result<(usize, usize), NeedMore> {
        let mut end = at;
        while end < at + WORD {
            let Some(byte) = self.byte(end)? else { break };
            if byte.is_ascii_whitespace() || matches!(byte, b';' | b'|' | b'\\') {
                break;
            }
            end += 1;
            if is_quote(byte) {
                let inside = self.run(end, WORD, |byte| !is_quote(byte) && byte != b'\n')?;
                end = if self.byte(inside)?.is_some_and(is_quote) { inside + 1 } else { inside };
            }
        }
        let text = self.view.slice(at, end);
        let one = |byte: Option<&u8>| byte.copied().filter(|&byte| is_quote(byte));
        let whole = one(text.first()).is_some() && one(text.first()) == one(text.last()) && text.len() >= 2;
        let quotes = text.iter().filter(|&&byte| is_quote(byte)).count();
        Ok(if whole && quotes == 2 { (at + 1, end - 1) } else { (at, end) })
    }

    /// Behind the first of these options on the command's line, or on the lines that go on with it.
    fn option(&self, end: usize, options: [&str; 2]) -> Result<Option<usize>, NeedMore> {
        for at in end..end + LINE {
            let Some(byte) = self.byte(at)? else { break };
            if byte == b'\n' && self.before(at) != Some(b'\\') {
                break;
            }
            if byte == b'-' && self.before(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
                for option in options {
                    if self.follows(at, option)? {
                        return Ok(Some(at + option.len()));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The option that names the user.
    pub(super) fn curl(&self, end: usize) -> Result<Option<Value>, NeedMore> {
        let option = self.option(end, ["--user", "-u "])?;
        option.map_or(Ok(None), |at| self.user(at))
    }

    /// The option that gives the password, in a word of its own behind one of these.
    pub(super) fn login(&self, end: usize, options: [&str; 2]) -> Result<Option<Value>, NeedMore> {
        let Some(option) = self.option(end, options)? else { return Ok(None) };
        let at = self.blanks(option)?;
        if self.byte(at)?.is_some_and(is_quote) {
            return self.pass(at);
        }
        // The command may stand in a string, which a quote ends.
        let end = self.run(at, WORD, |byte| is_dense(byte) && byte != b'|')?;
        let text = self.view.slice(at, end);
        let fits = !text.starts_with(b"-") && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, at, end, 0.0)))
    }

    /// `user:password` behind its option.
    fn user(&self, end: usize) -> Result<Option<Value>, NeedMore> {
        let at = self.run(end, 1, |byte| byte == b'=')?;
        let (start, end) = self.word(self.blanks(at)?)?;
        let text = self.view.slice(start, end);
        let Some(colon) = text.iter().position(|&byte| byte == b':') else { return Ok(None) };
        let digits = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        let empty = text.get(colon + 1..).is_none_or(<[u8]>::is_empty);
        let fits = !digits && !empty && !text.starts_with(b"-") && credential::userinfo(text);
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    /// `-p` and the password in one word, among the options of `mysql` and its like.
    pub(super) fn mysql(&self, end: usize) -> Result<Option<Value>, NeedMore> {
        let mut at = self.run(end, 8, |byte| byte.is_ascii_lowercase())?;
        while at < end + LINE / 2 {
            let next = self.blanks(at)?;
            if next == at || !self.byte(next)?.is_some_and(|byte| byte.is_ascii_graphic()) {
                return Ok(None);
            }
            if self.is(next, b'-')? && self.is(next + 1, b'p')? {
                return self.pass(next + 2);
            }
            (_, at) = self.word(next)?;
        }
        Ok(None)
    }

    /// A password that is a word of a command.
    pub(super) fn pass(&self, at: usize) -> Result<Option<Value>, NeedMore> {
        let (start, end) = self.word(at)?;
        let text = self.view.slice(start, end);
        let fits = !text.starts_with(b"-") && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    pub(super) fn net_user(&self, at: usize) -> Result<Option<Value>, NeedMore> {
        let (_, name) = self.word(self.blanks(at)?)?;
        let (start, end) = self.word(self.blanks(name)?)?;
        let option = self.blanks(end)?;
        let text = self.view.slice(start, end);
        let fits = self.is(option, b'/')? && !text.starts_with(b"/") && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }
}
