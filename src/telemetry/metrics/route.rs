//! Requests and findings, by route and by rule.

use std::sync::Arc;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec};

use super::error::MetricsError;
use super::family::{Families, LabelledMetric, LazyMetric, SECONDS};
use super::words::words;

words! {
    /// Which way a body goes.
    pub enum Direction {
        /// From the caller.
        Request => "request",
        /// To the caller.
        Answer => "answer",
    }
}

words! {
    /// The class of a status.
    pub enum StatusClass {
        /// The caller was gone before one could be sent.
        Gone => "gone",
        /// Informational: another protocol.
        Informational => "1xx",
        /// Success.
        Success => "2xx",
        /// Redirection.
        Redirection => "3xx",
        /// The caller's fault.
        Caller => "4xx",
        /// Ours, or the upstream's.
        Server => "5xx",
    }
}

words! {
    /// What a filter did with a request's head.
    pub enum Filtered {
        /// Let it pass.
        Passed => "passed",
        /// Answered it.
        Answered => "answered",
        /// Refused it.
        Refused => "refused",
    }
}

impl StatusClass {
    const fn of(status: u16) -> Self {
        match status / 100 {
            0 => Self::Gone,
            1 => Self::Informational,
            2 => Self::Success,
            3 => Self::Redirection,
            4 => Self::Caller,
            _ => Self::Server,
        }
    }
}

/// The families, of which each route has its own.
pub(super) struct Routes {
    requests: IntCounterVec,
    durations: HistogramVec,
    bytes: IntCounterVec,
    scanned: IntCounterVec,
    unscanned: IntCounterVec,
    unscanned_strings: IntCounterVec,
    findings: IntCounterVec,
    route_findings: IntCounterVec,
    actions: IntCounterVec,
    held_back: Histogram,
    filtered: IntCounterVec,
    fallbacks: IntCounterVec,
    llm: LlmRequests,
}

/// Requests to LLMs, by what is spoken.
#[derive(Clone)]
struct LlmRequests {
    requests: IntCounterVec,
    first_bytes: HistogramVec,
}

impl LlmRequests {
    fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            requests: families.counters(
                "llm_requests_total",
                "Requests of which a filter asked what LLM protocol they speak, by that and class of status.",
                &["protocol", "status"],
            )?,
            first_bytes: families.histograms(
                "llm_first_byte_seconds",
                "From the first byte of a request's head to the first of the answer's body, where that is a success.",
                &["protocol"],
                SECONDS,
            )?,
        })
    }

    fn count(&self, protocol: &'static str, traffic: Traffic) {
        let class = StatusClass::of(traffic.status);
        self.requests.with_label_values(&[protocol, class.word()]).inc();
        if let (Some(seconds), StatusClass::Success) = (traffic.first_byte, class) {
            self.first_bytes.with_label_values(&[protocol]).observe(seconds);
        }
    }
}

impl Routes {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            requests: families.counters(
                "requests_total",
                "Requests by route and class of status.",
                &["route", "status"],
            )?,
            durations: families.histograms(
                "request_duration_seconds",
                "From the first byte of the head to the last of the answer.",
                &["route"],
                SECONDS,
            )?,
            bytes: families.counters(
                "body_bytes_total",
                "Body bytes received and sent.",
                &["route", "direction"],
            )?,
            scanned: families.counters("scanned_bytes_total", "Body bytes looked at.", &["direction"])?,
            unscanned: families.counters(
                "unscanned_bodies_total",
                "Bodies that passed unseen by a route's policy.",
                &["route", "direction"],
            )?,
            unscanned_strings: families.counters(
                "unscanned_strings_total",
                "Strings of scanned bodies that were not looked at, since they hold bytes: images, sound, seals.",
                &["route", "direction"],
            )?,
            findings: families.counters(
                "findings_total",
                "Values found, by rule.",
                &["rule", "direction"],
            )?,
            route_findings: families.counters(
                "route_findings_total",
                "Values found, by route and family of rules.",
                &["route", "family"],
            )?,
            actions: families.counters(
                "finding_actions_total",
                "What routes did with values found, by rule: encrypt, replace, mask, hash, block or report.",
                &["rule", "direction", "action"],
            )?,
            filtered: families.counters(
                "filtered_total",
                "Heads of requests that filters saw, and what they did: tokens proved, rates limited, tokens signed.",
                &["filter", "outcome"],
            )?,
            fallbacks: families.counters(
                "model_fallbacks_total",
                "Requests that were given to another model, since the one before did not answer.",
                &["route"],
            )?,
            llm: LlmRequests::new(families)?,
            held_back: families.histogram(
                "held_back_bytes",
                "Text held back after a piece of a stream, until it was decided.",
                &[0.0, 8.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0],
            )?,
        })
    }

    pub(super) fn of(&self, name: &str, families: &[&'static str]) -> RouteMetrics {
        let counters = |family: &IntCounterVec| {
            let (family, name) = (family.clone(), name.to_owned());
            move |word: &'static str| family.with_label_values(&[&name, word])
        };
        let (durations, of_durations) = (self.durations.clone(), name.to_owned());
        let (fallbacks, of_fallbacks) = (self.fallbacks.clone(), name.to_owned());
        let scanned = self.scanned.clone();
        let findings = |family: &&'static str| {
            let (make, family) = (counters(&self.route_findings), *family);
            LazyMetric::new(move || make(family))
        };
        RouteMetrics {
            status: LabelledMetric::new(counters(&self.requests)),
            duration: Arc::new(LazyMetric::new(move || durations.with_label_values(&[&of_durations]))),
            bytes: LabelledMetric::new(counters(&self.bytes)),
            scanned: LabelledMetric::new(move |way| scanned.with_label_values(&[way])),
            unscanned: LabelledMetric::new(counters(&self.unscanned)),
            unscanned_strings: LabelledMetric::new(counters(&self.unscanned_strings)),
            held_back: self.held_back.clone(),
            filtered: self.filtered.clone(),
            fallbacks: Arc::new(LazyMetric::new(move || fallbacks.with_label_values(&[&of_fallbacks]))),
            llm: self.llm.clone(),
            families: families.iter().map(findings).collect(),
        }
    }

    pub(super) fn acted(&self, rule: &str, way: Direction, action: &str, count: u64) {
        self.actions.with_label_values(&[rule, way.word(), action]).inc_by(count);
    }

    pub(super) fn rules<'a>(&self, rules: impl Iterator<Item = &'a str>, way: Direction) -> RuleMetrics {
        let counter = |rule: &str| {
            let (findings, rule) = (self.findings.clone(), rule.to_owned());
            LazyMetric::new(move || findings.with_label_values(&[&rule, way.word()]))
        };
        RuleMetrics(rules.map(counter).collect())
    }
}

