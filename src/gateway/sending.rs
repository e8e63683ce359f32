//! Sends a collected request over Pingora's connector, up to the head of its answer: exact length, and again only if the
//! dialer says that the upstream cannot have acted on it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http::{Method, Version};
use pingora::connectors::http::Connector;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};

use crate::base::clock::SharedClock;
use crate::gateway::dialer::{DialProgress, Dialer, Times};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::websocket::upgraded_head;

/// How much of a body is written at once, in bytes: each such write may take as long as the write time-out says.
const PIECE: usize = 64 << 10;

/// How long an answer is awaited once the request could not be written to its end.
const EARLY: Duration = Duration::from_secs(1);

/// By what a request is sent.
pub(super) struct SendPath<'a> {
    pub(super) dialer: &'a mut dyn Dialer,
    pub(super) connector: &'a Connector,
    /// Whether a WebSocket is asked for, and how.
    pub(super) upgrade: Option<Upgrade>,
}

/// A WebSocket that is asked for.
#[derive(Clone, Copy)]
pub(super) struct Upgrade {
    /// Whether its messages are read.
    pub(super) reads: bool,
}

/// A request that is on its way, up to the head of its answer.
pub(super) struct SentRequest {
    pub(super) up: HttpSession,
    pub(super) peer: HttpPeer,
    pub(super) head: ResponseHeader,
    pub(super) deadline: Deadline,
    /// Whether the upstream took the request to its end.
    pub(super) whole: bool,
}

/// When an exchange must be over.
#[derive(Clone)]
pub(super) struct Deadline {
    at: Option<Instant>,
    clock: SharedClock,
}

impl Deadline {
    fn after(total: Option<Duration>, clock: &SharedClock) -> Self {
        let clock = SharedClock::clone(clock);
        Self { at: total.map(|total| clock.instant() + total), clock }
    }

    /// Waits for the upstream, but not beyond the deadline.
    pub(super) async fn keep<T>(&self, wait: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(at) = self.at else { return wait.await };
        let left = at.saturating_duration_since(self.clock.instant());
        match tokio::time::timeout(left, wait).await {
            Ok(done) => done,
            Err(_) => Error::e_explain(ErrorType::ReadTimedout, "the exchange takes too long"),
        }
    }
}

/// Sends the request; again only if the dialer says that the upstream cannot have acted on it.
pub(super) async fn send(
    session: &mut Session,
    x: &mut Exchange,
    via: &mut SendPath<'_>,
    body: &Bytes,
) -> Result<SentRequest, GatewayError> {
    let SendPath { dialer, connector, upgrade } = via;
    dialer.admit().await?;
    let mut deadline: Option<Deadline> = None;
    let method: Method = x.head().method.clone();
    loop {
        if let Some(upstream) = x.upstream().map(Arc::clone) {
            x.trace.attempt(upstream.name());
        }
        let mut peer = dialer.peer(session).await?;
        if upgrade.is_some() {
            peer.options.set_http_version(1, 1);
        }
        let times = dialer.times(&peer);
        let deadline = deadline.get_or_insert_with(|| Deadline::after(times.total, x.clock())).clone();
        let mut how =
            DialProgress { peer: &peer, connected: false, reused: false, unsent: true, method: &method };
        let (mut up, reused) = match Box::pin(deadline.keep(connector.get_http_session(&peer))).await {
            Ok(got) => got,
            Err(error) => {
                dialer.failed(session, error, how)?;
                continue;
            }
        };
        let mut head = x.head().clone();
        dialer.head(session, &mut head).await?;
        x.trace.pass_on(&mut head);
        let body = dialer.body(session, body.clone()).await?;
        let length = (x.sends_body() || !body.is_empty()).then_some(body.len());
        let written = match upgrade {
            Some(Upgrade { reads }) => upgraded_head(&mut head, *reads),
            None => framed(&mut head, length, up.as_http2().is_some()),
        };
        written.map_err(|_| GatewayError::BadBody("the request's head cannot be forwarded"))?;
        dialer.sign(&mut head, &body)?;
        (how.connected, how.reused) = (true, reused);
        let attempt = UpstreamRequest { head, body, times, deadline: &deadline };
        let exchanged = Box::pin(attempt.exchange(&mut up));
        let done = match unless_left(session, exchanged).await {
            Ok(done) => done,
            Err(left) => {
                up.shutdown().await;
                return Err(left);
            }
        };
        match done {
            Ok((head, whole)) => return Ok(SentRequest { up, peer, head, deadline, whole }),
            Err(UnansweredRequest { error, unsent }) => {
                up.shutdown().await;
                dialer.failed(session, error, DialProgress { unsent, ..how })?;
            }
        }
    }
}

