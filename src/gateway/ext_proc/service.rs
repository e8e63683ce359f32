//! [`ExternalProcessor`]: the one method of the service, behind Pingora's server of HTTP/2.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::Method;
use http::header::CONTENT_TYPE;
use pingora::apps::{HttpServerApp, HttpServerOptions, ReusedHttpStream};
use pingora::http::RequestHeader;
use pingora::protocols::http::ServerSession;
use pingora::protocols::http::v2::server::{H2Options, HttpSession};
use pingora::server::ShutdownWatch;

use crate::api::envelope::Stamp;
use crate::base::id::RequestId;
use crate::crypto::random;
use crate::gateway::error::{ErrorShape, ErrorTarget, GatewayError};
use crate::gateway::ext_proc::head::{self, ProxyHeadState, ProxyRequestHead};
use crate::gateway::ext_proc::message::{BodySendMode, ExchangePart, ProcessingRequest};
use crate::gateway::ext_proc::mode::{BodyModes, headless, unsaid};
use crate::gateway::ext_proc::processing::{CLOSE_TIMEOUT, Processing, error_of};
use crate::gateway::ext_proc::stream::{GrpcStatus, ProcessStream, StreamFault, refuse};
use crate::gateway::ext_proc::tell::{self, PartDirection};
use crate::gateway::proxy::Gateway;
use crate::gateway::receive::ReceivedHead;

/// The method.
const PATH: &str = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

/// How long a connection without a stream is kept: longer than a proxy keeps it, so that no stream begins on one that just
/// ends here.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// What a proxy may have sent on one stream before it is read (RFC 9113 section 6.9.2), in bytes. A connection takes as much for
/// each of its streams: one that waits for a slow caller keeps no other waiting.
const WINDOW: u32 = 65_535;

/// The largest window that there is (RFC 9113 section 6.9.1).
const MOST: u32 = (1 << 31) - 1;

/// How much short pieces may be shorter than 256 bytes, all unread ones of a connection together: events of streams are short,
/// and the h2 crate's own bound ends connections at a few hundred.
const SHORT: usize = 16 << 20;

/// Has exchanges of other proxies go through the chain.
pub(in crate::gateway) struct ExternalProcessor {
    gateway: Gateway,
    h2: H2Options,
    options: HttpServerOptions,
}

impl ExternalProcessor {
    /// Over this gateway's routes; connections are held to `h2`, of which they have so many streams.
    pub(in crate::gateway) fn new(gateway: Gateway, mut h2: H2Options, streams: u32) -> Self {
        h2.initial_window_size(WINDOW);
        h2.initial_connection_window_size(WINDOW.saturating_mul(streams).min(MOST));
        h2.data_frame_budget(SHORT);
        let mut options = HttpServerOptions::default();
        options.h2_idle_timeout = Some(IDLE);
        Self { gateway, h2, options }
    }

    async fn serve(&self, mut session: HttpSession) {
        if !is_asked(session.req_header()) {
            let why = "only envoy.service.ext_proc.v3.ExternalProcessor/Process is served here";
            return drop(refuse(&mut session, GrpcStatus::Unimplemented, why));
        }
        let _under_way = self.gateway.in_flight.enter();
        let peer = session.client_addr().and_then(|address| address.as_inet()).map(|address| address.ip());
        let bounds = &self.gateway.bounds;
        let budget = self.gateway.budget.request(bounds.per_request);
        let limit = bounds.per_request;
        let mut stream = ProcessStream::new(session, limit, budget.charge(), bounds.write);
        let first = match stream.next(bounds.read).await {
            Ok(Some(first)) => first,
            Ok(None) | Err(StreamFault::Left) => return stream.reset(),
            Err(fault) => {
                let status = fault.status();
                return self.turn_away(&mut stream, error_of(fault), status).await;
            }
        };
        if first.observability_mode {
            tracing::error!(target: "portcullis::gateway", "refused: the proxy goes on whatever it is told (`observability_mode`)");
            return stream.end(GrpcStatus::FailedPrecondition, "observability_mode is not served");
        }
        if let Some(ExchangePart::ResponseHeaders(shown)) = &first.shown
            && head::is_of_proxy_alone(shown.headers.as_ref())
        {
            return pass_by(&mut stream, first).await;
        }
        let StreamStart { head, tls, sends_body, modes } = match StreamStart::of(&first) {
            Ok(begun) => begun,
            Err(error) => return self.turn_away(&mut stream, error, GrpcStatus::Ok).await,
        };
        drop(first);
        let told = ProxyHeadState::new(&head);
        let received = ReceivedHead { head, peer, sends_body, certificate: None };
        let Ok(mut request) = self.gateway.receive_shown(received, tls) else { return stream.reset() };
        let outcome = Box::pin(Processing::new(&mut stream, &mut request, told, modes).run(bounds)).await;
        request.done(outcome).await;
    }

