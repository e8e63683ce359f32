//! The table of endpoints: everything follows from it (routing, methods allowed, scopes).
//!
//! An [`Endpoint`] is typed: what it asks, what it replies. [`EndpointHandler`] erases the types: decode, validate, call,
//! envelope. Endpoints are reachable bare (`/v1/redact`), under their service's name (`/redact/v1/redact`), and by
//! host (`redact.*`); a slash at the end is none. What is no plain JSON operation is
//! mounted behind a [`Mount`].

use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;

use crate::api::call::{ApiAnswer, ApiCall, BodyError, BufferedBody, Handler};
use crate::api::cpu::block_in_place;
use crate::api::envelope::{Dialect, DialectChoice, Stamp};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::json;
use crate::api::scope::AccessTarget;
use crate::api::token::{Principal, Service};
use crate::base::budget::WorkCharge;
use crate::base::path::RequestPath;

/// Who calls, and how the answer is worded.
pub struct ApiCaller<'a> {
    /// The proved caller.
    pub who: &'a Principal,
    /// The client's dialect.
    pub dialect: Dialect,
    /// What the call holds, until it is answered.
    pub held: &'a WorkCharge,
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
    /// Whether it is reachable without its service's name too: not where two services share a path.
    const BARE: bool = true;
    /// Whether nothing is kept of a call: one whose caller has left is given up, wherever it is.
    const KEEPS_NOTHING: bool = false;
    /// What it asks, parsed.
    type Request: Send;
    /// What it replies.
    type Response: Serialize;

    /// Reads the body's members.
    ///
    /// # Errors
    /// All faults of the body at once.
    fn parse(&self, fields: ObjectFields<'_>) -> Result<Self::Request, ApiError>;

    /// Does it.
    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: Self::Request,
    ) -> BoxFuture<'a, Result<Success<Self::Response>, ApiError>>;
}

/// An endpoint as a [`Handler`].
struct EndpointHandler<E> {
    endpoint: E,
    dialect: DialectChoice,
    limit: usize,
}

impl<E: Endpoint> EndpointHandler<E> {
    async fn run(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let who = call.who.ok_or(ApiError::Unauthorized)?;
        acceptable(&call.head.headers)?;
        let body = BufferedBody::read(call.body, self.limit, call.budget).await?;
        let length = body.bytes.len();
        // What was read of it, and what becomes of that.
        let held = call.budget.tally();
        held.add(length)?;
        let request = match length {
            ..LONG => self.request(&body.bytes),
            _ => block_in_place(|| self.request(&body.bytes)),
        };
        let secret = matches!(E::SERVICE, Service::Vault | Service::Token);
        if secret {
            body.wipe();
        } else {
            drop(body);
        }
        held.add(length)?;
        let request = request?;
        let dialect = self.dialect.of(&call.head.headers);
        let done = self.endpoint.call(ApiCaller { who, dialect, held: &held }, request);
        let success = if E::KEEPS_NOTHING && length >= WATCHED {
            tokio::select! {
                biased;
                done = done => done?,
                () = call.body.left() => return Err(BodyError::Gone.into()),
            }
        } else {
            done.await?
        };
        let stamp = Stamp::of(call);
        let status = dialect.success();
        Ok(match secret {
            true => stamp.secret_answer(StatusCode::OK, status, &success.summary, Some(success.result)),
            false => stamp.answer(StatusCode::OK, status, &success.summary, Some(success.result)),
        })
    }

    fn request(&self, body: &[u8]) -> Result<E::Request, ApiError> {
        let read = json::parse_keeping(body, E::RAW);
        let (value, kept) = read.map_err(|fault| ApiError::Validation(vec![fault]))?;
        self.endpoint.parse(ObjectFields::keeping(&value, &kept)?)
    }
}

impl<E: Endpoint> Handler for EndpointHandler<E> {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let outcome = self.run(&mut call).await;
            outcome.unwrap_or_else(|error| error.answer(&Stamp::of(&call)))
        })
    }
}

/// A body must be JSON in UTF-8, in no content coding; a missing `Content-Type` is taken for JSON.
pub(super) fn acceptable(headers: &HeaderMap) -> Result<(), ApiError> {
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
pub enum EndpointMatch {
    /// By the endpoint at this index of the table.
    Found(usize),
    /// By endpoints that take other methods; the value of `Allow`.
    OtherMethod(String),
    /// Not by us.
    Nothing,
}

/// How a [`Handler`] is reached.
#[derive(Clone, Debug)]
pub struct Mount {
    /// The one method it takes.
    pub method: Method,
    /// Its service.
    pub service: Service,
    /// The path, without the service's name.
    pub path: &'static str,
    /// Whether `path` is where it begins, and anything may follow after a slash.
    pub below: bool,
    /// Whether it is reachable without the service's name too.
    pub bare: bool,
    /// Who may come in.
    pub guard: EndpointAccess,
    /// The largest body, in bytes.
    pub limit: usize,
}

/// Who may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointAccess {
    /// Whoever proves a token that covers the service.
    Token,
    /// Whoever proves a token, for the answer of an earlier call; the handler looks whose that is.
    Owner,
    /// Anybody: the handler sees to it itself.
    Open,
}

