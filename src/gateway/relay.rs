//! A collected request, sent by ourselves over Pingora's connector: exact length, our own retry, and an answer loop
//! that may await. LLM protocols always take this road.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::Version;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use pingora::connectors::http::Connector;
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, Result};

use crate::api::Collected;
use crate::gateway::body::{self, Unpack};
use crate::gateway::exchange::{Exchange, WHOLE_ANSWER, has_body};
use crate::gateway::fault::Fault;
use crate::gateway::filter::{Document, Flow};
use crate::gateway::native::{self, SessionBody};
use crate::gateway::upstream::{Upstream, strip_hop_by_hop};
use crate::stream::codec::Coding;
use crate::telemetry::UpstreamFailure;

/// Where a collected request goes.
pub struct Road<'a> {
    /// The pool.
    pub upstream: Arc<Upstream>,
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
pub async fn run(session: &mut Session, x: &mut Exchange, road: Road<'_>) -> Result<(), Fault> {
    let pace = x.pace();
    let mut body = SessionBody::new(session, road.limit, pace);
    let mut body = Collected::read(&mut body, road.limit, &x.budget).await?;
    let codings = body::codings(&x.head().headers).map_err(|_| {
        Fault::Api(crate::api::ApiError::UnsupportedMediaType(
            "Send the body in gzip, deflate, br, zstd or no coding",
        ))
    })?;
    let unpack = Unpack { codings: &codings, limit: road.limit, budget: &x.budget };
    let original = body::decode(&body.bytes, &unpack).map_err(Fault::of_request)?;
    let mut document = Document { original, rewritten: None };
    if let Flow::Answer(answer) = x.asked(&mut document).await? {
        return native::send(session, x, answer).await;
    }
    if let Some(rewritten) = document.rewritten.take() {
        body.replace(recoded(x, &rewritten, &codings)?)?;
    }
    drop(document);
    let mut sent = send(x, &road, &body.bytes).await?;
    drop(body);
    let whole = answer(session, x, &road, &mut sent).await;
    if matches!(whole, Ok(true)) {
        let Sent { up, peer, .. } = sent;
        road.connector.release_http_session(up, &peer, peer.options.idle_timeout).await;
    } else {
        sent.up.shutdown().await;
    }
    whole.map(drop)
}

fn recoded(x: &Exchange, plain: &Bytes, codings: &[Coding]) -> Result<Bytes, Fault> {
    if codings.is_empty() {
        Ok(plain.clone())
    } else {
        body::encode(plain, codings, &x.budget).map_err(Fault::of_request)
    }
}

/// A request that is on its way, up to the head of its answer.
struct Sent {
    up: HttpSession,
    peer: HttpPeer,
    head: ResponseHeader,
}

/// Sends the request. Another peer is tried only while no byte of it has left: an upstream may act on half a
/// request.
async fn send(x: &mut Exchange, road: &Road<'_>, body: &Bytes) -> Result<Sent, Fault> {
    let upstream = &road.upstream;
    let mut attempt = 1;
    let (mut up, peer, authority) = loop {
        let chosen = upstream.choose().await?;
        let Some(peer) = chosen.dial() else { return Err(upstream.failed(UpstreamFailure::Connect)) };
        match road.connector.get_http_session(peer).await {
            Ok((up, _)) => break (up, peer.clone(), chosen.authority.clone()),
            Err(error) if attempt >= upstream.size().max(2) => return Err(upstream.error(&error)),
            Err(error) => drop(upstream.error(&error)),
        }
        attempt += 1;
    };
    let mut head = x.head().clone();
    let dressed = upstream
        .dress(&mut head, &authority)
        .and_then(|()| framed(&mut head, body.len(), up.as_http2().is_some()));
    dressed.map_err(|_| Fault::BadBody("the request's head cannot be forwarded"))?;
    up.set_read_timeout(peer.options.read_timeout);
    up.set_write_timeout(peer.options.write_timeout);
    match exchange_heads(&mut up, head, body).await {
        Ok(head) => Ok(Sent { up, peer, head }),
        Err(error) => {
            up.shutdown().await;
            Err(upstream.error(&error))
        }
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

async fn exchange_heads(up: &mut HttpSession, head: RequestHeader, body: &Bytes) -> Result<ResponseHeader> {
    up.write_request_header(Box::new(head)).await?;
    if !body.is_empty() {
        up.write_request_body(body.clone(), true).await?;
    }
    up.finish_request_body().await?;
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
    road: &Road<'_>,
    sent: &mut Sent,
) -> Result<bool, Fault> {
    let mut head =
        std::mem::replace(&mut sent.head, ResponseHeader::build(200, None).map_err(|_| Fault::Gone)?);
    strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
    head.set_version(Version::HTTP_11);
    let known =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let rewritten = x.answer_head(&mut head).await?;
    if !has_body(&x.head().method, head.status) {
        let written = session.write_response_header(Box::new(head), true).await;
        return written.map(|()| sent.up.response_done()).map_err(|_| Fault::Gone);
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
    session.write_response_header(Box::new(head), false).await.map_err(|_| Fault::Gone)?;
    stream(session, x, road, sent).await
}

/// A small answer: read whole, so that its head can give an exact length.
async fn whole(
    session: &mut Session,
    x: &mut Exchange,
    road: &Road<'_>,
    answer: (&mut Sent, ResponseHeader),
) -> Result<bool, Fault> {
    let (sent, mut head) = answer;
    let mut out = BytesMut::new();
    loop {
        let piece = sent.up.read_response_body().await.map_err(|error| road.upstream.error(&error))?;
        let end = piece.is_none() || sent.up.response_done();
        let mut piece = piece;
        x.answer_chunk(&mut piece, end)?;
        out.extend_from_slice(piece.as_deref().unwrap_or_default());
        if end {
            break;
        }
    }
    head.remove_header(&TRANSFER_ENCODING);
    head.insert_header(CONTENT_LENGTH, out.len()).map_err(|_| Fault::Gone)?;
    session.write_response_header(Box::new(head), out.is_empty()).await.map_err(|_| Fault::Gone)?;
    if !out.is_empty() {
        session.write_response_body(Some(out.freeze()), true).await.map_err(|_| Fault::Gone)?;
    }
    Ok(sent.up.response_done())
}

/// An answer of any length, piece by piece as it comes.
async fn stream(
    session: &mut Session,
    x: &mut Exchange,
    road: &Road<'_>,
    sent: &mut Sent,
) -> Result<bool, Fault> {
    loop {
        let read = tokio::select! {
            biased;
            read = sent.up.read_response_body() => read,
            // Only a caller that left ends this wait.
            _ = session.downstream_session.read_body_or_idle(true) => return Err(Fault::Gone),
        };
        let (mut piece, end) = match read {
            Ok(piece) => {
                let end = piece.is_none() || sent.up.response_done();
                (piece, end)
            }
            Err(error) => {
                let fault = road.upstream.error(&error);
                let words = x.last_words(&fault)?;
                session.write_response_body(Some(words), true).await.map_err(|_| Fault::Gone)?;
                return Ok(false);
            }
        };
        x.answer_chunk(&mut piece, end)?;
        let over = end || x.silenced();
        if piece.is_some() || over {
            session.write_response_body(piece, over).await.map_err(|_| Fault::Gone)?;
        }
        if over {
            return Ok(end && sent.up.response_done());
        }
    }
}
