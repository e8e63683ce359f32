//! [`ErrorShape`]: how each protocol spells an error of ours, whole and as the last event of a stream. What an error says
//! is the same in all of them.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Where Google's error details say what is wrong (google/rpc/error_details.proto).
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const REQUEST_INFO: &str = "type.googleapis.com/google.rpc.RequestInfo";

/// The longest id of a call that is repeated in an error, in bytes.
const LONGEST_CALL: usize = 256;

/// How a caller's protocol spells an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorShape {
    /// The API's envelope; also for routes without a known protocol.
    #[default]
    Envelope,
    /// OpenAI's error object (API reference, "Error codes"); also Azure's.
    OpenAi,
    /// OpenAI's, whose streams of responses have an event `error` (API reference, "Responses", "Streaming events").
    Responses,
    /// Anthropic's (API reference, "Errors").
    Anthropic,
    /// Google's (google/rpc/status.proto, as JSON); also Vertex AI's.
    Gemini,
    /// Google's, whose streams of interactions have an event `error` (Gemini API reference, "Interactions").
    Interactions,
    /// Ollama's (API reference, "Errors"): one text.
    Ollama,
    /// Cohere's (API reference, "Errors"): one text; a stream says it as its message ends.
    Cohere,
    /// A message, and the name of an exception in the head (Amazon Bedrock API reference, "Common errors"); its streams have
    /// messages of their own.
    Bedrock,
    /// Mistral's: what is wrong with a request is a list, as of FastAPI, with status 422.
    Mistral,
    /// JSON-RPC 2.0, section 5.1, as the Model Context Protocol has it.
    JsonRpc,
}

/// What an error says.
pub(super) struct ErrorWords<'a> {
    /// The status, as HTTP has it.
    pub(super) status: StatusCode,
    /// Our word for it; see [`GatewayError::word`](super::error::GatewayError::word).
    pub(super) code: &'static str,
    /// What is wrong and what to do, for people.
    pub(super) message: String,
    /// The request's id.
    pub(super) request: String,
    /// The id that the caller gave its call, as JSON; of JSON-RPC only.
    pub(super) call: Option<&'a str>,
}

impl ErrorShape {
    /// The status that it has in this shape.
    pub(super) fn status(self, status: StatusCode) -> StatusCode {
        match self {
            Self::Mistral if status == StatusCode::BAD_REQUEST => StatusCode::UNPROCESSABLE_ENTITY,
            _ => status,
        }
    }

    /// The body of a whole answer.
    pub(super) fn body(self, words: &ErrorWords<'_>) -> Value {
        let ErrorWords { message, request, .. } = words;
        match self {
            Self::Envelope => json!({ "status": "ProviderError" }),
            Self::OpenAi | Self::Responses => words.openai(),
            Self::Anthropic => json!({
                "type": "error",
                "error": { "type": words.anthropic_type(), "message": message },
                "request_id": request,
            }),
            Self::Gemini | Self::Interactions => words.google(),
            Self::Ollama => json!({ "error": message }),
            Self::Bedrock => json!({ "message": message }),
            Self::Cohere => json!({ "id": request, "message": message }),
            Self::Mistral => words.mistral(),
            Self::JsonRpc => words.json_rpc(),
        }
    }

    /// The last document of a stream of documents.
    pub(super) fn document(self, words: &ErrorWords<'_>) -> Value {
        match self {
            // API reference, version 1, "Chat with streaming".
            Self::Cohere => json!({
                "event_type": "stream-end",
                "is_finished": true,
                "finish_reason": "ERROR",
                "id": words.request,
                "message": words.message,
            }),
            shape => shape.body(words),
        }
    }

    /// The last event of an event stream.
    pub(super) fn event(self, words: &ErrorWords<'_>) -> Bytes {
        let body = self.body(words);
        let (name, data) = match self {
            Self::Envelope | Self::Anthropic | Self::Bedrock => ("error", body),
            Self::Responses => ("error", words.response_event()),
            Self::Interactions => ("error", words.interaction_event()),
            Self::JsonRpc => ("message", body),
            Self::Cohere => {
                let delta = json!({ "error": words.message, "finish_reason": "ERROR" });
                ("message-end", json!({ "type": "message-end", "delta": delta }))
            }
            Self::OpenAi | Self::Gemini | Self::Ollama | Self::Mistral => ("", body),
        };
        match name {
            "" => format!("data: {data}\n\n").into(),
            name => format!("event: {name}\ndata: {data}\n\n").into(),
        }
    }

