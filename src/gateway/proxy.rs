//! [`Gateway`]: Pingora's callbacks, each little more than one step of the request's `state`.

use std::sync::Arc;
use std::time::Duration;

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
use crate::base::budget::MemoryBudget;
use crate::base::clock::SharedClock;
use crate::gateway::answer_framing::frame_answer;
use crate::gateway::body_fields::strip_request_digests;
use crate::gateway::bounds::RequestBounds;
use crate::gateway::clients::ClientResolver;
use crate::gateway::dialer::{DialProgress, PoolDialer};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::RequestOutcome;
use crate::gateway::in_flight::{InFlight, UnderWay};
use crate::gateway::native;
use crate::gateway::relay::{self, RelayRequest};
use crate::gateway::route::RouteTable;
use crate::gateway::session_body::unread;
use crate::gateway::state::{ActiveRequest, HeadOutcome, InvalidState, RequestState, Routing, Streaming};
use crate::gateway::terminal::Terminal;
use crate::gateway::upstream::{Upstream, plain, strip_hop_by_hop};
use crate::telemetry::trace::Tracer;
use crate::telemetry::{BodyScan, UpstreamFailure};

/// The gateway: what Pingora drives. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    pub(super) routes: Arc<ArcSwap<RouteTable>>,
    pub(super) connector: Arc<Connector>,
    pub(super) budget: MemoryBudget,
    pub(super) bounds: RequestBounds,
    pub(super) clients: Arc<ClientResolver>,
    pub(super) clock: SharedClock,
    pub(super) in_flight: InFlight,
    pub(super) tracer: Tracer,
}

/// What a gateway is made from.
pub struct GatewayParts {
    /// The routes, which may be swapped whole at any time.
    pub routes: Arc<ArcSwap<RouteTable>>,
    /// What all requests together may hold.
    pub budget: MemoryBudget,
    /// What every request may take up.
    pub bounds: RequestBounds,
    /// Finds callers' addresses.
    pub clients: Arc<ClientResolver>,
    /// Reads time.
    pub clock: SharedClock,
    /// Counts requests under way.
    pub in_flight: InFlight,
    /// How many unused connections are kept to all upstreams together, for requests that are collected.
    pub kept: usize,
    /// Makes the spans of requests.
    pub tracer: Tracer,
}

/// What Pingora hands from callback to callback; no request until its head has been read.
#[derive(Default)]
pub struct RequestCtx {
    pub(super) request: Option<ActiveRequest>,
    under_way: Option<UnderWay>,
}

impl RequestCtx {
    /// The request.
    ///
    /// # Errors
    /// There is none yet.
    pub(super) fn request(&mut self) -> Result<&mut ActiveRequest, InvalidState> {
        self.request.as_mut().ok_or(InvalidState)
    }

    fn streaming(&mut self) -> Option<&mut Streaming> {
        Some(self.request.as_mut()?.streaming().ok()?.1)
    }
}

impl From<GatewayParts> for Gateway {
    fn from(parts: GatewayParts) -> Self {
        let GatewayParts { routes, budget, bounds, clients, clock, in_flight, kept, tracer } = parts;
        let connector = Arc::new(Connector::new(Some(ConnectorOptions::new(kept))));
        Self { routes, connector, budget, bounds, clients, clock, in_flight, tracer }
    }
}

impl Gateway {
    /// Finds callers' addresses.
    pub fn clients(&self) -> &Arc<ClientResolver> {
        &self.clients
    }

    /// Reads time.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }

