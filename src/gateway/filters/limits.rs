//! How often: a rate for each caller of a route. The buckets live outside the route table, so that a reload gives no
//! caller a new share.

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
    /// Each token's; a caller without one counts by address.
    Token,
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
    allowance: Allowance,
    buckets: Arc<Buckets<Caller>>,
}

impl Limits {
    /// Counts in `buckets`.
    pub fn new(allowance: Allowance, buckets: Arc<Buckets<Caller>>) -> Self {
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

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let caller = match self.allowance.whose {
            Whose::Token => x.caller(),
            Whose::Address => x.caller_by_address(),
        };
        let taken = self.buckets.take(caller, self.allowance.rate, x.clock().instant());
        match taken {
            Ok(()) => Ok(Flow::Next),
            Err(wait) => Err(GatewayError::Api(ApiError::TooManyRequests(wait.as_secs() + 1))),
        }
    }
}
