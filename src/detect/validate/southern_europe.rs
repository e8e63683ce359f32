//! Numbers of Spain, Italy, Greece and Turkey. Each sum is that of the authority the rule names.

use super::digits::luhn;
use super::number;
use super::world::{digits, part, short_date, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("es_dni", |value| es_dni(value).into()),
    ("es_nie", |value| es_nie(value).into()),
    ("es_nif", |value| (es_dni(value) || es_short_dni(value)).into()),
    ("es_ssn", |value| digits::<12>(value).is_some_and(|all| es_ssn(&all)).into()),
    ("gr_amka", |value| digits::<11>(value).is_some_and(|all| short_date_first(&all) && luhn(&all)).into()),
    ("it_codicefiscale", |value| it_codicefiscale(value).into()),
    ("tr_national_id", |value| tr_national_id(value).into()),
    ("tr_plate", |value| tr_plate(value).into()),
];

const DNI: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";

fn es_letter(digits: u64, letter: u8) -> bool {
    DNI.get((digits % 23) as usize) == Some(&letter)
}

/// Spanish DNI: eight digits and a letter that is their remainder by 23.
fn es_dni(value: &[u8]) -> bool {
    let Some([digits @ .., letter]) = symbols::<9>(value) else { return false };
    digits.iter().all(u8::is_ascii_digit) && es_letter(number(&digits.map(|digit| digit - b'0')), letter)
}

/// One written without its leading zero.
fn es_short_dni(value: &[u8]) -> bool {
    let Some([digits @ .., letter]) = symbols::<8>(value) else { return false };
    digits.iter().all(u8::is_ascii_digit) && es_letter(number(&digits.map(|digit| digit - b'0')), letter)
}

/// Spanish number of a foreigner: X, Y or Z stands for 0, 1 or 2.
fn es_nie(value: &[u8]) -> bool {
    let Some([first @ b'X'..=b'Z', digits @ .., letter]) = symbols::<9>(value) else { return false };
    let rest = number(&digits.map(|digit| digit.wrapping_sub(b'0')));
    digits.iter().all(u8::is_ascii_digit) && es_letter(u64::from(first - b'X') * 10_000_000 + rest, letter)
}

/// Italian codice fiscale: odd places by a table, even places by value, the sum's remainder by 26 is the last letter.
fn it_codicefiscale(value: &[u8]) -> bool {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let Some([rest @ .., check]) = symbols::<16>(value) else { return false };
    // Digits count as the letters of their places.
    let place = |symbol: u8| if symbol.is_ascii_digit() { symbol - b'0' } else { symbol - b'A' };
    let sum: u32 = (rest.iter().zip([true, false].into_iter().cycle()))
        .map(|(&symbol, odd)| {
            if odd { ODD.get(usize::from(place(symbol))).copied().unwrap_or(0) } else { place(symbol).into() }
        })
        .sum();
    let month = rest.get(8).is_some_and(|month| b"ABCDEHLMPRST".contains(month));
    let day = it_number(&rest, 9).is_some_and(|day| matches!(day, 1..=31 | 41..=71));
    month && day && u32::from(check.wrapping_sub(b'A')) == sum % 26
}

/// Two digits from `at`; in a code that another person has too, letters stand for digits.
fn it_number(all: &[u8], at: usize) -> Option<u64> {
    let digit = |symbol: &u8| match symbol {
        b'0'..=b'9' => Some(symbol - b'0'),
        symbol => b"LMNPQRSTUV".iter().position(|known| known == symbol).and_then(|n| u8::try_from(n).ok()),
    };
    Some(number(&[digit(all.get(at)?)?, digit(all.get(at + 1)?)?]))
}

/// Turkish identity number: two check digits.
fn tr_national_id(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let odd = weighted(&[1, 0, 1, 0, 1, 0, 1, 0, 1], &all);
    let even = weighted(&[0, 1, 0, 1, 0, 1, 0, 1], &all);
    let tenth = (odd * 7 + 100 - even) % 10;
    let eleventh = (odd + even + tenth) % 10;
    all.first() != Some(&0)
        && all
            .get(9)
            .zip(all.get(10))
            .is_some_and(|(&a, &b)| (u32::from(a), u32::from(b)) == (tenth, eleventh))
}

/// Whether the first six digits are a day as DDMMYY.
fn short_date_first(all: &[u8]) -> bool {
    let turned = [all.get(4..6), all.get(2..4), all.get(0..2)].into_iter().flatten().flatten().copied();
    short_date(&turned.collect::<Vec<u8>>(), 0)
}

fn es_ssn(all: &[u8]) -> bool {
    let (province, number) = (part(all, 0, 2), part(all, 2, 10));
    let whole = if number < 10_000_000 { number + province * 10_000_000 } else { part(all, 0, 10) };
    whole % 97 == part(all, 10, 12) && (1..=66).contains(&province)
}

/// Letters and digits of a Turkish plate: one, two or three letters leave room for so many digits.
fn tr_plate(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    matches!((letters, digits), (1 | 2, 4..=7) | (3, 4..=6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::digits_hold;

    #[test]
    fn numbers_with_their_check_digits() {
        digits_hold(&[
            (es_dni, "54362315K", "54362315Z"),
            (es_nie, "X5253868R", "X5253868M"),
            (it_codicefiscale, "RCCMNL83S18D969H", "RCCMNL83S18D969I"),
            (tr_national_id, "17291716060", "17291716050"),
        ]);
    }
}
