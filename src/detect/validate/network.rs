//! Addresses: IP by the standard library's parser, e-mail by the limits of RFC 5321 section 4.5.3.1.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{CheckResult, tld};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[("email", email), ("ip", |value| ip(value).into())];

/// An IPv4 or IPv6 address. IPv6 needs a digit: `a::b` is rather a path of some programming language.
pub(super) fn ip(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    if !text.contains(':') {
        return text.parse::<Ipv4Addr>().is_ok();
    }
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<Ipv6Addr>().is_ok()
}

/// An address whose labels have legal lengths; sure if the last is a top-level domain. The `@` may be
/// percent-encoded.
fn email(value: &[u8]) -> CheckResult {
    let plain = memchr::memchr(b'@', value).map(|at| at + 1);
    let at = plain.or_else(|| memchr::memmem::find(value, b"%40").map(|at| at + 3));
    let Some(domain) = at.and_then(|at| value.get(at..)) else { return CheckResult::No };
    let labels = || domain.split(|&byte| byte == b'.');
    let legal = labels().all(|label| (1..=63).contains(&label.len()) && label.first() != Some(&b'-'));
    match labels().next_back().filter(|_| legal && labels().count() > 1) {
        Some(last) if tld::known(last) => CheckResult::Sure,
        Some(last) => tld::private(last).into(),
        None => CheckResult::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_addresses() {
        for text in ["127.0.0.1", "255.255.255.255", "::1", "2001:db8::1", "::ffff:192.0.2.128"] {
            assert!(ip(text.as_bytes()), "{text}");
        }
        for text in ["256.0.0.1", "1.2.3", "::", "a::b", "12:34:56", "1:2:3:4:5:6:7:8:9"] {
            assert!(!ip(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn e_mail_domains() {
        for text in ["a@b.co", "a@x-y.example.museum"] {
            assert_eq!(email(text.as_bytes()), CheckResult::Sure, "{text}");
        }
        assert_eq!(email(b"a@b.corpnet"), CheckResult::Yes);
        for text in ["a@b", "a@.co", "a@-b.co", "icon@2x.PNG", "b.co"] {
            assert_eq!(email(text.as_bytes()), CheckResult::No, "{text}");
        }
    }
}
