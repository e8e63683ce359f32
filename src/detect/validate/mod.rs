//! Checks that data cannot say: the table from a check's name in a rule file to its function. A check sees the
//! value alone and never fails otherwise than by saying no.
//!
//! A check lies with the office or the region that gives the number. What countries share is in `digits` (cards, and
//! the numbers of the United States), in `world` (check digit algorithms, dates) and in `vat` (VAT numbers, and the
//! tax numbers that they are made of). Before adding a check, search for it under the other names of its number
//! (`grep -r '"NAME"' src/detect/validate`): a number of several states has one check, as `jmbg` serves Slovenia's
//! EMŠO and Serbia's JMBG.
//!
//! | module | what it checks |
//! |---|---|
//! | `check` | no check: what a check is, and how digits are read |
//! | `world` | check digits by Verhoeff and Damm; helpers for weighted sums and dates |
//! | `digits` | payment cards (Luhn, issuer ranges); SSN, ITIN, EIN of the United States |
//! | `vat` | VAT numbers of the European Union |
//! | `finance` | IBAN, BIC, ABA routing numbers, ISIN, CUSIP, SEDOL, FIGI, LEI |
//! | `health` | NPI, DEA and MBI numbers of US health care |
//! | `phone` | telephone numbers: calling codes, lengths, national forms |
//! | `network` | IP and e-mail addresses |
//! | `tld` | domain names, by the list of top-level domains |
//! | `devices` | IMEI, IMSI, ICCID, MAC, VIN; ISBN; coordinates |
//! | `crypto` | cryptocurrency addresses |
//! | `hash` | no check: the hash functions for `crypto` |
//! | `credential` | whether a value is a secret rather than a placeholder, reference or word |
//! | `jumble` | no check: letters in no order of words |
//! | `secret` | that a key mixes letters and digits |
//! | `references` | no check: values that stand for others, as variables do |
//! | `source_code` | no check: values that are parts of programs |
//! | `terms` | no check: what types, encodings and algorithms are called |
//! | `value_words` | no check: words that stand where a value would |
//! | `entropy` | that a value is random enough for a key |
//! | `token_crc` | checksums inside tokens of GitHub, npm and Grafana; JWTs in base64 |
//! | `americas` | Canada and Latin America |
//! | `germany` | Germany |
//! | `western_europe` | UK, Ireland, France, Netherlands, Belgium, Austria, Switzerland |
//! | `northern_europe` | the Nordic and Baltic states |
//! | `southern_europe` | Spain, Italy, Greece, Turkey |
//! | `eastern_europe` | Poland to Bulgaria, former Yugoslavia, Russia, Ukraine, Kazakhstan |
//! | `mea` | the Middle East and Africa |
//! | `south_asia` | India, Sri Lanka, Pakistan |
//! | `southeast_asia` | Indonesia, Malaysia, Philippines, Singapore, Thailand, Viet Nam |
//! | `east_asia` | China, Hong Kong, Macau, Taiwan, Japan, Korea |
//! | `oceania` | Australia and New Zealand |

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
mod jumble;
mod mea;
mod network;
mod northern_europe;
mod oceania;
mod phone;
mod references;
mod secret;
mod source_code;
mod south_asia;
mod southeast_asia;
mod southern_europe;
mod terms;
pub(crate) mod tld;
mod token_crc;
pub(crate) mod value_words;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let mut seen = BTreeSet::new();
        for (name, _) in TABLES.iter().copied().flatten() {
            assert!(seen.insert(*name), "{name} stands twice");
        }
        for name in SURE {
            assert!(seen.contains(name), "there is no {name}");
        }
    }
}
