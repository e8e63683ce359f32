//! Numbers of Canada and Latin America. Weights and moduli are those of the offices that the rule files name.

use super::digits::luhn;
use super::world::{
    date, digits, monotone, part, proof, short_date, split, symbols, weighted, weighted_back,
};
use super::{CheckResult, digits_of};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("ar_cuit", |value| ar_cuit(value).into()),
    ("br_cnh", |value| br_cnh(value).into()),
    ("br_cnpj", |value| br_cnpj(value).into()),
    ("br_cpf", |value| br_cpf(value).into()),
    ("br_pis", |value| br_pis(value).into()),
    ("br_rg", |value| br_rg(value).into()),
    ("ca_bc_phn", |value| ca_bc_phn(value).into()),
    ("ca_ohip", |value| ca_ohip(value).into()),
    ("ca_quebec_hin", |value| ca_quebec_hin(value).into()),
    ("ca_sin", |value| ca_sin(value).into()),
    ("cl_rut", |value| cl_rut(value).into()),
    ("co_nit", |value| co_nit(value).into()),
    ("cr_cedula", |value| cr_cedula(value).into()),
    ("do_cedula", |value| do_cedula(value).into()),
    ("do_rnc", |value| do_rnc(value).into()),
    ("ec_cedula", |value| ec_cedula(value).into()),
    ("ec_ruc", |value| ec_ruc(value).into()),
    ("gt_cui", |value| gt_cui(value).into()),
    ("gt_nit", |value| gt_nit(value).into()),
    ("mx_clabe", |value| mx_clabe(value).into()),
    ("mx_curp", |value| mx_curp(value).into()),
    ("mx_rfc", |value| mx_rfc(value).into()),
    ("mx_rfc_proof", mx_rfc_proof),
    ("pe_ruc", |value| pe_ruc(value).into()),
    ("py_ruc", |value| py_ruc(value).into()),
    ("sv_dui", |value| sv_dui(value).into()),
    ("uy_ci", |value| uy_ci(value).into()),
    ("uy_rut", |value| uy_rut(value).into()),
    ("ve_rif", |value| ve_rif(value).into()),
];

/// The digits of a value of no fixed length.
fn some_digits<'b, const N: usize>(value: &[u8], buffer: &'b mut [u8; N], least: usize) -> Option<&'b [u8]> {
    digits_of(value, buffer).filter(|digits| digits.len() >= least && !monotone(digits))
}

/// Eleven less the rest, with what offices write for 10 and 11.
const fn eleven_less(sum: u32, ten: u32, eleven: u32) -> u32 {
    match 11 - sum % 11 {
        10 => ten,
        11 => eleven,
        digit => digit,
    }
}

/// Ten less the rest, 0 for 10.
const fn ten_less(sum: u32) -> u32 {
    (10 - sum % 10) % 10
}

/// Canada: nine digits, of which 0 and 8 are not given out as the first, with Luhn's check digit.
fn ca_sin(value: &[u8]) -> bool {
    digits::<9>(value).is_some_and(|digits| !matches!(digits, [0 | 8, ..]) && luhn(&digits))
}

/// Ontario: ten digits with Luhn's check digit, and a version of two letters that does not count.
fn ca_ohip(value: &[u8]) -> bool {
    let mut buffer = [0; 10];
    digits_of(value, &mut buffer).is_some_and(|digits| {
        digits.len() == 10 && !matches!(digits, [0, ..]) && !monotone(digits) && luhn(digits)
    })
}

/// British Columbia: ten digits that begin with 9.
fn ca_bc_phn(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|digits| {
        let sum = weighted(&[0, 2, 4, 8, 5, 10, 9, 7, 3], &digits);
        digits.starts_with(&[9]) && eleven_less(sum, 99, 99) == split(&digits).0
    })
}

/// Quebec: four letters of the name, then the day of birth, with 50 added to the month for women.
fn ca_quebec_hin(value: &[u8]) -> bool {
    symbols::<12>(value).is_some_and(|symbols| {
        let number = symbols.get(4..).and_then(digits::<8>).unwrap_or_default();
        let (year, month, day) = (part(&number, 0, 2), part(&number, 2, 4), part(&number, 4, 6));
        let month = if month > 50 { month - 50 } else { month };
        date(1900 + year, month, day) || date(2000 + year, month, day)
    })
}

