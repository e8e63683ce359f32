//! More numbers of European states: the north, the east and the south-east, licences and plates.

use super::digits::luhn;
use super::world::{base36, date, digits, part, short_date, split, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::Table = &[
    ("at_svnr", |value| at_svnr(value).into()),
    ("be_nrn", |value| be_nrn(value).into()),
    ("bg_egn", |value| ten(value, &[2, 4, 8, 5, 10, 9, 7, 3, 6]).into()),
    ("cz_rc", |value| cz_rc(value).into()),
    ("de_id_old", |value| (symbols::<9>(value).is_some_and(|all| all.get(1..3) != Some(b"22"))).into()),
    ("de_kfz", |value| value.iter().any(u8::is_ascii_digit).into()),
    ("de_licence", |value| (symbols::<11>(value).is_some()).into()),
    ("de_plz", |value| {
        digits::<5>(value).is_some_and(|all| (1001..=99_998).contains(&part(&all, 0, 5))).into()
    }),
    ("ee_code", |value| ee_code(value).into()),
    ("es_ssn", |value| digits::<12>(value).is_some_and(|all| es_ssn(&all)).into()),
    ("gr_amka", |value| digits::<11>(value).is_some_and(|all| short_date_first(&all) && luhn(&all)).into()),
    ("hu_tax", |value| hu_tax(value).into()),
    ("ie_pps", |value| ie_pps(value).into()),
    ("is_kennitala", |value| is_kennitala(value).into()),
    ("jmbg", |value| jmbg(value).into()),
    ("kz_iin", |value| kz_iin(value).into()),
    ("lv_code", |value| lv_code(value).into()),
    ("no_fnr", |value| no_fnr(value).into()),
    ("ro_cnp", |value| ro_cnp(value).into()),
    ("ru_inn", |value| (ru_inn_ten(value) || ru_inn_twelve(value)).into()),
    ("ru_snils", |value| ru_snils(value).into()),
    ("tr_plate", |value| tr_plate(value).into()),
    ("ua_rnokpp", |value| ua_rnokpp(value).into()),
    ("uk_licence", |value| uk_licence(value).into()),
];

/// Whether the first six digits are a day as DDMMYY.
fn short_date_first(all: &[u8]) -> bool {
    let turned = [all.get(4..6), all.get(2..4), all.get(0..2)].into_iter().flatten().flatten().copied();
    short_date(&turned.collect::<Vec<u8>>(), 0)
}

/// Ten digits, the last of which is the remainder by 11 of the weighted others, 10 counting as 0.
fn ten(value: &[u8], weights: &[u32]) -> bool {
    digits::<10>(value).is_some_and(|all| weighted(weights, &all) % 11 % 10 == split(&all).0)
}

fn at_svnr(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    let sum = weighted(&[3, 7, 9, 0, 5, 8, 4, 2, 1, 6], &all) % 11;
    all.get(3).is_some_and(|&check| u32::from(check) == sum)
}

fn be_nrn(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let (number, check) = (part(&all, 0, 9), part(&all, 9, 11));
    check == 97 - number % 97 || check == 97 - (2_000_000_000 + number) % 97
}

fn cz_rc(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    // Women have 50 more in the month, numbers that ran out 20 or 70 more.
    let month = part(&all, 2, 4) % 50 % 20;
    let whole = part(&all, 0, 10).is_multiple_of(11) || part(&all, 0, 9) % 11 == 10 && all.get(9) == Some(&0);
    date(2000, month, part(&all, 4, 6)) && whole
}

fn ee_code(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let (check, _) = split(&all);
    let first = weighted(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 1], &all) % 11;
    let second = weighted(&[3, 4, 5, 6, 7, 8, 9, 1, 2, 3], &all) % 11 % 10;
    date(2000, part(&all, 3, 5), part(&all, 5, 7)) && check == if first < 10 { first } else { second }
}

fn es_ssn(all: &[u8]) -> bool {
    let (province, number) = (part(all, 0, 2), part(all, 2, 10));
    let whole = if number < 10_000_000 { number + province * 10_000_000 } else { part(all, 0, 10) };
    whole % 97 == part(all, 10, 12) && (1..=66).contains(&province)
}

fn hu_tax(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|all| weighted(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &all) % 11 == split(&all).0)
}

