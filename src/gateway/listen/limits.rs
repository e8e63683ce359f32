//! What callers are held to before their request is known, and while it comes and its answer goes.

use std::time::Duration;

/// All of it. Sizes in bytes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long a TLS handshake, and then a request's head, may take to arrive whole.
    pub head_time: Duration,
}
