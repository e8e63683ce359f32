//! How a request begins: its route is found and its exchange made, or it is turned away.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::HOST;
use http::{HeaderMap, HeaderName};
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::api::{Answer, ApiError};
use crate::base::id::RequestId;
use crate::crypto::random;
use crate::gateway::clients::Underscores;
use crate::gateway::exchange::{Begin, Exchange};
use crate::gateway::fault::Fault;
use crate::gateway::proxy::Gateway;
use crate::gateway::route::{Found, Route, RouteTable};
use crate::telemetry::Refusal;

impl Gateway {
    /// Finds the route of a session's request.
    ///
    /// # Errors
    /// No randomness.
    pub(super) fn begin(&self, session: &mut Session) -> Result<(Exchange, Found)> {
        let sends_body = !session.is_body_empty();
        if self.bounds.underscores == Underscores::Drop {
            let head = session.req_header_mut();
            ambiguous(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
        }
        let head = session.req_header().clone();
        let table = self.routes.load();
        let found = find(&table, &head);
        let route: Arc<Route> = match &found {
            Found::Route(route) => Arc::clone(route),
            Found::OtherMethod(_) | Found::Nothing => Arc::clone(table.stray()),
        };
        let peer = session.client_addr().and_then(|address| address.as_inet()).map(|address| address.ip());
        Ok((self.exchange(head, (peer, sends_body), route)?, found))
    }

    fn exchange(
        &self,
        head: RequestHeader,
        (peer, sends_body): (Option<IpAddr>, bool),
        route: Arc<Route>,
    ) -> Result<Exchange> {
        let id = random::bytes().map_err(|_| Error::explain(ErrorType::InternalError, "no randomness"))?;
        let mut exchange = Exchange::new(Begin {
            id: RequestId::from_random(id),
            client: peer.map(|peer| self.clients.of(peer, &head.headers)),
            budget: self.budget.request(self.bounds.per_request),
            head,
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
    pub(super) fn turned_away(
        &self,
        head: RequestHeader,
        from: (IpAddr, bool),
    ) -> Option<(Exchange, Answer, Refusal)> {
        let table = self.routes.load();
        let (shed, why) = table.full()?;
        if self.bounds.underscores == Underscores::Refuse && !ambiguous(&head.headers).is_empty() {
            return None;
        }
        let Found::Route(route) = find(&table, &head) else { return None };
        let at = route.filters().iter().position(|filter| filter.name() == shed.name())?;
        let (peer, sends_body) = from;
        let mut x = self.exchange(head, (Some(peer), sends_body), route).ok()?;
        x.stopped_at(at);
        let answer = x.rescue(Fault::Api(ApiError::Overloaded));
        Some((x, answer, why))
    }
}

fn find(table: &RouteTable, head: &RequestHeader) -> Found {
    table.find(&head.method, &host_of(head), head.uri.path())
}

/// The host asked for, lower-case and without a port: `:authority` or the target's, else `Host`.
fn host_of(head: &RequestHeader) -> String {
    let authority = head.uri.authority().map(http::uri::Authority::host);
    let host =
        authority.or_else(|| head.headers.get(HOST).and_then(|host| host.to_str().ok())).unwrap_or_default();
    let end = if host.starts_with('[') {
        host.find(']').map_or(host.len(), |at| at + 1)
    } else {
        host.find(':').unwrap_or(host.len())
    };
    host.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// Names that many programs take for others.
pub(super) fn ambiguous(headers: &HeaderMap) -> Vec<HeaderName> {
    headers.keys().filter(|name| name.as_str().contains('_')).cloned().collect()
}