fn ie_pps(value: &[u8]) -> bool {
    let upper: Vec<u8> =
        value.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_uppercase).collect();
    let Some((seven, letters)) =
        upper.split_at_checked(7).filter(|(seven, _)| seven.iter().all(u8::is_ascii_digit))
    else {
        return false;
    };
    let plain: Vec<u8> = seven.iter().map(|digit| digit - b'0').collect();
    let second = letters.get(1).filter(|letter| **letter != b'W' && **letter != b'T' && **letter != b'X');
    let more = second.map_or(0, |letter| (base36(*letter) - 9) * 9);
    let place = (weighted(&[8, 7, 6, 5, 4, 3, 2], &plain) + more) % 23;
    letters.first() == b"WABCDEFGHIJKLMNOPQRSTUV".get(place as usize)
}

fn is_kennitala(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    let check = (11 - weighted(&[3, 2, 7, 6, 5, 4, 3, 2], &all) % 11) % 11;
    let day = part(&all, 0, 2) % 40;
    date(2000, part(&all, 2, 4), day) && all.get(8).is_some_and(|&digit| u32::from(digit) == check)
}

fn jmbg(value: &[u8]) -> bool {
    let Some(all) = digits::<13>(value) else { return false };
    let check = (11 - weighted(&[7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2], &all) % 11) % 11 % 10;
    date(2000, part(&all, 2, 4), part(&all, 0, 2)) && check == split(&all).0
}

fn kz_iin(value: &[u8]) -> bool {
    let Some(all) = digits::<12>(value) else { return false };
    let first = weighted(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &all) % 11;
    let second = weighted(&[3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2], &all) % 11;
    let check = if first < 10 { first } else { second };
    short_date(&all, 0) && check == split(&all).0
}

fn lv_code(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let check = (1 + weighted(&[10, 5, 8, 4, 2, 1, 6, 3, 7, 9], &all)) % 11 % 10;
    part(&all, 0, 2) == 32 || check == split(&all).0
}

fn no_fnr(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let first = weighted(&[3, 7, 6, 1, 8, 9, 4, 5, 2, 1], &all);
    let second = weighted(&[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1], &all);
    // A D number has 40 more in the day, a helping number 40 more in the month.
    let there = date(2000, part(&all, 2, 4) % 40, part(&all, 0, 2) % 40);
    there && first.is_multiple_of(11) && second.is_multiple_of(11)
}

fn ro_cnp(value: &[u8]) -> bool {
    let Some(all) = digits::<13>(value) else { return false };
    let sum = weighted(&[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9], &all) % 11;
    short_date(&all, 1) && split(&all).0 == if sum == 10 { 1 } else { sum }
}

fn ru_inn_ten(value: &[u8]) -> bool {
    ten(value, &[2, 4, 10, 3, 5, 9, 4, 6, 8])
}

fn ru_inn_twelve(value: &[u8]) -> bool {
    let Some(all) = digits::<12>(value) else { return false };
    let first = weighted(&[7, 2, 4, 10, 3, 5, 9, 4, 6, 8], &all) % 11 % 10;
    let second = weighted(&[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8], &all) % 11 % 10;
    all.get(10).is_some_and(|&digit| u32::from(digit) == first) && split(&all).0 == second
}

fn ru_snils(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let sum = weighted(&[9, 8, 7, 6, 5, 4, 3, 2, 1], &all) % 101 % 100;
    u64::from(sum) == part(&all, 9, 11)
}

/// Letters and digits of a Turkish plate: one, two or three letters leave room for so many digits.
fn tr_plate(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    matches!((letters, digits), (1 | 2, 4..=7) | (3, 4..=6))
}

fn ua_rnokpp(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    // The first weight is minus one.
    let (first, rest) = all.split_first().map_or((0, &[][..]), |(&first, rest)| (u32::from(first), rest));
    let sum = weighted(&[5, 7, 9, 4, 6, 10, 5, 7], rest) + 11 - first;
    sum % 11 % 10 == split(&all).0
}

/// The surname of a driver number is filled up with nines, which stand behind its letters only.
fn uk_licence(value: &[u8]) -> bool {
    let Some(all) = symbols::<16>(value) else { return false };
    let name = all.get(..5).unwrap_or_default();
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    letters > 0 && name.iter().skip(letters).all(|&byte| byte == b'9')
}
