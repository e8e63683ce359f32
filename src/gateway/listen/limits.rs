//! What callers are held to before their request is known, and while it comes and its answer goes.

use std::time::Duration;

/// All of it.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest head, in bytes.
    pub head: usize,
    /// The most fields in a head; Pingora's parser takes 256.
    pub fields: usize,
    /// How long a TLS handshake, and then a head, may take to arrive whole.
    pub head_time: Duration,
    /// How long a connection is kept without a request.
    pub idle: Duration,
    /// How fast a body must come and an answer be taken, in bytes a second.
    pub body_rate: usize,
    /// How long a body may come slower than that, or not at all.
    pub body_grace: Duration,
    /// How long an answer may be taken slower than that, or not at all.
    pub write_stall: Duration,
    /// Requests at once on one HTTP/2 connection.
    pub streams: u32,
}
