//! [`RouteInfo`]: what a request needs to know of its route while it is under way.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::base::path::RequestPath;
use crate::gateway::bounds::SessionLimits;
use crate::gateway::llm::{Protocol, ProtocolChoice};
use crate::gateway::path_rewrite::PathRewrite;
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
    /// What becomes of the beginning of a path on its way to the upstream.
    pub rewrite: PathRewrite,
    /// The largest request body, in bytes; `None` for a streamed body of any size.
    pub max_body: Option<usize>,
    /// What its WebSocket sessions may take up.
    pub websocket: SessionLimits,
    /// Its metrics.
    pub metrics: RouteMetrics,
    /// The protocols that were found by a path, by name; none: an empty one.
    pub found: Mutex<BTreeSet<&'static str>>,
}

impl RouteInfo {
    /// A route without an LLM protocol and without a limit of its own, whose paths stay whole.
    pub fn generic(name: &str, terminal: Terminal, metrics: RouteMetrics) -> Self {
        Self {
            name: name.to_owned(),
            terminal,
            protocols: ProtocolChoice::Generic,
            rewrite: PathRewrite::default(),
            max_body: None,
            websocket: SessionLimits::default(),
            metrics,
            found: Mutex::default(),
        }
    }

    /// The protocol of a request to `path`. The log says once for each what a path was taken for.
    pub fn protocol(&self, path: &RequestPath) -> Option<&'static Protocol> {
        let protocol = self.protocols.of(path);
        if matches!(self.protocols, ProtocolChoice::Auto) {
            let name = protocol.map_or("", |protocol| protocol.name);
            let first = self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
            if first {
                let protocol = if name.is_empty() { "generic" } else { name };
                tracing::info!(target: "portcullis::gateway", route = self.name, protocol, "protocol chosen by path");
            }
        }
        protocol
    }
}
