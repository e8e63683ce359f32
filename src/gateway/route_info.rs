//! [`RouteInfo`]: what a request needs to know of its route while it is under way.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// What its requests pass, by which sessions tell after a reload whether that is another.
    pub policy: PolicyIdentity,
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
            policy: PolicyIdentity::default(),
        }
    }

    /// Whether it is the route that `other` was, under the same policy.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.policy == other.policy
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

/// What a configuration says of a route, to be compared with what it says after a reload. Without a value it is the same as
/// any other without one.
#[derive(Clone, Default)]
pub struct PolicyIdentity(Option<Arc<dyn Comparable>>);

impl PolicyIdentity {
    /// All that the requests of a route pass: equal values are the same policy.
    pub fn of(policy: impl PartialEq + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(policy)))
    }
}

impl PartialEq for PolicyIdentity {
    fn eq(&self, other: &Self) -> bool {
        match (self.0.as_deref(), other.0.as_deref()) {
            (Some(one), Some(other)) => one.equals(other),
            (None, None) => true,
            _ => false,
        }
    }
}

/// A value of any type that can be compared with others of its type.
trait Comparable: Any + Send + Sync {
    fn equals(&self, other: &(dyn Comparable + 'static)) -> bool;
}

impl<T: PartialEq + Send + Sync + 'static> Comparable for T {
    fn equals(&self, other: &(dyn Comparable + 'static)) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_the_same_by_what_they_say() {
        let of = |methods: &[&str]| PolicyIdentity::of(("r".to_owned(), methods.join(",")));
        let none = PolicyIdentity::default();
        assert!(of(&["mask"]) == of(&["mask"]) && none == PolicyIdentity::default());
        for other in [of(&["block"]), of(&["mask", "block"]), PolicyIdentity::of(7), none] {
            assert!(of(&["mask"]) != other && other != of(&["mask"]));
        }
        // One may be part of another.
        let within = |policy: &PolicyIdentity| PolicyIdentity::of(("r", policy.clone()));
        assert!(
            within(&of(&["mask"])) == within(&of(&["mask"])) && within(&of(&["mask"])) != within(&of(&[]))
        );
    }
}
