//! Event streams of which nothing is known.

use bytes::BytesMut;

use crate::edit::spliced;
use crate::stream::json::scan::{Every, Scan};
use crate::stream::json::walk;
use crate::stream::sse::{Event, Events, Verdict};
use crate::stream::{Edit, Editor, StreamError};

/// Edits each event's data for itself: if it is JSON, its strings, keys and long numbers, each a channel of its own;
/// else all of it as one text. An event that a stream's end cuts short is edited alike and leaves. Names, ids and
/// comments are not looked at.
pub struct GenericEvents<E> {
    scan: Scan<Every<E>>,
    edits: Vec<Edit>,
}

impl<E: Editor> GenericEvents<E> {
    /// Edits data with `editor`.
    pub fn new(editor: E) -> Self {
        Self { scan: Scan::new(Every(editor)), edits: Vec::new() }
    }

    fn judge(&mut self, data: &[u8]) -> Result<Verdict, StreamError> {
        if walk(data, &mut |_, _| {}).is_err() {
            self.scan.text();
        }
        self.edits.clear();
        self.scan.feed(data, &mut self.edits)?;
        self.scan.end(&mut self.edits)?;
        Ok(if self.edits.is_empty() { Verdict::Keep } else { Verdict::Data(spliced(data, &self.edits)) })
    }
}

impl<E: Editor> Events for GenericEvents<E> {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<Verdict, StreamError> {
        self.judge(event.data())
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let event = Event::parse(rest);
        let verdict = self.judge(event.data())?;
        event.write(&verdict, out);
        Ok(())
    }
}
