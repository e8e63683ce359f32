//! [`Buckets`]: how often, by the generic cell rate algorithm (ITU-T I.371, annex A): one number for each of those who are
//! held to a [`Rate`], no timer.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use dashmap::DashMap;

use crate::base::units::Period;

/// So many in every so long, all of which may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many; at least 1.
    pub times: u32,
    /// In how long.
    pub per: Duration,
}

/// Says that a text is no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rate is a number and a time, such as 60/1m")]
pub struct RateError;

impl std::fmt::Display for Rate {
    /// As [`Rate::parse`] reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.times, Period::of(self.per))
    }
}

impl Rate {
    /// Reads `60/1m`: a number from 1, and a time that is not nothing.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Self, RateError> {
        let parsed = text.split_once('/').and_then(|(times, per)| {
            let times: NonZeroU32 = times.trim().parse().ok()?;
            let per = Period::parse(per.trim()).ok()?.get();
            (!per.is_zero()).then_some(Self { times: times.get(), per })
        });
        parsed.ok_or(RateError)
    }

    /// The time after which one more is due.
    fn each(self) -> Duration {
        self.per / self.times.max(1)
    }
}

/// Keys remembered at one time; beyond it those are forgotten that have nothing or the least on their account.
const MOST: usize = 100_000;

/// What each key has used up: when its next turn is due, theoretically.
#[derive(Debug)]
pub struct Buckets<K: Eq + Hash>(DashMap<K, Instant>);

impl<K: Eq + Hash> Default for Buckets<K> {
    fn default() -> Self {
        Self(DashMap::new())
    }
}

impl<K: Eq + Hash> Buckets<K> {
    /// Takes one out of the key's share.
    ///
    /// # Errors
    /// The share is used up: how long until there is one more.
    pub fn take(&self, key: K, rate: Rate, now: Instant) -> Result<(), Duration> {
        let each = rate.each();
        let burst = rate.per.saturating_sub(each);
        if self.0.len() >= MOST {
            self.make_room(now);
        }
        let mut due = self.0.entry(key).or_insert(now);
        let ahead = due.saturating_duration_since(now);
        if ahead > burst {
            return Err(ahead - burst);
        }
        *due = now.max(*due) + each;
        Ok(())
    }

    /// How much of its rate's time a key has used up: nothing, or so long until it has all of its share again.
    pub fn ahead(&self, key: &K, now: Instant) -> Duration {
        self.0.get(key).map(|due| due.saturating_duration_since(now)).unwrap_or_default()
    }

    /// Puts one back that was taken under this rate.
    pub fn give_back(&self, key: &K, rate: Rate) {
        if let Some(mut due) = self.0.get_mut(key)
            && let Some(before) = due.checked_sub(rate.each())
        {
            *due = before;
        }
    }

    /// Enough of it that the next ones to come need not look at all keys again.
    fn make_room(&self, now: Instant) {
        self.0.retain(|_, due| *due > now);
        if self.0.len() < MOST / 4 * 3 {
            return;
        }
        let mut dues: Vec<Instant> = self.0.iter().map(|due| *due).collect();
        let middle = dues.len() / 2;
        if middle > 0 {
            let (_, most, _) = dues.select_nth_unstable(middle);
            self.0.retain(|_, due| due > most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    #[test]
    fn a_share_may_be_used_at_once_and_comes_back_evenly() {
        let buckets = Buckets::default();
        let rate = Rate { times: 4, per: Duration::from_secs(4) };
        let start = SystemClock.instant();
        for taken in 0..4 {
            assert_eq!(buckets.ahead(&"one", start), Duration::from_secs(taken));
            assert_eq!(buckets.take("one", rate, start), Ok(()));
        }
        assert_eq!(buckets.take("one", rate, start), Err(Duration::from_secs(1)));
        assert_eq!(buckets.take("other", rate, start), Ok(()));
        let later = start + Duration::from_secs(1);
        assert_eq!(buckets.ahead(&"one", later), Duration::from_secs(3));
        assert_eq!(buckets.ahead(&"one", later + rate.per), Duration::ZERO);
        assert_eq!(buckets.take("one", rate, later), Ok(()));
        assert!(buckets.take("one", rate, later).is_err());
        buckets.give_back(&"one", rate);
        buckets.give_back(&"nobody", rate);
        assert_eq!(buckets.take("one", rate, later), Ok(()));
        assert!(buckets.take("one", rate, later).is_err());
    }

    #[test]
    fn keys_without_number_take_a_bounded_room_and_the_worst_are_remembered() {
        let buckets = Buckets::default();
        let rate = Rate { times: 2, per: Duration::from_secs(3600) };
        let (start, worst) = (SystemClock.instant(), u32::MAX);
        for _ in 0..2 {
            assert_eq!(buckets.take(worst, rate, start), Ok(()));
        }
        for n in 0..250_000 {
            assert_eq!(buckets.take(n, rate, start + Duration::from_micros(n.into())), Ok(()));
            assert!(buckets.0.len() <= MOST);
        }
        assert!(buckets.take(worst, rate, start + Duration::from_secs(1)).is_err());
    }
}
