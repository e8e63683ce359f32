//! What the checks of several countries share: the digits and letters of a value, weighted sums, Verhoeff's and
//! Damm's check digits, dates.

use super::{CheckResult, number};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("verhoeff", |value| {
        run(value).is_some_and(|(digits, len)| verhoeff(digits.get(..len).unwrap_or_default())).into()
    }),
    ("damm", |value| {
        run(value).is_some_and(|(digits, len)| damm(digits.get(..len).unwrap_or_default())).into()
    }),
];

/// The most digits that a value of no fixed length can have here.
const MOST: usize = 32;

/// All digits of a value of any length from two on; `None` if there is a letter.
fn run(value: &[u8]) -> Option<([u8; MOST], usize)> {
    let mut buffer = [0; MOST];
    let len = {
        let letter = value.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
        super::digits_of(value, &mut buffer).filter(|digits| !letter && digits.len() > 1)?.len()
    };
    Some((buffer, len))
}

/// The letters and digits of `value` in upper case, if there are exactly `N`.
pub(super) fn symbols<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    let mut buffer = [0; N];
    let mut rest = buffer.iter_mut();
    for byte in value.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *rest.next()? = byte.to_ascii_uppercase();
    }
    rest.next().is_none().then_some(buffer)
}

/// The digits of `value`, 0 to 9 each, if there are exactly `N` and no letters.
pub(super) fn digits<const N: usize>(value: &[u8]) -> Option<[u8; N]> {
    let symbols = symbols::<N>(value)?;
    symbols.iter().all(u8::is_ascii_digit).then(|| symbols.map(|digit| digit - b'0'))
}

/// The value of a symbol where letters count on from 10.
pub(super) fn base36(symbol: u8) -> u32 {
    char::from(symbol).to_digit(36).unwrap_or(0)
}

/// Sum of the products of `weights` and `digits`, as far as both go.
pub(super) fn weighted(weights: &[u32], digits: &[u8]) -> u32 {
    weights.iter().zip(digits).map(|(weight, &digit)| weight * u32::from(digit)).sum()
}

/// As [`weighted`], with the weights from the last digit backwards.
pub(super) fn weighted_back(weights: &[u32], digits: &[u8]) -> u32 {
    weights.iter().zip(digits.iter().rev()).map(|(weight, &digit)| weight * u32::from(digit)).sum()
}

/// The last digit and those before it.
pub(super) fn split(digits: &[u8]) -> (u32, &[u8]) {
    digits.split_last().map_or((0, &[]), |(&last, rest)| (u32::from(last), rest))
}

/// Whether all digits are the same: such numbers satisfy many sums and are never given out.
pub(super) fn monotone(digits: &[u8]) -> bool {
    digits.windows(2).all(|pair| matches!(pair, [a, b] if a == b))
}

/// The number that the digits from `from` up to `to` write.
pub(super) fn part(digits: &[u8], from: usize, to: usize) -> u64 {
    number(digits.get(from..to).unwrap_or_default())
}

/// Whether there is such a day.
pub(super) const fn date(year: u64, month: u64, day: u64) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    day >= 1 && day <= days
}

/// Whether the six digits from `at` are a day as YYMMDD, of this century or the last.
pub(super) fn short_date(digits: &[u8], at: usize) -> bool {
    let (year, month, day) =
        (part(digits, at, at + 2), part(digits, at + 2, at + 4), part(digits, at + 4, at + 6));
    date(1900 + year, month, day) || date(2000 + year, month, day)
}

/// A proof where `proved`, else as good as the shape alone.
pub(super) const fn proof(proved: bool) -> CheckResult {
    if proved { CheckResult::Sure } else { CheckResult::Yes }
}

/// ISO 7064 MOD 11,10 over all digits, the last of which is the check digit.
pub(super) fn eleven_ten(all: &[u8]) -> bool {
    let (check, rest) = split(all);
    let product = rest.iter().fold(10, |product, &digit| {
        let sum = (u32::from(digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == check
}

/// Verhoeff's permutation; the dihedral group is computed.
const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/// The product in the dihedral group of order ten.
const fn dihedral(a: u8, b: u8) -> u8 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b) % 5 + 5,
        (false, true) => (a + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

/// Verhoeff's check over all digits, the last being the check digit (J. Verhoeff, Mathematical Centre Tracts 29).
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    let permuted = |digit: u8, times: usize| {
        (0..times % 8).fold(digit, |digit, _| PERMUTATION.get(usize::from(digit)).copied().unwrap_or(0))
    };
    digits.iter().rev().enumerate().fold(0, |sum, (n, &digit)| dihedral(sum, permuted(digit, n))) == 0
}

/// The quasigroup of H. M. Damm's thesis (Marburg 2004).
const DAMM: [[u8; 10]; 10] = [
    [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
    [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
    [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
    [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
    [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
    [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
    [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
    [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
    [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
    [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
];

/// Damm's check over all digits, the last being the check digit.
pub(super) fn damm(digits: &[u8]) -> bool {
    let next = |state: u8, &digit: &u8| {
        DAMM.get(usize::from(state)).and_then(|row| row.get(usize::from(digit))).copied().unwrap_or(0)
    };
    digits.iter().fold(0, next) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_of_the_literature() {
        // 236 with check digit 3 is Verhoeff's own example, 572 with 4 is Damm's.
        assert!(verhoeff(&[2, 3, 6, 3]) && !verhoeff(&[2, 3, 6, 4]) && !verhoeff(&[3, 2, 6, 3]));
        assert!(damm(&[5, 7, 2, 4]) && !damm(&[5, 7, 2, 5]) && !damm(&[7, 5, 2, 4]));
    }

    #[test]
    fn days_that_are_and_are_not() {
        assert!(date(2000, 2, 29) && !date(1900, 2, 29) && date(2024, 2, 29) && !date(2023, 2, 29));
        assert!(!date(2000, 0, 1) && !date(2000, 13, 1) && !date(2000, 4, 31) && !date(2000, 4, 0));
        assert!(short_date(&[0, 0, 0, 2, 2, 9], 0) && !short_date(&[0, 1, 0, 2, 2, 9], 0));
    }

    #[test]
    fn symbols_are_counted_without_separators() {
        assert_eq!(symbols::<3>(b"a-1 b"), Some(*b"A1B"));
        assert_eq!(symbols::<3>(b"a-1"), None);
        assert_eq!(digits::<3>(b"1.2-3"), Some([1, 2, 3]));
        assert_eq!(digits::<3>(b"1.2-x"), None);
    }
}