/// What a finished request was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// The status sent; 0 when the caller was gone before one could be.
    pub status: u16,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Body bytes received.
    pub bytes_in: u64,
    /// Body bytes sent.
    pub bytes_out: u64,
    /// How long until the first byte of the answer's body, in seconds; `None` where there was none.
    pub first_byte: Option<f64>,
    /// The LLM protocol that was spoken, where somebody asked: a name from the closed list of those known.
    pub llm_protocol: Option<&'static str>,
}

/// One route's handles.
#[derive(Clone)]
pub struct RouteMetrics {
    status: LabelledMetric<StatusClass, IntCounter>,
    duration: Arc<LazyMetric<Histogram>>,
    bytes: LabelledMetric<Direction, IntCounter>,
    scanned: LabelledMetric<Direction, IntCounter>,
    unscanned: LabelledMetric<Direction, IntCounter>,
    unscanned_strings: LabelledMetric<Direction, IntCounter>,
    held_back: Histogram,
    filtered: IntCounterVec,
    fallbacks: Arc<LazyMetric<IntCounter>>,
    llm: LlmRequests,
    families: Arc<[LazyMetric<IntCounter>]>,
}

impl RouteMetrics {
    /// Shows at zero what alerts look at: requests that fail, those that do not, and bodies that pass unseen. For routes
    /// that somebody has configured.
    #[must_use]
    pub fn shown(self) -> Self {
        [StatusClass::Success, StatusClass::Server].into_iter().for_each(|class| self.status.show(class));
        Self { unscanned: self.unscanned.shown(), ..self }
    }

    /// Counts a finished request.
    pub fn request(&self, traffic: Traffic) {
        self.status.inc(StatusClass::of(traffic.status));
        self.duration.get().observe(traffic.seconds);
        if let Some(protocol) = traffic.llm_protocol {
            self.llm.count(protocol, traffic);
        }
        let sizes = [(Direction::Request, traffic.bytes_in), (Direction::Answer, traffic.bytes_out)];
        for (way, bytes) in sizes.into_iter().filter(|(_, bytes)| *bytes > 0) {
            self.bytes.add(way, bytes);
        }
    }

    /// Counts a request that is given to another model.
    pub fn fell_back(&self) {
        self.fallbacks.get().inc();
    }

    /// Counts body bytes looked at.
    pub fn scanned(&self, way: Direction, bytes: u64) {
        self.scanned.add(way, bytes);
    }

    /// Counts a body that passed unseen.
    pub fn unscanned(&self, way: Direction) {
        self.unscanned.inc(way);
    }

    /// Counts strings of a scanned body that were not looked at.
    pub fn unscanned_strings(&self, way: Direction, strings: u64) {
        if strings > 0 {
            self.unscanned_strings.add(way, strings);
        }
    }

    /// Counts what a filter, by its name in the code, did.
    pub fn filtered(&self, filter: &'static str, outcome: Filtered) {
        self.filtered.with_label_values(&[filter, outcome.word()]).inc();
    }

    /// Records how much text is held back after a piece of a stream.
    pub fn held_back(&self, bytes: usize) {
        // Buckets end at 16 KiB; the loss above 2^52 does not matter.
        self.held_back.observe(bytes as f64);
    }

    /// Counts findings of the family at `index` of those the handles were made with.
    pub fn findings(&self, index: usize, count: u64) {
        if let Some(counter) = self.families.get(index).filter(|_| count > 0) {
            counter.get().inc_by(count);
        }
    }
}

/// The counters of findings by rule.
#[derive(Clone)]
pub struct RuleMetrics(Arc<[LazyMetric<IntCounter>]>);

impl RuleMetrics {
    /// Counts findings of the rule at `index`.
    pub fn add(&self, index: usize, count: u64) {
        if let Some(counter) = self.0.get(index).filter(|_| count > 0) {
            counter.get().inc_by(count);
        }
    }
}
