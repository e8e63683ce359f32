//! A collected request, sent by ourselves over Pingora's connector: exact length, our own retry, and an answer loop that
//! may await. Requests of LLM protocols are always sent this way.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::Version;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use pingora::Result;
use pingora::connectors::http::Connector;
use pingora::http::ResponseHeader;
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use tokio::time::timeout;

use crate::gateway::answer_framing::frame_answer;
use crate::gateway::collected_body::CollectedBody;
use crate::gateway::dialer::{Dialer, PoolDialer};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::filter::Flow;
use crate::gateway::native;
use crate::gateway::plan::RequestPlan;
use crate::gateway::sending::{SendPath, SentRequest, send, unless_left};
use crate::gateway::state::{ActiveRequest, Answering, PAUSE, RequestState, Routed};
use crate::gateway::upstream::strip_hop_by_hop;

/// How much of an answer's body may be read before its head is sent, so that it can have an exact length, in bytes.
const WHOLE_ANSWER: usize = 64 << 10;

/// How long the end of an answer is awaited whose caller left: it may have had all that matters.
const RETRY_AFTER: Duration = Duration::from_millis(50);

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
    request.state = RequestState::Collected;
    let mut collected = CollectedBody::read(session, &request.x, &mut routed, limit).await?;
    request.x.read_call(&collected.document.original);
    // Filters may wait for somebody else's answer.
    let filtered = request.chain.collected(&mut request.x, &mut collected.document);
    if let Flow::Answer(answer) = Box::pin(unless_left(session, filtered)).await?? {
        return native::send(session, request, answer).await;
    }
    if request.x.facts.models.is_some() && request.x.upstream().is_some() {
        return by_models(session, request, collected, &routed.plan, connector).await;
    }
    let body = collected.into_body(&mut request.x, &routed.plan)?;
    let mut via = SendPath { dialer, connector, upgrade: None };
    let sent = Box::pin(send(session, &mut request.x, &mut via, &body.bytes)).await?;
    drop(body);
    finish(session, request, sent, via).await
}

/// Sends a collected request to the models that stand for the one that it asks, one after the other, until one answers.
async fn by_models(
    session: &mut Session,
    request: &mut ActiveRequest,
    mut collected: CollectedBody,
    plan: &RequestPlan,
    connector: &Connector,
) -> Result<(), GatewayError> {
    loop {
        let target = request.x.facts.models.as_ref().and_then(|models| models.target());
        let model = target.map(|target| target.model.clone());
        let upstream = request.x.upstream().ok_or(GatewayError::Gone)?;
        let mut dialer = PoolDialer::new(Arc::clone(upstream));
        let bytes = collected.for_upstream(&mut request.x, plan, model.as_deref())?;
        let mut via = SendPath { dialer: &mut dialer, connector, upgrade: None };
        let sent = Box::pin(send(session, &mut request.x, &mut via, &bytes)).await;
        let models = request.x.facts.models.as_mut();
        match sent {
            Ok(mut sent) => {
                let status = sent.head.status;
                if models.is_some_and(|models| models.goes_on_after(status.as_u16())) {
                    dialer.answered(status);
                    sent.up.shutdown().await;
                    request.x.falls_back();
                    continue;
                }
                drop((bytes, collected));
                return finish(session, request, sent, via).await;
            }
            Err(error) if models.is_some_and(|models| models.goes_on_without(&error)) => {
                request.x.falls_back()
            }
            Err(error) => return Err(error),
        }
    }
}

/// Brings an answer back, and keeps the upstream's connection if it can be used again.
pub(super) async fn finish(
    session: &mut Session,
    request: &mut ActiveRequest,
    mut sent: SentRequest,
    via: SendPath<'_>,
) -> Result<(), GatewayError> {
    let SendPath { dialer, connector, .. } = via;
    let whole = answer(session, request, dialer, &mut sent).await;
    if matches!(whole, Ok(true)) && sent.whole {
        let SentRequest { up, peer, .. } = sent;
        connector.release_http_session(up, &peer, peer.options.idle_timeout).await;
    } else {
        sent.up.shutdown().await;
    }
    whole.map(drop)
}

/// Brings the answer back. `true`: whole, and the connection may serve another request.
async fn answer(
    session: &mut Session,
    request: &mut ActiveRequest,
    dialer: &mut dyn Dialer,
    sent: &mut SentRequest,
) -> Result<bool, GatewayError> {
    let mut head =
        std::mem::replace(&mut sent.head, ResponseHeader::build(200, None).map_err(|_| GatewayError::Gone)?);
    // Nobody has asked for another protocol.
    frame_answer(&mut head, false)?;
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    head.set_version(Version::HTTP_11);
    dialer.answer_head(session, &mut head).await?;
    let known =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let (x, answering) = request.answer(&mut head).await?;
    if !has_body(&x.head().method, head.status) {
        write_head(session, Box::new(head), true).await?;
        return Ok(sent.up.response_done());
    }
    let is_small = known.is_some_and(|length| length <= WHOLE_ANSWER);
    let (rewrites, edits) = (answering.rewrites(), answering.edits());
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
    if !edits || relay.answering.is_stream() {
        send_head(session, &mut head).await?;
    }
    relay.stream(session, sent, head).await
}

/// Writes the head of an answer; `end`: there is no body.
async fn write_head(session: &mut Session, head: Box<ResponseHeader>, end: bool) -> Result<(), GatewayError> {
    native::close_if_draining(session);
    session.write_response_header(head, end).await.map_err(|_| GatewayError::Gone)
}

/// Sends the head of an answer, unless that is done.
async fn send_head(
    session: &mut Session,
    head: &mut Option<Box<ResponseHeader>>,
) -> Result<(), GatewayError> {
    match head.take() {
        Some(head) => write_head(session, head, false).await,
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
        sent: &mut SentRequest,
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
        write_head(session, Box::new(head), out.is_empty()).await?;
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
        sent: &mut SentRequest,
        mut head: Option<Box<ResponseHeader>>,
    ) -> Result<bool, GatewayError> {
        loop {
            let read = match self.read(session, sent, &mut head).await {
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

    /// The next piece as it comes. Where it lets wait for itself, what waits for it is sent.
    async fn read(
        &mut self,
        session: &mut Session,
        sent: &mut SentRequest,
        head: &mut Option<Box<ResponseHeader>>,
    ) -> Result<Result<Option<Bytes>>, GatewayError> {
        let mut read = pin!(sent.deadline.keep(sent.up.read_response_body()));
        if self.answering.waits() {
            if let Ok(read) = timeout(PAUSE, unless_left(session, read.as_mut())).await {
                return read;
            }
            if let Some(piece) = self.answering.release(self.x)? {
                send_head(session, head).await?;
                let written = session.write_response_body(Some(piece), false).await;
                written.map_err(|_| GatewayError::Gone)?;
            }
            if self.x.delivery.is_cut_short() {
                return Ok(Ok(None));
            }
        }
        unless_left(session, read).await
    }

    /// Notes that nothing is left of the answer, if that is so: its caller has left.
    async fn note_end(&mut self, up: &mut HttpSession) {
        let mut rest = match timeout(RETRY_AFTER, up.read_response_body()).await {
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
