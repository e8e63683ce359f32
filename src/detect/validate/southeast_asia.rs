//! Numbers of Indonesia, Malaysia, the Philippines, Singapore, Thailand and Viet Nam. Weights and moduli are those of
//! the offices that the rule files name.

use super::digits::luhn;
use super::digits_of;
use super::world::{date, digits, monotone, part, short_date, split, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("id_nik", |value| id_nik(value).into()),
    ("id_npwp", |value| id_npwp(value).into()),
    ("my_mykad", |value| my_mykad(value).into()),
    ("ph_tin", |value| ph_tin(value).into()),
    ("sg_nric", |value| sg_nric(value).into()),
    ("sg_nric_form", |value| value.first().is_some_and(|first| b"STFGMstfgm".contains(first)).into()),
    ("sg_uen", |value| sg_uen(value).into()),
    ("th_tnin", |value| th_tnin(value).into()),
    ("vn_cccd", |value| vn_cccd(value).into()),
];

/// Malaysia: day of birth, then the place's code.
fn my_mykad(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| {
        let place = matches!(part(&digits, 6, 8), 1..=16 | 21..=68 | 71..=72 | 74..=79 | 82..=93 | 98..=99);
        place && short_date(&digits, 0)
    })
}

/// Indonesia, persons: province, regency, district, day of birth with 40 added for women.
fn id_nik(value: &[u8]) -> bool {
    digits::<16>(value).is_some_and(|mut digits| {
        let province = matches!(
            part(&digits, 0, 2),
            11..=19 | 21 | 31..=36 | 51..=53 | 61..=65 | 71..=76 | 81 | 82 | 91..=97
        );
        if let Some(tens) = digits.get_mut(6).filter(|tens| **tens >= 4) {
            *tens -= 4;
        }
        let (day, month, year) = (part(&digits, 6, 8), part(&digits, 8, 10), part(&digits, 10, 12));
        let placed = part(&digits, 2, 4) > 0 && part(&digits, 4, 6) > 0 && part(&digits, 12, 16) > 0;
        province && placed && (date(1900 + year, month, day) || date(2000 + year, month, day))
    })
}

/// Indonesia, taxpayers: nine digits with Luhn's check digit, then office and branch.
fn id_npwp(value: &[u8]) -> bool {
    digits::<15>(value)
        .is_some_and(|digits| digits.get(..9).is_some_and(|number| !monotone(number) && luhn(number)))
}

/// Philippines, taxpayers: nine digits mod 11, then a branch of three or five.
fn ph_tin(value: &[u8]) -> bool {
    let mut buffer = [0; 14];
    let Some(digits) = digits_of(value, &mut buffer) else { return false };
    let rest = weighted(&[9, 8, 7, 6, 5, 4, 3, 2], digits) % 11;
    matches!(digits.len(), 9 | 12 | 14)
        && digits.get(..9).is_some_and(|number| !monotone(number))
        && digits.get(8).is_some_and(|&check| u32::from(check) == rest)
}

/// Singapore, persons: the check letter by what the first letter says.
fn sg_nric(value: &[u8]) -> bool {
    let Some([first, number @ .., check]) = symbols::<9>(value) else { return false };
    let (letters, offset) = match first {
        b'S' => (b"JZIHGFEDCBA", 0),
        b'T' => (b"JZIHGFEDCBA", 4),
        b'F' => (b"XWUTRQPNMLK", 0),
        b'G' => (b"XWUTRQPNMLK", 4),
        b'M' => (b"XWUTRQPNJLK", 3),
        _ => return false,
    };
    digits::<7>(&number).is_some_and(|digits| {
        let rest = (weighted(&[2, 7, 6, 5, 4, 3, 2], &digits) + offset) % 11;
        letters.iter().zip(0..).any(|(&letter, at)| at == rest && letter == check)
    })
}

