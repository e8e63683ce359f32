//! Names, labels and buckets of the metrics, and their exposition (Prometheus text format).
//!
//! Labels come from the configuration (routes, upstreams) or from closed lists, so their number is bounded.
//! `rule` labels one global counter only. Handles are resolved once, not per request.

use prometheus::{
    Encoder, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry,
    TextEncoder,
};

/// A metric could not be registered or written.
#[derive(Debug, thiserror::Error)]
#[error("metrics: {0}")]
pub struct MetricsError(#[from] prometheus::Error);

/// Which way a body goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the caller.
    Request,
    /// To the caller.
    Answer,
}

impl Direction {
    const fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Answer => "answer",
        }
    }
}

/// What failed between us and an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamFailure {
    /// No connection within the time-out, or refused.
    Connect,
    /// The TLS handshake or the certificate.
    Tls,
    /// No byte within the time-out.
    Timeout,
    /// The connection broke, or what came was not HTTP.
    Broken,
}

impl UpstreamFailure {
    /// Every kind, in the order of its discriminant.
    const ALL: [Self; 4] = [Self::Connect, Self::Tls, Self::Timeout, Self::Broken];

    /// The word of the `kind` label.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
        }
    }
}

/// All metrics of the process.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    scanned: IntCounterVec,
    unscanned: IntCounterVec,
    findings: IntCounterVec,
    route_findings: IntCounterVec,
    held_back: Histogram,
    held: IntGauge,
    tokens: IntGauge,
    upstream_errors: IntCounterVec,
}

