//! What is sent elsewhere about requests: traces.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::config::settings::RemoteUrl;
use crate::config::{Period, Spanned, Supplied};

/// `[telemetry]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// Where spans go; none are made unless the file has the table.
    pub otlp: Option<Otlp>,
}

/// `[telemetry.otlp]`: a collector that takes OTLP over HTTP in JSON.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Otlp {
    /// The whole URL for traces; by OTLP's convention its path is `/v1/traces`.
    pub endpoint: Spanned<RemoteUrl>,
    /// Fields of the head, such as a key.
    #[serde(default)]
    pub headers: BTreeMap<String, Spanned<Supplied>>,
    /// The share of traces that are recorded, 0 to 1, of those that begin here. A caller's own trace is recorded if the
    /// caller says so. Default 1.
    #[serde(default = "all")]
    pub ratio: Spanned<f64>,
    /// For one export. Default 10 s.
    #[serde(default = "ten")]
    pub time: Spanned<Period>,
    /// `service.name`. Default `portcullis`.
    #[serde(default = "name")]
    pub service: String,
}

fn all() -> Spanned<f64> {
    Spanned::new(1.0)
}

fn ten() -> Spanned<Period> {
    Spanned::new(Period::secs(10))
}

fn name() -> String {
    "portcullis".to_owned()
}
