//! [`LogThrottle`]: something that may happen a thousand times a second, and is said every few seconds.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::base::clock::{Clock, SystemClock};

/// How often the same is said.
pub const EVERY: Duration = Duration::from_secs(10);

/// Says whether it is time to say something, and how often it was not said since the last time.
#[derive(Debug)]
pub struct LogThrottle {
    every: Duration,
    /// When it was last said, and how often not since.
    last: Mutex<Option<(Instant, u64)>>,
}

impl Default for LogThrottle {
    fn default() -> Self {
        Self::every(EVERY)
    }
}

impl LogThrottle {
    /// Once in so long.
    pub const fn every(every: Duration) -> Self {
        Self { every, last: Mutex::new(None) }
    }

    /// It happened. `Some`: it is to be said now, and was not so many times before.
    pub fn due(&self) -> Option<u64> {
        self.due_at(SystemClock.instant())
    }

    fn due_at(&self, now: Instant) -> Option<u64> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *last {
            Some((at, unsaid)) if now.saturating_duration_since(*at) < self.every => {
                *unsaid = unsaid.saturating_add(1);
                None
            }
            said => {
                let unsaid = said.map_or(0, |(_, unsaid)| unsaid);
                *said = Some((now, 0));
                Some(unsaid)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_said_and_those_that_follow_are_counted() {
        let (seldom, begin) = (LogThrottle::default(), SystemClock.instant());
        let at = |millis| seldom.due_at(begin + Duration::from_millis(millis));
        assert_eq!(at(0), Some(0));
        assert_eq!([at(1), at(5_000), at(9_999)], [None; 3]);
        assert_eq!([at(10_000), at(10_001), at(30_000)], [Some(3), None, Some(1)]);
    }
}
