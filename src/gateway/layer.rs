//! [`Layer`]: what filters install on a body, from which [`body`](super::body) builds synchronous rewriters.

use std::sync::Arc;

use crate::gateway::llm::CompiledProtocol;
use crate::stream::json::PathSet;
use crate::stream::{Editor, Rewriter};

/// What happens to a body that cannot be scanned: its content type or coding is none that is read, or a budget of redaction is
/// used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnscannedPolicy {
    /// It does not pass.
    #[default]
    Refuse,
    /// It passes as it is, and the log says so.
    Pass,
}

/// Makes a fresh one for each attempt, so that a retry starts clean.
pub type Factory<T> = Arc<dyn Fn() -> Box<T> + Send + Sync>;

/// What filters install on a body. On the streamed path it is built afresh for each attempt.
#[derive(Clone)]
pub enum Layer {
    /// Rewrites decoded bytes, whatever they are.
    Bytes(Factory<dyn Rewriter>),
    /// Edits text where the frame has some.
    Text(TextLayer),
}

/// Edits the text in a body.
#[derive(Clone)]
pub struct TextLayer {
    /// Edits one channel of text.
    pub editor: Factory<dyn Editor>,
    /// The protocol, when it is known: it says which strings are text, and values are followed over the events of a
    /// stream. Else every string, key and long number is text.
    pub protocol: Option<Arc<CompiledProtocol>>,
    /// Which strings are text where no protocol is known; `None`: all.
    pub fields: Option<Arc<PathSet>>,
    /// Whether it puts the caller's own values back, and takes nothing out.
    pub restores: bool,
}
