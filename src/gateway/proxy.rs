//! Pingora's callbacks: each is little more than one call on [`Exchange`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version};
use pingora::connectors::ConnectorOptions;
use pingora::connectors::http::Connector;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::proxy::{FailToProxy, ProxyHttp, Session};
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorSource, ErrorType, Result};

use crate::api::ApiError;
use crate::base::budget::Budget;
use crate::base::clock::SharedClock;
use crate::gateway::clients::{ClientResolver, Underscores};
use crate::gateway::dialer::{Dialer, PoolDialer, Progress};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, Outcome};
use crate::gateway::filter::Flow;
pub use crate::gateway::in_flight::InFlight;
use crate::gateway::in_flight::UnderWay;
use crate::gateway::native;
use crate::gateway::refuse::refused;
use crate::gateway::relay;
use crate::gateway::route::{RouteMatch, RouteTable};
use crate::gateway::terminal::Terminal;
use crate::gateway::upstream::{Upstream, plain, strip_hop_by_hop};
use crate::telemetry::trace::Tracer;
use crate::telemetry::{Scan, UpstreamFailure};

/// Unused connections kept to all upstreams together.
const POOL: usize = 512;

/// What every request may take up.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The largest head, in bytes.
    pub head: usize,
    /// The most that one request may hold, in bytes.
    pub per_request: usize,
    /// The longest silence of a caller in the middle of its request.
    pub read: Duration,
    /// The longest time a write to a caller may not move.
    pub write: Duration,
    /// How fast a body must come, in bytes a second, and how long it may be slower.
    pub pace: (usize, Duration),
    /// What becomes of header fields with an underscore in the name.
    pub underscores: Underscores,
}

/// The gateway: what Pingora drives. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    pub(super) routes: Arc<ArcSwap<RouteTable>>,
    connector: Arc<Connector>,
    pub(super) budget: Budget,
    pub(super) bounds: Bounds,
    pub(super) clients: Arc<ClientResolver>,
    pub(super) clock: SharedClock,
    in_flight: InFlight,
    pub(super) tracer: Tracer,
}

/// One request's state; no exchange until its head has been read.
pub struct Walk {
    pub(super) exchange: Option<Exchange>,
    /// To the pool, for a request that is streamed to one.
    dialer: Option<PoolDialer>,
    /// When a streamed exchange must be over.
    deadline: Option<Instant>,
    /// Whether the head of this attempt goes out in HTTP/1.1 and nothing of the body was asked for yet.
    unsent: bool,
    under_way: Option<UnderWay>,
}

/// What is left to do after the chain.
pub(super) enum Next {
    /// Nothing.
    Answered,
    /// It goes to this pool.
    Pool(Arc<Upstream>),
    /// It goes to the server that embeds the chain.
    Host,
}

impl Walk {
    /// Whether a fault of the chain's own travels as Pingora's error.
    fn has_fault(&self) -> bool {
        self.exchange.as_ref().is_some_and(Exchange::carries)
    }
}

impl Gateway {
    /// Serves `routes`, which may be swapped whole at any time. `budget` is what all requests together may hold;
    /// `clients` says who callers are.
    pub fn new(
        routes: Arc<ArcSwap<RouteTable>>,
        budget: Budget,
        bounds: Bounds,
        clients: Arc<ClientResolver>,
        (clock, in_flight): (SharedClock, InFlight),
    ) -> Self {
        let connector = Arc::new(Connector::new(Some(ConnectorOptions::new(POOL))));
        Self { routes, connector, budget, bounds, clients, clock, in_flight, tracer: Tracer::default() }
    }

    /// Has requests make spans.
    #[must_use]
    pub fn traced(self, tracer: Tracer) -> Self {
        Self { tracer, ..self }
    }

    /// Who callers are.
    pub fn clients(&self) -> &Arc<ClientResolver> {
        &self.clients
    }

