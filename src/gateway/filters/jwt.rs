//! Who calls, by a signed token (RFC 7519): verified against keys of its issuer, its claims handed on as headers.

use std::sync::Arc;

use async_trait::async_trait;

use crate::base::clock::SharedClock;
use crate::gateway::error::{GatewayError, TokenFault};
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::claims::{TokenPassage, TokenReader, identify, refusal};
use crate::gateway::keys::{JwtKeys, VerifyError};
use crate::gateway::plan::RequestPlan;
use crate::vault::jwt::{Claims, Policy};

/// What the filter is made from.
pub struct JwtParts {
    /// Keys of those who may sign.
    pub keys: JwtKeys,
    /// What tokens must say.
    pub policy: Policy,
    /// Where they are, and what of one goes on.
    pub passage: TokenPassage,
    /// Reads time.
    pub clock: SharedClock,
}

#[async_trait]
impl TokenReader for JwtParts {
    fn passage(&self) -> &TokenPassage {
        &self.passage
    }

    async fn claims(&self, token: &str) -> Result<Claims, GatewayError> {
        let verified = self.keys.verify(token).await.map_err(|why| match why {
            VerifyError::Token => TokenFault::Invalid.into(),
            VerifyError::NoKeys => GatewayError::Unverifiable,
        })?;
        let now = self.clock.now().as_millis() / 1000;
        verified.check(&self.policy, now).map_err(|denied| refusal(denied, &self.policy))
    }
}

/// Lets only bearers of good tokens pass.
pub struct JwtFilter(Arc<JwtParts>);

impl JwtFilter {
    /// Makes the filter.
    pub fn new(parts: JwtParts) -> Self {
        Self(Arc::new(parts))
    }
}

#[async_trait]
impl Filter for JwtFilter {
    fn name(&self) -> &'static str {
        "jwt"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        identify(&self.0, x).await
    }
}