/// Brazil, persons: two check digits mod 11.
fn br_cpf(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        let first = eleven_less(weighted(&[10, 9, 8, 7, 6, 5, 4, 3, 2], &digits), 0, 0);
        let second = eleven_less(weighted(&[11, 10, 9, 8, 7, 6, 5, 4, 3, 2], &digits), 0, 0);
        !monotone(&digits) && u64::from(first * 10 + second) == part(&digits, 9, 11)
    })
}

/// Brazil, companies: twelve digits or letters, which count as their ASCII code less 48, and two check digits.
fn br_cnpj(value: &[u8]) -> bool {
    const WEIGHTS: [u32; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
    symbols::<14>(value).is_some_and(|symbols| {
        let values = symbols.map(|symbol| symbol - b'0');
        let first = eleven_less(weighted(WEIGHTS.get(1..).unwrap_or_default(), &values), 0, 0);
        let second = eleven_less(weighted(&WEIGHTS, &values), 0, 0);
        let ends =
            matches!(values, [.., tens, ones] if u32::from(tens) == first && u32::from(ones) == second);
        ends && !monotone(&values)
    })
}

/// Brazil, driving licence: two check digits; where the first would be 10, the second has two taken off.
fn br_cnh(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        let first = weighted(&[9, 8, 7, 6, 5, 4, 3, 2, 1], &digits) % 11;
        let second = weighted(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &digits) % 11;
        let (first, less) = if first == 10 { (0, 2) } else { (first, 0) };
        let second = if second == 10 { 0 } else { (second + 11 - less) % 11 % 10 };
        !monotone(&digits) && u64::from(first * 10 + second) == part(&digits, 9, 11)
    })
}

/// Brazil, social integration programme.
fn br_pis(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        let sum = weighted(&[3, 2, 9, 8, 7, 6, 5, 4, 3, 2], &digits);
        !monotone(&digits) && eleven_less(sum, 0, 0) == split(&digits).0
    })
}

/// Brazil, identity card as São Paulo numbers it: eight digits and a check digit, X for 10.
fn br_rg(value: &[u8]) -> bool {
    let Some([number @ .., check]) = symbols::<9>(value) else { return false };
    let expected = match check {
        b'X' => 10,
        _ => u32::from(check.wrapping_sub(b'0')),
    };
    digits::<8>(&number).is_some_and(|digits| {
        !monotone(&digits) && eleven_less(weighted(&[2, 3, 4, 5, 6, 7, 8, 9], &digits), 10, 0) == expected
    })
}

/// The symbols whose places are their values in a Mexican check digit; Ñ, a letter of two bytes, stands apart.
const MEXICAN: &[u8; 37] = b"0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ";

fn mexican(symbol: u8) -> Option<u32> {
    MEXICAN.iter().position(|&known| known == symbol).and_then(|at| u32::try_from(at).ok())
}

/// Mexico, persons: letters of the name, day of birth, sex, state and a check digit over all.
fn mx_curp(value: &[u8]) -> bool {
    let Some(symbols) = symbols::<18>(value) else { return false };
    let number = symbols.get(4..10).and_then(digits::<6>);
    let letters = |from: usize, to: usize| {
        symbols.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_uppercase))
    };
    let [.., century, check] = symbols;
    let sex = symbols.get(10).copied().unwrap_or_default();
    let base = if century.is_ascii_digit() { 1900 } else { 2000 };
    let born = number.is_some_and(|n| date(base + part(&n, 0, 2), part(&n, 2, 4), part(&n, 4, 6)));
    // Ñ has a place of its own between N and O, where & stands in the other table.
    let sum: Option<u32> = symbols
        .iter()
        .take(17)
        .zip((2..=18).rev())
        .map(|(&symbol, weight)| Some(mexican(symbol)? * weight))
        .sum();
    let sum = sum.map(ten_less);
    letters(0, 4)
        && letters(11, 16)
        && matches!(sex, b'H' | b'M' | b'X')
        && born
        && check.is_ascii_digit()
        && sum == Some(u32::from(check - b'0'))
}

/// How many letters a Mexican taxpayer number begins with, and its day.
fn rfc_parts(value: &[u8]) -> Option<(usize, [u8; 6])> {
    let first = value.iter().position(u8::is_ascii_digit)?;
    let name = value.get(..first)?.iter().filter(|byte| !matches!(byte, b' ' | b'-'));
    // Ñ takes two bytes.
    let letters = name.clone().filter(|byte| byte.is_ascii()).count()
        + name.clone().filter(|byte| !byte.is_ascii()).count() / 2;
    let rest = value.get(first..)?;
    let day: [u8; 6] = digits(rest.get(..6)?)?;
    let tail = rest.get(6..)?.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    (matches!(letters, 3 | 4) && (tail == 3 || tail == 0 && letters == 4)).then_some((letters, day))
}