    /// Reads time.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// The walk to the terminal.
    async fn walk(
        &self,
        session: &mut Session,
        x: &mut Exchange,
        found: RouteMatch,
    ) -> Result<Next, GatewayError> {
        refused(x.head(), &self.bounds)?;
        let flow = x.request_head().await?;
        match found {
            RouteMatch::Route(_) => {}
            RouteMatch::OtherMethod(allow) => {
                return Err(GatewayError::Api(ApiError::MethodNotAllowed(allow)));
            }
            RouteMatch::Nothing => return Err(GatewayError::Api(ApiError::NotFound)),
            RouteMatch::BadPath(error) => return Err(GatewayError::Api(ApiError::BadRequest(error.why()))),
            RouteMatch::TwoPaths => {
                let why =
                    "the path has an encoded separator or a parameter by which it could be another route's";
                return Err(GatewayError::Api(ApiError::BadRequest(why)));
            }
        }
        if let Flow::Answer(answer) = flow {
            native::send(session, x, answer).await?;
            return Ok(Next::Answered);
        }
        let terminal = x.route().terminal.clone();
        match terminal {
            Terminal::Fixed(fixed) => native::send(session, x, fixed.into()).await.map(|()| Next::Answered),
            Terminal::Native(handler) => {
                native::run(session, x, handler.as_ref()).await.map(|()| Next::Answered)
            }
            Terminal::Upstream(upstream) => native::peek(session, x).await.map(|()| Next::Pool(upstream)),
            Terminal::Host => native::peek(session, x).await.map(|()| Next::Host),
        }
    }

    /// Begins a request and walks it to its terminal. A fault has been answered.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn enter(&self, session: &mut Session, walk: &mut Walk) -> Result<Next> {
        session.set_read_timeout(Some(self.bounds.read));
        session.set_write_timeout(Some(self.bounds.write));
        walk.under_way = Some(self.in_flight.enter());
        let (exchange, found) = self.begin(session)?;
        let x = walk.exchange.insert(exchange);
        // Boxed: the whole walk would otherwise lie in every connection's state.
        match Box::pin(self.walk(session, x, found)).await {
            Ok(next) => Ok(next),
            Err(fault) => Box::pin(native::rescue(session, x, fault)).await.map(|()| Next::Answered),
        }
    }

    /// Sends a request to a pool: at once where its body is collected, else Pingora does. `true`: it is answered.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn forward(
        &self,
        session: &mut Session,
        walk: &mut Walk,
        upstream: Arc<Upstream>,
    ) -> Result<bool> {
        let x = walk.exchange.as_mut().ok_or_else(out_of_turn)?;
        let total = upstream.dialing().total;
        let mut dialer = PoolDialer::new(upstream);
        let sent = match x.collects() {
            Some(limit) => return self.relay(session, x, (&mut dialer, limit)).await.map(|()| true),
            None => dialer.enter().await,
        };
        match sent {
            Ok(()) => {
                walk.deadline = total.map(|total| self.clock.instant() + total);
                walk.dialer = Some(dialer);
                Ok(false)
            }
            Err(fault) => Box::pin(native::rescue(session, x, fault)).await.map(|()| true),
        }
    }

    /// Sends a collected request by `way`.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn relay(
        &self,
        session: &mut Session,
        x: &mut Exchange,
        (dialer, limit): (&mut dyn Dialer, usize),
    ) -> Result<()> {
        let road = relay::Road { dialer, connector: &self.connector, limit };
        match Box::pin(relay::run(session, x, road)).await {
            Ok(()) => Ok(()),
            Err(fault) => Box::pin(native::rescue(session, x, fault)).await,
        }
    }

    /// Whether a streamed exchange has used up its time; its peer is to blame.
    fn late(&self, walk: &mut Walk) -> Result<()> {
        let (Some(at), Some(dialer), Some(x)) = (walk.deadline, &mut walk.dialer, &mut walk.exchange) else {
            return Ok(());
        };
        if self.clock.instant() < at {
            return Ok(());
        }
        dialer.record_failure();
        Err(carry(x, dialer.upstream().failed(UpstreamFailure::Timeout)))
    }
}

