//! What can go wrong with a call, and the one place where it becomes a status: see [`ApiError::answer`].
//!
//! Statuses and codes are the specification's; which code follows which condition is decided in the wire contract
//! of this project. No message holds the offending value: it may be the secret.

use http::header::{ALLOW, CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::api::call::{ApiAnswer, BodyError};
use crate::api::cpu::PoolError;
use crate::api::envelope::Stamp;
use crate::base::budget::Exhausted;
use crate::base::pointer::Pointer;
use crate::redact::RedactError;
use crate::store::StoreError;
use crate::vault::VaultError;

/// Faults reported for one body, at the most; the rest of a body that is nothing but faults adds nothing.
pub const MAX_FAULTS: usize = 100;

/// What every 401 says of how to come in (RFC 9110 section 11.6.1, RFC 6750 section 3). It is the same with a wrong token
/// as without one, as all of the answer is.
pub(crate) const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"portcullis\"");

macro_rules! codes {
    ($($code:ident),* $(,)?) => {
        /// The validation codes of the specification (section "Errors", 4), and no others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[expect(missing_docs, reason = "the names are the specification's and say what they mean")]
        pub enum Code { $($code),* }
    };
}

codes!(
    FieldRequired,
    InvalidString,
    InvalidNumber,
    InvalidInteger,
    InvalidObject,
    InvalidArray,
    InvalidNull,
    InvalidBool,
    BadFormat,
    BadFormatPangeaDuration,
    BadFormatDateTime,
    BadFormatTime,
    BadFormatDate,
    BadFormatEmail,
    BadFormatHostname,
    BadFormatIPv4,
    BadFormatIPv6,
    BadFormatIPAddress,
    BadFormatUUID,
    BadFormatURI,
    BadFormatURIReference,
    BadFormatIRI,
    BadFormatIRIReference,
    BadFormatJSONPointer,
    BadFormatRelativeJSONPointer,
    BadFormatRegex,
    BadFormatJSONPath,
    BadFormatBase64,
    DoesNotMatchPattern,
    DoesNotMatchPatternProperties,
    NotEnumMember,
    AboveMaxLength,
    BelowMinLength,
    AboveMaxItems,
    BelowMinItems,
    NotMultipleOf,
    NotWithinRange,
    UnexpectedProperty,
    InvalidPropertyName,
    AboveMaxProperties,
    BelowMinProperties,
    NotContains,
    ContainsTooMany,
    ContainsTooFew,
    ItemNotUnique,
    UnexpectedAdditionalItem,
    InvalidConst,
    IsDependentOn,
    IsTooBig,
    IsTooSmall,
    ShouldNotBeValid,
    NoUnevaluatedItems,
    NoUnevaluatedProperties,
    DoesNotExist,
    IsReadOnly,
    CannotAddToDefault,
    MustProvideOne,
    MutuallyExclusive,
    BadState,
    InaccessibleURI,
    ProviderDisabled,
    ConfigProjectMismatch,
    ConfigServiceMismatch,
    ConfigNotExist,
);

/// One fault of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What kind of fault.
    pub code: Code,
    /// What is wrong and what to do, without the value.
    pub detail: String,
    /// Where in the body.
    pub source: Pointer,
}

impl Invalid {
    /// A fault at `source`.
    pub fn new(code: Code, source: Pointer, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), source }
    }

    /// A fault of the whole body.
    pub fn body(code: Code, detail: impl Into<String>) -> Self {
        Self::new(code, Pointer::root(), detail)
    }
}

