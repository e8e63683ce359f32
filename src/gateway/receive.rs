//! How a request is received: its route is looked up and its exchange made, or it is rejected early.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{COOKIE, HOST};
use http::{HeaderValue, Method, Version};
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::api::{ApiAnswer, ApiError};
use crate::base::id::RequestId;
use crate::base::path::RequestPath;
use crate::crypto::random;
use crate::gateway::client_certificate::ClientCertificate;
use crate::gateway::clients::Underscores;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, ExchangeParts};
use crate::gateway::filter_chain::FilterChain;
use crate::gateway::head_check::ambiguous;
use crate::gateway::llm::ProtocolChoice;
use crate::gateway::preflight::method_asked;
use crate::gateway::proxy::Gateway;
use crate::gateway::request_trace::RequestTrace;
use crate::gateway::route::{Route, RouteMatch, RouteTable};
use crate::gateway::state::{ActiveRequest, Received};
use crate::telemetry::Refusal;

/// A head as it came, and what the connection says of it.
pub(super) struct ReceivedHead {
    /// Method, target and fields.
    pub(super) head: RequestHeader,
    /// The other side of the connection.
    pub(super) peer: Option<IpAddr>,
    /// Whether a body comes with it.
    pub(super) sends_body: bool,
    /// The other side's certificate, where the connection was asked for one.
    pub(super) certificate: Option<Arc<ClientCertificate>>,
}

/// What the table of routes has for a head.
struct HeadMatch<'a> {
    path: RequestPath,
    found: RouteMatch,
    /// The route of what no route takes.
    unmatched: &'a Arc<Route>,
    /// Whether the caller came over TLS.
    tls: bool,
}

/// A request that load shedding refuses before it has a session.
pub(super) struct EarlyReject {
    /// The request, to be ended once its answer was sent.
    pub(super) request: ActiveRequest,
    /// What is sent.
    pub(super) answer: ApiAnswer,
    /// How it is counted.
    pub(super) why: Refusal,
}

impl Gateway {
    /// Looks up the route of a session's request.
    ///
    /// # Errors
    /// No randomness.
    pub(super) fn receive(&self, session: &mut Session) -> Result<ActiveRequest> {
        let sends_body = !session.is_body_empty();
        self.drop_ambiguous(session.req_header_mut());
        join_cookies(session.req_header_mut());
        let table = self.routes.load();
        let (path, found) = find(&table, session.req_header_mut())?;
        let peer = session.client_addr().and_then(|address| address.as_inet()).map(|address| address.ip());
        let certificate = certificate(session);
        let received = ReceivedHead { head: session.req_header().clone(), peer, sends_body, certificate };
        let tls = session.digest().is_some_and(|digest| digest.ssl_digest.is_some());
        self.active(received, HeadMatch { path, found, unmatched: table.unmatched(), tls })
    }

    /// Looks up the route of a request that another proxy carries, to which its caller came over TLS or not.
    ///
    /// # Errors
    /// No randomness, or a head that cannot be written.
    #[cfg(feature = "ext_proc")]
    pub(super) fn receive_shown(&self, mut received: ReceivedHead, tls: bool) -> Result<ActiveRequest> {
        self.drop_ambiguous(&mut received.head);
        let table = self.routes.load();
        let (path, found) = find(table.processed(), &mut received.head)?;
        self.active(received, HeadMatch { path, found, unmatched: table.unmatched(), tls })
    }

