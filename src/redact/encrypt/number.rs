//! Shapes of numbers: their separators and lengths stay, their digits are permuted among the numbers that are
//! valid there, check digits are computed anew, and a first digit that isn't zero stays so (a JSON number must not
//! begin with zero).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use super::cipher::{Cipher, TupleNumber, ValuePart};
use super::letters::{DIGITS, Letters, ShapedSurrogate, in_classes, text_of};

/// The digits of a text and where they stand.
pub(super) fn digits_of(text: &[u8]) -> Letters {
    Letters::of(text, DIGITS)
}

/// Whether both begin with zero, or neither does.
fn same_first(plain: &[u16]) -> impl Fn(&[u16]) -> bool + use<> {
    let zero = plain.first() == Some(&0);
    move |symbols| (symbols.first() == Some(&0)) == zero
}

/// Reads decimal digits as one number; at most 9 of them.
pub(super) fn decimal(symbols: &[u16]) -> u32 {
    symbols.iter().fold(0, |sum, &digit| sum * 10 + u32::from(digit))
}

/// Writes a number in decimal, as far as there is room.
pub(super) fn spell(mut number: u32, symbols: &mut [u16]) {
    for symbol in symbols.iter_mut().rev() {
        *symbol = (number % 10) as u16;
        number /= 10;
    }
}

/// Any number: its digits in place.
pub(super) fn digits(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let mut found = digits_of(&text);
    let same = same_first(&found.symbols);
    cipher.string(ValuePart::Whole, 10, &mut found.symbols, &same)?;
    found.put(&mut text, DIGITS);
    Ok(text_of(text))
}

/// The digit that makes the Luhn sum (ISO/IEC 7812-1 annex B) a multiple of ten.
fn luhn(payload: &[u16]) -> u16 {
    let sum: u16 = payload
        .iter()
        .rev()
        .enumerate()
        .map(|(at, &digit)| match at % 2 {
            0 if digit > 4 => digit * 2 - 9,
            0 => digit * 2,
            _ => digit,
        })
        .sum();
    (10 - sum % 10) % 10
}

/// A payment card: all digits but the last, which is the Luhn digit.
pub(super) fn card(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let mut found = digits_of(&text);
    let Some((check, payload)) = found.symbols.split_last_mut() else { return Ok(None) };
    // A number without its Luhn digit is no card: keep both kinds apart, or two could meet.
    if *check != luhn(payload) {
        return digits(cipher, value);
    }
    let same = same_first(payload);
    cipher.string(ValuePart::Whole, 10, payload, &same)?;
    *check = luhn(payload);
    found.put(&mut text, DIGITS);
    Ok(text_of(text))
}

/// What the three pieces of a nine-digit US number may be, as ranges in order.
struct NineDigits {
    areas: &'static [RangeInclusive<u32>],
    groups: &'static [RangeInclusive<u32>],
    serials: &'static [RangeInclusive<u32>],
}

/// Social security numbers in use: no area 000, 666 or 9xx, no group 00, no serial 0000.
const SSN: NineDigits = NineDigits { areas: &[1..=665, 667..=899], groups: &[1..=99], serials: &[1..=9999] };

/// Taxpayer numbers: area 9xx and the groups the tax office gives out.
const ITIN: NineDigits =
    NineDigits { areas: &[900..=999], groups: &[50..=65, 70..=88, 90..=92, 94..=99], serials: &[0..=9999] };

/// The number's place among those in the ranges.
fn rank(ranges: &[RangeInclusive<u32>], number: u32) -> Option<TupleNumber> {
    let length = |range: &RangeInclusive<u32>| range.end() - range.start() + 1;
    let size = ranges.iter().map(length).sum();
    let at = ranges.iter().position(|range| range.contains(&number))?;
    let before: u32 = ranges.iter().take(at).map(length).sum();
    Some(TupleNumber { size, value: before + number - ranges.get(at)?.start() })
}

fn unrank(ranges: &[RangeInclusive<u32>], rank: u32) -> u32 {
    let mut left = rank;
    for range in ranges {
        let length = range.end() - range.start() + 1;
        if left < length {
            return range.start() + left;
        }
        left -= length;
    }
    0
}

