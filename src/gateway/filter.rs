//! What a filter is, when it runs, and what it may install.
//!
//! Filters decide when they see a head or a collected document; there they may await. What they leave for bytes in
//! motion is a [`Layer`], from which [`body`](super::body) builds synchronous rewriters. There are no chunk hooks.

use std::sync::Arc;

use async_trait::async_trait;
use pingora::http::ResponseHeader;

use crate::api::Answer;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, Outcome};
use crate::gateway::llm::CompiledProtocol;
use crate::stream::{Editor, Rewriter};
use crate::telemetry::Refusal;

/// When a filter runs. The order is here and nowhere else: a configuration says which filters, never when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// First, so that a request refused by any other filter is seen.
    Observe,
    /// Before anything is spent on the request.
    LoadShed,
    /// Before identification: a browser's preflight carries no credentials.
    Share,
    /// Who calls.
    Identify,
    /// What the caller may do; needs to know who.
    Authorize,
    /// How often; after authorization, so that a stranger cannot use up a caller's share.
    Limit,
    /// Bodies; only for requests that will be forwarded.
    Rewrite,
    /// Credentials for the upstream; last, so that no other filter sees them.
    Mint,
}

/// Whether the walk goes on.
#[must_use]
pub enum Flow {
    /// To the next filter, or the terminal.
    Next,
    /// No: this is the answer.
    Answer(Answer),
}

/// One concern, both ways. Its two halves see the same [`Exchange`].
#[async_trait]
pub trait Filter: Send + Sync + 'static {
    /// The name of its table in the configuration.
    fn name(&self) -> &'static str;

    /// When it runs.
    fn stage(&self) -> Stage;

    /// Why it would refuse any request now, whatever it asks for. Asked before there is a session too, which costs more
    /// than such a refusal.
    fn rejects_all(&self) -> Option<Refusal> {
        None
    }

    /// Sees the request head. May await, ask for the body to be collected, install layers, or answer.
    async fn request(&self, _: &mut Exchange) -> Result<Flow, GatewayError> {
        Ok(Flow::Next)
    }

    /// Collected requests only: sees the document, as it came and as rewritten so far, before a peer is chosen.
    async fn collected(&self, _: &mut Exchange, _: &mut Document) -> Result<Flow, GatewayError> {
        Ok(Flow::Next)
    }

    /// Sees the response head (never a 1xx), innermost filter first; only filters that were entered. May install
    /// layers.
    async fn response(&self, _: &mut Exchange, _: &mut ResponseHeader) -> Result<(), GatewayError> {
        Ok(())
    }

    /// On every exit, also after failures.
    async fn done(&self, _: &mut Exchange, _: &Outcome) {}
}

/// A collected request body: plain, out of its content coding.
pub struct Document {
    /// As it came.
    pub original: bytes::Bytes,
    /// As rewritten so far; `None` while nobody changed it.
    pub rewritten: Option<bytes::Bytes>,
}

impl Document {
    /// What goes to the upstream.
    pub fn current(&self) -> &bytes::Bytes {
        self.rewritten.as_ref().unwrap_or(&self.original)
    }
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
    /// Whether it puts the caller's own values back, and takes nothing out.
    pub restores: bool,
}