/// Why a call fails.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The body has these faults (all of them, up to [`MAX_FAULTS`]).
    #[error("the request is not valid")]
    Validation(Vec<Invalid>),
    /// The head cannot be taken as it is.
    #[error("bad request")]
    BadRequest(&'static str),
    /// No token, or not one of ours.
    #[error("not authorized")]
    Unauthorized,
    /// The token does not cover this service.
    #[error("the token does not cover this service")]
    ServiceNotEnabled,
    /// The token does not cover what the call asks beyond its service; `0` says what that takes.
    #[error("{0}")]
    OutOfScope(&'static str),
    /// No config of the token is of this service.
    #[error("no config")]
    MissingConfigID,
    /// The token is for other configs than the one named.
    #[error("the token does not cover this config")]
    MissingConfigIDScope,
    /// The token is for several configs, and none is named.
    #[error("no config is named of several")]
    AmbiguousConfigID,
    /// Nothing is there.
    #[error("not found")]
    NotFound,
    /// The vault has no such item, or the item no such version.
    #[error("there is no such vault item")]
    VaultItemNotFound,
    /// What a vault item is, or its state, does not allow that; `0` says why.
    #[error("forbidden: {0}")]
    ForbiddenVaultOperation(&'static str),
    /// The path is there, for these methods.
    #[error("method not allowed")]
    MethodNotAllowed(String),
    /// The caller took too long over its request.
    #[error("request timeout")]
    RequestTimeout,
    /// The body is larger than the limit, in bytes.
    #[error("the body is too large")]
    TooLarge(usize),
    /// Something in the body is more than is taken.
    #[error("{0}")]
    Excess(Excess),
    /// The body's media type or coding is not one we read.
    #[error("{0}")]
    UnsupportedMediaType(&'static str),
    /// The head is larger than the limit.
    #[error("the head is too large")]
    HeadTooLarge,
    /// The caller sends more than its share; it may try again after this many seconds.
    #[error("too many requests")]
    TooManyRequests(u64),
    /// A budget of the caller's is used up; the next period begins after this many seconds.
    #[error("a budget is used up, see the Retry-After header")]
    OverBudget(u64),
    /// What other requests may yet spend leaves nothing of a budget of the caller's; it may try again after this many seconds.
    #[error("the requests under way may use a budget up, see the Retry-After header")]
    BudgetReserved(u64),
    /// The caller has had as many different values encrypted or hashed as it may; it may have others after this many
    /// seconds.
    #[error("too many different values to encrypt or hash for one caller, see the Retry-After header")]
    TooManyValues(u64),
    /// A provider that had to be asked gave no answer; `0` says which kind of provider.
    #[error("provider error: {0}")]
    Provider(&'static str),
    /// We hold as much as we may; try again.
    #[error("overloaded")]
    Overloaded,
    /// The store cannot be reached now, or another process holds it.
    #[error("the store is unavailable")]
    Unavailable,
    /// The audit log cannot be written, and nothing may pass that is not in it.
    #[error("the audit log cannot be written")]
    Unaudited,
    /// The store has no room left: what is there can be used, nothing can be added or changed. Nothing was written.
    #[error("there is no room left to store anything")]
    Full,
    /// A fault of ours; `0` says which part, for the log.
    #[error("internal error: {0}")]
    Internal(&'static str),
}

/// What of a body is too much, and the most that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// Bytes out of its content coding for each byte in it.
    #[error("the body decodes to more than {0} times its size")]
    Ratio(usize),
    /// Bytes of one unit of it, such as an event, that is looked at whole.
    #[error("one {unit} of the body is larger than {limit} bytes")]
    Unit {
        /// What it is called.
        unit: &'static str,
        /// In bytes.
        limit: usize,
    },
    /// Different values that are to be redacted, and the bytes of them and of what stands in their place.
    #[error("more than {values} different values, or {bytes} bytes of them, would be redacted")]
    Values {
        /// How many.
        values: usize,
        /// In bytes.
        bytes: usize,
    },
    /// Text that the names model has not read before, beyond what it reads for one request.
    #[error(
        "more text is new than the names model reads for one request (detect.names.max_tokens); what it has read is remembered, \
         so sending it again goes further"
    )]
    NewText,
}

impl From<PoolError> for ApiError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::GivenUp => Self::Internal("cpu"),
            PoolError::Full => Self::Overloaded,
        }
    }
}

impl ApiError {
    /// How a failure of the store is answered; `part` says whose, for the log.
    pub(crate) fn store(error: &StoreError, part: &'static str) -> Self {
        match error {
            StoreError::Full => Self::Full,
            StoreError::Unavailable(_) => Self::Unavailable,
            _ => Self::Internal(part),
        }
    }

    /// How a redaction that failed is answered, where nobody knows better.
    pub(crate) fn redact(error: &RedactError) -> Self {
        match error {
            RedactError::TooManyValues { values, bytes } => {
                Self::Excess(Excess::Values { values: *values, bytes: *bytes })
            }
            RedactError::Unread => Self::Excess(Excess::NewText),
            RedactError::Stopped(_) => Self::Overloaded,
            RedactError::Exhausted(why) => (*why).into(),
            RedactError::Spent(spent) => Self::TooManyValues(spent.after),
            _ => Self::Internal("redact"),
        }
    }

