//! Letters and digits of ASCII in a text, permuted where they stand.

use super::cipher::{Cipher, TupleNumber, ValuePart};
use crate::redact::error::RedactError;

pub(super) const DIGITS: &[u8] = b"0123456789";
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Digits and small letters of numbers to base 16; the capitals.
const HEX: &[u8] = b"0123456789abcdef";
const UPPER_HEX: &[u8] = b"0123456789ABCDEF";
/// The shortest text of such digits that is more likely a number than letters and digits by chance, in bytes.
const SHORTEST_HEX: usize = 16;

/// The surrogate, or `None` where the value isn't laid out as its format says.
pub(super) type ShapedSurrogate = Result<Option<String>, RedactError>;

/// The letters of one alphabet in a text, and where they stand.
pub(super) struct Letters {
    pub(super) places: Vec<usize>,
    pub(super) symbols: Vec<u16>,
}

impl Letters {
    pub(super) fn of(text: &[u8], alphabet: &[u8]) -> Self {
        let found = text.iter().enumerate().filter_map(|(at, byte)| {
            let symbol = alphabet.iter().position(|letter| letter == byte)?;
            Some((at, symbol as u16))
        });
        let (places, symbols) = found.unzip();
        Self { places, symbols }
    }

    /// Writes the symbols back to where they were.
    pub(super) fn put(&self, text: &mut [u8], alphabet: &[u8]) {
        for (&at, &symbol) in self.places.iter().zip(&self.symbols) {
            if let (Some(place), Some(&letter)) = (text.get_mut(at), alphabet.get(usize::from(symbol))) {
                *place = letter;
            }
        }
    }
}

/// Only ASCII was put in place of ASCII, so this is always text.
pub(super) fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// Permutes the letters of one alphabet in place.
pub(super) fn in_alphabet(
    cipher: &Cipher<'_>,
    part: ValuePart,
    text: &mut [u8],
    alphabet: &[u8],
) -> Result<(), RedactError> {
    let mut letters = Letters::of(text, alphabet);
    cipher.string(part, alphabet.len() as u32, &mut letters.symbols, &|_| true)?;
    letters.put(text, alphabet);
    Ok(())
}

/// Letters and digits of a secret: those of a number to base 16 stay its digits, in their case, for whoever reads it as one
/// would fail; others as [`in_classes`].
pub(super) fn in_secret(cipher: &Cipher<'_>, text: &mut [u8]) -> Result<(), RedactError> {
    let mixed = |text: &[u8]| text.iter().any(u8::is_ascii_digit) && text.iter().any(u8::is_ascii_alphabetic);
    let of =
        |alphabet: &&[u8]| text.iter().all(|byte| !byte.is_ascii_alphanumeric() || alphabet.contains(byte));
    let alphabet = [HEX, UPPER_HEX].into_iter().find(of).filter(|_| mixed(text));
    let Some(alphabet) = alphabet.filter(|_| text.len() >= SHORTEST_HEX) else {
        return in_classes(cipher, ValuePart::Whole, text);
    };
    let mut letters = Letters::of(text, alphabet);
    let both = |symbols: &[u16]| symbols.iter().any(|&one| one < 10) && symbols.iter().any(|&one| one >= 10);
    cipher.string(ValuePart::Whole, alphabet.len() as u32, &mut letters.symbols, &both)?;
    letters.put(text, alphabet);
    Ok(())
}

/// The ASCII letters and digits of a text, each kept within its class: as one tuple where that many tuples can be
/// counted, else class by class.
pub(super) fn in_classes(cipher: &Cipher<'_>, part: ValuePart, text: &mut [u8]) -> Result<(), RedactError> {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => Some((10, b'0')),
        b'a'..=b'z' => Some((26, b'a')),
        b'A'..=b'Z' => Some((26, b'A')),
        _ => None,
    };
    let field =
        |&byte: &u8| class(byte).map(|(size, first)| TupleNumber { size, value: u32::from(byte - first) });
    let mut fields: Vec<TupleNumber> = text.iter().filter_map(field).collect();
    if cipher.tuple(part, &mut fields, &|_| true)? {
        let mut fields = fields.into_iter();
        for byte in text {
            if let Some((_, first)) = class(*byte)
                && let Some(field) = fields.next()
            {
                *byte = first + field.value as u8;
            }
        }
        return Ok(());
    }
    for (part, alphabet) in
        [(ValuePart::Digits, DIGITS), (ValuePart::Lower, LOWER), (ValuePart::Upper, UPPER)]
    {
        in_alphabet(cipher, part, text, alphabet)?;
    }
    Ok(())
}
