//! How many different values a caller may have encrypted or hashed in a time: who tries all social security numbers has
//! the one behind a surrogate. The counts live outside routes and services, so that a reload forgives nobody, and all
//! ways in count together.
//!
//! A caller's values are counted by the smallest of their keyed digests (Bar-Yossef et al., *Counting distinct elements
//! in a data stream*, RANDOM 2002, algorithm 1): [`KEPT`] numbers at the most, exact below that many values and within
//! some 3 % (standard error) beyond. The key is of this process and kept nowhere, and no value is.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dashmap::DashMap;

use crate::api::cpu::Caller;
use crate::base::clock::SharedClock;
use crate::base::quota::{Count, Quota, QuotaExceeded};
use crate::telemetry::{FrontMetrics, Refusal};

/// Digests kept for one caller: 8 KiB.
const KEPT: usize = 1024;

/// Callers remembered, in 32 MiB at the most; beyond it those are forgotten who have had the fewest values.
const MAX_CALLERS: usize = 4096;

/// So many different values in such a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// How many.
    pub values: u64,
    /// In how long, from a caller's first value on.
    pub per: Duration,
}

/// What each caller has had.
pub struct Distinct {
    callers: DashMap<Caller, CallerWindow>,
    hasher: RandomState,
    clock: SharedClock,
    metrics: FrontMetrics,
}

/// One caller's values since some time.
struct CallerWindow {
    began: Instant,
    values: SmallestDigests,
    /// Whether one more was refused. Then all are: else whoever shares an address with others could try which values they
    /// have had.
    refused: bool,
}

impl Distinct {
    /// Nobody has had any.
    pub fn new(clock: SharedClock, metrics: FrontMetrics) -> Self {
        Self { callers: DashMap::new(), hasher: RandomState::new(), clock, metrics }
    }

    fn count(&self, caller: &Caller, bound: Bound, value: &str) -> Result<(), QuotaExceeded> {
        let digest = self.hasher.hash_one(value);
        let now = self.clock.instant();
        let fresh = || CallerWindow { began: now, values: SmallestDigests::default(), refused: false };
        let mut window = match self.callers.get_mut(caller) {
            Some(known) => known,
            None => {
                if self.callers.len() >= MAX_CALLERS {
                    self.make_room(bound.per, now);
                }
                self.callers.entry(caller.clone()).or_insert_with(fresh)
            }
        };
        let mut age = now.saturating_duration_since(window.began);
        if age >= bound.per {
            *window = fresh();
            age = Duration::ZERO;
        }
        let full = window.values.estimate() >= bound.values;
        if !full {
            window.values.add(digest);
            return Ok(());
        }
        if !window.refused && window.values.has(digest) {
            return Ok(());
        }
        self.metrics.refused.inc(Refusal::Values);
        if !std::mem::replace(&mut window.refused, true) {
            tell(caller, bound);
        }
        Err(QuotaExceeded::until(bound.per.saturating_sub(age)))
    }

    /// Enough of it that the next ones to come need not look at all callers again.
    fn make_room(&self, per: Duration, now: Instant) {
        self.callers.retain(|_, window| now.saturating_duration_since(window.began) < per);
        if self.callers.len() < MAX_CALLERS / 4 * 3 {
            return;
        }
        let mut counts: Vec<u64> = self.callers.iter().map(|window| window.values.estimate()).collect();
        let middle = counts.len() / 2;
        if middle > 0 {
            let (_, most, _) = counts.select_nth_unstable(middle);
            self.callers.retain(|_, window| window.values.estimate() > *most);
        }
    }
}

/// One line for each caller and time. It holds no address: the access log has those, as its settings say.
fn tell(caller: &Caller, bound: Bound) {
    let caller = match caller {
        Caller::Token(id) => id.to_string(),
        Caller::Certificate(_) => "by certificate".to_owned(),
        Caller::Address(_) | Caller::Own => "by address".to_owned(),
    };
    tracing::warn!(
        target: "portcullis::limits", caller, values = bound.values, seconds = bound.per.as_secs(),
        "a caller has had as many different values encrypted or hashed as limits.distinct_values allows; more get 429"
    );
}

impl std::fmt::Debug for Distinct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Distinct({} callers)", self.callers.len())
    }
}

/// The counts under a bound, or none. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DistinctLimit {
    /// Where values are counted.
    pub counts: Arc<Distinct>,
    /// What is allowed; `None`: any number.
    pub bound: Option<Bound>,
}

impl DistinctLimit {
    /// What one caller may still have.
    pub fn of(&self, caller: Caller) -> Quota {
        match self.bound {
            None => Quota::default(),
            Some(bound) => {
                Quota::new(Arc::new(CallerShare { counts: Arc::clone(&self.counts), bound, caller }))
            }
        }
    }
}

/// One caller's part in it.
struct CallerShare {
    counts: Arc<Distinct>,
    bound: Bound,
    caller: Caller,
}

impl Count for CallerShare {
    fn count(&self, value: &str) -> Result<(), QuotaExceeded> {
        self.counts.count(&self.caller, self.bound, value)
    }
}

/// The smallest digests of all that came, in order.
#[derive(Default)]
struct SmallestDigests(Vec<u64>);

impl SmallestDigests {
    /// Whether it is among them: then its value was counted. Below [`KEPT`] values the converse holds too.
    fn has(&self, digest: u64) -> bool {
        self.0.binary_search(&digest).is_ok()
    }

    fn add(&mut self, digest: u64) {
        let Err(at) = self.0.binary_search(&digest) else { return };
        if at >= KEPT {
            return;
        }
        self.0.insert(at, digest);
        self.0.truncate(KEPT);
    }

    /// How many values came: the more, the closer together their digests lie.
    fn estimate(&self) -> u64 {
        match self.0.last() {
            Some(last) if self.0.len() == KEPT => {
                let share = (*last as f64 + 1.0) / (u64::MAX as f64 + 1.0);
                ((KEPT - 1) as f64 / share) as u64
            }
            _ => self.0.len() as u64,
        }
    }
}

#[cfg(test)]
#[path = "distinct_tests.rs"]
mod tests;
