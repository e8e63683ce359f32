//! What is done with messages: those of the client are redacted one after the other ([`ClientMessages`]), those of the
//! server are edited as the documents of one stream ([`ServerMessages`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;

use crate::base::budget::MemoryBudget;
use crate::gateway::error::GatewayError;
use crate::gateway::layer::{TextLayer, UnscannedPolicy};
use crate::gateway::llm::{DocumentOutcome, EditorFactory, MessageDeltas, SentMessage};
use crate::stream::json::walk;
use crate::stream::websocket::{
    ControlFrame, ControlKind, MAX_CONTROL, MessageKind, Opcode, WebSocketMessage, cut, write_frame,
};
use crate::stream::{GenericEvents, StreamError};

/// What filters want done with the messages of a session.
#[derive(Default)]
pub struct MessagePlan {
    /// Redacts those of the client.
    pub client: Option<Box<dyn ClientMessages>>,
    /// Edits those of the server.
    pub server: Option<ServerPlan>,
}

/// What is done with the messages of a server.
pub struct ServerPlan {
    /// Edits their texts.
    pub layer: TextLayer,
    /// What happens to a message that cannot be scanned.
    pub policy: UnscannedPolicy,
    /// Counts those that pass.
    pub unscanned: Arc<AtomicU64>,
}

impl MessagePlan {
    /// Whether anybody reads messages.
    pub fn reads(&self) -> bool {
        self.client.is_some() || self.server.is_some()
    }
}

/// What a client sends.
pub struct ClientMessage {
    /// What it holds.
    pub kind: MessageKind,
    /// What it says.
    pub payload: Vec<u8>,
    /// Whether it is a note in a control frame, which is no message of the protocol.
    pub is_note: bool,
}

/// A message that is being redacted. It holds what redacts the next one.
pub type Redacting = BoxFuture<'static, Result<RedactedMessage, GatewayError>>;

/// A message that was redacted.
pub struct RedactedMessage {
    /// What it has become; `None` if it leaves as it came.
    pub changed: Option<Vec<u8>>,
    /// Redacts the next one.
    pub next: Box<dyn ClientMessages>,
}

/// Redacts the messages of one session, one after the other.
pub trait ClientMessages: Send {
    /// Redacts one. After an error no other follows.
    fn redact(self: Box<Self>, message: ClientMessage) -> Redacting;
}

/// Whether bytes can be read: as a document where a protocol is `known`, else also as text. A text always can.
pub fn is_readable(kind: MessageKind, payload: &[u8], known: bool) -> bool {
    let begins_like_json =
        || payload.trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'{' | b'['));
    match kind {
        MessageKind::Text => true,
        MessageKind::Binary if known => begins_like_json() && walk(payload, &mut |_, _| {}).is_ok(),
        MessageKind::Binary => std::str::from_utf8(payload).is_ok() && memchr::memchr(0, payload).is_none(),
    }
}

/// Edits the messages of one session's server.
pub(super) struct ServerMessages {
    editor: EditorFactory,
    deltas: Option<MessageDeltas>,
    policy: UnscannedPolicy,
    unscanned: Arc<AtomicU64>,
}

impl ServerMessages {
    /// As it was planned.
    pub(super) fn new(plan: ServerPlan, budget: &MemoryBudget) -> Self {
        let ServerPlan { layer: TextLayer { editor, protocol, .. }, policy, unscanned } = plan;
        let deltas = protocol.map(|protocol| MessageDeltas::new(protocol, Arc::clone(&editor), budget));
        Self { editor, deltas, policy, unscanned }
    }

