//! What is known of a peer. Failures of requests put it out for a while, each time for twice as long; checks that fail
//! put it out until they succeed again. It reads no clock: the time is a parameter.

use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::base::units::Period;
use crate::telemetry::PeerState;

/// `[upstreams.NAME.outliers]`: when failures of requests put a peer out for a while. Failures are those to connect,
/// broken and silent answers, and the statuses 502, 503 and 504.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ejection {
    /// So many failures in a row. Default 5; 0 does not count them.
    pub failures: u32,
    /// Such a part of the requests within `window`, from 0 to 1. Default 0.5; 0 does not count it.
    pub rate: f64,
    /// The fewest requests within `window` of which a part says anything. Default 20.
    pub requests: NonZeroU32,
    /// How long requests are counted together. Default 10 s.
    pub window: Period,
    /// How long a peer is out the first time; each next time twice as long. Default 5 s.
    pub eject: Period,
    /// The longest it is out. Default 5 m.
    pub longest: Period,
    /// The part of the peers that may be out at once, from 0 to 1. Default 0.5: of one peer none, of two one.
    pub share: f64,
}

impl Default for Ejection {
    fn default() -> Self {
        Self {
            failures: 5,
            rate: 0.5,
            requests: NonZeroU32::MIN.saturating_add(19),
            window: Period::secs(10),
            eject: Period::secs(5),
            longest: Period::secs(300),
            share: 0.5,
        }
    }
}

/// What is known of one peer; outlives a reload.
#[derive(Default)]
pub struct PeerHealth(Mutex<PeerRecord>);

#[derive(Default)]
struct PeerRecord {
    /// By the checks.
    down: bool,
    /// Checks in a row that say otherwise.
    against: u32,
    /// Failures of requests in a row.
    failures: u32,
    window: Option<FailureWindow>,
    out_until: Option<Instant>,
    /// How often it was put out without having been good for long.
    times: u32,
}

struct FailureWindow {
    since: Instant,
    good: u32,
    bad: u32,
}

impl PeerHealth {
    /// Whether requests may go there.
    pub fn state(&self, now: Instant) -> PeerState {
        let record = self.lock();
        match (record.down, record.is_out(now)) {
            (true, _) => PeerState::Unhealthy,
            (false, true) => PeerState::Ejected,
            (false, false) => PeerState::Healthy,
        }
    }

    /// Whether it is out for failures of requests.
    pub(super) fn is_out(&self, now: Instant) -> bool {
        self.lock().is_out(now)
    }

    /// A request went well.
    pub(super) fn good(&self, rules: &Ejection, now: Instant) {
        let mut record = self.lock();
        record.failures = 0;
        let window = record.window(rules, now);
        window.good = window.good.saturating_add(1);
        // One that was out begins anew once it has been good for as long as it was out the last time.
        if record.times > 0 && record.out_until.is_none_or(|end| now >= end + rules.period(record.times - 1))
        {
            record.times = 0;
        }
    }

    /// A request failed. Returns whether the peer is so bad that it should be out; [`PeerHealth::eject`] does it.
    pub(super) fn bad(&self, rules: &Ejection, now: Instant) -> bool {
        let mut record = self.lock();
        record.failures = record.failures.saturating_add(1);
        let failures = record.failures;
        let window = record.window(rules, now);
        window.bad = window.bad.saturating_add(1);
        let all = window.good.saturating_add(window.bad);
        let too_many = rules.rate > 0.0
            && all >= rules.requests.get()
            && f64::from(window.bad) >= rules.rate * f64::from(all);
        let in_a_row = rules.failures > 0 && failures >= rules.failures;
        (in_a_row || too_many) && !record.is_out(now)
    }

    /// Puts it out, and says for how long.
    pub(super) fn eject(&self, rules: &Ejection, now: Instant) -> Duration {
        let mut record = self.lock();
        let period = rules.period(record.times);
        record.out_until = Some(now + period);
        record.times = record.times.saturating_add(1);
        record.failures = 0;
        record.window = None;
        period
    }

