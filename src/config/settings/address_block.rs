//! Addresses, as the file names those of peers and callers.

use serde::{Deserialize, Deserializer};

use crate::base::address::{CidrBlock, CidrError};
use crate::base::from_text::FromText;

/// One address or a block of them (`10.0.0.0/8`). IPv4 within IPv6 is IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressBlock(pub CidrBlock);

impl<'de> Deserialize<'de> for AddressBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| {
            text.parse().map(|block: CidrBlock| Self(block.to_canonical())).map_err(|error: CidrError| error)
        };
        FromText { expected: "an address or a block such as \"10.0.0.0/8\"", parse }.read(deserializer)
    }
}
