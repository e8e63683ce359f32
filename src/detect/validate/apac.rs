//! Numbers of Oceania, South Asia and Southeast Asia. Weights and moduli are those of the offices that the rule
//! files name.

use super::digits::luhn;
use super::world::{
    base36, date, digits, monotone, part, proof, short_date, split, symbols, verhoeff, weighted,
};
use super::{Verdict, digits_of};

/// What this file checks, by name.
pub(super) const CHECKS: super::Table = &[
    ("au_abn", |value| au_abn(value).into()),
    ("au_acn", |value| au_acn(value).into()),
    ("au_medicare", |value| au_medicare(value).into()),
    ("au_tfn", |value| au_tfn(value).into()),
    ("id_nik", |value| id_nik(value).into()),
    ("id_npwp", |value| id_npwp(value).into()),
    ("in_aadhaar", |value| in_aadhaar(value).into()),
    ("in_gstin", in_gstin),
    ("in_pan", |value| in_pan(value).into()),
    ("in_passport", |value| in_passport(value).into()),
    ("in_state", |value| in_state(value).into()),
    ("lk_nic", |value| lk_nic(value).into()),
    ("my_mykad", |value| my_mykad(value).into()),
    ("nz_ird", |value| nz_ird(value).into()),
    ("nz_nhi", |value| nz_nhi(value).into()),
    ("ph_tin", |value| ph_tin(value).into()),
    ("pk_cnic", |value| digits::<13>(value).is_some_and(|digits| matches!(digits, [1..=8, ..])).into()),
    ("sg_nric", |value| sg_nric(value).into()),
    ("sg_nric_form", |value| value.first().is_some_and(|first| b"STFGMstfgm".contains(first)).into()),
    ("sg_uen", |value| sg_uen(value).into()),
    ("th_tnin", |value| th_tnin(value).into()),
    ("vn_cccd", |value| vn_cccd(value).into()),
];

/// Australia, businesses: one is taken off the first digit, then mod 89.
fn au_abn(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        let sum = weighted(&[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19], &digits);
        !digits.starts_with(&[0]) && (sum - 10).is_multiple_of(89)
    })
}

/// Australia, companies.
fn au_acn(value: &[u8]) -> bool {
    digits::<9>(value).is_some_and(|digits| {
        let sum = weighted(&[8, 7, 6, 5, 4, 3, 2, 1, 1], &digits);
        sum > 0 && sum.is_multiple_of(10)
    })
}

/// Australia, tax files: eight digits in old numbers, nine in others, mod 11.
fn au_tfn(value: &[u8]) -> bool {
    const WEIGHTS: [u32; 9] = [1, 4, 3, 7, 5, 8, 6, 9, 10];
    let sum = match digits::<9>(value) {
        Some(digits) => weighted(&WEIGHTS, &digits),
        None => digits::<8>(value).map_or(1, |digits| weighted(&WEIGHTS, &digits)),
    };
    sum > 0 && sum.is_multiple_of(11)
}

/// Australia, Medicare cards: the ninth digit checks those before; issue and person follow.
fn au_medicare(value: &[u8]) -> bool {
    let mut buffer = [0; 11];
    let Some(digits @ [first, ..]) = digits_of(value, &mut buffer) else { return false };
    let sum = weighted(&[1, 3, 7, 9, 1, 3, 7, 9], digits) % 10;
    let issued = digits.get(9).is_some_and(|&issue| issue > 0) || digits.len() == 10;
    matches!(first, 2..=6)
        && digits.len() >= 10
        && issued
        && digits.get(8).is_some_and(|&check| u32::from(check) == sum)
}

