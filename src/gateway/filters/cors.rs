//! Which pages of other origins may call from a browser, and read what they get (Fetch, "CORS protocol"). Preflights are
//! answered here, before anybody asks who calls: they carry no credentials. Requests of pages that may not call go on as those
//! of anybody: it is browsers that keep the answers from them. A WebSocket no browser keeps from a page, so it is refused.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use pingora::http::ResponseHeader;

use crate::api::{ApiAnswer, Body};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::head_fields::HeadFields;
use crate::gateway::origin::{Origin, OriginRule, is_allowed};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::preflight::method_asked;
use crate::gateway::vary::add_vary;

/// All, where that is meant.
const ANY: HeaderValue = HeaderValue::from_static("*");

/// How the names of fields begin in which servers say what they share.
const FAMILY: &str = "access-control-";

/// What the answer to a preflight depends on.
const PREFLIGHT_VARY: HeaderValue =
    HeaderValue::from_static("Origin, Access-Control-Request-Method, Access-Control-Request-Headers");

/// What the filter is made from.
pub struct CorsParts {
    /// Origins whose pages may call.
    pub origins: Vec<OriginRule>,
    /// Methods that they may use; `None`: any that is asked about here, which are those that the route takes.
    pub methods: Option<Vec<Method>>,
    /// Headers that they may send; `None`: any.
    pub headers: Option<Vec<HeaderName>>,
    /// Headers of answers that they may read.
    pub expose: Vec<HeaderName>,
    /// Whether browsers send cookies along.
    pub credentials: bool,
    /// How long browsers may remember the answer to a preflight.
    pub max_age: Duration,
}

/// Headers that pages may send, besides those that they always may.
enum RequestHeaders {
    /// Those that are asked for.
    AsAsked,
    /// These; an empty list has no field.
    Only(Option<HeaderValue>),
}

/// Tells browsers which pages may call.
pub struct CorsFilter {
    /// `None`: all.
    origins: Option<Vec<OriginRule>>,
    methods: Option<(Vec<Method>, HeaderValue)>,
    headers: RequestHeaders,
    expose: Option<HeaderValue>,
    credentials: bool,
    max_age: HeaderValue,
}

impl CorsFilter {
    /// Makes the filter.
    pub fn new(parts: CorsParts) -> Self {
        let CorsParts { origins, methods, headers, expose, credentials, max_age } = parts;
        let methods = methods.and_then(|methods| {
            let shown = list(methods.iter().map(Method::as_str))?;
            Some((methods, shown))
        });
        Self {
            origins: (!origins.contains(&OriginRule::Any)).then_some(origins),
            methods,
            headers: match headers {
                Some(names) => RequestHeaders::Only(list(names.iter().map(HeaderName::as_str))),
                None => RequestHeaders::AsAsked,
            },
            expose: list(expose.iter().map(HeaderName::as_str)),
            credentials,
            max_age: HeaderValue::from(max_age.as_secs()),
        }
    }

    /// What the answer says of origins, if pages of this one may call.
    fn allowed(&self, origin: Option<&HeaderValue>) -> Option<HeaderValue> {
        match &self.origins {
            None => Some(ANY),
            Some(rules) => origin.filter(|origin| is_allowed(rules, origin)).cloned(),
        }
    }

    /// What the answer says of methods, if this one may be used.
    fn method(&self, asked: &Method) -> Option<HeaderValue> {
        match &self.methods {
            Some((methods, shown)) => methods.contains(asked).then(|| shown.clone()),
            None => HeaderValue::from_str(asked.as_str()).ok(),
        }
    }

    /// The answer to a preflight. Where the page may not call, or not so, no field says that it may; browsers take any status
    /// then, and say which field they miss.
    fn preflight(&self, x: &Exchange) -> ApiAnswer {
        let asked = &x.head().headers;
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(VARY, PREFLIGHT_VARY);
        let origin = x.origin().and_then(|origin| self.allowed(Some(origin)));
        let method = method_asked(&x.head().method, asked).and_then(|method| self.method(&method));
        if let (Some(origin), Some(method)) = (origin, method) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, method);
            headers.insert(ACCESS_CONTROL_MAX_AGE, self.max_age.clone());
            let names = match &self.headers {
                RequestHeaders::AsAsked => names_asked(asked),
                RequestHeaders::Only(names) => names.clone(),
            };
            if let Some(names) = names {
                headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
            }
            if self.credentials {
                headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            }
        }
        ApiAnswer { status: StatusCode::NO_CONTENT, headers, body: Body::Whole(Bytes::new()) }
    }

    /// Whether a page may open a WebSocket: one that may call, or one of this server itself. Who is no page names no origin.
    fn opens(&self, x: &Exchange) -> bool {
        let headers = &x.head().headers;
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let origin = || Origin::parse(x.origin()?.to_str().ok()?);
        !headers.contains_key(ORIGIN)
            || self.allowed(x.origin()).is_some()
            || origin().is_some_and(|origin| origin.is_at(host, x.tls))
    }

    /// Says in the head of an answer who may read it, whatever was said there.
    fn share(&self, x: &Exchange, head: &mut impl HeadFields) {
        let is_theirs = |name: &&HeaderName| name.as_str().starts_with(FAMILY);
        let theirs: Vec<HeaderName> = head.fields().keys().filter(is_theirs).cloned().collect();
        theirs.iter().for_each(|name| head.take(name));
        if self.origins.is_some() {
            add_vary(head, &ORIGIN, "Origin");
        }
        let Some(origin) = self.allowed(x.origin()) else { return };
        head.put(&ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if self.credentials {
            head.put(&ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        if let Some(names) = &self.expose {
            head.put(&ACCESS_CONTROL_EXPOSE_HEADERS, names.clone());
        }
    }
}

/// A list as the value of a field; `None` of nothing.
fn list<'a>(items: impl Iterator<Item = &'a str>) -> Option<HeaderValue> {
    let items: Vec<&str> = items.collect();
    HeaderValue::from_str(&items.join(", ")).ok().filter(|value| !value.is_empty())
}

/// The headers that a preflight asks for, but for what is no name of one.
fn names_asked(headers: &HeaderMap) -> Option<HeaderValue> {
    let lines = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|line| line.to_str().ok());
    let names = lines.flat_map(|line| line.split(',')).map(str::trim);
    let names: Vec<HeaderName> = names
        .filter(|name| *name != "*")
        .filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok())
        .collect();
    list(names.iter().map(HeaderName::as_str))
}

#[async_trait]
impl Filter for CorsFilter {
    fn name(&self) -> &'static str {
        "cors"
    }

    fn stage(&self) -> Stage {
        Stage::Preflight
    }

    fn answers_preflights(&self) -> bool {
        true
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        if x.is_preflight() {
            return Ok(Flow::Answer(self.preflight(x)));
        }
        if x.is_websocket() && !self.opens(x) {
            return Err(GatewayError::ForbiddenOrigin);
        }
        Ok(Flow::Next)
    }

    async fn response(
        &self,
        x: &mut Exchange,
        head: &mut ResponseHeader,
        _: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        // The answer to a preflight is from here, and says it all.
        if !x.is_preflight() {
            self.share(x, head);
        }
        Ok(())
    }

    fn error(&self, x: &Exchange, headers: &mut HeaderMap) {
        self.share(x, headers);
    }
}

#[cfg(test)]
#[path = "cors_tests.rs"]
mod tests;
