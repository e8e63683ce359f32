//! Accounts, banks and securities: IBAN (ISO 13616, check ISO 7064 mod 97-10), BIC (ISO 9362), ABA routing numbers,
//! ISIN (ISO 6166), CUSIP, SEDOL, FIGI, LEI (ISO 17442).

use std::sync::LazyLock;

use super::digits::luhn;
use super::{digits_of, number};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("aba_district", |value| (aba_district(value) && aba_routing(value)).into()),
    ("aba_routing", |value| aba_routing(value).into()),
    ("bic", |value| bic(value).into()),
    ("cusip", |value| cusip(value).into()),
    ("figi", |value| figi(value).into()),
    ("iban", |value| iban(value).into()),
    ("isin", |value| isin(value).into()),
    ("lei", |value| lei(value).into()),
    ("sedol", |value| sedol(value).into()),
    ("track", |value| track(value).into()),
];

/// Countries and what their account numbers are made of: lengths of runs of digits (n), upper-case letters (a) and
/// both (c). The registry's first, then those that use the form without being in it.
const STRUCTURES: &str = "AD8n12c AE19n AL8n16c AT16n AZ4a20c BA16n BE12n BG4a6n8c BH4a14c BI23n BR23n1a1c BY4c4n16c \
    CH5n12c CR18n CY8n16c CZ20n DE18n DJ23n DK14n DO4c20n EE16n EG25n ES20n FI14n FK2a12n FO14n FR10n11c2n GB4a14n \
    GE2a16n GI4a15c GL14n GR7n16c GT24c HN4a20n HR17n HU24n IE4a14n IL19n IQ4a15n IS22n IT1a10n12c JO4a4n18c \
    KW4a22c KZ3n13c LB4n20c LC4a24c LI5n12c LT16n LU3n13c LV4a13c LY21n MC10n11c2n MD20c ME18n MK3n10c2n MN16n \
    MR23n MT4a5n18c MU4a19n3a NI4a20n NL4a10n NO11n OM3n16c PK4a16c PL24n PS4a21c PT21n QA4a21c RO4a16c RS18n \
    RU14n15c SA2n18c SC4a20n3a SD14n SE20n SI15n SK20n SM1a10n12c SO19n ST21n SV4a20n TL19n TN20n TR6n16c UA6n19c \
    VA18n VG4a16n XK16n YE4a4n18c \
    AO21n BF2c22n BJ2c22n CF23n CG23n CI2c22n CM23n CV21n DZ22n GA23n GQ23n GW2c19n IR22n KM23n MA24n MG23n ML2c22n \
    MZ21n NE2c22n SN2c22n TD23n TG2c22n";

/// A structure and the length of its account numbers; 0 where there is none.
type Structure = (&'static str, usize);

/// The structures by the two letters of their countries.
static BY_COUNTRY: LazyLock<Vec<Structure>> = LazyLock::new(|| {
    let mut structures = vec![("", 0); 26 * 26];
    for row in STRUCTURES.split(' ') {
        let Some((country, structure)) = row.split_at_checked(2) else { continue };
        let runs = structure.split(|c: char| c.is_ascii_alphabetic());
        let length = runs.filter_map(|run| run.parse::<usize>().ok()).sum();
        if let Some(place) = place(country.as_bytes()).and_then(|place| structures.get_mut(place)) {
            *place = (structure, length);
        }
    }
    structures
});

/// The place of the country that `text` begins with, in any case.
fn place(text: &[u8]) -> Option<usize> {
    let letter =
        |byte: u8| Some(usize::from(byte.to_ascii_uppercase().checked_sub(b'A').filter(|n| *n < 26)?));
    let &[first, second] = text.first_chunk()?;
    Some(letter(first)? * 26 + letter(second)?)
}

/// Whether `symbols`, upper case, are an account number of that structure: `4a14n`.
fn is_made_of(structure: &str, mut symbols: &[u8]) -> bool {
    let mut length = 0;
    for byte in structure.bytes() {
        let class: fn(&u8) -> bool = match byte {
            b'0'..=b'9' => {
                length = length * 10 + usize::from(byte - b'0');
                continue;
            }
            b'n' => u8::is_ascii_digit,
            b'a' => u8::is_ascii_uppercase,
            _ => u8::is_ascii_alphanumeric,
        };
        let Some((run, rest)) = symbols.split_at_checked(std::mem::take(&mut length)) else { return false };
        if !run.iter().all(class) {
            return false;
        }
        symbols = rest;
    }
    symbols.is_empty()
}

/// What the number that the symbols write, letters as 10 to 35, leaves modulo 97 behind `before`; `None` for other
/// symbols.
fn mod97(before: u64, symbols: &[u8]) -> Option<u64> {
    /// What is above is reduced before a symbol is added: a division is dear.
    const ROOM: u64 = u64::MAX / 1000;
    let mut rest = before;
    for symbol in symbols {
        if rest > ROOM {
            rest %= 97;
        }
        rest = match symbol {
            b'0'..=b'9' => rest * 10 + u64::from(symbol - b'0'),
            b'A'..=b'Z' => rest * 100 + u64::from(symbol - b'A') + 10,
            b'a'..=b'z' => rest * 100 + u64::from(symbol - b'a') + 10,
            _ => return None,
        };
    }
    Some(rest % 97)
}

/// The value's letters and digits, upper case, into `buffer`; `None` if there are more than fit.
fn symbols<'b, const N: usize>(value: &[u8], buffer: &'b mut [u8; N]) -> Option<&'b [u8]> {
    let mut length = 0;
    for byte in value.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *buffer.get_mut(length)? = byte.to_ascii_uppercase();
        length += 1;
    }
    buffer.get(..length)
}

