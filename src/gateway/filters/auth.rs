//! Who calls, by an API token of this process, and whether that token may go where the request does.
//!
//! Our own endpoints take `Authorization: Bearer <token>` (RFC 6750 section 2.1) and nothing else. A route to somebody
//! else takes the token where that party's clients send a key: as a bearer, in `x-api-key`, `api-key` or
//! `x-goog-api-key`, in the query's `key`. Whatever a request has of ours does not go on, wherever it stands: the token
//! is ours, not the upstream's. Another key of the caller's, in another place, does. Where the upstream is one of AWS that the
//! gateway signs for, a caller may sign with keys that stand for its token; then the body is read before anything else.
//! A WebSocket ends with the token that opened it.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use pingora::http::RequestHeader;

use crate::api::ApiError;
use crate::api::scope::AccessTarget;
use crate::api::token::{Principal, TokenBounds, TokenError, TokenMatch, Tokens, tokens_in};
use crate::api::token_fault::unread;
use crate::api::token_signers::AwsSecrets;
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::aws_signature::SignedRequest;
use crate::gateway::filters::bearer::bearer;
use crate::gateway::filters::head_tokens::{HeadToken, take_off, tokens_in_head};
use crate::gateway::plan::RequestPlan;
use crate::gateway::session_proof::SessionProof;

const TWO: &str = "the request has two tokens of this gateway; send one";
const UNSIGNED: &str =
    "Nothing is signed for AWS where this leads, so that a signature with keys of a token is not taken here";
const NARROWED: &str =
    "The token is for some models or has a budget now, and what is asked over a WebSocket is not counted";

/// Lets only callers pass with a token that covers where they go.
pub struct AuthFilter {
    tokens: Arc<Tokens>,
    target: AccessTarget,
    /// Which segment of a path may be the token.
    segment: Option<usize>,
    /// What signatures are proved by, and the largest body of a signed request, in bytes.
    signed: Option<(AwsSecrets, usize)>,
}

impl AuthFilter {
    /// Proves callers against `tokens`, on a route that leads to `target`.
    pub fn new(tokens: Arc<Tokens>, target: AccessTarget) -> Self {
        Self { tokens, target, segment: None, signed: None }
    }

    /// Takes the token also as the segment behind so many of a path: for clients to which nothing but a URL can be told. It
    /// is taken off before anything else sees the path.
    #[must_use]
    pub fn or_in_path(self, behind: usize) -> Self {
        Self { segment: Some(behind), ..self }
    }

    /// Lets in too who signs as AWS has it, with keys that stand for a token, a body of at most so many bytes.
    #[must_use]
    pub fn or_signed(self, secrets: AwsSecrets, collected: usize) -> Self {
        Self { signed: Some((secrets, collected)), ..self }
    }

