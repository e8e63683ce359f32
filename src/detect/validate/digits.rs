//! Numbers of digits with check digits or ranges: cards (ISO/IEC 7812), US numbers.

use super::{digits_of, number};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("any_card", |value| any_card(value).into()),
    ("card", |value| card(value).into()),
    ("us_atin", |value| (itin_group(value) == Some(93)).into()),
    ("us_ein", |value| us_ein(value).into()),
    ("luhn_card", |value| any_card(value).into()),
    ("us_itin", |value| us_itin(value).into()),
    ("us_itin_any", |value| (us_itin(value) || us_itin_later(value)).into()),
    ("us_wa_license", |value| us_wa_license(value).into()),
    ("us_ssn", |value| us_ssn(value).into()),
    ("us_ssn_form", |value| us_ssn_form(value).into()),
    ("us_ssn_scanned", |value| us_ssn_scanned(value).into()),
];

/// Luhn's check (ISO/IEC 7812-1 annex B) over digits from 0 to 9.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let double = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .fold(0, |sum, (n, &digit)| sum + u32::from(if n % 2 == 1 { double(digit) } else { digit }));
    sum.is_multiple_of(10)
}

/// Issuer ranges by their first six digits, with the shortest and longest number. A range outside the table is no
/// card: most numbers of 16 digits are something else.
const ISSUERS: &[(u32, u32, usize, usize)] = &[
    (220_000, 220_499, 16, 19), // Mir
    (222_100, 272_099, 16, 16), // Mastercard, second series
    (300_000, 305_999, 14, 19), // Diners Club
    (309_500, 309_599, 14, 19), // Diners Club
    (340_000, 349_999, 15, 15), // American Express
    (352_800, 358_999, 16, 19), // JCB
    (360_000, 369_999, 14, 19), // Diners Club
    (370_000, 379_999, 15, 15), // American Express
    (380_000, 399_999, 14, 19), // Diners Club
    (400_000, 499_999, 13, 19), // Visa
    (500_000, 509_999, 12, 19), // Maestro, Verve, Elo, RuPay
    (510_000, 559_999, 16, 16), // Mastercard
    (560_000, 589_999, 12, 19), // Maestro
    (600_000, 699_999, 12, 19), // Discover, UnionPay, Maestro, RuPay, Elo, Hipercard
    (810_000, 829_999, 16, 19), // UnionPay, RuPay
    (979_200, 979_289, 16, 16), // Troy
];

/// A payment card number: issuer range, its length, check digit.
pub(super) fn card(value: &[u8]) -> bool {
    let mut buffer = [0; 19];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let head = number(digits.get(..6).unwrap_or_default());
    let length = digits.len();
    let visa = (400_000..500_000).contains(&head);
    let issued = ISSUERS.iter().any(|&(low, high, short, long)| {
        (u64::from(low)..=u64::from(high)).contains(&head) && (short..=long).contains(&length)
    });
    issued && (!visa || matches!(length, 13 | 16 | 19)) && luhn(digits)
}

/// A number of a card's length whose check digit holds, of whatever issuer.
pub(super) fn any_card(value: &[u8]) -> bool {
    let mut buffer = [0; 19];
    digits_of(value, &mut buffer)
        .is_some_and(|digits| digits.len() >= 12 && number(digits) != 0 && luhn(digits))
}

/// Numbers that were printed in advertisements and are withdrawn (SSA).
const WITHDRAWN: [u64; 2] = [78_051_120, 219_099_999];

/// A US social security number that can have been issued (SSA POMS RM 10201.035).
pub(super) fn us_ssn(value: &[u8]) -> bool {
    let mut buffer = [0; 9];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let whole = number(digits);
    let (area, group, serial) = (whole / 1_000_000, whole / 10_000 % 100, whole % 10_000);
    digits.len() == 9
        && !matches!(area, 0 | 666 | 900..)
        && group != 0
        && serial != 0
        && !WITHDRAWN.contains(&whole)
}

/// A number written as a US social security number that says of itself no more than that it was never issued:
/// people and test data do use numbers that begin with 9.
fn us_ssn_form(value: &[u8]) -> bool {
    let mut buffer = [0; 9];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let whole = number(digits);
    let (area, group, serial) = (whole / 1_000_000, whole / 10_000 % 100, whole % 10_000);
    digits.len() == 9 && !matches!(area, 0 | 666) && group != 0 && serial != 0 && !WITHDRAWN.contains(&whole)
}

