//! Who calls, by a signed token (RFC 7519): verified against keys of its issuer, its claims handed on as headers.

use async_trait::async_trait;
use pingora::http::RequestHeader;

use crate::api::ApiError;
use crate::base::clock::SharedClock;
use crate::gateway::error::{GatewayError, TokenFault};
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::claims::{TokenPassage, refusal};
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

/// Lets only bearers of good tokens pass.
pub struct JwtFilter(JwtParts);

impl JwtFilter {
    /// Makes the filter.
    pub fn new(parts: JwtParts) -> Self {
        Self(parts)
    }

    /// What the caller's token says.
    async fn claims(&self, head: &RequestHeader) -> Result<Claims, GatewayError> {
        let token = self.0.passage.place.find(head).ok_or(ApiError::Unauthorized)?;
        let verified = self.0.keys.verify(&token).await.map_err(|why| match why {
            VerifyError::Token => TokenFault::Invalid.into(),
            VerifyError::NoKeys => GatewayError::Unverifiable,
        })?;
        let now = self.0.clock.now().as_millis() / 1000;
        let policy = &self.0.policy;
        verified.check(policy, now).map_err(|denied| refusal(denied, policy))
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
        let claims = self.claims(x.head()).await?;
        self.0.passage.admit(x, claims)
    }
}
