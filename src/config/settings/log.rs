//! Logging. Logs go to stderr; stdout is for results.

use std::path::PathBuf;

use serde::Deserialize;

use crate::config::Spanned;
use crate::telemetry::{Addresses, LogFormat};

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// What is said at all.
    pub level: Level,
    /// Whether there is a line for each request; at `level` `info` and below, unless it goes to a file. Default on.
    pub access: bool,
    /// A file for these lines, as JSON, whatever `format` says. It may be moved away at any time. `None`: with the rest.
    pub access_file: Option<Spanned<PathBuf>>,
    /// What of callers' addresses they have.
    pub addresses: Addresses,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: LogFormat::default(),
            level: Level::default(),
            access: true,
            access_file: None,
            addresses: Addresses::default(),
        }
    }
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
