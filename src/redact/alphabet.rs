//! The alphabets of format-preserving encryption (contract: `fpe_alphabet`), in an order that must never change:
//! digits, lower case, upper case. A symbol's number is its place in it (SP 800-38G section 4.1).

use serde::{Deserialize, Serialize};

/// The characters that are encrypted. As JSON it is its [name](Alphabet::name).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alphabet {
    /// `0-9`.
    Numeric,
    /// `a-z`.
    AlphaLower,
    /// `A-Z`.
    AlphaUpper,
    /// `a-zA-Z`.
    Alpha,
    /// `0-9a-z`.
    AlphanumericLower,
    /// `0-9A-Z`.
    AlphanumericUpper,
    /// `0-9a-zA-Z`.
    #[default]
    Alphanumeric,
}

const ALL: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS_UPPER: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

impl Alphabet {
    /// Every one, in the order of their numbers in a context.
    pub const ALL: [Self; 7] = [
        Self::Numeric,
        Self::AlphaLower,
        Self::AlphaUpper,
        Self::Alpha,
        Self::AlphanumericLower,
        Self::AlphanumericUpper,
        Self::Alphanumeric,
    ];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Numeric => "numeric",
            Self::AlphaLower => "alphalower",
            Self::AlphaUpper => "alphaupper",
            Self::Alpha => "alpha",
            Self::AlphanumericLower => "alphanumericlower",
            Self::AlphanumericUpper => "alphanumericupper",
            Self::Alphanumeric => "alphanumeric",
        }
    }

    /// The alphabet of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|alphabet| alphabet.name() == name)
    }

    /// Its symbols in order.
    pub fn symbols(self) -> &'static [u8] {
        let all = ALL.as_bytes();
        let part = match self {
            Self::Numeric => all.get(..10),
            Self::AlphaLower => all.get(10..36),
            Self::AlphaUpper => all.get(36..),
            Self::Alpha => all.get(10..),
            Self::AlphanumericLower => all.get(..36),
            Self::AlphanumericUpper => Some(DIGITS_UPPER.as_bytes()),
            Self::Alphanumeric => Some(all),
        };
        part.unwrap_or_default()
    }

    /// How many symbols it has.
    pub fn radix(self) -> u32 {
        self.symbols().len() as u32
    }

    /// Its symbols in a text, by number.
    pub(super) fn numbers(self, text: &str) -> Vec<u16> {
        text.bytes().filter_map(|byte| self.number(byte)).collect()
    }

    /// The text with other symbols where it had some; what is not in the alphabet stays.
    pub(super) fn write(self, text: &str, numbers: &[u16]) -> String {
        let mut numbers = numbers.iter();
        let symbol = |c: char| {
            let known = u8::try_from(c).ok().filter(|byte| self.number(*byte).is_some());
            let next = known.and_then(|_| self.symbols().get(usize::from(*numbers.next()?)));
            next.map_or(c, |&byte| char::from(byte))
        };
        text.chars().map(symbol).collect()
    }

    fn number(self, byte: u8) -> Option<u16> {
        self.symbols().iter().position(|&symbol| symbol == byte).map(|at| at as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_stays_where_it_is() {
        for (alphabet, radix) in Alphabet::ALL.into_iter().zip([10, 26, 26, 52, 36, 36, 62]) {
            assert_eq!((alphabet.radix(), Alphabet::named(alphabet.name())), (radix, Some(alphabet)));
            assert_eq!(serde_json::to_value(alphabet).unwrap(), alphabet.name(), "stored configs hold it");
        }
        let text = "é1-aZ9";
        assert_eq!(Alphabet::Numeric.numbers(text), [1, 9]);
        assert_eq!(Alphabet::Alphanumeric.numbers(text), [1, 10, 61, 9]);
        assert_eq!(Alphabet::Numeric.write(text, &[3, 4]), "é3-aZ4");
        assert_eq!(Alphabet::Alpha.write(text, &[0, 1]), "é1-ab9");
    }
}
