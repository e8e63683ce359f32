//! `POST deanonymize`: the way back, for what the operator `encrypt` wrote.

use std::collections::BTreeMap;

use data_encoding::{BASE64URL, BASE64URL_NOPAD};
use serde_json::Value;

use crate::api::call::{ApiAnswer, ApiCall};
use crate::api::error::ApiError;
use crate::api::fields::{Faults, ObjectFields};
use crate::api::guardrail::answer::shown;
use crate::api::guardrail::engine::Guardrail;
use crate::api::guardrail::presidio::anonymize::{
    AnalyzedValue, OverlappingValues, Substitute, named, resolved, substituted,
};
use crate::api::guardrail::presidio::operator::{DEFAULT, OPERATORS, cbc_key};
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;
use crate::crypto::cbc::CbcKey;

/// What becomes of a value.
enum Deanonymizer {
    Decrypt(CbcKey),
    Keep,
}

/// Answers a call.
pub(super) async fn deanonymize(
    guardrail: &Guardrail,
    call: &mut ApiCall<'_>,
) -> Result<ApiAnswer, ApiError> {
    let (text, values, operators) = guardrail.request(call, parse).await?;
    let bytes = text.len();
    let work = move |checkpoint: &Checkpoint| {
        let mut substitutes = Vec::new();
        for OverlappingValues { entity, span, .. } in resolved(&values, |_| false) {
            checkpoint.pass()?;
            let written = text.get(span.start..span.end).unwrap_or_default();
            let operator = operators.get(&entity).or_else(|| operators.get(DEFAULT));
            let (with, operator) = match operator {
                Some(Deanonymizer::Decrypt(key)) => (decrypted(key, written), "decrypt"),
                Some(Deanonymizer::Keep) | None => (Some(written.to_owned()), "keep"),
            };
            let Some(with) = with else { return Ok(None) };
            substitutes.push(Substitute { span, entity, with, operator });
        }
        Ok(Some(substituted(&text, substitutes)))
    };
    let unlike = ApiError::BadRequest("a value that is to be decrypted was not written with its key");
    shown(&guardrail.work(call, bytes, work).await?.ok_or(unlike)?)
}

fn decrypted(key: &CbcKey, written: &str) -> Option<String> {
    let encodings = [BASE64URL, BASE64URL_NOPAD];
    let bytes = encodings.iter().find_map(|encoding| encoding.decode(written.as_bytes()).ok())?;
    String::from_utf8(key.decrypt(&bytes).ok()?).ok()
}

type DeanonymizeRequest = (String, Vec<AnalyzedValue>, BTreeMap<String, Deanonymizer>);

fn parse(body: &Value) -> Result<DeanonymizeRequest, ApiError> {
    let mut fields = ObjectFields::of(body)?;
    fields.nulls_are_absent();
    let text = fields.required_text("text").to_owned();
    let operators = fields.map("deanonymizers", OPERATORS, |_, value, at, faults| read(value, at, faults));
    let values = named(&mut fields, "anonymizer_results", &text);
    fields.close()?;
    Ok((text, values, operators.unwrap_or_default()))
}

fn read(value: &Value, at: Pointer, faults: &mut Faults) -> Option<Deanonymizer> {
    ObjectFields::within(value, &at, faults, |fields| {
        fields.required("type");
        match fields.one_of("type", &[("decrypt", true), ("deanonymize_keep", false), ("keep", false)])? {
            true => cbc_key(fields).map(Deanonymizer::Decrypt),
            false => Some(Deanonymizer::Keep),
        }
    })
    .flatten()
}
