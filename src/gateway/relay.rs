//! A collected request, sent by ourselves over Pingora's connector: exact length, our own retry, and an answer loop that
//! may await. Requests of LLM protocols are always sent this way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http::{Method, StatusCode, Version};
use pingora::connectors::http::Connector;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};

use crate::base::clock::SharedClock;
use crate::gateway::collected_body::{CollectedBody, through_layers};
use crate::gateway::dialer::{Dialer, Progress, Times};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::filter::Flow;
use crate::gateway::native;
use crate::gateway::state::{ActiveRequest, Answering, Routed, State};
use crate::gateway::terminal::Terminal;
use crate::gateway::upstream::strip_hop_by_hop;
use crate::gateway::websocket::upgraded_head;
use crate::telemetry::UpstreamFailure;

/// How much of an answer's body may be read before its head is sent, so that it can have an exact length, in bytes.
const WHOLE_ANSWER: usize = 64 << 10;

/// How much of a body is written at once, in bytes: each such write may take as long as the write time-out says.
const PIECE: usize = 64 << 10;

/// How long an answer is awaited once the request could not be written to its end.
const EARLY: Duration = Duration::from_secs(1);

/// How long the end of an answer is awaited whose caller left: it may have had all that matters.
const REST: Duration = Duration::from_millis(50);

/// How a collected request is sent.
pub(super) struct RelayRequest<'a> {
    /// Knows the peers.
    pub(super) dialer: &'a mut dyn Dialer,
    /// What the filters want done with the body.
    pub(super) routed: Routed,
    /// How much of the body is collected, in bytes.
    pub(super) limit: usize,
}

/// Collects the body, shows it to the filters, sends the request, and brings the answer back.
///
/// # Errors
/// An error before the first byte of the answer, or a caller that left. What happens after it has been said to the
/// caller already.
pub(super) async fn run(
    session: &mut Session,
    request: &mut ActiveRequest,
    relay: RelayRequest<'_>,
    connector: &Connector,
) -> Result<(), GatewayError> {
    let RelayRequest { dialer, mut routed, limit } = relay;
    request.state = State::Collected;
    let mut collected = CollectedBody::read(session, &request.x, &mut routed, limit).await?;
    request.x.read_call(&collected.document.original);
    if let Flow::Answer(answer) = request.chain.collected(&mut request.x, &mut collected.document).await? {
        return native::send(session, request, answer).await;
    }
    let body = collected.into_body(&request.x)?;
    let body = through_layers(&mut request.x, routed.plan, body)?;
    let mut via = Via { dialer, connector, upgrade: None };
    let sent = Box::pin(send(session, &mut request.x, &mut via, &body.bytes)).await?;
    drop(body);
    finish(session, request, sent, via).await
}

/// Brings an answer back, and keeps the upstream's connection if it can be used again.
pub(super) async fn finish(
    session: &mut Session,
    request: &mut ActiveRequest,
    mut sent: Sent,
    via: Via<'_>,
) -> Result<(), GatewayError> {
    let Via { dialer, connector, .. } = via;
    let whole = answer(session, request, dialer, &mut sent).await;
    if matches!(whole, Ok(true)) && sent.whole {
        let Sent { up, peer, .. } = sent;
        connector.release_http_session(up, &peer, peer.options.idle_timeout).await;
    } else {
        sent.up.shutdown().await;
    }
    whole.map(drop)
}

/// By what a request is sent.
pub(super) struct Via<'a> {
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
pub(super) struct Sent {
    pub(super) up: HttpSession,
    peer: HttpPeer,
    pub(super) head: ResponseHeader,
    deadline: Deadline,
    /// Whether the upstream took the request to its end.
    whole: bool,
}

/// When an exchange must be over.
#[derive(Clone)]
struct Deadline {
    at: Option<Instant>,
    clock: SharedClock,
}

impl Deadline {
    fn after(total: Option<Duration>, clock: &SharedClock) -> Self {
        let clock = SharedClock::clone(clock);
        Self { at: total.map(|total| clock.instant() + total), clock }
    }

