//! `POST /v1/redact`: redacts a text (specification, group B; field names from the public SDKs).

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::ApiError;
use crate::api::fields::ObjectFields;
use crate::api::redact::report::Analysis;
use crate::api::redact::request::CommonRequest;
use crate::api::redact::service::{PreparedRedactors, Redaction};
use crate::api::token::Service;
use crate::base::checkpoint::Checkpoint;
use crate::redact::{FindingLimits, Texts};

/// The operation.
pub struct RedactText(pub Redaction);

/// What a call asks.
pub struct RedactRequest {
    text: String,
    wanted: CommonRequest,
}

/// What it is told.
#[derive(Serialize)]
pub struct RedactResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted_text: Option<String>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Analysis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpe_context: Option<String>,
}

impl Endpoint for RedactText {
    const PATH: &'static str = "/v1/redact";
    const SERVICE: Service = Service::Redact;
    const KEEPS_NOTHING: bool = true;
    type Request = RedactRequest;
    type Response = RedactResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<RedactRequest, ApiError> {
        let text = fields.required_text("text").to_owned();
        let wanted = CommonRequest::of(&mut fields);
        fields.close()?;
        Ok(RedactRequest { text, wanted })
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: RedactRequest,
    ) -> BoxFuture<'a, Result<Success<RedactResponse>, ApiError>> {
        Box::pin(async move {
            let RedactRequest { text, wanted } = request;
            let prepared = self.0.prepare(&caller, &wanted, &[]).await?;
            let PreparedRedactors { parts, keys, terms, entities } = prepared;
            let (dialect, debug, bytes) = (caller.dialect, wanted.debug, text.len());
            let text: Arc<str> = text.into();
            let shown = Arc::clone(&text);
            let parts = self.0.asked(&caller, parts, bytes, move || Ok(Texts::of(&shown))).await?;
            let redactor = parts.into_iter().next().ok_or(ApiError::Internal("redact"))?;
            let work = move |checkpoint: &Checkpoint| {
                let redactor = redactor.with_checkpoint(checkpoint.clone());
                let (redacted, context) = redactor.text(&text, &keys, FindingLimits::default())?;
                let report = debug.then(|| {
                    let rejected = redactor.rejected(&text);
                    Analysis::of_text(&text, redacted.report(), &rejected, dialect).called(&entities)
                });
                Ok((redacted, context, report))
            };
            let (redacted, context, report) = self.0.work(&caller, bytes, work).await?;
            self.0.parts().counts.report(redacted.report());
            let count = redacted.report().count();
            let fpe_context = self.0.seal(caller.who.tenant(), context, terms)?;
            let redacted_text = wanted.return_result.then(|| redacted.into_value());
            let result = RedactResponse { redacted_text, count, report, fpe_context };
            Ok(Success { summary: summary(count), result })
        })
    }
}

/// A short text for people.
pub(super) fn summary(count: usize) -> String {
    format!("Redacted {count} {}", if count == 1 { "value" } else { "values" })
}
