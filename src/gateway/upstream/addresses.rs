//! Where a peer's name leads. It is looked up from time to time, by one request, while others go where it led before.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use pingora::upstreams::peer::HttpPeer;

/// How long a name's addresses are used before they are looked up again.
const RESOLVE_EVERY: Duration = Duration::from_secs(30);

/// How long no other request looks them up once one does, whatever comes of it: so not every request asks a resolver
/// that does not answer, or waits for it.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// A peer's addresses, as ready-made descriptions for the connector; none at first.
#[derive(Default)]
pub(super) struct PeerAddresses {
    known: ArcSwapOption<ResolvedAddress>,
    asked: Mutex<Option<Instant>>,
}

/// Where a name led once.
pub(super) struct ResolvedAddress {
    since: Instant,
    /// At least one.
    pub(super) dials: Vec<HttpPeer>,
}

impl PeerAddresses {
    /// What can be used at once. `None`: the caller is to look them up.
    pub(super) fn usable(&self, now: Instant) -> Option<Arc<ResolvedAddress>> {
        let known = self.known.load_full()?;
        let fresh = now.saturating_duration_since(known.since) < RESOLVE_EVERY;
        (fresh || !self.is_turn(now)).then_some(known)
    }

    /// They were looked up. Without any what was known stays: a resolver that is down for a moment should not take a
    /// working upstream with it.
    pub(super) fn found(&self, dials: Vec<HttpPeer>, now: Instant) -> Option<Arc<ResolvedAddress>> {
        if !dials.is_empty() {
            self.known.store(Some(Arc::new(ResolvedAddress { since: now, dials })));
        }
        self.known.load_full()
    }

    fn is_turn(&self, now: Instant) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = asked.is_none_or(|at| now.saturating_duration_since(at) >= ASK_EVERY);
        if due {
            *asked = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    #[test]
    fn one_request_at_a_time_looks_up_and_others_go_where_it_led_before() {
        let addresses = PeerAddresses::default();
        let start = SystemClock.instant();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(addresses.usable(start).is_none());
        assert!(addresses.found(Vec::new(), start).is_none(), "nobody has ever been found");
        let dials = vec![HttpPeer::new(("192.0.2.1", 80), false, String::new())];
        assert!(addresses.found(dials, start).is_some());
        assert!(addresses.usable(after(29)).is_some());
        assert!(addresses.usable(after(31)).is_none(), "this one looks it up");
        for seconds in [31, 35, 40] {
            assert!(addresses.usable(after(seconds)).is_some(), "the resolver is asked already");
        }
        assert!(addresses.found(Vec::new(), after(36)).is_some(), "what was known stays");
        assert!(addresses.usable(after(41)).is_none(), "and is asked for again");
    }
}
