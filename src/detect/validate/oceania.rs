//! Numbers of Australia and New Zealand. Weights and moduli are those of the offices that the rule files name.

use super::digits_of;
use super::world::{base36, digits, part, split, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("au_abn", |value| au_abn(value).into()),
    ("au_acn", |value| au_acn(value).into()),
    ("au_medicare", |value| au_medicare(value).into()),
    ("au_tfn", |value| au_tfn(value).into()),
    ("nz_ird", |value| nz_ird(value).into()),
    ("nz_nhi", |value| nz_nhi(value).into()),
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

#[cfg(test)]
mod tests {
    use super::super::cases::{Case, all_hold};
    use super::*;

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
            ("nz_ird", &["49-093-500", "136-412-698", "35903526"], &["49-093-501", "136410133", "9125568"]),
            ("nz_nhi", &["ZZZ0148", "ZAC5833", "ZBN01VL"], &["ZZZ0149", "ZBN01VM", "ZIZ0148", "ZZZA148"]),
        ];
        all_hold(CHECKS, cases);
    }
}
