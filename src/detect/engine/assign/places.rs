//! From a word that was found to the value of its place: headers, addresses, commands. Names are in
//! [`given`](super::given).

use super::super::super::rule::SecretKind;
use super::super::super::validate::credential;
use super::text::{NeedMore, Text, is_dense, is_quote};
use super::{Given, Hit, Place, VALUE};

/// How far from a command its option can stand, in bytes.
const LINE: usize = 384;
/// The longest word of a command that is looked at, in bytes; with quotes in it, twice that.
const WORD: usize = 128;
/// The longest userinfo of an address that is looked at, in bytes.
const AUTHORITY: usize = 256;

/// Schemes of addresses that open databases and queues, by their beginnings.
const STORES: &[&[u8]] = &[
    b"postgres",
    b"postgis",
    b"mysql",
    b"mariadb",
    b"mongodb",
    b"redis",
    b"amqp",
    b"mssql",
    b"sqlserver",
    b"oracle",
    b"clickhouse",
    b"cockroach",
    b"cassandra",
    b"neo4j",
    b"bolt",
    b"nats",
    b"kafka",
    b"couchbase",
    b"hive",
    b"db2",
    b"snowflake",
    b"jdbc",
    b"memcached",
    b"mqtt",
    b"pulsar",
];

/// What was found, and where to look on if it is refused.
pub(super) type Look = Result<(usize, Option<Given>), NeedMore>;