    /// The last message of a WebSocket; where a protocol has none for errors, the close frame says it alone.
    pub(super) fn message(self, words: &ErrorWords<'_>) -> Option<Value> {
        match self {
            Self::OpenAi => {
                let mut message = words.openai();
                if let Value::Object(members) = &mut message {
                    members.insert("type".to_owned(), json!("error"));
                }
                Some(message)
            }
            Self::Responses => Some(words.response_event()),
            _ => None,
        }
    }
}

/// The word of a budget that is used up.
pub(super) const OVER_BUDGET: &str = "over_budget";

impl ErrorWords<'_> {
    fn openai(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            501 => "invalid_request_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        let code = self.openai_code();
        json!({ "error": { "message": self.message, "type": kind, "param": null, "code": code } })
    }

    fn openai_code(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "invalid_api_key",
            403 => "forbidden",
            404 => "not_found",
            413 => "request_too_large",
            // As for an account that has nothing left.
            429 if self.code == OVER_BUDGET => "insufficient_quota",
            429 => "rate_limit_exceeded",
            _ => self.code,
        }
    }

    /// The event by its own form, and the object by which clients of both APIs know an error.
    fn response_event(&self) -> Value {
        let mut event = self.openai();
        if let Value::Object(members) = &mut event {
            members.extend([
                ("type".to_owned(), json!("error")),
                ("code".to_owned(), json!(self.openai_code())),
                ("message".to_owned(), json!(self.message)),
                ("param".to_owned(), Value::Null),
            ]);
        }
        event
    }

    fn anthropic_type(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            503 => "overloaded_error",
            504 => "timeout_error",
            501 => "invalid_request_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        }
    }

    fn google(&self) -> Value {
        // google/rpc/code.proto.
        let status = match self.status.as_u16() {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            408 | 504 => "DEADLINE_EXCEEDED",
            429 => "RESOURCE_EXHAUSTED",
            405 | 501 => "UNIMPLEMENTED",
            502 | 503 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({ "error": {
            "code": self.status.as_u16(),
            "message": self.message,
            "status": status,
            "details": [
                { "@type": ERROR_INFO, "reason": self.code.to_ascii_uppercase(), "domain": "portcullis" },
                { "@type": REQUEST_INFO, "requestId": self.request },
            ],
        } })
    }

    /// The event by its own form, in which the word for the error stands where its number does elsewhere.
    fn interaction_event(&self) -> Value {
        let mut event = self.google();
        let status = event.pointer("/error/status").cloned();
        if let (Some(code), Some(status)) = (event.pointer_mut("/error/code"), status) {
            *code = status;
        }
        if let Value::Object(members) = &mut event {
            members.insert("event_type".to_owned(), json!("error"));
        }
        event
    }

    fn mistral(&self) -> Value {
        let (message, code) = (&self.message, self.code);
        if matches!(self.status.as_u16(), 400 | 422) {
            return json!({ "detail": [{ "type": code, "loc": ["body"], "msg": message }] });
        }
        json!({ "object": "error", "message": message, "type": code, "param": null, "code": code })
    }

    fn json_rpc(&self) -> Value {
        // Section 5.1; what is no fault of the call is from the range that servers may use.
        let code = match self.status.as_u16() {
            404 | 405 | 501 => -32601,
            401 | 403 | 408 | 429 | 502..=504 => -32000,
            500.. => -32603,
            _ => -32600,
        };
        let id = self.call.and_then(|id| serde_json::from_str(id).ok()).unwrap_or(Value::Null);
        let data = json!({ "code": self.code, "status": self.status.as_u16(), "request_id": self.request });
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": self.message, "data": data } })
    }
}

/// The id of a JSON-RPC call, as JSON: a text or a number (JSON-RPC 2.0, section 4).
pub(super) fn call_id(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct JsonRpcCall<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    let id = serde_json::from_slice::<JsonRpcCall<'_>>(body).ok()?.id.get();
    let plain = id.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit());
    (plain && id.len() <= LONGEST_CALL).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::call_id;

    #[test]
    fn a_call_is_known_by_a_text_or_a_number() {
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(300));
        let rows = [
            (r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#, Some("7")),
            (r#"{"method":"m","params":{"id":1},"id":"a\"b"}"#, Some(r#""a\"b""#)),
            (r#"{"method":"notifications/x","params":{"id":1}}"#, None),
            (r#"{"id":null}"#, None),
            (r#"{"id":{"a":1}}"#, None),
            (r#"{"id":1,"id":2}"#, None),
            (r#"[{"id":1}]"#, None),
            (r#"{"id":1"#, None),
            (long.as_str(), None),
        ];
        for (body, id) in rows {
            assert_eq!(call_id(body.as_bytes()).as_deref(), id, "{body}");
        }
    }
}
