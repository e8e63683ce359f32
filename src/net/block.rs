//! [`Block`]: addresses that share their first bits (CIDR, RFC 4632).

use std::net::IpAddr;
use std::str::FromStr;

use crate::net::address::within;

/// `address/bits`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    address: IpAddr,
    bits: u8,
}

/// Says that a text is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an address or a block, write one such as \"10.0.0.0/8\" or \"2001:db8::1\"")]
pub struct NotABlock;

impl Block {
    /// Whether `address` lies in it. IPv4 in IPv6 is IPv4.
    pub fn holds(&self, address: IpAddr) -> bool {
        within(address.to_canonical(), self.address, self.bits)
    }
}

impl FromStr for Block {
    type Err = NotABlock;

    fn from_str(text: &str) -> Result<Self, NotABlock> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NotABlock)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let plain =
            |bits: &str| bits.bytes().all(|byte| byte.is_ascii_digit()).then(|| bits.parse().ok()).flatten();
        let bits = bits.map_or(Some(most), plain).filter(|&bits: &u8| bits <= most).ok_or(NotABlock)?;
        Ok(Self { address, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_holds_what_begins_like_it() {
        let holds =
            |block: &str, address: &str| block.parse::<Block>().unwrap().holds(address.parse().unwrap());
        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("10.0.0.0/8", "::ffff:10.0.0.1"));
        assert!(holds("192.0.2.1", "192.0.2.1") && !holds("192.0.2.1", "192.0.2.2"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1") && holds("0.0.0.0/0", "1.2.3.4"));
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/+8", "::/129", "example.com"] {
            assert_eq!(bad.parse::<Block>(), Err(NotABlock), "{bad}");
        }
    }
}
