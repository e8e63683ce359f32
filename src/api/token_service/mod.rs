//! The token service, `POST /v1beta/token/…`: tokens made, listed, changed, rotated and revoked by HTTP. Its bearer may do
//! everything with them, so a token covers it only if it names it.
//!
//! | file | noun |
//! |---|---|
//! | `request` | what calls say |
//! | `response` | a token as callers see it |

mod request;
mod response;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::changes::ChangeLog;
use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code, Invalid, MAX_FAULTS};
use crate::api::fields::ObjectFields;
use crate::api::token::{NewToken, Principal, Service, TokenError, TokenInfo, Tokens, unknown_routes};
use crate::api::token_service::request::{
    ChangeRequest, CreateRequest, IdRequest, ListTokensRequest, NO_ROUTE, RotateTokenRequest,
};
use crate::api::token_service::response::{NewTokenResponse, TokenResponse, TokensResponse};
use crate::base::clock::SharedClock;
use crate::base::id::TokenId;
use crate::base::pointer::Pointer;

/// What the calls of the service work with.
#[derive(Clone)]
pub struct TokenService {
    /// The tokens.
    pub tokens: Arc<Tokens>,
    /// Where changes are written down.
    pub changes: ChangeLog,
    /// The names of the routes that there are.
    pub routes: Arc<BTreeSet<String>>,
    /// Reads time.
    pub clock: SharedClock,
}

impl TokenService {
    /// Writes down what was done with a token, before its caller is told. Where the disk does not take it now, it waits for that.
    fn note(&self, who: &Principal, act: &str, target: &TokenId) -> Result<(), ApiError> {
        self.changes.note(who, act, Some(&target.to_string()))?;
        drop(self.changes.written());
        Ok(())
    }

    /// The same of what made a secret, which nobody sees before the disk has that.
    fn note_secret(&self, who: &Principal, act: &str, target: &TokenId) -> Result<(), ApiError> {
        self.changes.note(who, act, Some(&target.to_string()))?;
        self.changes.written()
    }

    /// Whether a token may be given these routes: such that there are, or that it has already.
    async fn check_routes(&self, id: &TokenId, routes: &[String]) -> Result<(), ApiError> {
        let is_known = |route: &str| self.routes.contains(route);
        if unknown_routes(routes, is_known, None).is_empty() {
            return Ok(());
        }
        let before = self.tokens.get(id).await.map_err(|error| failed(&error))?;
        let unknown = unknown_routes(routes, is_known, Some(&before));
        let at = |at: usize| Pointer::root().key("routes").index(at);
        let fault = |(n, _)| Invalid::new(Code::DoesNotExist, at(n), NO_ROUTE);
        let faults: Vec<Invalid> = unknown.into_iter().take(MAX_FAULTS).map(fault).collect();
        if faults.is_empty() { Ok(()) } else { Err(ApiError::Validation(faults)) }
    }
}

/// So many tokens behind the one at which the page before ended, in the order of their ids, and whether there are others
/// behind these. Only what is on the page is put in order.
fn page(all: Vec<TokenInfo>, last: Option<&TokenId>, size: usize) -> (Vec<TokenInfo>, bool) {
    let by_id = |a: &TokenInfo, b: &TokenInfo| a.id.cmp(&b.id);
    let behind = |token: &TokenInfo| last.is_none_or(|last| token.id > *last);
    let mut page: Vec<TokenInfo> = all.into_iter().filter(behind).collect();
    let more = page.len() > size;
    if more {
        page.select_nth_unstable_by(size, by_id);
        page.truncate(size);
    }
    page.sort_unstable_by(by_id);
    (page, more)
}

/// How a failure is answered.
fn failed(error: &TokenError) -> ApiError {
    let at = |member: &str, code, error: &TokenError| {
        ApiError::Validation(vec![Invalid::new(code, Pointer::root().key(member), error.to_string())])
    };
    match error {
        TokenError::Unknown => at("id", Code::DoesNotExist, error),
        TokenError::Expired | TokenError::Revoked => at("id", Code::BadState, error),
        TokenError::Name => at("name", Code::DoesNotMatchPattern, error),
        TokenError::Route => at("routes", Code::DoesNotMatchPattern, error),
        TokenError::Tenant => at("services", Code::NotEnumMember, error),
        TokenError::TenantLabel => at("labels", Code::BadState, error),
        TokenError::Label => at("labels", Code::DoesNotMatchPattern, error),
        TokenError::Bounds => at("budgets", Code::AboveMaxItems, error),
        TokenError::Changed => at("id", Code::BadState, error),
        TokenError::Past | TokenError::Expiry | TokenError::Far => {
            at("expires", Code::BadFormatDateTime, error)
        }
        TokenError::Store(error) => ApiError::store(error, "tokens"),
        TokenError::Row | TokenError::Random(_) => ApiError::Internal("tokens"),
    }
}

fn success<R: Serialize>(summary: &str, result: R) -> Success<R> {
    Success { summary: summary.to_owned(), result }
}

/// `POST /v1beta/token/create`.
pub struct CreateToken(pub TokenService);

