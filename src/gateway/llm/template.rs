//! [`EventTemplate`]: the document in which what a channel holds leaves by itself.
//!
//! It is the last one that brought text of the channel, since that has all that clients want of an event. But what else it
//! says must not be said twice: other elements of the arrays on the way to the text stay out, and so does what lies beside
//! the text and is more than one value, such as the calls of a message.

use std::sync::Arc;

use crate::gateway::llm::place::{EventDocument, ValuePlace};

/// A document that a channel's text came in.
pub(super) struct EventTemplate {
    /// What stands around it in its stream.
    pub(super) envelope: Arc<[u8]>,
    /// The document, without any channel's text.
    pub(super) data: Arc<[u8]>,
    /// The positions of the elements on the way to the text.
    pub(super) positions: Vec<usize>,
}

impl EventTemplate {
    /// It with this text at `place`, as JSON without its quotes, and no other.
    pub(super) fn with(&self, place: &ValuePlace, text: &str) -> Option<Vec<u8>> {
        EventDocument::new(&self.data).with(place, &self.positions, text)
    }
}
