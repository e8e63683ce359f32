//! How often: a rate for each caller of a route, and the rate of a token on all routes together. The buckets live outside
//! the route table, so that a reload gives no caller a new share.

use std::sync::Arc;

use async_trait::async_trait;

use crate::api::{ApiError, Caller};
use crate::base::rate::{Buckets, Rate};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::plan::RequestPlan;

/// Whose share is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
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
    pub whose: Whose,
}

/// Holds callers to their rate.
pub struct Limits {
    /// What a route allows, and where that is counted.
    allowance: Option<(Allowance, Arc<Buckets<Caller>>)>,
    /// What tokens have used up that have a rate of their own.
    of_tokens: Arc<Buckets<Caller>>,
}

impl Limits {
    /// Holds tokens to their own rates, which are counted in `of_tokens`.
    pub fn of_tokens(of_tokens: Arc<Buckets<Caller>>) -> Self {
        Self { allowance: None, of_tokens }
    }

    /// Holds callers to what a route allows too, counted in `buckets`.
    #[must_use]
    pub fn and(self, allowance: Allowance, buckets: Arc<Buckets<Caller>>) -> Self {
        Self { allowance: Some((allowance, buckets)), ..self }
    }
}

/// Takes one out of a share.
fn take(buckets: &Buckets<Caller>, caller: Caller, rate: Rate, x: &Exchange) -> Result<(), GatewayError> {
    let taken = buckets.take(caller, rate, x.clock().instant());
    taken.map_err(|wait| GatewayError::Api(ApiError::TooManyRequests(wait.as_secs() + 1)))
}

#[async_trait]
impl Filter for Limits {
    fn name(&self) -> &'static str {
        "rate"
    }

    fn stage(&self) -> Stage {
        Stage::Limit
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        if let Some((Allowance { rate, whose }, buckets)) = &self.allowance {
            let caller = match whose {
                Whose::Token => x.caller(),
                Whose::Certificate => x.caller_by_certificate().unwrap_or_else(|| x.caller_by_address()),
                Whose::Address => x.caller_by_address(),
            };
            take(buckets, caller, *rate, x)?;
        }
        if let Some(rate) = x.facts.who.as_ref().and_then(|who| who.bounds().rate) {
            take(&self.of_tokens, x.caller(), rate, x)?;
        }
        Ok(Flow::Next)
    }
}
