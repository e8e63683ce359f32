//! Event streams of which nothing is known, of either kind.

use bytes::BytesMut;

use crate::edit::spliced;
use crate::stream::amazon::{EventStreamMessage, Messages};
use crate::stream::json::scan::{EveryString, JsonScan};
use crate::stream::json::{JsonFault, walk};
use crate::stream::path::PathTracker;
use crate::stream::sse::{Event, EventAction, Events};
use crate::stream::{Edit, Editor, StreamError};

/// Edits each event's data for itself: if it is JSON, its strings, keys and long numbers, each a channel of its own;
/// else all of it as one text. An event that a stream's end cuts short is edited alike and leaves. Names, ids and
/// comments are edited like data, short ones left.
pub struct GenericEvents<E> {
    scan: JsonScan<EveryString<E>>,
    edits: Vec<Edit>,
    /// The last short line that stayed: names of events repeat.
    quiet: Vec<u8>,
}

/// Edits the payload of each message for itself, and the texts of its headers, as [`GenericEvents`] does with events.
pub struct GenericMessages<E>(GenericEvents<E>);

impl<E: Editor> GenericMessages<E> {
    /// Edits payloads with `editor`.
    pub fn new(editor: E) -> Self {
        Self(GenericEvents::new(editor))
    }
}

impl<E: Editor> Messages for GenericMessages<E> {
    fn message(
        &mut self,
        message: &EventStreamMessage<'_>,
        _: &mut BytesMut,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        self.0.edited(message.payload())
    }

    fn header(&mut self, text: &str) -> Result<Option<String>, StreamError> {
        let edited = self.0.edited(text.as_bytes())?;
        Ok(edited.map(|edited| String::from_utf8_lossy(&edited).into_owned()))
    }

    fn end(&mut self, _: &mut BytesMut) -> Result<(), StreamError> {
        Ok(())
    }
}

/// Lines that are no data are looked at if they are longer, in bytes: shorter ones identify nobody, and a stream of
/// nothing else would cost many times what its bytes do.
pub const SHORT: usize = 3;

/// The longest line that is remembered as one that stayed, in bytes.
const QUIET: usize = 64;

impl<E: Editor> GenericEvents<E> {
    /// Edits data with `editor`.
    pub fn new(editor: E) -> Self {
        Self { scan: JsonScan::new(EveryString::new(editor)), edits: Vec::new(), quiet: Vec::new() }
    }

    /// What becomes of an event's data, or of a message; `None` if nothing changes in it.
    ///
    /// # Errors
    /// The editor's.
    pub fn edited(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        // What is only nested deeper than paths are followed is JSON all the same.
        self.edits.clear();
        if walk(data, &mut |_, _| {}).is_err_and(|error| error.fault != JsonFault::TooDeep) {
            // A value as a string of a document is one: it may be base64.
            self.scan.slots().editor.under(Some(&PathTracker::default().path()));
            self.scan.text();
        }
        self.scan.feed(data, &mut self.edits)?;
        self.scan.end(&mut self.edits)?;
        Ok((!self.edits.is_empty()).then(|| spliced(data, &self.edits)))
    }
}

impl<E: Editor> Events for GenericEvents<E> {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<EventAction, StreamError> {
        Ok(self.edited(event.data())?.map_or(EventAction::Keep, EventAction::Data))
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        if text.len() <= SHORT || text == self.quiet {
            return Ok(None);
        }
        let with = self.edited(text)?;
        if with.is_none() && text.len() <= QUIET {
            self.quiet.clear();
            self.quiet.extend_from_slice(text);
        }
        Ok(with)
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let event = Event::parse(rest);
        let verdict = self.edited(event.data())?.map_or(EventAction::Keep, EventAction::Data);
        event.write(&verdict, out);
        Ok(())
    }
}
