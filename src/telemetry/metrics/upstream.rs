//! Upstreams: attempts, failures, how long they take, who is well.

use std::sync::Arc;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec};

use super::error::MetricsError;
use super::family::{Families, LabelledMetric, LazyMetric, SECONDS};
use super::words::words;

words! {
    /// What failed between us and an upstream.
    pub enum UpstreamFailure {
        /// No connection within the time-out, or refused.
        Connect => "connect",
        /// The TLS handshake or the certificate.
        Tls => "tls",
        /// No byte within the time-out.
        Timeout => "timeout",
        /// The connection broke, or what came was not HTTP.
        Broken => "broken",
        /// Checks call every peer down, so it was not tried.
        Down => "down",
        /// Its circuit is open, so it was not tried.
        Open => "open",
        /// It has as many requests as it may.
        Full => "full",
    }
}

words! {
    /// Whether a peer gets requests.
    pub enum PeerState {
        /// It does.
        Healthy => "healthy",
        /// Its health checks fail.
        Unhealthy => "unhealthy",
        /// It failed too many requests.
        Ejected => "ejected",
    }
}

words! {
    /// Whether an upstream gets requests.
    pub enum Circuit {
        /// It does.
        Closed => "closed",
        /// One, to see whether it is back.
        HalfOpen => "half_open",
        /// None.
        Open => "open",
    }
}

/// The families, of which each upstream has its own.
pub(super) struct Upstreams {
    attempts: IntCounterVec,
    errors: IntCounterVec,
    first_byte: HistogramVec,
    peers: IntGaugeVec,
    circuit: IntGaugeVec,
    retries: IntCounterVec,
    in_flight: IntGaugeVec,
}

impl Upstreams {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            attempts: families.counters(
                "upstream_attempts_total",
                "Attempts to send a request to an upstream.",
                &["upstream"],
            )?,
            errors: families.counters(
                "upstream_errors_total",
                "Failures between the gateway and an upstream.",
                &["upstream", "kind"],
            )?,
            first_byte: families.histograms(
                "upstream_first_byte_seconds",
                "From the choice of a peer to the head of its answer.",
                &["upstream"],
                SECONDS,
            )?,
            peers: families.gauges(
                "upstream_peers",
                "Peers of an upstream, by state.",
                &["upstream", "state"],
            )?,
            circuit: families.gauges(
                "upstream_circuit",
                "1 for the state that an upstream's circuit is in.",
                &["upstream", "state"],
            )?,
            retries: families.counters(
                "upstream_retries_total",
                "Attempts after a first that failed.",
                &["upstream"],
            )?,
            in_flight: families.gauges(
                "upstream_in_flight",
                "Requests of which an upstream has not answered the last byte.",
                &["upstream"],
            )?,
        })
    }

    pub(super) fn of(&self, name: &str) -> UpstreamMetrics {
        let gauges = |family: &IntGaugeVec| {
            let (family, name) = (family.clone(), name.to_owned());
            move |word: &'static str| family.with_label_values(&[&name, word])
        };
        let (errors, of_errors) = (self.errors.clone(), name.to_owned());
        let (first_byte, of_first_byte) = (self.first_byte.clone(), name.to_owned());
        UpstreamMetrics {
            attempts: self.attempts.with_label_values(&[name]),
            errors: LabelledMetric::new(move |kind| errors.with_label_values(&[&of_errors, kind])).shown(),
            first_byte: Arc::new(LazyMetric::new(move || first_byte.with_label_values(&[&of_first_byte]))),
            peers: LabelledMetric::new(gauges(&self.peers)).shown(),
            circuit: LabelledMetric::new(gauges(&self.circuit)).shown(),
            retries: self.retries.with_label_values(&[name]),
            in_flight: self.in_flight.with_label_values(&[name]),
        }
    }
}

/// One upstream's metrics.
#[derive(Clone)]
pub struct UpstreamMetrics {
    attempts: IntCounter,
    errors: LabelledMetric<UpstreamFailure, IntCounter>,
    first_byte: Arc<LazyMetric<Histogram>>,
    /// Its peers, by state.
    pub peers: LabelledMetric<PeerState, IntGauge>,
    circuit: LabelledMetric<Circuit, IntGauge>,
    retries: IntCounter,
    in_flight: IntGauge,
}

impl UpstreamMetrics {
    /// Counts an attempt; `again` if one before it failed.
    pub fn attempt(&self, again: bool) {
        self.attempts.inc();
        if again {
            self.retries.inc();
        }
    }

    /// Counts a failure.
    pub fn failed(&self, kind: UpstreamFailure) {
        self.errors.inc(kind);
    }

    /// Records how long the head of an answer took, in seconds.
    pub fn first_byte(&self, seconds: f64) {
        self.first_byte.get().observe(seconds);
    }

    /// So many requests wait for it, or read its answers.
    pub fn in_flight(&self, requests: usize) {
        self.in_flight.set(i64::try_from(requests).unwrap_or(i64::MAX));
    }

    /// Its circuit is in this state now.
    pub fn circuit(&self, state: Circuit) {
        for one in [Circuit::Closed, Circuit::HalfOpen, Circuit::Open] {
            self.circuit.set(one, usize::from(one == state));
        }
    }
}
