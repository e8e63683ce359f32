//! Numbers of East Asia. Weights and moduli are those of the offices that the rule files name.

use super::world::{base36, date, digits, monotone, part, split, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("cn_passport", |value| cn_passport(value).into()),
    ("cn_ric", |value| cn_ric(value).into()),
    ("cn_ric_first", |value| cn_ric_first(value).into()),
    ("cn_uscc", |value| cn_uscc(value).into()),
    ("cn_uscc_new", |value| (cn_uscc(value) && newer(value)).into()),
    ("hk_hkid", |value| hk_hkid(value).into()),
    ("jp_driver_license", |value| jp_driver_license(value).into()),
    ("jp_my_number", |value| jp_my_number(value).into()),
    ("kr_brn", |value| kr_brn(value).into()),
    ("kr_driver_license", |value| kr_driver_license(value).into()),
    ("kr_foreigner", |value| kr_number(value, 5).is_some().into()),
    ("kr_frn", |value| kr_number(value, 5).is_some_and(|digits| korean_check(&digits, 13)).into()),
    ("kr_passport", |value| value.first().is_some_and(|first| b"MSRODGmsrodg".contains(first)).into()),
    ("kr_resident", |value| kr_number(value, 1).is_some().into()),
    ("kr_resident_proof", |value| (kr_rrn(value) && kr_number(value, 1).is_some()).into()),
    ("kr_rrn", |value| kr_rrn(value).into()),
    ("mo_bir", |value| matches!(value, [b'1' | b'5' | b'7', ..]).into()),
    ("tw_id", |value| tw_id(value).into()),
];

/// Whether the number begins with a region of China (GB/T 2260).
fn chinese_region(digits: &[u8]) -> bool {
    let region = part(digits, 0, 2);
    matches!(region, 11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83)
}

/// China, residents: a region, the day of birth, an ISO 7064 mod 11-2 check symbol (GB 11643).
fn cn_ric(value: &[u8]) -> bool {
    let Some([number @ .., check]) = symbols::<18>(value) else { return false };
    digits::<17>(&number).is_some_and(|digits| {
        let sum = weighted(&[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2], &digits);
        let expected = match (12 - sum % 11) % 11 {
            10 => b'X',
            digit => char::from_digit(digit, 10).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(b'0'),
        };
        let born = date(part(&digits, 6, 10), part(&digits, 10, 12), part(&digits, 12, 14));
        chinese_region(&digits) && part(&digits, 6, 10) >= 1800 && born && check == expected
    })
}

/// The same in its first form: a year of two digits, no check symbol.
fn cn_ric_first(value: &[u8]) -> bool {
    digits::<15>(value).is_some_and(|digits| {
        chinese_region(&digits)
            && date(1900 + part(&digits, 6, 8), part(&digits, 8, 10), part(&digits, 10, 12))
    })
}

/// China, organisations: mod 31 over digits and the letters without I, O, S, V, Z (GB 32100).
fn cn_uscc(value: &[u8]) -> bool {
    const SYMBOLS: &[u8; 31] = b"0123456789ABCDEFGHJKLMNPQRTUWXY";
    let place =
        |symbol: u8| SYMBOLS.iter().zip(0u32..).find(|&(&known, _)| known == symbol).map(|(_, at)| at);
    let Some(symbols) = symbols::<18>(value) else { return false };
    let shaped = matches!(symbols, [b'1' | b'5' | b'9' | b'A' | b'Y', b'1'..=b'9', ..])
        && symbols.get(2..8).is_some_and(|region| region.iter().all(u8::is_ascii_digit));
    if !shaped {
        return false;
    }
    let mut weight = 1;
    let mut sum = 0;
    for &symbol in symbols.iter().take(17) {
        let Some(at) = place(symbol) else { return false };
        sum += at * weight;
        weight = weight * 3 % 31;
    }
    let [.., check] = symbols;
    place(check) == Some((31 - sum % 31) % 31)
}

/// Whether the organisation's part begins with MA or MB, as all that were given out since 2015.
fn newer(value: &[u8]) -> bool {
    matches!(value.get(8..10), Some(b"MA" | b"MB"))
}

/// China, passports: their kinds, of which E has a second letter since its numbers ran out.
fn cn_passport(value: &[u8]) -> bool {
    match value {
        [b'E' | b'e', second, ..] if second.is_ascii_alphabetic() => !b"IOio".contains(second),
        [first, ..] => b"EGDSPegdsp".contains(first),
        [] => false,
    }
}

/// Hong Kong: one or two letters, six digits, mod 11; a missing letter counts as 36.
fn hk_hkid(value: &[u8]) -> bool {
    let (letters, rest) = match symbols::<9>(value) {
        Some([a, b, rest @ ..]) => (base36(a) * 9 + base36(b) * 8, rest),
        None => match symbols::<8>(value) {
            Some([b, rest @ ..]) => (36 * 9 + base36(b) * 8, rest),
            None => return false,
        },
    };
    let [number @ .., check] = rest;
    let check = base36(check);
    digits::<6>(&number).is_some_and(|digits| {
        let sum = letters + weighted(&[7, 6, 5, 4, 3, 2], &digits) + check;
        check <= 10 && !monotone(&digits) && sum.is_multiple_of(11)
    })
}

