//! What can be seen from outside: counts, durations and rule names, never text.
//!
//! | module | what |
//! |---|---|
//! | `metrics` | Prometheus metrics: names, labels, buckets, exposition |
//! | [`trace`] | spans of requests: W3C Trace Context, export by OTLP |
//! | `event` | typed events, one for each finished request |
//! | `access` | the access log: one line for each request |
//! | `addresses` | how much of a caller's address is logged |
//! | `recent` | the last requests, kept in memory for the console |
//! | `init` | sets up the process's log: level, format, sources |
//! | `process_log` | the queue of log lines to standard error |
//! | `lines` | `LineQueue`: writes log lines in a thread, drops and counts what finds no room |
//! | `log_records` | log records in the JSON form of OTLP |

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
    Filtered, FindingsRead, FrontMetrics, GaugeGuard, HttpVersion, JobState, LabelValue, LabelledMetric,
    Levels, LostLines, Metrics, MetricsError, NamesRead, PeerState, Refusal, RouteMetrics, RuleMetrics,
    ScanCounters, ScanResult, Series, SeriesValue, SharedLimitMetrics, StatusClass, StoreWork, TokenKind,
    Traffic, UpstreamFailure, UpstreamMetrics, UsageMetrics, WorkMetrics,
};
pub use process_log::{flush_log, log_line};
pub use recent::{Decision, RecentPart, RecentRequest, RecentRequests, RecentUsage};
