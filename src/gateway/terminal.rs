//! Where a road ends: an upstream, one of our own endpoints, or a fixed answer.

use std::sync::Arc;

use crate::api::{Answer, Handler};
use crate::gateway::upstream::Upstream;

/// The end of a route.
#[derive(Clone)]
pub enum Terminal {
    /// Forwarded.
    Upstream(Arc<Upstream>),
    /// Answered by us.
    Native(Arc<dyn Handler>),
    /// Always the same answer.
    Fixed(Answer),
}
