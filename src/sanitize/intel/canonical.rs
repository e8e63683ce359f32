//! [`Canonical`]: one spelling for all spellings of a URL or domain.
//!
//! After Google Safe Browsing's rules for URLs and hashing (v4 and v5, "Canonicalization", "Host-suffix path-prefix
//! expressions") over a URL parsed as browsers do (WHATWG URL): that brings IDNA (UTS 46), all spellings of IPv4
//! addresses, and RFC 3986's dot segments. Two rules are ours: a scheme's default port is dropped, and host suffixes
//! end at the registrable domain, by the public suffix list.

use std::net::Ipv6Addr;

use crate::base::path::percent_decoded;
use crate::net::Url;
use crate::sanitize::Link;

/// Longer than any URL that a browser follows; what is longer is not looked at.
const LONGEST: usize = 64 << 10;

/// Path prefixes that are tried, besides the whole path (Safe Browsing's number).
const PREFIXES: usize = 4;

/// Rounds of percent-decoding; who nests deeper keeps the rest.
const ROUNDS: usize = 16;

/// Schemes of links that lead to a host.
const SCHEMES: [&str; 5] = ["http", "https", "ftp", "ws", "wss"];

/// A URL or a domain in its one spelling: equal if they lead to the same place.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canonical {
    /// `scheme://host[:port]/path[?query]`, or a host.
    text: String,
    /// Where the host begins and ends in it.
    host: (usize, usize),
    /// Where the path begins in it.
    path: usize,
}

impl Canonical {
    /// What a link leads to; `None` if it leads to no host, or is none.
    pub fn of(link: &Link) -> Option<Self> {
        match link {
            Link::Url(url) => Self::url(url),
            Link::Domain(domain) => Self::domain(domain),
        }
    }

    /// A URL as it is written. Without a scheme it is taken for `http`.
    pub fn url(written: &str) -> Option<Self> {
        let written = written.trim_matches(|c: char| c.is_ascii_control() || c == ' ');
        if written.len() > LONGEST {
            return None;
        }
        let parsed = match scheme(written) {
            Some(_) => Url::parse(written),
            None => Url::parse(&format!("http://{}", written.trim_start_matches(['/', '\\']))),
        };
        let url = parsed.ok().filter(|url| SCHEMES.contains(&url.scheme()))?;
        let host = host(url.host_str()?)?;
        let mut text = format!("{}://", url.scheme());
        let begin = text.len();
        text.push_str(&host);
        let end = text.len();
        if let Some(port) = url.port() {
            text.push_str(&format!(":{port}"));
        }
        let path = text.len();
        text.push_str(&folded(&escaped(&unescaped(url.path().as_bytes()))));
        if let Some(query) = url.query() {
            text.push('?');
            text.push_str(&escaped(&unescaped(query.as_bytes())));
        }
        Some(Self { text, host: (begin, end), path })
    }

    /// A host as it is written: a name or an address, perhaps with a port, which is dropped.
    pub fn domain(written: &str) -> Option<Self> {
        let written = written.trim_matches(|c: char| c.is_ascii_control() || c == ' ');
        // A bare IPv6 address stands in no brackets here.
        let spelt = match written.parse::<Ipv6Addr>() {
            Ok(address) => format!("http://[{address}]/"),
            Err(_) if written.contains(['/', '\\', '?', '#', '@']) => return None,
            Err(_) => format!("http://{written}/"),
        };
        let url = Self::url(&spelt)?;
        let text = url.host().to_owned();
        let end = text.len();
        Some(Self { text, host: (0, end), path: end })
    }

    /// The domain or address that it leads to, as a canonical domain.
    pub fn to_domain(&self) -> Self {
        let text = self.host().to_owned();
        let end = text.len();
        Self { text, host: (0, end), path: end }
    }

    /// A name in lower case and ASCII (`xn--…`) without a dot at its end, an IPv4 address in dotted decimals, or an
    /// IPv6 address in brackets (RFC 5952).
    pub fn host(&self) -> &str {
        self.text.get(self.host.0..self.host.1).unwrap_or_default()
    }

    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a host by itself.
    pub fn is_domain(&self) -> bool {
        self.path == self.text.len() && self.host.0 == 0
    }

    /// Path and query, from `/`; empty for a host by itself.
    fn place(&self) -> &str {
        self.text.get(self.path..).unwrap_or_default()
    }

    /// The host and its suffixes, longest first, down to the registrable domain. An address has none but itself, and
    /// neither has a name that is a public suffix.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        let host = self.host();
        let least =
            if address(host) { host.len() } else { psl::domain_str(host).map_or(host.len(), str::len) };
        let dots = host.match_indices('.').filter_map(|(at, _)| host.get(at + 1..));
        std::iter::once(host).chain(dots).take_while(move |suffix| suffix.len() >= least)
    }

    /// Its places, the exact one first: path and query, the path alone, then prefixes of the path that end in `/`,
    /// from the root. None for a host by itself. Scheme and port are no part of them.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        let whole = self.place();
        let path = whole.split('?').next().unwrap_or_default();
        let prefixes = path.match_indices('/').filter_map(|(at, _)| path.get(..=at)).take(PREFIXES);
        let bare = (path.len() < whole.len()).then_some(path);
        let shorter = prefixes.filter(move |prefix| prefix.len() < path.len());
        (!whole.is_empty()).then_some(whole).into_iter().chain(bare).chain(shorter)
    }
}

impl std::fmt::Debug for Canonical {
    // A link may hold what was to be redacted.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_domain() { "Canonical(domain)" } else { "Canonical(url)" })
    }
}

/// The scheme, if it begins with one; `host:port` has none.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.\t\n\r".contains(&b));
    let port = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let only_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    (named && !(only_port && (scheme.contains('.') || scheme == "localhost"))).then_some(scheme)
}

/// Whether a canonical host is an address.
fn address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A parsed host without dots at its ends and without empty labels.
fn host(parsed: &str) -> Option<String> {
    let labels: Vec<&str> = parsed.split('.').filter(|label| !label.is_empty()).collect();
    let joined = labels.join(".");
    // `1.2.3.4..` is a name to the parser and an address to a resolver.
    let again = if joined.len() < parsed.len() {
        Url::parse(&format!("http://{joined}/")).ok()?.host_str()?.to_owned()
    } else {
        joined
    };
    (!again.is_empty()).then_some(again)
}

/// Percent-decoded until nothing is left to decode.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..ROUNDS {
        if !bytes.contains(&b'%') {
            break;
        }
        let out = percent_decoded(&bytes);
        if out.len() == bytes.len() {
            break;
        }
        bytes = out;
    }
    bytes
}

/// What is no visible ASCII, `#` and `%` percent-encoded, once.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte <= b' ' || byte >= 0x7f || byte == b'#' || byte == b'%' {
            out.push_str(&format!("%{byte:02X}"));
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

/// A path without dot segments (RFC 3986 section 5.2.4) and without empty segments.
fn folded(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut open = false;
    for segment in path.split('/') {
        open = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let end = if open && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}", kept.join("/"))
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
