//! Numbers of India, Sri Lanka and Pakistan. Weights and moduli are those of the offices that the rule files name.

use super::world::{base36, digits, part, proof, symbols, verhoeff};
use super::{CheckResult, digits_of};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("in_aadhaar", |value| in_aadhaar(value).into()),
    ("in_gstin", in_gstin),
    ("in_pan", |value| in_pan(value).into()),
    ("in_passport", |value| in_passport(value).into()),
    ("in_state", |value| in_state(value).into()),
    ("lk_nic", |value| lk_nic(value).into()),
    ("pk_cnic", |value| digits::<13>(value).is_some_and(|digits| matches!(digits, [1..=8, ..])).into()),
];

/// India, residents: no 0 or 1 first, no palindrome, Verhoeff's check digit.
fn in_aadhaar(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| {
        let palindrome = digits.iter().eq(digits.iter().rev());
        !matches!(digits, [0 | 1, ..]) && !palindrome && verhoeff(&digits)
    })
}

/// India, taxpayers: the fourth letter says what kind they are.
fn in_pan(value: &[u8]) -> bool {
    let Some([a, b, c, kind, initial, number @ .., check]) = symbols::<10>(value) else { return false };
    let letters = [a, b, c, initial, check].iter().all(u8::is_ascii_uppercase);
    let number = digits::<4>(&number).is_some_and(|number| number != [0; 4]);
    letters && number && b"ABCFGHJKLPT".contains(&kind)
}

/// India, passports: seven digits, of which the first is not 0.
fn in_passport(value: &[u8]) -> bool {
    value.iter().find(|byte| byte.is_ascii_digit()).is_some_and(|&digit| digit != b'0')
}

/// India, goods and services tax: state, taxpayer, count, Z, and a check symbol mod 36 that proves it.
fn in_gstin(value: &[u8]) -> CheckResult {
    let Some(symbols) = symbols::<15>(value) else { return CheckResult::No };
    let state = symbols.get(..2).and_then(digits::<2>).map_or(0, |digits| part(&digits, 0, 2));
    if !matches!(state, 1..=38 | 96 | 97 | 99) {
        return CheckResult::No;
    }
    let factors = [1, 2].into_iter().cycle();
    let products = symbols.iter().take(14).zip(factors).map(|(&symbol, factor)| base36(symbol) * factor);
    let sum: u32 = products.map(|product| product / 36 + product % 36).sum();
    let [.., check] = symbols;
    proof((36 - sum % 36) % 36 == base36(check))
}

/// Codes of India's states and territories on vehicles and licences, old ones too.
const STATES: &[u8] = b"ANAPARASBHBRCGCHDDDLDNGAGJHPHRJHJKKAKLLALDMHMLMNMPMZNLODORPBPYRJSKTGTNTRTSUAUKUPWB";

/// Whether it begins with the code of an Indian state.
fn in_state(value: &[u8]) -> bool {
    let code = value.get(..2).unwrap_or_default();
    STATES.chunks(2).any(|known| known.eq_ignore_ascii_case(code))
}

/// Sri Lanka: year and day of the year, with 500 added for women.
fn lk_nic(value: &[u8]) -> bool {
    let mut buffer = [0; 12];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let (year, day) = match digits.len() {
        9 => (1900 + part(digits, 0, 2), part(digits, 2, 5)),
        12 => (part(digits, 0, 4), part(digits, 4, 7)),
        _ => return false,
    };
    matches!(year, 1900..=2099) && matches!(day, 1..=366 | 501..=866)
}

#[cfg(test)]
mod tests {
    use super::super::cases::{Case, all_hold};
    use super::*;

    #[test]
    fn numbers_keep_to_the_offices_rules() {
        let cases: &[Case] = &[
            ("in_aadhaar", &["2341 2341 4439"], &["2341 2341 4430", "0341 2341 4439", "12341234234"]),
            ("in_gstin", &["27AAPFU0093F8ZV"], &["00AAPFU0093F8ZV", "27AAPFU0093F8Z"]),
            ("in_pan", &["AAPFU0518F", "aapfu0238f"], &["AAPDU0518F", "AAPFU0000F", "AAPFU093F"]),
            ("in_passport", &["K1239143", "K 1237333"], &["K0239143"]),
            ("in_state", &["KA32", "mh97"], &["XX32", "K"]),
            (
                "lk_nic",
                &["853409215V", "198534052755", "858405717x"],
                &["854009215V", "853400937123", "179934000937"],
            ),
            ("pk_cnic", &["34201-0899117-2"], &["04201-0899117-2", "34201-0891231"]),
        ];
        all_hold(CHECKS, cases);
    }

    #[test]
    fn a_tax_number_of_india_is_proved_by_its_last_symbol() {
        assert_eq!(in_gstin(b"27AAPFU0939F1ZV"), CheckResult::Sure);
        assert_eq!(in_gstin(b"27AAPFU0939F1ZW"), CheckResult::Yes);
    }
}
