//! The HTTP front: connections, and what was refused before a route took it.

use prometheus::{IntCounter, IntGauge, IntGaugeVec};

use super::error::MetricsError;
use super::family::{Families, LabelledMetric};
use super::words::words;

words! {
    /// What a connection of a caller's is doing.
    pub enum ConnectionState {
        /// Accepted, but its TLS handshake or PROXY head is not done.
        Opening => "opening",
        /// A request on it is under way.
        Active => "active",
        /// It waits for the next request.
        Idle => "idle",
    }
}

words! {
    /// What is spoken on a connection.
    pub enum HttpVersion {
        /// HTTP/1.0 and HTTP/1.1.
        One => "http1",
        /// HTTP/2.
        Two => "http2",
    }
}

words! {
    /// Why a connection or a request was turned away.
    pub enum Refusal {
        /// All connections that may be open are.
        Connections => "connections",
        /// Its address has all that it may have.
        Address => "address",
        /// The TLS handshake failed, or took too long.
        Handshake => "handshake",
        /// The PROXY protocol's head is wrong, or from nobody who may send one.
        ProxyHead => "proxy_head",
        /// The head did not come in time.
        SlowHead => "slow_head",
        /// The body came too slowly.
        SlowBody => "slow_body",
        /// The caller does not read its answer.
        SlowReader => "slow_reader",
        /// The request took longer than any may.
        Total => "total",
        /// The head is too large.
        LargeHead => "large_head",
        /// A request that can be read in two ways.
        Framing => "framing",
        /// Too many frames of HTTP/2 that do nothing.
        Flood => "flood",
        /// More requests than may be under way.
        InFlight => "in_flight",
        /// More bytes than may be held.
        Held => "held",
        /// The waiting before a request begins is too long.
        Queue => "queue",
        /// The caller has had as many different values encrypted as it may.
        Values => "values",
        /// The process is about to end.
        Draining => "draining",
    }
}

/// Connections and refusals.
#[derive(Clone)]
pub struct FrontMetrics {
    /// Connections open now.
    pub connections: LabelledMetric<ConnectionState, IntGauge>,
    /// Connections taken, by what was spoken on them.
    pub accepted: LabelledMetric<HttpVersion, IntCounter>,
    /// Connections and requests turned away.
    pub refused: LabelledMetric<Refusal, IntCounter>,
    expiry: IntGaugeVec,
}

impl FrontMetrics {
    /// Listeners show other certificates from now on: [`FrontMetrics::certificate`] tells each.
    pub fn no_certificates(&self) {
        self.expiry.reset();
    }

    /// A listener shows a certificate that ends then, in seconds since 1970.
    pub fn certificate(&self, listener: &str, file: &str, end: u64) {
        self.expiry.with_label_values(&[listener, file]).set(i64::try_from(end).unwrap_or(i64::MAX));
    }

    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        let connections = families.gauges("connections", "Connections open now.", &["state"])?;
        let accepted = families.counters(
            "connections_total",
            "Connections, by what was spoken on them.",
            &["protocol"],
        )?;
        let refused = families.counters(
            "refused_total",
            "Connections and requests turned away, by reason.",
            &["reason"],
        )?;
        let expiry = families.gauges(
            "certificate_expiry_timestamp_seconds",
            "When a listener's certificate expires, since 1970.",
            &["listener", "file"],
        )?;
        Ok(Self {
            expiry,
            connections: LabelledMetric::new(move |word| connections.with_label_values(&[word])).shown(),
            accepted: LabelledMetric::new(move |word| accepted.with_label_values(&[word])),
            refused: LabelledMetric::new(move |word| refused.with_label_values(&[word])).shown(),
        })
    }
}

/// Rates and budgets that nodes share.
#[derive(Clone)]
pub struct SharedLimitMetrics {
    /// Whether the engine is there: 1, or 0.
    pub available: IntGauge,
    /// Questions that it did not answer.
    pub failures: IntCounter,
}

impl SharedLimitMetrics {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            available: families.gauge(
                "shared_limits_available",
                "Whether the engine of [limits.shared] is there: 1, or 0 while this node counts alone.",
            )?,
            failures: families.counter(
                "shared_limits_failures_total",
                "Questions that the engine of [limits.shared] did not answer.",
            )?,
        })
    }
}