    /// Begins a request and shows its head to the filters; what ends at us is answered. So is an error.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn enter(&self, session: &mut Session, ctx: &mut RequestCtx) -> Result<HeadOutcome> {
        session.set_read_timeout(Some(self.bounds.read));
        session.set_write_timeout(Some(self.bounds.write));
        ctx.under_way = Some(self.in_flight.enter());
        let request = ctx.request.insert(self.receive(session)?);
        // Boxed: all of these futures would otherwise lie in every connection's state.
        match Box::pin(self.route(session, request)).await {
            Ok(next) => Ok(next),
            Err(error) => {
                Box::pin(native::send_error(session, request, error)).await.map(|()| HeadOutcome::Answered)
            }
        }
    }

    /// From `Received` to `Routed`, or to `Done` where the route ends at us.
    async fn route(
        &self,
        session: &mut Session,
        request: &mut ActiveRequest,
    ) -> Result<HeadOutcome, GatewayError> {
        let RequestState::Received(received) = request.state.take() else { return Err(InvalidState.into()) };
        let routing =
            received.filter(&mut request.x, &mut request.chain, &self.bounds, Some(session)).await?;
        let mut routed = match routing {
            Routing::Forward(routed) => routed,
            Routing::Answer(answer) => {
                native::send(session, request, answer).await?;
                return Ok(HeadOutcome::Answered);
            }
        };
        let terminal = request.x.route().terminal.clone();
        if request.x.is_websocket() && !matches!(terminal, Terminal::Upstream(_)) {
            return Err(GatewayError::NotBuilt("No WebSocket is served here"));
        }
        let next = match terminal {
            Terminal::Fixed(fixed) => {
                native::send(session, request, fixed.into()).await?;
                return Ok(HeadOutcome::Answered);
            }
            Terminal::Native(handler) => {
                native::run(session, request, handler.as_ref()).await?;
                return Ok(HeadOutcome::Answered);
            }
            Terminal::Upstream(upstream) => HeadOutcome::Pool(upstream),
            Terminal::Host => HeadOutcome::Host,
        };
        routed.peek(session, &mut request.x).await?;
        request.state = RequestState::Routed(routed);
        Ok(next)
    }

    /// Sends a routed request to a pool: at once where its body is collected, else Pingora does. `true`: it is answered.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn forward(
        &self,
        session: &mut Session,
        ctx: &mut RequestCtx,
        upstream: Arc<Upstream>,
    ) -> Result<bool> {
        let request = ctx.request()?;
        let mut routed = request.routed()?;
        if let Some(limit) = upstream.signs(request.x.head()) {
            routed.plan.collect_anyway(&request.x, limit);
        }
        let total = upstream.dialing().times.total();
        let mut dialer = PoolDialer::new(upstream);
        if request.x.is_websocket() {
            return self.websocket(session, request, &mut dialer).await.map(|()| true);
        }
        if let Some(limit) = routed.plan.collects() {
            let relay = RelayRequest { dialer: &mut dialer, routed, limit };
            return self.relay(session, request, relay).await.map(|()| true);
        }
        match dialer.enter().await {
            Ok(()) => {
                let mut streaming = Streaming::new(routed.plan, Some(dialer));
                streaming.deadline = total.map(|total| self.clock.instant() + total);
                request.state = RequestState::Streaming(Box::new(streaming));
                Ok(false)
            }
            Err(error) => Box::pin(native::send_error(session, request, error)).await.map(|()| true),
        }
    }

    /// Collects the body of a routed request and sends it.
    ///
    /// # Errors
    /// Pingora's: the connection is of no more use.
    pub(super) async fn relay(
        &self,
        session: &mut Session,
        request: &mut ActiveRequest,
        relay: RelayRequest<'_>,
    ) -> Result<()> {
        match Box::pin(relay::run(session, request, relay, &self.connector)).await {
            Ok(()) => Ok(()),
            Err(error) => Box::pin(native::send_error(session, request, error)).await,
        }
    }

    /// Ends a rewritten body before its trailers: Pingora shows no other end of it. `last` is what else belongs to it. Returns
    /// what is still to be sent. Trailers were not looked at, and may be digests of other bytes.
    ///
    /// # Errors
    /// A callback out of turn.
    pub(super) async fn end_at_trailers(
        &self,
        session: &mut Session,
        trailers: &mut HeaderMap,
        ctx: &mut RequestCtx,
        mut last: Option<Bytes>,
    ) -> Result<Option<Bytes>> {
        let request = ctx.request()?;
        let Ok((x, answering)) = request.answering() else { return Ok(last) };
        if !answering.rewrites() {
            return Ok(last);
        }
        let ended = answering.chunk(x, &mut last, true);
        if x.answer_scan == BodyScan::Scanned || answering.compresses() {
            trailers.clear();
        }
        if let Err(error) = ended {
            // Pingora would send the trailers nevertheless, and the body would look whole.
            drop(request.carry(error));
            session.shutdown().await;
            return Ok(None);
        }
        Ok(last)
    }

    /// Fails a streamed exchange that has used up its time, by the fault of its peer.
    fn check_deadline(&self, request: &mut ActiveRequest) -> Result<()> {
        let Ok((_, streaming)) = request.streaming() else { return Ok(()) };
        let (Some(at), Some(dialer)) = (streaming.deadline, &mut streaming.dialer) else { return Ok(()) };
        if self.clock.instant() < at {
            return Ok(());
        }
        dialer.record_failure();
        let error = dialer.upstream().failed(UpstreamFailure::Timeout);
        Err(request.carry(error))
    }
}

