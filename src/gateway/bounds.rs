//! [`Bounds`]: what every request may take up.

use std::time::Duration;

use crate::gateway::clients::Underscores;
use crate::gateway::min_rate::ByteRate;

/// What every request may take up.
#[derive(Clone, Debug)]
pub struct Bounds {
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
