//! Framers: how the documents of [`Deltas`] become a body. [`SseDeltas`] reads an event stream, [`MessageDeltas`] the
//! messages of a WebSocket, [`WholeAnswer`] one JSON document.

use std::sync::Arc;

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::gateway::llm::delta::{Deltas, DocumentOutcome, EarlierDocument, EarlierDocuments};
use crate::gateway::llm::piece_reader::EditorFactory;
use crate::gateway::llm::protocol::CompiledProtocol;
use crate::stream::sse::{Event, EventAction, Events};
use crate::stream::websocket::MessageKind;
use crate::stream::{Editor, GenericEvents, Rewriter, StreamError};

/// The largest answer that is read whole before it is rewritten, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// The events of a stream (WHATWG HTML, section 9.2), a document each.
pub struct SseDeltas {
    deltas: Deltas,
    /// For lines of which the protocol says nothing.
    lines: GenericEvents<Box<dyn Editor>>,
}

impl SseDeltas {
    /// Rewrites one stream.
    pub fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &MemoryBudget) -> Self {
        Self { lines: GenericEvents::new(editor()), deltas: Deltas::new(protocol, editor, budget) }
    }
}

/// Writes events that leave before another. One that was added has the name and the line ends of the event
/// that it is cloned from.
fn write_before(before: EarlierDocuments, out: &mut BytesMut) {
    for EarlierDocument { envelope, data, added } in before {
        let event = Event::parse(&envelope);
        if added {
            event.write_another(&data, out);
        } else {
            event.write(&EventAction::Data(data), out);
            // The second half of its last line end was left out when it had to wait.
            if envelope.ends_with(b"\r") && envelope.contains(&b'\n') {
                out.extend_from_slice(b"\n");
            }
        }
    }
}

impl Events for SseDeltas {
    fn event(&mut self, event: &Event<'_>, before: &mut BytesMut) -> Result<EventAction, StreamError> {
        if event.data().is_empty() {
            return Ok(EventAction::Keep);
        }
        let mut first = EarlierDocuments::new();
        let verdict = if self.deltas.is_end(event.data()) {
            self.deltas.end(&mut first)?;
            EventAction::Keep
        } else {
            match self.deltas.document(event.data(), event.raw(), &mut first)? {
                DocumentOutcome::Keep => EventAction::Keep,
                DocumentOutcome::Replace(data) => EventAction::Data(data),
                DocumentOutcome::Emptied(_) | DocumentOutcome::Wait => EventAction::Drop,
            }
        };
        write_before(first, before);
        Ok(verdict)
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        self.lines.line(text)
    }

    fn end(&mut self, _incomplete: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        // An incomplete event cannot be judged, and no client would dispatch it.
        let mut first = EarlierDocuments::new();
        self.deltas.end(&mut first)?;
        write_before(first, out);
        Ok(())
    }
}

/// The messages of a WebSocket, a document each.
pub struct MessageDeltas {
    deltas: Deltas,
}

/// A message that leaves.
pub struct SentMessage {
    /// In what kind of message.
    pub kind: MessageKind,
    /// What it says.
    pub data: Vec<u8>,
}

impl MessageDeltas {
    /// Rewrites one session.
    pub fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &MemoryBudget) -> Self {
        Self { deltas: Deltas::new(protocol, editor, budget) }
    }

    /// Edits a message; what leaves before it is appended to `before`.
    ///
    /// # Errors
    /// An editor's.
    pub fn message(
        &mut self,
        kind: MessageKind,
        data: &[u8],
        before: &mut Vec<SentMessage>,
    ) -> Result<DocumentOutcome, StreamError> {
        // All that stands around a message is its kind.
        let envelope: &[u8] = if kind == MessageKind::Text { b"" } else { b"b" };
        let mut earlier = EarlierDocuments::new();
        let outcome = self.deltas.document(data, envelope, &mut earlier)?;
        before.extend(earlier.into_iter().map(SentMessage::from));
        Ok(outcome)
    }

    /// No message follows: what is held is appended to `before`.
    ///
    /// # Errors
    /// An editor's.
    pub fn end(&mut self, before: &mut Vec<SentMessage>) -> Result<(), StreamError> {
        let mut earlier = EarlierDocuments::new();
        self.deltas.end(&mut earlier)?;
        before.extend(earlier.into_iter().map(SentMessage::from));
        Ok(())
    }
}

impl From<EarlierDocument> for SentMessage {
    fn from(EarlierDocument { envelope, data, .. }: EarlierDocument) -> Self {
        let kind = if envelope.is_empty() { MessageKind::Text } else { MessageKind::Binary };
        Self { kind, data }
    }
}

/// An answer in one document, read whole: what its echoes repeat may stand before or behind what they repeat.
pub struct WholeAnswer {
    deltas: Deltas,
    document: BytesMut,
    charge: MemoryCharge,
}

impl WholeAnswer {
    /// Rewrites one answer.
    pub fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &MemoryBudget) -> Self {
        let deltas = Deltas::new(protocol, editor, budget);
        Self { deltas, document: BytesMut::new(), charge: budget.charge() }
    }
}

impl Rewriter for WholeAnswer {
    fn write(&mut self, chunk: &[u8], _: &mut BytesMut) -> Result<(), StreamError> {
        let size = self.document.len() + chunk.len();
        if size > MAX_ANSWER {
            return Err(StreamError::TooLarge { unit: "answer", limit: MAX_ANSWER });
        }
        self.charge.set(size)?;
        self.document.extend_from_slice(chunk);
        Ok(())
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let document = self.document.split();
        let changed = self.deltas.whole(&document)?;
        out.extend_from_slice(changed.as_deref().unwrap_or(&document));
        Ok(self.charge.set(0)?)
    }

    fn held(&self) -> usize {
        self.document.len()
    }
}
