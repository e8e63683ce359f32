//! [`MetricsError`].

/// A metric could not be registered or written.
#[derive(Debug, thiserror::Error)]
#[error("metrics: {0}")]
pub struct MetricsError(#[from] prometheus::Error);
