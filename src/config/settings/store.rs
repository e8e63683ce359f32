//! Where rows live, when not in a file.

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::{Period, Spanned, Supplied};
use crate::store::postgres::SslMode;

/// `[store]`. Without a `url`: one SQLite file in the data folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// A PostgreSQL database, `postgres://user:password@host:port/name`; a socket's folder is the parameter `host`.
    pub url: Option<Spanned<Supplied>>,
    /// How the connection is protected. Default `verify-full`; has no meaning on a socket of this machine.
    pub tls: SslMode,
    /// PEM file of authorities trusted beside the public ones.
    pub ca: Option<Spanned<PathBuf>>,
    /// The most connections of this process. Default 8.
    pub connections: NonZeroU32,
    /// How long a call waits for a connection, and how long a statement may take. Default 5 s.
    pub timeout: Spanned<Period>,
}

/// Eight, as far as the type system can tell.
const CONNECTIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(7);

impl Default for Store {
    fn default() -> Self {
        Self {
            url: None,
            tls: SslMode::default(),
            ca: None,
            connections: CONNECTIONS,
            timeout: Spanned::new(Period::secs(5)),
        }
    }
}

/// Parameters that a URL may have; TLS and time-outs are settings of the file.
const PARAMETERS: &[&str] = &["host", "port", "user", "dbname", "application_name", "options"];

/// What is wrong with a database's URL. No message shows a part of it: a password with an unescaped character may
/// be anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Another scheme, or none.
    #[error("not a PostgreSQL URL, write one such as \"postgres://user@host/name\"")]
    Scheme,
    /// Characters that a URL does not have.
    #[error("not a URL: in a user, password or name, all but letters and digits is written as %XX")]
    Text,
    /// The port is no port.
    #[error(
        "the port must be a number from 1 to 65535 (or the password has a character that must be written as %XX)"
    )]
    Port,
    /// A parameter that is not for here.
    #[error("a URL may have these parameters alone: {}", PARAMETERS.join(", "))]
    Parameter,
}

/// Whether this is the URL of a PostgreSQL database.
pub(crate) fn judge(url: &str) -> Result<(), UrlError> {
    let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
    let rest = rest.ok_or(UrlError::Scheme)?;
    let odd = |c: char| c.is_whitespace() || c.is_control() || "#\"<>\\^`{|}".contains(c);
    if rest.contains(odd) || !escapes(rest) {
        return Err(UrlError::Text);
    }
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split_once('/').map_or(place, |(authority, _)| authority);
    let host = match authority.split_once('@') {
        Some((_, host)) if host.contains('@') => return Err(UrlError::Text),
        Some((_, host)) => host,
        None => authority,
    };
    // An IPv6 address has colons of its own, in brackets.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    if let Some((_, port)) = after.split_once(':') {
        port.parse::<u16>().ok().filter(|&port| port != 0).ok_or(UrlError::Port)?;
    }
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("port", port)) if port.parse::<u16>().is_ok_and(|port| port != 0) => {}
            Some(("port", _)) => return Err(UrlError::Port),
            Some((name, _)) if PARAMETERS.contains(&name) => {}
            _ => return Err(UrlError::Parameter),
        }
    }
    Ok(())
}

/// Whether every `%` begins two hexadecimal digits.
fn escapes(text: &str) -> bool {
    let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
    text.split('%').skip(1).all(|after| {
        let mut bytes = after.bytes();
        hex(bytes.next()) && hex(bytes.next())
    })
}

#[cfg(test)]
mod tests {
    use super::{UrlError, judge};

    #[test]
    fn urls_are_judged_without_being_shown() {
        let cases = [
            ("postgres://localhost/portcullis", Ok(())),
            ("postgresql://me:pa%2Fss@db.example:6432/portcullis?application_name=gateway", Ok(())),
            ("postgres:///portcullis?host=/run/postgresql&user=me&port=5433", Ok(())),
            ("postgres://%2Frun%2Fpostgresql/portcullis", Ok(())),
            ("postgres://me@[::1]:5432/portcullis", Ok(())),
            ("postgres://me@[::1]/portcullis", Ok(())),
            ("postgres://", Ok(())),
            ("mysql://localhost/portcullis", Err(UrlError::Scheme)),
            ("host=localhost dbname=portcullis", Err(UrlError::Scheme)),
            ("", Err(UrlError::Scheme)),
            ("postgres://me:pa#ss@localhost/portcullis", Err(UrlError::Text)),
            ("postgres://me:pa@ss@localhost/portcullis", Err(UrlError::Text)),
            ("postgres://me:pa%ss@localhost/portcullis", Err(UrlError::Text)),
            ("postgres://localhost/port cullis", Err(UrlError::Text)),
            ("postgres://localhost:0/portcullis", Err(UrlError::Port)),
            ("postgres://me:pa/ss@localhost/portcullis", Err(UrlError::Port)),
            ("postgres://localhost:65536", Err(UrlError::Port)),
            ("postgres://localhost?port=x", Err(UrlError::Port)),
            ("postgres://localhost/portcullis?sslmode=prefer", Err(UrlError::Parameter)),
            ("postgres://me:pa?ss@localhost/portcullis", Err(UrlError::Port)),
        ];
        for (url, want) in cases {
            assert_eq!(judge(url), want, "{url}");
        }
    }
}
