//! Numbers of European states: persons, patients, taxes. Each sum is that of the authority the rule names.

use super::digits::luhn;
use super::number;
use super::world::{base36, date, digits, monotone, part, short_date, split, symbols, weighted};

/// What this file checks, by name.
pub(super) const CHECKS: super::Table = &[
    ("ch_ssn", |value| ch_ssn(value).into()),
    ("de_bsnr", |value| de_bsnr(value).into()),
    ("de_document", |value| de_document(value).into()),
    ("de_health_insurance", |value| de_health_insurance(value).into()),
    ("de_idnr", |value| de_idnr(value).into()),
    ("de_idnr_sum", |value| {
        digits::<11>(value).is_some_and(|all| all.first() != Some(&0) && eleven_ten(&all)).into()
    }),
    ("de_lanr", |value| de_lanr(value).into()),
    ("de_social_security", |value| de_social_security(value).into()),
    ("dk_cpr", |value| dk_cpr(value).into()),
    ("es_dni", |value| es_dni(value).into()),
    ("es_nie", |value| es_nie(value).into()),
    ("es_nif", |value| (es_dni(value) || es_short_dni(value)).into()),
    ("fi_hetu", |value| (fi_hetu(value) && !fi_temporary(value)).into()),
    ("fi_hetu_any", |value| fi_hetu(value).into()),
    ("fr_nir", |value| fr_nir(value).into()),
    ("it_codicefiscale", |value| it_codicefiscale(value).into()),
    ("nl_bsn", |value| nl_bsn(value).into()),
    ("pl_pesel", |value| pl_pesel(value).into()),
    ("se_organisationsnummer", |value| se_organisationsnummer(value).into()),
    ("se_personnummer", |value| se_personnummer(value).into()),
    ("tr_national_id", |value| tr_national_id(value).into()),
    ("uk_nhs", |value| uk_nhs(value).into()),
    ("uk_nino", |value| uk_nino(value).into()),
    ("uk_utr", |value| uk_utr(value).into()),
];

