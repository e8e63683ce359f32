//! Passwords that are words of their own on command lines, behind no option: `htpasswd -b file user password`.

use super::shape::{is_marked, is_random};
use super::text::{NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::NAME;
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// The most options of a command before its words.
const OPTIONS: usize = 4;
/// The longest option, in bytes.
const OPTION: usize = 64;

impl WindowText<'_> {
    /// Behind the options of a command at `at`, none of which takes a word of its own, and whether one of them has this letter.
    fn behind_options(&self, at: usize, letter: u8) -> Result<(usize, bool), NeedMore> {
        let mut at = self.blanks(at)?;
        let mut has = false;
        for _ in 0..OPTIONS {
            if !self.is(at, b'-')? {
                break;
            }
            let end = self.run(at, OPTION, |byte| !byte.is_ascii_whitespace())?;
            has |= self.view.slice(at, end).contains(&letter);
            at = self.blanks(end)?;
        }
        Ok((at, has))
    }

    /// The word of this number, from 0, behind the options of a command at `at`.
    pub(super) fn nth_word(&self, at: usize, n: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let (mut at, _) = self.behind_options(at, b'-')?;
        for _ in 0..n {
            let end = self.behind_word(at)?;
            let next = self.blanks(end)?;
            if next == end {
                return Ok(None);
            }
            at = next;
        }
        self.typed_word(at)
    }

    /// The password at `at`, if it is more than a word of a sentence or a file. A quote within it closes a text in which the command
    /// stands.
    fn typed_word(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let value = match self.byte(at)? {
            Some(byte) if is_quote(byte) => self.pass(at)?.filter(|value| value.start > at),
            _ => {
                let end = self.run(at, LONGEST, |byte| is_dense(byte) && byte != b'|')?;
                let text = self.value_at(at, end);
                let fits = !text.starts_with(b"-") && credential::password(text);
                fits.then(|| piece(SecretKind::Command, at, end, 0.0))
            }
        };
        Ok(value.filter(|value| {
            let text = self.view.slice(value.start, value.end);
            is_marked(text) && !text.starts_with(b"/")
        }))
    }

    /// `htpasswd -b file user password`, or without a file with `-n`; the dash of its options stands before `at`.
    pub(super) fn htpasswd(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let (_, batch) = self.behind_options(at - 1, b'b')?;
        let (words, prints) = self.behind_options(at - 1, b'n')?;
        if batch { self.nth_word(words, if prints { 1 } else { 2 }) } else { Ok(None) }
    }

    /// The password behind the share of `smbclient`, whose name begins at `start`, or behind the user's name.
    pub(super) fn share(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if let Some(value) = self.user_behind(start, &["-U ", "--user="], b'%')? {
            return Ok(Some(value));
        }
        let share = self.run(self.blanks(at)?, 1, is_quote)?;
        if !matches!(self.byte(share)?, Some(b'/' | b'\\')) {
            return Ok(None);
        }
        let end = self.run(share, OPTION, |byte| !byte.is_ascii_whitespace())?;
        self.shared(self.blanks(end)?)
    }

    /// `[domain/]user:password@host` behind the options of a tool, as those of Impacket take it.
    pub(super) fn impacket(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let (word, _) = self.behind_options(at, b'-')?;
        let word = self.run(word, 1, is_quote)?;
        let name = self.run(word, NAME, |byte| is_name(byte) || byte == b'/')?;
        if name == word || !self.is(name, b':')? {
            return Ok(None);
        }
        let stop = self.run(name + 1, LONGEST, is_dense)?;
        let host = self.view.slice(name + 1, stop).iter().rposition(|&byte| byte == b'@');
        let end = match host {
            Some(length) => name + 1 + length,
            // It goes on.
            None if stop == name + 1 + LONGEST => stop,
            None => return Ok(None),
        };
        let fits = credential::password(self.value_at(name + 1, end));
        Ok(fits.then(|| piece(SecretKind::Command, name + 1, end, 0.0)))
    }

    /// `user name password`, with which a line ends, whose first word stands before `at`.
    pub(super) fn file_transfer(&self, begin: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if self.before(begin) != Some(b'\n') {
            return Ok(None);
        }
        let user = self.run(at, NAME, is_name)?;
        let start = self.blanks(user)?;
        let end = self.run(start, LONGEST, is_dense)?;
        let ends = end == start + LONGEST || self.ends_line(end)?;
        if user == at || start == user || !ends {
            return Ok(None);
        }
        let fits = is_random(self.value_at(start, end));
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }
}
