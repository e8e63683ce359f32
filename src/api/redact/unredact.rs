//! `POST /v1/unredact` (specification, group B): puts back what format-preserving encryption took, in text that was
//! edited since and in JSON of any shape.

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::redact::request::RuleReference;
use crate::api::redact::service::Redaction;
use crate::api::token::Service;
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;

/// The operation.
pub struct Unredact(pub Redaction);

/// What a call asks.
pub struct UnredactRequest {
    data: String,
    context: String,
    at: Pointer,
    config: Option<RuleReference>,
}

/// What it is told.
#[derive(Serialize)]
pub struct UnredactResponse {
    data: Box<RawValue>,
}

impl Endpoint for Unredact {
    const PATH: &'static str = "/v1/unredact";
    const SERVICE: Service = Service::Redact;
    const KEEPS_NOTHING: bool = true;
    const RAW: &'static [&'static str] = &["redacted_data"];
    type Request = UnredactRequest;
    type Response = UnredactResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<UnredactRequest, ApiError> {
        let data = fields.required_raw("redacted_data").to_owned();
        let context = fields.required_text("fpe_context").to_owned();
        let at = fields.at("fpe_context");
        let config = RuleReference::config(&mut fields);
        fields.close()?;
        Ok(UnredactRequest { data, context, at, config })
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: UnredactRequest,
    ) -> BoxFuture<'a, Result<Success<UnredactResponse>, ApiError>> {
        Box::pin(async move {
            let UnredactRequest { data, context, at, config } = request;
            // It must be one that the caller may use; which one undoes this, the context knows.
            if let Some(named) = &config {
                self.0.named(caller.who, named).await?;
            }
            let restorer = self.0.open(caller.who, &context, &at).await?;
            let restored = self
                .0
                .work(&caller, data.len(), move |checkpoint: &Checkpoint| {
                    let restorer = restorer.with_checkpoint(checkpoint.clone());
                    restorer.document(data.as_bytes())
                })
                .await?;
            Ok(Success {
                summary: "Unredacted".to_owned(),
                result: UnredactResponse { data: raw(restored)? },
            })
        })
    }
}

/// JSON that was rewritten, as a part of an answer.
pub(super) fn raw(json: Vec<u8>) -> Result<Box<RawValue>, ApiError> {
    let text = String::from_utf8(json).map_err(|_| ApiError::Internal("redact"))?;
    RawValue::from_string(text).map_err(|_| ApiError::Internal("redact"))
}