    /// Who has signed a request. `None`: all of its body must be there first.
    async fn signer(
        &self,
        x: &mut Exchange,
        request: &SignedRequest,
        secrets: &AwsSecrets,
    ) -> Result<Option<Principal>, GatewayError> {
        let signers = self.tokens.signers(&request.id, secrets).await.map_err(unproved)?;
        let Some(body) = x.facts.read.take() else { return Ok(None) };
        request.check_body(&body)?;
        let who = self.tokens.signed(signers, |secret| request.is_of(&body, secret));
        let who = who.ok_or_else(SignedRequest::refused)?;
        request.take_off(x.head_mut())?;
        Ok(Some(who))
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

    /// Makes sure that a signature is all that a request says who sends it with, and that it can be made anew.
    async fn only_signed(&self, x: &mut Exchange) -> Result<(), GatewayError> {
        let signs = x.upstream().is_some_and(|upstream| upstream.signs(x.head()).is_some());
        if !signs || x.is_websocket() {
            return Err(ApiError::OutOfScope(UNSIGNED).into());
        }
        match PresentedToken::take_off(&self.tokens, x.head_mut()).await?.is_empty() {
            true => Ok(()),
            false => Err(ApiError::BadRequest(TWO).into()),
        }
    }

    /// Who calls one of our own endpoints.
    async fn caller(&self, head: &mut RequestHeader) -> Result<Principal, GatewayError> {
        let token = bearer(&head.headers).ok_or(ApiError::Unauthorized)?;
        let who = self.tokens.verify(token).await.map_err(unproved)?;
        head.remove_header(&AUTHORIZATION);
        Ok(who)
    }

    /// Who calls somebody else. Of two tokens nobody could say which was meant (RFC 6750 section 3.1, `invalid_request`).
    async fn sender(&self, x: &mut Exchange) -> Result<Principal, GatewayError> {
        let in_path = self.take_segment(x)?;
        let mut found = PresentedToken::take_off(&self.tokens, x.head_mut()).await?;
        if let Some(text) = in_path {
            let standing = self.tokens.standing(text.expose()).await;
            if let TokenMatch::Good(who) = standing.map_err(|error| unread(&error))? {
                found.push(PresentedToken { token: HeadToken { text, proves: true }, who: Some(who) });
            }
        }
        match (found.pop(), found.is_empty()) {
            (_, false) => Err(ApiError::BadRequest(TWO).into()),
            (Some(PresentedToken { token: HeadToken { proves: true, text }, who: Some(who) }), true) => {
                if x.is_websocket() {
                    x.facts.proofs.push(Box::new(self.proof(text, &who)));
                }
                Ok(who)
            }
            (_, true) => Err(ApiError::Unauthorized.into()),
        }
    }

    /// By what a session that this token opens goes on.
    fn proof(&self, token: Secret<String>, who: &Principal) -> TokenProof {
        let (tokens, target) = (Arc::clone(&self.tokens), self.target.clone());
        TokenProof { tokens, token, target, bounds: who.bounds().clone() }
    }
}

/// That the token which opened a session is good yet, and may go where that leads.
struct TokenProof {
    tokens: Arc<Tokens>,
    token: Secret<String>,
    target: AccessTarget,
    /// What it was bound by then.
    bounds: TokenBounds,
}

impl TokenProof {
    /// Whether the token was bound since in a way in which it could not have opened the session.
    fn is_narrowed(&self, to: &TokenBounds) -> bool {
        let models = to.models.is_some() && to.models != self.bounds.models;
        // Labels say which budgets of the configuration there are.
        models
            || to.labels != self.bounds.labels
            || (!to.budgets.is_empty() && to.budgets != self.bounds.budgets)
    }
}

#[async_trait]
impl SessionProof for TokenProof {
    async fn prove(&self) -> Result<Option<Timestamp>, GatewayError> {
        let who = match self.tokens.verify(self.token.expose()).await.map_err(unproved) {
            Ok(who) => who,
            Err(ApiError::Unauthorized) => return Err(ApiError::Unauthorized.into()),
            // It cannot be looked up now.
            Err(_) => return Ok(None),
        };
        who.reach(&self.target)?;
        if self.is_narrowed(who.bounds()) {
            return Err(ApiError::OutOfScope(NARROWED).into());
        }
        Ok(who.expires())
    }
}

#[async_trait]
impl Filter for AuthFilter {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let signed = match &self.signed {
            Some(how) => SignedRequest::of(x)?.map(|request| (request, how)),
            None => None,
        };
        let who = match (&self.target, signed) {
            (AccessTarget::Service(_) | AccessTarget::Answer, _) => self.caller(x.head_mut()).await?,
            (AccessTarget::Route(_), None) => self.sender(x).await?,
            (AccessTarget::Route(_), Some((request, (secrets, collected)))) => {
                self.only_signed(x).await?;
                match self.signer(x, &request, secrets).await? {
                    Some(who) => who,
                    None => return Ok(Flow::Read(*collected)),
                }
            }
        };
        // The log says who it was also of one who may not.
        let who = x.facts.principal.insert(who);
        who.reach(&self.target)?;
        Ok(Flow::Next)
    }
}

/// How somebody is refused of whom it is not known who it is.
fn unproved(error: TokenError) -> ApiError {
    match error {
        TokenError::Unknown | TokenError::Expired | TokenError::Revoked => ApiError::Unauthorized,
        error => unread(&error),
    }
}

/// Takes tokens of ours off a request of which none was asked: at a path that is mistyped, one would be shown to whoever
/// answers there. Another gateway's token, or any other key of the caller's, travels on.
pub struct StripTokensFilter {
    tokens: Arc<Tokens>,
}

impl StripTokensFilter {
    /// Keeps `tokens`.
    pub fn new(tokens: Arc<Tokens>) -> Self {
        Self { tokens }
    }
}

