//! Who calls, by a signed token (RFC 7519): verified against keys of its issuer, its claims handed on as headers.

use std::sync::Arc;

use async_trait::async_trait;

use crate::api::ApiError;
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::secret::Secret;
use crate::gateway::error::{GatewayError, TokenFault};
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::claims::{TokenPassage, refusal};
use crate::gateway::keys::{JwtKeys, VerifyError};
use crate::gateway::plan::RequestPlan;
use crate::gateway::session_proof::SessionProof;
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

impl JwtParts {
    /// What a token says.
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

/// That the token which opened a session is good yet.
struct JwtProof {
    parts: Arc<JwtParts>,
    token: Secret<String>,
}

#[async_trait]
impl SessionProof for JwtProof {
    async fn prove(&self) -> Result<Option<Timestamp>, GatewayError> {
        match self.parts.claims(self.token.expose()).await {
            Ok(_) | Err(GatewayError::Unverifiable) => Ok(None),
            Err(error) => Err(error),
        }
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
        let token = self.0.passage.place.find(x.head()).ok_or(ApiError::Unauthorized)?;
        let claims = self.0.claims(&token).await?;
        if x.is_websocket() {
            let proof = JwtProof { parts: Arc::clone(&self.0), token: Secret::new(token) };
            x.facts.proofs.push(Box::new(proof));
        }
        self.0.passage.admit(x, claims)
    }
}
