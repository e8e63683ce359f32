//! Addresses and host names that are nobody's: of this machine, of any private network, of examples. To replace them hides
//! nothing and breaks commands and links.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::base::address::is_nobodys;

/// Names of hosts, and of all below them (RFC 6761, RFC 6762, RFC 8375, RFC 9476; ICANN's `internal`).
const HOSTS: [&str; 11] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "home.arpa",
    "test",
    "invalid",
    "example",
    "example.com",
    "example.net",
    "example.org",
];

/// Resolvers that anybody may ask, as their operators publish them: Google, Cloudflare, Quad9, OpenDNS.
const RESOLVERS: [IpAddr; 14] = [
    v4(8, 8, 8, 8),
    v4(8, 8, 4, 4),
    v4(1, 1, 1, 1),
    v4(1, 0, 0, 1),
    v4(9, 9, 9, 9),
    v4(149, 112, 112, 112),
    v4(208, 67, 222, 222),
    v4(208, 67, 220, 220),
    v6([0x2001, 0x4860, 0x4860], 0x8888),
    v6([0x2001, 0x4860, 0x4860], 0x8844),
    v6([0x2606, 0x4700, 0x4700], 0x1111),
    v6([0x2606, 0x4700, 0x4700], 0x1001),
    v6([0x2620, 0xfe, 0], 0xfe),
    v6([0x2620, 0xfe, 0], 0x9),
];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

/// `head` has the first 48 bits, `last` the last 16; between are zeros.
const fn v6(head: [u16; 3], last: u16) -> IpAddr {
    IpAddr::V6(Ipv6Addr::new(head[0], head[1], head[2], 0, 0, 0, 0, last))
}

/// Of those, the ones at which nobody has mail: names of networks of one's own are people's.
const MAILLESS: [&str; 7] =
    ["localhost", "test", "invalid", "example", "example.com", "example.net", "example.org"];

/// Mailboxes that nobody reads.
const UNREAD: [&str; 5] = ["noreply", "no-reply", "no_reply", "donotreply", "do-not-reply"];

/// Whether a value that a rule found is such an address, the address of a page at such a host, the user of a remote
/// repository (`git@…`), or a mailbox that nobody reads (`noreply@…`). Other mail addresses are people's at any host.
pub(super) fn is_special(value: &str) -> bool {
    match (value.split_once("://"), value.split_once('@')) {
        (Some((_, rest)), _) => is_special_page(rest),
        (None, Some((user, _))) => user == "git" || is_unread(user),
        (None, None) => is_special_address(value),
    }
}

/// Of a URL, what follows its scheme: at such a host, with nothing behind it that could be somebody's.
fn is_special_page(rest: &str) -> bool {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = match authority.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let plain = !authority.contains('@') && !path.contains(['?', '#', '@']);
    plain && (is_special_host(host) || is_special_address(host))
}

fn is_special_host(host: &str) -> bool {
    lies_below(host, &HOSTS)
}

/// Whether a host is one of these, or below.
fn lies_below(host: &str, names: &[&str]) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let below =
        |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    names.iter().any(|name| below(name))
}

fn is_special_address(text: &str) -> bool {
    // A prefix length or a zone says no more than the address does.
    let bare = text.split(['/', '%']).next().unwrap_or_default();
    bare.parse::<IpAddr>().is_ok_and(|address| {
        is_nobodys(address) || is_mask(address) || is_resolver(address) || is_object_identifier(address)
    })
}

/// Whether it is the mask of a network, ones and then zeros (RFC 950), or the prefix of one as large as registries give to providers
/// (RFC 4291 section 2.3): `2002::/16`.
fn is_mask(address: IpAddr) -> bool {
    let mask = match address {
        IpAddr::V4(mask) => mask,
        IpAddr::V6(prefix) => return prefix.to_bits().trailing_zeros() >= 96,
    };
    mask.octets().starts_with(&[u8::MAX])
        && mask.to_bits().leading_ones() + mask.to_bits().trailing_zeros() == Ipv4Addr::BITS
}

/// Whether it is an object identifier of directories and certificates (ITU-T X.520, X.509; RFC 8410) or the root of the
/// internet's (RFC 1155).
fn is_object_identifier(address: IpAddr) -> bool {
    let IpAddr::V4(address) = address else { return false };
    matches!(
        address.octets(),
        [2, 5, 4, 0..=106] | [2, 5, 29, 1..=79] | [1, 3, 101, 110..=113] | [1, 3, 6, 1]
    )
}

fn is_resolver(address: IpAddr) -> bool {
    RESOLVERS.contains(&address.to_canonical())
}

/// Whether a mailbox is called as those that nobody reads.
fn is_unread(user: &str) -> bool {
    UNREAD.iter().any(|unread| unread.eq_ignore_ascii_case(user))
}

/// Whether a value is a mail address of documentation: what a model writes into a program or a test. In what people write it
/// may still be somebody's.
pub(super) fn is_example(value: &str) -> bool {
    value.rsplit_once('@').is_some_and(|(_, host)| lies_below(host, &MAILLESS))
}

#[cfg(test)]
mod tests {
    use super::{is_example, is_special};

    #[test]
    fn only_what_is_nobodys_is_special() {
        let special = [
            "127.0.0.1",
            "10.1.2.3",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254",
            "192.0.2.1",
            "198.51.100.77",
            "203.0.113.9",
            "224.0.0.251",
            "255.255.255.255",
            "0.0.0.0",
            "10.0.0.0/8",
            "2002::/16",
            "2001:470::/32",
            "::1",
            "::",
            "fe80::1%eth0",
            "fd12:3456::1",
            "2001:db8::8a2e:370:7334",
            "3fff:1::1",
            "ff02::fb",
            "::ffff:10.0.0.1",
            "git@github.com",
            "noreply@anthropic.com",
            "No-Reply@github.com",
            "http://localhost:3000/a/b",
            "https://db.internal/",
            "http://127.0.0.1:8080",
            "http://[::1]:80/x",
            "https://api.example.com/v1",
            "255.255.255.0",
            "255.255.254.0/8",
            "0.0.0.255",
            "8.8.8.8",
            "2.5.29.31",
            "2.5.4.3",
            "::ffff:1.1.1.1",
            "2606:4700:4700::1111",
            "https://1.1.1.1/dns-query",
        ];
        let somebodys = [
            "8.8.8.9",
            "2.5.30.31",
            "2.5.29.200",
            "172.32.0.1",
            "100.128.0.1",
            "198.51.101.1",
            "2606:4700::1111",
            "2606:4700:1::/48",
            "::ffff:8.8.8.9",
            "jane@example.com",
            "git2@example.com",
            "digit@github.com",
            "noreply.jane@github.com",
            "12345+jane@users.noreply.github.com",
            "jane@localhost",
            "https://www.janedoe.com/",
            "https://example.com.evil.net/",
            "https://notexample.com/",
            "http://localhost/?mail=jane@x.com",
            "http://jane:secret@localhost/",
            "+1 415 555 2671",
            "10.1.2",
            "",
        ];
        for value in special {
            assert!(is_special(value), "{value}");
        }
        for value in somebodys {
            assert!(!is_special(value), "{value}");
        }
    }

    #[test]
    fn mail_of_examples() {
        for value in ["jane@example.com", "a@b.test", "x@localhost"] {
            assert!(is_example(value), "{value}");
        }
        for value in [
            "jane@example.com.x-labs.com",
            "jane@x-labs.com",
            "noreply@x-labs.com",
            "example.com",
            "jane@corp.local",
            "x@ad.internal",
        ] {
            assert!(!is_example(value), "{value}");
        }
    }
}