/// The same as a scanner reads it, with letters in place of some digits that look like them.
fn us_ssn_scanned(value: &[u8]) -> bool {
    let read = |byte: u8| match byte {
        b'O' | b'o' => b'0',
        b'I' | b'l' => b'1',
        b'Z' => b'2',
        b'S' | b's' => b'5',
        b'B' => b'8',
        other => other,
    };
    let Ok(value) = <[u8; 11]>::try_from(value) else { return false };
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= 5 && us_ssn_form(&value.map(read))
}

/// The fourth and fifth digit of a number that begins with 9.
fn itin_group(value: &[u8]) -> Option<u64> {
    let mut buffer = [0; 9];
    let digits = digits_of(value, &mut buffer).filter(|digits| digits.len() == 9)?;
    let whole = number(digits);
    (whole / 100_000_000 == 9).then_some(whole / 10_000 % 100)
}

/// A US individual taxpayer number: 9XX, and the ranges of its fourth and fifth digit (IRS).
pub(super) fn us_itin(value: &[u8]) -> bool {
    itin_group(value).is_some_and(|group| matches!(group, 70..=88 | 90..=92 | 94..=99))
}

/// The same with the range that the IRS opened when the others ran out.
fn us_itin_later(value: &[u8]) -> bool {
    itin_group(value).is_some_and(|group| matches!(group, 50..=65))
}

/// A driving licence of the state of Washington: WDL and nine symbols, or before 2018 five letters of the name, where
/// `*` fills up a short one, two initials, three digits and two symbols.
fn us_wa_license(value: &[u8]) -> bool {
    let digits = |part: Option<&[u8]>| part.is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let named = value.get(..7).is_some_and(|name| name.iter().all(u8::is_ascii_alphabetic));
    let filled = value.contains(&b'*') && value.iter().any(u8::is_ascii_digit);
    value.starts_with(b"WDL") || named && digits(value.get(7..10)) || filled
}

/// A US employer number: the prefixes that the IRS has given to its campuses and to the internet.
fn us_ein(value: &[u8]) -> bool {
    let mut buffer = [0; 9];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let prefix = number(digits.get(..2).unwrap_or_default());
    digits.len() == 9
        && !matches!(prefix, 0 | 7..=9 | 17..=19 | 28 | 29 | 49 | 69 | 70 | 78 | 79 | 89 | 96 | 97)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_each_network() {
        // The networks' published test numbers.
        let valid = [
            "4111111111111111",
            "4012 8888 8888 1881",
            "4222222222222",
            "5555555555554444",
            "2223003122003222",
            "378282246310005",
            "6011111111111117",
            "30569309025904",
            "3530111333300000",
            "6200000000000005",
        ];
        for number in valid {
            assert!(card(number.as_bytes()), "{number}");
        }
        let invalid = ["4111111111111112", "1234567812345670", "37828224631000", "", "0000000000000000"];
        for number in invalid {
            assert!(!card(number.as_bytes()), "{number}");
        }
    }

    #[test]
    fn one_wrong_digit_breaks_luhn() {
        let number: Vec<u8> = b"4012888888881881".iter().map(|byte| byte - b'0').collect();
        assert!(luhn(&number));
        for at in 0..number.len() {
            let mut wrong = number.clone();
            wrong[at] = (wrong[at] + 1) % 10;
            assert!(!luhn(&wrong), "digit {at}");
        }
    }

    #[test]
    fn us_numbers_keep_to_their_ranges() {
        for number in ["536-22-8726", "001-01-0001", "899-99-9999"] {
            assert!(us_ssn(number.as_bytes()), "{number}");
        }
        for number in
            ["000-22-8726", "666-22-8726", "900-22-8726", "536-00-8726", "536-22-0000", "219-09-9999"]
        {
            assert!(!us_ssn(number.as_bytes()), "{number}");
        }
        assert!(us_itin_later(b"900-50-0000") && !us_itin_later(b"900-66-0000") && !us_itin(b"800-70-0000"));
        assert!(us_itin(b"900-70-0000") && !us_itin(b"900-93-0000"));
        assert!(us_ssn_form(b"912-33-4444") && !us_ssn_form(b"000-33-4444"));
        assert!(us_ssn_scanned(b"6O3-S2-9l68") && !us_ssn_scanned(b"OOO-SS-1234"));
        assert!(
            us_wa_license(b"WDLABCD456DG")
                && us_wa_license(b"SMITHJB123QC")
                && us_wa_license(b"DO1E2**3JB4C")
        );
        assert!(!us_wa_license(b"A1B2C3D4E5F6"));
        assert_eq!(itin_group(b"912-93-1234"), Some(93));
        assert!(us_ein(b"10-1234567") && !us_ein(b"00-1234567") && !us_ein(b"96-1234567"));
    }
}