    /// Waits for the upstream, but not beyond the deadline.
    async fn keep<T>(&self, wait: impl Future<Output = Result<T>>) -> Result<T> {
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
    via: &mut Via<'_>,
    body: &Bytes,
) -> Result<Sent, GatewayError> {
    let Via { dialer, connector, upgrade } = via;
    dialer.admit().await?;
    let mut deadline: Option<Deadline> = None;
    let method: Method = x.head().method.clone();
    loop {
        if let Terminal::Upstream(upstream) = &x.route().terminal {
            let upstream = Arc::clone(upstream);
            x.trace.attempt(upstream.name());
        }
        let mut peer = dialer.peer(session).await?;
        if upgrade.is_some() {
            peer.options.set_http_version(1, 1);
        }
        let times = dialer.times(&peer);
        let deadline = deadline.get_or_insert_with(|| Deadline::after(times.total, x.clock())).clone();
        let mut how =
            Progress { peer: &peer, connected: false, reused: false, unsent: true, method: &method };
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
            Ok((head, whole)) => return Ok(Sent { up, peer, head, deadline, whole }),
            Err(Unanswered { error, unsent }) => {
                up.shutdown().await;
                dialer.failed(session, error, Progress { unsent, ..how })?;
            }
        }
    }
}

/// Waits, but not for a caller that leaves meanwhile. One that has sent its request and closes its half of the connection
/// has left.
///
/// # Errors
/// [`GatewayError::Left`], and nothing else.
async fn unless_left<T>(session: &mut Session, wait: impl Future<Output = T>) -> Result<T, GatewayError> {
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
struct Unanswered {
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
    async fn exchange(self, up: &mut HttpSession) -> Result<(ResponseHeader, bool), Unanswered> {
        let Self { head, body, times, deadline } = self;
        up.set_read_timeout(times.first_byte);
        up.set_write_timeout(times.write);
        let written = deadline.keep(up.write_request_header(Box::new(head))).await;
        written.map_err(|error| Unanswered { error, unsent: true })?;
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
            Err(error) => Err(Unanswered { error: unwritten.unwrap_or(error), unsent: false }),
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

/// Brings the answer back. `true`: whole, and the connection may serve another request.
async fn answer(
    session: &mut Session,
    request: &mut ActiveRequest,
    dialer: &mut dyn Dialer,
    sent: &mut Sent,
) -> Result<bool, GatewayError> {
    let mut head =
        std::mem::replace(&mut sent.head, ResponseHeader::build(200, None).map_err(|_| GatewayError::Gone)?);
    if head.status == StatusCode::SWITCHING_PROTOCOLS {
        // Nobody has asked for another protocol.
        return Err(GatewayError::Upstream(UpstreamFailure::Broken));
    }
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    head.set_version(Version::HTTP_11);
    dialer.answer_head(session, &mut head).await?;
    let known =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let (x, answering) = request.answer(&mut head).await?;
    if !has_body(&x.head().method, head.status) {
        let written = session.write_response_header(Box::new(head), true).await;
        return written.map(|()| sent.up.response_done()).map_err(|_| GatewayError::Gone);
    }
    let is_small = known.is_some_and(|length| length <= WHOLE_ANSWER);
    let rewrites = answering.rewrites();
    let mut relay = AnswerRelay { x, answering, dialer };
    if rewrites && is_small {
        return relay.whole(session, sent, head).await;
    }
    if known.is_none()
        && !head.headers.contains_key(TRANSFER_ENCODING)
        && relay.x.head().version == Version::HTTP_11
    {
        drop(head.insert_header(TRANSFER_ENCODING, "chunked"));
    }
    // Of a document, the head waits for what follows it: until then it can still be refused.
    let mut head = Some(Box::new(head));
    if !rewrites || relay.answering.is_stream() {
        send_head(session, &mut head).await?;
    }
    relay.stream(session, sent, head).await
}

/// Sends the head of an answer, unless that is done.
async fn send_head(
    session: &mut Session,
    head: &mut Option<Box<ResponseHeader>>,
) -> Result<(), GatewayError> {
    match head.take() {
        Some(head) => session.write_response_header(head, false).await.map_err(|_| GatewayError::Gone),
        None => Ok(()),
    }
}

/// The body of an answer on its way back.
struct AnswerRelay<'a> {
    x: &'a mut Exchange,
    answering: &'a mut Answering,
    dialer: &'a mut dyn Dialer,
}

impl AnswerRelay<'_> {
    /// Rewrites a piece: first as the dialer's server wants it, then as the filters do.
    fn piece(
        &mut self,
        session: &mut Session,
        piece: &mut Option<Bytes>,
        end: bool,
    ) -> Result<(), GatewayError> {
        self.dialer.answer_piece(session, piece, end)?;
        self.answering.chunk(self.x, piece, end)
    }

    /// A small answer: read whole, so that its head can give an exact length.
    async fn whole(
        &mut self,
        session: &mut Session,
        sent: &mut Sent,
        mut head: ResponseHeader,
    ) -> Result<bool, GatewayError> {
        let mut out = BytesMut::new();
        loop {
            let read = sent.deadline.keep(sent.up.read_response_body());
            let read = unless_left(session, read).await?;
            let mut piece = read.map_err(|error| self.dialer.broken(&error))?;
            let end = piece.is_none() || sent.up.response_done();
            if let Some(memory) = &mut self.x.facts.memory {
                memory.before_piece().await;
            }
            self.piece(session, &mut piece, end)?;
            out.extend_from_slice(piece.as_deref().unwrap_or_default());
            if end {
                break;
            }
        }
        head.remove_header(&TRANSFER_ENCODING);
        head.insert_header(CONTENT_LENGTH, out.len()).map_err(|_| GatewayError::Gone)?;
        let written = session.write_response_header(Box::new(head), out.is_empty()).await;
        written.map_err(|_| GatewayError::Gone)?;
        if let Some(memory) = &mut self.x.facts.memory {
            memory.after_piece(true).await;
        }
        if !out.is_empty() {
            let written = session.write_response_body(Some(out.freeze()), true).await;
            written.map_err(|_| GatewayError::Gone)?;
        }
        Ok(sent.up.response_done())
    }

    /// An answer of any length, piece by piece as it comes.
    async fn stream(
        &mut self,
        session: &mut Session,
        sent: &mut Sent,
        mut head: Option<Box<ResponseHeader>>,
    ) -> Result<bool, GatewayError> {
        loop {
            let read = sent.deadline.keep(sent.up.read_response_body());
            let read = match unless_left(session, read).await {
                Ok(read) => read,
                Err(left) => {
                    self.note_end(&mut sent.up).await;
                    return Err(left);
                }
            };
            let (mut piece, end) = match read {
                Ok(piece) => {
                    let end = piece.is_none() || sent.up.response_done();
                    (piece, end)
                }
                Err(error) => {
                    let error = self.dialer.broken(&error);
                    if head.is_some() {
                        return Err(error);
                    }
                    let event = self.answering.last_event(self.x, &error)?;
                    let written = session.write_response_body(Some(event), true).await;
                    return written.map(|()| false).map_err(|_| GatewayError::Gone);
                }
            };
            if let Some(memory) = &mut self.x.facts.memory {
                memory.before_piece().await;
            }
            self.piece(session, &mut piece, end)?;
            let over = end || self.x.delivery.is_cut_short();
            if let Some(memory) = &mut self.x.facts.memory {
                memory.after_piece(over).await;
            }
            if piece.is_some() || over {
                send_head(session, &mut head).await?;
                session.write_response_body(piece, over).await.map_err(|_| GatewayError::Gone)?;
            }
            if over {
                return Ok(end && sent.up.response_done());
            }
        }
    }

    /// Notes that nothing is left of the answer, if that is so: its caller has left.
    async fn note_end(&mut self, up: &mut HttpSession) {
        let mut rest = match tokio::time::timeout(REST, up.read_response_body()).await {
            Ok(Ok(None)) => None,
            Ok(Ok(Some(piece))) if piece.is_empty() && up.response_done() => None,
            _ => return,
        };
        drop(self.answering.chunk(self.x, &mut rest, true));
    }
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
