//! Drives a native terminal over a session: the handler gets the body under the route's cap, and its answer passes
//! through the same response half of the chain as any upstream's.

use std::future::poll_fn;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::api::{Answer, ApiError, Body, BodyError, BodyRead, BoxFuture, Call, Handler};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::min_rate::MinRate;
use crate::store::Pieces;
use crate::telemetry::trace::within;

/// How much of a body that nobody wants is read so that the connection can be used again, in bytes.
pub(super) const DRAIN: usize = 64 << 10;

/// How long that may take.
pub(super) const DRAIN_TIME: Duration = Duration::from_secs(2);

/// The same where nobody knows how long the body will be. Some clients lose an answer that comes before they have sent
/// theirs whole.
const UNDECLARED_TIME: Duration = Duration::from_millis(200);

/// A session's request body.
pub struct SessionBody<'a> {
    session: &'a mut Session,
    left: usize,
    limit: usize,
    begun: bool,
    /// What was read before.
    first: Bytes,
    /// Of HTTP/1 the front keeps the pace; of HTTP/2 it sees many bodies at once.
    pace: Option<MinRate>,
}

impl<'a> SessionBody<'a> {
    /// Reads at most `limit` bytes; `pace` is how many must come a second, and how long it may be fewer.
    pub fn new(session: &'a mut Session, limit: usize, pace: (usize, Duration)) -> Self {
        let pace = session.is_http2().then(|| MinRate::new(pace.0, pace.1));
        Self { session, left: limit, limit, begun: false, first: Bytes::new(), pace }
    }

    /// The same for a body of which `first` has been read, if anything.
    pub fn after(self, first: Bytes) -> Self {
        Self { first, ..self }
    }

    /// A length that is declared too large is refused unread; a caller that waits for leave to send gets it.
    async fn begin(&mut self) -> Result<(), BodyError> {
        let head = self.session.req_header();
        let declared =
            head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        if declared.is_some_and(|length| length > self.limit) {
            return Err(BodyError::TooLarge(self.limit));
        }
        let waits = head
            .headers
            .get(EXPECT)
            .is_some_and(|what| what.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        if waits && self.first.is_empty() && !self.session.is_body_empty() {
            self.session.write_continue_response().await.map_err(|_| BodyError::Gone)?;
        }
        Ok(())
    }
}

impl BodyRead for SessionBody<'_> {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, BodyError>> {
        Box::pin(async move {
            if !self.begun {
                self.begun = true;
                self.begin().await?;
                if !self.first.is_empty() {
                    let first = std::mem::take(&mut self.first);
                    self.left = self.left.checked_sub(first.len()).ok_or(BodyError::TooLarge(self.limit))?;
                    return Ok(Some(first));
                }
            }
            let read = match &mut self.pace {
                None => self.session.read_request_body().await,
                Some(pace) => tokio::select! {
                    biased;
                    read = self.session.read_request_body() => read,
                    () = poll_fn(|context| pace.poll_over(context)) => return Err(BodyError::Slow),
                },
            };
            let Some(piece) = read.map_err(|error| unread(&error))? else { return Ok(None) };
            self.pace.iter_mut().for_each(|pace| pace.moved(piece.len()));
            self.left = self.left.checked_sub(piece.len()).ok_or(BodyError::TooLarge(self.limit))?;
            Ok(Some(piece))
        })
    }

    fn left(&mut self) -> BoxFuture<'_, ()> {
        // One that has sent its request and closes its half of the connection has left.
        Box::pin(async move { drop(self.session.downstream_session.read_body_or_idle(true).await) })
    }
}

/// Reads how a request's body begins, if its head does not say what it is. Pingora gives that to the upstream again.
///
/// # Errors
/// A body that cannot be read, or that the route does not pass.
pub async fn peek(session: &mut Session, x: &mut Exchange) -> Result<(), GatewayError> {
    if !x.is_unsure() {
        return Ok(());
    }
    session.as_mut().enable_retry_buffering();
    let first = SessionBody::new(session, usize::MAX, x.pace()).next().await?;
    // Leave to send was given.
    x.head_mut().remove_header(&EXPECT);
    let ended = first.is_none() || session.is_body_done();
    x.begins(first.unwrap_or_default(), ended)
}

/// Why a body cannot be read further: Pingora's own time-out, or what the front says of the bytes.
pub fn unread(error: &Error) -> BodyError {
    match (error.etype(), error.root_cause().downcast_ref::<io::Error>().map(io::Error::kind)) {
        (ErrorType::ReadTimedout, _) | (_, Some(io::ErrorKind::TimedOut)) => BodyError::Slow,
        (_, Some(io::ErrorKind::InvalidData)) => BodyError::Malformed,
        _ => BodyError::Gone,
    }
}

/// Calls the handler and sends its answer.
///
/// # Errors
/// A fault of the chain's response half, or a caller that left.
pub async fn run(session: &mut Session, x: &mut Exchange, handler: &dyn Handler) -> Result<(), GatewayError> {
    let limit = x.route().max_body.unwrap_or(usize::MAX);
    let answer = {
        let mut body = SessionBody::new(session, limit, x.pace());
        let head = x.head().as_owned_parts();
        let call = Call {
            who: x.facts.who.as_ref(),
            id: &x.id,
            received: x.received,
            clock: x.clock(),
            head: &head,
            body: &mut body,
            budget: &x.budget,
        };
        within(x.place(), handler.call(call)).await
    };
    send(session, x, answer).await
}