#[async_trait]
impl ProxyHttp for Gateway {
    type CTX = RequestCtx;

    fn new_ctx(&self) -> RequestCtx {
        RequestCtx::default()
    }

    async fn request_filter(&self, session: &mut Session, ctx: &mut RequestCtx) -> Result<bool> {
        match self.enter(session, ctx).await? {
            HeadOutcome::Answered => Ok(true),
            HeadOutcome::Pool(upstream) => self.forward(session, ctx, upstream).await,
            // Building the table has made sure that there is no such route.
            HeadOutcome::Host => Err(InvalidState.into()),
        }
    }

    async fn upstream_peer(&self, _: &mut Session, ctx: &mut RequestCtx) -> Result<Box<HttpPeer>> {
        let request = ctx.request()?;
        let (x, streaming) = request.streaming()?;
        let dialer = streaming.dialer.as_mut().ok_or(InvalidState)?;
        x.trace.attempt(dialer.upstream().name());
        let peer = dialer.next().await;
        peer.map(Box::new).map_err(|error| request.carry(error))
    }

    /// Nothing of the request has left: the next peer may have it.
    fn fail_to_connect(
        &self,
        session: &mut Session,
        peer: &HttpPeer,
        ctx: &mut RequestCtx,
        mut error: Box<Error>,
    ) -> Box<Error> {
        let method = &session.req_header().method;
        let how = DialProgress { peer, connected: false, reused: false, unsent: true, method };
        let dialer = ctx.streaming().and_then(|streaming| streaming.dialer.as_mut());
        let again = dialer.is_some_and(|dialer| dialer.again(&error, how));
        error.set_retry(again);
        error
    }

