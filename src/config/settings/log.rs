//! Logging. Logs go to stderr; stdout is for results.

use std::path::PathBuf;

use serde::Deserialize;

use crate::config::Spanned;

/// `[log]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// How a line looks.
    pub format: LineFormat,
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
            format: LineFormat::default(),
            level: Level::default(),
            access: true,
            access_file: None,
            addresses: Addresses::default(),
        }
    }
}

/// What of a caller's address is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Addresses {
    /// All of it.
    #[default]
    Whole,
    /// The network: 24 bits of IPv4, 48 of IPv6.
    Network,
    /// Nothing.
    Off,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineFormat {
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
