//! Errors as Amazon Bedrock spells them.

use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::json;

use crate::api::ApiAnswer;
use crate::gateway::error_shape::ErrorWords;
use crate::stream::amazon::{write_header, write_message};

const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// The word of an error by which a signature is refused.
const WRONG_SIGNATURE: &str = "wrong_signature";

/// The name of the exception, which clients raise.
fn kind(words: &ErrorWords<'_>) -> &'static str {
    let status = words.status;
    match status.as_u16() {
        403 if words.code == WRONG_SIGNATURE => "InvalidSignatureException",
        401 => "UnrecognizedClientException",
        403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 | 504 => "ModelTimeoutException",
        429 => "ThrottlingException",
        502 => "ModelErrorException",
        503 => "ServiceUnavailableException",
        500.. if status != StatusCode::NOT_IMPLEMENTED => "InternalServerException",
        _ => "ValidationException",
    }
}

/// Says the exception in a head.
pub(super) fn add_headers(answer: &mut ApiAnswer, words: &ErrorWords<'_>, id: &HeaderValue) {
    answer.headers.insert(&ERROR_TYPE, HeaderValue::from_static(kind(words)));
    answer.headers.insert(&REQUEST_ID, id.clone());
}

/// The exception as a message of an Amazon event stream; one of those that all streams of the service have.
pub(super) fn exception(status: StatusCode, message: &str) -> Bytes {
    let kind = match status.as_u16() {
        429 => "throttlingException",
        502 | 504 => "modelStreamErrorException",
        503 => "serviceUnavailableException",
        500.. => "internalServerException",
        _ => "validationException",
    };
    let mut headers = Vec::new();
    write_header(":exception-type", kind, &mut headers);
    write_header(":content-type", "application/json", &mut headers);
    write_header(":message-type", "exception", &mut headers);
    let mut out = BytesMut::new();
    // A sentence of ours is never too long for a message.
    drop(write_message(&headers, json!({ "message": message }).to_string().as_bytes(), &mut out));
    out.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::amazon::EventStreamMessage;

    #[test]
    fn an_exception_is_a_message_of_the_stream() {
        let raw = exception(StatusCode::TOO_MANY_REQUESTS, "slow down");
        let message = EventStreamMessage::parse(&raw).unwrap();
        assert_eq!(message.text(":message-type"), Some("exception"));
        assert_eq!(message.text(":exception-type"), Some("throttlingException"));
        assert_eq!(message.payload(), b"{\"message\":\"slow down\"}");
    }
}
