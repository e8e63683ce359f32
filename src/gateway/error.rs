//! What can go wrong with a request, by culprit, and the one place where it becomes an answer in the shape that the
//! caller's protocol expects. Before the first byte it is a whole answer; after it, one last event.

use bytes::Bytes;
use http::header::{CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::api::envelope::{REQUEST_ID, Stamp};
use crate::api::{Answer, ApiError, BodyError, CHALLENGE, Excess};
use crate::base::budget::Exhausted;
use crate::gateway::media_type::Frame;
use crate::stream::StreamError;
use crate::telemetry::UpstreamFailure;

mod bedrock;

/// Why a request ends here. No variant holds a byte that came from outside.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The caller's body is not what its head says, or cannot be read.
    #[error("{0}")]
    BadBody(&'static str),
    /// The caller's head or body is at fault, or ours; the API's own errors.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The caller is gone.
    #[error("the caller left")]
    Gone,
    /// The caller is gone, and had sent its request whole: there is no one to answer.
    #[error("the caller left before its answer came")]
    Left,
    /// The upstream failed.
    #[error("the upstream failed ({})", .0.word())]
    Upstream(UpstreamFailure),
    /// The upstream gets no requests now.
    #[error("{}", .0.summary())]
    Unavailable(Unavailable),
    /// What the caller asks for is not built.
    #[error("{0}")]
    NotBuilt(&'static str),
    /// The upstream answers in a form that the route refuses.
    #[error("the upstream's answer cannot be scanned: {0}")]
    Unscannable(&'static str),
}

/// Why an upstream gets no requests now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// Checks call every peer down.
    Down,
    /// As many requests are under way as may be.
    Full,
    /// It failed too often; so many seconds until the next try.
    Open(u64),
}

impl Unavailable {
    const fn word(self) -> &'static str {
        match self {
            Self::Down => "upstream_down",
            Self::Full => "upstream_full",
            Self::Open(_) => "breaker_open",
        }
    }

    const fn summary(self) -> &'static str {
        match self {
            Self::Down | Self::Open(_) => "The upstream is not available now; try again shortly",
            Self::Full => "The upstream has as many requests as it may; try again shortly",
        }
    }

    /// What is counted.
    pub const fn failure(self) -> UpstreamFailure {
        match self {
            Self::Down => UpstreamFailure::Down,
            Self::Full => UpstreamFailure::Full,
            Self::Open(_) => UpstreamFailure::Open,
        }
    }

    /// Seconds after which it may be tried again.
    const fn after(self) -> u64 {
        match self {
            Self::Open(seconds) => seconds,
            Self::Down | Self::Full => 1,
        }
    }
}

impl From<BodyError> for GatewayError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Gone => Self::Gone,
            other => Self::Api(other.into()),
        }
    }
}

impl From<Exhausted> for GatewayError {
    fn from(why: Exhausted) -> Self {
        Self::Api(why.into())
    }
}

impl GatewayError {
    /// A request whose text cannot be located.
    pub const UNKNOWN_TYPE: Self = Self::Api(ApiError::UnsupportedMediaType(
        "This route passes only bodies that it can scan: JSON, NDJSON, event streams, forms and text",
    ));

    /// An answer whose text cannot be located.
    pub const UNKNOWN_ANSWER: Self = Self::Unscannable("its content type has no known text");

    /// A request body that could not be rewritten.
    pub fn of_request(error: StreamError) -> Self {
        match error {
            StreamError::BadCoding { .. } => Self::BadBody("the body is not in the content coding it claims"),
            StreamError::Truncated { .. } => Self::BadBody("the body ends before its content coding does"),
            StreamError::Damaged | StreamError::BrokenOff => {
                Self::BadBody("a message of the body is damaged")
            }
            StreamError::NotText(why) => Self::BadBody(why),
            StreamError::Unlabelled => Self::UNKNOWN_TYPE,
            StreamError::Ratio { limit } => Self::Api(ApiError::Excess(Excess::Ratio(limit))),
            StreamError::TooLarge { unit, limit } => {
                Self::Api(ApiError::Excess(Excess::Unit { unit, limit }))
            }
            StreamError::Exhausted(why) => why.into(),
            StreamError::Spent(spent) => Self::Api(ApiError::TooManyValues(spent.after)),
            StreamError::Replace(why) => Self::Api(ApiError::Internal(why)),
            StreamError::Unavailable { coding } => Self::Api(ApiError::Internal(coding)),
        }
    }

    /// An answer's body that could not be rewritten.
    pub fn of_answer(error: StreamError) -> Self {
        match error {
            StreamError::Spent(spent) => Self::Api(ApiError::TooManyValues(spent.after)),
            StreamError::Replace(why) => Self::Api(ApiError::Internal(why)),
            StreamError::Unavailable { coding } => Self::Api(ApiError::Internal(coding)),
            StreamError::Exhausted(Exhausted::Process { .. }) => Self::Api(ApiError::Overloaded),
            StreamError::Exhausted(Exhausted::Request { .. }) | StreamError::TooLarge { .. } => {
                Self::Unscannable("a unit of it is too large")
            }
            StreamError::BadCoding { .. } | StreamError::Truncated { .. } | StreamError::Ratio { .. } => {
                Self::Unscannable("its content coding is broken")
            }
            StreamError::Damaged => Self::Unscannable("a message of it is damaged"),
            StreamError::BrokenOff => Self::Upstream(UpstreamFailure::Broken),
            StreamError::NotText(_) => Self::Unscannable("it is not UTF-8 text without NUL bytes"),
            StreamError::Unlabelled => Self::UNKNOWN_ANSWER,
        }
    }