impl Endpoint for CreateToken {
    const PATH: &'static str = "/v1beta/token/create";
    const SERVICE: Service = Service::Token;
    type Request = CreateRequest;
    type Response = NewTokenResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<CreateRequest, ApiError> {
        CreateRequest::read(fields, self.0.clock.now(), &self.0.routes)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        CreateRequest(new): CreateRequest,
    ) -> BoxFuture<'a, Result<Success<NewTokenResponse>, ApiError>> {
        Box::pin(async move {
            let new: NewToken = new;
            self.0.changes.ready()?;
            let (id, secret) = self.0.tokens.create(new).await.map_err(|error| failed(&error))?;
            self.0.note_secret(caller.who, "token.create", &id)?;
            let info = self.0.tokens.get(&id).await.map_err(|error| failed(&error))?;
            Ok(success("Made a token", NewTokenResponse::new(&info, secret)))
        })
    }
}

/// `POST /v1beta/token/list`.
pub struct ListTokens(pub TokenService);

impl Endpoint for ListTokens {
    const PATH: &'static str = "/v1beta/token/list";
    const SERVICE: Service = Service::Token;
    type Request = ListTokensRequest;
    type Response = TokensResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<ListTokensRequest, ApiError> {
        ListTokensRequest::read(fields)
    }

    fn call<'a>(
        &'a self,
        _: ApiCaller<'a>,
        request: ListTokensRequest,
    ) -> BoxFuture<'a, Result<Success<TokensResponse>, ApiError>> {
        Box::pin(async move {
            let all = self.0.tokens.list().await.map_err(|error| failed(&error))?;
            let used = self.0.tokens.last_used().await.map_err(|error| failed(&error))?;
            let count = all.len();
            let (page, more) = page(all, request.last.as_ref(), request.size);
            let last = page.last().filter(|_| more).map(|token| token.id.to_string());
            let items =
                page.iter().map(|token| TokenResponse::new(token, used.get(&token.id).copied())).collect();
            Ok(success("Listed tokens", TokensResponse { count, items, last: last.unwrap_or_default() }))
        })
    }
}

/// `POST /v1beta/token/update`: what is not sent stays as it is.
pub struct UpdateToken(pub TokenService);

impl Endpoint for UpdateToken {
    const PATH: &'static str = "/v1beta/token/update";
    const SERVICE: Service = Service::Token;
    type Request = ChangeRequest;
    type Response = TokenResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<ChangeRequest, ApiError> {
        ChangeRequest::read(fields, self.0.clock.now())
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: ChangeRequest,
    ) -> BoxFuture<'a, Result<Success<TokenResponse>, ApiError>> {
        Box::pin(async move {
            let ChangeRequest { id, change } = request;
            self.0.changes.ready()?;
            self.0.check_routes(&id, change.routes()).await?;
            let apply = |info: &mut TokenInfo| {
                change.clone().apply(info);
                Ok(())
            };
            let changed = self.0.tokens.update(&id, apply).await;
            let info = changed.map_err(|error| failed(&error))?;
            self.0.note(caller.who, "token.update", &id)?;
            Ok(success("Changed a token", TokenResponse::new(&info, None)))
        })
    }
}

/// `POST /v1beta/token/rotate`: another secret for the same token.
pub struct RotateToken(pub TokenService);

impl Endpoint for RotateToken {
    const PATH: &'static str = "/v1beta/token/rotate";
    const SERVICE: Service = Service::Token;
    type Request = RotateTokenRequest;
    type Response = NewTokenResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<RotateTokenRequest, ApiError> {
        RotateTokenRequest::read(fields)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: RotateTokenRequest,
    ) -> BoxFuture<'a, Result<Success<NewTokenResponse>, ApiError>> {
        Box::pin(async move {
            let RotateTokenRequest { id, grace } = request;
            let grace = Duration::from_secs(grace);
            self.0.changes.ready()?;
            let secret = self.0.tokens.rotate(&id, grace).await.map_err(|error| failed(&error))?;
            self.0.note_secret(caller.who, "token.rotate", &id)?;
            let info = self.0.tokens.get(&id).await.map_err(|error| failed(&error))?;
            Ok(success("Made another secret", NewTokenResponse::new(&info, secret)))
        })
    }
}

/// `POST /v1beta/token/revoke`.
pub struct RevokeToken(pub TokenService);

impl Endpoint for RevokeToken {
    const PATH: &'static str = "/v1beta/token/revoke";
    const SERVICE: Service = Service::Token;
    type Request = IdRequest;
    type Response = TokenResponse;

    fn parse(&self, fields: ObjectFields<'_>) -> Result<IdRequest, ApiError> {
        IdRequest::read(fields)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        IdRequest(id): IdRequest,
    ) -> BoxFuture<'a, Result<Success<TokenResponse>, ApiError>> {
        Box::pin(async move {
            self.0.tokens.revoke(&id).await.map_err(|error| failed(&error))?;
            self.0.note(caller.who, "token.revoke", &id)?;
            let info = self.0.tokens.get(&id).await.map_err(|error| failed(&error))?;
            Ok(success("Revoked a token", TokenResponse::new(&info, None)))
        })
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
