//! [`Allow`]: the places besides the public internet that may be fetched from.

use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

use crate::base::address::{CidrBlock, is_public};

/// Ports that others' URLs may name. Places of an [`Allow`] list may have others.
const PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// A place of an [`Allow`] list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowEntry {
    /// `host` or `host:port`: this name, whatever address it has. Without a port: any.
    Host(String, Option<u16>),
    /// `*.suffix`, perhaps with a port: any name below it.
    Below(String, Option<u16>),
    /// `address/bits`, or an address: whatever has an address in this block, at any port.
    Block(CidrBlock),
    /// `address:port`.
    Socket(IpAddr, u16),
}

/// Says that a text is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a place, write one such as \"files.example.com\", \"*.example.com:8443\" or \"10.1.0.0/16\"")]
pub struct AllowEntryError;

impl FromStr for AllowEntry {
    type Err = AllowEntryError;

    fn from_str(text: &str) -> Result<Self, AllowEntryError> {
        if let Ok(block) = text.parse() {
            return Ok(Self::Block(block));
        }
        if let Ok(socket) = text.parse::<std::net::SocketAddr>() {
            return Ok(Self::Socket(socket.ip(), socket.port()));
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| AllowEntryError)?)),
            None => (text, None),
        };
        let (name, below) = match host.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (host, false),
        };
        // Spelt as URLs spell it, so that the two compare.
        let url = Url::parse(&format!("http://{name}/")).map_err(|_| AllowEntryError)?;
        let spelt =
            url.host_str().filter(|_| url.domain().is_some() && url.path() == "/").ok_or(AllowEntryError)?;
        if name.contains(['@', '?', '#', '*', '\\']) || spelt.is_empty() {
            return Err(AllowEntryError);
        }
        let spelt = spelt.trim_end_matches('.').to_owned();
        Ok(if below { Self::Below(spelt, port) } else { Self::Host(spelt, port) })
    }
}

/// The places besides the public internet that may be fetched from; by default none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow(Vec<AllowEntry>);

impl Allow {
    /// These places.
    pub fn new(places: Vec<AllowEntry>) -> Self {
        Self(places)
    }

    /// Whether a host may be asked at a port whatever its addresses are.
    pub(super) fn host(&self, host: &str, port: u16) -> bool {
        let at = |want: &Option<u16>| want.is_none_or(|want| want == port);
        let below = |suffix: &str| host.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.'));
        self.0.iter().any(|place| match place {
            AllowEntry::Host(name, want) => name == host && at(want),
            AllowEntry::Below(suffix, want) => below(suffix) && at(want),
            AllowEntry::Block(_) | AllowEntry::Socket(..) => false,
        })
    }

    /// Whether the list has a block with this address.
    fn block(&self, address: IpAddr) -> bool {
        self.0.iter().any(|place| matches!(place, AllowEntry::Block(block) if block.holds(address)))
    }

    /// Whether an address that a name has may be connected to.
    pub(super) fn address(&self, address: IpAddr) -> bool {
        is_public(address) || self.block(address)
    }

    /// Whether an address that stands in a URL may be connected to at a port.
    pub(super) fn socket(&self, address: IpAddr, port: u16) -> bool {
        self.0.contains(&AllowEntry::Socket(address, port))
            || self.block(address)
            || (is_public(address) && PORTS.contains(&port))
    }

    /// Whether a name that the list does not have may be asked at a port.
    pub(super) fn port(&self, port: u16) -> bool {
        PORTS.contains(&port)
    }
}

#[cfg(test)]
mod tests {
    use super::{Allow, AllowEntry};

    #[test]
    fn places_are_read_as_they_are_written() {
        let host = |name: &str, port| Ok(AllowEntry::Host(name.to_owned(), port));
        let cases = [
            ("Files.Example.com", host("files.example.com", None)),
            ("files.example.com.:81", host("files.example.com", Some(81))),
            ("*.example.com", Ok(AllowEntry::Below("example.com".to_owned(), None))),
            ("10.0.0.0/8", Ok(AllowEntry::Block("10.0.0.0/8".parse().unwrap()))),
            ("::1", Ok(AllowEntry::Block("::1/128".parse().unwrap()))),
            ("[::1]:80", Ok(AllowEntry::Socket("::1".parse().unwrap(), 80))),
            ("127.0.0.1:80", Ok(AllowEntry::Socket("127.0.0.1".parse().unwrap(), 80))),
        ];
        for (text, want) in cases {
            assert_eq!(text.parse::<AllowEntry>(), want, "{text}");
        }
        for text in [
            "",
            "*",
            "*.",
            "a b",
            "http://a",
            "a/b",
            "10.0.0.0/33",
            "a:b",
            "a@b",
            "0x7f.1",
            "*.*.a",
            "a:70000",
        ] {
            assert!(text.parse::<AllowEntry>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_place_allows_itself_only() {
        let allow = ["a.example", "*.b.example:81", "10.1.0.0/16", "127.0.0.1:9000"];
        let allow = Allow::new(allow.iter().map(|place| place.parse().unwrap()).collect());
        assert!(allow.host("a.example", 1234) && !allow.host("x.a.example", 1234));
        assert!(allow.host("x.b.example", 81) && !allow.host("x.b.example", 82));
        assert!(!allow.host("b.example", 81) && !allow.host("xb.example", 81));
        let socket = |address: &str, port| allow.socket(address.parse().unwrap(), port);
        assert!(socket("10.1.2.3", 5) && !socket("10.2.2.3", 80) && socket("1.1.1.1", 80));
        assert!(socket("127.0.0.1", 9000) && !socket("127.0.0.1", 9001) && !socket("1.1.1.1", 22));
        assert!(allow.address("10.1.0.1".parse().unwrap()) && !allow.address("127.0.0.1".parse().unwrap()));
    }
}