/// An IBAN: country, its account structure, check digits. Spaces and dashes don't count.
pub(super) fn iban(value: &[u8]) -> bool {
    // The length is what most candidates fail by, and it is known at once: a separator stands between groups of four,
    // and the last may be written in two.
    let known = place(value).and_then(|place| BY_COUNTRY.get(place)).filter(|(_, length)| *length > 0);
    let Some(&(structure, length)) = known else { return false };
    let separators = value.len().checked_sub(4 + length);
    if separators.is_none_or(|count| count > length.div_ceil(4) + 2) {
        return false;
    }
    // Counted in bytes, of which a processor adds many at once; no value that comes so far is as long as 256.
    let letters: u8 = value.iter().map(|byte| u8::from(byte.is_ascii_alphanumeric())).sum();
    if usize::from(letters) != 4 + length {
        return false;
    }
    let mut buffer = [0; 34];
    let Some(symbols) = symbols(value, &mut buffer) else { return false };
    let Some((head, account)) = symbols.split_at_checked(4) else { return false };
    is_made_of(structure, account) && mod97(0, account).and_then(|rest| mod97(rest, head)) == Some(1)
}

/// ISO 3166-1 countries, and `XK`, by which banks mean Kosovo.
const COUNTRIES: &str = "ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCD\
    CFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZDEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGS\
    GTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDME\
    MFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORS\
    RURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVI\
    VNVUWFWSXKYEYTZAZMZW";

/// Whether the two letters of each place are a country's.
static IS_COUNTRY: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let mut known = vec![false; 26 * 26];
    for country in COUNTRIES.as_bytes().chunks_exact(2) {
        if let Some(known) = place(country).and_then(|place| known.get_mut(place)) {
            *known = true;
        }
    }
    known
});

fn is_country(code: &[u8]) -> bool {
    code.len() == 2 && place(code).and_then(|place| IS_COUNTRY.get(place)) == Some(&true)
}

/// A BIC: four letters, a country, two and perhaps three more characters.
fn bic(value: &[u8]) -> bool {
    matches!(value.len(), 8 | 11)
        && value.get(..6).is_some_and(|head| head.iter().all(u8::is_ascii_alphabetic))
        && value.get(4..6).is_some_and(is_country)
        && value.iter().all(u8::is_ascii_alphanumeric)
}

/// Nine digits with the 3-7-1 check of ABA routing numbers.
fn aba_routing(value: &[u8]) -> bool {
    let mut buffer = [0; 9];
    let Some(&[a, b, c, d, e, f, g, h, i]) = digits_of(value, &mut buffer) else { return false };
    let sum = |x: u8, y: u8, z: u8| u32::from(x) + u32::from(y) + u32::from(z);
    (3 * sum(a, d, g) + 7 * sum(b, e, h) + sum(c, f, i)).is_multiple_of(10)
}

/// Whether the first two digits are a Federal Reserve district, a thrift, an electronic series or the Treasury.
fn aba_district(value: &[u8]) -> bool {
    let mut buffer = [0; 9];
    let head = digits_of(value, &mut buffer).and_then(|digits| digits.get(..4)).map_or(0, number);
    head > 0 && matches!(head / 100, 0..=12 | 21..=32 | 61..=72 | 80)
}

/// The check digit of CUSIP and FIGI over values of characters: each second one doubled, the digits added.
fn doubled(values: impl Iterator<Item = u32>) -> u32 {
    let sum: u32 =
        values.enumerate().map(|(n, value)| value << (n % 2)).map(|value| value / 10 + value % 10).sum();
    (10 - sum % 10) % 10
}

fn ends_with(value: &[u8], check: u32) -> bool {
    value.last().is_some_and(|&last| char::from(last).to_digit(10) == Some(check))
}

/// A CUSIP (ANSI X9.6).
fn cusip(value: &[u8]) -> bool {
    let Some((_, head)) = value.split_last().filter(|_| value.len() == 9) else { return false };
    let values = head.iter().map(|&byte| match byte {
        b'*' => Some(36),
        b'@' => Some(37),
        b'#' => Some(38),
        _ => char::from(byte).to_digit(36),
    });
    values.collect::<Option<Vec<u32>>>().is_some_and(|values| ends_with(value, doubled(values.into_iter())))
}

