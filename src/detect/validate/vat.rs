//! Value added tax numbers of the European Union's states, by their country's letters (VIES, Regulation (EU)
//! 904/2010 annex). States whose sum is not here are checked by their length.

use super::digits::luhn;
use super::world::{eleven_ten, part, split, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("it_vat", |value| of("IT", &digits_of(value)).into()),
    ("pl_nip", |value| of("PL", &digits_of(value)).into()),
    ("pt_nif", |value| of("PT", &digits_of(value)).into()),
    ("siren", |value| (digits_of(value).len() == 9 && luhn(&digits_of(value))).into()),
    ("siret", |value| (digits_of(value).len() == 14 && luhn(&digits_of(value))).into()),
    ("oib", |value| of("HR", &digits_of(value)).into()),
    ("vat_eu", |value| vat(value).into()),
];

fn digits_of(value: &[u8]) -> Vec<u8> {
    value.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect()
}

fn vat(value: &[u8]) -> bool {
    let symbols: Vec<u8> =
        value.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_uppercase).collect();
    let Some((country, rest)) = symbols.split_at_checked(2) else { return false };
    let Ok(country) = std::str::from_utf8(country) else { return false };
    // The letters some states have among or before the digits.
    let letters = rest.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let lettered = matches!(country, "AT" | "CY" | "ES" | "FR" | "IE" | "NL");
    if letters > 0 && !lettered {
        return false;
    }
    of(country, &digits_of(rest))
}

/// Whether the check digits hold that `country` puts into these digits.
fn of(country: &str, all: &[u8]) -> bool {
    let (last, rest) = split(all);
    let eleven = |weights: &[u32]| weighted(weights, rest) % 11;
    match (country, all.len()) {
        ("AT", 8) => {
            let cross = |n: u32| n / 10 + n % 10;
            let sum: u32 = rest
                .iter()
                .zip([1, 2].iter().cycle())
                .map(|(&digit, weight)| cross(u32::from(digit) * weight))
                .sum();
            (10 - (sum + 4) % 10) % 10 == last
        }
        // Older numbers lack the zero they begin with now.
        ("BE", 9) => 97 - part(all, 0, 7) % 97 == part(all, 7, 9),
        ("BE", 10) => 97 - part(all, 0, 8) % 97 == part(all, 8, 10),
        ("DE" | "HR", 9 | 11) => all.first() != Some(&0) && eleven_ten(all),
        ("DK", 8) => weighted(&[2, 7, 6, 5, 4, 3, 2, 1], all).is_multiple_of(11),
        ("EE", 9) => weighted(&[3, 7, 1, 3, 7, 1, 3, 7, 1], all).is_multiple_of(10),
        ("FI", 8) => (11 - eleven(&[7, 9, 10, 5, 8, 4, 2])) % 11 == last,
        ("FR", 11) => {
            luhn(all.get(2..).unwrap_or_default()) && (part(all, 2, 11) * 100 + 12) % 97 == part(all, 0, 2)
        }
        ("IT", 11) => {
            luhn(all) && part(all, 0, 7) > 0 && matches!(part(all, 7, 10), 1..=100 | 120 | 121 | 888 | 999)
        }
        ("LU", 8) => part(all, 0, 6) % 89 == part(all, 6, 8),
        ("PL", 10) => eleven(&[6, 5, 7, 2, 3, 4, 5, 6, 7]) == last,
        ("PT", 9) => all.first() != Some(&0) && (11 - eleven(&[9, 8, 7, 6, 5, 4, 3, 2])) % 11 % 10 == last,
        ("SE", 12) => luhn(all.get(..10).unwrap_or_default()),
        ("SI", 8) => (11 - eleven(&[8, 7, 6, 5, 4, 3, 2])) % 11 % 10 == last,
        ("SK", 10) => part(all, 0, 10).is_multiple_of(11),
        ("NL", 11) => part(all, 9, 11) > 0,
        ("BG" | "CZ", 9 | 10) | ("CZ" | "HU" | "MT" | "CY" | "IE" | "ES", 8) => true,
        ("EL" | "LT", 9) | ("LT", 12) | ("LV", 11) | ("RO", 2..=10) | ("IE", 7) | ("ES", 7) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_their_check_digits() {
        for text in [
            "ATU13585627",
            "BE403019261",
            "BE0403019261",
            "DK13585628",
            "FI20774740",
            "FR40303265045",
            "LU15027442",
            "PL8567346215",
            "PT501964843",
            "SI50223054",
            "SK2022749619",
            "SE123456789701",
        ] {
            assert!(vat(text.as_bytes()), "{text}");
        }
        for text in
            ["ATU13585626", "DK13585629", "FR41303265045", "PL8567346216", "XX123456789", "DEA36695976"]
        {
            assert!(!vat(text.as_bytes()), "{text}");
        }
    }
}
