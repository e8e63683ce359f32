//! The two connections of a session, once both are upgraded: bytes in, messages through what the filters planned, bytes
//! out. One message of the client is redacted at a time, and the server's go on meanwhile. A session ends when its caller may be
//! there no more; once no message is under way, when its route is another or the process drains.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pingora::Error;
use pingora::protocols::http::client::HttpSession;
use pingora::proxy::Session;
use tokio::time::{Instant, sleep_until};

use crate::api::ApiError;
use crate::crypto::random;
use crate::gateway::bounds::SessionLimits;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::in_flight::DrainWatch;
use crate::gateway::websocket::messages::{
    ClientMessage, ClientMessages, MessagePlan, RedactedMessage, Redacting, ServerMessages, content,
    write_control,
};
use crate::gateway::websocket::session_end::{LastMessage, SessionEnd, Side, of_violation};
use crate::gateway::websocket::session_recheck::SessionRecheck;
use crate::stream::websocket::{
    ControlFrame, ControlKind, FrameEdge, FrameReader, Incoming, MessageKind, Opcode, Sender,
    WebSocketMessage, close_payload, write_frame,
};
use crate::telemetry::UpstreamFailure;

/// How long one side's answer to the other's close frame is awaited.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The code for a side that has done nothing wrong: the other is no longer there (RFC 6455 section 7.4.1).
const GOING_AWAY: u16 = 1001;

/// What a session is made from.
pub(in crate::gateway) struct TunnelParts<'a> {
    /// The caller's connection; its head of status 101 was written.
    pub(in crate::gateway) session: &'a mut Session,
    /// The upstream's.
    pub(in crate::gateway) upstream: &'a mut HttpSession,
    /// The request.
    pub(in crate::gateway) x: &'a mut Exchange,
    /// What the filters want done.
    pub(in crate::gateway) plan: MessagePlan,
    /// The longest silence of a caller within a message.
    pub(in crate::gateway) read: Duration,
    /// Whether the process drains.
    pub(in crate::gateway) drain: DrainWatch,
}

/// Something that happened.
enum TunnelEvent {
    /// A side has sent bytes, or nothing any more.
    Read(Side, Result<Option<Bytes>, Box<Error>>),
    /// A message was redacted.
    Redacted(Result<RedactedMessage, GatewayError>),
    /// Nobody has sent anything for too long.
    TimedOut,
    /// The caller may be there no more.
    Unproved(GatewayError),
    /// The process drains.
    Draining,
}

/// What a client's message becomes that is being redacted.
enum Pending {
    Message(WebSocketMessage),
    Note(ControlFrame),
}

/// A session under way.
struct Tunnel<'a> {
    session: &'a mut Session,
    up: &'a mut HttpSession,
    limits: SessionLimits,
    /// The longest silence of a caller within a message.
    read: Duration,
    /// `None`: its messages pass as they are.
    client: Option<FrameReader>,
    server: Option<FrameReader>,
    redactor: Option<Box<dyn ClientMessages>>,
    redacting: Option<Redacting>,
    pending: Option<Pending>,
    editor: Option<ServerMessages>,
    /// Where frames end that pass as they are, of the client and of the server.
    client_edge: FrameEdge,
    server_edge: FrameEdge,
    recheck: SessionRecheck,
    drain: DrainWatch,
    /// Why it is to end, and does once no message is under way.
    leaving: Option<LastMessage>,
    /// When anybody has last sent something, and when the session must be over.
    moved: Instant,
    ends: Instant,
    /// Since when an answer to a close frame is awaited.
    closing: Option<Instant>,
}

/// Carries the messages of a session until it ends.
pub(in crate::gateway) async fn tunnel(parts: TunnelParts<'_>) {
    let TunnelParts { session, upstream: up, x, plan, read, drain } = parts;
    session.set_read_timeout(None);
    up.set_read_timeout(None);
    if let HttpSession::H1(h1) = up {
        h1.maybe_upgrade_body_writer();
    }
    let limits = x.route().websocket;
    let reads = plan.reads();
    let reader = |sender| reads.then(|| FrameReader::new(sender, limits.message, &x.budget));
    let (client, server) = (reader(Sender::Client), reader(Sender::Server));
    let editor = plan.server.map(|server| ServerMessages::new(server, &x.budget));
    let recheck = SessionRecheck::new(std::mem::take(&mut x.facts.proofs), Arc::clone(x.clock()));
    let now = Instant::now();
    let mut tunnel = Tunnel {
        session,
        up,
        limits,
        read,
        client,
        server,
        redactor: plan.client,
        redacting: None,
        pending: None,
        editor,
        client_edge: FrameEdge::default(),
        server_edge: FrameEdge::default(),
        recheck,
        drain,
        leaving: None,
        moved: now,
        ends: now + limits.longest,
        closing: None,
    };
    let end = loop {
        let step = tunnel.next().await;
        if let Err(end) = tunnel.step(step).await {
            break end;
        }
        if let Some(end) = tunnel.leaves() {
            break end;
        }
    };
    tunnel.end(x, end).await;
}

