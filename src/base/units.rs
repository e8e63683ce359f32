//! Sizes and times as people write them: `"64KiB"`, `"30s"`. One number, one unit, nothing else: `"1m30s"` and
//! `"1.5MiB"` are refused rather than guessed at, and so is a bare number, whose unit nobody could see.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;

/// Bytes, at least 1. Written with `B`, `KiB`, `MiB`, `GiB` (powers of 1024) or `kB`, `MB`, `GB` (of 1000).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(usize);

/// A length of time. Written with `ms`, `s`, `m`, `h` or `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(Duration);

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// Not a number followed by one of the units.
    #[error("not a size, write one such as \"64KiB\" (B, KiB, MiB, GiB, kB, MB, GB)")]
    Size,
    /// Not a number followed by one of the units.
    #[error("not a length of time, write one such as \"30s\" (ms, s, m, h, d)")]
    Period,
    /// A size of nothing.
    #[error("a size must be at least 1B")]
    Empty,
    /// The number does not fit.
    #[error("the number is too large")]
    Overflow,
}

const SIZES: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// In milliseconds.
const PERIODS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

fn quantity(text: &str, units: &[(&str, u64)], otherwise: UnitError) -> Result<u64, UnitError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).filter(|(n, _)| !n.is_empty()).ok_or(otherwise)?;
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, each) = units.iter().find(|(name, _)| *name == unit).ok_or(otherwise)?;
    let number: u64 = number.parse().map_err(|_| UnitError::Overflow)?;
    number.checked_mul(*each).ok_or(UnitError::Overflow)
}

fn show(f: &mut fmt::Formatter<'_>, amount: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, each) = units.iter().find(|(_, each)| amount.is_multiple_of(*each)).unwrap_or(&("", 1));
    write!(f, "{}{name}", amount / each)
}

impl Size {
    /// So many bytes; 0 becomes 1.
    pub const fn new(bytes: usize) -> Self {
        Self(if bytes == 0 { 1 } else { bytes })
    }

    /// So many times 1024 bytes.
    pub(crate) const fn kib(n: usize) -> Self {
        Self::new(n << 10)
    }

    /// So many times 1024 × 1024 bytes.
    pub(crate) const fn mib(n: usize) -> Self {
        Self::new(n << 20)
    }

    /// In bytes.
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// Reads the written form.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        match quantity(text, &SIZES, UnitError::Size)? {
            0 => Err(UnitError::Empty),
            bytes => usize::try_from(bytes).map(Self).map_err(|_| UnitError::Overflow),
        }
    }
}

impl Period {
    /// This long, to the millisecond.
    pub const fn of(time: Duration) -> Self {
        Self(time)
    }

    /// So many seconds.
    pub(crate) const fn secs(n: u64) -> Self {
        Self(Duration::from_secs(n))
    }

    /// So many thousandths of a second.
    pub(crate) const fn millis(n: u64) -> Self {
        Self(Duration::from_millis(n))
    }

    /// As the standard library has it.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// Reads the written form.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        quantity(text, &PERIODS, UnitError::Period).map(|ms| Self(Duration::from_millis(ms)))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0 as u64, &SIZES)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX), &PERIODS)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a size such as \"64KiB\"", parse: Self::parse }.read(deserializer)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "a length of time such as \"30s\"", parse: Self::parse }.read(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Period, Size, UnitError};

    #[test]
    fn sizes_read_as_written() {
        let cases: [(&str, Result<usize, UnitError>); 12] = [
            ("1B", Ok(1)),
            ("64KiB", Ok(65_536)),
            ("64 KiB", Ok(65_536)),
            ("2GiB", Ok(2 << 30)),
            ("3MB", Ok(3_000_000)),
            ("0B", Err(UnitError::Empty)),
            ("64", Err(UnitError::Size)),
            ("KiB", Err(UnitError::Size)),
            ("-1B", Err(UnitError::Size)),
            ("1.5MiB", Err(UnitError::Size)),
            ("64kib", Err(UnitError::Size)),
            ("99999999999GiB", Err(UnitError::Overflow)),
        ];
        for (text, want) in cases {
            assert_eq!(Size::parse(text).map(Size::bytes), want, "{text}");
        }
    }

    #[test]
    fn periods_read_as_written() {
        let cases: [(&str, Result<u128, UnitError>); 9] = [
            ("0s", Ok(0)),
            ("250ms", Ok(250)),
            ("30s", Ok(30_000)),
            ("10m", Ok(600_000)),
            ("2h", Ok(7_200_000)),
            ("1d", Ok(86_400_000)),
            ("1m30s", Err(UnitError::Period)),
            ("", Err(UnitError::Period)),
            ("30", Err(UnitError::Period)),
        ];
        for (text, want) in cases {
            assert_eq!(Period::parse(text).map(|p| p.get().as_millis()), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(bytes in 1..usize::MAX, ms in 0..u64::MAX) {
            let size = Size::new(bytes);
            prop_assert_eq!(Size::parse(&size.to_string()), Ok(size));
            let shown = Period(std::time::Duration::from_millis(ms));
            prop_assert_eq!(Period::parse(&shown.to_string()), Ok(shown));
        }

        #[test]
        fn any_text_is_refused_or_read_never_a_panic(text in "\\PC*") {
            let _ = (Size::parse(&text).is_ok(), Period::parse(&text).is_ok());
        }
    }
}
