//! Origins of web pages, as browsers write them (HTML, "Origin"; Fetch, "Origin header"), and which of them are allowed.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;

/// What a page says that has no origin of its own: one in a sandbox, or out of a file.
const OPAQUE: &str = "null";

/// The origin that a request names; none of several, of which nobody could say which is meant.
pub fn named_in(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut all = headers.get_all(ORIGIN).iter();
    let (one, None) = (all.next()?, all.next()) else { return None };
    Some(one)
}

/// Scheme, host and port, in small letters; without the port that is the scheme's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// Reads one as a browser writes it; `None` for what is none. A dot at its host's end makes it another origin to
    /// browsers, and none here.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (scheme, authority) = text.split_once("://")?;
        let begins = scheme.starts_with(|first: char| first.is_ascii_lowercase());
        let goes_on = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !begins || !goes_on {
            return None;
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                (format!("[{}]", address.parse::<Ipv6Addr>().ok()?), port)
            }
            None => {
                let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
                (is_name(host).then(|| host.to_owned())?, port)
            }
        };
        let port = match port.strip_prefix(':') {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok().filter(|port| *port != 0)?)
            }
            None if port.is_empty() => None,
            _ => return None,
        };
        let own = match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        Some(Self { scheme: scheme.to_owned(), host, port: port.filter(|port| Some(*port) != own) })
    }

    /// Whether it is the origin of a server that is asked for as `host`, which may have a port. Over TLS, a page that came
    /// without is of another one: anybody on its way could have written it.
    pub fn is_at(&self, host: &str, tls: bool) -> bool {
        (!tls || self.scheme == "https")
            && Self::parse(&format!("{}://{host}", self.scheme)).as_ref() == Some(self)
    }
}

/// Whether a host is written as a name or an IPv4 address.
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    host.split('.').all(is_label)
}

/// Origins that are allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginRule {
    /// `*`: all.
    Any,
    /// `null`: pages that have none.
    Opaque,
    /// This one.
    Exact(Origin),
    /// `https://*.example.com`: all whose host is one or more labels before this one's.
    Below(Origin),
}

/// Says that a text is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an origin, write one such as \"https://app.example.com\" or \"https://*.example.com\", without a path"
)]
pub struct OriginError;

impl OriginRule {
    /// Reads the written form.
    ///
    /// # Errors
    /// What is no origin, and a `*` that does not stand for the first labels of a name.
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        match text {
            "*" => return Ok(Self::Any),
            OPAQUE => return Ok(Self::Opaque),
            _ => {}
        }
        let below = text.split_once("://*.").map(|(scheme, host)| (format!("{scheme}://{host}"), host));
        let Some((parent, _)) = below else {
            return Origin::parse(text).map(Self::Exact).ok_or(OriginError);
        };
        // Nothing is below an address.
        let is_name =
            |origin: &Origin| !origin.host.starts_with('[') && origin.host.parse::<Ipv4Addr>().is_err();
        Origin::parse(&parent).filter(is_name).map(Self::Below).ok_or(OriginError)
    }

    /// Whether it allows `named`, which was read as `origin` if it is one.
    fn allows(&self, named: &str, origin: Option<&Origin>) -> bool {
        match self {
            Self::Any => true,
            Self::Opaque => named == OPAQUE,
            Self::Exact(rule) => origin == Some(rule),
            Self::Below(rule) => origin.is_some_and(|origin| {
                let labels = origin.host.strip_suffix(rule.host.as_str());
                let below = labels.is_some_and(|labels| labels.ends_with('.'));
                below && (&origin.scheme, origin.port) == (&rule.scheme, rule.port)
            }),
        }
    }
}

impl<'de> Deserialize<'de> for OriginRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "an origin such as \"https://app.example.com\"", parse: Self::parse }
            .read(deserializer)
    }
}

