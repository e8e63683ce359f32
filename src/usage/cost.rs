//! [`Cost`]: money in whole billionths of a US dollar, so that sums are exact; [`Price`]: what one token costs, in
//! trillionths, since tokens are sold by the million for cents.

use std::fmt;
use std::ops::AddAssign;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// US dollars, in billionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cost(u64);

/// Of one token, in trillionths of a US dollar: one dollar for a million tokens is a million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(u64);

/// A text that is no amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an amount of dollars from 0 to 1,000,000,000, such as 12.5 or \"0.000125\"")]
pub struct AmountError;

/// The digits behind the point of a cost, and those of a price for a million tokens.
const PLACES: usize = 9;
const PRICE_PLACES: usize = 6;
/// The most that can be written, in dollars.
const MOST: u64 = 1_000_000_000;

impl Cost {
    /// So many billionths of a dollar.
    pub const fn from_nanodollars(nanodollars: u64) -> Self {
        Self(nanodollars)
    }

    /// In billionths of a dollar.
    pub const fn nanodollars(self) -> u64 {
        self.0
    }

    /// Reads dollars: digits, perhaps with a point and at most nine digits behind it.
    ///
    /// # Errors
    /// [`AmountError`].
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        fixed(text, PLACES).map(Self)
    }

    /// What is left of it once `spent` is gone; nothing, if that is more.
    #[must_use]
    pub const fn less(self, spent: Self) -> Self {
        Self(self.0.saturating_sub(spent.0))
    }
}

impl Price {
    /// Reads dollars for a million tokens, with at most six digits behind the point.
    ///
    /// # Errors
    /// [`AmountError`].
    pub fn parse(text: &str) -> Result<Self, AmountError> {
        fixed(text, PRICE_PLACES).map(Self)
    }

    /// What so many tokens cost, in trillionths.
    pub(super) fn of(self, tokens: u64) -> u128 {
        u128::from(self.0) * u128::from(tokens)
    }
}

/// Trillionths, as a cost: a part of a billionth counts as a whole one.
pub(super) fn from_trillionths(amount: u128) -> Cost {
    Cost(u64::try_from(amount.div_ceil(1000)).unwrap_or(u64::MAX))
}

/// A decimal number as a whole one of its last place.
fn fixed(text: &str, places: usize) -> Result<u64, AmountError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 10 || fraction.len() > places || !digits(whole) || !digits(fraction)
    {
        return Err(AmountError);
    }
    if text.ends_with('.') {
        return Err(AmountError);
    }
    let whole: u64 = whole.parse().map_err(|_| AmountError)?;
    let fraction: u64 = format!("{fraction:0<places$}").parse().map_err(|_| AmountError)?;
    let unit = 10_u64.pow(u32::try_from(places).map_err(|_| AmountError)?);
    let all = whole.checked_mul(unit).and_then(|whole| whole.checked_add(fraction)).ok_or(AmountError)?;
    if all <= MOST * unit { Ok(all) } else { Err(AmountError) }
}

/// Dollars: two places at least, and no noughts behind those.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u64.pow(9);
        let mut fraction = format!("{:09}", self.0 % unit);
        while fraction.len() > 2 && fraction.ends_with('0') {
            fraction.pop();
        }
        write!(f, "{}.{fraction}", self.0 / unit)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.0 = self.0.saturating_add(more.0);
    }
}

/// Numbers as a file has them: TOML's and JSON's, or a text.
struct Amount(fn(&str) -> Result<u64, AmountError>);

impl Visitor<'_> for Amount {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an amount of dollars such as 12.5")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        (self.0)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        self.visit_str(&number.to_string())
    }

    // The shortest text that reads as the same number: what somebody wrote.
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        self.visit_str(&number.to_string())
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| Self::parse(text).map(|price| price.0);
        deserializer.deserialize_any(Amount(read)).map(Self)
    }
}

/// A [`Cost`] as a file has it: in dollars, where a stored one is in billionths.
pub(crate) fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
    let read = |text: &str| Cost::parse(text).map(|cost| cost.0);
    deserializer.deserialize_any(Amount(read)).map(Cost)
}

impl<'de> Deserialize<'de> for Cost {
    /// Billionths, as it is stored.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_and_written_exactly() {
        for (text, nanodollars, shown) in [
            ("0", 0, "0.00"),
            ("12", 12_000_000_000, "12.00"),
            ("12.5", 12_500_000_000, "12.50"),
            ("0.000000001", 1, "0.000000001"),
            ("1000000000", 1_000_000_000_000_000_000, "1000000000.00"),
            ("0.10", 100_000_000, "0.10"),
        ] {
            let cost = Cost::parse(text).unwrap();
            assert_eq!((cost.nanodollars(), cost.to_string().as_str()), (nanodollars, shown), "{text}");
        }
        for text in [
            "",
            ".5",
            "1.",
            "-1",
            "+1",
            "1e3",
            "1,5",
            "0.0000000001",
            "1000000000.1",
            "99999999999",
            " 1",
            "NaN",
            "inf",
        ] {
            assert_eq!(Cost::parse(text), Err(AmountError), "{text}");
        }
    }

    #[test]
    fn tokens_cost_what_a_million_of_them_costs() {
        for (price, tokens, nanodollars) in [
            ("2.5", 1_000_000, 2_500_000_000),
            ("0.15", 1, 150),
            ("0.075", 1, 75),
            // 37.5 billionths: never less than it costs.
            ("0.0375", 1, 38),
            ("0.0375", 2, 75),
            ("0", 1_000_000, 0),
            ("1000000", u64::MAX, u64::MAX),
        ] {
            let cost = from_trillionths(Price::parse(price).unwrap().of(tokens));
            assert_eq!(cost.nanodollars(), nanodollars, "{price} {tokens}");
        }
    }
}
