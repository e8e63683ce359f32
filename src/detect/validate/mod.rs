//! Checks that data cannot say: the table from a check's name in a rule file to its function. A check sees the
//! value alone and never fails otherwise than by saying no.

mod americas;
#[cfg(test)]
mod cases;
mod check;
pub(crate) mod credential;
mod crypto;
mod devices;
mod digits;
mod east_asia;
mod eastern_europe;
mod entropy;
mod finance;
mod germany;
mod hash;
mod health;
mod mea;
mod network;
mod northern_europe;
mod oceania;
mod phone;
mod secret;
mod south_asia;
mod southeast_asia;
mod southern_europe;
pub(crate) mod tld;
mod token_crc;
mod vat;
mod western_europe;
mod world;

pub(crate) use check::{Check, CheckResult};
use check::{ChecksByName, digits_of, number};

const ANY: ChecksByName = &[("any", |_| CheckResult::Yes)];

/// The tables of all files; no name stands twice.
const TABLES: &[ChecksByName] = &[
    ANY,
    americas::CHECKS,
    credential::CHECKS,
    crypto::CHECKS,
    devices::CHECKS,
    digits::CHECKS,
    east_asia::CHECKS,
    eastern_europe::CHECKS,
    entropy::CHECKS,
    finance::CHECKS,
    germany::CHECKS,
    health::CHECKS,
    mea::CHECKS,
    network::CHECKS,
    northern_europe::CHECKS,
    oceania::CHECKS,
    phone::CHECKS,
    secret::CHECKS,
    south_asia::CHECKS,
    southeast_asia::CHECKS,
    southern_europe::CHECKS,
    tld::CHECKS,
    token_crc::CHECKS,
    vat::CHECKS,
    western_europe::CHECKS,
    world::CHECKS,
];

/// The check of that name.
pub(crate) fn named(name: &str) -> Option<Check> {
    TABLES.iter().copied().flatten().find(|(known, _)| *known == name).map(|&(_, check)| check)
}

/// Checks that can be [`CheckResult::Sure`]: a rule with a low score and one of these needs no word near its value.
const SURE: &[&str] = &[
    "base58check",
    "bech32",
    "cashaddr",
    "ethereum",
    "github",
    "grafana_token",
    "in_gstin",
    "mx_rfc_proof",
    "npm_token",
    "ripple",
];

/// Whether the check of that name can prove a value by itself.
pub(crate) fn can_be_sure(name: &str) -> bool {
    SURE.contains(&name)
}

/// Whether these digits are a payment card number that can have been issued.
pub(crate) fn is_card(digits: &[u8]) -> bool {
    digits::card(digits)
}

/// Whether these letters and digits are an account number with its check digits.
pub(crate) fn is_iban(value: &[u8]) -> bool {
    finance::iban(value)
}

/// Whether this is a telephone number with its calling code.
pub(crate) fn is_phone(value: &[u8]) -> bool {
    phone::international(value)
}
