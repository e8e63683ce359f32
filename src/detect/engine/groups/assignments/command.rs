//! Passwords on command lines: `curl -u`, `mysql -p`, `net user`, `sshpass -p`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::text::{LookCost, NeedMore, WindowText, is_dense, is_name, is_quote};
use super::value::{AssignedValue, LONGEST, piece};
use crate::detect::naming::NAME;
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How far from a command its option can stand, in bytes.
const LINE: usize = 384;
/// The most options of a command that are looked at.
const OPTIONS: usize = 24;
/// The longest word of a command before its password, and the longest text in quotes within a word, in bytes.
const WORD: usize = 128;
/// The longest word that a command before a pipe gives to the one behind it, in bytes.
const PIPED: usize = 4096;
/// How far before a value its command is looked for, in bytes.
const BEFORE: usize = 60;

/// What commands have on their lines that read a password.
const READS_PASSWORD: [&str; 19] = [
    "--password-stdin",
    "--passphrase-fd",
    "--passwd-fd",
    "--pass-stdin",
    "--with-token",
    "passwd --stdin",
    "chpasswd",
    "sudo -S",
    "sudo -kS",
    "cryptsetup",
    "luksOpen",
    "kinit",
    "smbpasswd",
    "pass:stdin",
    "secret create",
    "secret set",
    "secret put",
    "gcloud secrets",
    "kv put",
];