/// The two digits that stand for a letter in a number of Taiwan.
fn taiwanese(letter: u8) -> Option<u32> {
    let place = b"ABCDEFGHJKLMNPQRSTUVXYWZIO".iter().position(|&known| known == letter)?;
    u32::try_from(place + 10).ok()
}

/// Taiwan: the letter of a county, the sex, a check digit mod 10.
fn tw_id(value: &[u8]) -> bool {
    let Some([letter, number @ ..]) = symbols::<10>(value) else { return false };
    let (Some(county), Some(digits)) = (taiwanese(letter), digits::<9>(&number)) else { return false };
    let sum = county / 10 + county % 10 * 9 + weighted(&[8, 7, 6, 5, 4, 3, 2, 1, 1], &digits);
    matches!(digits, [1 | 2 | 8 | 9, ..]) && sum.is_multiple_of(10)
}

/// Japan, persons: a check digit mod 11 (Ministry of Internal Affairs, ordinance 85 of 2014).
fn jp_my_number(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let sum = weighted(&[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2], rest);
        let expected = if sum % 11 < 2 { 0 } else { 11 - sum % 11 };
        !monotone(&digits) && expected == check
    })
}

/// Japan, driving licences: the code of the prefecture that gave it out first.
fn jp_driver_license(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| matches!(part(&digits, 0, 2), 10..=97))
}

/// Korea, businesses: the ninth digit counts five times, its tens too.
fn kr_brn(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let ninth = digits.get(8).copied().map_or(0, u32::from) * 5 / 10;
        let sum = weighted(&[1, 3, 7, 1, 3, 7, 1, 3, 5], rest) + ninth;
        !monotone(&digits) && part(&digits, 0, 3) > 100 && (10 - sum % 10) % 10 == check
    })
}

/// Korea, driving licences: the code of the office that gave it out.
fn kr_driver_license(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| matches!(part(&digits, 0, 2), 11..=28))
}

/// The day of birth of a Korean number, its century told by the seventh digit.
fn korean_birth(digits: &[u8; 13]) -> bool {
    let [_, _, _, _, _, _, kind, ..] = *digits;
    let century = match kind {
        0 | 9 => 1800,
        1 | 2 | 5 | 6 => 1900,
        _ => 2000,
    };
    date(century + part(digits, 0, 2), part(digits, 2, 4), part(digits, 4, 6))
}

/// Whether the last digit of a Korean number checks the others; `base` is 11 for residents and 13 for foreigners.
fn korean_check(digits: &[u8; 13], base: u32) -> bool {
    let (check, rest) = split(digits);
    (base - weighted(&[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5], rest) % 11) % 10 == check
}

/// Korea, residents, as given out until October 2020: day of birth, place of registration, check digit.
fn kr_rrn(value: &[u8]) -> bool {
    digits::<13>(value)
        .is_some_and(|digits| korean_birth(&digits) && part(&digits, 7, 9) <= 96 && korean_check(&digits, 11))
}

/// Korea, residents or foreigners by the first of the four kinds they have; numbers since October 2020 have no
/// check digit.
fn kr_number(value: &[u8], kind: u8) -> Option<[u8; 13]> {
    let digits = digits::<13>(value)?;
    let [_, _, _, _, _, _, own, ..] = digits;
    ((kind..kind + 4).contains(&own) && korean_birth(&digits)).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::{Case, all_hold};

    #[test]
    fn numbers_keep_to_the_offices_rules() {
        let cases: &[Case] = &[
            ("cn_passport", &["E12344379", "EA1234357", "g12348657"], &["X12344379", "EI1234357"]),
            (
                "cn_ric",
                &["11010519491205613X"],
                &["110105194912056131", "11010519491305613X", "99010519491205613X"],
            ),
            ("cn_ric_first", &["110105491215697"], &["110105491315697", "990105491215697"]),
            (
                "cn_uscc",
                &["91110000600074619L"],
                &["91110000600074619M", "9A110000600074619L", "B1110000600074619L"],
            ),
            ("cn_uscc_new", &["91310000MA00082784"], &["91110000600037341L"]),
            (
                "hk_hkid",
                &["A123870(4)", "G123084(A)", "AB987654(3)"],
                &["A123870(5)", "A123870(B)", "A12345(3)"],
            ),
            ("jp_driver_license", &["301234552965"], &["091234552965", "981234552965"]),
            ("jp_my_number", &["1234 5677 2182"], &["1234 5677 2183", "111111111111"]),
            ("kr_brn", &["116-82-17573"], &["116-82-17574", "011-68-20027"]),
            ("kr_driver_license", &["13-04-654907-02"], &["10-04-654907-02", "13-04-654907-0"]),
            ("kr_foreigner", &["850312-5142912"], &["850312-1142912", "851312-5142912"]),
            ("kr_frn", &["850312-5170848"], &["850312-5170849", "850312-1170848"]),
            ("kr_passport", &["M123B8998", "s12345209"], &["A12345209"]),
            ("kr_resident", &["850312-1265789"], &["850312-5265789", "850332-1265789"]),
            ("kr_resident_proof", &["850312-1242777"], &["850312-1242778", "850312-5242777"]),
            ("kr_rrn", &["850312-1205901"], &["850312-1205902", "850312-12345"]),
            ("mo_bir", &["1234661(0)", "5/123425/4"], &["2234661(0)"]),
            ("tw_id", &["A123456770"], &["A123456771", "A323456770", "1234567890"]),
        ];
        all_hold(CHECKS, cases);
    }
}
