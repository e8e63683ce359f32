//! Where a route ends: an upstream, one of our own endpoints, a fixed answer, or somebody else who forwards.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;

use crate::api::{ApiAnswer, Handler};
use crate::gateway::upstream::Upstream;

/// The end of a route.
#[derive(Clone)]
pub enum Terminal {
    /// Forwarded.
    Upstream(Arc<Upstream>),
    /// Answered by us.
    Native(Arc<dyn Handler>),
    /// Always the same answer.
    Fixed(StaticAnswer),
    /// Forwarded by somebody else: the server that embeds the chain, see [`embed`](super::embed), or a proxy that has its
    /// exchanges processed.
    Host,
}

/// An answer that can be given again and again.
#[derive(Clone, Debug)]
pub struct StaticAnswer {
    /// The status.
    pub status: StatusCode,
    /// The body's media type.
    pub media_type: &'static str,
    /// The body.
    pub body: Bytes,
}

impl From<StaticAnswer> for ApiAnswer {
    fn from(fixed: StaticAnswer) -> Self {
        Self::new(fixed.status, fixed.media_type, fixed.body)
    }
}