/// An ISIN: a country or one of the agencies' prefixes, nine characters, a Luhn digit over all as digits.
fn isin(value: &[u8]) -> bool {
    let agency = |head: &[u8]| {
        is_country(head)
            || [b"XS", b"XA", b"XB", b"XC", b"XD", b"XF", b"EU", b"EZ", b"XT", b"QS"]
                .iter()
                .any(|known| known.eq_ignore_ascii_case(head))
    };
    if value.len() != 12
        || !value.get(..2).is_some_and(agency)
        || !value.last().is_some_and(u8::is_ascii_digit)
    {
        return false;
    }
    let mut digits = Vec::with_capacity(24);
    for &byte in value {
        match char::from(byte).to_digit(36).and_then(|value| u8::try_from(value).ok()) {
            Some(value) if value > 9 => digits.extend([value / 10, value % 10]),
            Some(value) => digits.push(value),
            None => return false,
        }
    }
    luhn(&digits)
}

/// A LEI: 18 characters and two check digits, modulo 97.
fn lei(value: &[u8]) -> bool {
    value.len() == 20 && value.iter().skip(18).all(u8::is_ascii_digit) && mod97(0, value) == Some(1)
}

/// A SEDOL: six characters without vowels, a digit that makes the weighted sum a multiple of ten.
fn sedol(value: &[u8]) -> bool {
    let vowel = |byte: &u8| matches!(byte.to_ascii_uppercase(), b'A' | b'E' | b'I' | b'O' | b'U');
    let values = value.iter().map(|&byte| char::from(byte).to_digit(36));
    let sum =
        values.zip([1, 3, 1, 7, 3, 9, 1]).try_fold(0, |sum, (value, weight)| Some(sum + value? * weight));
    value.len() == 7
        && !value.iter().any(vowel)
        && value.last().is_some_and(u8::is_ascii_digit)
        && sum.is_some_and(|sum| sum.is_multiple_of(10))
}

/// A FIGI: two letters that are no prefix of an ISIN in use, `G`, eight characters without vowels, a check digit.
fn figi(value: &[u8]) -> bool {
    let Some((_, head)) = value.split_last().filter(|_| value.len() == 12) else { return false };
    let reserved =
        [b"BS", b"BM", b"GG", b"GB", b"GH", b"KY", b"VG"].iter().any(|known| head.starts_with(*known));
    let values: Option<Vec<u32>> = head.iter().map(|&byte| char::from(byte).to_digit(36)).collect();
    !reserved
        && head.get(2) == Some(&b'G')
        && values.is_some_and(|values| ends_with(value, doubled(values.into_iter())))
}

/// Data of a magnetic stripe (ISO/IEC 7813): a card number in front.
fn track(value: &[u8]) -> bool {
    let number = value.split(|byte| matches!(byte, b'^' | b'=')).next().unwrap_or_default();
    super::digits::any_card(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ibans_of_the_registry() {
        let valid = [
            "DE89 3704 0044 0532 0130 00",
            "GB29NWBK60161331926819",
            "FR14 2004 1010 0505 0001 3M02 606",
            "NO9386011117947",
            "MT84MALT011000012345MTLCAST001S",
            "CH9300762011623852957",
            "NL91ABNA0417164300",
            "gb29nwbk60161331926819",
        ];
        for number in valid {
            assert!(iban(number.as_bytes()), "{number}");
        }
        // The last has digits where the bank's letters belong, with right check digits.
        for number in [
            "DE88370400440532013000",
            "ZZ89370400440532013000",
            "DE8937040044053201300",
            "D",
            "GB95123460161331926819",
        ] {
            assert!(!iban(number.as_bytes()), "{number}");
        }
    }

    #[test]
    fn banks_and_securities() {
        assert!(bic(b"DEUTDEFF500") && bic(b"NEDSZAJJ") && !bic(b"DEUTXXFF") && !bic(b"DEUTDEF"));
        assert!(
            aba_routing(b"021000021")
                && !aba_routing(b"021000022")
                && !aba_district(b"000000000")
                && !aba_district(b"130286477")
        );
        assert!(isin(b"US0378331005") && isin(b"DE000BAY0017") && !isin(b"US0378331006"));
        assert!(cusip(b"037833100") && !cusip(b"037833101"));
        assert!(sedol(b"0263494") && !sedol(b"0263495"));
        assert!(figi(b"BBG000BLNNH6") && !figi(b"BBG000BLNNH7"));
        assert!(lei(b"5493001KJTIIGC8Y1R12") && !lei(b"5493001KJTIIGC8Y1R13"));
        assert!(track(b"B4111111111111111^DOE/JANE^2912101") && !track(b"4111111111111112=2912101"));
    }
}
