//! What a protocol is: data.

use std::sync::Arc;

use crate::gateway::error::ErrorShape;
use crate::stream::json::{PathSet, PatternError, Take};

/// One LLM protocol. Patterns are tried in order; a string that none names is text all the same, since an unknown
/// field may hold a value as well as a known one.
pub struct Protocol {
    /// Its name in the log.
    pub name: &'static str,
    /// How its paths end.
    pub path: &'static str,
    /// How it spells an error.
    pub shape: ErrorShape,
    /// The end of the last event of a stream, spaces left out; empty: it has none.
    pub final_event: &'static [u8],
    /// The strings of a request that are not plain text.
    pub ask: &'static [(&'static str, Take)],
    /// The strings of an answer, or of one event, that are not plain text.
    pub reply: &'static [(&'static str, Take)],
    /// The strings of an event whose text goes on in later events. The first index on the way is a choice's, the
    /// second a tool call's, each as the event's own `index` member numbers it.
    pub delta: &'static [(&'static str, Take)],
}

/// A protocol with its patterns compiled.
pub struct CompiledProtocol {
    /// The data it is made from.
    pub protocol: &'static Protocol,
    /// Which strings of a request are text.
    pub ask: Arc<PathSet>,
    /// Which strings of an answer are text.
    pub reply: PathSet,
    /// Which strings of an event go on.
    pub delta: PathSet,
}

impl CompiledProtocol {
    /// Compiles a protocol's patterns.
    ///
    /// # Errors
    /// A pattern that is wrong, which would be a bug in the data.
    pub fn new(protocol: &'static Protocol) -> Result<Self, PatternError> {
        Ok(Self {
            protocol,
            ask: Arc::new(PathSet::new(protocol.ask, Take::Text)?),
            reply: PathSet::new(protocol.reply, Take::Text)?,
            delta: PathSet::new(protocol.delta, Take::Skip)?,
        })
    }
}