/// Mexico, taxpayers: letters of the name, a day, and three symbols where they are given.
fn mx_rfc(value: &[u8]) -> bool {
    rfc_parts(value).is_some_and(|(_, day)| short_date(&day, 0))
}

/// As `mx_rfc`, and proved by its check digit.
fn mx_rfc_proof(value: &[u8]) -> CheckResult {
    let symbols = || value.iter().rev().filter(|byte| byte.is_ascii_alphanumeric() || **byte == b'&');
    let upper = symbols().map(u8::to_ascii_uppercase);
    if !mx_rfc(value) {
        return CheckResult::No;
    }
    // A company has three letters, and a space, worth 37, stands for the fourth.
    let space = if symbols().count() == 12 { 13 * 37 } else { 0 };
    let sum =
        upper.skip(1).zip(2..).map(|(symbol, weight)| mexican(symbol).unwrap_or(0) * weight).sum::<u32>();
    let check = match symbols().next() {
        Some(b'A' | b'a') => 10,
        digit => digit.map_or(99, |digit| u32::from(digit.wrapping_sub(b'0'))),
    };
    proof(matches!(symbols().count(), 12 | 13) && eleven_less(sum + space, 10, 0) == check)
}

/// Mexico, bank accounts: weights 3, 7, 1 over bank, branch and account.
fn mx_clabe(value: &[u8]) -> bool {
    digits::<18>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let sum = weighted(&[3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7], rest);
        !digits.starts_with(&[0, 0, 0]) && ten_less(sum) == check
    })
}

/// Argentina: the kinds of holder, and a check digit.
fn ar_cuit(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let kind = matches!(part(&digits, 0, 2), 20 | 23 | 24 | 25 | 26 | 27 | 30 | 33 | 34);
        kind && eleven_less(weighted(&[5, 4, 3, 2, 7, 6, 5, 4, 3, 2], rest), 9, 0) == check
    })
}

/// The number before its check symbol, and that symbol with K and X as 10.
fn with_check<const N: usize>(value: &[u8], buffer: &mut [u8; N]) -> Option<(usize, u32)> {
    let at = value.iter().rposition(u8::is_ascii_alphanumeric)?;
    let check = match value.get(at)? {
        b'K' | b'k' | b'X' | b'x' => 10,
        digit => u32::from(digit.wrapping_sub(b'0')),
    };
    let number = some_digits(value.get(..at)?, buffer, 1)?;
    Some((number.len(), check))
}

/// Chile: weights 2 to 7 from the right, K for 10.
fn cl_rut(value: &[u8]) -> bool {
    let mut number = [0; 8];
    let Some((len, check)) = with_check(value, &mut number) else { return false };
    let sum = weighted_back(&[2, 3, 4, 5, 6, 7, 2, 3], number.get(..len).unwrap_or_default());
    len >= 7 && eleven_less(sum, 10, 0) == check
}

/// Colombia: primes from the right.
fn co_nit(value: &[u8]) -> bool {
    let mut buffer = [0; 11];
    some_digits(value, &mut buffer, 9).is_some_and(|digits| {
        let (check, rest) = split(digits);
        let rest = weighted_back(&[3, 7, 13, 17, 19, 23, 29, 37, 41, 43], rest) % 11;
        check == if rest < 2 { rest } else { 11 - rest }
    })
}

/// Peru, taxpayers: their kinds, and a check digit.
fn pe_ruc(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let kind = matches!(part(&digits, 0, 2), 10 | 15 | 16 | 17 | 20);
        kind && eleven_less(weighted(&[5, 4, 3, 2, 7, 6, 5, 4, 3, 2], rest), 0, 1) == check
    })
}

/// Uruguay, persons: six or seven digits and a check digit.
fn uy_ci(value: &[u8]) -> bool {
    let mut buffer = [0; 8];
    some_digits(value, &mut buffer, 7).is_some_and(|digits| {
        let (check, rest) = split(digits);
        ten_less(weighted_back(&[4, 3, 6, 7, 8, 9, 2], rest)) == check
    })
}

/// Uruguay, taxpayers: the registering office, a number, 001 and a check digit.
fn uy_rut(value: &[u8]) -> bool {
    digits::<12>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let office = matches!(part(&digits, 0, 2), 1..=22) && part(&digits, 8, 11) == 1;
        office && eleven_less(weighted(&[4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2], rest), 99, 0) == check
    })
}

