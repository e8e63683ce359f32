//! The API of Presidio's analyzer and anonymizer (Microsoft Presidio, REST API, "Analyzer" and "Anonymizer"), so that programs
//! that use them, such as the guardrail of LiteLLM, use this gateway by another URL.
//!
//! | operation | what it does |
//! |---|---|
//! | `POST analyze` | where values stand in a text, or in each of several |
//! | `POST anonymize` | the text with other words in the place of values |
//! | `POST deanonymize` | the way back, for what `encrypt` wrote |
//! | `GET supportedentities`, `recognizers`, `anonymizers`, `deanonymizers`, `health` | what there is |
//!
//! Entities are our rules, by the same names. Offsets are code points.

mod analyze;
mod anonymize;
mod answer;
mod deanonymize;
mod operator;

use futures_util::future::BoxFuture;
use http::{Method, StatusCode};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::error::ApiError;
use crate::api::guardrail::answer::shown;
use crate::api::guardrail::engine::Guardrail;
use crate::api::guardrail::presidio::answer::{RECOGNIZER, told};

/// What `anonymize` can do with a value, and `deanonymize`.
const ANONYMIZERS: [&str; 6] = ["encrypt", "hash", "keep", "mask", "redact", "replace"];
const DEANONYMIZERS: [&str; 1] = ["decrypt"];

/// The API at the end of a route.
pub struct Presidio(pub Guardrail);

impl Handler for Presidio {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let done = self.answer(&mut call).await;
            done.unwrap_or_else(|error| told(error, &call))
        })
    }
}

impl Presidio {
    async fn answer(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        let operation = self.0.operation(call);
        let posted = match operation.as_str() {
            "analyze" | "anonymize" | "deanonymize" => true,
            "health" | "supportedentities" | "recognizers" | "anonymizers" | "deanonymizers" => false,
            _ => return Err(ApiError::NotFound),
        };
        match (posted, &call.head.method) {
            (true, &Method::POST) | (false, &Method::GET | &Method::HEAD) => {}
            (true, _) => return Err(ApiError::MethodNotAllowed("POST".to_owned())),
            (false, _) => return Err(ApiError::MethodNotAllowed("GET, HEAD".to_owned())),
        }
        match operation.as_str() {
            "analyze" => analyze::analyze(&self.0, call).await,
            "anonymize" => anonymize::anonymize(&self.0, call).await,
            "deanonymize" => deanonymize::deanonymize(&self.0, call).await,
            "anonymizers" => shown(&ANONYMIZERS),
            "deanonymizers" => shown(&DEANONYMIZERS),
            "recognizers" => shown(&[RECOGNIZER]),
            "supportedentities" => shown(&self.0.catalogue.names().collect::<Vec<_>>()),
            _ => Ok(ApiAnswer::new(StatusCode::OK, "text/plain; charset=utf-8", "ok")),
        }
    }
}
