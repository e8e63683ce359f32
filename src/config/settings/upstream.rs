//! Where proxied requests go.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use http::Uri;
use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;
use crate::config::settings::Aws;
use crate::config::{Credential, Spanned};
use crate::gateway::upstream::{BreakerLimits, Ejection, Http, Probe, RetryPolicy, Timeouts};

/// One `[upstreams.NAME]`: peers that are as good as each other.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// At least one; all of one scheme.
    pub peers: Vec<Spanned<Peer>>,
    /// Put before every request's path, such as `/openai`; begins with `/`, does not end with it. Default none.
    #[serde(default)]
    pub base: Option<Spanned<String>>,
    /// TLS towards `https` peers.
    #[serde(default)]
    pub tls: Option<Spanned<UpstreamTls>>,
    /// Which HTTP is spoken.
    #[serde(default)]
    pub http: Http,
    /// How long each step may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Fields set on every request on its way out, over what the caller sent.
    #[serde(default)]
    pub headers: BTreeMap<Spanned<String>, Spanned<Credential>>,
    /// Keys with which requests are signed; loading fills in those of the environment, see [`Aws::implied`].
    #[serde(default)]
    pub aws: Option<Spanned<Aws>>,
    /// How a peer is chosen.
    #[serde(default)]
    pub balance: Balance,
    /// Which requests are sent twice.
    #[serde(default)]
    pub repeat: RetryPolicy,
    /// How peers are asked whether they are well; nobody asks unless the file has the table.
    #[serde(default)]
    pub health: Option<Probe>,
    /// When failures put a peer out.
    #[serde(default)]
    pub outliers: Ejection,
    /// How much it gets, and when nothing; any number and always unless the file has the table.
    #[serde(default)]
    pub breaker: Option<BreakerLimits>,
}

impl Upstream {
    /// One peer, all else as by default.
    pub(crate) fn to(peer: Peer) -> Self {
        Self {
            peers: vec![Spanned::new(peer)],
            base: None,
            tls: None,
            http: Http::default(),
            timeouts: Timeouts::default(),
            headers: BTreeMap::new(),
            aws: None,
            balance: Balance::default(),
            repeat: RetryPolicy::default(),
            health: None,
            outliers: Ejection::default(),
            breaker: None,
        }
    }

    /// TLS settings, the default where the file says nothing.
    pub fn tls(&self) -> UpstreamTls {
        self.tls.as_deref().cloned().unwrap_or_default()
    }
}

/// TLS towards an upstream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UpstreamTls {
    /// Check certificate chain and name. Default on; off is for tests alone.
    pub verify: Spanned<bool>,
    /// The name asked for and checked. `None`: the peer's host.
    pub sni: Option<Spanned<String>>,
    /// PEM file of authorities trusted instead of the system's.
    pub ca: Option<Spanned<PathBuf>>,
}

impl Default for UpstreamTls {
    fn default() -> Self {
        Self { verify: Spanned::new(true), sni: None, ca: None }
    }
}

/// How a peer is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Balance {
    /// Each in turn.
    #[default]
    RoundRobin,
}

/// How a peer is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear; port 80 unless said.
    Http,
    /// With TLS; port 443 unless said.
    Https,
}

impl Scheme {
    /// The port that need not be said.
    pub const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// One peer: an `http` or `https` URL without path, query or user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    scheme: Scheme,
    host: String,
    port: u16,
}

/// Why a text is not a peer's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// Not a URL at all.
    #[error("not a URL, write one such as \"https://api.openai.com\"")]
    Url,
    /// Neither `http` nor `https`.
    #[error("the URL must begin with http:// or https://")]
    Scheme,
    /// `user:password@`.
    #[error("a URL with a user or password is refused, put credentials under `headers`")]
    User,
    /// The port is no number from 1 to 65535.
    #[error("the port must be a number from 1 to 65535")]
    Port,
    /// `?` or `#`.
    #[error("the URL must not have a query or fragment")]
    Query,
    /// A path where none belongs.
    #[error("a peer has no path, put it under `base`")]
    Path,
}