#[async_trait]
impl ProxyHttp for Gateway {
    type CTX = Walk;

    fn new_ctx(&self) -> Walk {
        Walk { exchange: None, dialer: None, deadline: None, unsent: false, under_way: None }
    }

    async fn request_filter(&self, session: &mut Session, walk: &mut Walk) -> Result<bool> {
        match self.enter(session, walk).await? {
            Next::Answered => Ok(true),
            Next::Pool(upstream) => self.forward(session, walk, upstream).await,
            // Building the table has made sure that there is no such route.
            Next::Host => Err(out_of_turn()),
        }
    }

    async fn upstream_peer(&self, _: &mut Session, walk: &mut Walk) -> Result<Box<HttpPeer>> {
        let (Some(x), Some(dialer)) = (&mut walk.exchange, &mut walk.dialer) else {
            return Err(out_of_turn());
        };
        x.attempt(dialer.upstream());
        dialer.next().await.map(Box::new).map_err(|fault| carry(x, fault))
    }

    /// Nothing of the request has left: the next peer may have it.
    fn fail_to_connect(
        &self,
        session: &mut Session,
        peer: &HttpPeer,
        walk: &mut Walk,
        mut error: Box<Error>,
    ) -> Box<Error> {
        let method = &session.req_header().method;
        let how = Progress { peer, connected: false, reused: false, unsent: true, method };
        let again = walk.dialer.as_mut().is_some_and(|dialer| dialer.again(&error, how));
        error.set_retry(again);
        error
    }

