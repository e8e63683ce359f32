//! What can go wrong with a request, by culprit, and the one place where it becomes an answer in the shape that the
//! caller's protocol expects. Before the first byte it is a whole answer; after it, one last event.

use bytes::Bytes;
use http::header::{CONNECTION, RETRY_AFTER, SEC_WEBSOCKET_VERSION, UPGRADE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};

use crate::api::envelope::{REQUEST_ID, Stamp};
use crate::api::{ApiAnswer, ApiError, BodyError, CHALLENGE, Excess};
use crate::base::budget::Exhausted;
use crate::gateway::bedrock_error;
use crate::gateway::error_shape::{ErrorWords, OVER_BUDGET};
use crate::gateway::media_type::ContentFormat;
use crate::stream::StreamError;
use crate::telemetry::UpstreamFailure;

pub use crate::gateway::error_shape::ErrorShape;
pub use crate::gateway::token_fault::TokenFault;
pub use crate::gateway::unavailable::Unavailable;

/// Why a request ends here. No variant holds a byte that came from outside.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// The caller's token, which is none of ours.
    #[error(transparent)]
    Token(#[from] TokenFault),
    /// Nobody can say now whether the caller's token is good: its issuer does not answer.
    #[error("the token cannot be verified now; try again shortly")]
    Unverifiable,
    /// An analyzer that the route asks about texts gives no answer that can be used.
    #[error(
        "an analyzer that this route asks about texts gives no answer now, so nothing was sent on; try again shortly"
    )]
    Unanalyzed,
    /// A session's request would take another route now than it took, or the same under another policy.
    #[error("the configuration of this route has changed; open the session again")]
    RouteChanged,
    /// The process that carries a session ends.
    #[error("the gateway ends or starts anew; open the session again")]
    Draining,
    /// A request is signed as AWS has it, and not as it must be.
    #[error("{0}")]
    WrongSignature(&'static str),
    /// What the caller asks for is not built.
    #[error("{0}")]
    NotBuilt(&'static str),
    /// What the caller sends holds what does not pass; the names of the rules that found it.
    #[error("the request holds what this route does not pass ({0}): send it without")]
    BlockedRequest(String),
    /// The same of the answer.
    #[error("the answer holds what this route does not pass ({0})")]
    BlockedAnswer(String),
    /// The caller asks for a way to the provider past us.
    #[error(
        "this opens a way to the provider on which nothing is scanned; the route's `direct` setting lets it pass"
    )]
    LeadsAround,
    /// The caller's address is not one of those that may call.
    #[error("requests from this address are not let in here")]
    ForbiddenAddress,
    /// A page asks for a WebSocket whose origin the route does not name.
    #[error(
        "pages of this origin may open no WebSocket here; `origins` of the route's `cors` names those that may"
    )]
    ForbiddenOrigin,
    /// The caller asks for another version of WebSocket than the one there is (RFC 6455 section 4.4).
    #[error("WebSocket is spoken in version 13")]
    WebSocketVersion,
    /// A file in the caller's body that the route does not let through; where it is, and how it may pass.
    #[error("{0}")]
    UnreadFile(String),
    /// The upstream answers in a form that the route refuses.
    #[error("the upstream's answer cannot be scanned: {0}")]
    Unscannable(&'static str),
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
        "This route passes only bodies that it can scan: JSON, NDJSON, event streams, forms, multipart and text; \
         `unknown = \"pass\"` lets others through unread",
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
            StreamError::Blocked(rules) => Self::BlockedRequest(rules),
            StreamError::Spent(spent) => Self::Api(ApiError::TooManyValues(spent.after)),
            StreamError::Replace(why) => Self::Api(ApiError::Internal(why)),
            StreamError::Unavailable { coding } => Self::Api(ApiError::Internal(coding)),
        }
    }

    /// An answer's body that could not be rewritten.
    pub fn of_answer(error: StreamError) -> Self {
        match error {
            StreamError::Blocked(rules) => Self::BlockedAnswer(rules),
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
            Self::UnreadFile(_) => "unread_file",
            Self::Unscannable(_) => "unscannable_answer",
            Self::BlockedRequest(_) => "blocked_request",
            Self::BlockedAnswer(_) => "blocked_answer",
            Self::Token(fault) => fault.word(),
            Self::Unverifiable => "unverifiable_token",
            Self::Unanalyzed => "analyzer",
            Self::RouteChanged => "route_changed",
            Self::Draining => "draining",
            Self::WrongSignature(_) => "wrong_signature",
            Self::NotBuilt(_) => "not_implemented",
            Self::LeadsAround => "leads_around",
            Self::ForbiddenAddress => "forbidden_address",
            Self::ForbiddenOrigin => "forbidden_origin",
            Self::WebSocketVersion => "websocket_version",
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
                ApiError::OverBudget(_) => OVER_BUDGET,
                ApiError::BudgetReserved(_) => "budget_reserved",
                ApiError::Provider(_) => "provider",
                ApiError::Overloaded => "overloaded",
                ApiError::Unavailable => "store_unavailable",
                ApiError::Unaudited => "audit_unwritten",
                ApiError::Full => "store_full",
                ApiError::Internal(_) => "internal",
            },
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::BadBody(_) | Self::Gone | Self::Left | Self::BlockedRequest(_) => StatusCode::BAD_REQUEST,
            Self::UnreadFile(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Upstream(UpstreamFailure::Timeout) => StatusCode::GATEWAY_TIMEOUT,
            Self::Upstream(_) | Self::Unscannable(_) | Self::BlockedAnswer(_) => StatusCode::BAD_GATEWAY,
            Self::Unavailable(_)
            | Self::Unverifiable
            | Self::Unanalyzed
            | Self::RouteChanged
            | Self::Draining => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotBuilt(_) => StatusCode::NOT_IMPLEMENTED,
            Self::Token(fault) => fault.status(),
            Self::LeadsAround | Self::ForbiddenAddress | Self::ForbiddenOrigin | Self::WrongSignature(_) => {
                StatusCode::FORBIDDEN
            }
            Self::WebSocketVersion => StatusCode::UPGRADE_REQUIRED,
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
                ApiError::TooManyRequests(_)
                | ApiError::TooManyValues(_)
                | ApiError::OverBudget(_)
                | ApiError::BudgetReserved(_) => StatusCode::TOO_MANY_REQUESTS,
                ApiError::Overloaded | ApiError::Unavailable | ApiError::Unaudited => {
                    StatusCode::SERVICE_UNAVAILABLE
                }
                ApiError::Full => StatusCode::INSUFFICIENT_STORAGE,
                ApiError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }

    /// The whole answer, for a caller that has had nothing yet.
    pub fn answer(self, to: &ErrorTarget<'_>) -> ApiAnswer {
        let challenge = match &self {
            Self::Token(fault) => Some(fault.challenge()),
            _ => (self.status() == StatusCode::UNAUTHORIZED).then_some(CHALLENGE),
        };
        let mut answer = match to.shape {
            ErrorShape::Envelope => self.envelope(&to.stamp),
            shape => self.spelled(shape, to),
        };
        challenge.map(|challenge| answer.headers.insert(WWW_AUTHENTICATE, challenge));
        if answer.status == StatusCode::UPGRADE_REQUIRED {
            answer.headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
            answer.headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        }
        answer
    }

    /// One last event, for a caller that already reads a stream of them, framed so.
    pub fn event(&self, to: &ErrorTarget<'_>, frame: Option<ContentFormat>) -> Bytes {
        match frame {
            Some(ContentFormat::AmazonEventStream) => {
                bedrock_error::exception(self.status(), &self.to_string())
            }
            Some(ContentFormat::Json) => to.shape.document(&self.words(to)).to_string().into(),
            _ => to.shape.event(&self.words(to)),
        }
    }

    fn words<'a>(&self, to: &ErrorTarget<'a>) -> ErrorWords<'a> {
        ErrorWords {
            status: self.status(),
            code: self.word(),
            message: self.to_string(),
            request: to.stamp.id.to_string(),
            call: to.call,
        }
    }

    /// One last message, for a caller that reads those of a WebSocket, if its protocol has one for errors.
    pub fn message(&self, to: &ErrorTarget<'_>) -> Option<String> {
        to.shape.message(&self.words(to)).map(|message| message.to_string())
    }

    /// The code of the close frame that ends a WebSocket for this (RFC 6455 section 7.4, and the registry that it
    /// founded).
    pub fn close_code(&self) -> u16 {
        match self {
            Self::Api(ApiError::TooLarge(_) | ApiError::Excess(_)) => 1009,
            Self::Api(ApiError::UnsupportedMediaType(_)) => 1003,
            Self::Api(
                ApiError::Overloaded
                | ApiError::Unavailable
                | ApiError::Unaudited
                | ApiError::TooManyRequests(_)
                | ApiError::OverBudget(_)
                | ApiError::BudgetReserved(_),
            )
            | Self::Unverifiable
            | Self::Unanalyzed => 1013,
            Self::Api(ApiError::Internal(_)) => 1011,
            Self::Upstream(_) | Self::Unavailable(_) | Self::Unscannable(_) => 1014,
            Self::RouteChanged => 1012,
            Self::Draining => 1001,
            _ => 1008,
        }
    }

    fn envelope(self, stamp: &Stamp<'_>) -> ApiAnswer {
        let (status, summary) = (self.status(), self.to_string());
        match self {
            Self::Api(error) => error.answer(stamp),
            Self::BadBody(why) => ApiError::BadRequest(why).answer(stamp),
            Self::UnreadFile(why) => stamp.answer(status, "UnsupportedMediaType", &why, None::<()>),
            Self::Token(fault) => stamp.answer(status, fault.envelope_status(), &summary, None::<()>),
            Self::NotBuilt(why) => stamp.answer(status, "NotImplemented", why, None::<()>),
            Self::LeadsAround | Self::ForbiddenAddress | Self::ForbiddenOrigin | Self::WrongSignature(_) => {
                stamp.answer(status, "Forbidden", &summary, None::<()>)
            }
            Self::WebSocketVersion => {
                stamp.answer(status, "UpgradeRequired", "WebSocket is spoken in version 13", None::<()>)
            }
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
            Self::Unverifiable | Self::Unanalyzed | Self::RouteChanged | Self::Draining => {
                let mut answer = stamp.answer(status, "ServiceNotAvailable", &summary, None::<()>);
                answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
                answer
            }
            Self::BlockedRequest(_) => stamp.answer(status, "Blocked", &summary, None::<()>),
            Self::BlockedAnswer(_) => stamp.answer(status, "ProviderError", &summary, None::<()>),
            Self::Unscannable(_) => {
                stamp.answer(status, "ProviderError", "The upstream's answer cannot be scanned", None::<()>)
            }
        }
    }

    /// The answer in a provider's shape.
    fn spelled(self, shape: ErrorShape, to: &ErrorTarget<'_>) -> ApiAnswer {
        let words = self.words(to);
        let mut answer = ApiAnswer::json(shape.status(words.status), shape.body(&words).to_string());
        if let Ok(id) = HeaderValue::from_str(&words.request) {
            if shape == ErrorShape::Anthropic {
                answer.headers.insert("request-id", id.clone());
            }
            if shape == ErrorShape::Bedrock {
                bedrock_error::add_headers(&mut answer, &words, &id);
            }
            answer.headers.insert(&REQUEST_ID, id);
        }
        match &self {
            Self::Unavailable(why) => {
                answer.headers.insert(RETRY_AFTER, HeaderValue::from(why.after()));
            }
            Self::Api(
                ApiError::TooManyRequests(after)
                | ApiError::TooManyValues(after)
                | ApiError::OverBudget(after)
                | ApiError::BudgetReserved(after),
            ) => {
                answer.headers.insert(RETRY_AFTER, HeaderValue::from(*after));
            }
            Self::Api(ApiError::Overloaded | ApiError::Unavailable | ApiError::Unaudited)
            | Self::Unverifiable
            | Self::Unanalyzed
            | Self::RouteChanged
            | Self::Draining => {
                answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Api(ApiError::TooLarge(_) | ApiError::Excess(_)) => {
                answer.headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Self::Api(ApiError::Internal(part)) => {
                tracing::error!(target: "portcullis::gateway", part, request_id = words.request, "internal error");
            }
            _ => {}
        }
        answer
    }
}

/// Whom an error is told.
pub struct ErrorTarget<'a> {
    /// How its protocol spells errors.
    pub shape: ErrorShape,
    /// The request's id, and times.
    pub stamp: Stamp<'a>,
    /// The id that the caller gave its call, as JSON; of JSON-RPC only.
    pub call: Option<&'a str>,
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
