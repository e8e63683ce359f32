//! Why a request cannot be redacted, as its caller is told.

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::redact::RedactError;

/// What a body that cannot be redacted is to its caller.
pub(super) fn of_redaction(error: RedactError) -> GatewayError {
    match error {
        RedactError::Json(_) => GatewayError::BadBody("the body is not valid JSON, so it cannot be scanned"),
        RedactError::TooDeep { .. } => GatewayError::BadBody(
            "JSON within strings, or text in base64, is nested more than 8 levels deep, or JSON in a string more than 128: \
             it cannot be scanned",
        ),
        RedactError::Blocked(rules) => GatewayError::BlockedRequest(rules.to_string()),
        error => GatewayError::Api(ApiError::redact(&error)),
    }
}
