//! What a job's answer says (specification, "Sanitize result").

use serde_json::{Map, Value, json};

use crate::api::pending::JobOutcome;
use crate::api::sanitize::file_report::{SanitizeTerms, data, refusal, summary};
use crate::api::sanitize::order::Order;
use crate::sanitize::Sanitized;
use crate::sanitize::sandbox::SandboxError;

/// Where a clean file lies.
pub(super) enum OutputPlace {
    /// At this URL, for a while.
    Url(String),
    /// In the share of files, under this id.
    Share(String),
}

/// The answer about a malicious file: it goes nowhere.
pub(super) fn malicious(parameters: &Map<String, Value>, error: &SandboxError) -> JobOutcome {
    let mut data = refusal(error);
    if let Some(members) = data.as_object_mut() {
        members.insert("malicious_file".to_owned(), json!(true));
    }
    let result = json!({ "parameters": parameters, "data": data });
    JobOutcome::success("The file is malicious and was not released".to_owned(), result)
}

/// The answer with a clean file.
pub(super) fn clean(
    order: &Order,
    asked: &SanitizeTerms<'_>,
    place: OutputPlace,
    sanitized: &Sanitized,
) -> JobOutcome {
    let mut result = Map::new();
    let (member, text) = match place {
        OutputPlace::Url(url) => ("dest_url", url),
        OutputPlace::Share(id) => ("dest_share_id", id),
    };
    result.insert(member.to_owned(), json!(text));
    result.insert("parameters".to_owned(), json!(order.parameters));
    result.insert("data".to_owned(), data(asked, sanitized));
    JobOutcome::success(summary(asked, sanitized), Value::Object(result))
}
