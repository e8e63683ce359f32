//! Whether an address is the public internet's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 blocks that are not (IANA's special-purpose registry, RFC 6890 and later; multicast and class E).
const V4: &[(Ipv4Addr, u8)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The only IPv6 block that is (RFC 4291 section 2.4). Loopback, link-local, unique local, multicast, IPv4-mapped,
/// IPv4-compatible and NAT64 addresses lie outside.
const GLOBAL: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Parts of it that are not (IANA's special-purpose registry): Teredo and other protocol assignments, documentation,
/// 6to4, AS 112.
const V6: &[(Ipv6Addr, u8)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whom an address counts for where callers are counted: of IPv6 its /64, one subnet, all of whose addresses one
/// machine may take (RFC 4291 section 2.5.4).
pub fn customer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64)).into(),
        v4 => v4,
    }
}

/// Whether it is an address of the public internet: unicast, and for no special purpose. Addresses that embed others
/// (IPv4-mapped, NAT64, 6to4, Teredo) are not, whatever they embed.
pub fn public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !V4.iter().any(|&(block, bits)| v4(address, block, bits)),
        IpAddr::V6(address) => {
            v6(address, GLOBAL.0, GLOBAL.1) && !V6.iter().any(|&(block, bits)| v6(address, block, bits))
        }
    }
}

/// Whether an address lies in a block. Blocks of one family hold no address of the other.
pub(super) fn within(address: IpAddr, block: IpAddr, bits: u8) -> bool {
    match (address, block) {
        (IpAddr::V4(address), IpAddr::V4(block)) => v4(address, block, bits),
        (IpAddr::V6(address), IpAddr::V6(block)) => v6(address, block, bits),
        _ => false,
    }
}

fn v4(address: Ipv4Addr, block: Ipv4Addr, bits: u8) -> bool {
    let apart = address.to_bits() ^ block.to_bits();
    apart.leading_zeros() >= u32::from(bits)
}

fn v6(address: Ipv6Addr, block: Ipv6Addr, bits: u8) -> bool {
    let apart = address.to_bits() ^ block.to_bits();
    apart.leading_zeros() >= u32::from(bits)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::{public, within};

    #[test]
    fn the_public_internet_is_told_from_the_rest() {
        let cases = [
            ("1.1.1.1", true),
            ("127.0.0.1", false),
            ("100.64.0.1", false),
            ("100.128.0.0", true),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("2606:4700:4700::1111", true),
            ("::1", false),
            ("::ffff:1.1.1.1", false),
            ("64:ff9b::101:101", false),
            ("2002:101:101::", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("2001:db8::1", false),
        ];
        for (address, want) in cases {
            assert_eq!(public(address.parse::<IpAddr>().unwrap()), want, "{address}");
        }
    }

    #[test]
    fn blocks_end_where_their_bits_do() {
        let within = |a: &str, b: &str, bits| within(a.parse().unwrap(), b.parse().unwrap(), bits);
        assert!(within("10.1.2.3", "10.1.2.3", 32) && !within("10.1.2.2", "10.1.2.3", 32));
        assert!(within("10.1.2.3", "10.9.9.9", 8) && within("1.2.3.4", "0.0.0.0", 0));
        assert!(within("fd00::1", "fd00::", 64) && !within("::1", "0.0.0.0", 0));
    }
}
