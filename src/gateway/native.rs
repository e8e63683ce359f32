//! Answers of our own over a session: those of our endpoints, of filters, and of errors.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};

use crate::api::incoming::stored;
use crate::api::{ApiAnswer, ApiCall, Body, Handler};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::session_body::{SessionBody, drained};
use crate::gateway::state::ActiveRequest;
use crate::store::ByteStream;
use crate::telemetry::trace::within;

/// Calls the handler, which gets the body under the route's limit, and sends its answer.
///
/// # Errors
/// An error of the response half of the filters, or a caller that left.
pub(super) async fn run(
    session: &mut Session,
    request: &mut ActiveRequest,
    handler: &dyn Handler,
) -> Result<(), GatewayError> {
    let x = &request.x;
    let limit = x.route().max_body.unwrap_or(usize::MAX);
    let answer = {
        let mut body = SessionBody::new(session, limit, x.body_rate());
        let head = x.head().as_owned_parts();
        let call = ApiCall {
            who: x.facts.principal.as_ref(),
            caller: x.caller(),
            id: &x.id,
            received: x.received,
            clock: x.clock(),
            head: &head,
            body: &mut body,
            budget: &x.budget,
        };
        within(x.trace.place(), handler.call(call)).await
    };
    send(session, request, answer).await
}

/// Sends an answer of ours through the response half of the filters, as any upstream's.
///
/// # Errors
/// A filter's error, or a caller that left.
pub(super) async fn send(
    session: &mut Session,
    request: &mut ActiveRequest,
    answer: ApiAnswer,
) -> Result<(), GatewayError> {
    let mut head = head_of(&answer).map_err(|_| GatewayError::Gone)?;
    let (x, answering) = request.answer(&mut head).await?;
    let mut body = match answer.body {
        Body::Whole(bytes) => Some(bytes),
        Body::Stream(pieces) => return stream(session, request, head, pieces).await,
    };
    if answering.rewrites() {
        answering.chunk(x, &mut body, true)?;
        let length = body.as_ref().map_or(0, Bytes::len);
        head.remove_header(&TRANSFER_ENCODING);
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

/// Sends the answer for an error, if the caller has had nothing yet.
///
/// # Errors
/// Pingora's: the connection is of no more use.
pub(super) async fn send_error(
    session: &mut Session,
    request: &mut ActiveRequest,
    error: GatewayError,
) -> Result<()> {
    if answered(session).is_some() || matches!(error, GatewayError::Left) {
        let word = error.word();
        drop(request.carry(error));
        return Err(Error::explain(ErrorType::InternalError, word));
    }
    let answer = request.error_answer(error);
    let head = head_of(&answer)?;
    let body = match answer.body {
        Body::Whole(bytes) => Some(bytes),
        Body::Stream(_) => None,
    };
    write(session, &request.x, head, body).await
}

/// Sends a body piece by piece. One that breaks off leaves the connection broken, so that the caller does not take
/// half of it for the whole.
async fn stream(
    session: &mut Session,
    request: &mut ActiveRequest,
    head: ResponseHeader,
    mut pieces: Box<dyn ByteStream>,
) -> Result<(), GatewayError> {
    let (x, answering) = request.answering()?;
    let rewritten = answering.rewrites();
    if !has_body(&x.head().method, head.status) {
        return write(session, x, head, None).await.map_err(|_| GatewayError::Gone);
    }
    let head = prepared(session, head).await;
    session.write_response_header(Box::new(head), false).await.map_err(|_| GatewayError::Gone)?;
    loop {
        let mut piece = pieces.next().await.map_err(|error| GatewayError::Api(stored(&error)))?;
        let end = piece.is_none();
        if rewritten {
            answering.chunk(x, &mut piece, end)?;
        }
        if end || piece.is_some() {
            session.write_response_body(piece, end).await.map_err(|_| GatewayError::Gone)?;
        }
        if end {
            return Ok(());
        }
    }
}

/// The head of an answer.
///
/// # Errors
/// Pingora's, for a head that cannot be written.
pub(super) fn head_of(answer: &ApiAnswer) -> Result<ResponseHeader> {
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

/// Of a process that drains, the answer is its connection's last, and says so. To be called before its head is written.
pub(super) fn close_if_draining(session: &mut Session) {
    if session.is_process_shutting_down() {
        session.set_keepalive(None);
    }
}

/// The head as this connection needs it.
async fn prepared(session: &mut Session, mut head: ResponseHeader) -> ResponseHeader {
    close_if_draining(session);
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

#[cfg(test)]
#[path = "native_tests.rs"]
mod tests;
