//! [`CalendarPeriod`]: minutes, hours, days and months of UTC, by which budgets are counted.

use jiff::tz::TimeZone;

use crate::base::clock::Timestamp;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// A stretch of the calendar that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CalendarPeriod {
    /// From one full minute to the next.
    Minute,
    /// From one full hour to the next.
    Hour,
    /// From midnight to midnight.
    Day,
    /// From the first of a month to the first of the next.
    Month,
}

/// One of them: from `start` up to `end`, which is the next one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CalendarWindow {
    /// When it begins.
    pub start: Timestamp,
    /// When the next one does.
    pub end: Timestamp,
}

impl CalendarPeriod {
    /// Every period.
    pub const ALL: [Self; 4] = [Self::Minute, Self::Hour, Self::Day, Self::Month];

    /// How it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    /// The period that is written so.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|period| period.as_str() == text)
    }

    /// The one that `at` lies in.
    pub fn around(self, at: Timestamp) -> CalendarWindow {
        let millis = at.as_millis();
        let fixed = |length: u64| {
            let start = millis / length * length;
            CalendarWindow {
                start: Timestamp::from_millis(start),
                end: Timestamp::from_millis(start.saturating_add(length)),
            }
        };
        match self {
            Self::Minute => fixed(MINUTE),
            Self::Hour => fixed(HOUR),
            Self::Day => fixed(24 * HOUR),
            // Beyond the calendar (the year 9999) nothing is counted by it.
            Self::Month => month(millis).unwrap_or_else(|| fixed(30 * 24 * HOUR)),
        }
    }
}

fn month(millis: u64) -> Option<CalendarWindow> {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(millis).ok()?).ok()?;
    let first = at.to_zoned(TimeZone::UTC).first_of_month().ok()?.start_of_day().ok()?;
    let next = first.last_of_month().ok()?.tomorrow().ok()?.start_of_day().ok()?;
    let stamp = |at: &jiff::Zoned| u64::try_from(at.timestamp().as_millisecond()).ok();
    Some(CalendarWindow {
        start: Timestamp::from_millis(stamp(&first)?),
        end: Timestamp::from_millis(stamp(&next)?),
    })
}

impl CalendarWindow {
    /// Its first day, as `2026-11-01`.
    pub fn day(&self) -> String {
        self.start.iso8601().split('T').next().unwrap_or_default().to_owned()
    }

    /// Whole seconds from `now` to its end, at least one.
    pub fn seconds_left(&self, now: Timestamp) -> u64 {
        (self.end.as_millis().saturating_sub(now.as_millis()) / 1000).max(1)
    }

    /// How long it is, in seconds.
    pub fn seconds(&self) -> u64 {
        self.end.as_millis().saturating_sub(self.start.as_millis()) / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_follow_the_calendar() {
        use CalendarPeriod as P;
        let rows = [
            (P::Minute, "2026-11-24T17:59:59.999Z", "2026-11-24T17:59:00.000Z", "2026-11-24T18:00:00.000Z"),
            (P::Hour, "2026-11-24T17:59:59.999Z", "2026-11-24T17:00:00.000Z", "2026-11-24T18:00:00.000Z"),
            (P::Hour, "2026-11-24T18:00:00Z", "2026-11-24T18:00:00.000Z", "2026-11-24T19:00:00.000Z"),
            (P::Day, "2026-12-31T23:00:00Z", "2026-12-31T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
            (P::Month, "2026-12-31T23:00:00Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
            (P::Month, "2028-02-29T12:00:00Z", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"),
            (P::Month, "2026-11-01T00:00:00Z", "2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"),
        ];
        for (period, at, start, end) in rows {
            let window = period.around(Timestamp::parse_iso8601(at).unwrap());
            assert_eq!(
                (window.start.iso8601().as_str(), window.end.iso8601().as_str()),
                (start, end),
                "{at}"
            );
            assert!(start.starts_with(&window.day()));
        }
        let end_of_time = P::Month.around(Timestamp::from_millis(u64::MAX));
        assert!(end_of_time.start < end_of_time.end);
    }

    #[test]
    fn periods_read_back() {
        for period in CalendarPeriod::ALL {
            assert_eq!(CalendarPeriod::parse(period.as_str()), Some(period));
        }
        assert_eq!(CalendarPeriod::parse("week"), None);
    }
}
