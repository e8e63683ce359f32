//! Numbers of Poland, Czechia, Hungary, Romania, Bulgaria, the states of former Yugoslavia, Russia, Ukraine and
//! Kazakhstan. Each sum is that of the authority the rule names.

use super::world::{date, digits, part, short_date, split, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("bg_egn", |value| ten(value, &[2, 4, 8, 5, 10, 9, 7, 3, 6]).into()),
    ("cz_rc", |value| cz_rc(value).into()),
    ("hu_tax", |value| hu_tax(value).into()),
    ("jmbg", |value| jmbg(value).into()),
    ("kz_iin", |value| kz_iin(value).into()),
    ("pl_pesel", |value| pl_pesel(value).into()),
    ("ro_cnp", |value| ro_cnp(value).into()),
    ("ru_inn", |value| (ru_inn_ten(value) || ru_inn_twelve(value)).into()),
    ("ru_snils", |value| ru_snils(value).into()),
    ("ua_rnokpp", |value| ua_rnokpp(value).into()),
];

/// Polish PESEL: a birthday whose month tells the century.
fn pl_pesel(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let month = part(&all, 2, 4);
    let Some(&century) = [1900, 2000, 2100, 2200, 1800].get((month / 20) as usize) else { return false };
    date(century + part(&all, 0, 2), month % 20, part(&all, 4, 6))
        && weighted(&[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], &all).is_multiple_of(10)
}

/// Ten digits, the last of which is the remainder by 11 of the weighted others, 10 counting as 0.
fn ten(value: &[u8], weights: &[u32]) -> bool {
    digits::<10>(value).is_some_and(|all| weighted(weights, &all) % 11 % 10 == split(&all).0)
}

fn cz_rc(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    // Women have 50 more in the month, numbers that ran out 20 or 70 more.
    let month = part(&all, 2, 4) % 50 % 20;
    let whole = part(&all, 0, 10).is_multiple_of(11) || part(&all, 0, 9) % 11 == 10 && all.get(9) == Some(&0);
    date(2000, month, part(&all, 4, 6)) && whole
}

fn hu_tax(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|all| weighted(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &all) % 11 == split(&all).0)
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

fn ua_rnokpp(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    // The first weight is minus one.
    let (first, rest) = all.split_first().map_or((0, &[][..]), |(&first, rest)| (u32::from(first), rest));
    let sum = weighted(&[5, 7, 9, 4, 6, 10, 5, 7], rest) + 11 - first;
    sum % 11 % 10 == split(&all).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::digits_hold;

    #[test]
    fn numbers_with_their_check_digits() {
        digits_hold(&[(pl_pesel, "44051401359", "44051401358")]);
    }
}
