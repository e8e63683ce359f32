//! Identifiers of US health care.

use super::digits::luhn;
use super::{digits_of, number};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("dea", |value| dea(value).into()),
    ("us_mbi", |value| us_mbi(value).into()),
    ("us_npi", |value| us_npi(value).into()),
];

/// A national provider identifier (45 CFR 162.406): 1 or 2, nine digits, Luhn with 80840 in front.
fn us_npi(value: &[u8]) -> bool {
    let mut buffer = [0; 10];
    let Some(digits) = digits_of(value, &mut buffer).filter(|digits| digits.len() == 10) else {
        return false;
    };
    let mut whole = vec![8, 0, 8, 4, 0];
    whole.extend(digits);
    matches!(digits.first(), Some(1 | 2)) && luhn(&whole)
}

/// A DEA registration (21 CFR 1301): registrant type, a letter or 9, seven digits of which the last is the last of
/// the sum of the first, third and fifth and twice the second, fourth and sixth.
fn dea(value: &[u8]) -> bool {
    let mut buffer = [0; 8];
    let Some((head, tail)) = value.split_at_checked(2) else { return false };
    let Some(&[a, b, c, d, e, f, check]) = digits_of(tail, &mut buffer) else { return false };
    let sum = number(&[a]) + number(&[c]) + number(&[e]) + 2 * (number(&[b]) + number(&[d]) + number(&[f]));
    let [kind, name] = head else { return false };
    let kind = b"ABCDEFGHJKLMPRSTUX".contains(&kind.to_ascii_uppercase());
    kind && (name.is_ascii_alphabetic() || *name == b'9') && sum % 10 == u64::from(check) && sum > 0
}

/// A Medicare beneficiary identifier (CMS): eleven positions, letters without S, L, O, I, B, Z.
fn us_mbi(value: &[u8]) -> bool {
    let letter = |byte: u8| byte.is_ascii_uppercase() && !b"SLOIBZ".contains(&byte);
    let symbols: Vec<u8> =
        value.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_uppercase).collect();
    let fits = |(kind, &byte): (u8, &u8)| match kind {
        b'C' => matches!(byte, b'1'..=b'9'),
        b'N' => byte.is_ascii_digit(),
        b'A' => letter(byte),
        _ => byte.is_ascii_digit() || letter(byte),
    };
    symbols.len() == 11 && b"CAXNAXNAANN".iter().copied().zip(&symbols).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        assert!(us_npi(b"1234567893") && !us_npi(b"1234567890") && !us_npi(b"3234567893"));
        assert!(dea(b"AB1234563") && dea(b"A91234563") && !dea(b"AB1234564") && !dea(b"IB1234563"));
        assert!(us_mbi(b"1EG4-TE5-MK73") && !us_mbi(b"1SG4-TE5-MK73") && !us_mbi(b"0EG4TE5MK73"));
    }
}