    /// Edits a message; what leaves of it, and before it, is appended.
    ///
    /// # Errors
    /// One that cannot be scanned on a route that refuses those, or whose texts cannot be edited.
    pub(super) fn message(
        &mut self,
        message: WebSocketMessage,
        out: &mut BytesMut,
    ) -> Result<(), GatewayError> {
        let (kind, known) = (message.kind, self.deltas.is_some());
        let (payload, raw, _charge) = message.into_parts();
        if !is_readable(kind, &payload, known) {
            self.unscanned.fetch_add(1, Ordering::Relaxed);
            if self.policy == UnscannedPolicy::Refuse {
                return Err(GatewayError::Unscannable("a message of it is neither text nor JSON"));
            }
            out.extend_from_slice(&raw);
            return Ok(());
        }
        let Some(deltas) = &mut self.deltas else {
            let edited = self.edited(&payload).map_err(GatewayError::of_answer)?;
            write(kind, edited, &raw, out);
            return Ok(());
        };
        let mut before = Vec::new();
        let outcome = deltas.message(kind, &payload, &mut before).map_err(GatewayError::of_answer)?;
        before
            .iter()
            .for_each(|SentMessage { kind, data }| write_frame(Opcode::Begin(*kind), data, None, out));
        match outcome {
            DocumentOutcome::Keep => write(kind, None, &raw, out),
            DocumentOutcome::Replace(changed) | DocumentOutcome::Emptied(changed) => {
                write(kind, Some(changed), &raw, out)
            }
            DocumentOutcome::Wait => {}
        }
        Ok(())
    }

    /// Edits what stands in a control frame, and cuts it where it has become too long.
    ///
    /// # Errors
    /// As of [`Self::message`].
    pub(super) fn control(&self, control: ControlFrame, out: &mut BytesMut) -> Result<(), GatewayError> {
        let edited = match note(&control) {
            Some(text) => self.edited(text.as_bytes()).map_err(GatewayError::of_answer)?,
            None => None,
        };
        write_control(&control, edited, None, out);
        Ok(())
    }

    /// No message follows: appends what was held.
    ///
    /// # Errors
    /// An editor's.
    pub(super) fn end(&mut self, out: &mut BytesMut) -> Result<(), GatewayError> {
        let mut before = Vec::new();
        if let Some(deltas) = &mut self.deltas {
            deltas.end(&mut before).map_err(GatewayError::of_answer)?;
        }
        before
            .iter()
            .for_each(|SentMessage { kind, data }| write_frame(Opcode::Begin(*kind), data, None, out));
        Ok(())
    }

    /// What becomes of a text, or of a document of no known protocol.
    fn edited(&self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        GenericEvents::new((self.editor)()).edited(text)
    }
}

/// Appends a server's message: as it came, or with what it has become.
fn write(kind: MessageKind, changed: Option<Vec<u8>>, raw: &Bytes, out: &mut BytesMut) {
    match changed {
        Some(changed) => write_frame(Opcode::Begin(kind), &changed, None, out),
        None => out.extend_from_slice(raw),
    }
}

/// What stands in a control frame, if anything does: behind the code of a close frame, or all of another.
pub(super) fn content(control: &ControlFrame) -> Option<&[u8]> {
    let from = if control.kind == ControlKind::Close { 2 } else { 0 };
    control.payload.get(from..).filter(|content| !content.is_empty())
}

/// The same if all of it is text.
fn note(control: &ControlFrame) -> Option<&str> {
    std::str::from_utf8(content(control)?).ok()
}

/// Appends a control frame: as it came, or with another note.
pub(super) fn write_control(
    control: &ControlFrame,
    note: Option<Vec<u8>>,
    mask: Option<[u8; 4]>,
    out: &mut BytesMut,
) {
    let Some(note) = note else { return out.extend_from_slice(&control.raw) };
    let code = if control.kind == ControlKind::Close { 2 } else { 0 };
    let mut payload = control.payload.get(..code).unwrap_or_default().to_vec();
    let room = MAX_CONTROL - payload.len();
    match std::str::from_utf8(&note) {
        Ok(note) => payload.extend_from_slice(cut(note, room).as_bytes()),
        Err(_) => payload.extend_from_slice(note.get(..room).unwrap_or(&note)),
    }
    write_frame(Opcode::Control(control.kind), &payload, mask, out);
}
