//! What an upstream does about peers that fail: checks, ejection, a circuit breaker.

use std::num::{NonZeroU32, NonZeroUsize};

use serde::Deserialize;

use crate::config::{At, Period};

/// `[upstreams.NAME.health]`: every peer is asked again and again how it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// `GET` this path, under the upstream's `base`.
    pub path: At<String>,
    /// How often. Default 10 s.
    #[serde(default = "Health::interval")]
    pub interval: At<Period>,
    /// How long an answer may take, connecting included. Default 2 s.
    #[serde(default = "Health::timeout")]
    pub timeout: At<Period>,
    /// Good answers in a row that bring a peer back. Default 2.
    #[serde(default = "Health::healthy")]
    pub healthy: NonZeroU32,
    /// Bad ones in a row that take it out. Default 3.
    #[serde(default = "Health::unhealthy")]
    pub unhealthy: NonZeroU32,
    /// Statuses that are good. Default none, which is every 2xx.
    #[serde(default)]
    pub status: Vec<At<u16>>,
}

impl Health {
    fn interval() -> At<Period> {
        At::new(Period::secs(10))
    }

    fn timeout() -> At<Period> {
        At::new(Period::secs(2))
    }

    fn healthy() -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(1)
    }

    fn unhealthy() -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(2)
    }
}

/// `[upstreams.NAME.outliers]`: peers whose requests fail get none for a while. Failures are those to connect, broken
/// and silent answers, and the statuses 502, 503 and 504.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outliers {
    /// So many failures in a row. Default 5; 0 does not count them.
    pub failures: u32,
    /// Such a part of the requests within `window`. Default 0.5; 0 does not count it.
    pub rate: At<f64>,
    /// The fewest requests within `window` of which a part says anything. Default 20.
    pub requests: NonZeroU32,
    /// How long requests are counted together. Default 10 s.
    pub window: At<Period>,
    /// How long a peer is out the first time; each next time twice as long. Default 5 s.
    pub eject: At<Period>,
    /// The longest it is out. Default 5 m.
    pub longest: At<Period>,
    /// The part of the peers that may be out at once. Default 0.5: of one peer none, of two one.
    pub share: At<f64>,
}

impl Default for Outliers {
    fn default() -> Self {
        Self {
            failures: 5,
            rate: At::new(0.5),
            requests: NonZeroU32::MIN.saturating_add(19),
            window: At::new(Period::secs(10)),
            eject: At::new(Period::secs(5)),
            longest: At::new(Period::secs(300)),
            share: At::new(0.5),
        }
    }
}

/// `[upstreams.NAME.breaker]`: how much an upstream gets, and when it gets nothing. Requests that it may not have are
/// answered with 503 and `Retry-After`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Breaker {
    /// Requests at once. Default: any number.
    pub requests: Option<NonZeroUsize>,
    /// Requests that wait for a place when there are so many. Default 256.
    pub pending: usize,
    /// How long one waits. Default 1 s.
    pub wait: At<Period>,
    /// Failures in a row after which it opens. Default 20; 0: never.
    pub failures: u32,
    /// How long it is open before one request may try; after each try that fails twice as long. Default 1 s.
    pub open: At<Period>,
    /// The longest it is open. Default 30 s.
    pub longest: At<Period>,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            requests: None,
            pending: 256,
            wait: At::new(Period::secs(1)),
            failures: 20,
            open: At::new(Period::secs(1)),
            longest: At::new(Period::secs(30)),
        }
    }
}
