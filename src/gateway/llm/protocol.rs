//! What a protocol says of itself, as data, and how a route chooses one.

use std::sync::Arc;

use crate::base::path::RequestPath;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::openai;
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
    /// The strings of a request that are not plain text.
    pub ask: &'static [(&'static str, Take)],
    /// The strings of an answer, or of one event, that are not plain text.
    pub reply: &'static [(&'static str, Take)],
    /// The strings of an event whose text goes on in later events. The first index on the way is a choice's, the
    /// second a tool call's, each as the event's own `index` member numbers it.
    pub delta: &'static [(&'static str, Take)],
}

/// Every protocol known.
static ALL: [&Protocol; 1] = [&openai::CHAT];

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

    /// Compiles every protocol.
    ///
    /// # Errors
    /// As [`CompiledProtocol::new`].
    pub fn all() -> Result<Vec<Arc<Self>>, PatternError> {
        ALL.iter().map(|protocol| Self::new(protocol).map(Arc::new)).collect()
    }
}

/// Which protocols are spoken on a route.
#[derive(Clone, Copy, Default)]
pub enum ProtocolChoice {
    /// By the path of each request.
    #[default]
    Auto,
    /// This one on every path.
    Always(&'static Protocol),
    /// None.
    Generic,
}

impl ProtocolChoice {
    /// OpenAI's chat completions on every path.
    pub const OPENAI: Self = Self::Always(&openai::CHAT);

    /// The protocol of a request to `path`.
    pub fn of(self, path: &RequestPath) -> Option<&'static Protocol> {
        let path = path.compared().trim_end_matches('/');
        match self {
            Self::Auto => ALL.iter().find(|protocol| path.ends_with(protocol.path)).copied(),
            Self::Always(protocol) => Some(protocol),
            Self::Generic => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocols_patterns_compile() {
        assert_eq!(CompiledProtocol::all().unwrap().len(), ALL.len());
    }

    #[test]
    fn a_path_says_its_protocol() {
        let name = |path| {
            let path = RequestPath::parse(path).unwrap();
            ProtocolChoice::Auto.of(&path).map(|protocol| protocol.name)
        };
        assert_eq!(name("/v1/chat/completions"), Some("openai_chat"));
        assert_eq!(name("/openai/deployments/d/chat/completions"), Some("openai_chat"));
        assert_eq!(name("/v1/chat/x/../%63ompletions//"), Some("openai_chat"));
        assert_eq!(name("/v1/embeddings"), None);
    }
}
