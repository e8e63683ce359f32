//! How errors are written.

use serde_json::json;

use crate::api::call::{ApiAnswer, ApiCall};
use crate::api::error::ApiError;
use crate::api::guardrail::answer;

/// The recognizer that each finding names.
pub(super) const RECOGNIZER: &str = "Portcullis";

/// An error as Presidio tells it: one text.
pub(super) fn told(error: ApiError, call: &ApiCall<'_>) -> ApiAnswer {
    let body = json!({ "error": answer::text_of(&error) }).to_string();
    answer::told(error, call, "application/json", body)
}
