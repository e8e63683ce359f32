//! Who calls, by an API token of this process, and whether that token may go where the request does.
//!
//! Our own endpoints take `Authorization: Bearer <token>` (RFC 6750 section 2.1) and nothing else. A route to somebody
//! else takes the token where that party's clients send a key: as a bearer, in `x-api-key`, `api-key` or
//! `x-goog-api-key`, in the query's `key`. Whatever a request has of ours does not go on, wherever it stands: the token
//! is ours, not the upstream's. Another key of the caller's, in another place, does.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use pingora::http::RequestHeader;

use crate::api::ApiError;
use crate::api::scope::Target;
use crate::api::token::{Principal, Standing, TokenError, Tokens, tokens_in};
use crate::base::secret::Secret;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::bearer::bearer;
use crate::gateway::filters::head_tokens::{HeadToken, take_off, tokens_in_head};
use crate::gateway::plan::RequestPlan;

/// Lets only callers pass with a token that covers where they go.
pub struct Auth {
    tokens: Arc<Tokens>,
    target: Target,
    /// Which segment of a path may be the token.
    segment: Option<usize>,
}

impl Auth {
    /// Proves callers against `tokens`, on a route that leads to `target`.
    pub fn new(tokens: Arc<Tokens>, target: Target) -> Self {
        Self { tokens, target, segment: None }
    }

    /// Takes the token also as the segment behind so many of a path: for clients to which nothing but a URL can be told. It
    /// is taken off before anything else sees the path.
    #[must_use]
    pub fn or_in_path(self, behind: usize) -> Self {
        Self { segment: Some(behind), ..self }
    }

    /// The token that the path has, if it may have one there.
    fn take_segment(&self, x: &mut Exchange) -> Result<Option<Secret<String>>, GatewayError> {
        let Some((segment, rest)) = self.segment.and_then(|at| x.path().split_off(at)) else {
            return Ok(None);
        };
        let segment = Secret::new(segment);
        let is_token = tokens_in(segment.expose().as_bytes()).first() == Some(&segment);
        if is_token {
            x.set_path(rest)?;
        }
        Ok(is_token.then_some(segment))
    }

    /// Who calls one of our own endpoints.
    async fn caller(&self, head: &mut RequestHeader) -> Result<Principal, GatewayError> {
        let token = bearer(&head.headers).ok_or(ApiError::Unauthorized)?;
        let who = self.tokens.verify(token).await.map_err(|error| match error {
            TokenError::Unknown | TokenError::Expired | TokenError::Revoked => ApiError::Unauthorized,
            _ => ApiError::Internal("tokens"),
        })?;
        head.remove_header(&AUTHORIZATION);
        Ok(who)
    }

    /// Who calls somebody else. Of two tokens nobody could say which was meant (RFC 6750 section 3.1, `invalid_request`).
    async fn sender(&self, x: &mut Exchange) -> Result<Principal, GatewayError> {
        let in_path = self.take_segment(x)?;
        let mut found = Found::take_off(&self.tokens, x.head_mut()).await?;
        if let Some(text) = in_path {
            let standing = self.tokens.standing(text.expose()).await;
            if let Standing::Good(who) = standing.map_err(|_| ApiError::Internal("tokens"))? {
                found.push(Found { token: HeadToken { text, proves: true }, who: Some(who) });
            }
        }
        match (found.pop(), found.is_empty()) {
            (_, false) => {
                Err(ApiError::BadRequest("the request has two tokens of this gateway; send one").into())
            }
            (Some(Found { token: HeadToken { proves: true, .. }, who: Some(who) }), true) => Ok(who),
            (_, true) => Err(ApiError::Unauthorized.into()),
        }
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

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let who = match self.target {
            Target::Service(_) | Target::Answer => self.caller(x.head_mut()).await?,
            Target::Route(_) => self.sender(x).await?,
        };
        // The log says who it was also of one who may not.
        let who = x.facts.who.insert(who);
        who.reach(&self.target)?;
        Ok(Flow::Next)
    }
}

/// Takes tokens of ours off a request of which none was asked: at a path that is mistyped, one would be shown to whoever
/// answers there. Another gateway's token, or any other key of the caller's, travels on.
pub struct StripTokens {
    tokens: Arc<Tokens>,
}

impl StripTokens {
    /// Keeps `tokens`.
    pub fn new(tokens: Arc<Tokens>) -> Self {
        Self { tokens }
    }
}

#[async_trait]
impl Filter for StripTokens {
    fn name(&self) -> &'static str {
        "keep"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        Found::take_off(&self.tokens, x.head_mut()).await?;
        Ok(Flow::Next)
    }
}

/// A token of ours that a request had.
struct Found {
    token: HeadToken,
    /// Whose, if it is still good.
    who: Option<Principal>,
}

impl Found {
    /// Takes all tokens of ours off a head, those that expired or were revoked too.
    async fn take_off(tokens: &Tokens, head: &mut RequestHeader) -> Result<Vec<Self>, GatewayError> {
        let mut found = Vec::new();
        for token in tokens_in_head(head)? {
            let standing = tokens.standing(token.text.expose()).await;
            match standing.map_err(|_| ApiError::Internal("tokens"))? {
                Standing::Good(who) => found.push(Self { token, who: Some(who) }),
                Standing::Ended => found.push(Self { token, who: None }),
                Standing::Unknown => {}
            }
        }
        let texts: Vec<&Secret<String>> = found.iter().map(|one| &one.token.text).collect();
        take_off(head, &texts)?;
        Ok(found)
    }
}
