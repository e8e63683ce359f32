//! What callers are held to before their request is known, and while it comes and its answer goes.

use std::time::Duration;

use crate::gateway::min_rate::ByteRate;

/// All of it.
#[derive(Clone, Debug)]
pub struct ListenLimits {
    /// The largest head, in bytes.
    pub head: usize,
    /// The most fields in a head; Pingora's parser takes 256.
    pub fields: usize,
    /// How long a TLS handshake, and then a head, may take to arrive whole.
    pub head_time: Duration,
    /// How long a connection is kept without a request.
    pub idle: Duration,
    /// How fast a body must come.
    pub body_rate: ByteRate,
    /// How fast an answer must be taken.
    pub write_rate: ByteRate,
    /// Requests at once on one HTTP/2 connection.
    pub streams: u32,
}