/// New Zealand, taxpayers: a second set of weights where the first gives 10.
fn nz_ird(value: &[u8]) -> bool {
    let digits = digits::<9>(value).or_else(|| {
        let [a, b, c, d, e, f, g, h] = digits::<8>(value)?;
        Some([0, a, b, c, d, e, f, g, h])
    });
    let check = |weights, digits: &[u8]| match weighted(weights, digits) % 11 {
        0 => 0,
        rest => 11 - rest,
    };
    digits.is_some_and(|digits| {
        let (last, number) = split(&digits);
        let first = check(&[3, 2, 7, 6, 5, 4, 3, 2], number);
        let expected = if first == 10 { check(&[7, 4, 3, 2, 5, 2, 7, 6], number) } else { first };
        matches!(part(&digits, 0, 9), 10_000_000..=200_000_000) && expected == last
    })
}

/// New Zealand, patients: letters without I and O count from 1; mod 11 before and mod 23 since the new form.
fn nz_nhi(value: &[u8]) -> bool {
    const LETTERS: &[u8; 24] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
    let letter = |symbol: u8| {
        LETTERS.iter().zip(1..).find(|&(&known, _)| known == symbol).map_or(0, |(_, n): (&u8, u32)| n)
    };
    let Some([a, b, c, d, e, f, check]) = symbols::<7>(value) else { return false };
    let letters = [a, b, c].map(letter);
    if letters.contains(&0) || !d.is_ascii_digit() || !e.is_ascii_digit() {
        return false;
    }
    let [a, b, c] = letters;
    let sum = a * 7 + b * 6 + c * 5 + base36(d) * 4 + base36(e) * 3;
    if f.is_ascii_digit() && check.is_ascii_digit() {
        let rest = (sum + base36(f) * 2) % 11;
        return rest > 0 && (11 - rest) % 10 == base36(check);
    }
    let (f, check) = (letter(f), letter(check));
    f > 0 && check > 0 && 23 - (sum + f * 2) % 23 == check
}

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
fn in_gstin(value: &[u8]) -> Verdict {
    let Some(symbols) = symbols::<15>(value) else { return Verdict::No };
    let state = symbols.get(..2).and_then(digits::<2>).map_or(0, |digits| part(&digits, 0, 2));
    if !matches!(state, 1..=38 | 96 | 97 | 99) {
        return Verdict::No;
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
    use super::*;
    use crate::detect::validate::cases::{Case, all_hold};

    #[test]
    fn numbers_keep_to_the_offices_rules() {
        let cases: &[Case] = &[
            ("au_abn", &["83 914 547 373"], &["83 914 547 374", "03 914 547 373", "8391457167"]),
            ("au_acn", &["004 082 606"], &["004 082 607", "000000000"]),
            (
                "au_medicare",
                &["2428 79907 7", "2428 77415 9/7"],
                &["2428 79902 7", "7428 79907 7", "242877813"],
            ),
            ("au_tfn", &["123 451 613", "81856579"], &["123 451 614", "000000000", "1234567"]),
            (
                "id_nik",
                &["3171014708851413", "3171010708854889"],
                &["3171013213850001", "9971014708851413", "3171014708850000"],
            ),
            ("id_npwp", &["01.312.166.0-089.765"], &["01.312.167.0-089.765", "000000000091000"]),
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
            ("my_mykad", &["770305-04-1356"], &["771305-04-1356", "770305-00-1356"]),
            ("nz_ird", &["49-093-500", "136-412-698", "35903526"], &["49-093-501", "136410133", "9125568"]),
            ("nz_nhi", &["ZZZ0148", "ZAC5833", "ZBN01VL"], &["ZZZ0149", "ZBN01VM", "ZIZ0148", "ZZZA148"]),
            ("ph_tin", &["000-518-219-001", "000120972"], &["000-518-217-001", "0001234567", "111111111"]),
            ("pk_cnic", &["34201-0899117-2"], &["04201-0899117-2", "34201-0891231"]),
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

    #[test]
    fn a_tax_number_of_india_is_proved_by_its_last_symbol() {
        assert_eq!(in_gstin(b"27AAPFU0939F1ZV"), Verdict::Sure);
        assert_eq!(in_gstin(b"27AAPFU0939F1ZW"), Verdict::Yes);
    }
}