impl Text<'_> {
    /// What the place gives whose word is `hit`.
    pub(super) fn given(&self, hit: Hit) -> Look {
        let Hit { start, end, place } = hit;
        let found = match place {
            Place::Name => return self.named(start, end),
            Place::Authorization => self.authorization(end)?,
            Place::Bearer => self.bearer(end)?,
            Place::Address => self.address(start, end)?,
            Place::Compared => self.compared(end)?,
            Place::Curl => self.curl(end)?,
            Place::Mysql => self.mysql(end)?,
            Place::NetUser => self.net_user(end)?,
            Place::Identified => self.identified(end)?,
        };
        Ok((end, found))
    }

    /// `Authorization: Basic …` (RFC 9110 section 11.6.2), in a header, a shell's string or an object of JSON.
    fn authorization(&self, end: usize) -> Result<Option<Given>, NeedMore> {
        let at = self.quote(end)?.map_or(end, |quote| quote.end);
        let at = self.blanks(at)?;
        if !matches!(self.byte(at)?, Some(b':' | b'=' | b',')) {
            return Ok(None);
        }
        let at = self.run(at, 3, |byte| matches!(byte, b':' | b'=' | b',' | b'>'))?;
        let at = self.blanks(at)?;
        let at = self.quote(at)?.map_or(at, |quote| quote.end);
        let word = self.run(at, 24, |byte| byte.is_ascii_alphabetic() || byte == b'-')?;
        let value = self.blanks(word)?;
        let (gives, value) = match value > word && word > at {
            true if self.view.slice(at, word).eq_ignore_ascii_case(b"basic") => (SecretKind::Basic, value),
            true => (SecretKind::Bearer, value),
            false => (SecretKind::Bearer, at),
        };
        let end = self.run(value, VALUE, is_token)?;
        let text = self.value_at(value, end);
        let fits = match gives {
            SecretKind::Basic => credential::basic(text) || credential::key(text, true),
            _ => credential::key(text, true),
        };
        Ok(fits.then(|| self.piece(gives, value, end, 0.0)))
    }

    /// `Bearer …` (RFC 6750 section 2.1) where no header was seen.
    fn bearer(&self, end: usize) -> Result<Option<Given>, NeedMore> {
        let value = self.blanks(end)?;
        let end = self.run(value, VALUE, is_token)?;
        let text = self.value_at(value, end);
        let fits = text.len() >= 16 && text.iter().any(u8::is_ascii_digit) && credential::key(text, true);
        Ok(fits.then(|| self.piece(SecretKind::Bearer, value, end, 0.05)))
    }

    /// The userinfo of an address (RFC 3986 section 3.2.1). An `@` that was not escaped belongs to the password.
    fn address(&self, start: usize, end: usize) -> Result<Option<Given>, NeedMore> {
        let class = |byte: u8| {
            is_dense(byte)
                && !matches!(byte, b'/' | b'?' | b'#' | b'(' | b')' | b'|' | b',')
                && byte.is_ascii()
        };
        let stop = self.run(end, AUTHORITY, class)?;
        let authority = self.view.slice(end, stop);
        let Some(at) = authority.iter().rposition(|&byte| byte == b'@') else { return Ok(None) };
        let info = authority.get(..at).unwrap_or_default();
        let host = authority.get(at + 1).copied().unwrap_or(b' ');
        if !(host.is_ascii_alphanumeric() || matches!(host, b'[' | b'%' | b'{' | b'*' | b'$')) {
            return Ok(None);
        }
        let head = self.view.slice(start.saturating_sub(20), start);
        let letters = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b':');
        let length = head.iter().rev().take_while(letters).count();
        let scheme = self.view.slice(start - length, start).to_ascii_lowercase();
        let scheme = scheme.rsplit(|&byte| byte == b':').next().unwrap_or_default();
        let fits = length > 0 && !info.contains(&b'=') && credential::userinfo(info);
        let gives = match scheme {
            b"http" | b"https" => SecretKind::Basic,
            scheme if STORES.iter().any(|store| scheme.starts_with(store)) => SecretKind::Connection,
            _ => SecretKind::Userinfo,
        };
        Ok(fits.then(|| self.piece(gives, end, end + at, 0.0)))
    }

    /// `"…" == secret` behind `if`.
    fn compared(&self, at: usize) -> Result<Option<Given>, NeedMore> {
        let Some(quote) = self.quote(at)? else { return Ok(None) };
        let Some(end) = self.closed(quote, 128)? else { return Ok(None) };
        let at = self.blanks(end + 1)?;
        let operator = self.run(at, 4, |byte| matches!(byte, b'=' | b'!'))?;
        if operator - at < 2 {
            return Ok(None);
        }
        let name = self.blanks(operator)?;
        let stop = self.run(name, super::names::NAME, |byte| super::text::is_name(byte) || byte == b'$')?;
        let Some(meaning) = super::names::meaning(self.view.slice(name, stop)) else { return Ok(None) };
        Ok(self.quoted(meaning, quote.end, end, super::given::Form::Compared))
    }

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

    /// The option that names the user, on the command's line or on the lines that go on with it.
    fn curl(&self, end: usize) -> Result<Option<Given>, NeedMore> {
        for at in end..end + LINE {
            let Some(byte) = self.byte(at)? else { break };
            if byte == b'\n' && self.before(at) != Some(b'\\') {
                break;
            }
            if byte == b'-' && self.before(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
                if self.follows(at, "--user")? {
                    return self.user(at + 6);
                }
                if self.follows(at, "-u ")? {
                    return self.user(at + 3);
                }
            }
        }
        Ok(None)
    }

    /// `user:password` behind its option.
    fn user(&self, end: usize) -> Result<Option<Given>, NeedMore> {
        let at = self.run(end, 1, |byte| byte == b'=')?;
        let (start, end) = self.word(self.blanks(at)?)?;
        let text = self.view.slice(start, end);
        let Some(colon) = text.iter().position(|&byte| byte == b':') else { return Ok(None) };
        let digits = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        let empty = text.get(colon + 1..).is_none_or(<[u8]>::is_empty);
        let fits = !digits && !empty && !text.starts_with(b"-") && credential::userinfo(text);
        Ok(fits.then(|| self.piece(SecretKind::Command, start, end, 0.0)))
    }

    /// `-p` and the password in one word, among the options of `mysql` and its like.
    fn mysql(&self, end: usize) -> Result<Option<Given>, NeedMore> {
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
    pub(super) fn pass(&self, at: usize) -> Result<Option<Given>, NeedMore> {
        let (start, end) = self.word(at)?;
        let text = self.view.slice(start, end);
        let fits = !text.starts_with(b"-") && credential::password(text);
        Ok(fits.then(|| self.piece(SecretKind::Command, start, end, 0.0)))
    }

    fn net_user(&self, at: usize) -> Result<Option<Given>, NeedMore> {
        let (_, name) = self.word(self.blanks(at)?)?;
        let (start, end) = self.word(self.blanks(name)?)?;
        let option = self.blanks(end)?;
        let text = self.view.slice(start, end);
        let fits = self.is(option, b'/')? && !text.starts_with(b"/") && credential::password(text);
        Ok(fits.then(|| self.piece(SecretKind::Command, start, end, 0.0)))
    }

    fn identified(&self, at: usize) -> Result<Option<Given>, NeedMore> {
        let at = if self.follows(at, "password ")? { at + 9 } else { at };
        let Some(quote) = self.quote(at)?.filter(|quote| quote.byte != b'`') else { return Ok(None) };
        let Some(end) = self.closed(quote, 128)? else { return Ok(None) };
        let fits = credential::password(self.view.slice(quote.end, end));
        Ok(fits.then(|| self.piece(SecretKind::Password, quote.end, end, 0.0)))
    }

    /// A value, cut where it is as long as a piece can be.
    pub(super) fn piece(&self, gives: SecretKind, start: usize, end: usize, doubt: f32) -> Given {
        Given { gives, start, end, doubt, cut: end - start >= VALUE }
    }
}

/// What the credentials of a header are made of (RFC 9110 section 11.4, `token68`), and more that is seen.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':' | b'|' | b'!' | b'$' | b'{' | b'}' | b'*'
        )
}
