//! IP addresses: blocks of them (CIDR, RFC 4632), and what the blocks of IANA's registries are for.
//!
//! The blocks are those of the "IPv4 Special-Purpose Address Registry" and the "IPv6 Special-Purpose Address Registry"
//! (IANA, by RFC 6890), and of multicast (RFC 5771, RFC 4291 section 2.7).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses of one family that share their first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CidrBlock {
    first: IpAddr,
    bits: u8,
}

/// Says that a text is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an address or a block, write one such as \"10.0.0.0/8\" or \"2001:db8::1\"")]
pub struct CidrError;

impl CidrBlock {
    const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Self {
        Self { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits }
    }

    /// `head` has the first 48 bits.
    const fn v6(head: [u16; 3], bits: u8) -> Self {
        Self { first: IpAddr::V6(Ipv6Addr::new(head[0], head[1], head[2], 0, 0, 0, 0, 0)), bits }
    }

    /// The same as IPv4, where all of its addresses are IPv4 within IPv6 (RFC 4291 section 2.5.5.2).
    #[must_use]
    pub fn to_canonical(self) -> Self {
        match (self.first.to_canonical(), self.bits.checked_sub(96)) {
            (first @ IpAddr::V4(_), Some(bits)) if self.first.is_ipv6() => Self { first, bits },
            _ => self,
        }
    }

    /// Whether `address` lies in it. A block holds no address of the other family: whoever takes IPv4 in IPv6 for IPv4
    /// gives [`IpAddr::to_canonical`].
    pub fn holds(&self, address: IpAddr) -> bool {
        let shared = match (address, self.first) {
            (IpAddr::V4(address), IpAddr::V4(first)) => (address.to_bits() ^ first.to_bits()).leading_zeros(),
            (IpAddr::V6(address), IpAddr::V6(first)) => (address.to_bits() ^ first.to_bits()).leading_zeros(),
            _ => return false,
        };
        shared >= u32::from(self.bits)
    }
}

/// One address.
impl From<IpAddr> for CidrBlock {
    fn from(first: IpAddr) -> Self {
        Self { first, bits: if first.is_ipv4() { 32 } else { 128 } }
    }
}

/// `address/bits`, or one address.
impl FromStr for CidrBlock {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (first, bits) = match text.split_once('/') {
            Some((first, bits)) => (first, Some(bits)),
            None => (text, None),
        };
        let one = Self::from(first.parse::<IpAddr>().map_err(|_| CidrError)?);
        let plain =
            |bits: &str| bits.bytes().all(|byte| byte.is_ascii_digit()).then(|| bits.parse().ok()).flatten();
        let bits = bits.map_or(Some(one.bits), plain).filter(|bits| *bits <= one.bits).ok_or(CidrError)?;
        Ok(Self { bits, ..one })
    }
}

/// What a block is for.
#[derive(Clone, Copy)]
enum Purpose {
    /// The host itself, or any host.
    Host,
    /// Networks that anybody may have: private, shared by a provider's customers, of one link.
    Private,
    /// Examples in documentation.
    Documentation,
    /// Groups, and all hosts of a network.
    Group,
    /// Protocols and services of the Internet itself, relays and tunnels among them; tests of networks.
    Protocol,
    /// Nothing yet.
    Reserved,
}

use Purpose::{Documentation, Group, Host, Private, Protocol, Reserved};

/// All blocks that are not for public unicast, save for what lies outside of [`GLOBAL`].
const SPECIAL: &[(CidrBlock, Purpose)] = &[
    // "This network" (RFC 791).
    (CidrBlock::v4(0, 0, 0, 0, 8), Host),
    (CidrBlock::v4(127, 0, 0, 0, 8), Host),
    // RFC 1918.
    (CidrBlock::v4(10, 0, 0, 0, 8), Private),
    (CidrBlock::v4(172, 16, 0, 0, 12), Private),
    (CidrBlock::v4(192, 168, 0, 0, 16), Private),
    // Shared address space (RFC 6598), link-local (RFC 3927).
    (CidrBlock::v4(100, 64, 0, 0, 10), Private),
    (CidrBlock::v4(169, 254, 0, 0, 16), Private),
    // RFC 5737.
    (CidrBlock::v4(192, 0, 2, 0, 24), Documentation),
    (CidrBlock::v4(198, 51, 100, 0, 24), Documentation),
    (CidrBlock::v4(203, 0, 113, 0, 24), Documentation),
    // IETF protocol assignments, AS 112, AMT, 6to4 relays, AS 112 again (RFC 6890, 7535, 7450, 7526, 7534).
    (CidrBlock::v4(192, 0, 0, 0, 24), Protocol),
    (CidrBlock::v4(192, 31, 196, 0, 24), Protocol),
    (CidrBlock::v4(192, 52, 193, 0, 24), Protocol),
    (CidrBlock::v4(192, 88, 99, 0, 24), Protocol),
    (CidrBlock::v4(192, 175, 48, 0, 24), Protocol),
    // Tests of networks (RFC 2544).
    (CidrBlock::v4(198, 18, 0, 0, 15), Protocol),
    // Multicast, broadcast, class E (RFC 1112).
    (CidrBlock::v4(224, 0, 0, 0, 4), Group),
    (CidrBlock::v4(255, 255, 255, 255, 32), Group),
    (CidrBlock::v4(240, 0, 0, 0, 4), Reserved),
    // Unspecified, loopback.
    (CidrBlock { first: IpAddr::V6(Ipv6Addr::UNSPECIFIED), bits: 128 }, Host),
    (CidrBlock { first: IpAddr::V6(Ipv6Addr::LOCALHOST), bits: 128 }, Host),
    // Unique local (RFC 4193), link-local (RFC 4291).
    (CidrBlock::v6([0xfc00, 0, 0], 7), Private),
    (CidrBlock::v6([0xfe80, 0, 0], 10), Private),
    // RFC 3849, RFC 9637.
    (CidrBlock::v6([0x2001, 0xdb8, 0], 32), Documentation),
    (CidrBlock::v6([0x3fff, 0, 0], 20), Documentation),
    // Teredo and other assignments (RFC 2928), 6to4 (RFC 3056), AS 112 (RFC 7534).
    (CidrBlock::v6([0x2001, 0, 0], 23), Protocol),
    (CidrBlock::v6([0x2002, 0, 0], 16), Protocol),
    (CidrBlock::v6([0x2620, 0x4f, 0x8000], 48), Protocol),
    // RFC 4291 section 2.7.
    (CidrBlock::v6([0xff00, 0, 0], 8), Group),
];