    /// Of a request that has left, the pool knows whether it may leave again.
    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        mut error: Box<Error>,
        walk: &mut Walk,
        reused: bool,
    ) -> Box<Error> {
        let lost = session.as_ref().retry_buffer_truncated() || native::answered(session).is_some();
        // While it waits for the rest of the body nobody knows that the peer is slow.
        let waited = *error.etype() == ErrorType::ReadTimedout && !session.is_body_done();
        let method = &session.req_header().method;
        let how = Progress { peer, connected: true, reused, unsent: walk.unsent, method };
        let ours = matches!(error.esource(), ErrorSource::Internal) || walk.has_fault() || waited;
        let again = match &mut walk.dialer {
            Some(dialer) if lost && !ours && *error.esource() == ErrorSource::Upstream => {
                dialer.record_failure();
                false
            }
            Some(dialer) => !lost && !ours && dialer.again(&error, how),
            None => false,
        };
        error.set_retry(again);
        error
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        walk: &mut Walk,
    ) -> Result<()> {
        let x = walk.exchange.as_mut().ok_or_else(out_of_turn)?;
        let changes = x.begin_attempt().map_err(|fault| carry(x, fault))?;
        let version = head.version;
        *head = x.head().clone();
        head.set_version(version);
        walk.unsent = version != Version::HTTP_2;
        match &walk.dialer {
            Some(dialer) => dialer.apply_headers(head)?,
            None => plain(head)?,
        }
        x.pass_trace(head);
        if changes {
            head.remove_header(&CONTENT_LENGTH);
        }
        // Pingora frames the body itself: with neither header it sends chunks, and HTTP/2 needs none.
        if !changes && let Some(length) = session.req_header().headers.get(CONTENT_LENGTH) {
            head.insert_header(CONTENT_LENGTH, length.clone())?;
        }
        head.remove_header(&TRANSFER_ENCODING);
        Ok(())
    }

    async fn request_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        walk: &mut Walk,
    ) -> Result<()> {
        walk.unsent = false;
        let x = walk.exchange.as_mut().ok_or_else(out_of_turn)?;
        x.request_chunk(body, end).map_err(|fault| carry(x, fault))
    }

    async fn response_filter(
        &self,
        _: &mut Session,
        head: &mut ResponseHeader,
        walk: &mut Walk,
    ) -> Result<()> {
        if head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(());
        }
        // How long the body is, Pingora still has to know.
        let names = strip_hop_by_hop(&head.headers).into_iter().filter(|name| *name != TRANSFER_ENCODING);
        names.for_each(|name| drop(head.remove_header(&name)));
        self.late(walk)?;
        if let Some(dialer) = &mut walk.dialer {
            dialer.answered(head.status);
        }
        let x = walk.exchange.as_mut().ok_or_else(out_of_turn)?;
        x.answer_head(head).await.map(drop).map_err(|fault| carry(x, fault))
    }

    fn response_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        walk: &mut Walk,
    ) -> Result<Option<Duration>> {
        if !end {
            self.late(walk)?;
        }
        let x = walk.exchange.as_mut().ok_or_else(out_of_turn)?;
        x.answer_chunk(body, end).map_err(|fault| carry(x, fault))?;
        Ok(None)
    }

    /// What stands behind a rewritten answer was not looked at, and may be a digest of other bytes.
    async fn response_trailer_filter(
        &self,
        _: &mut Session,
        trailers: &mut HeaderMap,
        walk: &mut Walk,
    ) -> Result<Option<Bytes>> {
        if walk.exchange.as_ref().is_some_and(|x| x.answer_scan == Scan::Scanned) {
            trailers.clear();
        }
        Ok(None)
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, walk: &mut Walk) -> FailToProxy {
        let closed = FailToProxy { error_code: 0, can_reuse_downstream: false };
        let Some(x) = walk.exchange.as_mut() else { return closed };
        let fault = fault_of(x, error);
        if matches!(fault, GatewayError::Gone | GatewayError::Left) {
            x.left(native::answered(session).is_some());
            return closed;
        }
        let outcome = match native::answered(session) {
            None => native::rescue(session, x, fault).await,
            Some(_) => match x.last_words(&fault) {
                Ok(words) => session.write_response_body(Some(words), true).await,
                Err(_) => return closed,
            },
        };
        let code = native::answered(session).map_or(0, |head| head.status.as_u16());
        FailToProxy { error_code: code, can_reuse_downstream: outcome.is_ok() && session.is_body_done() }
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, walk: &mut Walk) {
        // The place at the upstream is free now, whatever the log still does.
        walk.dialer = None;
        let Some(mut x) = walk.exchange.take() else { return };
        let status = native::answered(session).map_or(0, |head| head.status.as_u16());
        let outcome = Outcome {
            status,
            bytes_in: session.body_bytes_read() as u64,
            bytes_out: session.body_bytes_sent() as u64,
            took: Duration::ZERO,
        };
        x.done(outcome).await;
    }

    // Pingora's own lines quote the request.
    fn suppress_error_log(&self, _: &Session, _: &Walk, _: &Error) -> bool {
        true
    }

    fn request_summary(&self, _: &Session, walk: &Walk) -> String {
        walk.exchange.as_ref().map_or_else(String::new, |x| x.id.to_string())
    }
}

/// Keeps a fault's own word while it travels as Pingora's error.
fn carry(x: &mut Exchange, fault: GatewayError) -> Box<Error> {
    let word = fault.word();
    x.carry(fault);
    Error::explain(ErrorType::new("portcullis"), word)
}

fn out_of_turn() -> Box<Error> {
    Error::explain(ErrorType::InternalError, "callback out of turn")
}

fn fault_of(x: &mut Exchange, error: &Error) -> GatewayError {
    if let Some(fault) = x.carried() {
        return fault;
    }
    match error.esource() {
        ErrorSource::Downstream => native::unread(error).into(),
        ErrorSource::Upstream => match &x.route().terminal {
            Terminal::Upstream(upstream) => upstream.error(error),
            _ => GatewayError::Api(ApiError::Internal("upstream")),
        },
        _ => GatewayError::Api(ApiError::Internal("proxy")),
    }
}