    /// Of a request that has left, the pool knows whether it may leave again.
    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        mut error: Box<Error>,
        ctx: &mut RequestCtx,
        reused: bool,
    ) -> Box<Error> {
        let lost = session.as_ref().retry_buffer_truncated() || native::answered(session).is_some();
        // While it waits for the rest of the body it is not known that the peer is slow.
        let waited = *error.etype() == ErrorType::ReadTimedout && !session.is_body_done();
        let is_pending = ctx.request.as_ref().is_some_and(ActiveRequest::has_pending);
        let ours = matches!(error.esource(), ErrorSource::Internal) || is_pending || waited;
        let again = match ctx.streaming() {
            Some(Streaming { dialer: Some(dialer), unsent, .. }) => {
                let method = &session.req_header().method;
                let how = DialProgress { peer, connected: true, reused, unsent: *unsent, method };
                if lost && !ours && *error.esource() == ErrorSource::Upstream {
                    dialer.lost(&error, peer);
                }
                !lost && !ours && dialer.again(&error, how)
            }
            _ => false,
        };
        error.set_retry(again);
        error
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        ctx: &mut RequestCtx,
    ) -> Result<()> {
        let request = ctx.request()?;
        let (x, streaming) = request.streaming()?;
        let changes = match streaming.begin_attempt(x) {
            Ok(changes) => changes,
            Err(error) => return Err(request.carry(error)),
        };
        let version = head.version;
        *head = x.head().clone();
        head.set_version(version);
        streaming.unsent = version != Version::HTTP_2;
        match &streaming.dialer {
            Some(dialer) => dialer.apply_headers(head)?,
            None => plain(head)?,
        }
        x.trace.pass_on(head);
        if changes {
            head.remove_header(&CONTENT_LENGTH);
            strip_request_digests(head);
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
        ctx: &mut RequestCtx,
    ) -> Result<()> {
        let request = ctx.request()?;
        let (x, streaming) = request.streaming()?;
        streaming.unsent = false;
        streaming.request_chunk(x, body, end).map_err(|error| request.carry(error))
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        head: &mut ResponseHeader,
        ctx: &mut RequestCtx,
    ) -> Result<()> {
        if head.status.is_informational() && head.status != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(());
        }
        native::close_if_draining(session);
        // How long the body is, Pingora still has to know.
        let names = strip_hop_by_hop(&head.headers).into_iter().filter(|name| *name != TRANSFER_ENCODING);
        names.for_each(|name| drop(head.remove_header(&name)));
        let request = ctx.request()?;
        self.check_deadline(request)?;
        let switches = request.x.is_websocket();
        frame_answer(head, switches).map_err(|error| request.carry(error))?;
        if let Ok((_, Streaming { dialer: Some(dialer), .. })) = request.streaming() {
            dialer.answered(head.status);
        }
        let answered = request.answer(head).await.map(drop);
        answered.map_err(|error| request.carry(error))
    }

    fn response_body_filter(
        &self,
        _: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        ctx: &mut RequestCtx,
    ) -> Result<Option<Duration>> {
        let request = ctx.request()?;
        if !end {
            self.check_deadline(request)?;
        }
        let (x, answering) = request.answering()?;
        answering.chunk(x, body, end).map(|()| None).map_err(|error| request.carry(error))
    }

    async fn response_trailer_filter(
        &self,
        session: &mut Session,
        trailers: &mut HeaderMap,
        ctx: &mut RequestCtx,
    ) -> Result<Option<Bytes>> {
        self.end_at_trailers(session, trailers, ctx, None).await
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, ctx: &mut RequestCtx) -> FailToProxy {
        let closed = FailToProxy { error_code: 0, can_reuse_downstream: false };
        let Some(request) = ctx.request.as_mut() else { return closed };
        let error = error_of(request, error);
        if matches!(error, GatewayError::Gone | GatewayError::Left) {
            request.x.caller_left(native::answered(session).is_some());
            return closed;
        }
        let outcome = match native::answered(session) {
            None => native::send_error(session, request, error).await,
            Some(_) => match request.last_event(&error) {
                Ok(event) => session.write_response_body(Some(event), true).await,
                Err(_) => return closed,
            },
        };
        let code = native::answered(session).map_or(0, |head| head.status.as_u16());
        FailToProxy { error_code: code, can_reuse_downstream: outcome.is_ok() && session.is_body_done() }
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, ctx: &mut RequestCtx) {
        let Some(request) = ctx.request.take() else { return };
        let status = native::answered(session).map_or(0, |head| head.status.as_u16());
        let outcome = RequestOutcome {
            status,
            bytes_in: session.body_bytes_read() as u64,
            bytes_out: session.body_bytes_sent() as u64,
            took: Duration::ZERO,
        };
        request.done(outcome).await;
    }

    // Pingora's own lines quote the request.
    fn suppress_error_log(&self, _: &Session, _: &RequestCtx, _: &Error) -> bool {
        true
    }

    fn request_summary(&self, _: &Session, ctx: &RequestCtx) -> String {
        ctx.request.as_ref().map_or_else(String::new, |request| request.x.id.to_string())
    }
}

/// What went wrong behind a Pingora error: one of ours that it carries, else by whose fault it is.
fn error_of(request: &mut ActiveRequest, error: &Error) -> GatewayError {
    if let Some(pending) = request.take_pending() {
        return pending;
    }
    match error.esource() {
        ErrorSource::Downstream => unread(error).into(),
        ErrorSource::Upstream => match &request.x.route().terminal {
            Terminal::Upstream(upstream) => upstream.error(error),
            _ => GatewayError::Api(ApiError::Internal("upstream")),
        },
        _ => GatewayError::Api(ApiError::Internal("proxy")),
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
