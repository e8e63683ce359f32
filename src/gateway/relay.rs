//! A collected request, sent by ourselves over Pingora's connector: exact length, our own retry, and an answer loop
//! that may await. LLM protocols always take this road.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::Version;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use pingora::connectors::http::Connector;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, Result};

use crate::api::Collected;
use crate::base::clock::SharedClock;
use crate::gateway::body::{self, Unpack};
use crate::gateway::dialer::{Dialer, Progress, Times};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, WHOLE_ANSWER, has_body};
use crate::gateway::filter::{Document, Flow};
use crate::gateway::native::{self, SessionBody};
use crate::gateway::terminal::Terminal;
use crate::gateway::upstream::strip_hop_by_hop;
use crate::stream::codec::Coding;
use crate::telemetry::Scan;

/// How much of a body is written at once, in bytes: each such write may take as long as the write time-out says.
const PIECE: usize = 64 << 10;

/// How long an answer is looked for once the request could not be written to its end.
const EARLY: Duration = Duration::from_secs(1);

/// Where a collected request goes.
pub struct Road<'a> {
    /// Who knows the peers.
    pub dialer: &'a mut dyn Dialer,
    /// Makes and keeps connections.
    pub connector: &'a Connector,
    /// How much of the body is collected, in bytes.
    pub limit: usize,
}

/// Collects, judges, sends, and brings the answer back.
///
/// # Errors
/// A fault before the first byte of the answer, or a caller that left. What happens after it has been told to the
/// caller already.
pub async fn run(session: &mut Session, x: &mut Exchange, mut road: Road<'_>) -> Result<(), GatewayError> {
    let pace = x.pace();
    let mut body = SessionBody::new(session, road.limit, pace).after(x.began());
    let mut body = Collected::read(&mut body, road.limit, &x.budget).await?;
    let codings = body::codings(&x.head().headers).map_err(|_| {
        GatewayError::Api(crate::api::ApiError::UnsupportedMediaType(
            "Send the body in gzip, deflate, br, zstd or no coding",
        ))
    })?;
    let unpack = Unpack { codings: &codings, limit: road.limit, budget: &x.budget };
    let original = body::decode(&body.bytes, &unpack).map_err(GatewayError::of_request)?;
    let mut document = Document { original, rewritten: None };
    if let Flow::Answer(answer) = x.collected(&mut document).await? {
        return native::send(session, x, answer).await;
    }
    // What a coding says besides the body (a file's name, a comment, a frame to be skipped) was not looked at.
    if document.rewritten.is_some() || !codings.is_empty() && x.request_scan == Scan::Scanned {
        body.replace(recoded(x, document.current(), &codings)?)?;
    }
    drop(document);
    let mut sent = Box::pin(send(session, x, &mut road, &body.bytes)).await?;
    drop(body);
    let whole = answer(session, x, &mut road, &mut sent).await;
    if matches!(whole, Ok(true)) && sent.whole {
        let Sent { up, peer, .. } = sent;
        road.connector.release_http_session(up, &peer, peer.options.idle_timeout).await;
    } else {
        sent.up.shutdown().await;
    }
    whole.map(drop)
}

fn recoded(x: &Exchange, plain: &Bytes, codings: &[Coding]) -> Result<Bytes, GatewayError> {
    if codings.is_empty() {
        Ok(plain.clone())
    } else {
        body::encode(plain, codings, &x.budget).map_err(GatewayError::of_request)
    }
}

/// How long the end of an answer is looked for whose caller left: it may have had all that matters.
const REST: Duration = Duration::from_millis(50);

