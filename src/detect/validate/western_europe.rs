//! Numbers of the United Kingdom, Ireland, France, the Netherlands, Belgium, Austria and Switzerland. Each sum is that of
//! the authority the rule names.

use super::number;
use super::world::{base36, digits, monotone, part, split, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("at_svnr", |value| at_svnr(value).into()),
    ("be_nrn", |value| be_nrn(value).into()),
    ("ch_ssn", |value| ch_ssn(value).into()),
    ("fr_nir", |value| fr_nir(value).into()),
    ("ie_pps", |value| ie_pps(value).into()),
    ("nl_bsn", |value| nl_bsn(value).into()),
    ("uk_licence", |value| uk_licence(value).into()),
    ("uk_nhs", |value| uk_nhs(value).into()),
    ("uk_nino", |value| uk_nino(value).into()),
    ("uk_utr", |value| uk_utr(value).into()),
];

/// Swiss AHV number: an EAN-13 of the country 756.
fn ch_ssn(value: &[u8]) -> bool {
    let Some(all) = digits::<13>(value) else { return false };
    part(&all, 0, 3) == 756 && weighted(&[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1], &all).is_multiple_of(10)
}

/// French NIR: the complement of the remainder by 97; the departments of Corsica have letters.
fn fr_nir(value: &[u8]) -> bool {
    let Some(mut all) = symbols::<15>(value) else { return false };
    let corsica = match (all.get(5), all.get(6)) {
        (Some(b'2'), Some(b'A')) => Some(b'9'),
        (Some(b'2'), Some(b'B')) => Some(b'8'),
        _ => None,
    };
    if let (Some(last), [.., ten, one, _, _, _, _, _, _, _, _]) = (corsica, &mut all[..]) {
        (*ten, *one) = (b'1', last);
    }
    let all = all.map(|symbol| symbol.wrapping_sub(b'0'));
    all.iter().all(|&digit| digit < 10) && 97 - part(&all, 0, 13) % 97 == part(&all, 13, 15)
}

/// Dutch BSN: eight or nine digits, weights 9 to 2 and minus 1, a multiple of 11.
fn nl_bsn(value: &[u8]) -> bool {
    let nine = digits::<9>(value).or_else(|| {
        let eight = digits::<8>(value)?;
        let mut nine = [0; 9];
        nine.iter_mut().skip(1).zip(eight).for_each(|(to, from)| *to = from);
        Some(nine)
    });
    let Some(all) = nine else { return false };
    let (check, rest) = split(&all);
    let sum = weighted(&[9, 8, 7, 6, 5, 4, 3, 2], rest);
    number(&all) > 0 && sum >= check && (sum - check).is_multiple_of(11)
}

/// NHS number: weights 10 to 2, the complement of the remainder by 11.
fn uk_nhs(value: &[u8]) -> bool {
    let Some(all) = digits::<10>(value) else { return false };
    let (check, rest) = split(&all);
    (11 - weighted(&[10, 9, 8, 7, 6, 5, 4, 3, 2], rest) % 11) % 11 == check && !monotone(&all)
}

/// National insurance number: prefixes that HMRC does not give out.
fn uk_nino(value: &[u8]) -> bool {
    let Some([first, second, .., last]) = symbols::<9>(value) else { return false };
    let never = [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"];
    !b"DFIQUV".contains(&first)
        && !b"DFIOQUV".contains(&second)
        && !never.contains(&&[first, second])
        && matches!(last, b'A'..=b'D')
}

/// Unique taxpayer reference: the first digit checks the others.
fn uk_utr(value: &[u8]) -> bool {
    let Some([check, rest @ ..]) = digits::<10>(value) else { return false };
    let place = weighted(&[6, 7, 8, 9, 10, 5, 4, 3, 2], &rest) % 11;
    [2, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1].get(place as usize) == Some(&check)
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

/// The surname of a driver number is filled up with nines, which stand behind its letters only.
fn uk_licence(value: &[u8]) -> bool {
    let Some(all) = symbols::<16>(value) else { return false };
    let name = all.get(..5).unwrap_or_default();
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    letters > 0 && name.iter().skip(letters).all(|&byte| byte == b'9')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::digits_hold;

    #[test]
    fn numbers_with_their_check_digits() {
        digits_hold(&[
            (ch_ssn, "756.9217.0769.85", "756.9217.0769.84"),
            (fr_nir, "2 95 10 99 126 111 93", "2 95 10 99 126 111 94"),
            (nl_bsn, "1112.22.333", "1112.52.333"),
            (uk_nhs, "943-476-5870", "943-476-5871"),
            (uk_utr, "1955839661", "2955839661"),
        ]);
    }
}