    /// How a failure of the vault is answered that is not the caller's.
    pub(crate) fn vault(error: &VaultError) -> Self {
        match error {
            VaultError::Store(error) => Self::store(error, "vault"),
            _ => Self::Internal("vault"),
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge(limit) => Self::TooLarge(limit),
            BodyError::Slow => Self::RequestTimeout,
            BodyError::Malformed => Self::BadRequest("the body's chunks are not well-formed"),
            BodyError::Gone => Self::BadRequest("the body ended early"),
            BodyError::Exhausted(why) => why.into(),
        }
    }
}

impl From<Exhausted> for ApiError {
    fn from(why: Exhausted) -> Self {
        match why {
            Exhausted::Request { limit } => Self::TooLarge(limit),
            Exhausted::Process { .. } => Self::Overloaded,
        }
    }
}

#[derive(Serialize)]
struct Errors {
    errors: Vec<FaultResponse>,
}

#[derive(Serialize)]
struct FaultResponse {
    code: Code,
    detail: String,
    source: String,
}

impl ApiError {
    /// What its envelope says: HTTP status, status, summary, result.
    pub(super) fn told(&self) -> (StatusCode, &'static str, &str, Option<serde_json::Value>) {
        let Policy { http, status, summary } = self.policy();
        (http, status, summary, self.result().and_then(|result| serde_json::to_value(result).ok()))
    }

    fn result(&self) -> Option<Errors> {
        match self {
            Self::Validation(list) => shown(list),
            Self::BadRequest(why) => shown(&[Invalid::body(Code::BadFormat, *why)]),
            Self::TooLarge(limit) => {
                shown(&[Invalid::body(Code::IsTooBig, format!("the body is larger than {limit} bytes"))])
            }
            Self::Excess(excess) => shown(&[Invalid::body(Code::IsTooBig, excess.to_string())]),
            _ => None,
        }
    }

    /// The envelope for this error.
    pub fn answer(self, stamp: &Stamp<'_>) -> ApiAnswer {
        let Policy { http, status, summary } = self.policy();
        let mut answer = stamp.answer(http, status, summary, self.result());
        let headers = &mut answer.headers;
        match self {
            Self::MethodNotAllowed(allow) => {
                drop(HeaderValue::from_str(&allow).map(|allow| headers.insert(ALLOW, allow)))
            }
            Self::TooManyRequests(after)
            | Self::TooManyValues(after)
            | Self::OverBudget(after)
            | Self::BudgetReserved(after) => {
                drop(headers.insert(RETRY_AFTER, HeaderValue::from(after)));
            }
            Self::Overloaded | Self::Unavailable | Self::Unaudited => {
                drop(headers.insert(RETRY_AFTER, HeaderValue::from_static("1")));
            }
            Self::Unauthorized => drop(headers.insert(WWW_AUTHENTICATE, CHALLENGE)),
            // What is left of the request is not read, so the connection cannot carry another.
            Self::TooLarge(_) | Self::Excess(_) | Self::HeadTooLarge => {
                drop(headers.insert(CONNECTION, HeaderValue::from_static("close")));
            }
            Self::Full => tracing::error!(
                target: "portcullis::api", request_id = %stamp.id,
                "the store has no room left; nothing is written until there is"
            ),
            Self::Internal(part) => {
                tracing::error!(target: "portcullis::api", part, request_id = %stamp.id, "internal error");
            }
            _ => {}
        }
        answer
    }

