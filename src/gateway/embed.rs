//! The chain around another server's callbacks: [`ChainedProxy`] wraps a server's own [`ProxyHttp`], so that its upstreams see
//! redacted bodies and its callers their own values.
//!
//! Requests take the routes of the [`Chain`]'s configuration. Those that end at `endpoint = "host"` go on to the wrapped
//! server, which chooses the peer; what they pass is
//!
//! ```text
//! caller ─► our filters ─► its request filters ─► peer
//! caller ◄─ our rewriters ◄─ its response filters ◄─ peer
//! ```
//!
//! so its filters never see a value that was redacted. All other routes end as in the gateway itself, and a request that
//! no route takes is answered with 404. `early_request_filter`, `logging` and the two callbacks of reused connections are
//! called for every request, all others for those that the server has. `proxy_upstream_filter` is asked right behind
//! `request_filter`, before the body is read. In neither may it read the body.
//!
//! These callbacks are not called:
//!
//! - those of caching and purging: a cache would keep what was restored for one caller for the next;
//! - `fail_to_proxy`: errors are in the caller's protocol, and the status of an error is not taken from it;
//! - `suppress_error_log` and `request_summary`: Pingora's own lines would quote the request;
//! - `allow_spawning_subrequest`: a subrequest would pass the chain another time;
//! - `init_upstream_modules` and `adjust_upstream_modules`: Pingora's `upstream_modules` are not built in;
//! - those of upgraded connections and of custom protocols: the first are refused, the second are not spoken.
//!
//! A body that is read whole before it is sent, as those of models and all JSON that is redacted are, is sent by the chain
//! itself. There these are not called either: `connected_to_upstream`, the filters of trailers (an answer's trailers do
//! not go on) and `suppress_proxy_warn_log`, and a pause that a body filter asks for is not made.
//!
//! Where upstreams may be silent for minutes, as models are, the server's `fast_timeout_to_tokio_threshold_seconds` should
//! be some 30 and not 15 minutes: Pingora's own timers take memory until they would have fired.

use std::any::Any;
use std::os::unix::io::RawFd;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::modules::http::HttpModules;
use pingora::protocols::Digest;
use pingora::proxy::{FailToProxy, ProxyHttp, ProxyWarnLogContext, Session};
use pingora::upstreams::peer::{HttpPeer, HttpUpstreamRequestPolicy};
use pingora::{Error, ErrorSource, Result, RetryType};

use crate::gateway::dialer::{DialProgress, Dialer, Times};
use crate::gateway::error::GatewayError;
use crate::gateway::native;
use crate::gateway::proxy::{Gateway, RequestCtx};
use crate::gateway::relay::RelayRequest;
use crate::gateway::state::HeadOutcome;
use crate::gateway::state::{RequestState, Streaming};
use crate::gateway::upstream::{failure_of, plain};
use crate::telemetry::UpstreamFailure;

/// How often a request may be sent again, as in Pingora.
const ATTEMPTS: usize = 16;

/// A server that refuses a request and does not say how: 502, as Pingora has it.
const REFUSED: GatewayError = GatewayError::Upstream(UpstreamFailure::Down);

/// The chain of one configuration. Made by `Chain::from_config`.
#[derive(Clone)]
pub struct Chain(Gateway);

/// Chooses who does TLS, unless the process has done so: Pingora would make ring the active provider, and only the first
/// call counts.
pub fn choose_tls() {
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
}

impl Chain {
    /// The chain of this gateway.
    pub fn new(gateway: Gateway) -> Self {
        Self(gateway)
    }

    /// Puts the chain around a server's callbacks.
    pub fn guard<P>(&self, host: P) -> ChainedProxy<P> {
        ChainedProxy { gateway: self.0.clone(), host }
    }
}

/// A server's callbacks with the chain around them.
pub struct ChainedProxy<P> {
    gateway: Gateway,
    host: P,
}

/// The context of one request: the chain's and the server's.
pub struct ChainedCtx<C> {
    chain: RequestCtx,
    host: C,
    /// Whether the server has the request.
    hosted: bool,
}

