//! [`Order`]: what a job is to do.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::sanitize::request::{ExpectedFile, FileSource};
use crate::api::sanitize::settings::Resolved;

/// What a job's order holds, if it is one of this service's.
pub(super) const ORDER: &str = "sanitize";

/// What a job is to do, as its row keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) source: FileSource,
    pub(super) name: Option<String>,
    pub(super) proof: ExpectedFile,
    pub(super) resolved: Resolved,
    pub(super) parameters: Map<String, Value>,
}

/// A file in memory.
pub(super) struct Loaded {
    pub(super) name: String,
    pub(super) bytes: Bytes,
}
