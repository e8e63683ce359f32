//! Bounds on what callers may make the process hold, and on how long it waits for them when it stops.

use std::num::{NonZeroU32, NonZeroUsize};

use serde::Deserialize;

use crate::config::{Period, Size, Spanned, Supplied};

/// `[limits]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Connections at once. Default 16,384; those beyond it are closed.
    pub connections: NonZeroUsize,
    /// Connections at once from one address (of IPv6 its /64). Default 4,096; those beyond it are closed.
    pub connections_per_address: NonZeroUsize,
    /// How long a TLS handshake, and then a request's head, may take. Default 10 s; beyond it 408.
    pub head_time: Spanned<Period>,
    /// Header fields of a request. Default 128, at most 256; beyond it 431.
    pub headers: Spanned<u32>,
    /// How long a connection is kept without a request. Default 30 s.
    pub idle: Spanned<Period>,
    /// How fast a body must come and an answer be taken, a second. Default 1 KiB.
    pub body_rate: Size,
    /// How long a body may come slower than that. Default 10 s; beyond it 408.
    pub body_grace: Spanned<Period>,
    /// How long an answer may be taken slower than that. Default 30 s; the connection is closed then.
    pub write_stall: Spanned<Period>,
    /// Requests at once on one HTTP/2 connection. Default 100.
    pub streams: Spanned<u32>,
    /// A request's head: request line and fields. Default 64 KiB; beyond it 431.
    pub head: Spanned<Size>,
    /// The body of a call to our own JSON endpoints. Default 128 MiB; beyond it 413.
    pub body: Spanned<Size>,
    /// A file that is uploaded. Default 2 GiB; beyond it 413. It is never in memory as a whole.
    pub file: Spanned<Size>,
    /// A proxied body that must be read whole before it is sent (LLM requests). Default 32 MiB; beyond it 413.
    /// Bodies that are rewritten as they pass are not bounded by it; a route's `max_body` bounds those.
    pub collected: Spanned<Size>,
    /// All that one request holds at once. Default 256 MiB; beyond it 413.
    pub per_request: Spanned<Size>,
    /// All that all requests hold together. Default 512 MiB; beyond it 503.
    pub held: Spanned<Size>,
    /// Requests under way at once. Default 16,384; beyond it 503.
    pub in_flight: NonZeroUsize,
    /// How long work may wait for a thread. Default 1 s; while it waits longer, new requests get 503.
    pub queue: Spanned<Period>,
    /// How many different values a caller may have encrypted or hashed in `distinct_per`. Default 1,000,000; beyond it
    /// 429. 0: any number.
    pub distinct_values: u64,
    /// In which time, from a caller's first value on. Default 1 h.
    pub distinct_per: Spanned<Period>,
    /// What is kept of what was found in texts of requests, all callers' together: places, never texts. Default 16 MiB; `"1B"` keeps
    /// nothing.
    pub findings_cache: Size,
    /// Where nodes count together. `None`: each counts its own.
    pub shared: Option<Spanned<SharedLimits>>,
    /// How long a stopping process waits for requests under way. Default 30 s; `"0s"` does not wait.
    pub drain: Period,
}

/// `[limits.shared]`: an engine in which nodes count rates and budgets together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedLimits {
    /// A Valkey or Redis, `redis://user:password@host:port/number`, or `rediss://` for TLS.
    pub url: Spanned<Supplied>,
    /// How many nodes there are: while the engine is gone, each allows this part of every rate and budget. Default 2.
    #[serde(default = "two")]
    pub nodes: NonZeroU32,
    /// How long an answer may take; longer, and it counts as gone. Default 100 ms.
    #[serde(default = "answer")]
    pub timeout: Spanned<Period>,
}

fn two() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(1)
}

fn answer() -> Spanned<Period> {
    Spanned::new(Period::millis(100))
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: count(16_384),
            connections_per_address: count(4_096),
            head_time: Spanned::new(Period::secs(10)),
            headers: Spanned::new(128),
            idle: Spanned::new(Period::secs(30)),
            body_rate: Size::kib(1),
            body_grace: Spanned::new(Period::secs(10)),
            write_stall: Spanned::new(Period::secs(30)),
            streams: Spanned::new(100),
            head: Spanned::new(Size::kib(64)),
            body: Spanned::new(Size::mib(128)),
            file: Spanned::new(Size::mib(2048)),
            collected: Spanned::new(Size::mib(32)),
            per_request: Spanned::new(Size::mib(256)),
            held: Spanned::new(Size::mib(512)),
            in_flight: count(16_384),
            queue: Spanned::new(Period::secs(1)),
            distinct_values: 1_000_000,
            distinct_per: Spanned::new(Period::secs(3600)),
            findings_cache: Size::mib(16),
            shared: None,
            drain: Period::secs(30),
        }
    }
}

fn count(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN)
}