    /// The whole status policy of the API on one screen.
    fn policy(&self) -> Policy {
        let policy = |http, status, summary| Policy { http, status, summary };
        let unavailable = |why| policy(StatusCode::SERVICE_UNAVAILABLE, "ServiceNotAvailable", why);
        match self {
            Self::Validation(_) => policy(
                StatusCode::BAD_REQUEST,
                "ValidationError",
                "There were validation errors in the request",
            ),
            Self::BadRequest(why) => policy(StatusCode::BAD_REQUEST, "BadRequest", why),
            // SDK tests assert this text.
            Self::Unauthorized => {
                policy(StatusCode::UNAUTHORIZED, "Unauthorized", "Not authorized to access this resource")
            }
            Self::ServiceNotEnabled => {
                policy(StatusCode::FORBIDDEN, "ServiceNotEnabled", "The token does not cover this service")
            }
            Self::OutOfScope(why) => policy(StatusCode::FORBIDDEN, "ServiceNotEnabled", why),
            Self::MissingConfigID => {
                policy(StatusCode::BAD_REQUEST, "MissingConfigID", "The token has no config of this service")
            }
            Self::MissingConfigIDScope => {
                policy(StatusCode::FORBIDDEN, "MissingConfigIDScope", "The token does not cover this config")
            }
            Self::AmbiguousConfigID => policy(
                StatusCode::BAD_REQUEST,
                "AmbiguousConfigID",
                "Name one of the token's configs in `config_id`",
            ),
            Self::NotFound => policy(StatusCode::NOT_FOUND, "NotFound", "Nothing is at this path or id"),
            Self::VaultItemNotFound => policy(
                StatusCode::NOT_FOUND,
                "VaultItemNotFound",
                "There is no such vault item, or it has no such version",
            ),
            Self::ForbiddenVaultOperation(why) => {
                policy(StatusCode::FORBIDDEN, "ForbiddenVaultOperation", why)
            }
            Self::MethodNotAllowed(_) => {
                let summary = "This path takes another method, see the Allow header";
                policy(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", summary)
            }
            Self::RequestTimeout => {
                policy(StatusCode::REQUEST_TIMEOUT, "RequestTimeout", "The request did not arrive in time")
            }
            Self::TooLarge(_) | Self::Excess(_) => {
                policy(StatusCode::PAYLOAD_TOO_LARGE, "ValidationError", "The body is too large")
            }
            Self::UnsupportedMediaType(why) => {
                policy(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", why)
            }
            Self::HeadTooLarge => policy(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "BadRequest",
                "The request's head is too large",
            ),
            Self::TooManyRequests(_) => policy(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", REQUESTS),
            Self::OverBudget(_) => policy(StatusCode::TOO_MANY_REQUESTS, "OverBudget", BUDGET),
            Self::BudgetReserved(_) => policy(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", RESERVED),
            Self::TooManyValues(_) => policy(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", VALUES),
            Self::Overloaded => unavailable(OVERLOADED),
            Self::Unavailable => unavailable("The store cannot be reached now; try again shortly"),
            Self::Unaudited => unavailable(UNAUDITED),
            // Not 5xx: clients would send the file again, three times.
            Self::Provider(which) => policy(StatusCode::BAD_REQUEST, "ProviderError", which),
            // Not one that clients try again by themselves. RFC 4918 section 11.5.
            Self::Full => policy(
                StatusCode::INSUFFICIENT_STORAGE,
                "InsufficientStorage",
                "There is no room left to store this; nothing was changed. Free space where the gateway keeps its \
                 data, then try again",
            ),
            Self::Internal(_) => policy(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                "Internal error; quote the request id",
            ),
        }
    }
}

const OVERLOADED: &str = "The service holds as much as it may; try again shortly";
const UNAUDITED: &str = "The audit log cannot be written, and nothing passes without it; try again later";
const REQUESTS: &str = "Too many requests, see the Retry-After header";
const RESERVED: &str = "The requests under way may use a budget up, see the Retry-After header";
const BUDGET: &str = "A budget is used up, see the Retry-After header";
const VALUES: &str =
    "Too many different values to encrypt or hash for one caller, see the Retry-After header";

/// How an error shows.
struct Policy {
    http: StatusCode,
    status: &'static str,
    summary: &'static str,
}

fn shown(faults: &[Invalid]) -> Option<Errors> {
    let shown = |fault: &Invalid| FaultResponse {
        code: fault.code,
        detail: fault.detail.clone(),
        source: fault.source.to_string(),
    };
    Some(Errors { errors: faults.iter().map(shown).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;
    use crate::base::id::RequestId;

    #[test]
    fn every_fault_shows_code_detail_and_pointer() {
        let id = RequestId::from_random([1; 20]);
        let t = Timestamp::from_millis(0);
        let list = vec![Invalid::new(Code::FieldRequired, Pointer::root().key("text"), "text is missing")];
        let answer = ApiError::Validation(list).answer(&Stamp { id: &id, received: t, answered: t });
        let value: serde_json::Value = serde_json::from_slice(answer.bytes()).unwrap();
        assert_eq!(answer.status, 400);
        assert_eq!(
            value["result"]["errors"],
            serde_json::json!([{ "code": "FieldRequired", "detail": "text is missing", "source": "/text" }])
        );
    }
}
