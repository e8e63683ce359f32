//! All metrics of the process.

use std::sync::{Mutex, PoisonError};

use prometheus::{Encoder, IntCounter, IntCounterVec, IntGauge, Registry, TextEncoder};

use super::analyzers::{AnalyzerMetrics, Analyzers};
use super::error::MetricsError;
use super::family::{Families, LabelledMetric};
use super::front::{FrontMetrics, SharedLimitMetrics};
use super::process::Process;
use super::route::{Direction, RouteMetrics, Routes, RuleMetrics};
use super::series::Series;
use super::upstream::{UpstreamMetrics, Upstreams};
use super::usage::UsageMetrics;
use super::words::words;
use super::work::WorkMetrics;
use crate::telemetry::lines::LineKind;
use crate::telemetry::process_log::take_lost;

words! {
    /// Where lines of the audit log are copied to.
    pub enum AuditCopy {
        /// Into the store.
        Store => "store",
        /// To a collector of OTLP.
        Otlp => "otlp",
    }
}

/// Counts lines that could not be written.
pub type LostLines = IntCounter;

type Hook = Box<dyn Fn() + Send + Sync>;

/// What is looked up when somebody asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Levels {
    /// Bytes of bodies held in memory.
    pub held: usize,
    /// The most that may be.
    pub held_limit: usize,
    /// API tokens used here within the last five minutes.
    pub tokens: usize,
    /// Requests under way.
    pub in_flight: usize,
    /// Works on bodies that wait for a thread.
    pub waiting: usize,
}

/// All metrics of the process.
pub struct Metrics {
    registry: Registry,
    routes: Routes,
    upstreams: Upstreams,
    analyzers: Analyzers,
    process: Process,
    held: IntGauge,
    held_limit: IntGauge,
    tokens: IntGauge,
    in_flight: IntGauge,
    waiting: IntGauge,
    hooks: Mutex<Vec<Hook>>,
    /// Connections and refusals.
    pub front: FrontMetrics,
    /// Files, the store, reloads.
    pub work: WorkMetrics,
    /// Tokens, money and budgets.
    pub usage: UsageMetrics,
    faults: IntCounterVec,
    /// Lines of the access log that could not be written.
    pub lines_lost: IntCounter,
    /// Other lines of the log that could not be written.
    events_lost: IntCounter,
    /// Lines of the audit log that could not be written.
    pub audit_lines_lost: LostLines,
    /// Lines of the audit log that a copy does not have yet.
    pub audit_behind: LabelledMetric<AuditCopy, IntGauge>,
    /// Spans that could not be sent.
    pub spans_lost: IntCounter,
}

fn audit_behind(families: &Families<'_>) -> Result<LabelledMetric<AuditCopy, IntGauge>, MetricsError> {
    let behind = families.gauges(
        "audit_lines_behind",
        "Lines of the audit log that a copy does not have yet.",
        &["to"],
    )?;
    Ok(LabelledMetric::new(move |word| behind.with_label_values(&[word])))
}

impl Metrics {
    /// Registers everything.
    ///
    /// # Errors
    /// A name clash, which would be a bug here.
    pub fn new() -> Result<Self, MetricsError> {
        let registry = Registry::new();
        let families = Families(&registry);
        let build = families.gauges("build_info", "1, with the version of the program.", &["version"])?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        Ok(Self {
            routes: Routes::new(&families)?,
            upstreams: Upstreams::new(&families)?,
            analyzers: Analyzers::new(&families)?,
            process: Process::new(&families)?,
            held: families.gauge("held_bytes", "Bytes of bodies held in memory now.")?,
            held_limit: families.gauge("held_limit_bytes", "Bytes of bodies that may be held in memory.")?,
            tokens: families.gauge("active_tokens", "API tokens used here within the last five minutes.")?,
            in_flight: families.gauge("in_flight_requests", "Requests under way.")?,
            waiting: families.gauge("waiting_works", "Works on bodies that wait for a thread.")?,
            front: FrontMetrics::new(&families)?,
            work: WorkMetrics::new(&families)?,
            usage: UsageMetrics::new(&families)?,
            faults: families.counters(
                "faults_total",
                "Requests that were refused or failed, by the word that the access log has for it.",
                &["fault"],
            )?,
            lines_lost: families
                .counter("access_lines_lost_total", "Lines of the access log that could not be written.")?,
            events_lost: families
                .counter("log_lines_lost_total", "Other lines of the log that could not be written.")?,
            audit_lines_lost: families
                .counter("audit_lines_lost_total", "Lines of the audit log that could not be written.")?,
            audit_behind: audit_behind(&families)?,
            spans_lost: families.counter("spans_lost_total", "Spans that could not be sent.")?,
            hooks: Mutex::default(),
            registry,
        })
    }

    /// Registers what is counted of rates that nodes share: only where they do.
    ///
    /// # Errors
    /// A second call.
    pub fn shared_limits(&self) -> Result<SharedLimitMetrics, MetricsError> {
        SharedLimitMetrics::new(&Families(&self.registry))
    }

