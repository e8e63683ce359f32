//! How often: a rate for each caller of a route, and the rate of a token on all routes together. The buckets live outside
//! the route table, so that a reload gives no caller a new share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::api::{ApiError, Caller};
use crate::base::rate::{Buckets, Rate};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::plan::RequestPlan;
use crate::rates::{RateShare, SharedRates};

/// Whose share is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateSubject {
    /// Each address's; of IPv6 each /64's.
    Address,
    /// Each token's; a caller without one counts by certificate, or else by address.
    Token,
    /// Whomever each client certificate names; a caller without one counts by address.
    Certificate,
}

/// How often whoever may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How often.
    pub rate: Rate,
    /// For whom.
    pub whose: RateSubject,
}

/// Holds callers to their rate.
pub struct RateFilter {
    /// What a route allows, and where that is counted.
    allowance: Option<(Allowance, Arc<Buckets<Caller>>)>,
    /// What tokens have used up that have a rate of their own.
    of_tokens: Arc<Buckets<Caller>>,
    /// Where nodes count together.
    shared: Option<Arc<SharedRates>>,
}

/// One share that a request takes from.
struct LimitShare<'a> {
    of: &'a str,
    buckets: &'a Buckets<Caller>,
    caller: Caller,
    rate: Rate,
}

impl RateFilter {
    /// Holds tokens to their own rates, which are counted in `of_tokens`.
    pub fn of_tokens(of_tokens: Arc<Buckets<Caller>>) -> Self {
        Self { allowance: None, of_tokens, shared: None }
    }

    /// Holds callers to what a route allows too, counted in `buckets`.
    #[must_use]
    pub fn and(self, allowance: Allowance, buckets: Arc<Buckets<Caller>>) -> Self {
        Self { allowance: Some((allowance, buckets)), ..self }
    }

    /// Counts together with other nodes, where `shared` says so.
    #[must_use]
    pub fn shared(self, shared: Option<Arc<SharedRates>>) -> Self {
        Self { shared, ..self }
    }

    /// What a request takes from.
    fn shares<'a>(&'a self, x: &'a Exchange) -> Vec<LimitShare<'a>> {
        let mut shares = Vec::new();
        if let Some((Allowance { rate, whose }, buckets)) = &self.allowance {
            let caller = match whose {
                RateSubject::Token => x.caller(),
                RateSubject::Certificate => {
                    x.caller_by_certificate().unwrap_or_else(|| x.caller_by_address())
                }
                RateSubject::Address => x.caller_by_address(),
            };
            shares.push(LimitShare { of: &x.route().name, buckets, caller, rate: *rate });
        }
        if let Some(rate) = x.facts.principal.as_ref().and_then(|who| who.bounds().rate) {
            shares.push(LimitShare { of: "", buckets: &self.of_tokens, caller: x.caller(), rate });
        }
        shares
    }
}

/// Takes from all shares, with other nodes where they can be asked.
async fn take(shares: &[LimitShare<'_>], shared: Option<&SharedRates>, now: Instant) -> Result<(), Duration> {
    let Some(shared) = shared else {
        return take_here(shares, now, |rate| rate);
    };
    let names: Vec<Vec<u8>> = shares.iter().map(|share| share.caller.name()).collect();
    let tells = shared.is_to_be_told();
    let turns = shares.iter().zip(&names).map(|(share, caller)| {
        let ahead = if tells { share.buckets.ahead(&share.caller, now) } else { Duration::ZERO };
        RateShare { of: share.of, caller, rate: share.rate, ahead }
    });
    let turns: Vec<RateShare<'_>> = turns.collect();
    let answer = shared.take(&turns).await;
    // What was taken together is known here, for when nobody can be asked.
    let alone =
        |share: &LimitShare<'_>| share.buckets.take(share.caller.clone(), shared.part(share.rate), now);
    match answer {
        Some(Ok(())) => {
            shares.iter().for_each(|share| alone(share).unwrap_or_default());
            Ok(())
        }
        Some(Err(wait)) => Err(wait),
        None => take_here(shares, now, |rate| shared.part(rate)),
    }
}

/// Takes from all shares, as far as is known here, or from none: what one share refuses is not taken from those it has with
/// others.
fn take_here(shares: &[LimitShare<'_>], now: Instant, part: impl Fn(Rate) -> Rate) -> Result<(), Duration> {
    for (at, share) in shares.iter().enumerate() {
        if let Err(wait) = share.buckets.take(share.caller.clone(), part(share.rate), now) {
            for taken in shares.iter().take(at) {
                taken.buckets.give_back(&taken.caller, part(taken.rate));
            }
            return Err(wait);
        }
    }
    Ok(())
}

#[async_trait]
impl Filter for RateFilter {
    fn name(&self) -> &'static str {
        "rate"
    }

    fn stage(&self) -> Stage {
        Stage::Limit
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let taken = take(&self.shares(x), self.shared.as_deref(), x.clock().instant()).await;
        taken.map_err(|wait| ApiError::TooManyRequests(wait.as_secs() + 1))?;
        Ok(Flow::Next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    #[test]
    fn a_share_that_refuses_takes_nothing_from_the_others() {
        let (route, token) = (Buckets::default(), Buckets::default());
        let rate = |times: u32| Rate { times, per: Duration::from_secs(60) };
        let shares = |name: u8| {
            let caller = Caller::Certificate([name; 32]);
            let own = LimitShare { of: "", buckets: &token, caller, rate: rate(1) };
            let shared =
                LimitShare { of: "r", buckets: &route, caller: Caller::Address(None), rate: rate(5) };
            [shared, own]
        };
        let now = SystemClock.instant();
        assert!(take_here(&shares(1), now, |rate| rate).is_ok());
        for _ in 0..20 {
            assert!(take_here(&shares(1), now, |rate| rate).is_err());
        }
        assert!(take_here(&shares(2), now, |rate| rate).is_ok());
    }
}