impl Metrics {
    /// Registers everything.
    ///
    /// # Errors
    /// A name clash, which would be a bug here.
    pub fn new() -> Result<Self, MetricsError> {
        let registry = Registry::new();
        let counter = |name: &str, help: &str, labels: &[&str]| -> Result<IntCounterVec, MetricsError> {
            let made = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(made.clone()))?;
            Ok(made)
        };
        let requests = counter(
            "portcullis_requests_total",
            "Requests by route and class of status.",
            &["route", "status"],
        )?;
        let scanned = counter("portcullis_scanned_bytes_total", "Body bytes looked at.", &["direction"])?;
        let unscanned = counter(
            "portcullis_unscanned_bodies_total",
            "Bodies that passed unseen by a route's policy.",
            &["route", "direction"],
        )?;
        let findings = counter("portcullis_findings_total", "Values found, by rule.", &["rule"])?;
        let route_findings = counter(
            "portcullis_route_findings_total",
            "Values found, by route and family of rules.",
            &["route", "family"],
        )?;
        let upstream_errors = counter(
            "portcullis_upstream_errors_total",
            "Failures between the gateway and an upstream.",
            &["upstream", "kind"],
        )?;
        let buckets = vec![
            0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0,
        ];
        let durations = HistogramVec::new(
            HistogramOpts::new(
                "portcullis_request_duration_seconds",
                "From the first byte of the head to the last of the answer.",
            )
            .buckets(buckets),
            &["route"],
        )?;
        registry.register(Box::new(durations.clone()))?;
        let held_back = Histogram::with_opts(
            HistogramOpts::new(
                "portcullis_held_back_bytes",
                "Text held back after a piece of a stream, until it was decided.",
            )
            .buckets(vec![0.0, 8.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0]),
        )?;
        registry.register(Box::new(held_back.clone()))?;
        let held = IntGauge::new("portcullis_held_bytes", "Bytes of bodies held in memory now.")?;
        registry.register(Box::new(held.clone()))?;
        let tokens =
            IntGauge::new("portcullis_active_tokens", "API tokens used here within the last five minutes.")?;
        registry.register(Box::new(tokens.clone()))?;
        Ok(Self {
            registry,
            requests,
            durations,
            scanned,
            unscanned,
            findings,
            route_findings,
            held_back,
            held,
            tokens,
            upstream_errors,
        })
    }

    /// The handles of one route; `families` are the families its rules belong to.
    pub fn route(&self, name: &str, families: &[&'static str]) -> RouteMetrics {
        let status = |class: &str| self.requests.with_label_values(&[name, class]);
        let unscanned = |way: Direction| self.unscanned.with_label_values(&[name, way.word()]);
        RouteMetrics {
            status: [
                status("gone"),
                status("1xx"),
                status("2xx"),
                status("3xx"),
                status("4xx"),
                status("5xx"),
            ],
            duration: self.durations.with_label_values(&[name]),
            scanned: [Direction::Request, Direction::Answer]
                .map(|way| self.scanned.with_label_values(&[way.word()])),
            unscanned: [unscanned(Direction::Request), unscanned(Direction::Answer)],
            held_back: self.held_back.clone(),
            families: families
                .iter()
                .map(|family| self.route_findings.with_label_values(&[name, family]))
                .collect(),
        }
    }

    /// The counters of findings, one for each of `rules`, in that order.
    pub fn rules<'a>(&self, rules: impl Iterator<Item = &'a str>) -> RuleMetrics {
        RuleMetrics(rules.map(|rule| self.findings.with_label_values(&[rule])).collect())
    }

    /// The counters of one upstream.
    pub fn upstream(&self, name: &str) -> UpstreamMetrics {
        UpstreamMetrics(
            UpstreamFailure::ALL.map(|kind| self.upstream_errors.with_label_values(&[name, kind.word()])),
        )
    }

    /// The exposition, with the gauges of held bytes and active tokens brought up to date.
    ///
    /// # Errors
    /// The encoder's.
    pub fn expose(&self, held: usize, tokens: usize) -> Result<Vec<u8>, MetricsError> {
        self.tokens.set(i64::try_from(tokens).unwrap_or(i64::MAX));
        self.held.set(i64::try_from(held).unwrap_or(i64::MAX));
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

/// One route's handles.
#[derive(Clone)]
pub struct RouteMetrics {
    status: [IntCounter; 6],
    duration: Histogram,
    scanned: [IntCounter; 2],
    unscanned: [IntCounter; 2],
    held_back: Histogram,
    families: Vec<IntCounter>,
}

impl RouteMetrics {
    /// Counts a finished request; `status` 0 means that the caller was gone.
    pub fn request(&self, status: u16, seconds: f64) {
        if let Some(counter) = self.status.get(usize::from(status / 100)) {
            counter.inc();
        }
        self.duration.observe(seconds);
    }

    /// Counts body bytes looked at.
    pub fn scanned(&self, way: Direction, bytes: u64) {
        self.scanned[way as usize].inc_by(bytes);
    }

    /// Counts a body that passed unseen.
    pub fn unscanned(&self, way: Direction) {
        self.unscanned[way as usize].inc();
    }

    /// Records how much text is held back after a piece of a stream.
    pub fn held_back(&self, bytes: usize) {
        // Buckets end at 16 KiB; the loss above 2^52 does not matter.
        self.held_back.observe(bytes as f64);
    }

    /// Counts findings of the family at `index` of those the handles were made with.
    pub fn findings(&self, index: usize, count: u64) {
        if let Some(counter) = self.families.get(index) {
            counter.inc_by(count);
        }
    }
}

/// The counters of findings by rule.
#[derive(Clone)]
pub struct RuleMetrics(Vec<IntCounter>);

impl RuleMetrics {
    /// Counts findings of the rule at `index`.
    pub fn add(&self, index: usize, count: u64) {
        if let Some(counter) = self.0.get(index) {
            counter.inc_by(count);
        }
    }
}

/// The counters of one upstream's failures.
#[derive(Clone)]
pub struct UpstreamMetrics([IntCounter; 4]);

impl UpstreamMetrics {
    /// Counts a failure.
    pub fn failed(&self, kind: UpstreamFailure) {
        self.0[kind as usize].inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_show_under_their_names() {
        let metrics = Metrics::new().unwrap();
        let route = metrics.route("chat", &["email"]);
        route.request(204, 0.01);
        route.request(0, 0.01);
        route.scanned(Direction::Answer, 7);
        route.findings(0, 2);
        metrics.rules(["EMAIL_ADDRESS"].into_iter()).add(0, 3);
        metrics.upstream("openai").failed(UpstreamFailure::Timeout);
        let text = String::from_utf8(metrics.expose(5, 2).unwrap()).unwrap();
        for line in [
            "portcullis_requests_total{route=\"chat\",status=\"2xx\"} 1",
            "portcullis_requests_total{route=\"chat\",status=\"gone\"} 1",
            "portcullis_scanned_bytes_total{direction=\"answer\"} 7",
            "portcullis_route_findings_total{family=\"email\",route=\"chat\"} 2",
            "portcullis_findings_total{rule=\"EMAIL_ADDRESS\"} 3",
            "portcullis_upstream_errors_total{kind=\"timeout\",upstream=\"openai\"} 1",
            "portcullis_held_bytes 5",
            "portcullis_active_tokens 2",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