    /// The handles of one route; `families` are the families its rules belong to.
    pub fn route(&self, name: &str, families: &[&'static str]) -> RouteMetrics {
        self.routes.of(name, families)
    }

    /// Counts findings of a rule in bodies that go this way, with which `action` was done.
    pub fn acted(&self, rule: &str, way: Direction, action: &str, count: u64) {
        self.routes.acted(rule, way, action, count);
    }

    /// The counters of findings in bodies that go this way, one for each of `rules`, in that order.
    pub fn rules<'a>(&self, rules: impl Iterator<Item = &'a str>, way: Direction) -> RuleMetrics {
        self.routes.rules(rules, way)
    }

    /// Counts what the access log says went wrong with a request: a word of a closed list.
    pub fn faults(&self) -> impl Fn(&'static str) + Send + Sync + use<> {
        let faults = self.faults.clone();
        move |fault| faults.with_label_values(&[fault]).inc()
    }

    /// One upstream's.
    pub fn upstream(&self, name: &str) -> UpstreamMetrics {
        self.upstreams.of(name)
    }

    /// One analyzer's.
    pub fn analyzer(&self, name: &str) -> AnalyzerMetrics {
        self.analyzers.of(name)
    }

    /// Has `hook` called before each exposition, to set what is only known when somebody looks. It must not wait.
    pub fn before_exposing(&self, hook: impl Fn() + Send + Sync + 'static) {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(hook));
    }

    /// The exposition, brought up to date.
    ///
    /// # Errors
    /// The encoder's.
    pub fn expose(&self, levels: Levels) -> Result<Vec<u8>, MetricsError> {
        self.look(levels);
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }

    /// The same as plain data.
    pub fn series(&self, levels: Levels) -> Vec<Series> {
        self.look(levels);
        Series::of(&self.registry.gather())
    }

    /// Brings up to date what is only known when somebody looks.
    fn look(&self, levels: Levels) {
        let set = |gauge: &IntGauge, level: usize| gauge.set(i64::try_from(level).unwrap_or(i64::MAX));
        set(&self.held, levels.held);
        set(&self.held_limit, levels.held_limit);
        set(&self.tokens, levels.tokens);
        set(&self.in_flight, levels.in_flight);
        set(&self.waiting, levels.waiting);
        self.lines_lost.inc_by(take_lost(LineKind::Access));
        self.events_lost.inc_by(take_lost(LineKind::Event));
        self.process.look();
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|hook| hook());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::{Circuit, Refusal, SeriesValue, Traffic, UpstreamFailure};

