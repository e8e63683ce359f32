//! Who calls: `Authorization: Bearer <token>` (RFC 6750 section 2.1) against the API tokens of this process. The
//! header does not go on: the token is ours, not the upstream's.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::AUTHORIZATION;

use crate::api::ApiError;
use crate::api::token::{TokenError, Tokens};
use crate::gateway::exchange::Exchange;
use crate::gateway::fault::Fault;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::bearer::bearer;

/// Lets only callers with a token pass.
pub struct Auth {
    tokens: Arc<Tokens>,
}

impl Auth {
    /// Proves callers against `tokens`.
    pub fn new(tokens: Arc<Tokens>) -> Self {
        Self { tokens }
    }
}

#[async_trait]
impl Filter for Auth {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange) -> Result<Flow, Fault> {
        let token = bearer(&x.head().headers).ok_or(ApiError::Unauthorized)?;
        let who = self.tokens.verify(token).await.map_err(|error| match error {
            TokenError::Unknown | TokenError::Expired | TokenError::Revoked => ApiError::Unauthorized,
            _ => ApiError::Internal("tokens"),
        })?;
        x.head_mut().remove_header(&AUTHORIZATION);
        x.facts.who = Some(who);
        Ok(Flow::Next)
    }
}

/// Takes a token of ours off a request of which none was asked: at a path that is mistyped, it would be shown to whoever
/// answers there. Another gateway's token, or any other key of the caller's, travels on.
pub struct Keep {
    tokens: Arc<Tokens>,
}

impl Keep {
    /// Keeps `tokens`.
    pub fn new(tokens: Arc<Tokens>) -> Self {
        Self { tokens }
    }
}

#[async_trait]
impl Filter for Keep {
    fn name(&self) -> &'static str {
        "keep"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange) -> Result<Flow, Fault> {
        let Some(token) = bearer(&x.head().headers) else { return Ok(Flow::Next) };
        if self.tokens.is_ours(token).await.map_err(|_| ApiError::Internal("tokens"))? {
            x.head_mut().remove_header(&AUTHORIZATION);
        }
        Ok(Flow::Next)
    }
}