/// Venezuela: the letter of the kind of holder counts too.
fn ve_rif(value: &[u8]) -> bool {
    let Some([kind, number @ ..]) = symbols::<10>(value) else { return false };
    let kind = match kind {
        b'V' => 4,
        b'E' => 8,
        b'J' | b'C' => 12,
        b'P' => 16,
        b'G' => 20,
        _ => return false,
    };
    digits::<9>(&number).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        eleven_less(kind + weighted(&[3, 2, 7, 6, 5, 4, 3, 2], rest), 0, 0) == check
    })
}

/// Paraguay: weights from 2 on from the right.
fn py_ruc(value: &[u8]) -> bool {
    let mut buffer = [0; 9];
    some_digits(value, &mut buffer, 6).is_some_and(|digits| {
        let (check, rest) = split(digits);
        eleven_less(weighted_back(&[2, 3, 4, 5, 6, 7, 8, 9], rest), 0, 0) == check
    })
}

/// Ecuador's provinces, and 30 for those registered abroad.
const fn ecuadorian(province: u64) -> bool {
    matches!(province, 1..=24 | 30)
}

/// Ecuador, persons: province, a third digit below 6, Luhn's check digit.
fn ec_cedula(value: &[u8]) -> bool {
    digits::<10>(value).is_some_and(|digits| {
        ecuadorian(part(&digits, 0, 2)) && matches!(digits, [_, _, 0..=5, ..]) && luhn(&digits)
    })
}

/// Ecuador, taxpayers: persons, public bodies and companies by the third digit, and the number of the branch.
fn ec_ruc(value: &[u8]) -> bool {
    digits::<13>(value).is_some_and(|digits| {
        let check = |at: usize| digits.get(at).copied().map_or(99, u32::from);
        let valid = match digits {
            [_, _, 0..=5, ..] => digits.get(..10).is_some_and(luhn) && part(&digits, 10, 13) > 0,
            [_, _, 6, ..] => {
                eleven_less(weighted(&[3, 2, 7, 6, 5, 4, 3, 2], &digits), 99, 0) == check(8)
                    && part(&digits, 9, 13) > 0
            }
            [_, _, 9, ..] => {
                eleven_less(weighted(&[4, 3, 2, 7, 6, 5, 4, 3, 2], &digits), 99, 0) == check(9)
                    && part(&digits, 10, 13) > 0
            }
            _ => false,
        };
        ecuadorian(part(&digits, 0, 2)) && valid
    })
}

/// Costa Rica, persons: a province, foreigners by birth as 8 and 9; a zero may stand before.
fn cr_cedula(value: &[u8]) -> bool {
    match value {
        [b'0', b'1'..=b'9', b'-', ..] => true,
        [b'1'..=b'9', second, ..] => value.len() == 9 || *second == b'-',
        _ => false,
    }
}

/// Dominican Republic, persons: Luhn's check digit.
fn do_cedula(value: &[u8]) -> bool {
    digits::<11>(value).is_some_and(|digits| !monotone(&digits) && luhn(&digits))
}

/// Dominican Republic, taxpayers: a check digit from 1 to 9.
fn do_rnc(value: &[u8]) -> bool {
    digits::<9>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        let sum = weighted(&[7, 9, 8, 6, 5, 4, 3, 2], rest);
        !monotone(&digits) && (10 - i64::from(sum % 11)).rem_euclid(9) + 1 == i64::from(check)
    })
}

/// Guatemala, persons: eight digits, a check digit, department and municipality.
fn gt_cui(value: &[u8]) -> bool {
    digits::<13>(value).is_some_and(|digits| {
        let sum = weighted(&[2, 3, 4, 5, 6, 7, 8, 9], &digits) % 11;
        let place = matches!(part(&digits, 9, 11), 1..=22) && matches!(part(&digits, 11, 13), 1..=33);
        place && digits.get(8).is_some_and(|&check| u32::from(check) == sum)
    })
}

/// Guatemala, taxpayers: weights from 2 on from the right, K for 10.
fn gt_nit(value: &[u8]) -> bool {
    let mut number = [0; 11];
    let Some((len, check)) = with_check(value, &mut number) else { return false };
    let sum = weighted_back(&[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], number.get(..len).unwrap_or_default());
    eleven_less(sum, 10, 0) == check
}

