//! Checks that data cannot say: the table from a check's name in a rule file to its function. A check sees the
//! value alone and never fails otherwise than by saying no.

mod americas;
mod apac;
mod apac_east;
#[cfg(test)]
mod cases;
pub(crate) mod credential;
mod crypto;
mod devices;
mod digits;
mod entropy;
mod europe;
mod europe_more;
mod finance;
mod hash;
mod health;
mod mea;
mod network;
mod phone;
mod secret;
pub(crate) mod tld;
mod token_crc;
mod vat;
mod world;

/// What a check says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is not such a value.
    No,
    /// It may be; the rule's score stands.
    Yes,
    /// It proves itself; it scores 1.
    Sure,
}

impl From<bool> for Verdict {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Judges one value.
pub(crate) type Check = fn(&[u8]) -> Verdict;

/// Checks by name.
type Table = &'static [(&'static str, Check)];

const ANY: Table = &[("any", |_| Verdict::Yes)];

/// The tables of all files; no name stands twice.
const TABLES: &[Table] = &[
    ANY,
    americas::CHECKS,
    apac::CHECKS,
    apac_east::CHECKS,
    credential::CHECKS,
    crypto::CHECKS,
    devices::CHECKS,
    digits::CHECKS,
    entropy::CHECKS,
    europe::CHECKS,
    europe_more::CHECKS,
    finance::CHECKS,
    health::CHECKS,
    mea::CHECKS,
    network::CHECKS,
    phone::CHECKS,
    secret::CHECKS,
    tld::CHECKS,
    token_crc::CHECKS,
    vat::CHECKS,
    world::CHECKS,
];

/// The check of that name.
pub(crate) fn named(name: &str) -> Option<Check> {
    TABLES.iter().copied().flatten().find(|(known, _)| *known == name).map(|&(_, check)| check)
}

/// Checks that can be [`Verdict::Sure`]: a rule with a low score and one of these needs no word near its value.
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

/// The value's ASCII digits as numbers, into `buffer`; `None` if there are more than fit.
pub(crate) fn digits_of<'b, const N: usize>(value: &[u8], buffer: &'b mut [u8; N]) -> Option<&'b [u8]> {
    let mut len = 0;
    for byte in value.iter().filter(|byte| byte.is_ascii_digit()) {
        *buffer.get_mut(len)? = byte - b'0';
        len += 1;
    }
    buffer.get(..len)
}

/// The number that `digits` (0 to 9 each) write.
pub(crate) fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, &digit| sum * 10 + u64::from(digit))
}
