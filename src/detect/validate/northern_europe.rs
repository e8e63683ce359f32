//! Numbers of the Nordic and the Baltic states. Each sum is that of the authority the rule names.

use super::digits::luhn;
use super::number;
use super::world::{date, digits, part, short_date, split, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("dk_cpr", |value| dk_cpr(value).into()),
    ("ee_code", |value| ee_code(value).into()),
    ("fi_hetu", |value| (fi_hetu(value) && !fi_temporary(value)).into()),
    ("fi_hetu_any", |value| fi_hetu(value).into()),
    ("is_kennitala", |value| is_kennitala(value).into()),
    ("lv_code", |value| lv_code(value).into()),
    ("no_fnr", |value| no_fnr(value).into()),
    ("se_organisationsnummer", |value| se_organisationsnummer(value).into()),
    ("se_personnummer", |value| se_personnummer(value).into()),
];

/// Danish CPR number: a birthday whose century the seventh digit tells. Numbers since 2007 have no check digit.
fn dk_cpr(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    let (day, month, year) = (part(&all, 0, 2), part(&all, 2, 4), part(&all, 4, 6));
    let century = match all.get(6) {
        Some(5..=8) if year >= 58 => 1800,
        Some(0..=3) => 1900,
        Some(4 | 9) if year >= 37 => 1900,
        _ => 2000,
    };
    date(century + year, month, day) && century + year < 2030
}

/// Finnish HETU: birthday, century sign, individual number, and a sign of the remainder by 31.
fn fi_hetu(value: &[u8]) -> bool {
    const SIGNS: &[u8; 31] = b"0123456789ABCDEFHJKLMNPRSTUVWXY";
    let Ok(all) = <[u8; 11]>::try_from(value) else { return false };
    let [birthday @ .., sign, a, b, c, check] = all.map(|byte| byte.to_ascii_uppercase());
    let plain = [a, b, c];
    if !birthday.iter().chain(&plain).all(u8::is_ascii_digit) {
        return false;
    }
    let century = match sign {
        b'+' => 1800,
        b'-' | b'U'..=b'Y' => 1900,
        b'A'..=b'F' => 2000,
        _ => return false,
    };
    let day = birthday.map(|digit| digit - b'0');
    let individual = number(&plain.map(|digit| digit - b'0'));
    let there = date(century + part(&day, 4, 6), part(&day, 2, 4), part(&day, 0, 2));
    let place = (number(&day) * 1000 + individual) % 31;
    there && individual >= 2 && SIGNS.get(place as usize) == Some(&check)
}

/// Individual numbers from 900 on are temporary.
fn fi_temporary(value: &[u8]) -> bool {
    value.get(7) == Some(&b'9')
}

/// Swedish personnummer, of ten or twelve digits: a birthday (60 more for a coordination number) and Luhn's digit.
fn se_personnummer(value: &[u8]) -> bool {
    let ten = digits::<10>(value).or_else(|| {
        let [_, _, ten @ ..] = digits::<12>(value).filter(|all| matches!(part(all, 0, 2), 19 | 20))?;
        Some(ten)
    });
    ten.is_some_and(|mut all| {
        let right = luhn(&all);
        if let Some(day) = all.get_mut(4).filter(|day| **day >= 6) {
            *day -= 6;
        }
        right && short_date(&all, 0)
    })
}

/// Swedish organisation number: the third digit is at least 2, so that it is no birthday.
fn se_organisationsnummer(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|all| all.get(2).is_some_and(|&digit| digit >= 2) && luhn(&all))
}

fn ee_code(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let (check, _) = split(&all);
    let first = weighted(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 1], &all) % 11;
    let second = weighted(&[3, 4, 5, 6, 7, 8, 9, 1, 2, 3], &all) % 11 % 10;
    date(2000, part(&all, 3, 5), part(&all, 5, 7)) && check == if first < 10 { first } else { second }
}

fn is_kennitala(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    let check = (11 - weighted(&[3, 2, 7, 6, 5, 4, 3, 2], &all) % 11) % 11;
    let day = part(&all, 0, 2) % 40;
    date(2000, part(&all, 2, 4), day) && all.get(8).is_some_and(|&digit| u32::from(digit) == check)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::digits_hold;

    #[test]
    fn numbers_with_their_check_digits() {
        digits_hold(&[
            (dk_cpr, "211062-5629", "310262-5629"),
            (fi_hetu, "240784-219V", "240784-219A"),
            (se_personnummer, "880320-0016", "880320-0018"),
        ]);
    }
}