/// El Salvador: weights 9 to 2.
fn sv_dui(value: &[u8]) -> bool {
    digits::<9>(value).is_some_and(|digits| {
        let (check, rest) = split(&digits);
        !monotone(&digits) && ten_less(weighted(&[9, 8, 7, 6, 5, 4, 3, 2], rest)) == check
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate::cases::{Case, all_hold};

    #[test]
    fn numbers_keep_to_the_offices_rules() {
        let cases: &[Case] = &[
            ("ar_cuit", &["20-05531080-8"], &["20-05531080-9", "21-05531080-8", "20055361682x", ""]),
            ("br_cnh", &["62472960720"], &["62472960721", "6247296072"]),
            (
                "br_cnpj",
                &["16.727.230/0167-86", "12.ABC.345/01DE-35"],
                &["16.727.230/0167-87", "12.ABC.345/01DE-36", "00000000000000", "1672723000019"],
            ),
            ("br_cpf", &["390.533.407-00"], &["390.533.407-01", "11111111111", "39053344705a"]),
            ("br_pis", &["120.56882.52-5"], &["120.56882.52-6", "00000000000"]),
            ("br_rg", &["24.678.406-4"], &["24.678.406-5", "24.678.406-X", "11.111.111-1"]),
            ("ca_bc_phn", &["9698672556"], &["9698672557", "1698672556"]),
            ("ca_ohip", &["9876-549-891-AB"], &["9876-543-218", "0000000000"]),
            ("ca_quebec_hin", &["TREM 7552 1777", "TREM75020464"], &["TREM 7532 1777", "TREM 7552 177"]),
            ("ca_sin", &["123-458-630"], &["123-458-631", "019 283 746", "12345678"]),
            (
                "cl_rut",
                &["76.086.432-3", "12531151-2", "10.000.741-K"],
                &["76.086.432-4", "12531151-K", "1-9"],
            ),
            ("co_nit", &["213.125.491-3"], &["213.125.491-4", "21312343-1", "222222222-2"]),
            (
                "cr_cedula",
                &["1-0455-6100", "01-0456-4885", "104554071"],
                &["0-0455-6100", "00-0456-4885", "004554071"],
            ),
            ("do_cedula", &["00113967533", "224-0003101-3"], &["00113967534", "00000000000"]),
            ("do_rnc", &["1-01-85895-8", "131241255"], &["1-01-85895-9", "111111111"]),
            ("ec_cedula", &["171433845-4"], &["171433845-5", "991433845-4", "177433845-4"]),
            (
                "ec_ruc",
                &["1792090415-001", "1760890913001"],
                &["1792060347001", "1763154690001", "1792060346000"],
            ),
            ("gt_cui", &["4032 14416 0101"], &["4032 14413 0101", "4032 14416 9901"]),
            ("gt_nit", &["576257-K", "7138-2", "39526313"], &["576257-1", "7138-3"]),
            ("mx_clabe", &["032180000118388696"], &["032180000118388697", "000000000000000000"]),
            (
                "mx_curp",
                &["HEVS560427MVZRRL03"],
                &["HEVS560427MVZRRL04", "HEVS561427MVZRRL03", "HEVS560427FVZRRL03"],
            ),
            (
                "mx_rfc",
                &["GOMC850508AB5", "ABC-850401-XY8", "GOMC850521"],
                &["GOMC851308AB5", "ABC850714", "GO850714AB1", "GOMC850508AB", ""],
            ),
            ("mx_rfc_proof", &["GOMC850702AB6"], &["GOMC851302AB6"]),
            ("pe_ruc", &["20512310240"], &["20512310241", "30512310240"]),
            ("py_ruc", &["80028933-1"], &["80028933-2", "12-4"]),
            ("sv_dui", &["00016382-4"], &["00016382-5", "00000000-0"]),
            ("uy_ci", &["1.234.098-9"], &["1.234.098-0", "123"]),
            ("uy_rut", &["213773570017"], &["213773570018", "993773570017", "213773571017"]),
            ("ve_rif", &["V-11470244-3"], &["V-11470244-4", "X-11470244-3", "J-11470244-3"]),
        ];
        all_hold(CHECKS, cases);
    }

    #[test]
    fn a_mexican_check_digit_proves() {
        // A person, the same with another check digit, and without its last symbols.
        assert_eq!(mx_rfc_proof(b"LOHM730418QT7"), CheckResult::Sure);
        assert_eq!(mx_rfc_proof(b"LOHM730418QT8"), CheckResult::Yes);
        assert_eq!(mx_rfc_proof(b"LOHM730418"), CheckResult::Yes);
    }
}
