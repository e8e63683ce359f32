//! The only reader of time, so that tests can hold it still.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, civil};

/// A point in civil time: milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From milliseconds since the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This point moved on by `by`; stops at the largest representable point.
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }

    /// ISO 8601 in UTC with milliseconds and `Z`, as the specification's envelope shows it.
    pub fn iso8601(self) -> String {
        let since = i64::try_from(self.0).ok().map(SignedDuration::from_millis);
        let shown = since.and_then(|since| EPOCH.checked_add(since).ok());
        shown.map_or_else(|| "9999-12-31T23:59:59.999Z".to_owned(), |t| format!("{t:.3}Z"))
    }

    /// ISO 8601 in UTC to the second, without separators: `20150830T123600Z`, as AWS's signatures have it.
    pub fn iso8601_basic(self) -> String {
        let shown = self.iso8601();
        let seconds = shown.split('.').next().unwrap_or_default();
        seconds.chars().filter(|c| !matches!(c, '-' | ':')).chain(['Z']).collect()
    }

    /// Reads ISO 8601 with an offset or `Z`; `None` if it is not that. What lies before the epoch is the epoch.
    pub fn parse_iso8601(text: &str) -> Option<Self> {
        let t: jiff::Timestamp = match text.parse() {
            Ok(t) => t,
            Err(_) => return last_days(text),
        };
        Some(Self(u64::try_from(t.as_millisecond()).unwrap_or(0)))
    }
}

const EPOCH: civil::DateTime = civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Reads a time at the end of the year 9999, which people write for "never": that [`jiff::Timestamp`] ends a day before,
/// so that it is within the calendar everywhere.
fn last_days(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    let (date, offset) = (pieces.date(), pieces.to_numeric_offset()?);
    if (date.year(), date.month()) != (9999, 12) || pieces.time_zone_annotation().is_some() {
        return None;
    }
    let since = date.to_datetime(pieces.time()?).duration_since(EPOCH).as_millis();
    u64::try_from(since - i128::from(offset.seconds()) * 1000).ok().map(Timestamp)
}

/// A length of time in microseconds; the most there are for one that is longer.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Reads time: civil time for stamps, monotonic time for durations.
pub trait Clock: Send + Sync + 'static {
    /// Civil time now.
    fn now(&self) -> Timestamp;
    /// Monotonic time now.
    fn instant(&self) -> Instant;
}

/// A clock handed down by the composition root.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the machine's clock")]
    fn instant(&self) -> Instant {
        Instant::now()
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct FixedClock {
    millis: AtomicU64,
    start: Instant,
    first: u64,
}

impl FixedClock {
    /// A clock that shows `at`.
    pub fn at(at: Timestamp) -> Self {
        Self { millis: AtomicU64::new(at.0), start: SystemClock.instant(), first: at.0 }
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.millis.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.millis.load(Ordering::Relaxed))
    }

    fn instant(&self) -> Instant {
        self.start + Duration::from_millis(self.now().0.saturating_sub(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_have_milliseconds_and_z() {
        assert_eq!(Timestamp::from_millis(1_663_781_073_105).iso8601(), "2022-09-21T17:24:33.105Z");
        assert_eq!(Timestamp::from_millis(1_663_781_073_000).iso8601(), "2022-09-21T17:24:33.000Z");
        assert_eq!(Timestamp::from_millis(1_663_781_073_105).iso8601_basic(), "20220921T172433Z");
    }

    #[test]
    fn stamps_read_back() {
        let t = Timestamp::from_millis(1_663_781_073_105);
        assert_eq!(Timestamp::parse_iso8601(&t.iso8601()), Some(t));
        assert_eq!(Timestamp::parse_iso8601("yesterday"), None);
        for last in ["9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.999Z", "9999-12-30T21:00:00.000Z"] {
            assert_eq!(Timestamp::parse_iso8601(last).unwrap().iso8601(), last);
        }
        let read = |text| Timestamp::parse_iso8601(text).map(Timestamp::iso8601);
        assert_eq!(read("9999-12-31T23:59:59+02:00").as_deref(), Some("9999-12-31T21:59:59.000Z"));
        assert_eq!(read("9999-12-31T23:59:59-01:00").as_deref(), Some("9999-12-31T23:59:59.999Z"));
        for wrong in ["9999-12-32T00:00:00Z", "9999-12-31", "9999-12-31T23:59:59", "10000-01-01T00:00:00Z"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_fixed_clock_moves_only_when_told() {
        let clock = FixedClock::at(Timestamp::from_millis(5));
        let (then, at) = (clock.instant(), clock.now());
        clock.advance(Duration::from_millis(3));
        assert_eq!(clock.now(), at.plus(Duration::from_millis(3)));
        assert_eq!(clock.instant() - then, Duration::from_millis(3));
    }
}