/// Whether one of `rules` allows what a request names as its origin.
pub fn is_allowed(rules: &[OriginRule], named: &HeaderValue) -> bool {
    let Ok(named) = named.to_str() else { return false };
    let origin = Origin::parse(named);
    rules.iter().any(|rule| rule.allows(named, origin.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_allowed_as_it_is_compared_by_browsers() {
        let rows = [
            ("https://app.example.com", "https://app.example.com", true),
            ("https://app.example.com", "HTTPS://App.Example.COM", true),
            ("HTTPS://App.Example.com:443", "https://app.example.com", true),
            ("https://app.example.com", "https://app.example.com:443", true),
            ("http://app.example.com:80", "http://app.example.com", true),
            ("https://app.example.com", "https://app.example.com:80", false),
            ("https://app.example.com", "http://app.example.com", false),
            ("https://app.example.com:8443", "https://app.example.com", false),
            ("https://app.example.com:8443", "https://app.example.com:8443", true),
            ("https://app.example.com", "https://app.example.com.", false),
            ("https://app.example.com", "https://app.example.com/", false),
            ("https://app.example.com", "https://app.example.com.evil.test", false),
            ("https://app.example.com", "https://evil.test/https://app.example.com", false),
            ("https://app.example.com", "https://user@app.example.com", false),
            ("https://app.example.com", "https://app.example.com:", false),
            ("https://app.example.com", "https://app.example.com:+443", false),
            ("https://app.example.com", "https://app.example.com:70000", false),
            ("https://app.example.com", "null", false),
            ("https://app.example.com", "", false),
            ("https://*.example.com", "https://a.example.com", true),
            ("https://*.example.com", "https://b.A.example.com", true),
            ("https://*.example.com", "https://example.com", false),
            ("https://*.example.com", "https://.example.com", false),
            ("https://*.example.com", "https://a..example.com", false),
            ("https://*.example.com", "https://evilexample.com", false),
            ("https://*.example.com", "https://a.example.com.", false),
            ("https://*.example.com", "http://a.example.com", false),
            ("https://*.example.com", "https://a.example.com:8443", false),
            ("https://*.example.com:8443", "https://a.example.com:8443", true),
            ("http://[::1]:3000", "http://[0:0::1]:3000", true),
            ("http://[::1]:3000", "http://[::1", false),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000", true),
            ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh", true),
            ("tauri://localhost", "https://localhost", false),
            ("null", "null", true),
            ("null", "NULL", false),
            ("null", "https://a.example.com", false),
            ("*", "https://anything.test", true),
            ("*", "null", true),
        ];
        for (rule, named, allowed) in rows {
            let rules = [OriginRule::parse(rule).unwrap()];
            assert_eq!(is_allowed(&rules, &named.parse().unwrap()), allowed, "{rule} {named}");
        }
        assert!(!is_allowed(&[OriginRule::Opaque], &HeaderValue::from_bytes(b"null\xff").unwrap()));
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        let rows = [
            "",
            "app.example.com",
            "https://",
            "https://app.example.com/",
            "https://app.example.com/path",
            "https://app.example.com?x",
            "https://user@app.example.com",
            "https://app.example.com:0",
            "https://app.example.com.",
            "https://*",
            "https://*.",
            "https://*.127.0.0.1",
            "https://*.[::1]",
            "https://app-*.example.com",
            "https://a.*.example.com",
            "*://app.example.com",
            "*.example.com",
            "https://b\u{fc}cher.example",
            "://app.example.com",
            "Null",
        ];
        for text in rows {
            assert_eq!(OriginRule::parse(text), Err(OriginError), "{text}");
        }
    }

    #[test]
    fn of_two_origins_none_is_named() {
        let mut headers = HeaderMap::new();
        assert_eq!(named_in(&headers), None);
        headers.append(ORIGIN, HeaderValue::from_static("https://a.test"));
        assert_eq!(named_in(&headers).unwrap(), "https://a.test");
        headers.append(ORIGIN, HeaderValue::from_static("https://a.test"));
        assert_eq!(named_in(&headers), None);
    }

    #[test]
    fn a_page_of_the_server_itself_is_known_by_its_host() {
        let rows = [
            ("https://gate.test", "gate.test", true),
            ("https://gate.test", "Gate.test:443", true),
            ("https://gate.test:8443", "gate.test:8443", true),
            ("http://gate.test", "gate.test:443", false),
            ("https://gate.test", "gate.test.evil", false),
            ("https://gate.test", "", false),
        ];
        for (origin, host, own) in rows {
            let page = Origin::parse(origin).unwrap();
            assert_eq!(page.is_at(host, false), own, "{origin} {host}");
            assert_eq!(page.is_at(host, true), own && origin.starts_with("https:"), "{origin} {host}");
        }
    }
}