/// Waits, but not for a caller that leaves meanwhile. One that has sent its request and closes its half of the connection
/// has left.
///
/// # Errors
/// [`GatewayError::Left`], and nothing else.
pub(super) async fn unless_left<T>(
    session: &mut Session,
    wait: impl Future<Output = T>,
) -> Result<T, GatewayError> {
    tokio::select! {
        biased;
        done = wait => Ok(done),
        _ = session.downstream_session.read_body_or_idle(true) => Err(GatewayError::Left),
    }
}

/// Has the head say how long the body is; one that came without a body goes on as such.
fn framed(head: &mut RequestHeader, length: Option<usize>, http2: bool) -> Result<()> {
    head.remove_header(&TRANSFER_ENCODING);
    head.remove_header(&EXPECT);
    head.remove_header(&CONTENT_LENGTH);
    head.set_version(if http2 { Version::HTTP_2 } else { Version::HTTP_11 });
    if let Some(length) = length {
        head.insert_header(CONTENT_LENGTH, length)?;
    }
    if length.is_none_or(|length| length == 0) {
        head.remove_header(&CONTENT_ENCODING);
    }
    Ok(())
}

/// A request that got no answer.
struct UnansweredRequest {
    error: Box<Error>,
    /// Whether the head never left as a whole.
    unsent: bool,
}

/// What is sent to one peer.
struct UpstreamRequest<'a> {
    head: RequestHeader,
    body: Bytes,
    times: Times,
    deadline: &'a Deadline,
}

impl UpstreamRequest<'_> {
    /// Sends head and body, and waits for the head of the answer. Also returns whether the body left to its end.
    async fn exchange(self, up: &mut HttpSession) -> Result<(ResponseHeader, bool), UnansweredRequest> {
        let Self { head, body, times, deadline } = self;
        up.set_read_timeout(times.first_byte);
        up.set_write_timeout(times.write);
        let written = deadline.keep(up.write_request_header(Box::new(head))).await;
        written.map_err(|error| UnansweredRequest { error, unsent: true })?;
        // One that answers before it has read everything, and reads no more, has an answer all the same.
        let unwritten = deadline.keep(write(up, body)).await.err();
        if unwritten.is_some() {
            up.set_read_timeout(Some(EARLY));
        }
        let whole = unwritten.is_none();
        match deadline.keep(answer_head(up)).await {
            Ok(head) => {
                up.set_read_timeout(times.read);
                Ok((head, whole))
            }
            Err(error) => Err(UnansweredRequest { error: unwritten.unwrap_or(error), unsent: false }),
        }
    }
}

async fn write(up: &mut HttpSession, mut body: Bytes) -> Result<()> {
    while !body.is_empty() {
        let piece = body.split_to(PIECE.min(body.len()));
        up.write_request_body(piece, body.is_empty()).await?;
    }
    up.finish_request_body().await
}

async fn answer_head(up: &mut HttpSession) -> Result<ResponseHeader> {
    loop {
        up.read_response_header().await?;
        match up.response_header() {
            // Early hints and the like: the caller of a collected request has no use for them.
            Some(head) if head.status.is_informational() && head.status != 101 => {}
            Some(head) => return Ok(head.clone()),
            None => return Err(Error::new_str("no response head")),
        }
    }
}
