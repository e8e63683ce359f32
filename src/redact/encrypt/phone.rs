//! Phone numbers. Their country's code, their length and what stands between digits stays.

use super::cipher::{Cipher, TupleNumber, ValuePart};
use super::letters::{DIGITS, Letters, ShapedSurrogate, text_of};
use super::number::{decimal, digits_of, spell};
use super::unassigned;
use crate::redact::dialled::DialledNumber;
use crate::redact::error::RedactError;

/// Countries in which a zero that stands before a number is a part of it, from abroad as well: Ivory Coast, Gabon, Congo,
/// San Marino, Italy.
const KEEPING_ZERO: [&str; 5] = ["225", "241", "242", "378", "39"];

/// A text with a phone number: its digits, and those of an extension behind them.
struct Number {
    text: Vec<u8>,
    digits: Letters,
    extension: Letters,
    plus: bool,
}

impl Number {
    fn of(value: &str) -> Self {
        let text = value.as_bytes().to_vec();
        let end = text.iter().position(u8::is_ascii_alphabetic).unwrap_or(text.len());
        let (main, behind) = text.split_at(end);
        let mut extension = digits_of(behind);
        extension.places.iter_mut().for_each(|place| *place += end);
        Self { digits: digits_of(main), extension, plus: value.starts_with('+'), text }
    }

    fn digits(&self) -> String {
        self.digits.symbols.iter().filter_map(|&digit| char::from_digit(u32::from(digit), 10)).collect()
    }

    fn written(self, cipher: &Cipher<'_>) -> ShapedSurrogate {
        let Self { mut text, digits, mut extension, .. } = self;
        digits.put(&mut text, DIGITS);
        cipher.string(ValuePart::Extension, 10, &mut extension.symbols, &|_| true)?;
        extension.put(&mut text, DIGITS);
        Ok(text_of(text))
    }
}

/// A number that is assigned to nobody in its country, or, where that is not known, in hardly any. However it is dialled,
/// the same digits follow from those within the country. Two may meet: who issues surrogates takes the next counter.
/// `None` for a number too short for that.
pub(super) fn unassigned(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut number = Number::of(value);
    let digits = number.digits();
    let DialledNumber { country, national, trunk } = DialledNumber::of(number.plus, &digits);
    let (country, from) = match country {
        country if KEEPING_ZERO.contains(&country) && trunk => (country, national - 1),
        // A 1 that is dialled before may be the first digit of another country's number.
        "1" if !number.plus && national == 1 => (country, 0),
        country => (country, if country.is_empty() { 0 } else { national }),
    };
    let Some(place) = number.digits.symbols.get_mut(from..) else { return Ok(None) };
    let mut draws =
        cipher.draws(ValuePart::Unassigned, digits.get(national..).unwrap_or_default().as_bytes());
    let Some(beginning) = unassigned::beginning(country, digits.get(from..).unwrap_or_default(), &mut draws)
    else {
        return Ok(None);
    };
    let Some((begins, rest)) = place.split_at_mut_checked(beginning.len()) else { return Ok(None) };
    for (symbol, digit) in begins.iter_mut().zip(beginning.bytes()) {
        *symbol = u16::from(digit - b'0');
    }
    draws.fill(10, rest);
    number.written(cipher)
}

/// Any other number, which may be somebody's: no two meet.
pub(super) fn any(cipher: &Cipher<'_>, value: &str) -> ShapedSurrogate {
    let mut number = Number::of(value);
    let digits = number.digits();
    let DialledNumber { country, national, .. } = DialledNumber::of(number.plus, &digits);
    let within = number.digits.symbols.get_mut(national..).unwrap_or_default();
    if country == "1" && within.len() == 10 && matches!(within, [2..=9, ..]) {
        north_american(cipher, within)?;
    } else if let [_, rest @ ..] = within {
        cipher.string(ValuePart::Whole, 10, rest, &|_| true)?;
    }
    number.written(cipher)
}

/// Ten digits of the North American plan: area and exchange begin with 2–9, and N11 are services, not exchanges.
/// Exchanges that break a rule (an example's `415-123-4567`) keep breaking it.
fn north_american(cipher: &Cipher<'_>, national: &mut [u16]) -> Result<(), RedactError> {
    let [a0, a1, a2, e0, e1, e2, rest @ ..] = national else { return Ok(()) };
    let (from, size) = if *e0 < 2 { (0, 2) } else { (2, 8) };
    let mut fields = [
        TupleNumber { size: 8, value: u32::from(*a0) - 2 },
        TupleNumber { size: 100, value: decimal(&[*a1, *a2]) },
        TupleNumber { size, value: u32::from(*e0) - from },
        TupleNumber { size: 100, value: decimal(&[*e1, *e2]) },
        TupleNumber { size: 10_000, value: decimal(rest) },
    ];
    let services =
        |fields: &[TupleNumber]| [1, 3].map(|at| fields.get(at).is_some_and(|field| field.value == 11));
    let plain = services(&fields);
    cipher.tuple(ValuePart::Whole, &mut fields, &|fields| services(fields) == plain)?;
    let [area, area_rest, exchange, exchange_rest, line] = fields.map(|field| field.value);
    let front = (area + 2) * 100_000 + area_rest * 1000 + (exchange + from) * 100 + exchange_rest;
    let mut front_digits = [0; 6];
    spell(front, &mut front_digits);
    [*a0, *a1, *a2, *e0, *e1, *e2] = front_digits;
    spell(line, rest);
    Ok(())
}
