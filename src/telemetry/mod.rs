//! What can be seen from outside: counts, durations and rule names, never text.

mod access;
mod addresses;
mod event;
mod init;
mod lines;
mod log_records;
mod metrics;
mod process_log;
mod recent;
pub mod trace;

pub use access::{AccessLog, AccessTo};
pub use addresses::Addresses;
pub use event::{Access, AccessUsage, BodyScan, Unscanned};
pub use init::{LogFormat, LogWay, colour_log, logs_json, start_log};
pub use log_records::{LogRecord, Severity, encode_records};
pub use metrics::{
    AnalyzerAnswer, AnalyzerMetrics, AuditCopy, ChildEnd, Circuit, ConnectionState, Direction, FileOutcome,
    Filtered, FrontMetrics, GaugeGuard, HttpVersion, JobState, LabelValue, LabelledMetric, Levels, LostLines,
    Metrics, MetricsError, NamesRead, PeerState, Refusal, RouteMetrics, RuleMetrics, ScanCounters,
    ScanResult, Series, SeriesValue, SharedLimitMetrics, StatusClass, StoreWork, TokenKind, Traffic,
    UpstreamFailure, UpstreamMetrics, UsageMetrics, WorkMetrics,
};
pub use process_log::{flush_log, log_line};
pub use recent::{Decision, RecentPart, RecentRequest, RecentRequests, RecentUsage};
