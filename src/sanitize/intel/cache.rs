//! What a provider answered lately, and whether it answers at all.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::sanitize::intel::{Canonical, Score};

/// Failures in a row after which a provider is left alone.
const FAILURES: u32 = 5;

/// For how long; then one question is let through.
const COOLDOWN: Duration = Duration::from_secs(30);

/// Answers, at most so many, and each for at most so long.
#[derive(Debug)]
pub(super) struct ReputationCache {
    /// When the younger half is full it becomes the older, and the older is forgotten.
    younger: HashMap<Canonical, (Score, Instant)>,
    older: HashMap<Canonical, (Score, Instant)>,
    half: usize,
    keep: Duration,
}

impl ReputationCache {
    pub(super) fn new(most: usize, keep: Duration) -> Self {
        Self { younger: HashMap::new(), older: HashMap::new(), half: (most / 2).max(1), keep }
    }

    pub(super) fn get(&self, link: &Canonical, now: Instant) -> Option<Score> {
        let (score, at) = self.younger.get(link).or_else(|| self.older.get(link))?;
        (now.saturating_duration_since(*at) < self.keep).then_some(*score)
    }

    pub(super) fn put(&mut self, link: Canonical, score: Score, now: Instant) {
        if self.younger.len() >= self.half {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(link, (score, now));
    }
}

/// Leaves a provider alone that fails again and again.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    since: Option<Instant>,
}

impl Breaker {
    /// Whether it may be asked now. After a rest, one caller may; the others when that one came back.
    pub(super) fn closed(&mut self, now: Instant) -> bool {
        match self.since {
            None => true,
            Some(since) if now.saturating_duration_since(since) >= COOLDOWN => {
                self.since = Some(now);
                true
            }
            Some(_) => false,
        }
    }

    /// Takes in how it went.
    pub(super) fn went(&mut self, fine: bool, now: Instant) {
        if fine {
            *self = Self::default();
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES {
            self.since = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Breaker, COOLDOWN, FAILURES, ReputationCache};
    use crate::base::clock::{Clock, FixedClock, Timestamp};
    use crate::sanitize::intel::{Canonical, Score};

    #[test]
    fn answers_are_kept_for_a_while_and_so_many() {
        let (clock, keep) = (FixedClock::at(Timestamp::from_millis(0)), Duration::from_secs(60));
        let mut cache = ReputationCache::new(10, keep);
        let link = |n: usize| Canonical::url(&format!("http://a.example/{n}")).unwrap();
        cache.put(link(0), Score::LISTED, clock.instant());
        assert_eq!(cache.get(&link(0), clock.instant()), Some(Score::LISTED));
        clock.advance(keep);
        assert_eq!(cache.get(&link(0), clock.instant()), None);
        for n in 0..1000 {
            cache.put(link(n), Score::UNKNOWN, clock.instant());
            assert!(cache.younger.len() + cache.older.len() <= 10);
        }
        assert_eq!(cache.get(&link(999), clock.instant()), Some(Score::UNKNOWN));
    }

    #[test]
    fn who_fails_again_and_again_is_left_alone() {
        let (clock, mut breaker) = (FixedClock::at(Timestamp::from_millis(0)), Breaker::default());
        for _ in 0..FAILURES {
            assert!(breaker.closed(clock.instant()));
            breaker.went(false, clock.instant());
        }
        assert!(!breaker.closed(clock.instant()));
        clock.advance(COOLDOWN);
        assert!(breaker.closed(clock.instant()) && !breaker.closed(clock.instant()));
        breaker.went(false, clock.instant());
        assert!(!breaker.closed(clock.instant()));
        clock.advance(COOLDOWN);
        assert!(breaker.closed(clock.instant()));
        breaker.went(true, clock.instant());
        assert!(breaker.closed(clock.instant()) && breaker.closed(clock.instant()));
    }
}
