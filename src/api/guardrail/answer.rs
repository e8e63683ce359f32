//! How answers and errors are written.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::api::call::{ApiAnswer, ApiCall, Body};
use crate::api::envelope::Stamp;
use crate::api::error::ApiError;

/// The longest text of an error, in bytes: places have names that callers give.
const LONGEST: usize = 4096;

/// A success.
pub(super) fn shown(value: &impl Serialize) -> Result<ApiAnswer, ApiError> {
    let body = serde_json::to_vec(value).map_err(|_| ApiError::Internal("guardrail"))?;
    Ok(ApiAnswer::json(StatusCode::OK, body))
}

/// An error in a text: what is wrong, and where, and no value of the call's.
pub(super) fn text_of(error: &ApiError) -> String {
    let (_, _, summary, result) = error.told();
    let mut text = summary.to_owned();
    let faults = result.as_ref().and_then(|result| result.get("errors")?.as_array());
    for fault in faults.into_iter().flatten() {
        let part = |name| fault.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let (place, detail) = (part("source"), part("detail"));
        if text.len() + place.len() + detail.len() > LONGEST {
            break;
        }
        match place {
            "" if text == detail => {}
            "" => text.push_str(&format!("; {detail}")),
            place => text.push_str(&format!("; {place}: {detail}")),
        }
    }
    text
}

/// An error with this body in place of ours.
pub(super) fn told(
    error: ApiError,
    call: &ApiCall<'_>,
    media_type: &'static str,
    body: impl Into<Bytes>,
) -> ApiAnswer {
    let body = body.into();
    let mut answer = error.answer(&Stamp::of(call));
    answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    answer.body = Body::Whole(body);
    answer
}
