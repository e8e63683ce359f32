//! The units of event streams, of either kind: an event each, or a message.

use bytes::BytesMut;

use crate::stream::StreamError;
use crate::stream::amazon::{EventStreamMessage, Messages, write_message};
use crate::stream::reassembly::event_words::ends;
use crate::stream::reassembly::reassembler::{LeavingUnit, Reassembler};
use crate::stream::sse::{Event, EventAction, Events};

/// Puts together what the events of a stream cut.
pub struct ReassembledEvents {
    reassembler: Reassembler,
    /// How many comments have come since the last event.
    comments: usize,
}

impl ReassembledEvents {
    /// By this one.
    pub fn new(reassembler: Reassembler) -> Self {
        Self { reassembler, comments: 0 }
    }
}

/// So many comments without an event between them say that nothing comes for a while.
const IDLE: usize = 2;

/// Writes an event that has waited, or what became of it.
fn write_event(unit: LeavingUnit, out: &mut BytesMut) {
    let event = Event::parse(&unit.envelope);
    let action = if unit.changed { EventAction::Data(unit.data) } else { EventAction::Keep };
    event.write(&action, out);
    // The second half of its last line end was left out when it had to wait.
    if unit.envelope.ends_with(b"\r") && unit.envelope.contains(&b'\n') {
        out.extend_from_slice(b"\n");
    }
}

impl Events for ReassembledEvents {
    fn event(&mut self, event: &Event<'_>, before: &mut BytesMut) -> Result<EventAction, StreamError> {
        self.comments = 0;
        let mut leaving = Vec::new();
        self.reassembler.push(event.raw(), event.data(), event.name(), &mut leaving)?;
        let own = if self.reassembler.waits() { None } else { leaving.pop() };
        leaving.into_iter().for_each(|unit| write_event(unit, before));
        Ok(match own {
            None => EventAction::Drop,
            Some(unit) if unit.changed => EventAction::Data(unit.data),
            Some(_) => EventAction::Keep,
        })
    }

    fn line(&mut self, _: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(None)
    }

    fn without_data(&mut self, block: &[u8], out: &mut BytesMut) -> Result<bool, StreamError> {
        let name = Event::parse(block).name().to_vec();
        self.comments += usize::from(block.starts_with(b":"));
        let idle = self.comments >= IDLE;
        if !self.reassembler.waits() || (name.is_empty() && !idle) {
            return Ok(false);
        }
        // Some clients show a name, so it stays behind what came before.
        if idle || ends(&String::from_utf8_lossy(&name)) {
            self.release(out)?;
            return Ok(false);
        }
        let mut leaving = Vec::new();
        self.reassembler.push(block, b"", &name, &mut leaving)?;
        leaving.into_iter().for_each(|unit| write_event(unit, out));
        Ok(true)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let mut leaving = Vec::new();
        self.reassembler.end(&mut leaving)?;
        leaving.into_iter().for_each(|unit| write_event(unit, out));
        Ok(())
    }

    fn held(&self) -> usize {
        self.reassembler.held()
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let mut leaving = Vec::new();
        if !rest.is_empty() {
            let event = Event::parse(rest);
            self.reassembler.push(event.raw(), event.data(), event.name(), &mut leaving)?;
        }
        self.reassembler.end(&mut leaving)?;
        let last = if rest.is_empty() { None } else { leaving.pop() };
        leaving.into_iter().for_each(|unit| write_event(unit, out));
        // Nothing of it was left out.
        if let Some(unit) = last {
            let action = if unit.changed { EventAction::Data(unit.data) } else { EventAction::Keep };
            Event::parse(&unit.envelope).write(&action, out);
        }
        Ok(())
    }
}

/// Puts together what the messages of an Amazon event stream cut.
pub struct ReassembledMessages(Reassembler);

impl ReassembledMessages {
    /// By this one.
    pub fn new(reassembler: Reassembler) -> Self {
        Self(reassembler)
    }
}

/// Writes messages that leave.
fn write_messages(leaving: Vec<LeavingUnit>, out: &mut BytesMut) -> Result<(), StreamError> {
    for LeavingUnit { envelope, data, changed } in leaving {
        if changed {
            write_message(EventStreamMessage::parse(&envelope)?.headers(), &data, out)?;
        } else {
            out.extend_from_slice(&envelope);
        }
    }
    Ok(())
}

impl Messages for ReassembledMessages {
    fn message(
        &mut self,
        message: &EventStreamMessage<'_>,
        before: &mut BytesMut,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        let event = message.text(":message-type").is_none_or(|kind| kind == "event");
        let label = if event { message.text(":event-type").unwrap_or_default() } else { "error" };
        let mut leaving = Vec::new();
        self.0.push(message.raw(), message.payload(), label.as_bytes(), &mut leaving)?;
        let own = if self.0.waits() { None } else { leaving.pop() };
        write_messages(leaving, before)?;
        Ok(own.filter(|unit| unit.changed).map(|unit| unit.data))
    }

    fn waits(&self) -> bool {
        self.0.waits()
    }

    fn header(&mut self, _: &str) -> Result<Option<String>, StreamError> {
        Ok(None)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let mut leaving = Vec::new();
        self.0.end(&mut leaving)?;
        write_messages(leaving, out)
    }

    fn held(&self) -> usize {
        self.0.held()
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.release(out)
    }
}