impl Mount {
    /// Where it leads to, as far as tokens are narrowed to it; `None` where no token is asked for.
    pub fn target(&self) -> Option<AccessTarget> {
        match self.guard {
            EndpointAccess::Token => Some(AccessTarget::Service(self.service)),
            EndpointAccess::Owner => Some(AccessTarget::Answer),
            EndpointAccess::Open => None,
        }
    }

    fn leads(&self, path: &str) -> bool {
        let rest = path.strip_prefix(self.path);
        rest.is_some_and(|rest| rest.is_empty() != self.below && (rest.is_empty() || rest.starts_with('/')))
    }
}

struct MountedEndpoint {
    mount: Mount,
    handler: Arc<dyn Handler>,
}

/// All endpoints of this process.
#[derive(Default)]
pub struct Endpoints(Vec<MountedEndpoint>);

impl Endpoints {
    /// Adds an endpoint, with the largest body it takes, in bytes.
    pub fn add<E: Endpoint>(&mut self, endpoint: E, dialect: DialectChoice, limit: usize) {
        let handler = Arc::new(EndpointHandler { endpoint, dialect, limit });
        let mount = Mount {
            method: Method::POST,
            service: E::SERVICE,
            path: E::PATH,
            below: false,
            bare: E::BARE,
            guard: EndpointAccess::Token,
            limit,
        };
        self.mount(mount, handler);
    }

    /// Adds what is no plain JSON operation.
    pub fn mount(&mut self, mount: Mount, handler: Arc<dyn Handler>) {
        self.0.push(MountedEndpoint { mount, handler });
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The handlers, in the order of the table, with their mounts.
    pub fn handlers(&self) -> impl Iterator<Item = (&Mount, Arc<dyn Handler>)> + '_ {
        self.0.iter().map(|entry| (&entry.mount, Arc::clone(&entry.handler)))
    }

    /// Finds the endpoint for a request. `host` is lower-case and without a port.
    pub fn find(&self, method: &Method, host: &str, path: &RequestPath) -> EndpointMatch {
        let path = path.compared().trim_end_matches('/');
        let by_path = Service::ALL.into_iter().find_map(|service| {
            let rest = path.strip_prefix('/')?.strip_prefix(service.as_str())?;
            rest.starts_with('/').then_some((service, rest))
        });
        let by_host = || {
            let label = host.split_once('.').map(|(label, _)| label)?;
            Some((Service::parse(label)?, path))
        };
        let named = by_path.or_else(by_host);
        let mut others: Vec<&str> = Vec::new();
        // Whose service is named comes before who has the same path.
        let mounts = || self.0.iter().map(|entry| &entry.mount).enumerate();
        let is_named =
            |mount: &Mount| named.is_some_and(|(own, rest)| mount.service == own && mount.leads(rest));
        let first = mounts().filter(|(_, mount)| is_named(mount));
        let then = mounts().filter(|(_, mount)| !is_named(mount) && mount.bare && mount.leads(path));
        for (index, mount) in first.chain(then) {
            if mount.method == *method {
                return EndpointMatch::Found(index);
            }
            if !others.contains(&mount.method.as_str()) {
                others.push(mount.method.as_str());
            }
        }
        if others.is_empty() { EndpointMatch::Nothing } else { EndpointMatch::OtherMethod(others.join(", ")) }
    }
}

/// Of calls with bodies from this length on it is watched whether their callers stay, in bytes: others are done at once.
const WATCHED: usize = 4 << 10;

/// Bodies from this length on take more than a millisecond to read, in bytes.
pub(super) const LONG: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_named_by_path_or_host_or_not_at_all() {
        struct Nothing;
        impl Handler for Nothing {
            fn call<'a>(&'a self, _: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
                Box::pin(async { ApiAnswer::json(StatusCode::OK, "") })
            }
        }
        let mount = |method, service, path, (below, bare)| Mount {
            method,
            service,
            path,
            below,
            bare,
            guard: EndpointAccess::Token,
            limit: 0,
        };
        let mounts = [
            mount(Method::POST, Service::Redact, "/v1/list", (false, true)),
            mount(Method::POST, Service::Share, "/v1/list", (false, false)),
            mount(Method::GET, Service::Sanitize, "/request", (true, true)),
            mount(Method::PUT, Service::Sanitize, "/request", (true, true)),
        ];
        let mut endpoints = Endpoints::default();
        mounts.into_iter().for_each(|mount| endpoints.mount(mount, Arc::new(Nothing)));
        let rows = [
            ("POST", "h", "/v1/list", Some(0)),
            ("POST", "h", "/redact//v1/list/", Some(0)),
            ("POST", "h", "/share/v1/list", Some(1)),
            ("POST", "share.example", "/v1/list", Some(1)),
            ("GET", "h", "/request/prq_1", Some(2)),
            ("PUT", "h", "/sanitize/request/prq_1", Some(3)),
            ("GET", "h", "/request", None),
            ("GET", "h", "/requests/1", None),
            ("POST", "h", "/vault/v1/list", None),
        ];
        for (method, host, path, expected) in rows {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let path = RequestPath::parse(path).unwrap();
            let found = match endpoints.find(&method, host, &path) {
                EndpointMatch::Found(index) => Some(index),
                _ => None,
            };
            assert_eq!(found, expected, "{method} {host} {path:?}");
        }
        let allow = endpoints.find(&Method::POST, "h", &RequestPath::parse("/request/1").unwrap());
        assert!(matches!(allow, EndpointMatch::OtherMethod(allow) if allow == "GET, PUT"));
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
