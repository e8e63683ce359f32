//! The audit log.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::settings::RemoteUrl;
use crate::config::{Period, Spanned, Supplied};

/// `[audit]`: a line for each request and each change of tokens, chained by hashes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Where lines go. A process writes it alone: another one that is started meanwhile, as in an upgrade, writes a file with
    /// a number in its name.
    pub file: Spanned<PathBuf>,
    /// What the lines call this gateway. Default: the host's name.
    #[serde(default)]
    pub node: Option<Spanned<String>>,
    /// What happens to requests while lines cannot be written.
    #[serde(default)]
    pub on_failure: AuditFailure,
    /// Whether lines go into the store too, from the file. Default off.
    #[serde(default)]
    pub store: bool,
    /// How long they stay there. Default 400 days.
    #[serde(default = "year")]
    pub keep: Spanned<Period>,
    /// A collector that lines go to as well, from the file; none unless the file has the table.
    #[serde(default)]
    pub otlp: Option<AuditOtlp>,
}

/// `[audit.otlp]`: a collector that takes log records by OTLP over HTTP in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditOtlp {
    /// The whole URL for logs; by OTLP's convention its path is `/v1/logs`.
    pub endpoint: Spanned<RemoteUrl>,
    /// Fields of the head, such as a key.
    #[serde(default)]
    pub headers: BTreeMap<String, Spanned<Supplied>>,
    /// For one export. Default 10 s.
    #[serde(default = "ten")]
    pub time: Spanned<Period>,
    /// `service.name`. Default `portcullis`.
    #[serde(default = "name")]
    pub service: String,
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

fn year() -> Spanned<Period> {
    Spanned::new(Period::secs(400 * 24 * 60 * 60))
}

fn ten() -> Spanned<Period> {
    Spanned::new(Period::secs(10))
}

fn name() -> String {
    "portcullis".to_owned()
}