/// ISO 7064 MOD 11,10 over all digits, the last of which is the check digit.
pub(super) fn eleven_ten(all: &[u8]) -> bool {
    let (check, rest) = split(all);
    let product = rest.iter().fold(10, |product, &digit| {
        let sum = (u32::from(digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == check
}

/// Swiss AHV number: an EAN-13 of the country 756.
fn ch_ssn(value: &[u8]) -> bool {
    let Some(all) = digits::<13>(value) else { return false };
    part(&all, 0, 3) == 756 && weighted(&[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1], &all).is_multiple_of(10)
}

/// German practice number: begins with the number of an association of physicians.
fn de_bsnr(value: &[u8]) -> bool {
    const OF: [u64; 19] = [1, 2, 3, 17, 20, 35, 38, 46, 51, 52, 71, 72, 73, 78, 83, 88, 93, 98, 99];
    digits::<9>(value).is_some_and(|all| OF.contains(&part(&all, 0, 2)))
}

/// German identity card or passport: weights 7, 3, 1 (ICAO Doc 9303-3 section 4.9) over eight symbols.
fn de_document(value: &[u8]) -> bool {
    let Some(all) = symbols::<9>(value) else { return false };
    let Some((&check, rest)) = all.split_last() else { return false };
    let sum: u32 =
        rest.iter().zip([7, 3, 1].iter().cycle()).map(|(&symbol, weight)| base36(symbol) * weight).sum();
    check.is_ascii_digit() && sum % 10 == u32::from(check - b'0')
}

/// The sum of the digits of each product with a weight.
fn cross_sums(weights: &[u32], digits: &[u32]) -> u32 {
    weights
        .iter()
        .zip(digits)
        .map(|(weight, digit)| weight * digit)
        .map(|product| product / 10 + product % 10)
        .sum()
}

/// The digits of `all`, a letter as the two digits of its place in the alphabet.
fn spelled(all: &[u8]) -> Vec<u32> {
    let two = |symbol: &u8| match symbol {
        b'A'..=b'Z' => [u32::from(symbol - b'@') / 10, u32::from(symbol - b'@') % 10].to_vec(),
        digit => vec![base36(*digit)],
    };
    all.iter().flat_map(two).collect()
}

/// German health insurance number (section 290 SGB V).
fn de_health_insurance(value: &[u8]) -> bool {
    let Some(all) = symbols::<10>(value) else { return false };
    let Some((&check, rest)) = all.split_last() else { return false };
    let shaped =
        all.first().is_some_and(u8::is_ascii_uppercase) && all.iter().skip(1).all(u8::is_ascii_digit);
    shaped && cross_sums(&[1, 2, 1, 2, 1, 2, 1, 2, 1, 2], &spelled(rest)) % 10 == base36(check)
}

/// German tax identification number: of the first ten digits exactly one is there twice or three times.
fn de_idnr(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let count = |digit: u8| all.iter().take(10).filter(|&&one| one == digit).count();
    let repeated: Vec<usize> = (0..10).map(count).filter(|&count| count > 1).collect();
    all.first() != Some(&0) && matches!(repeated.as_slice(), [2 | 3]) && eleven_ten(&all)
}

/// German physician number: the seventh digit checks six; two of a specialty follow.
fn de_lanr(value: &[u8]) -> bool {
    let Some(all) = digits::<9>(value) else { return false };
    let sum = weighted(&[4, 9, 4, 9, 4, 9], &all) % 10;
    all.get(6).is_some_and(|&check| (10 - sum) % 10 == u32::from(check)) && part(&all, 7, 9) > 0
}

/// German pension insurance number (section 147 SGB VI): area, birthday, letter, serial number, check digit.
fn de_social_security(value: &[u8]) -> bool {
    let Some(all) = symbols::<12>(value) else { return false };
    let numbers = |from: usize, to: usize| {
        let digits = all.get(from..to).unwrap_or_default();
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| number(&digits.iter().map(|digit| digit - b'0').collect::<Vec<_>>()))
    };
    let (Some(day), Some(month), Some(_), Some(_)) =
        (numbers(2, 4), numbers(4, 6), numbers(0, 2), numbers(9, 12))
    else {
        return false;
    };
    let day = if day > 50 { day - 50 } else { day };
    let (check, rest) = all.split_last().map_or((0, &[][..]), |(&last, rest)| (base36(last), rest));
    let sum = cross_sums(&[2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1], &spelled(rest));
    all.get(8).is_some_and(u8::is_ascii_uppercase) && date(2000, month, day) && sum % 10 == check
}

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

/// Polish PESEL: a birthday whose month tells the century.
fn pl_pesel(value: &[u8]) -> bool {
    let Some(all) = digits::<11>(value) else { return false };
    let month = part(&all, 2, 4);
    let Some(&century) = [1900, 2000, 2100, 2200, 1800].get((month / 20) as usize) else { return false };
    date(century + part(&all, 0, 2), month % 20, part(&all, 4, 6))
        && weighted(&[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1], &all).is_multiple_of(10)
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

#[cfg(test)]
mod tests {
    use super::*;

    type Case = (fn(&[u8]) -> bool, &'static str, &'static str);

    #[test]
    fn numbers_with_their_check_digits() {
        let cases: &[Case] = &[
            (ch_ssn, "756.9217.0769.85", "756.9217.0769.84"),
            (de_idnr, "86095742719", "86095742710"),
            (de_lanr, "246810601", "246810701"),
            (dk_cpr, "211062-5629", "310262-5629"),
            (es_dni, "54362315K", "54362315Z"),
            (es_nie, "X5253868R", "X5253868M"),
            (fi_hetu, "240784-219V", "240784-219A"),
            (fr_nir, "2 95 10 99 126 111 93", "2 95 10 99 126 111 94"),
            (it_codicefiscale, "RCCMNL83S18D969H", "RCCMNL83S18D969I"),
            (nl_bsn, "1112.22.333", "1112.52.333"),
            (pl_pesel, "44051401359", "44051401358"),
            (se_personnummer, "880320-0016", "880320-0018"),
            (tr_national_id, "17291716060", "17291716050"),
            (uk_nhs, "943-476-5870", "943-476-5871"),
            (uk_utr, "1955839661", "2955839661"),
        ];
        for (check, right, wrong) in cases {
            assert!(check(right.as_bytes()), "{right}");
            assert!(!check(wrong.as_bytes()), "{wrong}");
        }
    }
}