impl WindowText<'_> {
    /// A word of a shell with quotes in it, `user:'pass word'`, as much of it as a piece of a value has.
    pub(super) fn word(&self, at: usize) -> Result<(usize, usize), NeedMore> {
        self.word_within(at, LONGEST)
    }

    /// The same of `most` bytes, without the quotes around it.
    fn word_within(&self, at: usize, most: usize) -> Result<(usize, usize), NeedMore> {
        // The command stands in a string of a program.
        if let Some(open) = self.quote(at)?.filter(|open| open.escapes > 0) {
            let closed = self.closed(open, most)?;
            let end = closed.map_or_else(|| self.run(open.end, most, |byte| byte != b'\n'), Ok)?;
            return Ok((open.end, end));
        }
        let quote = self.byte(at)?.filter(|&byte| is_quote(byte));
        let opened = quote.is_some();
        let limit = at + most + usize::from(opened);
        // Other quotes stand for themselves in it.
        let closed = quote.map_or(Ok(None), |byte| self.next_quote(at + 1, byte, most))?;
        let mut end = closed.map_or(at, |close| close + 1);
        while end < limit {
            let Some(byte) = self.byte(end)? else { break };
            if byte.is_ascii_whitespace() || matches!(byte, b';' | b'|' | b'\\') {
                break;
            }
            end += 1;
            if is_quote(byte) {
                // Within a word it may close a text in which the command stands.
                let inner = limit.saturating_sub(end).min(if opened { most } else { WORD });
                let inside = self.run(end, inner, |byte| !is_quote(byte) && byte != b'\n')?;
                end = if self.byte(inside)?.is_some_and(is_quote) { inside + 1 } else { inside };
            }
        }
        // Each byte was read by itself, and a word this long may be a key: see `Assignments::spend`.
        let looked = self.looked.get();
        self.looked.set(LookCost { steps: looked.steps + (end - at), start: at, end, ..looked });
        let text = self.view.slice(at, end);
        let one = |byte: Option<&u8>| byte.copied().filter(|&byte| is_quote(byte));
        let whole = one(text.first()).is_some() && one(text.first()) == one(text.last()) && text.len() >= 2;
        let quotes = text.iter().filter(|&&byte| is_quote(byte)).count();
        let alone = closed.is_some_and(|close| close + 1 == end) || quotes == 2;
        Ok(match quotes {
            _ if whole && alone => (at + 1, end - 1),
            // It goes on in quotes.
            1 if opened && end == limit => (at + 1, end),
            _ => (at, end),
        })
    }

    /// The next quote of this kind on the line, `most` bytes on at the latest: to shells no backslash matters in single quotes, and to
    /// others in none.
    fn next_quote(&self, start: usize, quote: u8, most: usize) -> Result<Option<usize>, NeedMore> {
        let text = self.view.slice(start, start + most);
        let mut ends = memchr::memchr2_iter(quote, b'\n', text);
        let found = ends.find(|&at| !is_escaped(text, at));
        if found.is_none() && text.len() < most {
            self.byte(start + text.len())?;
        }
        let looked = self.looked.get();
        let steps = looked.steps + found.unwrap_or(text.len()) / 4;
        self.looked.set(LookCost { steps, ..looked });
        Ok(found.filter(|at| text.get(*at) == Some(&quote)).map(|at| start + at))
    }

    /// Behind the quote at `at`, if one is there, with its backslashes.
    fn behind_quote(&self, at: usize) -> Result<usize, NeedMore> {
        Ok(self.quote(at)?.map_or(at, |quote| quote.end))
    }

    /// Behind the word at `at` that is no password: a user's name, another option.
    pub(super) fn behind_word(&self, at: usize) -> Result<usize, NeedMore> {
        let (_, end) = self.word_within(at, WORD)?;
        self.behind_quote(end)
    }

    /// Behind the first of these options on the command's line, or on the lines that go on with it.
    pub(super) fn option(&self, end: usize, options: &[&str]) -> Result<Option<usize>, NeedMore> {
        let line = self.view.slice(end, end + LINE);
        let mut looked = 0;
        for at in memchr::memchr3_iter(b'-', b'/', b'\n', line) {
            let (sign, at) = (line.get(at).copied(), end + at);
            if sign == Some(b'\n') {
                if self.before(at) != Some(b'\\') {
                    return Ok(None);
                }
                continue;
            }
            // The word of the option may be in quotes.
            if !self.before(at).is_some_and(|byte| byte.is_ascii_whitespace() || is_quote(byte)) {
                continue;
            }
            looked += 1;
            if looked > OPTIONS {
                return Ok(None);
            }
            for option in options {
                // Where options begin with a slash, their case does not count.
                let there = self.view.slice(at, at + option.len());
                if self.follows(at, option)? && (sign == Some(b'/') || there == option.as_bytes()) {
                    return Ok(Some(at + option.len()));
                }
            }
        }
        if line.len() == LINE || self.view.complete { Ok(None) } else { Err(NeedMore) }
    }

    /// `user`, a sign and `password` behind the option that gives both.
    pub(super) fn user_behind(
        &self,
        command: usize,
        options: &[&str],
        sign: u8,
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let option = self.option(command, options)?;
        option.map_or(Ok(None), |at| self.user(at, sign))
    }

    /// The option that gives the password, in a word of its own behind one of these.
    pub(super) fn behind_option(
        &self,
        command: usize,
        options: &[&str],
    ) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(option) = self.option(command, options)? else { return Ok(None) };
        let at = self.blanks(option)?;
        if self.byte(at)?.is_some_and(is_quote) {
            return self.pass(at);
        }
        // The command may stand in a string, which a quote ends.
        let end = self.run(at, LONGEST, |byte| is_dense(byte) && byte != b'|')?;
        let text = self.value_at(at, end);
        // A few digits are a port, which other commands have behind the same option.
        let port = text.len() <= 5 && text.iter().all(u8::is_ascii_digit);
        let fits = !port && !text.starts_with(b"-") && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, at, end, 0.0)))
    }

    /// `user:password`, or with another sign between, behind its option.
    pub(super) fn user(&self, end: usize, sign: u8) -> Result<Option<AssignedValue>, NeedMore> {
        let at = self.run(end, 1, |byte| byte == b'=')?;
        let (start, end) = self.word(self.blanks(at)?)?;
        let text = self.value_at(start, end);
        let Some(parted) = text.iter().position(|&byte| byte == sign) else { return Ok(None) };
        let digits = text.iter().all(|byte| byte.is_ascii_digit() || *byte == sign);
        let pass = text.get(parted + 1..).unwrap_or_default();
        let fits = match sign {
            b':' => credential::userinfo(text),
            _ => credential::password(pass) && !credential::stands_in(text),
        };
        let fits = fits && !digits && !pass.is_empty() && !text.starts_with(b"-");
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    /// `user/password`, behind the options of a command of Oracle's: before its `@`, if there is one.
    pub(super) fn slashed(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut start = self.blanks(at)?;
        for _ in 0..3 {
            if self.is(start, b'-')? {
                start = self.blanks(self.run(start, NAME, |byte| !byte.is_ascii_whitespace())?)?;
            }
        }
        start = self.quote(start)?.map_or(start, |quote| quote.end);
        let user = self.run(start, NAME, is_name)?;
        if user == start || !self.is(user, b'/')? {
            return Ok(None);
        }
        let open = self.quote(user + 1)?.map_or(user + 1, |quote| quote.end);
        let most = (start + LONGEST).saturating_sub(open);
        let end = self.run(open, most, |byte| is_dense(byte) && byte != b'@')?;
        let text = self.value_at(open, end);
        let fits = credential::password(text) && !text.contains(&b'/');
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    /// `-p` and the password in one word, among the options of `mysql` and its like.
    pub(super) fn mysql(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut at = self.run(end, 12, |byte| byte.is_ascii_lowercase() || byte == b'-')?;
        while at < end + LINE / 2 {
            let next = self.blanks(at)?;
            if next == at || !self.byte(next)?.is_some_and(|byte| byte.is_ascii_graphic()) {
                return Ok(None);
            }
            // All of the word may be in quotes.
            let word = self.run(next, 1, is_quote)?;
            if self.is(word, b'-')? && self.is(word + 1, b'p')? {
                return if word > next { self.pass_within(word + 2) } else { self.pass(word + 2) };
            }
            at = self.behind_word(next)?;
        }
        Ok(None)
    }

    /// A password that is a word of a command.
    pub(super) fn pass(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let (start, end) = self.word(at)?;
        let text = self.value_at(start, end);
        let fits = !text.starts_with(b"-") && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    /// A password behind its option in a word that is in quotes.
    fn pass_within(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let end = self.run(at, LONGEST, |byte| !is_quote(byte) && !matches!(byte, b'\n' | b'\r'))?;
        let fits = credential::password(self.value_at(at, end));
        Ok(fits.then(|| piece(SecretKind::Command, at, end, 0.0)))
    }

    pub(super) fn net_user(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let name = self.behind_word(self.blanks(at)?)?;
        let (start, end) = self.word(self.blanks(name)?)?;
        let text = self.value_at(start, end);
        let whole = end < start + LONGEST;
        let known = !whole || self.is(self.blanks(self.run(end, 1, is_quote)?)?, b'/')?;
        let fits = known && !text.starts_with(b"/") && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    /// The password before or behind the user's name: behind the share, `net use Z: \\server\share password /user:name`.
    pub(super) fn net_use(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(user) = self.option(at, &["/user:", "/u:"])? else { return Ok(None) };
        let name = self.behind_word(user)?;
        if let Some(value) = self.shared(self.blanks(name)?)? {
            return Ok(Some(value));
        }
        let device = self.run(self.blanks(at)?, 2, |byte| byte.is_ascii_alphabetic() || byte == b':')?;
        let share = self.blanks(device)?;
        let end = self.run(share, WORD, |byte| !byte.is_ascii_whitespace())?;
        let parted = matches!(self.byte(share)?, Some(b'\\' | b'/'));
        if parted { self.shared(self.blanks(end)?) } else { Ok(None) }
    }

    /// The password of a share at `at`.
    pub(super) fn shared(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let (start, end) = self.word(at)?;
        let text = self.value_at(start, end);
        let fits = !matches!(text.first(), None | Some(b'/' | b'*' | b'-')) && credential::password(text);
        Ok(fits.then(|| piece(SecretKind::Command, start, end, 0.0)))
    }

    /// What is given to a command that reads a password: `echo password | docker login --password-stdin`. Before it, `printf` may
    /// have a format.
    pub(super) fn piped(&self, at: usize, formats: bool) -> Result<Option<AssignedValue>, NeedMore> {
        let mut start = self.blanks(at)?;
        for _ in 0..2 {
            if self.is(start, b'-')? {
                start = self.blanks(self.run(start, 4, |byte| !byte.is_ascii_whitespace())?)?;
            }
        }
        let (mut start, mut end) = self.word_within(start, PIPED)?;
        if formats && memchr::memmem::find(self.view.slice(start, end), b"%s").is_some() {
            let word = self.blanks(self.behind_quote(end)?)?;
            (start, end) = self.word_within(word, PIPED)?;
        }
        let quote = self.behind_quote(end)?;
        let pipe = self.blanks(quote)?;
        if end == start || !self.is(pipe, b'|')? || self.is(pipe + 1, b'|')? {
            return Ok(None);
        }
        let stop = self.run(pipe + 1, LINE, |byte| !matches!(byte, b'\n' | b'|' | b';'))?;
        if !self.reads_password(pipe + 1, stop) {
            return Ok(None);
        }
        Ok(self.told(start, end))
    }

    /// The same behind the command, whose line ends at `start`.
    pub(super) fn here_string(&self, start: usize, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        // Marks of conflicts have more.
        if self.is(at, b'<')? || self.before(start) == Some(b'<') {
            return Ok(None);
        }
        let head = self.view.slice(start.saturating_sub(BEFORE), start);
        let line = head.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        if !self.reads_password(start - line.len(), start) {
            return Ok(None);
        }
        let (value, end) = self.word(self.blanks(at)?)?;
        Ok(self.told(value, end))
    }

    /// Whether the command `start..end` reads a password.
    fn reads_password(&self, start: usize, end: usize) -> bool {
        let looked = self.looked.get();
        self.looked.set(LookCost { steps: looked.steps + (end - start), ..looked });
        reads_password(self.view.slice(start, end))
    }

    /// What a command reads. `printf` and `echo -e` have a line's end at its end.
    fn told(&self, start: usize, end: usize) -> Option<AssignedValue> {
        let whole = end <= start + LONGEST;
        let text = self.value_at(start, end.min(start + LONGEST));
        let text = text.strip_suffix(b"\\n").filter(|_| whole).unwrap_or(text);
        credential::password(text).then(|| piece(SecretKind::Command, start, start + text.len(), 0.0))
    }
}

/// Whether the sign at `at` is a double quote that a backslash escapes. To Windows it is none, where a folder ends so: then an option
/// follows, or nothing.
fn is_escaped(text: &[u8], at: usize) -> bool {
    let (head, behind) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
    let slashes = head.iter().rev().take_while(|&&byte| byte == b'\\').count();
    let blanks = behind.iter().take_while(|&&byte| byte == b' ').count();
    let option = match behind.get(blanks) {
        None | Some(b'\n' | b'\r' | b'|' | b';') => true,
        Some(b'-' | b'/') => blanks > 0,
        _ => false,
    };
    text.get(at) == Some(&b'"') && slashes % 2 == 1 && !option
}

fn reads_password(command: &[u8]) -> bool {
    static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(READS_PASSWORD).ok());
    SEARCH.as_ref().is_some_and(|search| search.is_match(command))
}
