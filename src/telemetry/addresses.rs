//! [`Addresses`]: what of a caller's address is logged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What of a caller's address is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Addresses {
    /// All of it.
    #[default]
    Whole,
    /// The network: 24 bits of IPv4, 48 of IPv6.
    Network,
    /// Nothing.
    Off,
}

impl Addresses {
    /// The address as far as it may be shown.
    pub fn shown(self, address: Option<IpAddr>) -> Option<IpAddr> {
        let address = address?.to_canonical();
        match (self, address) {
            (Self::Off, _) => None,
            (Self::Whole, address) => Some(address),
            (Self::Network, IpAddr::V4(address)) => {
                Some(Ipv4Addr::from_bits(address.to_bits() & !0xff).into())
            }
            (Self::Network, IpAddr::V6(address)) => {
                Some(Ipv6Addr::from_bits(address.to_bits() & (!0 << 80)).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_as_the_policy_says() {
        let rows = [
            ("192.0.2.77", Addresses::Whole, Some("192.0.2.77")),
            ("192.0.2.77", Addresses::Network, Some("192.0.2.0")),
            ("::ffff:192.0.2.77", Addresses::Network, Some("192.0.2.0")),
            ("2001:db8:1:2::3", Addresses::Network, Some("2001:db8:1::")),
            ("2001:db8:1:2::3", Addresses::Off, None),
        ];
        for (address, policy, expected) in rows {
            let expected = expected.map(|address| address.parse().unwrap());
            assert_eq!(policy.shown(address.parse().ok()), expected, "{address} {policy:?}");
        }
    }
}