impl Peer {
    /// How it is spoken to.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Name or IP address, lower-cased; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// As a `Host` field has it: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }

    /// Reads a URL without a path.
    pub fn parse(url: &str) -> Result<Self, PeerError> {
        match Self::with_base(url)? {
            (peer, None) => Ok(peer),
            (_, Some(_)) => Err(PeerError::Path),
        }
    }

    /// Reads a URL that may have a path, which comes back without its last `/`.
    pub fn with_base(url: &str) -> Result<(Self, Option<String>), PeerError> {
        if url.contains(['?', '#']) {
            return Err(PeerError::Query);
        }
        let uri: Uri = url.parse().map_err(|_| PeerError::Url)?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            Some(_) => return Err(PeerError::Scheme),
            None => return Err(PeerError::Url),
        };
        let authority = uri.authority().ok_or(PeerError::Url)?;
        if authority.as_str().contains('@') {
            return Err(PeerError::User);
        }
        let host = authority.host();
        // `Authority::port` calls a port that is no number absent.
        let port = match authority.as_str().strip_prefix(host).and_then(|rest| rest.strip_prefix(':')) {
            None => scheme.port(),
            Some(port) => port.parse().ok().filter(|&p| p != 0).ok_or(PeerError::Port)?,
        };
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        if bare.is_empty() {
            return Err(PeerError::Url);
        }
        let base = uri.path().trim_end_matches('/');
        let base = (!base.is_empty()).then(|| base.to_owned());
        Ok((Self { scheme, host: bare.to_ascii_lowercase(), port }, base))
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl<'de> Deserialize<'de> for Peer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a URL such as \"https://api.openai.com\"", parse: Self::parse }
            .read(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::{Peer, PeerError};

    #[test]
    fn peers_read_as_urls() {
        let cases = [
            ("https://api.openai.com", Ok(("api.openai.com", 443, "api.openai.com"))),
            ("HTTPS://API.openai.com/", Ok(("api.openai.com", 443, "api.openai.com"))),
            ("http://127.0.0.1:9100", Ok(("127.0.0.1", 9100, "127.0.0.1:9100"))),
            ("http://localhost:443", Ok(("localhost", 443, "localhost:443"))),
            ("http://[::1]:80", Ok(("::1", 80, "[::1]"))),
            ("http://[::1]:9100", Ok(("::1", 9100, "[::1]:9100"))),
            ("api.openai.com", Err(PeerError::Url)),
            ("", Err(PeerError::Url)),
            ("https://", Err(PeerError::Url)),
            ("http://:80", Err(PeerError::Url)),
            ("http://a b", Err(PeerError::Url)),
            ("ftp://localhost", Err(PeerError::Scheme)),
            ("http://me:pass@localhost", Err(PeerError::User)),
            ("http://localhost:0", Err(PeerError::Port)),
            ("http://localhost:99999", Err(PeerError::Port)),
            ("http://localhost:", Err(PeerError::Port)),
            ("http://localhost?x=1", Err(PeerError::Query)),
            ("http://localhost/v1", Err(PeerError::Path)),
        ];
        for (url, want) in cases {
            let got = Peer::parse(url);
            let got = got.as_ref().map(|p| (p.host(), p.port(), p.authority()));
            assert_eq!(got, want.as_ref().map(|&(h, p, a)| (h, p, a.to_owned())), "{url}");
        }
    }

    #[test]
    fn a_base_path_is_split_off() {
        let (peer, base) = Peer::with_base("https://api.openai.com:8443/x/v1/").unwrap();
        assert_eq!(
            (peer.to_string().as_str(), base.as_deref()),
            ("https://api.openai.com:8443", Some("/x/v1"))
        );
    }
}
