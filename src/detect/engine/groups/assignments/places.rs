//! From a word that was found to the value of its place: headers, addresses, comparisons. Commands are in
//! [`command`](super::command), names in [`named`](super::named).

use super::cookies::cookie_members;
use super::form::ValueForm;
use super::search::Hit;
use super::seed;
use super::shape::looks_like_key;
use super::text::{NeedMore, WindowText, is_dense, is_name};
use super::value::{AssignedValue, ContentAndRest, LONGEST, PlaceContent, piece};
use super::word_context::WordContext;
use crate::detect::naming::{self, NAME};
use crate::detect::rules::SecretKind;
use crate::detect::validate::credential;

/// How much is read for a seed, in bytes: its words, and what parts them.
const SEED: usize = 400;

/// Schemes of authentication whose credentials are one word.
const SCHEMES: [&str; 10] =
    ["basic", "bearer", "token", "apikey", "api-key", "negotiate", "ntlm", "oauth", "jwt", "dpop"];

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

impl WindowText<'_> {
    /// What the place has whose word is `hit`.
    pub(super) fn content_of(&self, hit: Hit) -> ContentAndRest {
        let Hit { start, end, place } = hit;
        let found = match place {
            WordContext::Name => return self.named(start, end),
            WordContext::Authorization => self.authorization(end)?,
            WordContext::Bearer => self.bearer(end)?,
            WordContext::Address => self.address(start, end)?,
            WordContext::Compared => self.compared(end)?,
            WordContext::Mysql => match self.opened(end)? {
                Some(value) => Some(value),
                None => self.mysql(end)?,
            },
            WordContext::DataSource => self.data_source(end)?,
            WordContext::Option(options) => self.behind_option(start, options)?,
            WordContext::User(options, sign) => self.user_behind(start, options, sign)?,
            WordContext::Slashed => self.slashed(end)?,
            WordContext::NetUser => self.net_user(end)?,
            WordContext::NetUse => self.net_use(end)?,
            WordContext::Echo => self.piped(end, false)?,
            WordContext::Printf => self.piped(end, true)?,
            WordContext::Word(n) => self.nth_word(end, n)?,
            WordContext::Htpasswd => self.htpasswd(end)?,
            WordContext::Share => self.share(start, end)?,
            WordContext::Impacket => self.impacket(end)?,
            WordContext::FileTransfer => self.file_transfer(start, end)?,
            WordContext::HereString => self.here_string(start, end)?,
            WordContext::SecureString => {
                let option = if self.follows(end, "-string ")? { self.blanks(end + 8)? } else { end };
                self.identified(option)?
            }
            WordContext::Identified => self.identified(end)?,
            WordContext::Call(n) => self.argument(end, n)?,
            WordContext::Setting => self.setting(end)?,
            WordContext::UserSetting => self.user(end, b':')?,
            WordContext::Masked => self.masked(end)?,
            WordContext::SecretVariable => self.secret_variable(start, end)?,
            WordContext::Parameter => self.parameter(end)?,
            WordContext::NetworkCode => self.network_code(end)?,
            WordContext::Account => self.account(start, end)?,
            WordContext::AccessList => self.access_list(start, end)?,
            WordContext::Sent => self.sent(start, end)?,
            WordContext::Port => self.password_file(start, end)?,
            WordContext::Pair => match self.pair(end)? {
                Some(value) => Some(value),
                None => return self.named(start, self.run(start, NAME, is_name)?),
            },
            WordContext::AwsKeyId => self.aws_key(end)?,
            WordContext::Basic => self.basic(end)?,
            WordContext::KeyNumber => self.key_number(end)?,
            WordContext::Seed => self.seed_phrase(end)?,
            WordContext::Foreign => self.foreign(start, end)?,
            WordContext::Said => self.said_word(end)?,
            WordContext::Input => self.input(end)?,
            // The first letter of the attribute is part of the word.
            WordContext::Member => self.member(end - 1)?,
            WordContext::SessionCookie => self.session_cookie(start, end)?,
            WordContext::CookieHeader => {
                return Ok((end, PlaceContent::List(self.cookie_header(start, end)?)));
            }
            WordContext::CookieMembers => return Ok((end, PlaceContent::List(cookie_members(end)))),
            WordContext::CookieCall => self.cookie_call(end)?,
            WordContext::CookieFile => self.cookie_file(start, end)?,
        };
        Ok((hit.behind(), found.into()))
    }

    /// `Authorization: Basic …` (RFC 9110 section 11.6.2), in a header, a shell's string or an object of JSON.
    fn authorization(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let at = self.quote(end)?.map_or(end, |quote| quote.end);
        let name = self.blanks(at)?;
        let at = self.run(name, 3, |byte| matches!(byte, b':' | b'=' | b',' | b'>'))?;
        // nginx's `proxy_set_header Authorization "Basic …"`.
        if at == name && self.quote(at)?.is_none() {
            return Ok(None);
        }
        let at = self.blanks(at)?;
        self.credentials(self.quote(at)?.map_or(at, |quote| quote.end))
    }

    /// The credentials at `at`, behind a scheme or alone (RFC 9110 section 11.4).
    fn credentials(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let word = self.run(at, 24, is_scheme)?;
        let value = self.blanks(word)?;
        let (kind, value) = match value > word && word > at {
            true if self.view.slice(at, word).eq_ignore_ascii_case(b"basic") => (SecretKind::Basic, value),
            true => (SecretKind::Bearer, value),
            false => (SecretKind::Bearer, at),
        };
        let end = self.run(value, LONGEST, is_token)?;
        let text = self.value_at(value, end);
        let fits = match kind {
            SecretKind::Basic => credential::basic(text) || credential::key(text, true),
            _ => credential::key(text, true),
        };
        Ok(fits.then(|| piece(kind, value, end, 0.0)))
    }

    /// The credentials with which a text begins at `start` that is a header's value: behind a scheme that is known, or, where it is
    /// `whole`, a long key.
    pub(super) fn header_value(&self, start: usize, whole: bool) -> Result<Option<AssignedValue>, NeedMore> {
        let at = self.space(start)?;
        let word = self.run(at, 24, is_scheme)?;
        let scheme = self.view.slice(at, word);
        let known = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
        if known && self.blanks(word)? > word {
            return self.credentials(at);
        }
        if !whole {
            return Ok(None);
        }
        let end = self.run(at, LONGEST, is_token)?;
        let text = self.value_at(at, end);
        let fits = looks_like_key(text) && credential::key(text, true);
        Ok(fits.then(|| piece(SecretKind::Bearer, at, end, 0.0)))
    }

    /// `Bearer …` (RFC 6750 section 2.1) where no header was seen.
    fn bearer(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let value = self.blanks(end)?;
        let end = self.run(value, LONGEST, is_token)?;
        let text = self.value_at(value, end);
        let fits = text.len() >= 16 && text.iter().any(u8::is_ascii_digit) && credential::key(text, true);
        Ok(fits.then(|| piece(SecretKind::Bearer, value, end, 0.05)))
    }

    /// The userinfo of an address (RFC 3986 section 3.2.1). An `@` that was not escaped belongs to the password, and so do
    /// other signs where a user's name stands before it.
    fn address(&self, start: usize, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let strict = |byte: u8| {
            is_dense(byte)
                && !matches!(byte, b'/' | b'?' | b'#' | b'(' | b')' | b'|' | b',' | b'=')
                && byte.is_ascii()
        };
        let stop = self.run(end, LONGEST, strict)?;
        let authority = self.view.slice(end, stop);
        let is_secret = |at: &usize| credential::userinfo(self.view.slice(end, end + at));
        let at = authority.iter().rposition(|&byte| byte == b'@').filter(|&at| is_host(authority, at + 1));
        let at = match at.filter(is_secret) {
            Some(at) => Some(at),
            // No host is as long.
            None if stop == end + LONGEST => Some(LONGEST).filter(is_secret),
            None if self.byte(stop)?.is_some_and(is_written) => {
                let stop = self.next_address(end)?;
                let store = self.scheme(start).is_some_and(|scheme| is_store(&scheme));
                unescaped(self.view.slice(end, stop), store).filter(is_secret)
            }
            None => None,
        };
        let Some(at) = at else { return Ok(None) };
        let Some(scheme) = self.scheme(start) else { return Ok(None) };
        let kind = match scheme.as_slice() {
            b"http" | b"https" => SecretKind::Basic,
            scheme if is_store(scheme) => SecretKind::Connection,
            _ => SecretKind::Userinfo,
        };
        Ok(Some(piece(kind, end, end + at, 0.0)))
    }

    /// Where the address whose authority begins at `start` ends at the latest, if a user and a password may stand there:
    /// no password holds the beginning of another address.
    fn next_address(&self, start: usize) -> Result<usize, NeedMore> {
        let limit = start + LONGEST;
        let mut at = self.run(start, LONGEST, is_user)?;
        while at < limit && at > start && self.byte(at)? == Some(b':') && !self.follows(at, "://")? {
            at = self.run(at + 1, limit - at - 1, |byte| is_written(byte) && byte != b':')?;
        }
        Ok(at)
    }

    /// What a driver opens whose name ends before `end`: `sql.Open("mysql", "user:password@tcp(host)/db")`, `mysql.Open("…")`.
    fn opened(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        if self.follows(end, ".open(")? {
            return self.source(end + 6);
        }
        // PHP's `mysqli("host", "user", "password")`.
        for call in ["i(", "i_connect(", "_connect(", ".connect("] {
            if self.follows(end, call)? {
                return self.argument(end + call.len(), 2);
            }
        }
        let Some(quote) = self.quote(end)? else { return Ok(None) };
        let comma = self.blanks(quote.end)?;
        if self.is(comma, b',')? { self.source(self.space(comma + 1)?) } else { Ok(None) }
    }

    /// What is given to the name of a source of data that goes on at `end`.
    fn data_source(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let stop = self.run(end, NAME, is_name)?;
        let quote = self.quote(stop)?.map_or(stop, |quote| quote.end);
        let sign = self.blanks(quote)?;
        let behind = self.run(sign, 2, |byte| matches!(byte, b':' | b'='))?;
        if behind > sign { self.source(self.blanks(behind)?) } else { Ok(None) }
    }

    /// User and password of a source of data as drivers of Go write it, `user:password@tcp(host)/db`, at `at`.
    fn source(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let start = self.quote(at)?.map_or(at, |quote| quote.end);
        let user = self.run(start, NAME, is_user)?;
        if user == start || !self.is(user, b':')? {
            return Ok(None);
        }
        let stop = self.run(user + 1, LONGEST, is_written)?;
        let text = self.view.slice(start, stop);
        // No host is as long.
        let cut = stop == user + 1 + LONGEST;
        let net = [b"@tcp(".as_slice(), b"@unix(", b"@tcp6("];
        let begins = |at: &usize| {
            let rest = text.get(*at..).unwrap_or_default();
            net.iter().any(|net| rest.starts_with(net))
        };
        let Some(length) = (0..text.len()).rev().find(begins).or_else(|| cut.then_some(LONGEST)) else {
            return Ok(None);
        };
        let fits = credential::userinfo(self.value_at(start, start + length));
        Ok(fits.then(|| piece(SecretKind::Connection, start, start + length, 0.0)))
    }

    /// The scheme that ends before `start`, in lower case; of several, such as `jdbc:mysql`, the last.
    fn scheme(&self, start: usize) -> Option<Vec<u8>> {
        let head = self.view.slice(start.saturating_sub(20), start);
        let letters = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b':');
        let length = head.iter().rev().take_while(letters).count();
        let all = self.view.slice(start - length, start).to_ascii_lowercase();
        let last = all.rsplit(|&byte| byte == b':').next().unwrap_or_default();
        (length > 0).then(|| last.to_vec())
    }

    /// `"…" == secret` behind `if`.
    fn compared(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let Some(quote) = self.quote(at)? else { return Ok(None) };
        let Some(end) = self.closed(quote, LONGEST)? else { return Ok(None) };
        let at = self.blanks(end + 1)?;
        let operator = self.run(at, 4, |byte| matches!(byte, b'=' | b'!'))?;
        if operator - at < 2 {
            return Ok(None);
        }
        let name = self.blanks(operator)?;
        let stop = self.run(name, NAME, |byte| is_name(byte) || byte == b'$')?;
        let Some(meaning) = naming::meaning(self.view.slice(name, stop)) else { return Ok(None) };
        Ok(self.quoted(meaning, quote.end, end, ValueForm::Compared))
    }

    /// The words of a wallet's seed, numbered or not, behind what says that they are.
    pub(super) fn seed_phrase(&self, end: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let mut at = self.run(end, NAME, is_name)?;
        // `is`, `(12 words):`, `for my wallet:`.
        for _ in 0..4 {
            at = self.run(at, NAME, seed::parts)?;
            let word = self.run(at, NAME, |byte| !byte.is_ascii_whitespace())?;
            let text = self.view.slice(at, word);
            let says = text.ends_with(b":") || text.starts_with(b"(");
            if !says
                && !matches!(text, b"is" | b"was" | b"are" | b"for" | b"my" | b"of" | b"this" | b"words)")
            {
                break;
            }
            at = word;
        }
        // Most texts tell soon that they are no seed.
        self.byte(self.run(at, 3, |byte| !byte.is_ascii_uppercase())?)?;
        let text = self.view.slice(at, at + SEED);
        let found = seed::seed(text);
        let open = found.as_ref().map_or(seed::may_go_on(text), |found| {
            seed::may_go_on(text.get(found.end..).unwrap_or_default())
        });
        if open && text.len() < SEED && !self.view.complete {
            return Err(NeedMore);
        }
        Ok(found.map(|words| piece(SecretKind::Password, at + words.start, at + words.end, 0.0)))
    }

    fn identified(&self, at: usize) -> Result<Option<AssignedValue>, NeedMore> {
        let at = if self.follows(at, "password ")? { at + 9 } else { at };
        let Some(quote) = self.quote(at)?.filter(|quote| quote.byte != b'`') else { return Ok(None) };
        let Some(end) = self.closed_or_cut(quote)? else { return Ok(None) };
        let fits = credential::password(self.view.slice(quote.end, end));
        Ok(fits.then(|| piece(SecretKind::Password, quote.end, end, 0.0)))
    }
}

