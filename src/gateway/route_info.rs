//! [`RouteInfo`]: what a request needs to know of its route while it is under way.

use crate::base::path::RequestPath;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::ProtocolChoice;
use crate::gateway::terminal::Terminal;
use crate::telemetry::RouteMetrics;

/// A route without its filters.
pub struct RouteInfo {
    /// Its name, for logs and metrics.
    pub name: String,
    /// Where it ends.
    pub terminal: Terminal,
    /// The protocols spoken on it, which say where the words are and how an error looks.
    pub protocols: ProtocolChoice,
    /// The largest request body, in bytes; `None` for a streamed body of any size.
    pub max_body: Option<usize>,
    /// Its metrics.
    pub metrics: RouteMetrics,
}

impl RouteInfo {
    /// How errors look to a caller of this path.
    pub fn error_shape(&self, path: &RequestPath) -> ErrorShape {
        self.protocols.error_shape(path)
    }
}
