//! Numbers of Germany: persons, patients, physicians, taxes, vehicles. Each sum is that of the authority the rule names.

use super::number;
use super::world::{base36, date, digits, eleven_ten, part, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("de_bsnr", |value| de_bsnr(value).into()),
    ("de_document", |value| de_document(value).into()),
    ("de_health_insurance", |value| de_health_insurance(value).into()),
    ("de_id_old", |value| (symbols::<9>(value).is_some_and(|all| all.get(1..3) != Some(b"22"))).into()),
    ("de_idnr", |value| de_idnr(value).into()),
    ("de_idnr_sum", |value| {
        digits::<11>(value).is_some_and(|all| all.first() != Some(&0) && eleven_ten(&all)).into()
    }),
    ("de_kfz", |value| value.iter().any(u8::is_ascii_digit).into()),
    ("de_lanr", |value| de_lanr(value).into()),
    ("de_licence", |value| (symbols::<11>(value).is_some()).into()),
    ("de_plz", |value| {
        digits::<5>(value).is_some_and(|all| (1001..=99_998).contains(&part(&all, 0, 5))).into()
    }),
    ("de_social_security", |value| de_social_security(value).into()),
];

/// German practice number: begins with the number of an association of physicians.
fn de_bsnr(value: &[u8]) -> bool {
    const OF: [u64; 19] = [1, 2, 3, 17, 20, 35, 38, 46, 51, 52, 71, 72, 73, 78, 83, 88, 93, 98, 99];
    digits::<9>(value).is_some_and(|all| OF.contains(&part(&all, 0, 2)))
}

/// The serial number of a German identity card or passport: nine symbols without vowels and what looks like them, with a
/// digit among them. The check digit (weights 7, 3, 1; ICAO Doc 9303-3 section 4.9) is a tenth, which stands in the zone for machines only.
fn de_document(value: &[u8]) -> bool {
    let symbol = |byte: &u8| byte.is_ascii_digit() || b"CFGHJKLMNPRTVWXYZ".contains(byte);
    let serial = |all: &[u8]| all.iter().all(symbol) && all.iter().any(u8::is_ascii_digit);
    if let Some(all) = symbols::<9>(value) {
        return serial(&all);
    }
    let Some(all) = symbols::<10>(value) else { return false };
    let Some((&check, rest)) = all.split_last() else { return false };
    let sum: u32 =
        rest.iter().zip([7, 3, 1].iter().cycle()).map(|(&symbol, weight)| base36(symbol) * weight).sum();
    serial(rest) && check.is_ascii_digit() && sum % 10 == u32::from(check - b'0')
}

/// The sum of the digits of each product with a weight.
fn cross_sums(weights: &[u32], digits: &[u32]) -> u32 {
    weights
        .iter()
        .zip(digits)
        .map(|(weight, digit)| weight * digit)
        .map(|product| product / 10 + product % 10)
        .sum()
}

/// The digits of `all`, a letter as the two digits of its place in the alphabet.
fn spelled(all: &[u8]) -> Vec<u32> {
    let two = |symbol: &u8| match symbol {
        b'A'..=b'Z' => [u32::from(symbol - b'@') / 10, u32::from(symbol - b'@') % 10].to_vec(),
        digit => vec![base36(*digit)],
    };
    all.iter().flat_map(two).collect()
}

/// German health insurance number (section 290 SGB V).
fn de_health_insurance(value: &[u8]) -> bool {
    let Some(all) = symbols::<10>(value) else { return false };
    let Some((&check, rest)) = all.split_last() else { return false };
    let shaped =
        all.first().is_some_and(u8::is_ascii_uppercase) && all.iter().skip(1).all(u8::is_ascii_digit);
    shaped && cross_sums(&[1, 2, 1, 2, 1, 2, 1, 2, 1, 2], &spelled(rest)) % 10 == base36(check)
}

/// German tax identification number: of the first ten digits exactly one is there twice or three times.
fn de_idnr(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let count = |digit: u8| all.iter().take(10).filter(|&&one| one == digit).count();
    let repeated: Vec<usize> = (0..10).map(count).filter(|&count| count > 1).collect();
    all.first() != Some(&0) && matches!(repeated.as_slice(), [2 | 3]) && eleven_ten(&all)
}

/// German physician number: the seventh digit checks six; two of a specialty follow.
fn de_lanr(value: &[u8]) -> bool {
    let Some(all) = digits::<9>(value) else { return false };
    let sum = weighted(&[4, 9, 4, 9, 4, 9], &all) % 10;
    all.get(6).is_some_and(|&check| (10 - sum) % 10 == u32::from(check)) && part(&all, 7, 9) > 0
}

/// German pension insurance number (section 147 SGB VI): area, birthday, letter, serial number, check digit.
fn de_social_security(value: &[u8]) -> bool {
    let Some(all) = symbols::<12>(value) else { return false };
    let numbers = |from: usize, to: usize| {
        let digits = all.get(from..to).unwrap_or_default();
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| number(&digits.iter().map(|digit| digit - b'0').collect::<Vec<_>>()))
    };
    let (Some(day), Some(month), Some(_), Some(_)) =
        (numbers(2, 4), numbers(4, 6), numbers(0, 2), numbers(9, 12))
    else {
        return false;
    };
    let day = if day > 50 { day - 50 } else { day };
    let (check, rest) = all.split_last().map_or((0, &[][..]), |(&last, rest)| (base36(last), rest));
    let sum = cross_sums(&[2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1], &spelled(rest));
    all.get(8).is_some_and(u8::is_ascii_uppercase) && date(2000, month, day) && sum % 10 == check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::digits_hold;

    #[test]
    fn numbers_with_their_check_digits() {
        for (whole, other) in [("C01X00T478", "C01X00T479"), ("C01X00T47", "C01A00T47")] {
            assert!(de_document(whole.as_bytes()) && !de_document(other.as_bytes()), "{whole}");
        }
        assert!(de_document(b"LFC0WT6Z9") && !de_document(b"LFCWTZXYN"));
        digits_hold(&[(de_idnr, "86095742719", "86095742710"), (de_lanr, "246810601", "246810701")]);
    }
}
