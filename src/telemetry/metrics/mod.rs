//! Names, labels and buckets of the metrics, and their exposition (Prometheus text format).
//!
//! A new one is a field of the group that it belongs to, made in that group's `new`; its labels are words of a closed
//! list (`words!`) or names of the configuration, so the number of series is bounded whatever callers send.
//! Handles are resolved once, not per request; a series is shown from its first event on, unless alerts look at it
//! (`shown`). What is only known when somebody looks is set by a hook
//! ([`Metrics::before_exposing`]).
//!
//! | file | noun |
//! |---|---|
//! | `all` | [`Metrics`]: the registry, and every group |
//! | `analyzers` | [`AnalyzerMetrics`]: who is asked about texts |
//! | `family` | [`LabelledMetric`]: one metric for each word of a label; and how metrics are registered and first shown |
//! | `words` | [`LabelValue`]: labels from closed lists |
//! | `front` | [`FrontMetrics`]: connections, and what was refused |
//! | `route` | [`RouteMetrics`] and [`RuleMetrics`]: requests and findings |
//! | `upstream` | [`UpstreamMetrics`] |
//! | `usage` | [`UsageMetrics`]: tokens, money, budgets |
//! | `work` | [`WorkMetrics`]: files, the store, reloads, what caches knew |
//! | `process` | what the system knows of the process |
//! | `series` | [`Series`]: what is counted, as plain data |
//! | `error` | [`MetricsError`]: why a metric could not be registered |

mod all;
mod analyzers;
mod error;
mod family;
mod front;
mod process;
mod route;
mod series;
mod upstream;
mod usage;
mod words;
mod work;

pub use all::{AuditCopy, Levels, LostLines, Metrics};
pub use analyzers::{AnalyzerAnswer, AnalyzerMetrics};
pub use error::MetricsError;
pub use family::{GaugeGuard, LabelledMetric};
pub use front::{ConnectionState, FrontMetrics, HttpVersion, Refusal, SharedLimitMetrics};
pub use route::{Direction, Filtered, RouteMetrics, RuleMetrics, StatusClass, Traffic};
pub use series::{Series, SeriesValue};
pub use upstream::{Circuit, PeerState, UpstreamFailure, UpstreamMetrics};
pub use usage::{TokenKind, UsageMetrics};
pub use words::LabelValue;
pub use work::{
    ChildEnd, FileOutcome, FindingsRead, JobState, NamesRead, ScanCounters, ScanResult, StoreWork,
    WorkMetrics,
};
