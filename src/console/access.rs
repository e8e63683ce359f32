//! Under which names the console may be asked, and from which pages. A page of somebody else's whose name leads to this
//! address (DNS rebinding) has that name in `Host`; a form on it has its own address in `Origin`.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::request::Parts;

/// The names that the console answers to besides addresses and `localhost`, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// These, too.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(str::to_ascii_lowercase).collect())
    }

    /// Whether a request with this head was made for us. An address names nobody, so that no name of somebody else's can lead
    /// to it.
    pub(super) fn know(&self, head: &Parts) -> bool {
        let mut said = head.headers.get_all(HOST).iter();
        let host = match (said.next(), said.next(), head.uri.authority()) {
            (Some(host), None, _) => host.to_str().ok(),
            (None, _, Some(authority)) => Some(authority.as_str()),
            _ => None,
        };
        host.is_some_and(|host| self.has(host))
    }

    fn has(&self, authority: &str) -> bool {
        let host = without_port(authority).to_ascii_lowercase();
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let address = bracketed.unwrap_or(&host).parse::<IpAddr>();
        match address {
            Ok(address) => address.is_ipv6() == bracketed.is_some(),
            Err(_) => host == "localhost" || host.ends_with(".localhost") || self.0.contains(&host),
        }
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) && !host.ends_with(':') => {
            host
        }
        _ => authority,
    }
}

/// Whether a request that changes something comes from a page of ours: its `Origin` is the host that was asked. Every browser
/// sends it with a form and with a script's request of another method than `GET` (Fetch section 3.2); other programs have no
/// business here.
pub(super) fn is_from_us(head: &Parts) -> bool {
    let text = |name| {
        let mut values = head.headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok())
    };
    let host = text(HOST).or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
    let from = text(ORIGIN)
        .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")));
    matches!((host, from), (Some(host), Some(from)) if host.eq_ignore_ascii_case(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &str)]) -> Parts {
        let mut request = http::Request::builder().uri("/");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_names_of_ours_are_answered() {
        let hosts = Hosts::new(["Console.example.com"]);
        for (host, known) in [
            ("127.0.0.1:9180", true),
            ("127.0.0.1", true),
            ("[::1]:9180", true),
            ("10.1.2.3:9180", true),
            ("LOCALHOST:9180", true),
            ("console.localhost", true),
            ("console.example.com:443", true),
            ("console.example.com.evil.test", false),
            ("evil.test:9180", false),
            ("127.0.0.1.evil.test", false),
            ("127.0.0.1@evil.test", false),
            ("localhost.evil.test", false),
            ("::1", false),
            ("[127.0.0.1]", false),
            ("2130706433", false),
            ("", false),
        ] {
            assert_eq!(hosts.know(&head(&[("host", host)])), known, "{host}");
        }
        assert!(!hosts.know(&head(&[])));
        assert!(!hosts.know(&head(&[("host", "localhost"), ("host", "evil.test")])));
    }

    #[test]
    fn only_our_own_pages_change_something() {
        for (origin, ours) in [
            (Some("http://127.0.0.1:9180"), true),
            (Some("https://127.0.0.1:9180"), true),
            (Some("http://127.0.0.1:8080"), false),
            (Some("http://127.0.0.1"), false),
            (Some("http://evil.test"), false),
            (Some("null"), false),
            (None, false),
        ] {
            let mut fields = vec![("host", "127.0.0.1:9180")];
            fields.extend(origin.map(|origin| ("origin", origin)));
            assert_eq!(is_from_us(&head(&fields)), ours, "{origin:?}");
        }
    }
}
