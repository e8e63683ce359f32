//! The envelope around every answer of the API (specification, "Common response envelope"), in the wording the
//! caller's client expects.

use bytes::Bytes;
use http::header::{HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;

use crate::api::call::{ApiAnswer, ApiCall};
use crate::base::clock::Timestamp;
use crate::base::id::RequestId;
use crate::base::secret::SecretText;

/// Carries the request's id on every answer of ours; SDKs quote it when they retry.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Which wording a caller's client expects. The specification writes `success` and fractional scores; the public
/// SDKs compare `Success` exactly, and two of them parse a score as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As the specification has it.
    Documented,
    /// As the public SDKs need it.
    Sdk,
}

/// How the dialect is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialectChoice {
    /// By `User-Agent`: an SDK names itself.
    #[default]
    Auto,
    /// Always as the specification has it.
    Documented,
    /// Always as the SDKs need it.
    Sdk,
}

impl DialectChoice {
    /// The dialect for a request with these headers.
    pub fn of(self, headers: &HeaderMap) -> Dialect {
        match self {
            Self::Documented => Dialect::Documented,
            Self::Sdk => Dialect::Sdk,
            Self::Auto => {
                let agent = headers.get(USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
                let names_itself = agent.windows(6).any(|window| window.eq_ignore_ascii_case(b"pangea"));
                if names_itself { Dialect::Sdk } else { Dialect::Documented }
            }
        }
    }
}

impl Dialect {
    /// The `status` of a success.
    pub const fn success(self) -> &'static str {
        match self {
            Self::Documented => "success",
            Self::Sdk => "Success",
        }
    }

    /// The `status` of a call that is answered later.
    pub const fn accepted(self) -> &'static str {
        match self {
            Self::Documented => "accepted",
            Self::Sdk => "Accepted",
        }
    }
}

/// Id and times of one call: what an envelope is made from.
#[derive(Clone, Debug)]
pub struct Stamp<'a> {
    /// The request's id.
    pub id: &'a RequestId,
    /// When the request's head had arrived.
    pub received: Timestamp,
    /// Now.
    pub answered: Timestamp,
}

#[derive(Serialize)]
struct Envelope<'a, R> {
    request_id: String,
    request_time: String,
    response_time: String,
    status: &'a str,
    // SDKs fail without it though the specification calls it optional.
    summary: &'a str,
    result: Option<R>,
}

impl<'a> Stamp<'a> {
    /// Of a call that is answered now.
    pub fn of(call: &ApiCall<'a>) -> Self {
        Self { id: call.id, received: call.received, answered: call.clock.now() }
    }
}

impl Stamp<'_> {
    /// The answer with this envelope. `result` is written as `null` when there is none: clients read the key.
    pub fn answer<R: Serialize>(
        &self,
        http: StatusCode,
        status: &str,
        summary: &str,
        result: Option<R>,
    ) -> ApiAnswer {
        // Our own types: nothing in them can fail to serialize, and an empty body would be the worse surprise.
        let body =
            serde_json::to_vec(&self.envelope(status, summary, result)).unwrap_or_else(|_| b"{}".to_vec());
        self.named(ApiAnswer::json(http, body))
    }

    /// As [`Stamp::answer`], of a result that may hold secrets: what is written of it is wiped.
    pub fn secret_answer<R: Serialize>(
        &self,
        http: StatusCode,
        status: &str,
        summary: &str,
        result: Option<R>,
    ) -> ApiAnswer {
        let mut body = SecretText::default();
        let written = serde_json::to_writer(&mut body, &self.envelope(status, summary, result));
        let body = written.map_or_else(|_| Bytes::from_static(b"{}"), |()| Bytes::from_owner(body));
        self.named(ApiAnswer::json(http, body))
    }

    fn envelope<'a, R>(&self, status: &'a str, summary: &'a str, result: Option<R>) -> Envelope<'a, R> {
        Envelope {
            request_id: self.id.to_string(),
            request_time: self.received.iso8601(),
            response_time: self.answered.iso8601(),
            status,
            summary,
            result,
        }
    }

    fn named(&self, mut answer: ApiAnswer) -> ApiAnswer {
        if let Ok(id) = HeaderValue::from_str(&self.id.to_string()) {
            answer.headers.insert(&REQUEST_ID, id);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdk_is_known_by_its_agent_in_any_case() {
        let mut headers = HeaderMap::new();
        assert_eq!(DialectChoice::Auto.of(&headers), Dialect::Documented);
        headers.insert(USER_AGENT, HeaderValue::from_static("PANGEA-python/6.13.0"));
        assert_eq!(DialectChoice::Auto.of(&headers), Dialect::Sdk);
        assert_eq!(DialectChoice::Documented.of(&headers), Dialect::Documented);
    }

    #[test]
    fn the_envelope_has_exactly_its_six_members() {
        let id = RequestId::from_random([1; 20]);
        let t = Timestamp::from_millis(0);
        let stamp = Stamp { id: &id, received: t, answered: t };
        let answer = stamp.answer(StatusCode::OK, "success", "", None::<()>);
        let value: serde_json::Value = serde_json::from_slice(answer.bytes()).unwrap();
        let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["request_id", "request_time", "response_time", "result", "status", "summary"]);
        assert!(value["result"].is_null());
    }
}