    /// Records a check; `needed` in a row with the same result count. Returns whether the peer's health changed.
    pub(super) fn checked(&self, well: bool, needed: u32) -> bool {
        let mut record = self.lock();
        if well != record.down {
            record.against = 0;
            return false;
        }
        record.against = record.against.saturating_add(1);
        if record.against < needed {
            return false;
        }
        record.down = !well;
        record.against = 0;
        true
    }

    /// Nobody checks it any more.
    pub fn unchecked(&self) {
        let mut record = self.lock();
        (record.down, record.against) = (false, 0);
    }

    fn lock(&self) -> MutexGuard<'_, PeerRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PeerRecord {
    fn is_out(&self, now: Instant) -> bool {
        self.out_until.is_some_and(|end| now < end)
    }

    fn window(&mut self, rules: &Ejection, now: Instant) -> &mut FailureWindow {
        let fresh = FailureWindow { since: now, good: 0, bad: 0 };
        let window = self.window.get_or_insert(fresh);
        if now.saturating_duration_since(window.since) > rules.window.get() {
            *window = FailureWindow { since: now, good: 0, bad: 0 };
        }
        window
    }
}

impl Ejection {
    /// How long a peer is out that was out `times` times before.
    fn period(&self, times: u32) -> Duration {
        self.eject.get().saturating_mul(1 << times.min(20)).min(self.longest.max(self.eject).get())
    }

    /// How many of `peers` may be out at once.
    pub(super) fn most(&self, peers: usize) -> usize {
        // Pools have few peers; the share is at most 1.
        (peers as f64 * self.share) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    const RULES: Ejection = Ejection {
        failures: 3,
        rate: 0.5,
        requests: NonZeroU32::MIN.saturating_add(9),
        window: Period::secs(10),
        eject: Period::secs(5),
        longest: Period::secs(12),
        share: 0.5,
    };

    fn takes(peer: &PeerHealth, now: Instant) -> bool {
        peer.state(now) == PeerState::Healthy
    }

    #[test]
    fn failures_in_a_row_put_it_out_for_twice_as_long_each_time() {
        let peer = PeerHealth::default();
        let mut now = SystemClock.instant();
        for period in [5, 10, 12, 12] {
            assert!(!peer.bad(&RULES, now) && !peer.bad(&RULES, now));
            assert!(takes(&peer, now));
            assert!(peer.bad(&RULES, now));
            let period = Duration::from_secs(period);
            assert_eq!(peer.eject(&RULES, now), period);
            assert!(!takes(&peer, now) && !takes(&peer, now + period - Duration::from_millis(1)));
            now += period;
            assert!(takes(&peer, now));
            // A single good answer is not yet a new beginning.
            peer.good(&RULES, now);
        }
        peer.good(&RULES, now + Duration::from_secs(13));
        assert_eq!(peer.eject(&RULES, now), Duration::from_secs(5));
    }

    #[test]
    fn half_of_the_requests_is_too_much_once_there_are_enough() {
        let peer = PeerHealth::default();
        let now = SystemClock.instant();
        for _ in 0..4 {
            peer.good(&RULES, now);
            assert!(!peer.bad(&RULES, now));
        }
        peer.good(&RULES, now);
        assert!(peer.bad(&RULES, now), "five of ten");
        let later = now + Duration::from_secs(11);
        assert!(!peer.bad(&RULES, later), "another window");
    }

    #[test]
    fn checks_are_believed_when_enough_of_them_agree() {
        let peer = PeerHealth::default();
        let now = SystemClock.instant();
        assert!(!peer.checked(false, 2) && takes(&peer, now));
        assert!(!peer.checked(true, 2));
        assert!(!peer.checked(false, 2) && peer.checked(false, 2) && !takes(&peer, now));
        assert!(!peer.checked(true, 2) && peer.checked(true, 2) && takes(&peer, now));
        assert!(!peer.checked(false, 2) && peer.checked(false, 2));
        peer.unchecked();
        assert!(takes(&peer, now));
    }

    #[test]
    fn never_more_than_their_share_is_out() {
        assert_eq!([1, 2, 3, 4].map(|peers| RULES.most(peers)), [0, 1, 1, 2]);
    }
}