impl Tunnel<'_> {
    async fn next(&mut self) -> TunnelEvent {
        let deadline = self.deadline();
        let closed = |reader: &Option<FrameReader>| reader.as_ref().is_some_and(FrameReader::is_closed);
        let reads_client = self.redacting.is_none() && !closed(&self.client);
        let reads_server = !closed(&self.server);
        let stays = self.leaving.is_none();
        // Under an old policy it ends within seconds anyway.
        let asks = self.leaving.as_ref().is_none_or(|last| last.deadline().is_none());
        tokio::select! {
            done = redacted(&mut self.redacting) => {
                self.redacting = None;
                TunnelEvent::Redacted(done)
            }
            read = self.session.read_request_body(), if reads_client => TunnelEvent::Read(Side::Client, read),
            read = self.up.read_response_body(), if reads_server => TunnelEvent::Read(Side::Server, read),
            error = self.recheck.ended(), if asks => TunnelEvent::Unproved(error),
            () = self.drain.begun(), if stays => TunnelEvent::Draining,
            () = sleep_until(deadline) => TunnelEvent::TimedOut,
        }
    }

    /// When the session ends if nothing happens before.
    fn deadline(&self) -> Instant {
        let silence = match self.closing {
            Some(since) => since + CLOSE_TIMEOUT,
            // A message has begun, and does not go on.
            None if self.redacting.is_none() && has_begun(self.client.as_ref()) => {
                self.moved + self.read.min(self.limits.idle)
            }
            None => self.moved + self.limits.idle,
        };
        let leaves = self.leaving.as_ref().and_then(LastMessage::deadline);
        silence.min(self.ends).min(leaves.unwrap_or(self.ends))
    }

    /// The end of a session that is to end, unless a message is still awaited.
    fn leaves(&mut self) -> Option<SessionEnd> {
        let overdue = self.leaving.as_ref()?.is_overdue();
        if self.closing.is_some() || self.is_within_message() && !overdue {
            return None;
        }
        self.leaving.take().map(SessionEnd::from)
    }

    /// Whether a message has begun and not ended, either way; where nobody reads them, a frame.
    fn is_within_message(&self) -> bool {
        self.redacting.is_some()
            || has_begun(self.client.as_ref())
            || has_begun(self.server.as_ref())
            || !self.client_edge.is_between()
            || !self.server_edge.is_between()
    }

    async fn step(&mut self, step: TunnelEvent) -> Result<(), SessionEnd> {
        match step {
            TunnelEvent::Read(side, read) => {
                self.moved = Instant::now();
                match (side, read) {
                    (Side::Client, Ok(Some(bytes))) => self.client_sent(&bytes).await,
                    (Side::Client, _) if self.closing.is_some() => Err(SessionEnd::Over),
                    // A session that is to end anyway ends for that reason: a process that drains cuts its connections off last.
                    (Side::Client, Err(_)) => {
                        Err(self.leaving.take().map_or(SessionEnd::Left, SessionEnd::from))
                    }
                    (Side::Client, _) => Err(SessionEnd::Left),
                    (Side::Server, Ok(Some(bytes))) => self.server_sent(&bytes).await,
                    (Side::Server, _) => self.server_left().await,
                }
            }
            TunnelEvent::Redacted(done) => {
                self.redacted(done).await?;
                self.client_messages().await
            }
            TunnelEvent::Unproved(GatewayError::RouteChanged) => {
                self.leaving = Some(LastMessage::under_old_policy());
                Ok(())
            }
            TunnelEvent::Draining => {
                self.leaving = Some(LastMessage::of_draining());
                Ok(())
            }
            TunnelEvent::Unproved(error) => {
                let code = error.close_code();
                Err(SessionEnd::Failed(Side::Client, error, code))
            }
            TunnelEvent::TimedOut if self.closing.is_some() => Err(SessionEnd::Over),
            // It leaves next.
            TunnelEvent::TimedOut if self.leaving.as_ref().is_some_and(LastMessage::is_overdue) => Ok(()),
            TunnelEvent::TimedOut => {
                Err(SessionEnd::Failed(Side::Client, GatewayError::Api(ApiError::RequestTimeout), GOING_AWAY))
            }
        }
    }

    async fn client_sent(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        let Some(client) = &mut self.client else {
            self.client_edge.push(bytes);
            return self.send_up(Bytes::copy_from_slice(bytes)).await;
        };
        client.push(bytes).map_err(|violation| of_violation(Side::Client, &violation))?;
        self.client_messages().await
    }

    /// Sends on what the client has sent, up to a message that is to be redacted first.
    async fn client_messages(&mut self) -> Result<(), SessionEnd> {
        while self.redacting.is_none() {
            let Some(client) = &mut self.client else { return Ok(()) };
            let read = client.read().map_err(|violation| of_violation(Side::Client, &violation))?;
            match read {
                None => return Ok(()),
                Some(Incoming::Message(mut message)) => match self.redactor.take() {
                    Some(redactor) => {
                        let payload = std::mem::take(&mut message.payload);
                        let sent = ClientMessage { kind: message.kind, payload, is_note: false };
                        self.redacting = Some(redactor.redact(sent));
                        self.pending = Some(Pending::Message(message));
                    }
                    None => self.send_up(message.raw).await?,
                },
                Some(Incoming::Control(control)) => self.client_control(control).await?,
            }
        }
        Ok(())
    }

    async fn client_control(&mut self, control: ControlFrame) -> Result<(), SessionEnd> {
        let text = content(&control).map(<[u8]>::to_vec);
        match (text, self.redactor.take()) {
            (Some(payload), Some(redactor)) => {
                let sent = ClientMessage { kind: MessageKind::Text, payload, is_note: true };
                self.redacting = Some(redactor.redact(sent));
                self.pending = Some(Pending::Note(control));
                Ok(())
            }
            (_, redactor) => {
                self.redactor = redactor;
                let is_close = control.kind == ControlKind::Close;
                self.send_up(control.raw).await?;
                self.closes(is_close)
            }
        }
    }

    /// Sends a message on that was redacted.
    async fn redacted(&mut self, done: Result<RedactedMessage, GatewayError>) -> Result<(), SessionEnd> {
        let RedactedMessage { changed, next } = done.map_err(|error| {
            let code = error.close_code();
            SessionEnd::Failed(Side::Client, error, code)
        })?;
        self.redactor = Some(next);
        let mut out = BytesMut::new();
        let mut is_close = false;
        match (self.pending.take(), changed) {
            (None, _) => return Ok(()),
            (Some(Pending::Message(message)), None) => return self.send_up(message.raw).await,
            (Some(Pending::Message(message)), Some(changed)) => {
                write_frame(Opcode::Begin(message.kind), &changed, Some(mask()?), &mut out);
            }
            (Some(Pending::Note(control)), changed) => {
                is_close = control.kind == ControlKind::Close;
                write_control(&control, changed, Some(mask()?), &mut out);
            }
        }
        self.send_up(out.freeze()).await?;
        self.closes(is_close)
    }

    async fn server_sent(&mut self, bytes: &[u8]) -> Result<(), SessionEnd> {
        let Some(server) = &mut self.server else {
            self.server_edge.push(bytes);
            return self.send_down(Bytes::copy_from_slice(bytes)).await;
        };
        server.push(bytes).map_err(|violation| of_violation(Side::Server, &violation))?;
        let mut out = BytesMut::new();
        let (read, is_close) = self.server_messages(&mut out);
        // What was decided before something went wrong leaves all the same.
        self.send_down(out.freeze()).await?;
        read?;
        self.closes(is_close)
    }

    /// Appends what the server has sent, edited. Also returns whether it has closed the session.
    fn server_messages(&mut self, out: &mut BytesMut) -> (Result<(), SessionEnd>, bool) {
        let failed = |error: GatewayError| {
            let code = error.close_code();
            SessionEnd::Failed(Side::Server, error, code)
        };
        let Some(server) = &mut self.server else { return (Ok(()), false) };
        loop {
            let done = match (server.read(), &mut self.editor) {
                (Ok(None), _) => return (Ok(()), false),
                (Err(violation), _) => return (Err(of_violation(Side::Server, &violation)), false),
                (Ok(Some(Incoming::Message(message))), Some(editor)) => editor.message(message, out),
                (Ok(Some(Incoming::Message(message))), None) => {
                    out.extend_from_slice(&message.raw);
                    Ok(())
                }
                (Ok(Some(Incoming::Control(control))), editor) => {
                    let is_close = control.kind == ControlKind::Close;
                    let done = match editor {
                        Some(editor) if is_close => {
                            editor.end(out).and_then(|()| editor.control(control, out))
                        }
                        Some(editor) => editor.control(control, out),
                        None => {
                            out.extend_from_slice(&control.raw);
                            Ok(())
                        }
                    };
                    if is_close && done.is_ok() {
                        return (Ok(()), true);
                    }
                    done
                }
            };
            if let Err(error) = done {
                return (Err(failed(error)), false);
            }
        }
    }

    /// The upstream's connection has ended: what was held leaves, and the caller's connection ends as this one.
    async fn server_left(&mut self) -> Result<(), SessionEnd> {
        let mut out = BytesMut::new();
        if let Some(editor) = &mut self.editor {
            drop(editor.end(&mut out));
        }
        self.send_down(out.freeze()).await?;
        if self.closing.is_some() || self.server.is_none() {
            return Err(SessionEnd::Over);
        }
        Err(SessionEnd::Failed(Side::Server, GatewayError::Upstream(UpstreamFailure::Broken), 0))
    }

    /// One side has sent a close frame: the other is to answer it.
    fn closes(&mut self, is_close: bool) -> Result<(), SessionEnd> {
        if !is_close {
            return Ok(());
        }
        match self.closing {
            Some(_) => Err(SessionEnd::Over),
            None => {
                self.closing = Some(Instant::now());
                Ok(())
            }
        }
    }

    async fn send_up(&mut self, bytes: Bytes) -> Result<(), SessionEnd> {
        let written = self.up.write_request_body(bytes, false).await;
        match written {
            Ok(()) => Ok(()),
            // It may still have said why.
            Err(_) if self.closing.is_some() => Err(SessionEnd::Over),
            Err(_) => {
                Err(SessionEnd::Failed(Side::Server, GatewayError::Upstream(UpstreamFailure::Broken), 0))
            }
        }
    }

    async fn send_down(&mut self, bytes: Bytes) -> Result<(), SessionEnd> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = self.session.write_response_body(Some(bytes), false).await;
        written.map_err(|_| if self.closing.is_some() { SessionEnd::Over } else { SessionEnd::Left })
    }

    /// Says to both sides why the session ends, as far as they still listen.
    async fn end(mut self, x: &mut Exchange, end: SessionEnd) {
        match end {
            SessionEnd::Over => {}
            SessionEnd::Left => x.caller_left(true),
            SessionEnd::Failed(_, error, 0) => x.error_word = Some(error.word()),
            SessionEnd::Failed(side, error, code) => {
                x.error_word = Some(error.word());
                let mut out = BytesMut::new();
                if let Some(editor) = &mut self.editor {
                    drop(editor.end(&mut out));
                }
                if self.client.is_some()
                    && code != GOING_AWAY
                    && let Some(message) = error.message(&x.error_target())
                {
                    write_frame(Opcode::Begin(MessageKind::Text), message.as_bytes(), None, &mut out);
                }
                // By whom, both are told; why, only who did it.
                let (to_client, to_server) = match side {
                    Side::Client => (code, GOING_AWAY),
                    Side::Server => (GatewayError::Upstream(UpstreamFailure::Broken).close_code(), code),
                };
                let close = Opcode::Control(ControlKind::Close);
                if self.server_edge.is_between() {
                    write_frame(close, &close_payload(to_client, &error.to_string()), None, &mut out);
                    drop(self.send_down(out.freeze()).await);
                }
                if self.client_edge.is_between()
                    && let Ok(mask) = random::bytes()
                {
                    let mut out = BytesMut::new();
                    write_frame(close, &close_payload(to_server, ""), Some(mask), &mut out);
                    drop(self.send_up(out.freeze()).await);
                }
            }
        }
        drop(self.session.write_response_body(None, true).await);
        self.up.shutdown().await;
    }
}

/// Whether something of a side was read that is no whole message yet.
fn has_begun(reader: Option<&FrameReader>) -> bool {
    reader.is_some_and(|reader| reader.held() > 0)
}

/// Waits for the message that is being redacted; forever if there is none.
async fn redacted(redacting: &mut Option<Redacting>) -> Result<RedactedMessage, GatewayError> {
    match redacting {
        Some(redacting) => redacting.await,
        None => std::future::pending().await,
    }
}

/// A fresh masking key (RFC 6455 section 5.3).
fn mask() -> Result<[u8; 4], SessionEnd> {
    random::bytes().map_err(|_| {
        SessionEnd::Failed(Side::Client, GatewayError::Api(ApiError::Internal("randomness")), 1011)
    })
}
