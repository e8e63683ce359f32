//! Settings whose words blanks alone part, and what programs say to one another: `snmp-server community …`,
//! `enable password …`, `send "…\r"`, `host:port:database:user:password`.

use super::beside::GIVEN;
use super::form::ValueForm;
use super::named::LocatedName;
use super::shape::{is_marked, names_itself, names_user};
use super::text::{NeedMore, WindowText, is_base64, is_dense, is_name, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::{NAME, NameMeaning};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far before a value its line is looked at, in bytes.
const BEFORE: usize = 44;

/// What lines begin with that give passwords as their later words: of routers, password files, mail and installers.
const HEADS: [&[u8]; 13] = [
    b"username",
    b"machine",
    b"enable",
    b"neighbor",
    b"standby",
    b"tacacs-server",
    b"radius-server",
    b"server-private",
    b"nmcli",
    b"d-i",
    b"ENV",
    b"setx",
    b"setenv",
];

/// Words between a setting's name and its value that say how the value is written.
const WRITTEN: [&str; 5] = ["--plaintext ", "encrypted ", "ascii ", "password ", "md5 "];

impl WindowText<'_> {
    /// Where the value stands that blanks part from its name, which a line begins with, or which one of its later words is.
    pub(super) fn on_line(
        &self,
        name: LocatedName,
        at: usize,
    ) -> Result<Option<(usize, ValueForm)>, NeedMore> {
        let head = self.head(name);
        let line = head.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        let whole = line.len() < head.len() || self.begins(name);
        let mut words = unmarked(line).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let leads = whole && words.clone().next().is_none();
        let mut first = words.clone();
        let headed = whole
            && first.next().is_some_and(|word| {
                HEADS.contains(&word)
                    || word == b"set" && first.next().is_some_and(|option| option.starts_with(b"-"))
            });
        let user = words.next_back().is_some_and(names_user);
        let owned =
            user && words.next_back().is_some_and(|word| matches!(word, b"login" | b"user" | b"username"));
        // What clients of FTP, POP3 and IRC say: the user's name comes in a line before.
        let asked = leads && self.view.slice(name.start, name.end) == b"PASS" && said_user(head);
        if !(headed
            || owned
            || asked
            || leads && name.meaning.strong && name.meaning.named == NameMeaning::Password)
        {
            return Ok(None);
        }
        let value = self.behind_written(at)?;
        let end = self.run(value, LONGEST, is_dense)?;
        // A line that begins with the name has its value and no more.
        let behind = self.blanks(end)?;
        let cut = end == value + LONGEST;
        let ends = cut || matches!(self.byte(behind)?, None | Some(b'\n' | b'\r' | b'#'));
        let variable =
            headed && self.view.slice(name.start, name.end).iter().all(|byte| !byte.is_ascii_lowercase());
        let form = if variable { GIVEN } else { ValueForm::Line };
        Ok((headed || owned || ends).then_some((value, form)))
    }

    /// Behind the words that say how a value is written, and the number of a key: `7`, `1 md5`.
    fn behind_written(&self, at: usize) -> Result<usize, NeedMore> {
        let mut value = at;
        for _ in 0..2 {
            if self.byte(value)?.is_some_and(|byte| byte.is_ascii_digit()) && self.is(value + 1, b' ')? {
                value = self.blanks(value + 1)?;
            }
            for word in WRITTEN {
                if self.follows(value, word)? {
                    value = self.blanks(value + word.len())?;
                }
            }
        }
        Ok(value)
    }

    /// The next word of a setting.
    pub(super) fn setting(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut start = self.behind_written(self.blanks(at)?)?;
        start = self.quote(start)?.map_or(start, |quote| quote.end);
        let end = self.run(start, LONGEST, is_dense)?;
        Ok(self.word_of_setting(start, end))
    }

    fn word_of_setting(&self, start: usize, end: usize) -> Option<AssignedValue> {
        let text = self.value_at(start, end);
        let fits = credential::password(text) && is_marked(text) && !names_itself(text);
        fits.then(|| piece(SecretKind::Password, start, end, 0.0))
    }

    /// Redis' `user name on >password`, whose `on` begins at `start`.
    pub(super) fn access_list(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(BEFORE), start).to_ascii_lowercase();
        let parted = head.last().is_some_and(u8::is_ascii_whitespace);
        let mut words = head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        if !parted || !matches!(words.nth_back(1), Some(b"user" | b"setuser")) {
            return Ok(None);
        }
        let end = self.run(at, LONGEST, is_dense)?;
        Ok(self.word_of_setting(at, end).filter(|_| end - at >= 6))
    }

    /// What a script for `expect` sends where a program has asked for a password.
    pub(super) fn sent(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        if !["assword", "assphrase", "PIN"]
            .iter()
            .any(|word| memchr::memmem::find(head, word.as_bytes()).is_some())
        {
            return Ok(None);
        }
        let end = self.run(at, LONGEST, |byte| !matches!(byte, b'"' | b'\\') && !byte.is_ascii_control())?;
        let text = self.view.slice(at, end);
        let closed =
            self.byte(end)?.is_some_and(|byte| matches!(byte, b'"' | b'\\') || byte.is_ascii_control());
        let fits = closed && !matches!(text.first(), Some(b'$' | b'[')) && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Password, at, end, 0.0)))
    }

    /// The last field of a line of PostgreSQL's password file, behind the port, or behind what stands for any host, port and
    /// database.
    pub(super) fn password_file(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut field = at;
        let port = self.view.get(start) == Some(b':');
        // Names of products and resources have such stars too, behind others.
        if !port && self.before(start).is_some_and(|byte| byte == b':' || byte.is_ascii_alphanumeric()) {
            return Ok(None);
        }
        for _ in 0..if port { 2 } else { 1 } {
            let end = self.run(field, NAME, |byte| is_name(byte) || byte == b'*')?;
            if end == field || !self.is(end, b':')? {
                return Ok(None);
            }
            field = end + 1;
        }
        let end = self.run(field, LONGEST, |byte| !byte.is_ascii_whitespace() && !is_quote(byte))?;
        let text = self.value_at(field, end);
        let ends = !matches!(self.byte(end)?, Some(b' ' | b'\t'));
        let fits = ends && is_marked(text) && credential::password(text) && !text.starts_with(b"/");
        Ok(fits.then(|| piece(SecretKind::Password, field, end, 0.0)))
    }

    /// What is given to `auth`: user and password in base64.
    pub(super) fn basic(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let equals = self.before(end) == Some(b'=');
        let quote = self.quote(end)?.map_or(end, |quote| quote.end);
        let sign = self.blanks(quote)?;
        let behind = self.run(sign, 1, |byte| matches!(byte, b':' | b'='))?;
        if behind == sign && !equals {
            return Ok(None);
        }
        let value = self.blanks(behind)?;
        let start = self.quote(value)?.map_or(value, |quote| quote.end);
        let end = self.run(start, LONGEST, is_base64)?;
        let text = self.value_at(start, end);
        let fits = text.len() >= 8 && credential::basic(text);
        Ok(fits.then(|| piece(SecretKind::Basic, start, end, 0.0)))
    }
}

/// A line without what listings, diffs, quotations and shells have before it: numbers, signs, prompts.
fn unmarked(line: &[u8]) -> &[u8] {
    let mut rest = line.trim_ascii_start();
    for _ in 0..3 {
        let word = rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let (first, behind) = rest.split_at(word);
        let sign = matches!(first, [b'+' | b'-' | b'>' | b'$' | b'#' | b'%' | b':' | b'|'])
            || matches!(first, [.., b'#' | b'>'])
            || !first.is_empty()
                && first.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'|'));
        rest = match (sign, first) {
            (true, _) => behind.trim_ascii_start(),
            // A diff has its sign right before the line.
            (false, [b'+' | b'-', ..]) => rest.get(1..).unwrap_or_default(),
            _ => return rest,
        };
    }
    rest
}

/// Whether a line begins with the command that gives a user's name (RFC 959 section 4.1.1, RFC 1939 section 7).
fn said_user(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(unmarked);
    lines.any(|line| line.starts_with(b"USER ") || line.starts_with(b"NICK "))
}