/// Sends an answer of ours through the response half of the chain.
///
/// # Errors
/// A filter's fault, or a caller that left.
pub async fn send(session: &mut Session, x: &mut Exchange, answer: Answer) -> Result<(), GatewayError> {
    let mut head = head_of(&answer).map_err(|_| GatewayError::Gone)?;
    let rewritten = x.answer_head(&mut head).await?;
    let mut body = match answer.body {
        Body::Whole(bytes) => Some(bytes),
        Body::Stream(pieces) => return stream(session, x, head, (pieces, rewritten)).await,
    };
    if rewritten {
        x.answer_chunk(&mut body, true)?;
        let length = body.as_ref().map_or(0, Bytes::len);
        head.remove_header(&http::header::TRANSFER_ENCODING);
        drop(head.insert_header(CONTENT_LENGTH, length));
    }
    write(session, x, head, body).await.map_err(|_| GatewayError::Gone)
}

/// The head of the answer, if it is on its way. Leave to send a body and early hints are none (RFC 9110 section 15.2).
pub(super) fn answered(session: &Session) -> Option<&ResponseHeader> {
    let last = |head: &&ResponseHeader| {
        !head.status.is_informational() || head.status == StatusCode::SWITCHING_PROTOCOLS
    };
    session.response_written().filter(last)
}

/// Sends the answer for a fault, if the caller has had nothing yet; it does not pass the filters, one of which may
/// have raised it.
///
/// # Errors
/// Pingora's: the connection is of no more use.
pub async fn rescue(session: &mut Session, x: &mut Exchange, fault: GatewayError) -> Result<()> {
    if answered(session).is_some() || matches!(fault, GatewayError::Left) {
        let word = fault.word();
        x.carry(fault);
        return Err(Error::explain(ErrorType::InternalError, word));
    }
    let answer = x.rescue(fault);
    let head = head_of(&answer)?;
    let body = match answer.body {
        Body::Whole(bytes) => Some(bytes),
        Body::Stream(_) => None,
    };
    write(session, x, head, body).await
}

/// Sends a body piece by piece. One that breaks off leaves the connection broken, so that the caller does not take
/// half of it for the whole.
async fn stream(
    session: &mut Session,
    x: &mut Exchange,
    head: ResponseHeader,
    (mut pieces, rewritten): (Box<dyn Pieces>, bool),
) -> Result<(), GatewayError> {
    if !has_body(&x.head().method, head.status) {
        return write(session, x, head, None).await.map_err(|_| GatewayError::Gone);
    }
    let head = prepared(session, head).await;
    session.write_response_header(Box::new(head), false).await.map_err(|_| GatewayError::Gone)?;
    loop {
        let mut piece = pieces.next().await.map_err(|_| GatewayError::Api(ApiError::Internal("files")))?;
        let end = piece.is_none();
        if rewritten {
            x.answer_chunk(&mut piece, end)?;
        }
        if end || piece.is_some() {
            session.write_response_body(piece, end).await.map_err(|_| GatewayError::Gone)?;
        }
        if end {
            return Ok(());
        }
    }
}

fn head_of(answer: &Answer) -> Result<ResponseHeader> {
    let mut head = ResponseHeader::build(answer.status, Some(answer.headers.len()))?;
    for (name, value) in &answer.headers {
        head.append_header(name.clone(), value.clone())?;
    }
    Ok(head)
}

async fn write(session: &mut Session, x: &Exchange, head: ResponseHeader, body: Option<Bytes>) -> Result<()> {
    let body = body.filter(|body| !body.is_empty() && has_body(&x.head().method, head.status));
    let head = prepared(session, head).await;
    session.write_response_header(Box::new(head), body.is_none()).await?;
    match body {
        Some(body) => session.write_response_body(Some(body), true).await,
        None => session.write_response_body(None, true).await,
    }
}

/// The head as this connection needs it.
async fn prepared(session: &mut Session, mut head: ResponseHeader) -> ResponseHeader {
    if head.headers.get(CONNECTION).is_some_and(|value| value.as_bytes() == b"close")
        || !drained(session).await
    {
        session.set_keepalive(None);
        drop(head.insert_header(CONNECTION, "close"));
    }
    if session.is_http2() {
        head.remove_header(&CONNECTION);
    }
    head
}

/// Reads what is left of a small request body; `false` when there is too much of it, or it comes too slowly.
async fn drained(session: &mut Session) -> bool {
    if session.is_body_done() {
        return true;
    }
    let head = session.req_header();
    let declared =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let waits = head.headers.contains_key(EXPECT);
    let time = match declared {
        Some(length) if length <= DRAIN => DRAIN_TIME,
        // Of HTTP/1 it may be what was just refused for its chunks: nothing more is read of that.
        None if session.is_http2() => UNDECLARED_TIME,
        _ => return false,
    };
    if waits {
        return false;
    }
    matches!(tokio::time::timeout(time, ended(session)).await, Ok(true))
}

/// Whether the body ends before it is too long.
async fn ended(session: &mut Session) -> bool {
    let mut left = DRAIN;
    while let Ok(piece) = session.read_request_body().await {
        let Some(piece) = piece else { return true };
        let Some(less) = left.checked_sub(piece.len()) else { return false };
        left = less;
    }
    false
}
