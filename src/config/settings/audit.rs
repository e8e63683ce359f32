//! The audit log.

use std::path::PathBuf;

use serde::Deserialize;

use crate::config::At;

/// `[audit]`: a line for each request and each change of tokens, chained by hashes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Where lines go. A process writes it alone: another one that is started meanwhile, as in an upgrade, writes a file with
    /// a number in its name.
    pub file: At<PathBuf>,
    /// What the lines call this gateway. Default: the host's name.
    #[serde(default)]
    pub node: Option<String>,
    /// What happens to requests while lines cannot be written.
    #[serde(default)]
    pub on_failure: AuditFailure,
}

/// What happens to requests while lines cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditFailure {
    /// They are refused (503).
    #[default]
    Refuse,
    /// They pass; what could not be written is counted.
    Pass,
}