impl<P> ChainedProxy<P>
where
    P: ProxyHttp + Send + Sync,
    P::CTX: Send + Sync,
{
    /// Gives a request to the server; `true`: it is answered.
    async fn hosted(&self, session: &mut Session, ctx: &mut ChainedCtx<P::CTX>) -> Result<bool> {
        let ChainedCtx { chain, host, hosted } = ctx;
        *hosted = true;
        let request = chain.request()?;
        let routed = request.routed()?;
        // The server sees and changes the head as our filters have left it.
        *session.req_header_mut() = request.x.head().clone();
        if self.host.request_filter(session, host).await? {
            return Ok(true);
        }
        // Pingora asks this once nothing is in the cache: without one, now. Of what is collected it would never ask.
        if !self.host.proxy_upstream_filter(session, host).await? {
            return match native::answered(session) {
                Some(_) => Ok(true),
                None => Box::pin(native::send_error(session, request, REFUSED)).await.map(|()| true),
            };
        }
        *request.x.head_mut() = session.req_header().clone();
        let Some(limit) = routed.plan.collects() else {
            request.state = RequestState::Streaming(Box::new(Streaming::new(routed.plan, None)));
            return Ok(false);
        };
        let mut dialer = HostDialer { host: &self.host, ctx: host, attempts: 0 };
        let relay = RelayRequest { dialer: &mut dialer, routed, limit };
        self.gateway.relay(session, request, relay).await.map(|()| true)
    }
}

