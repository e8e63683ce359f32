//! How often: a rate for each caller of a route, by the generic cell rate algorithm (ITU-T I.371, annex A): one number
//! a caller, no timer. The buckets live outside the route table, so that a reload forgives nobody.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dashmap::DashMap;

use crate::api::{ApiError, Caller};
use crate::gateway::exchange::Exchange;
use crate::gateway::fault::Fault;
use crate::gateway::filter::{Filter, Flow, Stage};

/// Callers remembered for one route; beyond it those are forgotten who have nothing or the least on their account.
const MAX_CALLERS: usize = 100_000;

/// Whose share is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Each address's; of IPv6 each /64's.
    Address,
    /// Each token's; a caller without one counts by address.
    Token,
}

/// `requests` in every `per`, all of which may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How many.
    pub requests: u32,
    /// In how long.
    pub per: Duration,
    /// For whom.
    pub whose: Whose,
}

/// What the callers of one route have used up: when each one's next request is due, theoretically.
#[derive(Debug, Default)]
pub struct Buckets(DashMap<Caller, Instant>);

impl Buckets {
    /// Takes one request out of the caller's share.
    fn take(&self, caller: Caller, allowance: Allowance, now: Instant) -> Result<(), Duration> {
        let each = allowance.per / allowance.requests.max(1);
        let burst = allowance.per.saturating_sub(each);
        if self.0.len() >= MAX_CALLERS {
            self.make_room(now);
        }
        let mut due = self.0.entry(caller).or_insert(now);
        let ahead = due.saturating_duration_since(now);
        if ahead > burst {
            return Err(ahead - burst);
        }
        *due = now.max(*due) + each;
        Ok(())
    }

    /// Enough of it that the next ones to come need not look at all callers again.
    fn make_room(&self, now: Instant) {
        self.0.retain(|_, due| *due > now);
        if self.0.len() < MAX_CALLERS / 4 * 3 {
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

/// Holds callers to their rate.
pub struct Limits {
    allowance: Allowance,
    buckets: Arc<Buckets>,
}

impl Limits {
    /// Counts in `buckets`.
    pub fn new(allowance: Allowance, buckets: Arc<Buckets>) -> Self {
        Self { allowance, buckets }
    }
}

#[async_trait]
impl Filter for Limits {
    fn name(&self) -> &'static str {
        "rate"
    }

    fn stage(&self) -> Stage {
        Stage::Limit
    }

    async fn request(&self, x: &mut Exchange) -> Result<Flow, Fault> {
        let caller = match self.allowance.whose {
            Whose::Token => x.caller(),
            Whose::Address => x.caller_by_address(),
        };
        let taken = self.buckets.take(caller, self.allowance, x.clock().instant());
        match taken {
            Ok(()) => Ok(Flow::Next),
            Err(wait) => Err(Fault::Api(ApiError::TooManyRequests(wait.as_secs() + 1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    #[test]
    fn a_share_may_be_used_at_once_and_comes_back_evenly() {
        let buckets = Buckets::default();
        let allowance = Allowance { requests: 4, per: Duration::from_secs(4), whose: Whose::Address };
        let (one, other) = (Caller::Address(None), Caller::Address(Some(IpAddr::from([127, 0, 0, 1]))));
        let start = SystemClock.instant();
        for _ in 0..4 {
            assert_eq!(buckets.take(one.clone(), allowance, start), Ok(()));
        }
        assert_eq!(buckets.take(one.clone(), allowance, start), Err(Duration::from_secs(1)));
        assert_eq!(buckets.take(other, allowance, start), Ok(()));
        let later = start + Duration::from_secs(1);
        assert_eq!(buckets.take(one.clone(), allowance, later), Ok(()));
        assert!(buckets.take(one, allowance, later).is_err());
    }

    #[test]
    fn callers_without_number_take_a_bounded_room_and_the_worst_are_remembered() {
        let buckets = Buckets::default();
        let allowance = Allowance { requests: 2, per: Duration::from_secs(3600), whose: Whose::Address };
        let start = SystemClock.instant();
        let caller = |n: u32| Caller::Address(Some(IpAddr::from(n.to_be_bytes())));
        let worst = caller(u32::MAX);
        for _ in 0..2 {
            assert_eq!(buckets.take(worst.clone(), allowance, start), Ok(()));
        }
        for n in 0..250_000 {
            assert_eq!(buckets.take(caller(n), allowance, start + Duration::from_micros(n.into())), Ok(()));
            assert!(buckets.0.len() <= MAX_CALLERS);
        }
        assert!(buckets.take(worst, allowance, start + Duration::from_secs(1)).is_err());
    }
}
