//! [`Operation`]: an endpoint as its folder describes it. The rest of what the document says of it (the frame, errors,
//! security) is the same for all.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A description that cannot be read, which would be a bug in it.
#[derive(Debug, thiserror::Error)]
#[error("the description of {0}: {1}")]
pub struct DescriptionError(pub &'static str, pub serde_json::Error);

/// One operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// A few words.
    pub summary: String,
    /// More of them.
    pub description: Option<String>,
    /// The schema of its JSON body.
    pub request: Option<Value>,
    /// A body.
    pub example: Option<Value>,
    /// The schema of `result` in the frame around a success.
    pub result: Option<Value>,
    /// The schema of an answer without the frame.
    pub raw: Option<Value>,
    /// Whether it may be answered later, with 202 first.
    #[serde(default)]
    pub accepted: bool,
    /// Whether the file may come as a part of a form, beside a part `request` with the JSON.
    #[serde(default)]
    pub form: bool,
    /// Whether the answer may be a form.
    #[serde(default)]
    pub form_answer: bool,
    /// Whether the answer is a file.
    #[serde(default)]
    pub bytes_answer: bool,
    /// Whether the body is a file.
    #[serde(default)]
    pub bytes_body: bool,
    /// Whether the body is a form with a file.
    #[serde(default)]
    pub file_body: bool,
    /// Whether it answers with pages for people, errors among them.
    #[serde(default)]
    pub page: bool,
    /// The schema of the form that such a page sends.
    pub page_form: Option<Value>,
    /// Whether it needs no token.
    #[serde(default)]
    pub open: bool,
    /// Parameters of its path.
    #[serde(default)]
    pub parameters: Vec<Value>,
    /// What follows after its path.
    #[serde(default)]
    pub below: String,
}

/// The folders' files, by the tag that their operations have.
pub(super) const FILES: [(&str, &str); 7] = [
    ("redact", include_str!("../redact/openapi.json")),
    ("configs", include_str!("../configs/openapi.json")),
    ("vault", include_str!("../vault/openapi.json")),
    ("share", include_str!("../share/openapi.json")),
    ("sanitize", include_str!("../sanitize/openapi.json")),
    ("token", include_str!("../token_service/openapi.json")),
    ("files", include_str!("files.json")),
];

/// Schemas that several of them use.
pub(super) const SCHEMAS: &str = include_str!("schemas.json");

/// The operations of one file, by method and path.
pub(super) fn read(tag: &'static str, text: &str) -> Result<BTreeMap<String, Operation>, DescriptionError> {
    serde_json::from_str(text).map_err(|error| DescriptionError(tag, error))
}
