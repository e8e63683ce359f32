//! A collected event stream: the data of its events, as the JSON or the text that it is, and all its other lines.

use std::borrow::Cow;

use bytes::BytesMut;

use crate::base::budget::MemoryBudget;
use crate::edit::spliced;
use crate::redact::carrier::{Carrier, TextVisitor};
use crate::redact::document::JsonTexts;
use crate::redact::error::RedactError;
use crate::redact::keys::Keys;
use crate::redact::pass::{RedactionPass, ReplaceScope};
use crate::redact::redactor::Redactor;
use crate::redact::report::Redacted;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::stream::json::{encoded, walk};
use crate::stream::sse::{Event, EventAction, Events, Sse};
use crate::stream::{Rewriter, SHORT, StreamError};

impl Redactor {
    /// Redacts an event stream, and tells how to undo it. What was found in one event is replaced in all.
    ///
    /// # Errors
    /// As of [`Redactor::document`], but that what is no JSON is text.
    pub fn events(
        &self,
        body: &[u8],
        keys: &Keys,
        limits: FindingLimits,
    ) -> Result<(Redacted<Vec<u8>>, SurrogateMap), RedactError> {
        let mut stream = EventStream::new(body, limits);
        RedactionPass::by(self, keys, ReplaceScope::Everywhere).run(&mut stream)?.undo(limits)
    }
}

/// An event stream.
pub(super) struct EventStream<'b> {
    body: &'b [u8],
    texts: JsonTexts<'static>,
}

impl<'b> EventStream<'b> {
    pub(super) fn new(body: &'b [u8], limits: FindingLimits) -> Self {
        Self { body, texts: JsonTexts::everything(limits) }
    }
}

impl Carrier for EventStream<'_> {
    type Written = Vec<u8>;

    fn prepare(&mut self, labels: bool) {
        self.texts.prepare(labels);
    }

    fn visit(&mut self, see: TextVisitor<'_>) -> Result<Vec<u8>, RedactError> {
        let mut out = BytesMut::with_capacity(self.body.len());
        let mut visitor = Visitor { texts: &mut self.texts, see, outcome: Ok(()) };
        let mut events = Sse::new(&mut visitor, usize::MAX, &MemoryBudget::unlimited());
        let passed = events.write(self.body, &mut out).and_then(|()| events.finish(&mut out));
        drop(events);
        visitor.outcome?;
        passed.map_err(|_| RedactError::Events)?;
        self.texts.opened().map(|()| out.into())
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        self.body.into()
    }
}

/// Goes through a stream.
struct Visitor<'v, 'w> {
    texts: &'v mut JsonTexts<'w>,
    see: TextVisitor<'v>,
    outcome: Result<(), RedactError>,
}

impl Visitor<'_, '_> {
    /// A text as its edits make it; `None` if there are none.
    fn text(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let trimmed = text.trim_ascii();
        let document = match walk(trimmed, &mut |_, _| {}) {
            Ok(()) => Cow::Borrowed(trimmed),
            Err(_) => format!("\"{}\"", encoded(&String::from_utf8_lossy(trimmed))).into_bytes().into(),
        };
        let edits = self.texts.visit(&document, self.see).unwrap_or_else(|error| {
            self.outcome = Err(error.into());
            Vec::new()
        });
        if edits.is_empty() {
            return None;
        }
        let now = spliced(&document, &edits);
        let now = match document {
            Cow::Borrowed(_) => now,
            Cow::Owned(_) => serde_json::from_slice::<String>(&now).unwrap_or_default().into_bytes(),
        };
        let (head, rest) = text.split_at(text.len() - text.trim_ascii_start().len());
        Some([head, &now, rest.get(trimmed.len()..).unwrap_or_default()].concat())
    }
}

impl Events for Visitor<'_, '_> {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<EventAction, StreamError> {
        Ok(self.text(event.data()).map_or(EventAction::Keep, EventAction::Data))
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(if text.len() > SHORT { self.text(text) } else { None })
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let event = Event::parse(rest);
        let verdict = self.text(event.data()).map_or(EventAction::Keep, EventAction::Data);
        event.write(&verdict, out);
        Ok(())
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
