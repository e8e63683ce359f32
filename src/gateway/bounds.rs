//! [`RequestBounds`]: what every request may take up; [`SessionLimits`]: the same of a WebSocket.

use std::time::Duration;

use crate::gateway::clients::Underscores;
use crate::gateway::min_rate::ByteRate;

/// What every request may take up.
#[derive(Clone, Debug)]
pub struct RequestBounds {
    /// The largest head, in bytes.
    pub head: usize,
    /// The most that one request may hold, in bytes.
    pub per_request: usize,
    /// The longest silence of a caller in the middle of its request.
    pub read: Duration,
    /// The longest time a write to a caller may not move.
    pub write: Duration,
    /// How fast a body must come.
    pub body_rate: ByteRate,
    /// What becomes of header fields with an underscore in the name.
    pub underscores: Underscores,
}

/// What the WebSocket sessions of a route may take up.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// The largest message that is rewritten, in bytes.
    pub message: usize,
    /// How long neither side may send anything.
    pub idle: Duration,
    /// How long a session may last.
    pub longest: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        Self { message: 16 << 20, idle: minutes(15), longest: minutes(24 * 60) }
    }
}
