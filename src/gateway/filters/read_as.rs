//! How a collected body is looked through, and why it cannot be.

use crate::api::{ApiError, Excess};
use crate::gateway::error::GatewayError;
use crate::redact::{Keys, Limits, RedactError, Redacted, Redactor, Undo};
use crate::stream::json::{PathSet, walk};

/// How a collected body is looked through.
#[derive(Clone, Copy)]
pub(super) enum ReadAs {
    Json,
    /// A JSON document a line.
    Lines,
    /// One document, or one a line under the label of one.
    JsonOrLines,
    /// What began like JSON and was not said to be.
    JsonOrText,
    Events,
    Form,
    Text,
}

impl ReadAs {
    /// Looks through a body.
    pub(super) fn look(
        self,
        redactor: &Redactor,
        body: &[u8],
        fields: &PathSet,
        keys: &Keys,
    ) -> Result<(Redacted<Vec<u8>>, Undo), RedactError> {
        let limits = Limits::default();
        match self {
            Self::Json => redactor.document(body, fields, keys, limits),
            Self::Lines => redactor.lines(body, fields, keys, limits),
            Self::JsonOrLines if is_json_by_line(body) => redactor.lines(body, fields, keys, limits),
            Self::JsonOrLines => redactor.document(body, fields, keys, limits),
            Self::JsonOrText if walk(body, &mut |_, _| {}).is_ok() => {
                redactor.document(body, fields, keys, limits)
            }
            Self::JsonOrText if is_json_by_line(body) => redactor.lines(body, fields, keys, limits),
            Self::Events => redactor.events(body, keys, limits),
            Self::Form => redactor.form(body, keys, limits),
            Self::JsonOrText | Self::Text => redactor.plain(body, keys, limits),
        }
    }
}

/// Whether a body is several JSON documents, one a line.
fn is_json_by_line(body: &[u8]) -> bool {
    let mut lines = body.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let is_json = |line: &[u8]| walk(line, &mut |_, _| {}).is_ok();
    lines.next().is_some_and(is_json) && lines.next().is_some_and(is_json) && lines.all(is_json)
}

/// What its caller is told.
pub(super) fn of_redaction(error: RedactError) -> GatewayError {
    match error {
        RedactError::Json(_) => GatewayError::BadBody("the body is not valid JSON, so it cannot be scanned"),
        RedactError::TooDeep { .. } => GatewayError::BadBody(
            "JSON within strings, or text in base64, is nested more than 8 levels deep, or JSON in a string more than 128: \
             it cannot be scanned",
        ),
        RedactError::Blocked(rules) => GatewayError::BlockedRequest(rules.to_string()),
        RedactError::TooManyValues { values, bytes } => {
            GatewayError::Api(ApiError::Excess(Excess::Values { values, bytes }))
        }
        RedactError::Stopped(_) => GatewayError::Api(ApiError::Overloaded),
        RedactError::Spent(spent) => GatewayError::Api(ApiError::TooManyValues(spent.after)),
        _ => GatewayError::Api(ApiError::Internal("redact")),
    }
}
