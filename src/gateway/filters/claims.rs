//! What filters that verify tokens of others do alike: where these are, what one lacks, as an error, and what it says, as headers.

use http::header::{HeaderName, HeaderValue};
use pingora::http::RequestHeader;
use serde_json::Value;

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::Flow;
use crate::gateway::filters::spoofed::remove_spoofed;
use crate::gateway::filters::token_place::Place;
use crate::vault::jwt::{Claims, Denied};

/// Where callers' tokens are, and what of one goes on.
pub struct TokenPassage {
    /// Where they are.
    pub place: Place,
    /// Claims that go on as headers.
    pub headers: ClaimHeaders,
    /// Whether the token itself goes on.
    pub forward: bool,
}

impl TokenPassage {
    /// Lets a request go on whose token says this: its head tells it, and the filters behind know it.
    ///
    /// # Errors
    /// A claim that cannot stand in a head.
    pub(super) fn admit(&self, x: &mut Exchange, claims: Claims) -> Result<Flow, GatewayError> {
        let head = x.head_mut();
        if !self.forward {
            self.place.strip(head);
        }
        self.headers.hand_on(&claims, head)?;
        x.facts.claims = Some(claims);
        Ok(Flow::Next)
    }
}

/// Claims that go on as headers, by their names.
#[derive(Clone, Debug, Default)]
pub struct ClaimHeaders(pub Vec<(String, HeaderName)>);

impl ClaimHeaders {
    /// Puts the claims into a head, in the place of whatever the caller says there: of itself, that is no claim.
    ///
    /// # Errors
    /// One that cannot stand in a head.
    fn hand_on(&self, claims: &Claims, head: &mut RequestHeader) -> Result<(), GatewayError> {
        for (claim, header) in &self.0 {
            remove_spoofed(head, header);
            if let Some(value) = claims.get(claim).map_or(Ok(None), spelled)? {
                drop(head.insert_header(header.clone(), value));
            }
        }
        Ok(())
    }
}

/// Why the bearer of a good token does not pass: it grants too little, or is none for here.
pub(super) fn refusal(denied: Denied) -> GatewayError {
    GatewayError::Api(match denied {
        Denied::Scope | Denied::Required => ApiError::ServiceNotEnabled,
        _ => ApiError::Unauthorized,
    })
}

/// A claim as a header: a text as it is, anything else as JSON. What is beyond ASCII is left out: servers disagree on how
/// to read it.
///
/// # Errors
/// A text with control characters or blanks around it: an upstream would see another value than was signed, or none, and
/// might take that for leave.
fn spelled(value: &Value) -> Result<Option<HeaderValue>, ApiError> {
    const BAD: ApiError = ApiError::BadRequest("a claim of the token cannot be handed on in a header");
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.trim() != text || text.chars().any(char::is_control) {
        return Err(BAD);
    }
    if !text.is_ascii() {
        return Ok(None);
    }
    HeaderValue::from_str(&text).map(Some).map_err(|_| BAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_handed_on_as_it_was_signed_or_the_request_is_refused() {
        for text in [
            "a\r\nx: y",
            "a\rb",
            "a\nb",
            "a\0",
            "\0",
            " a",
            "a ",
            "\ta",
            "a\t",
            "\u{7f}",
            "a\u{85}b",
            "\u{a0}a",
        ] {
            assert!(spelled(&Value::from(text)).is_err(), "{text:?}");
        }
        let rows = [
            (Value::from("jane doe"), Some("jane doe")),
            (Value::from(""), Some("")),
            (Value::from(7), Some("7")),
            (serde_json::json!(["a\r\n", " b "]), Some(r#"["a\r\n"," b "]"#)),
            (Value::from("Jos\u{e9}"), None),
            (Value::Null, None),
        ];
        for (value, header) in rows {
            let spelled = spelled(&value).unwrap();
            assert_eq!(spelled.as_ref().map(|spelled| spelled.to_str().unwrap()), header, "{value}");
        }
    }
}
