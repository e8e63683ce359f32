//! [`MetricGroup`]: what of all that is counted is drawn. A line here is a figure, or one for each value of a label.

use crate::telemetry::Series;

/// How a figure comes of what is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// How much it grew, by the second.
    Rate,
    /// What it is.
    Level,
    /// The 50th, 95th and 99th percentile of what was observed, all labels together.
    Percentiles,
    /// The 95th percentile.
    P95,
}

/// Figures of one metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricGroup {
    /// What the page calls it.
    pub(super) name: &'static str,
    /// The metric.
    pub(super) metric: &'static str,
    /// The label by whose values there are figures; `None`: one figure.
    pub(super) by: Option<&'static str>,
    /// How they come of it.
    pub(super) figure: Figure,
    /// A label and the values of it that count; `None`: all do.
    pub(super) only: Option<(&'static str, &'static [&'static str])>,
}

impl MetricGroup {
    /// Whether this series is one of those that count.
    pub(super) fn has(&self, series: &Series) -> bool {
        self.only.is_none_or(|(label, values)| values.contains(&series.label(label)))
    }

    const fn only(self, label: &'static str, values: &'static [&'static str]) -> Self {
        Self { only: Some((label, values)), ..self }
    }
}

const fn group(
    name: &'static str,
    figure: Figure,
    metric: &'static str,
    by: Option<&'static str>,
) -> MetricGroup {
    MetricGroup { name, metric, by, figure, only: None }
}

/// All of them.
pub(super) const GROUPS: &[MetricGroup] = &[
    group("route", Figure::Rate, "portcullis_requests_total", Some("route")),
    group("status", Figure::Rate, "portcullis_requests_total", Some("status")),
    group("protocol", Figure::Rate, "portcullis_llm_requests_total", Some("protocol")),
    group("fault", Figure::Rate, "portcullis_faults_total", Some("fault")),
    group("refused", Figure::Rate, "portcullis_refused_total", Some("reason")),
    group("budget", Figure::Rate, "portcullis_over_budget_total", Some("budget")),
    group("rule", Figure::Rate, "portcullis_findings_total", Some("rule")),
    group("action", Figure::Rate, "portcullis_finding_actions_total", Some("action")),
    group("unseen", Figure::Rate, "portcullis_unscanned_bodies_total", Some("route")),
    group("latency", Figure::Percentiles, "portcullis_request_duration_seconds", None),
    group("route_p95", Figure::P95, "portcullis_request_duration_seconds", Some("route")),
    group("first_byte", Figure::Percentiles, "portcullis_llm_first_byte_seconds", None),
    group("held_back", Figure::Percentiles, "portcullis_held_back_bytes", None),
    group("tokens", Figure::Rate, "portcullis_model_tokens_total", Some("kind")),
    group("cost", Figure::Rate, "portcullis_model_cost_usd_total", Some("route")),
    group("attempts", Figure::Rate, "portcullis_upstream_attempts_total", Some("upstream")),
    group("failures", Figure::Rate, "portcullis_upstream_errors_total", Some("upstream"))
        .only("kind", &["connect", "tls", "timeout", "broken"]),
    group("unsent", Figure::Rate, "portcullis_upstream_errors_total", Some("upstream"))
        .only("kind", &["down", "open", "full"]),
    group("upstream_p95", Figure::P95, "portcullis_upstream_first_byte_seconds", Some("upstream")),
    group("in_flight", Figure::Level, "portcullis_in_flight_requests", None),
    group("connections", Figure::Level, "portcullis_connections", Some("state")),
    group("waiting", Figure::Level, "portcullis_waiting_works", None),
    group("held", Figure::Level, "portcullis_held_bytes", None),
    group("resident", Figure::Level, "process_resident_memory_bytes", None),
    group("cpu", Figure::Rate, "process_cpu_seconds_total", None),
    group("names", Figure::Rate, "portcullis_names_tokens_total", Some("read")),
    group("store", Figure::P95, "portcullis_store_seconds", Some("operation")),
    group("store_errors", Figure::Rate, "portcullis_store_errors_total", None),
];

/// What is shown as it is now, and not drawn.
pub(super) mod now {
    pub(in super::super) const VERSION: &str = "portcullis_build_info";
    pub(in super::super) const STARTED: &str = "process_start_time_seconds";
    pub(in super::super) const HELD_LIMIT: &str = "portcullis_held_limit_bytes";
    pub(in super::super) const TOKENS: &str = "portcullis_active_tokens";
    pub(in super::super) const SHARED: &str = "portcullis_shared_limits_available";
    pub(in super::super) const PEERS: &str = "portcullis_upstream_peers";
    pub(in super::super) const CIRCUIT: &str = "portcullis_upstream_circuit";
    pub(in super::super) const IN_FLIGHT: &str = "portcullis_upstream_in_flight";
}
