//! What can be seen from outside: counts, durations and rule names, never text.

mod event;
mod init;
mod metrics;

pub use event::{Access, Scan, Unscanned};
pub use init::{LogFormat, start_log};
pub use metrics::{
    Direction, Metrics, MetricsError, RouteMetrics, RuleMetrics, UpstreamFailure, UpstreamMetrics,
};
