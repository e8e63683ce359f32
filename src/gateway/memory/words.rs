//! [`RecentWords`]: what requests said about which other gateways ask, until their answers come. In this process only: to another,
//! what an answer repeats is the model's own.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::base::clock::SharedClock;
use crate::redact::RequestWords;

/// The most bytes that are kept of all calls together; what is oldest goes.
const MOST: usize = 64 << 20;

/// What a call takes beside its words and its name, about, in bytes.
const AROUND: usize = 256;

/// Answers come sooner.
const LONGEST: Duration = Duration::from_secs(3600);

/// What calls said lately, by their names.
pub(super) struct RecentWords {
    clock: SharedClock,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    by_name: HashMap<String, CallerWords>,
    /// Names by the order in which they came.
    by_age: BTreeMap<u64, String>,
    next: u64,
    bytes: usize,
}

struct CallerWords {
    words: RequestWords,
    until: Instant,
    age: u64,
    bytes: usize,
}

impl RecentWords {
    /// Nothing was said yet.
    pub(super) fn new(clock: SharedClock) -> Self {
        Self { clock, calls: Mutex::default() }
    }

    /// What the call of this name said, if that is known.
    pub(super) fn find(&self, name: &str) -> Option<RequestWords> {
        let now = self.clock.instant();
        self.calls().by_name.get(name).filter(|kept| kept.until > now).map(|kept| kept.words.clone())
    }

    /// The call of this name said that; it is known for so long at the most.
    pub(super) fn keep(&self, name: &str, words: RequestWords, remember: Duration) {
        let now = self.clock.instant();
        let calls = &mut *self.calls();
        calls.remove(name);
        let (age, bytes) = (calls.next, words.size() + 2 * name.len() + AROUND);
        calls.next += 1;
        calls.bytes += bytes;
        let until = now + remember.min(LONGEST);
        calls.by_name.insert(name.to_owned(), CallerWords { words, until, age, bytes });
        calls.by_age.insert(age, name.to_owned());
        while let Some(oldest) =
            calls.oldest().filter(|oldest| calls.bytes > MOST || calls.is_over(oldest, now))
        {
            calls.remove(&oldest);
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    fn remove(&mut self, name: &str) {
        if let Some(CallerWords { age, bytes, .. }) = self.by_name.remove(name) {
            self.by_age.remove(&age);
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    fn oldest(&self) -> Option<String> {
        self.by_age.first_key_value().map(|(_, name)| name.clone())
    }

    fn is_over(&self, name: &str, now: Instant) -> bool {
        self.by_name.get(name).is_none_or(|kept| kept.until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{FixedClock, Timestamp};

    #[test]
    fn calls_are_known_by_their_names_for_a_time_and_never_too_many() {
        let clock = std::sync::Arc::new(FixedClock::at(Timestamp::from_millis(7)));
        let recent = RecentWords::new(clock.clone());
        let words = |text: &str| {
            let words = RequestWords::default();
            words.keep(text);
            words
        };
        recent.keep("a", words("one"), Duration::from_secs(9));
        assert!(recent.find("a").is_some() && recent.find("b").is_none());
        recent.keep("a", words("two"), Duration::from_secs(9));
        let known = || {
            let calls = recent.calls();
            (calls.by_name.len(), calls.by_age.len(), calls.bytes)
        };
        assert!(matches!(known(), (1, 1, 1..)));
        clock.advance(Duration::from_secs(10));
        assert!(recent.find("a").is_none());
        recent.keep("b", words("three"), Duration::from_secs(9));
        assert!(matches!(known(), (1, 1, 1..)), "what is over goes");
        let long = "x".repeat(1 << 20);
        (0..100).for_each(|n| recent.keep(&format!("{n}{long}"), words("four"), LONGEST));
        assert!(recent.find("b").is_none() && recent.find(&format!("99{long}")).is_some());
        assert!(matches!(known(), (1..40, 1..40, 1..=MOST)));
    }
}