/// Singapore, entities: businesses, local companies and others, each with letters and weights of their own.
fn sg_uen(value: &[u8]) -> bool {
    const OTHERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWX0123456789";
    let at = |letters: &[u8], rest: u32, check: u8| {
        letters.iter().zip(0..).any(|(&letter, at)| at == rest && letter == check)
    };
    if let Some([number @ .., check]) = symbols::<9>(value) {
        return digits::<8>(&number).is_some_and(|digits| {
            at(b"XMKECAWLJDB", weighted(&[10, 4, 9, 3, 8, 2, 7, 1], &digits) % 11, check)
        });
    }
    let Some([number @ .., check]) = symbols::<10>(value) else { return false };
    if let Some(digits) = digits::<9>(&number) {
        return at(b"ZKCMDNERGWH", weighted(&[10, 8, 6, 4, 9, 7, 5, 3, 1], &digits) % 11, check);
    }
    let [first, year @ .., _, _, _, _, _, _] = number;
    let place = |symbol: u8| OTHERS.iter().zip(0u32..).find(|&(&known, _)| known == symbol).map(|(_, at)| at);
    let weights = [4, 3, 5, 3, 10, 2, 2, 5, 7];
    let sum: Option<u32> =
        number.iter().zip(weights).map(|(&symbol, weight)| Some(place(symbol)? * weight)).sum();
    let shape = b"RST".contains(&first)
        && year.iter().all(u8::is_ascii_digit)
        && number.get(3..5).is_some_and(|kind| kind.iter().all(u8::is_ascii_uppercase))
        && number.get(5..).is_some_and(|serial| serial.iter().all(u8::is_ascii_digit));
    shape && sum.is_some_and(|sum| at(OTHERS, (sum + 6) % 11, check))
}

/// Thailand: the kind of person, a province, a check digit mod 11.
fn th_tnin(value: &[u8]) -> bool {
    digits::<13>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let sum = weighted(&[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2], rest);
        let province = matches!(
            part(&digits, 1, 3),
            10..=27 | 30..=49 | 50..=58 | 60..=67 | 70..=77 | 80..=86 | 90..=96
        );
        !digits.starts_with(&[0]) && province && (11 - sum % 11) % 10 == check
    })
}

/// Viet Nam: province of birth, then sex and century, then the year.
fn vn_cccd(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| {
        matches!(part(&digits, 0, 3), 1..=96)
            && matches!(digits, [_, _, _, 0..=3, ..])
            && part(&digits, 6, 12) > 0
    })
}

#[cfg(test)]
mod tests {
    use super::super::cases::{Case, all_hold};
    use super::*;

    #[test]
    fn numbers_keep_to_the_offices_rules() {
        let cases: &[Case] = &[
            (
                "id_nik",
                &["3171014708851413", "3171010708854889"],
                &["3171013213850001", "9971014708851413", "3171014708850000"],
            ),
            ("id_npwp", &["01.312.166.0-089.765"], &["01.312.167.0-089.765", "000000000091000"]),
            ("my_mykad", &["770305-04-1356"], &["771305-04-1356", "770305-00-1356"]),
            ("ph_tin", &["000-518-219-001", "000120972"], &["000-518-217-001", "0001234567", "111111111"]),
            (
                "sg_nric",
                &["S1238196D", "T1236710J", "F1233189N", "G1236092X"],
                &["S1238196E", "A1238196D", "S123456D"],
            ),
            ("sg_nric_form", &["S1230200A"], &["A1230200D"]),
            (
                "sg_uen",
                &["00195100M", "197408452C", "T01FC6813D"],
                &["00195100N", "197408452D", "T01FC6813E", "X01FC6813D"],
            ),
            ("th_tnin", &["1-1018-00082-52-2"], &["1-1018-00082-52-3", "0101800099879", "1290000000001"]),
            ("vn_cccd", &["001088121828"], &["099088121828", "001488121828"]),
        ];
        all_hold(CHECKS, cases);
    }
}