/// Whether a host may begin at `at` of an authority.
fn is_host(authority: &[u8], at: usize) -> bool {
    let first = authority.get(at).copied().unwrap_or(b' ');
    first.is_ascii_alphanumeric() || matches!(first, b'[' | b'%' | b'{' | b'*' | b'$')
}

/// Whether it ends an address wherever that stands.
const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

/// Whether it may stand in an address, whatever was to be escaped.
const fn is_written(byte: u8) -> bool {
    byte.is_ascii_graphic() && !is_delimiter(byte)
}

/// Whether it may stand in a user's name.
fn is_user(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'%' | b'+' | b'~')
}

fn is_store(scheme: &[u8]) -> bool {
    STORES.iter().any(|store| scheme.starts_with(store))
}

/// Where the `@` stands behind a user's name and a password with signs that should have been escaped, in a text up to the
/// next address. What begins with a port is a path with an `@`; addresses of stores have no fragment, and a query behind a
/// database alone.
fn unescaped(text: &[u8], store: bool) -> Option<usize> {
    let user = text.iter().take_while(|&&byte| is_user(byte)).count();
    let rest = text.get(user + 1..).filter(|_| user > 0 && text.get(user) == Some(&b':'))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if matches!(rest.get(digits), Some(b'/') | None)
        || matches!(rest.get(digits), Some(b'?' | b'#')) && !store
    {
        return None;
    }
    let first = rest.iter().position(|&byte| byte == b'@')?;
    let behind = rest.get(first..)?;
    let path = behind.iter().position(|&byte| byte == b'/').map_or(rest.len(), |at| first + at);
    let at = rest.get(..path)?.iter().rposition(|&byte| byte == b'@')?;
    is_host(rest, at + 1).then_some(user + 1 + at)
}

/// What the name of a scheme of authentication is made of.
fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'-'
}

/// What the credentials of a header are made of (RFC 9110 section 11.4, `token68`), and more that is seen.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':' | b'|' | b'!' | b'$' | b'{' | b'}' | b'*'
        )
}