#[async_trait]
impl<P> ProxyHttp for ChainedProxy<P>
where
    P: ProxyHttp + Send + Sync,
    P::CTX: Send + Sync,
{
    type CTX = ChainedCtx<P::CTX>;

    fn new_ctx(&self) -> Self::CTX {
        ChainedCtx { chain: self.gateway.new_ctx(), host: self.host.new_ctx(), hosted: false }
    }

    fn init_downstream_modules(&self, modules: &mut HttpModules) {
        self.host.init_downstream_modules(modules);
    }

    async fn early_request_filter(&self, session: &mut Session, ctx: &mut Self::CTX) -> Result<()> {
        self.host.early_request_filter(session, &mut ctx.host).await
    }

    async fn request_filter(&self, session: &mut Session, ctx: &mut Self::CTX) -> Result<bool> {
        match self.gateway.enter(session, &mut ctx.chain).await? {
            HeadOutcome::Answered => Ok(true),
            HeadOutcome::Pool(upstream) => self.gateway.forward(session, &mut ctx.chain, upstream).await,
            HeadOutcome::Host => Box::pin(self.hosted(session, ctx)).await,
        }
    }

    async fn upstream_peer(&self, session: &mut Session, ctx: &mut Self::CTX) -> Result<Box<HttpPeer>> {
        if !ctx.hosted {
            return self.gateway.upstream_peer(session, &mut ctx.chain).await;
        }
        let mut peer = self.host.upstream_peer(session, &mut ctx.host).await?;
        no_upgrades(&mut peer);
        Ok(peer)
    }

    fn fail_to_connect(
        &self,
        session: &mut Session,
        peer: &HttpPeer,
        ctx: &mut Self::CTX,
        error: Box<Error>,
    ) -> Box<Error> {
        match ctx.hosted {
            true => self.host.fail_to_connect(session, peer, &mut ctx.host, error),
            false => self.gateway.fail_to_connect(session, peer, &mut ctx.chain, error),
        }
    }

    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        ctx: &mut Self::CTX,
        reused: bool,
    ) -> Box<Error> {
        match ctx.hosted {
            true => self.host.error_while_proxy(peer, session, error, &mut ctx.host, reused),
            false => self.gateway.error_while_proxy(peer, session, error, &mut ctx.chain, reused),
        }
    }

    async fn connected_to_upstream(
        &self,
        session: &mut Session,
        reused: bool,
        peer: &HttpPeer,
        fd: RawFd,
        digest: Option<&Digest>,
        ctx: &mut Self::CTX,
    ) -> Result<()> {
        match ctx.hosted {
            true => self.host.connected_to_upstream(session, reused, peer, fd, digest, &mut ctx.host).await,
            false => Ok(()),
        }
    }

    async fn upstream_request_filter(
        &self,
        session: &mut Session,
        head: &mut RequestHeader,
        ctx: &mut Self::CTX,
    ) -> Result<()> {
        self.gateway.upstream_request_filter(session, head, &mut ctx.chain).await?;
        match ctx.hosted {
            true => self.host.upstream_request_filter(session, head, &mut ctx.host).await,
            false => Ok(()),
        }
    }

    async fn request_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        ctx: &mut Self::CTX,
    ) -> Result<()> {
        self.gateway.request_body_filter(session, body, end, &mut ctx.chain).await?;
        match ctx.hosted {
            true => self.host.request_body_filter(session, body, end, &mut ctx.host).await,
            false => Ok(()),
        }
    }

    async fn upstream_response_filter(
        &self,
        session: &mut Session,
        head: &mut ResponseHeader,
        ctx: &mut Self::CTX,
    ) -> Result<()> {
        match ctx.hosted {
            true => self.host.upstream_response_filter(session, head, &mut ctx.host).await,
            false => Ok(()),
        }
    }

    fn upstream_response_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        ctx: &mut Self::CTX,
    ) -> Result<Option<Duration>> {
        match ctx.hosted {
            true => self.host.upstream_response_body_filter(session, body, end, &mut ctx.host),
            false => Ok(None),
        }
    }

    fn upstream_response_trailer_filter(
        &self,
        session: &mut Session,
        trailers: &mut HeaderMap,
        ctx: &mut Self::CTX,
    ) -> Result<()> {
        match ctx.hosted {
            true => self.host.upstream_response_trailer_filter(session, trailers, &mut ctx.host),
            false => Ok(()),
        }
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        head: &mut ResponseHeader,
        ctx: &mut Self::CTX,
    ) -> Result<()> {
        if ctx.hosted {
            self.host.response_filter(session, head, &mut ctx.host).await?;
        }
        self.gateway.response_filter(session, head, &mut ctx.chain).await
    }

    fn response_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        end: bool,
        ctx: &mut Self::CTX,
    ) -> Result<Option<Duration>> {
        let pause = match ctx.hosted {
            true => self.host.response_body_filter(session, body, end, &mut ctx.host)?,
            false => None,
        };
        self.gateway.response_body_filter(session, body, end, &mut ctx.chain).map(|ours| pause.or(ours))
    }

    async fn response_trailer_filter(
        &self,
        session: &mut Session,
        trailers: &mut HeaderMap,
        ctx: &mut Self::CTX,
    ) -> Result<Option<Bytes>> {
        let last = match ctx.hosted {
            true => self.host.response_trailer_filter(session, trailers, &mut ctx.host).await?,
            false => None,
        };
        self.gateway.end_at_trailers(session, trailers, &mut ctx.chain, last).await
    }

    async fn fail_to_proxy(&self, session: &mut Session, error: &Error, ctx: &mut Self::CTX) -> FailToProxy {
        self.gateway.fail_to_proxy(session, error, &mut ctx.chain).await
    }

    async fn logging(&self, session: &mut Session, error: Option<&Error>, ctx: &mut Self::CTX) {
        self.gateway.logging(session, error, &mut ctx.chain).await;
        self.host.logging(session, error, &mut ctx.host).await;
    }

    fn persist_connection_context(
        &self,
        session: &Session,
        ctx: &Self::CTX,
    ) -> Option<Box<dyn Any + Send + Sync>> {
        self.host.persist_connection_context(session, &ctx.host)
    }

    fn on_connection_reuse(
        &self,
        session: &mut Session,
        ctx: &mut Self::CTX,
        before: Box<dyn Any + Send + Sync>,
    ) {
        self.host.on_connection_reuse(session, &mut ctx.host, before);
    }

    fn suppress_proxy_warn_log(
        &self,
        session: &Session,
        ctx: &Self::CTX,
        error: &Error,
        context: ProxyWarnLogContext,
    ) -> bool {
        ctx.hosted && self.host.suppress_proxy_warn_log(session, &ctx.host, error, context)
    }

    // Pingora's own lines quote the request.
    fn suppress_error_log(&self, _: &Session, _: &Self::CTX, _: &Error) -> bool {
        true
    }

    fn request_summary(&self, session: &Session, ctx: &Self::CTX) -> String {
        self.gateway.request_summary(session, &ctx.chain)
    }
}

