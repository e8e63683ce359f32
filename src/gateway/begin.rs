//! How a request begins: its route is found and its exchange made, or it is turned away.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::HOST;
use http::{HeaderMap, HeaderName, Method};
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::api::{Answer, ApiError};
use crate::base::id::RequestId;
use crate::base::path::RequestPath;
use crate::crypto::random;
use crate::gateway::clients::Underscores;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Begin, Exchange};
use crate::gateway::proxy::Gateway;
use crate::gateway::route::{Route, RouteMatch, RouteTable};
use crate::telemetry::Refusal;

impl Gateway {
    /// Finds the route of a session's request.
    ///
    /// # Errors
    /// No randomness.
    pub(super) fn begin(&self, session: &mut Session) -> Result<(Exchange, RouteMatch)> {
        let sends_body = !session.is_body_empty();
        if self.bounds.underscores == Underscores::Drop {
            let head = session.req_header_mut();
            ambiguous(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
        }
        let table = self.routes.load();
        let (path, found) = find(&table, session.req_header_mut())?;
        let head = session.req_header().clone();
        let route: Arc<Route> = match &found {
            RouteMatch::Route(route) => Arc::clone(route),
            _ => Arc::clone(table.stray()),
        };
        let peer = session.client_addr().and_then(|address| address.as_inet()).map(|address| address.ip());
        Ok((self.exchange(head, path, (peer, sends_body), route)?, found))
    }

    fn exchange(
        &self,
        head: RequestHeader,
        path: RequestPath,
        (peer, sends_body): (Option<IpAddr>, bool),
        route: Arc<Route>,
    ) -> Result<Exchange> {
        let id = random::bytes().map_err(|_| Error::explain(ErrorType::InternalError, "no randomness"))?;
        let mut exchange = Exchange::new(Begin {
            id: RequestId::from_random(id),
            client: peer.map(|peer| self.clients.of(peer, &head.headers)),
            budget: self.budget.request(self.bounds.per_request),
            head,
            path,
            sends_body,
            route,
            pace: self.bounds.pace,
            clock: Arc::clone(&self.clock),
            started: self.clock.instant(),
        });
        exchange.watch(&self.tracer);
        Ok(exchange)
    }

    /// Whether any request would be refused now that shedding may refuse.
    pub(super) fn is_full(&self) -> bool {
        self.routes.load().full().is_some()
    }

    /// The exchange of a request that shedding refuses, with the answer; `None` for one that goes on.
    pub(super) fn early_reject(
        &self,
        mut head: RequestHeader,
        from: (IpAddr, bool),
    ) -> Option<(Exchange, Answer, Refusal)> {
        let table = self.routes.load();
        let (shed, why) = table.full()?;
        if self.bounds.underscores == Underscores::Refuse && !ambiguous(&head.headers).is_empty() {
            return None;
        }
        let (path, found) = find(&table, &mut head).ok()?;
        let RouteMatch::Route(route) = found else { return None };
        let at = route.filters().iter().position(|filter| filter.name() == shed.name())?;
        let (peer, sends_body) = from;
        let mut x = self.exchange(head, path, (Some(peer), sends_body), route).ok()?;
        x.stopped_at(at);
        let answer = x.rescue(GatewayError::Api(ApiError::Overloaded));
        Some((x, answer, why))
    }
}

/// Finds the route of a head, whose target becomes what was found: nobody after this sees another path.
///
/// # Errors
/// Pingora's, for a head that cannot be written.
fn find(table: &RouteTable, head: &mut RequestHeader) -> Result<(RequestPath, RouteMatch)> {
    // About the server, not a resource of it.
    if head.method == Method::OPTIONS && head.uri.path() == "*" {
        return Ok((RequestPath::default(), RouteMatch::Nothing));
    }
    let path = match RequestPath::parse(written(head)) {
        Ok(path) => path,
        Err(error) => return Ok((RequestPath::default(), RouteMatch::BadPath(error))),
    };
    let found = table.find(&head.method, &host_of(head), &path);
    let target = match head.uri.query() {
        Some(query) => format!("{}?{query}", path.sent()),
        None => path.sent().to_owned(),
    };
    if head.raw_path() == target.as_bytes() && head.uri.authority().is_none() {
        return Ok((path, found));
    }
    let authority = head.uri.authority().map(|authority| authority.as_str().to_owned());
    head.set_raw_path(target.as_bytes())?;
    if let Some(authority) = authority {
        head.insert_header(HOST, authority)?;
    }
    Ok((path, found))
}

/// The path of a head's target; of an absolute one it may be empty, which is the root (RFC 3986 section 6.2.3).
fn written(head: &RequestHeader) -> &str {
    Some(head.uri.path()).filter(|path| !path.is_empty()).unwrap_or("/")
}

/// The host asked for, lower-case, without a port and the dot that may end it: `:authority` or the target's, else `Host`.
fn host_of(head: &RequestHeader) -> String {
    let authority = head.uri.authority().map(http::uri::Authority::host);
    let host =
        authority.or_else(|| head.headers.get(HOST).and_then(|host| host.to_str().ok())).unwrap_or_default();
    let end = if host.starts_with('[') {
        host.find(']').map_or(host.len(), |at| at + 1)
    } else {
        host.find(':').unwrap_or(host.len())
    };
    let name = host.get(..end).unwrap_or_default();
    // The root's own dot (RFC 1034 section 3.1).
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Names that many programs take for others.
pub(super) fn ambiguous(headers: &HeaderMap) -> Vec<HeaderName> {
    headers.keys().filter(|name| name.as_str().contains('_')).cloned().collect()
}