    #[test]
    fn counts_show_under_their_names() {
        let metrics = Metrics::new().unwrap();
        let route = metrics.route("chat", &["email"]);
        route.request(Traffic {
            status: 204,
            seconds: 0.01,
            bytes_in: 9,
            bytes_out: 4,
            ..Traffic::default()
        });
        route.request(Traffic::default());
        let (llm_protocol, first_byte) = (Some("openai_chat"), Some(0.2));
        route.request(Traffic { status: 200, llm_protocol, first_byte, ..Traffic::default() });
        route.request(Traffic { status: 429, llm_protocol, first_byte, ..Traffic::default() });
        route.scanned(Direction::Answer, 7);
        route.findings(0, 2);
        metrics.rules(["EMAIL_ADDRESS"].into_iter(), Direction::Request).add(0, 3);
        metrics.upstream("openai").failed(UpstreamFailure::Timeout);
        metrics.upstream("openai").circuit(Circuit::Open);
        metrics.front.refused.inc(Refusal::Flood);
        metrics.faults()("rate_limited");
        let held = metrics.in_flight.clone();
        metrics.before_exposing(move || held.set(11));
        let text =
            metrics.expose(Levels { held: 5, held_limit: 6, tokens: 2, in_flight: 1, waiting: 3 }).unwrap();
        let text = String::from_utf8(text).unwrap();
        for line in [
            "portcullis_requests_total{route=\"chat\",status=\"2xx\"} 2",
            "portcullis_llm_requests_total{protocol=\"openai_chat\",status=\"2xx\"} 1",
            "portcullis_llm_requests_total{protocol=\"openai_chat\",status=\"4xx\"} 1",
            "portcullis_llm_first_byte_seconds_count{protocol=\"openai_chat\"} 1",
            "portcullis_waiting_works 3",
            "portcullis_requests_total{route=\"chat\",status=\"gone\"} 1",
            "portcullis_body_bytes_total{direction=\"request\",route=\"chat\"} 9",
            "portcullis_scanned_bytes_total{direction=\"answer\"} 7",
            "portcullis_route_findings_total{family=\"email\",route=\"chat\"} 2",
            "portcullis_findings_total{direction=\"request\",rule=\"EMAIL_ADDRESS\"} 3",
            "portcullis_upstream_errors_total{kind=\"timeout\",upstream=\"openai\"} 1",
            "portcullis_upstream_circuit{state=\"open\",upstream=\"openai\"} 1",
            "portcullis_upstream_circuit{state=\"closed\",upstream=\"openai\"} 0",
            "portcullis_refused_total{reason=\"flood\"} 1",
            "portcullis_faults_total{fault=\"rate_limited\"} 1",
            "portcullis_held_bytes 5",
            "portcullis_held_limit_bytes 6",
            "portcullis_active_tokens 2",
            "portcullis_in_flight_requests 11",
            "portcullis_reloads_total{result=\"failed\"} 0",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn series_are_what_is_exposed() {
        let metrics = Metrics::new().unwrap();
        metrics.route("chat", &[]).request(Traffic { status: 200, seconds: 0.02, ..Traffic::default() });
        let series = metrics.series(Levels { held: 5, ..Levels::default() });
        let one = |name: &str, route: &str| {
            let mut found = series.iter().filter(|one| one.name == name && one.label("route") == route);
            found.next().map(|one| one.value.clone())
        };
        assert_eq!(one("portcullis_held_bytes", ""), Some(SeriesValue::Number(5.0)));
        assert_eq!(one("portcullis_requests_total", "chat"), Some(SeriesValue::Number(1.0)));
        let Some(SeriesValue::Histogram { buckets, count: 1 }) =
            one("portcullis_request_duration_seconds", "chat")
        else {
            panic!("no histogram")
        };
        assert_eq!(buckets.iter().find(|(_, count)| *count > 0).map(|(bound, _)| *bound), Some(0.025));
        let text = String::from_utf8(metrics.expose(Levels::default()).unwrap()).unwrap();
        let names: std::collections::BTreeSet<&str> = series.iter().map(|one| one.name.as_str()).collect();
        for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
            let name = line.split(' ').next().unwrap();
            assert!(names.contains(name), "{name}");
        }
    }

    /// What nobody counts takes no room; what alerts look at is there before it first happens.
    #[test]
    fn series_appear_with_their_first_event_but_for_those_of_alerts() {
        let metrics = Metrics::new().unwrap();
        let text = || String::from_utf8(metrics.expose(Levels::default()).unwrap()).unwrap();
        let own = metrics.route("/v1/redact", &["email"]);
        let configured = metrics.route("chat", &["email", "card"]).shown();
        let rules = metrics.rules(["EMAIL_ADDRESS", "SSN"].into_iter(), Direction::Answer);
        metrics.upstream("openai");
        metrics.work.scanner("clamd");
        let before = text();
        for line in [
            "portcullis_requests_total{route=\"chat\",status=\"5xx\"} 0",
            "portcullis_requests_total{route=\"chat\",status=\"2xx\"} 0",
            "portcullis_unscanned_bodies_total{direction=\"answer\",route=\"chat\"} 0",
            "portcullis_upstream_errors_total{kind=\"timeout\",upstream=\"openai\"} 0",
            "portcullis_scan_results_total{provider=\"clamd\",result=\"down\"} 0",
            "portcullis_refused_total{reason=\"held\"} 0",
            "portcullis_child_deaths_total{reason=\"memory\"} 0",
            "portcullis_sanitize_total{verdict=\"failed\"} 0",
            "portcullis_store_errors_total 0",
        ] {
            assert!(before.contains(&format!("{line}\n")), "{line} is not in\n{before}");
        }
        let absent = ["/v1/redact", "EMAIL_ADDRESS", "family=", "status=\"4xx\"", "first_byte", "body_bytes"];
        absent.iter().for_each(|word| assert!(!before.contains(word), "{word} is in\n{before}"));
        own.findings(0, 0);
        rules.add(0, 0);
        own.request(Traffic { status: 404, ..Traffic::default() });
        rules.add(1, 2);
        configured.findings(1, 1);
        let after = text();
        let new: Vec<&str> = after
            .lines()
            .filter(|line| {
                !line.starts_with('#') && !line.contains("_bucket") && !line.starts_with("process_")
            })
            .filter(|line| !before.contains(line.rsplit_once(' ').map_or(*line, |(name, _)| name)))
            .collect();
        assert_eq!(
            new,
            [
                "portcullis_findings_total{direction=\"answer\",rule=\"SSN\"} 2",
                "portcullis_request_duration_seconds_sum{route=\"/v1/redact\"} 0",
                "portcullis_request_duration_seconds_count{route=\"/v1/redact\"} 1",
                "portcullis_requests_total{route=\"/v1/redact\",status=\"4xx\"} 1",
                "portcullis_route_findings_total{family=\"card\",route=\"chat\"} 1",
            ]
        );
    }

    #[test]
    fn the_process_is_measured() {
        let metrics = Metrics::new().unwrap();
        let text = String::from_utf8(metrics.expose(Levels::default()).unwrap()).unwrap();
        let value = |name: &str| -> f64 {
            let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        for name in ["resident_memory_bytes", "virtual_memory_bytes", "open_fds", "max_fds", "threads"] {
            assert!(value(&format!("process_{name}")) > 0.0, "{name}");
        }
        assert!(text.contains("# TYPE process_cpu_seconds_total counter\n"));
        let started = value("process_start_time_seconds");
        let now =
            crate::base::clock::Clock::now(&crate::base::clock::SystemClock).as_millis() as f64 / 1000.0;
        assert!((now - started).abs() < 3600.0, "{started} {now}");
    }
}
