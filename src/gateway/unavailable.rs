//! [`Unavailable`]: why an upstream gets no requests now, and when it may be asked again.

use crate::telemetry::UpstreamFailure;

/// Why an upstream gets no requests now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// Checks call every peer down.
    Down,
    /// As many requests are under way as may be.
    Full,
    /// It failed too often; so many seconds until the next try.
    Open(u64),
}

impl Unavailable {
    /// The word for the access log.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Down => "upstream_down",
            Self::Full => "upstream_full",
            Self::Open(_) => "breaker_open",
        }
    }

    /// What is wrong and what to do, for people.
    pub(super) const fn summary(self) -> &'static str {
        match self {
            Self::Down | Self::Open(_) => "The upstream is not available now; try again shortly",
            Self::Full => "The upstream has as many requests as it may; try again shortly",
        }
    }

    /// What is counted.
    pub const fn failure(self) -> UpstreamFailure {
        match self {
            Self::Down => UpstreamFailure::Down,
            Self::Full => UpstreamFailure::Full,
            Self::Open(_) => UpstreamFailure::Open,
        }
    }

    /// Seconds after which it may be tried again.
    pub(super) const fn after(self) -> u64 {
        match self {
            Self::Open(seconds) => seconds,
            Self::Down | Self::Full => 1,
        }
    }
}
