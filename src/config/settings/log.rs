//! Logging. Logs go to stderr; stdout is for results.

use serde::Deserialize;

/// `[log]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How a line looks.
    pub format: Format,
    /// What is said at all.
    pub level: Level,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
}

/// The least severe event that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What went wrong on our side.
    Error,
    /// What looks wrong.
    Warn,
    /// One line a request, and starts and stops.
    #[default]
    Info,
    /// What each filter decided.
    Debug,
    /// Everything.
    Trace,
}
