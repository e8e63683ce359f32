//! [`Frequency`]: how often a key is to be rotated.

use std::fmt;
use std::time::Duration;

const SECOND: u64 = 1;
const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Units as the vendor's schema has them, with the forms its examples use. A month has 30 days, a year 365.
const UNITS: &[(u64, &[&str])] = &[
    (SECOND, &["s", "sec", "secs", "second", "seconds"]),
    (MINUTE, &["m", "min", "mins", "minute", "minutes"]),
    (HOUR, &["h", "hr", "hrs", "hour", "hours"]),
    (DAY, &["d", "day", "days"]),
    (7 * DAY, &["w", "week", "weeks"]),
    (30 * DAY, &["M", "month", "months"]),
    (365 * DAY, &["y", "yr", "yrs", "year", "years"]),
];

/// The longest time, in seconds: a hundred years.
const MAX: u64 = 100 * 365 * DAY;

/// Reads a time span such as `10d`, `2M`, `44h` or `1day`, of at least a second. `None` for anything else.
pub fn span(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let unit = unit.trim_start_matches(' ');
    let (seconds, _) = UNITS.iter().find(|(_, names)| names.contains(&unit))?;
    let seconds = number.checked_mul(*seconds)?;
    (1..=MAX).contains(&seconds).then(|| Duration::from_secs(seconds))
}

/// How often a key is to be rotated, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequency {
    text: String,
    every: Option<Duration>,
}

impl Frequency {
    /// Not at all.
    pub fn never() -> Self {
        Self { text: "never".to_owned(), every: None }
    }

    /// Reads `never` or a time [`span`].
    pub fn parse(text: &str) -> Option<Self> {
        if text == "never" {
            return Some(Self::never());
        }
        let every = span(text)?;
        Some(Self { text: text.to_owned(), every: Some(every) })
    }

    /// The time between two rotations; `None` for never.
    pub fn every(&self) -> Option<Duration> {
        self.every
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        let rows = [
            ("10d", Some(10 * DAY)),
            ("2M", Some(60 * DAY)),
            ("2m", Some(120)),
            ("44h", Some(44 * HOUR)),
            ("1day", Some(DAY)),
            ("1 year", Some(365 * DAY)),
            ("101y", None),
            ("0d", None),
            ("d", None),
            ("10", None),
            ("-1d", None),
            ("1.5d", None),
            ("10 D", None),
            ("99999999999999999999d", None),
            ("", None),
        ];
        for (text, seconds) in rows {
            assert_eq!(span(text).map(|span| span.as_secs()), seconds, "{text}");
        }
        assert_eq!(Frequency::parse("never").map(|never| never.every()), Some(None));
    }
}