    fn drop_ambiguous(&self, head: &mut RequestHeader) {
        if self.bounds.underscores == Underscores::Drop {
            ambiguous(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
        }
    }

    fn active(&self, received: ReceivedHead, by: HeadMatch<'_>) -> Result<ActiveRequest> {
        let HeadMatch { path, found, unmatched, tls } = by;
        let route = match &found {
            RouteMatch::Route(route) => Arc::clone(route),
            _ => Arc::clone(unmatched),
        };
        let mut x = self.exchange(received, path, &route)?;
        x.tls = tls;
        match &found {
            RouteMatch::Route(_) => {}
            RouteMatch::OtherMethod(_, spoken) => x.speak(*spoken),
            RouteMatch::Nothing | RouteMatch::BadPath(_) | RouteMatch::TwoPaths => {
                x.speak(ProtocolChoice::Auto)
            }
        }
        Ok(ActiveRequest::new(x, FilterChain::new(route), Received::new(found)))
    }

    fn exchange(&self, received: ReceivedHead, path: RequestPath, route: &Route) -> Result<Exchange> {
        let ReceivedHead { mut head, peer, sends_body, certificate } = received;
        let rewrite = &route.info().rewrite;
        let asked = rewrite.asked(&path);
        if let Some(asked) = &asked {
            let target = target(asked, head.uri.query());
            head.set_raw_path(target.as_bytes())?;
        }
        let id = random::bytes().map_err(|_| Error::explain(ErrorType::InternalError, "no randomness"))?;
        Ok(Exchange::from(ExchangeParts {
            id: RequestId::from_random(id),
            client: peer.map(|peer| self.clients.of(peer, &head.headers)),
            certificate,
            budget: self.budget.request(self.bounds.per_request),
            trace: RequestTrace::new(&self.tracer, &head),
            head,
            replaced: asked.filter(|_| rewrite.replaces()),
            path,
            sends_body,
            route: Arc::clone(route.info()),
            spoken: route.info().protocols,
            body_rate: self.bounds.body_rate,
            clock: Arc::clone(&self.clock),
            started: self.clock.instant(),
        }))
    }

    /// Whether any request would be refused now that load shedding may refuse.
    pub(super) fn is_full(&self) -> bool {
        self.routes.load().full().is_some()
    }

    /// Refuses a request if load shedding does so now; `None`: it goes on.
    pub(super) fn early_reject(&self, mut received: ReceivedHead) -> Option<EarlyReject> {
        let table = self.routes.load();
        let (shed, why) = table.full()?;
        let head = &mut received.head;
        if self.bounds.underscores == Underscores::Refuse && !ambiguous(&head.headers).is_empty() {
            return None;
        }
        let (path, found) = find(&table, head).ok()?;
        let RouteMatch::Route(route) = &found else { return None };
        let route = Arc::clone(route);
        let at = route.filters().iter().position(|filter| filter.name() == shed.name())?;
        let x = self.exchange(received, path, &route).ok()?;
        let mut chain = FilterChain::new(route);
        chain.refused_at(&x, at);
        let mut request = ActiveRequest::new(x, chain, Received::new(found));
        let answer = request.error_answer(GatewayError::Api(ApiError::Overloaded));
        Some(EarlyReject { request, answer, why })
    }
}

/// Makes one field of those that HTTP/2 lets a client split (RFC 9113 section 8.2.3): in HTTP/1.1 there is one, and many
/// servers read no other.
fn join_cookies(head: &mut RequestHeader) {
    let cookies: Vec<HeaderValue> = head.headers.get_all(COOKIE).iter().cloned().collect();
    if head.version != Version::HTTP_2 || cookies.len() < 2 {
        return;
    }
    let joined: Vec<&[u8]> = cookies.iter().map(HeaderValue::as_bytes).collect();
    if let Ok(joined) = HeaderValue::from_bytes(&joined.join(&b"; "[..])) {
        drop(head.insert_header(COOKIE, joined));
    }
}

/// The certificate that the connection's listener has verified. No head can say that there is one.
fn certificate(session: &Session) -> Option<Arc<ClientCertificate>> {
    session.digest()?.ssl_digest.as_ref()?.extension.get::<Arc<ClientCertificate>>().cloned()
}

/// Finds the route of a head, whose target becomes what was found: no later step sees another path.
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
    let preflight = method_asked(&head.method, &head.headers);
    let found = table.find(&head.method, &host_of(head), &path, preflight.as_ref());
    let target = target(&path, head.uri.query());
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

/// A target of this path.
fn target(path: &RequestPath, query: Option<&str>) -> String {
    match query {
        Some(query) => format!("{}?{query}", path.sent()),
        None => path.sent().to_owned(),
    }
}

/// The path of a head's target; of an absolute one it may be empty, which is the root (RFC 3986 section 6.2.3).
fn written(head: &RequestHeader) -> &str {
    Some(head.uri.path()).filter(|path| !path.is_empty()).unwrap_or("/")
}

/// The host asked for, lower-case, without a port and the dot that may end it: `:authority` or the target's, else `Host`.
pub(super) fn host_of(head: &RequestHeader) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_of_http2_are_one_field() {
        let joined = |version, lines: &[&str]| -> Vec<String> {
            let mut head = RequestHeader::build("GET", b"/", None).unwrap();
            head.set_version(version);
            for line in lines {
                head.append_header(COOKIE, *line).unwrap();
            }
            join_cookies(&mut head);
            let left = head.headers.get_all(COOKIE).iter();
            left.map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(joined(Version::HTTP_2, &["a=1", "b=2; c=3", "d=4"]), ["a=1; b=2; c=3; d=4"]);
        assert_eq!(joined(Version::HTTP_2, &["a=1"]), ["a=1"]);
        assert!(joined(Version::HTTP_2, &[]).is_empty());
        assert_eq!(joined(Version::HTTP_11, &["a=1", "b=2"]), ["a=1", "b=2"]);
    }
}