    /// The word for the access log; a closed list.
    pub fn word(&self) -> &'static str {
        match self {
            Self::BadBody(_) => "bad_body",
            Self::Gone | Self::Left => "caller_gone",
            Self::Upstream(kind) => kind.word(),
            Self::Unscannable(_) => "unscannable_answer",
            Self::NotBuilt(_) => "not_implemented",
            Self::Unavailable(why) => why.word(),
            Self::Api(error) => match error {
                ApiError::Validation(_) | ApiError::BadRequest(_) => "bad_request",
                ApiError::Unauthorized => "unauthorized",
                ApiError::ServiceNotEnabled | ApiError::OutOfScope(_) | ApiError::MissingConfigIDScope => {
                    "out_of_scope"
                }
                ApiError::MissingConfigID | ApiError::AmbiguousConfigID => "bad_request",
                ApiError::NotFound => "no_route",
                ApiError::VaultItemNotFound => "no_item",
                ApiError::ForbiddenVaultOperation(_) => "forbidden",
                ApiError::MethodNotAllowed(_) => "wrong_method",
                ApiError::RequestTimeout => "slow_caller",
                ApiError::TooLarge(_) | ApiError::Excess(_) => "too_large",
                ApiError::UnsupportedMediaType(_) => "unscannable_request",
                ApiError::HeadTooLarge => "head_too_large",
                ApiError::TooManyRequests(_) => "rate_limited",
                ApiError::TooManyValues(_) => "values_limited",
                ApiError::Provider(_) => "provider",
                ApiError::Overloaded => "overloaded",
                ApiError::Full => "store_full",
                ApiError::Internal(_) => "internal",
            },
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::BadBody(_) | Self::Gone | Self::Left => StatusCode::BAD_REQUEST,
            Self::Upstream(UpstreamFailure::Timeout) => StatusCode::GATEWAY_TIMEOUT,
            Self::Upstream(_) | Self::Unscannable(_) => StatusCode::BAD_GATEWAY,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotBuilt(_) => StatusCode::NOT_IMPLEMENTED,
            Self::Api(error) => match error {
                ApiError::Validation(_) | ApiError::BadRequest(_) | ApiError::Provider(_) => {
                    StatusCode::BAD_REQUEST
                }
                ApiError::Unauthorized => StatusCode::UNAUTHORIZED,
                ApiError::ServiceNotEnabled | ApiError::OutOfScope(_) | ApiError::MissingConfigIDScope => {
                    StatusCode::FORBIDDEN
                }
                ApiError::MissingConfigID | ApiError::AmbiguousConfigID => StatusCode::BAD_REQUEST,
                ApiError::NotFound | ApiError::VaultItemNotFound => StatusCode::NOT_FOUND,
                ApiError::ForbiddenVaultOperation(_) => StatusCode::FORBIDDEN,
                ApiError::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
                ApiError::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
                ApiError::TooLarge(_) | ApiError::Excess(_) => StatusCode::PAYLOAD_TOO_LARGE,
                ApiError::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ApiError::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                ApiError::TooManyRequests(_) | ApiError::TooManyValues(_) => StatusCode::TOO_MANY_REQUESTS,
                ApiError::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
                ApiError::Full => StatusCode::INSUFFICIENT_STORAGE,
                ApiError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }

    /// The whole answer, for a caller that has had nothing yet.
    pub fn answer(self, shape: ErrorShape, stamp: &Stamp<'_>) -> Answer {
        let mut answer = match shape {
            ErrorShape::Envelope => self.envelope(stamp),
            ErrorShape::OpenAi => {
                let body = self.openai_error().to_string();
                self.stamped(body, stamp)
            }
            ErrorShape::Bedrock => {
                let (kind, body) = (bedrock::kind(self.status()), bedrock::body(&self.to_string()));
                let mut answer = self.stamped(body, stamp);
                bedrock::dress(&mut answer, kind, stamp);
                answer
            }
        };
        if answer.status == StatusCode::UNAUTHORIZED {
            answer.headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        answer
    }

    /// One last event, for a caller that already reads a stream of them, framed so.
    pub fn event(&self, shape: ErrorShape, frame: Option<Frame>) -> Bytes {
        match shape {
            _ if frame == Some(Frame::AmazonEventStream) => {
                bedrock::exception(self.status(), &self.to_string())
            }
            ErrorShape::Envelope => {
                Bytes::from_static(b"event: error\ndata: {\"status\":\"ProviderError\"}\n\n")
            }
            ErrorShape::OpenAi => format!("data: {}\n\n", self.openai_error()).into(),
            ErrorShape::Bedrock => {
                format!("event: error\ndata: {}\n\n", bedrock::body(&self.to_string())).into()
            }
        }
    }

    fn envelope(self, stamp: &Stamp<'_>) -> Answer {
        let status = self.status();
        match self {
            Self::Api(error) => error.answer(stamp),
            Self::BadBody(why) => ApiError::BadRequest(why).answer(stamp),
            Self::NotBuilt(why) => stamp.answer(status, "NotImplemented", why, None::<()>),
            Self::Gone | Self::Left => ApiError::BadRequest("the body ended early").answer(stamp),
            Self::Upstream(kind) => {
                let summary = match kind {
                    UpstreamFailure::Timeout => "The upstream did not answer in time",
                    _ => "The upstream cannot be reached",
                };
                stamp.answer(status, "ProviderError", summary, None::<()>)
            }
            Self::Unavailable(why) => {
                let mut answer = stamp.answer(status, "ServiceNotAvailable", why.summary(), None::<()>);
                answer.headers.insert(RETRY_AFTER, HeaderValue::from(why.after()));
                answer
            }
            Self::Unscannable(_) => {
                stamp.answer(status, "ProviderError", "The upstream's answer cannot be scanned", None::<()>)
            }
        }
    }

    fn openai_error(&self) -> serde_json::Value {
        let (kind, code) = match self.status().as_u16() {
            401 => ("authentication_error", "invalid_api_key"),
            403 => ("permission_error", "forbidden"),
            404 => ("invalid_request_error", "not_found"),
            413 => ("invalid_request_error", "request_too_large"),
            429 => ("rate_limit_error", "rate_limit_exceeded"),
            501 => ("invalid_request_error", self.word()),
            500.. => ("server_error", self.word()),
            _ => ("invalid_request_error", self.word()),
        };
        json!({ "error": { "message": self.to_string(), "type": kind, "param": null, "code": code } })
    }

    /// An error object of a provider's, with what all of them have in the head.
    fn stamped(self, body: String, stamp: &Stamp<'_>) -> Answer {
        let mut answer = Answer::json(self.status(), body);
        if let Ok(id) = HeaderValue::from_str(&stamp.id.to_string()) {
            answer.headers.insert(&REQUEST_ID, id);
        }
        match &self {
            Self::Unavailable(why) => {
                answer.headers.insert(RETRY_AFTER, HeaderValue::from(why.after()));
            }
            Self::Api(ApiError::TooManyRequests(after) | ApiError::TooManyValues(after)) => {
                answer.headers.insert(RETRY_AFTER, HeaderValue::from(*after));
            }
            Self::Api(ApiError::Overloaded) => {
                answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Api(ApiError::TooLarge(_) | ApiError::Excess(_)) => {
                answer.headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Self::Api(ApiError::Internal(part)) => {
                tracing::error!(target: "portcullis::gateway", part, request_id = %stamp.id, "internal error");
            }
            _ => {}
        }
        answer
    }
}

/// How a caller's protocol spells an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorShape {
    /// The API's envelope; also for routes without a known protocol.
    #[default]
    Envelope,
    /// OpenAI's error object (API reference, "Error codes").
    OpenAi,
    /// A message, and the name of an exception in the head (Amazon Bedrock API reference, "Common errors").
    Bedrock,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;
    use crate::base::id::RequestId;

    #[test]
    fn an_openai_client_gets_its_own_error_object() {
        let id = RequestId::from_random([1; 20]);
        let t = Timestamp::from_millis(0);
        let stamp = Stamp { id: &id, received: t, answered: t };
        let answer = GatewayError::Upstream(UpstreamFailure::Timeout).answer(ErrorShape::OpenAi, &stamp);
        assert_eq!(answer.status, 504);
        let value: serde_json::Value = serde_json::from_slice(answer.bytes()).unwrap();
        assert_eq!(value["error"]["type"], "server_error");
        assert_eq!(value["error"]["code"], "timeout");
        let event = GatewayError::Gone.event(ErrorShape::OpenAi, Some(Frame::Events));
        assert!(event.starts_with(b"data: {\"error\":") && event.ends_with(b"\n\n"));
    }

    #[test]
    fn what_is_too_large_is_named_with_its_limit() {
        let id = RequestId::from_random([1; 20]);
        let t = Timestamp::from_millis(0);
        let stamp = Stamp { id: &id, received: t, answered: t };
        let rows = [
            (StreamError::Ratio { limit: 200 }, "decodes to more than 200 times its size"),
            (
                StreamError::TooLarge { unit: "event", limit: 300 },
                "one event of the body is larger than 300 bytes",
            ),
            (Exhausted::Request { limit: 400 }.into(), "the body is larger than 400 bytes"),
        ];
        for (error, expected) in rows {
            let answer = GatewayError::of_request(error).answer(ErrorShape::default(), &stamp);
            let text = String::from_utf8_lossy(answer.bytes()).into_owned();
            assert_eq!(answer.status, 413, "{text}");
            assert!(text.contains(expected), "{text}");
        }
    }
}