#[async_trait]
impl Filter for StripTokensFilter {
    fn name(&self) -> &'static str {
        "keep"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        PresentedToken::take_off(&self.tokens, x.head_mut()).await?;
        Ok(Flow::Next)
    }
}

/// A token of ours that a request had.
struct PresentedToken {
    token: HeadToken,
    /// Whose, if it is still good.
    who: Option<Principal>,
}

impl PresentedToken {
    /// Takes all tokens of ours off a head, those that expired or were revoked too.
    async fn take_off(tokens: &Tokens, head: &mut RequestHeader) -> Result<Vec<Self>, GatewayError> {
        let mut found = Vec::new();
        for token in tokens_in_head(head)? {
            let standing = tokens.standing(token.text.expose()).await;
            match standing.map_err(|error| unread(&error))? {
                TokenMatch::Good(who) => found.push(Self { token, who: Some(who) }),
                TokenMatch::Ended => found.push(Self { token, who: None }),
                TokenMatch::Unknown => {}
            }
        }
        let texts: Vec<&Secret<String>> = found.iter().map(|one| &one.token.text).collect();
        take_off(head, &texts)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::api::token::{NewToken, TokenInfo};
    use crate::base::clock::{Clock, FixedClock, SharedClock};
    use crate::store::{EmbeddedRecords, Records};
    use crate::usage::{BudgetMode, SpendBudget};

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const HOUR: Duration = Duration::from_secs(3600);

    /// Changes a token.
    type Change = fn(&mut TokenInfo);

    #[tokio::test]
    async fn a_session_ends_with_the_token_that_opened_it() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::at(START));
        let shared = Arc::clone(&clock) as SharedClock;
        let file = folder.path().join("portcullis.sqlite");
        let records = EmbeddedRecords::open(&file, Arc::clone(&shared)).await.unwrap();
        let tokens = Arc::new(Tokens::new(Arc::new(records) as Arc<dyn Records>, shared));
        let filter = AuthFilter::new(Arc::clone(&tokens), AccessTarget::Route("chat".to_owned()));
        let opened = async || {
            let expires = Some(clock.now().plus(HOUR));
            let routes = vec!["chat".to_owned(), "other".to_owned()];
            let new = NewToken { name: "ws".to_owned(), routes, expires, ..NewToken::default() };
            let (id, token) = tokens.create(new).await.unwrap();
            let who = tokens.verify(token.expose()).await.unwrap();
            (id, filter.proof(token, &who))
        };
        let code = async |proof: &TokenProof| proof.prove().await.map_err(|error| error.close_code());

        let (id, proof) = opened().await;
        assert_eq!(code(&proof).await, Ok(Some(START.plus(HOUR))));
        let keep = |info: &mut TokenInfo| info.name = "another".to_owned();
        let moved = |info: &mut TokenInfo| info.routes = Some(vec!["other".to_owned()]);
        let models = |info: &mut TokenInfo| info.bounds.models = Some(Vec::new());
        let budget = |info: &mut TokenInfo| {
            let budget = SpendBudget::parse("1usd/day", BudgetMode::Hard).unwrap();
            info.bounds.budgets = vec![Arc::new(budget)];
        };
        let rows: [(Change, bool); 4] = [(keep, true), (moved, false), (models, false), (budget, false)];
        for (n, (change, goes_on)) in rows.into_iter().enumerate() {
            let (id, proof) = opened().await;
            let change = |info: &mut TokenInfo| {
                change(info);
                Ok(())
            };
            tokens.update(&id, change).await.unwrap();
            assert_eq!(code(&proof).await.is_ok(), goes_on, "{n}");
        }
        tokens.revoke(&id).await.unwrap();
        assert_eq!(code(&proof).await, Err(1008));
        // The secret before another lasts for its grace, and any for the token's life.
        let (id, proof) = opened().await;
        tokens.rotate(&id, HOUR / 2).await.unwrap();
        assert_eq!(code(&proof).await, Ok(Some(START.plus(HOUR / 2))));
        clock.advance(HOUR / 2);
        assert_eq!(code(&proof).await, Err(1008));
        let (_, proof) = opened().await;
        clock.advance(HOUR);
        assert_eq!(code(&proof).await, Err(1008));
    }
}
