//! The table of endpoints: everything follows from it (routing, methods allowed, scopes).
//!
//! An [`Endpoint`] is typed: what it asks, what it replies. [`Served`] erases the types: decode, validate, call,
//! envelope. Endpoints are reachable bare (`/v1/redact`), under their service's name (`/redact/v1/redact`), and by
//! host (`redact.*`); repeated slashes are one, and one at the end is none.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;

use crate::api::call::{Answer, BoxFuture, Call, Collected, Handler};
use crate::api::envelope::{Dialect, DialectChoice, Stamp};
use crate::api::error::ApiError;
use crate::api::fields::Fields;
use crate::api::json;
use crate::api::token::{Principal, Service};

/// Who calls, and how the answer is worded.
pub struct Asker<'a> {
    /// The proved caller.
    pub who: &'a Principal,
    /// The client's dialect.
    pub dialect: Dialect,
}

/// What a success carries.
pub struct Success<R> {
    /// A short text for people.
    pub summary: String,
    /// The operation's result.
    pub result: R,
}

/// One operation of the API.
pub trait Endpoint: Send + Sync + 'static {
    /// The path, without the service's name.
    const PATH: &'static str;
    /// The service it belongs to, which a token must cover.
    const SERVICE: Service;
    /// Members of the body that are left as they are written: documents of the caller's, and secrets, of which reading them
    /// would leave copies.
    const RAW: &'static [&'static str] = &[];
    /// What it asks, parsed.
    type Ask: Send;
    /// What it replies.
    type Reply: Serialize;

    /// Reads the body's members.
    ///
    /// # Errors
    /// All faults of the body at once.
    fn parse(&self, fields: Fields<'_>) -> Result<Self::Ask, ApiError>;

    /// Does it.
    fn call<'a>(
        &'a self,
        asker: Asker<'a>,
        ask: Self::Ask,
    ) -> BoxFuture<'a, Result<Success<Self::Reply>, ApiError>>;
}

/// An endpoint as a [`Handler`].
struct Served<E> {
    endpoint: E,
    dialect: DialectChoice,
    limit: usize,
}

impl<E: Endpoint> Served<E> {
    async fn run(&self, call: &mut Call<'_>) -> Result<Answer, ApiError> {
        let who = call.who.ok_or(ApiError::Unauthorized)?;
        if !who.allows(E::SERVICE) {
            return Err(ApiError::ServiceNotEnabled);
        }
        acceptable(&call.head.headers)?;
        let body = Collected::read(call.body, self.limit, call.budget).await?;
        let ask = self.ask(&body.bytes);
        let secret = E::SERVICE == Service::Vault;
        if secret {
            body.wipe();
        } else {
            drop(body);
        }
        let ask = ask?;
        let dialect = self.dialect.of(&call.head.headers);
        let success = self.endpoint.call(Asker { who, dialect }, ask).await?;
        let stamp = Stamp { id: call.id, received: call.received, answered: call.clock.now() };
        let status = dialect.success();
        Ok(match secret {
            true => stamp.secret_answer(StatusCode::OK, status, &success.summary, Some(success.result)),
            false => stamp.answer(StatusCode::OK, status, &success.summary, Some(success.result)),
        })
    }

    fn ask(&self, body: &[u8]) -> Result<E::Ask, ApiError> {
        let read = json::parse_keeping(body, E::RAW);
        let (value, kept) = read.map_err(|fault| ApiError::Validation(vec![fault]))?;
        self.endpoint.parse(Fields::keeping(&value, &kept)?)
    }
}

impl<E: Endpoint> Handler for Served<E> {
    fn call<'a>(&'a self, mut call: Call<'a>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| {
                error.answer(&Stamp { id: call.id, received: call.received, answered: call.clock.now() })
            })
        })
    }
}

/// A body must be JSON in UTF-8, in no content coding; a missing `Content-Type` is taken for JSON.
fn acceptable(headers: &HeaderMap) -> Result<(), ApiError> {
    let coded = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if coded {
        return Err(ApiError::UnsupportedMediaType("Send the body without a content coding"));
    }
    let json = headers.get(CONTENT_TYPE).is_none_or(is_json);
    if json { Ok(()) } else { Err(ApiError::UnsupportedMediaType("Send the body as application/json")) }
}

fn is_json(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case("application/json")
        && parts.filter_map(|part| part.split_once('=')).all(|(name, value)| {
            !name.trim().eq_ignore_ascii_case("charset")
                || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
}

/// How a path is served.
pub enum Lookup {
    /// By the endpoint at this index of the table; the caller must prove a token.
    Found(usize),
    /// By an endpoint that takes another method; the value of `Allow`.
    OtherMethod(&'static str),
    /// Not by us.
    Nothing,
}

struct Entry {
    service: Service,
    path: &'static str,
    handler: Arc<dyn Handler>,
}

/// All endpoints of this process.
#[derive(Default)]
pub struct Endpoints(Vec<Entry>);

impl Endpoints {
    /// Adds an endpoint, with the largest body it takes, in bytes.
    pub fn add<E: Endpoint>(&mut self, endpoint: E, dialect: DialectChoice, limit: usize) {
        let handler = Arc::new(Served { endpoint, dialect, limit });
        self.0.push(Entry { service: E::SERVICE, path: E::PATH, handler });
    }

    /// The handlers, in the order of the table, with their paths.
    pub fn handlers(&self) -> impl Iterator<Item = (&'static str, Arc<dyn Handler>)> + '_ {
        self.0.iter().map(|entry| (entry.path, Arc::clone(&entry.handler)))
    }

    /// Finds the endpoint for a request. (A host `redact.…` needs no rule of its own while no two services share a
    /// bare path.)
    pub fn find(&self, method: &Method, path: &str) -> Lookup {
        let path = canonical(path);
        for (index, entry) in self.0.iter().enumerate() {
            let rest = path.strip_prefix('/').and_then(|rest| rest.strip_prefix(entry.service.as_str()));
            if *path == *entry.path || rest.is_some_and(|rest| rest == entry.path) {
                return if method == Method::POST {
                    Lookup::Found(index)
                } else {
                    Lookup::OtherMethod("POST")
                };
            }
        }
        Lookup::Nothing
    }
}

/// No endpoint's path comes near this length, however many slashes a client's joining adds.
const MAX_PATH: usize = 256;

/// Repeated slashes merged, a slash at the end taken off.
fn canonical(path: &str) -> Cow<'_, str> {
    if path.len() > MAX_PATH || !path.contains("//") && (path.len() < 2 || !path.ends_with('/')) {
        return Cow::Borrowed(path);
    }
    let mut clean = String::with_capacity(path.len());
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        clean.push('/');
        clean.push_str(segment);
    }
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_canonical() {
        for (given, clean) in
            [("/v1/redact", "/v1/redact"), ("//v1///redact/", "/v1/redact"), ("/", "/"), ("//", "")]
        {
            assert_eq!(canonical(given), clean);
        }
        let endless = format!("/v1/redact{}", "/".repeat(5000));
        assert_eq!(canonical(&endless), endless);
    }

    #[test]
    fn media_types_are_judged_with_their_charset() {
        let rows = [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json\t;", true),
            ("application/json; charset=\"", false),
            ("application/json; charset=utf-16", false),
            ("application/jsonx", false),
            ("application/json, text/plain", false),
            ("", false),
            ("text/plain", false),
        ];
        for (text, taken) in rows {
            assert_eq!(is_json(&HeaderValue::from_str(text).unwrap()), taken, "{text}");
        }
    }
}