/// The only IPv6 block with public addresses (RFC 4291 section 2.4). Loopback, link-local, unique local, multicast,
/// IPv4-mapped, IPv4-compatible and NAT64 addresses lie outside.
const GLOBAL: CidrBlock = CidrBlock::v6([0x2000, 0, 0], 3);

/// What an address is for, where that is not public unicast.
fn purposes(address: IpAddr) -> impl Iterator<Item = Purpose> {
    SPECIAL.iter().filter(move |(block, _)| block.holds(address)).map(|(_, purpose)| *purpose)
}

/// Whether it is an address of the public internet: unicast, and for no special purpose. Addresses that embed others
/// (IPv4-mapped, NAT64, 6to4, Teredo) are not, whatever they embed.
pub fn is_public(address: IpAddr) -> bool {
    (address.is_ipv4() || GLOBAL.holds(address)) && purposes(address).next().is_none()
}

/// Whether it is an address that says nothing about anybody, since everybody may have it: of a host itself, of private
/// networks, of groups, of examples. An IPv4 address in an IPv6 address is what it is by itself.
pub fn is_nobodys(address: IpAddr) -> bool {
    purposes(address.to_canonical()).any(|purpose| match purpose {
        Host | Private | Documentation | Group => true,
        Protocol | Reserved => false,
    })
}

/// Whom an address counts for where callers are counted: of IPv6 its /64, one subnet, all of whose addresses one
/// machine may take (RFC 4291 section 2.5.4).
pub fn customer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_public_and_what_is_nobodys() {
        // Whether it is public, whether it is nobody's.
        let cases = [
            ("1.1.1.1", true, false),
            ("0.0.0.0", false, true),
            ("127.0.0.1", false, true),
            ("100.64.0.1", false, true),
            ("100.128.0.0", true, false),
            ("192.0.0.9", false, false),
            ("192.88.99.1", false, false),
            ("198.18.0.1", false, false),
            ("203.0.113.9", false, true),
            ("224.0.0.1", false, true),
            ("240.0.0.1", false, false),
            ("255.255.255.255", false, true),
            ("2606:4700:4700::1111", true, false),
            ("2620:4f:8000::1", false, false),
            ("::", false, true),
            ("::1", false, true),
            ("::ffff:1.1.1.1", false, false),
            ("::ffff:10.0.0.1", false, true),
            ("64:ff9b::101:101", false, false),
            ("2001::1", false, false),
            ("2002:101:101::", false, false),
            ("fe80::1", false, true),
            ("fd00::1", false, true),
            ("ff02::fb", false, true),
            ("2001:db8::1", false, true),
            ("3fff:1::1", false, true),
        ];
        for (address, public, nobodys) in cases {
            assert_eq!((is_public(ip(address)), is_nobodys(ip(address))), (public, nobodys), "{address}");
        }
    }

    #[test]
    fn a_block_holds_what_begins_like_it() {
        let holds = |block: &str, address: &str| block.parse::<CidrBlock>().unwrap().holds(ip(address));
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("192.0.2.1", "192.0.2.1") && !holds("192.0.2.1", "192.0.2.2"));
        assert!(holds("10.9.9.9/8", "10.1.2.3") && holds("0.0.0.0/0", "1.2.3.4"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1") && holds("fd00::/64", "fd00::1"));
        assert!(!holds("0.0.0.0/0", "::1") && !holds("10.0.0.0/8", "::ffff:10.0.0.1"));
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/+8", "::/129", "example.com"] {
            assert_eq!(bad.parse::<CidrBlock>(), Err(CidrError), "{bad}");
        }
    }

    #[test]
    fn a_block_of_ipv4_within_ipv6_is_one_of_ipv4() {
        let rows = [
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::ffff:0:0/95", "::ffff:0:0/95"),
            ("::/0", "::/0"),
            ("2001:db8::/97", "2001:db8::/97"),
            ("10.0.0.0/8", "10.0.0.0/8"),
        ];
        for (written, same) in rows {
            let [written, same] = [written, same].map(|text| text.parse::<CidrBlock>().unwrap());
            assert_eq!(written.to_canonical(), same);
        }
    }

    #[test]
    fn callers_of_one_subnet_are_one() {
        assert_eq!(customer(ip("2001:db8:0:1:2:3:4:5")), ip("2001:db8:0:1::"));
        assert_eq!(customer(ip("::ffff:192.0.2.1")), ip("192.0.2.1"));
    }
}
