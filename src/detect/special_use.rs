//! Addresses and host names that are nobody's: of this machine, of any private network, of examples. To replace them hides
//! nothing and breaks commands and links.

use std::net::IpAddr;

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

/// Whether a value that a rule found is such an address, the address of a page at such a host, or the user of a remote
/// repository (`git@…`). Mail addresses are people's at any host.
pub(super) fn is_special(value: &str) -> bool {
    match (value.split_once("://"), value.split_once('@')) {
        (Some((_, rest)), _) => is_special_page(rest),
        (None, Some((user, _))) => user == "git",
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
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let below =
        |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    HOSTS.iter().any(|name| below(name))
}

fn is_special_address(text: &str) -> bool {
    // A prefix length or a zone says no more than the address does.
    let bare = text.split(['/', '%']).next().unwrap_or_default();
    bare.parse::<IpAddr>().is_ok_and(is_nobodys)
}

#[cfg(test)]
mod tests {
    use super::is_special;

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
            "::1",
            "::",
            "fe80::1%eth0",
            "fd12:3456::1",
            "2001:db8::8a2e:370:7334",
            "3fff:1::1",
            "ff02::fb",
            "::ffff:10.0.0.1",
            "git@github.com",
            "http://localhost:3000/a/b",
            "https://db.internal/",
            "http://127.0.0.1:8080",
            "http://[::1]:80/x",
            "https://api.example.com/v1",
        ];
        let somebodys = [
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "198.51.101.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "jane@example.com",
            "git2@example.com",
            "digit@github.com",
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
}
