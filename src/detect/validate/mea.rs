//! Numbers of the Middle East and Africa. Weights and moduli are those of the offices that the rule files name.

use super::digits::luhn;
use super::world::{date, digits, monotone, part, short_date, split, verhoeff, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("ae_eid", |value| ae_eid(value).into()),
    ("bh_cpr", |value| digits::<9>(value).is_some_and(|digits| matches!(part(&digits, 2, 4), 1..=12)).into()),
    ("eg_nid", |value| eg_nid(value).into()),
    ("il_id", |value| il_id(value).into()),
    ("ir_national_code", |value| ir_national_code(value).into()),
    ("kw_civil_id", |value| kw_civil_id(value).into()),
    ("ng_bvn", |value| matches!(value, [b'2', ..]).into()),
    ("ng_nin", |value| ng_nin(value).into()),
    ("qa_qid", |value| qa_qid(value).into()),
    ("sa_id", |value| sa_id(value).into()),
    ("tn_cin", |value| matches!(value, [b'0' | b'1', ..]).into()),
    ("tz_nida", |value| tz_nida(value).into()),
    ("za_idnr", |value| za_idnr(value).into()),
];

/// Emirates: 784, the year of birth, Luhn's check digit.
fn ae_eid(value: &[u8]) -> bool {
    digits::<15>(value).is_some_and(|digits| {
        digits.starts_with(&[7, 8, 4]) && matches!(part(&digits, 3, 7), 1900..=2099) && luhn(&digits)
    })
}

/// Egypt: century, day of birth, governorate. What makes the check digit is not published.
fn eg_nid(value: &[u8]) -> bool {
    digits::<14>(value).is_some_and(|digits| {
        let century = match digits {
            [2, ..] => 1900,
            [3, ..] => 2000,
            _ => return false,
        };
        let born = date(century + part(&digits, 1, 3), part(&digits, 3, 5), part(&digits, 5, 7));
        let governorate = matches!(part(&digits, 7, 9), 1..=4 | 11..=19 | 21..=29 | 31..=35 | 88);
        born && governorate
    })
}

/// Israel: Luhn's sum over nine digits, leading zeros counted.
fn il_id(value: &[u8]) -> bool {
    digits::<9>(value).is_some_and(|digits| !monotone(&digits) && part(&digits, 0, 9) > 9999 && luhn(&digits))
}

/// Iran: a check digit mod 11.
fn ir_national_code(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let sum = weighted(&[10, 9, 8, 7, 6, 5, 4, 3, 2], rest) % 11;
        !monotone(&digits) && check == if sum < 2 { sum } else { 11 - sum }
    })
}

/// Kuwait: century, day of birth, a check digit mod 11.
fn kw_civil_id(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let century = match digits {
            [2, ..] => 1900,
            [3, ..] => 2000,
            _ => return false,
        };
        let born = date(century + part(&digits, 1, 3), part(&digits, 3, 5), part(&digits, 5, 7));
        born && 11 - weighted(&[2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2], rest) % 11 == check
    })
}

/// Nigeria: Verhoeff's check digit.
fn ng_nin(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| !monotone(&digits) && verhoeff(&digits))
}

/// Qatar: century, year of birth, country of birth as ISO 3166-1 numeric.
fn qa_qid(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        matches!(digits, [2 | 3, ..]) && matches!(part(&digits, 3, 6), 4..=894) && part(&digits, 6, 11) > 0
    })
}

/// Saudi Arabia: citizens begin with 1, residents with 2; Luhn's check digit.
fn sa_id(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|digits| matches!(digits, [1 | 2, ..]) && luhn(&digits))
}

/// Tanzania: the day of birth, then place, serial and check digits whose rule is not published.
fn tz_nida(value: &[u8]) -> bool {
    digits::<20>(value).is_some_and(|digits| {
        let year = part(&digits, 0, 4);
        matches!(year, 1900..=2099) && date(year, part(&digits, 4, 6), part(&digits, 6, 8))
    })
}

/// South Africa: day of birth, what kind of resident, Luhn's check digit.
fn za_idnr(value: &[u8]) -> bool {
    digits::<13>(value).is_some_and(|digits| {
        let resident = digits.get(10).is_some_and(|kind| *kind <= 2);
        resident && short_date(&digits, 0) && luhn(&digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::{Case, all_hold};

    #[test]
    fn numbers_keep_to_the_offices_rules() {
        let cases: &[Case] = &[
            (
                "ae_eid",
                &["784-1984-0009420-1"],
                &["784-1984-0009420-2", "783-1984-0009420-1", "784-1884-0009420-1"],
            ),
            ("bh_cpr", &["850314876"], &["851314876", "85031487"]),
            ("eg_nid", &["28001011236864"], &["48001011236864", "28013011236864", "28001015036864"]),
            ("il_id", &["039332879"], &["039332870", "000000000", "03933287"]),
            ("ir_national_code", &["0499325729", "001-354952-9"], &["0499325720", "1111111111"]),
            ("kw_civil_id", &["290010159849"], &["290010159840", "190010159849"]),
            ("ng_bvn", &["22212332119"], &["12212332119"]),
            ("ng_nin", &["12345629807"], &["12345629808", "00000000000", "1234562980"]),
            ("qa_qid", &["28563412413"], &["48563412413", "28500012345"]),
            ("sa_id", &["1000013381"], &["1000013382", "3000013381"]),
            ("tn_cin", &["01239791"], &["31239791"]),
            ("tz_nida", &["19850312-12345-00081-71"], &["19851312-12345-00081-71", "19850312-12345-00081-7"]),
            ("za_idnr", &["750309 5120 12 3"], &["750309 5120 12 4", "751309 5120 12 3", "750309511708"]),
        ];
        all_hold(CHECKS, cases);
    }
}