    /// Answers for a request that cannot be received. The answer comes first: a proxy may go on where a stream fails.
    async fn turn_away(&self, stream: &mut ProcessStream, error: GatewayError, status: GrpcStatus) {
        let Ok(random) = random::bytes() else { return stream.reset() };
        let (id, now) = (RequestId::from_random(random), self.gateway.clock().now());
        let stamp = Stamp { id: &id, received: now, answered: now };
        let why = error.word();
        tracing::debug!(target: "portcullis::gateway", request_id = %id, why, "head refused");
        let answer = error.answer(&ErrorTarget { shape: ErrorShape::default(), stamp, call: None });
        let told = tell::immediate(head::immediate(&answer, Some(why)));
        drop(answer);
        match stream.send(&told).await {
            Ok(()) => stream.end(status, ""),
            Err(_) => stream.reset(),
        }
    }
}

/// Lets an answer of the proxy's own pass, to a request that was never shown: a filter before ours has refused it.
async fn pass_by(stream: &mut ProcessStream, first: ProcessingRequest) {
    let full = BodyModes::of(&first).is_some_and(|modes| modes.answer == BodySendMode::FullDuplexStreamed);
    let mut next = Some(first);
    while let Some(shown) = next.and_then(|message| message.shown) {
        let told = match shown {
            ExchangePart::ResponseHeaders(_) => tell::head(PartDirection::Answer, None),
            ExchangePart::ResponseBody(body) if full => {
                tell::streamed(PartDirection::Answer, body.body, body.end_of_stream)
            }
            ExchangePart::ResponseBody(_) => tell::piece(PartDirection::Answer, None, None),
            ExchangePart::ResponseTrailers(_) => tell::trailers(PartDirection::Answer, None),
            // What is a request's would pass unseen.
            _ => return stream.reset(),
        };
        if stream.send(&told).await.is_err() {
            return stream.reset();
        }
        next = stream.next(CLOSE_TIMEOUT).await.unwrap_or_default();
    }
    stream.end(GrpcStatus::Ok, "");
}

/// What a stream begins with.
struct StreamStart {
    head: RequestHeader,
    tls: bool,
    sends_body: bool,
    modes: BodyModes,
}

impl StreamStart {
    fn of(first: &ProcessingRequest) -> Result<Self, GatewayError> {
        let Some(ExchangePart::RequestHeaders(shown)) = &first.shown else { return Err(headless()) };
        let modes = BodyModes::of(first).ok_or_else(unsaid)?;
        let ProxyRequestHead { head, tls } = head::request_head(shown.headers.as_ref())?;
        Ok(Self { head, tls, sends_body: !shown.end_of_stream, modes })
    }
}

/// Whether the method is asked for, in gRPC.
fn is_asked(head: &RequestHeader) -> bool {
    let grpc =
        head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    grpc && head.method == Method::POST && head.uri.path() == PATH
}

#[async_trait]
impl HttpServerApp for ExternalProcessor {
    async fn process_new_http(
        self: &Arc<Self>,
        session: ServerSession,
        _: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        if let ServerSession::H2(session) = session {
            Box::pin(self.serve(session)).await;
        }
        None
    }

    fn h2_options(&self) -> Option<H2Options> {
        Some(self.h2.clone())
    }

    fn server_options(&self) -> Option<&HttpServerOptions> {
        Some(&self.options)
    }
}
