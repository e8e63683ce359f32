//! [`SessionBody`]: the body of a session's request, read under a limit and at the least rate.

use std::future::poll_fn;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_LENGTH, EXPECT};
use pingora::proxy::Session;
use pingora::{Error, ErrorType};

use crate::api::{BodyError, BodyRead};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::min_rate::{ByteRate, MinRate};
use crate::gateway::plan::RequestPlan;

/// How much of an unwanted body is read so that the connection can be used again, in bytes.
pub(super) const DRAIN: usize = 64 << 10;

/// How long that may take.
pub(super) const DRAIN_TIME: Duration = Duration::from_secs(2);

/// The same where the length of the body is not declared. Some clients lose an answer that comes before they have sent
/// theirs whole.
const UNDECLARED_TIME: Duration = Duration::from_millis(200);

/// A session's request body.
pub(super) struct SessionBody<'a> {
    session: &'a mut Session,
    left: usize,
    limit: usize,
    begun: bool,
    /// What was read before.
    first: Bytes,
    /// Of HTTP/1 the listener holds callers to the rate; of HTTP/2 it sees many bodies at once.
    rate: Option<MinRate>,
}

impl<'a> SessionBody<'a> {
    /// Reads at most `limit` bytes, which must come at this rate.
    pub(super) fn new(session: &'a mut Session, limit: usize, rate: ByteRate) -> Self {
        let rate = session.is_http2().then(|| MinRate::new(rate));
        Self { session, left: limit, limit, begun: false, first: Bytes::new(), rate }
    }

    /// The same for a body of which `first` has been read, if anything.
    pub(super) fn after(self, first: Bytes) -> Self {
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
            let read = match &mut self.rate {
                None => self.session.read_request_body().await,
                Some(rate) => tokio::select! {
                    biased;
                    read = self.session.read_request_body() => read,
                    () = poll_fn(|context| rate.poll_over(context)) => return Err(BodyError::Slow),
                },
            };
            let Some(piece) = read.map_err(|error| unread(&error))? else { return Ok(None) };
            self.rate.iter_mut().for_each(|rate| rate.moved(piece.len()));
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
pub(super) async fn peek(
    session: &mut Session,
    x: &mut Exchange,
    plan: &mut RequestPlan,
) -> Result<(), GatewayError> {
    if !plan.must_show_kind() {
        return Ok(());
    }
    session.as_mut().enable_retry_buffering();
    let first = SessionBody::new(session, usize::MAX, x.body_rate()).next().await?;
    // Leave to send was given.
    x.head_mut().remove_header(&EXPECT);
    let ended = first.is_none() || session.is_body_done();
    plan.body_begins(x, first.unwrap_or_default(), ended)
}

/// Why a body cannot be read further: Pingora's own time-out, or what the front says of the bytes.
pub(super) fn unread(error: &Error) -> BodyError {
    match (error.etype(), error.root_cause().downcast_ref::<io::Error>().map(io::Error::kind)) {
        (ErrorType::ReadTimedout, _) | (_, Some(io::ErrorKind::TimedOut)) => BodyError::Slow,
        (_, Some(io::ErrorKind::InvalidData)) => BodyError::Malformed,
        _ => BodyError::Gone,
    }
}

/// Reads what is left of a small request body; `false` when there is too much of it, or it comes too slowly.
pub(super) async fn drained(session: &mut Session) -> bool {
    if session.is_body_done() {
        return true;
    }
    let head = session.req_header();
    let declared =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let waits = head.headers.contains_key(EXPECT);
    let time = match declared {
        Some(length) if length <= DRAIN => DRAIN_TIME,
        // Of HTTP/1 it may be what was just refused for its chunks, of which nothing more is read.
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
