//! Addresses: IP by the standard library's parser, e-mail by the limits of RFC 5321 section 4.5.3.1.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What this file checks, by name.
pub(super) const CHECKS: super::Table =
    &[("email", |value| email(value).into()), ("ip", |value| ip(value).into())];

/// An IPv4 or IPv6 address. IPv6 needs a digit: `a::b` is rather a path of some programming language.
pub(super) fn ip(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    if !text.contains(':') {
        return text.parse::<Ipv4Addr>().is_ok();
    }
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.parse::<Ipv6Addr>().is_ok()
}

/// Endings that are files and not top-level domains: `icon@2x.png`.
const FILES: &[&str] = &[
    "avif", "bmp", "css", "csv", "gif", "heic", "html", "ico", "jpeg", "jpg", "js", "json", "jsx", "pdf",
    "png", "scss", "svg", "tiff", "ts", "tsx", "txt", "webp", "xml", "yaml", "yml",
];

/// An address whose labels have legal lengths and whose last label can be a top-level domain.
pub(super) fn email(value: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', value) else { return false };
    let domain = value.get(at + 1..).unwrap_or_default();
    let labels = || domain.split(|&byte| byte == b'.');
    let legal = labels().all(|label| (1..=63).contains(&label.len()) && label.first() != Some(&b'-'));
    let last = labels().next_back().unwrap_or_default();
    let file = FILES.iter().any(|known| last.eq_ignore_ascii_case(known.as_bytes()));
    legal && labels().count() > 1 && !file
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
            assert!(email(text.as_bytes()), "{text}");
        }
        for text in ["a@b", "a@.co", "a@-b.co", "icon@2x.PNG", "b.co"] {
            assert!(!email(text.as_bytes()), "{text}");
        }
    }
}