/// The way of a collected request to a peer that the server chooses.
struct HostDialer<'a, P: ProxyHttp> {
    host: &'a P,
    ctx: &'a mut P::CTX,
    attempts: usize,
}

#[async_trait]
impl<P> Dialer for HostDialer<'_, P>
where
    P: ProxyHttp + Send + Sync,
    P::CTX: Send + Sync,
{
    async fn peer(&mut self, session: &mut Session) -> Result<HttpPeer, GatewayError> {
        self.attempts += 1;
        let mut peer = self.host.upstream_peer(session, self.ctx).await.map_err(|error| error_of(&error))?;
        no_upgrades(&mut peer);
        Ok(*peer)
    }

    fn times(&self, peer: &HttpPeer) -> Times {
        let (read, write) = (peer.options.read_timeout, peer.options.write_timeout);
        Times { first_byte: read, read, write, total: None }
    }

    async fn head(&mut self, session: &mut Session, head: &mut RequestHeader) -> Result<(), GatewayError> {
        plain(head).map_err(|_| GatewayError::BadBody("the request's head cannot be forwarded"))?;
        self.host.upstream_request_filter(session, head, self.ctx).await.map_err(|error| error_of(&error))
    }

    async fn body(&mut self, session: &mut Session, body: Bytes) -> Result<Bytes, GatewayError> {
        let mut body = Some(body);
        let filtered = self.host.request_body_filter(session, &mut body, true, self.ctx).await;
        filtered.map_err(|error| error_of(&error))?;
        Ok(body.unwrap_or_default())
    }

    fn failed(
        &mut self,
        session: &mut Session,
        error: Box<Error>,
        how: DialProgress<'_>,
    ) -> Result<(), GatewayError> {
        let kind = failure_of(&error);
        let error = match how.connected {
            true => self.host.error_while_proxy(how.peer, session, error, self.ctx, how.reused),
            false => self.host.fail_to_connect(session, how.peer, self.ctx, error),
        };
        match error.retry {
            RetryType::Decided(true) if self.attempts < ATTEMPTS => Ok(()),
            _ => Err(GatewayError::Upstream(kind)),
        }
    }

    async fn answer_head(
        &mut self,
        session: &mut Session,
        head: &mut ResponseHeader,
    ) -> Result<(), GatewayError> {
        let seen = self.host.upstream_response_filter(session, head, self.ctx).await;
        seen.map_err(|error| error_of(&error))?;
        self.host.response_filter(session, head, self.ctx).await.map_err(|error| error_of(&error))
    }

    fn answer_piece(
        &mut self,
        session: &mut Session,
        piece: &mut Option<Bytes>,
        end: bool,
    ) -> Result<(), GatewayError> {
        let seen = self.host.upstream_response_body_filter(session, piece, end, self.ctx);
        seen.map_err(|error| error_of(&error))?;
        let seen = self.host.response_body_filter(session, piece, end, self.ctx);
        seen.map(drop).map_err(|error| error_of(&error))
    }

    fn broken(&mut self, error: &Error) -> GatewayError {
        GatewayError::Upstream(failure_of(error))
    }
}

/// A server's own error, for its caller: what it blames on the request is the request's, all else the upstream's.
fn error_of(error: &Error) -> GatewayError {
    match error.esource() {
        ErrorSource::Downstream => GatewayError::BadBody("the request was refused"),
        _ => GatewayError::Upstream(failure_of(error)),
    }
}

/// Frames of an upgraded connection are not rewritten.
fn no_upgrades(peer: &mut HttpPeer) {
    peer.options.http_upstream_request_policy = HttpUpstreamRequestPolicy::deny_upgrades();
}