/// A request that is on its way, up to the head of its answer.
struct Sent {
    up: HttpSession,
    peer: HttpPeer,
    head: ResponseHeader,
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

/// Sends the request; again only if the way says that the upstream cannot have acted on it.
async fn send(
    session: &mut Session,
    x: &mut Exchange,
    road: &mut Road<'_>,
    body: &Bytes,
) -> Result<Sent, GatewayError> {
    road.dialer.admit().await?;
    let mut deadline: Option<Deadline> = None;
    let method = x.head().method.clone();
    loop {
        if let Terminal::Upstream(upstream) = x.route().terminal.clone() {
            x.attempt(&upstream);
        }
        let peer = road.dialer.peer(session).await?;
        let times = road.dialer.times(&peer);
        let deadline = deadline.get_or_insert_with(|| Deadline::after(times.total, x.clock())).clone();
        let mut how =
            Progress { peer: &peer, connected: false, reused: false, unsent: true, method: &method };
        let (mut up, reused) = match Box::pin(deadline.keep(road.connector.get_http_session(&peer))).await {
            Ok(got) => got,
            Err(error) => {
                road.dialer.failed(session, error, how)?;
                continue;
            }
        };
        let mut head = x.head().clone();
        road.dialer.head(session, &mut head).await?;
        x.pass_trace(&mut head);
        let body = road.dialer.body(session, body.clone()).await?;
        framed(&mut head, body.len(), up.as_http2().is_some())
            .map_err(|_| GatewayError::BadBody("the request's head cannot be forwarded"))?;
        (how.connected, how.reused) = (true, reused);
        let exchanged = Box::pin(exchanged(&mut up, (head, body), (times, &deadline)));
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
                road.dialer.failed(session, error, Progress { unsent, ..how })?;
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

fn framed(head: &mut RequestHeader, length: usize, http2: bool) -> Result<()> {
    head.remove_header(&TRANSFER_ENCODING);
    head.remove_header(&EXPECT);
    head.set_version(if http2 { Version::HTTP_2 } else { Version::HTTP_11 });
    head.insert_header(CONTENT_LENGTH, length)?;
    if length == 0 {
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

/// Sends head and body, and waits for the head of the answer. Also says whether the body left to its end.
async fn exchanged(
    up: &mut HttpSession,
    (head, body): (RequestHeader, Bytes),
    (times, deadline): (Times, &Deadline),
) -> Result<(ResponseHeader, bool), Unanswered> {
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
    x: &mut Exchange,
    road: &mut Road<'_>,
    sent: &mut Sent,
) -> Result<bool, GatewayError> {
    let mut head =
        std::mem::replace(&mut sent.head, ResponseHeader::build(200, None).map_err(|_| GatewayError::Gone)?);
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    head.set_version(Version::HTTP_11);
    road.dialer.answer_head(session, &mut head).await?;
    let known =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let rewritten = x.answer_head(&mut head).await?;
    if !has_body(&x.head().method, head.status) {
        let written = session.write_response_header(Box::new(head), true).await;
        return written.map(|()| sent.up.response_done()).map_err(|_| GatewayError::Gone);
    }
    if rewritten && known.is_some_and(|length| length <= WHOLE_ANSWER) {
        return whole(session, x, road, (sent, head)).await;
    }
    if known.is_none()
        && !head.headers.contains_key(TRANSFER_ENCODING)
        && x.head().version == Version::HTTP_11
    {
        drop(head.insert_header(TRANSFER_ENCODING, "chunked"));
    }
    session.write_response_header(Box::new(head), false).await.map_err(|_| GatewayError::Gone)?;
    stream(session, x, road, sent).await
}

/// A small answer: read whole, so that its head can give an exact length.
async fn whole(
    session: &mut Session,
    x: &mut Exchange,
    road: &mut Road<'_>,
    answer: (&mut Sent, ResponseHeader),
) -> Result<bool, GatewayError> {
    let (sent, mut head) = answer;
    let mut out = BytesMut::new();
    loop {
        let read = sent.deadline.keep(sent.up.read_response_body());
        let read = unless_left(session, read).await?;
        let mut piece = read.map_err(|error| road.dialer.broken(&error))?;
        let end = piece.is_none() || sent.up.response_done();
        road.dialer.answer_piece(session, &mut piece, end)?;
        x.answer_chunk(&mut piece, end)?;
        out.extend_from_slice(piece.as_deref().unwrap_or_default());
        if end {
            break;
        }
    }
    head.remove_header(&TRANSFER_ENCODING);
    head.insert_header(CONTENT_LENGTH, out.len()).map_err(|_| GatewayError::Gone)?;
    session.write_response_header(Box::new(head), out.is_empty()).await.map_err(|_| GatewayError::Gone)?;
    if !out.is_empty() {
        session.write_response_body(Some(out.freeze()), true).await.map_err(|_| GatewayError::Gone)?;
    }
    Ok(sent.up.response_done())
}

/// Tells `x` if nothing is left of the answer.
async fn see_the_end(x: &mut Exchange, up: &mut HttpSession) {
    let mut rest = match tokio::time::timeout(REST, up.read_response_body()).await {
        Ok(Ok(None)) => None,
        Ok(Ok(Some(piece))) if piece.is_empty() && up.response_done() => None,
        _ => return,
    };
    drop(x.answer_chunk(&mut rest, true));
}

/// An answer of any length, piece by piece as it comes.
async fn stream(
    session: &mut Session,
    x: &mut Exchange,
    road: &mut Road<'_>,
    sent: &mut Sent,
) -> Result<bool, GatewayError> {
    loop {
        let read = sent.deadline.keep(sent.up.read_response_body());
        let read = match unless_left(session, read).await {
            Ok(read) => read,
            Err(left) => {
                see_the_end(x, &mut sent.up).await;
                return Err(left);
            }
        };
        let (mut piece, end) = match read {
            Ok(piece) => {
                let end = piece.is_none() || sent.up.response_done();
                (piece, end)
            }
            Err(error) => {
                let fault = road.dialer.broken(&error);
                let words = x.last_words(&fault)?;
                session.write_response_body(Some(words), true).await.map_err(|_| GatewayError::Gone)?;
                return Ok(false);
            }
        };
        road.dialer.answer_piece(session, &mut piece, end)?;
        x.answer_chunk(&mut piece, end)?;
        let over = end || x.silenced();
        if piece.is_some() || over {
            session.write_response_body(piece, over).await.map_err(|_| GatewayError::Gone)?;
        }
        if over {
            return Ok(end && sent.up.response_done());
        }
    }
}
