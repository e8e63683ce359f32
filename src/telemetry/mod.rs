//! What can be seen from outside: counts, durations and rule names, never text.

mod event;
mod init;
mod metrics;

pub use event::{Access, Scan, Unscanned};
pub use init::{LogFormat, start_log};
pub use metrics::{
    Check, ChildEnd, Circuit, ConnectionState, Direction, Each, FrontMetrics, HttpVersion, JobState, Levels,
    Metrics, MetricsError, PeerState, Refusal, RouteMetrics, RuleMetrics, ScanResult, StatusClass, StoreWork,
    Traffic, UpstreamFailure, UpstreamMetrics, Verdict, Word, WorkMetrics,
};