pub(super) fn ssn(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    nine_digits(cipher, value, &SSN)
}

pub(super) fn itin(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    nine_digits(cipher, value, &ITIN)
}

/// Ranks area, group and serial within what is valid, and permutes the ranks.
fn nine_digits(cipher: &Cipher<'_>, value: &str, nine: &NineDigits) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let mut found = digits_of(&text);
    let [area, group, serial] = match found.symbols.as_slice() {
        [a1, a2, a3, g1, g2, serial @ ..] if serial.len() == 4 => {
            [decimal(&[*a1, *a2, *a3]), decimal(&[*g1, *g2]), decimal(serial)]
        }
        _ => return digits(cipher, value),
    };
    let ranks = (rank(nine.areas, area), rank(nine.groups, group), rank(nine.serials, serial));
    let (Some(area_rank), Some(group_rank), Some(serial_rank)) = ranks else { return digits(cipher, value) };
    let mut fields = [area_rank, group_rank, serial_rank];
    let spelled = |fields: &[TupleNumber]| match fields {
        [area, group, serial] => {
            unrank(nine.areas, area.value) * 1_000_000
                + unrank(nine.groups, group.value) * 10_000
                + unrank(nine.serials, serial.value)
        }
        _ => 0,
    };
    let leading_zero = |number: u32| number < 100_000_000;
    let plain = leading_zero(spelled(&fields));
    cipher.tuple(ValuePart::Whole, &mut fields, &|fields| leading_zero(spelled(fields)) == plain)?;
    spell(spelled(&fields), &mut found.symbols);
    found.put(&mut text, DIGITS);
    Ok(text_of(text))
}

/// An IBAN (ISO 13616): country and spacing stay, the rest by letter and digit, check digits computed anew.
pub(super) fn iban(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut text = value.as_bytes().to_vec();
    let places: Vec<usize> =
        text.iter().enumerate().filter(|(_, byte)| byte.is_ascii_alphanumeric()).map(|(at, _)| at).collect();
    let mut plain: Vec<u8> = places.iter().filter_map(|&at| text.get(at).copied()).collect();
    if plain.len() < 5 || remainder(&plain) != 1 {
        return Ok(None);
    }
    if let Some(account) = plain.get_mut(4..) {
        in_classes(cipher, ValuePart::Whole, account)?;
    }
    plain[2..4].copy_from_slice(b"00");
    let check = 98 - remainder(&plain);
    plain[2..4].copy_from_slice(&[b'0' + (check / 10) as u8, b'0' + (check % 10) as u8]);
    for (at, byte) in places.into_iter().zip(plain) {
        text[at] = byte;
    }
    Ok(text_of(text))
}

/// The number that an IBAN spells with its first four characters moved to the end, modulo 97 (ISO 7064).
fn remainder(iban: &[u8]) -> u32 {
    let (front, account) = iban.split_at(4.min(iban.len()));
    account.iter().chain(front).fold(0, |sum, &byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        letter => (sum * 100 + u32::from(letter.to_ascii_uppercase()) - 55) % 97,
    })
}

/// An IP address: any other of its version, in the standard's spelling.
pub(super) fn ip(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    if let Ok(address) = value.parse::<Ipv4Addr>() {
        let [a, b] = [u32::from(address) >> 16, u32::from(address) & 0xffff];
        let mut fields = [a, b].map(|value| TupleNumber { size: 1 << 16, value });
        cipher.tuple(ValuePart::Whole, &mut fields, &|_| true)?;
        let [a, b] = fields.map(|field| field.value);
        return Ok(Some(Ipv4Addr::from(a << 16 | b).to_string()));
    }
    let Ok(address) = value.parse::<Ipv6Addr>() else { return Ok(None) };
    let mut nibbles: Vec<u16> =
        address.octets().iter().flat_map(|octet| [u16::from(octet >> 4), u16::from(octet & 15)]).collect();
    cipher.string(ValuePart::Whole, 16, &mut nibbles, &|_| true)?;
    let bits = nibbles.iter().fold(0, |bits, &nibble| bits << 4 | u128::from(nibble));
    Ok(Some(Ipv6Addr::from(bits).to_string()))
}
