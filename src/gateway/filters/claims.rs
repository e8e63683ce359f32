//! What filters that verify tokens of others do alike: where these are, what one lacks, as an error, and what it says, as headers.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::{HeaderName, HeaderValue};
use pingora::http::RequestHeader;
use serde_json::Value;

use crate::api::ApiError;
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::gateway::error::{GatewayError, TokenFault};
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::Flow;
use crate::gateway::filters::spoofed::remove_spoofed;
use crate::gateway::filters::token_place::TokenPosition;
use crate::gateway::session_proof::SessionProof;
use crate::vault::jwt::{Claims, ClaimsError, Policy};

/// What is said of a claim that would not arrive as it was signed.
pub(super) const NOT_HANDED_ON: ApiError =
    ApiError::BadRequest("a claim of the token cannot be handed on as it was signed");

/// Where callers' tokens are, and what of one goes on.
pub struct TokenPassage {
    /// Where they are.
    pub place: TokenPosition,
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

/// Reads callers' tokens.
#[async_trait]
pub(super) trait TokenReader: Send + Sync + 'static {
    /// Where they are, and what of one goes on.
    fn passage(&self) -> &TokenPassage;

    /// What a token says.
    ///
    /// # Errors
    /// It is not good, or nobody can tell now ([`GatewayError::Unverifiable`]).
    async fn claims(&self, token: &str) -> Result<Claims, GatewayError>;
}

/// Lets a request go on that has a good token.
///
/// # Errors
/// It has none, or as of [`TokenReader::claims`] and [`TokenPassage::admit`].
pub(super) async fn identify<R: TokenReader>(
    reader: &Arc<R>,
    x: &mut Exchange,
) -> Result<Flow, GatewayError> {
    let token = reader.passage().place.find(x.head()).ok_or(ApiError::Unauthorized)?;
    let claims = reader.claims(&token).await?;
    if x.is_websocket() {
        let proof = ClaimsProof { reader: Arc::clone(reader), token: Secret::new(token) };
        x.facts.proofs.push(Box::new(proof));
    }
    reader.passage().admit(x, claims)
}

/// That the token which opened a session is good yet, as far as its reader knows.
struct ClaimsProof<R> {
    reader: Arc<R>,
    token: Secret<String>,
}

#[async_trait]
impl<R: TokenReader> SessionProof for ClaimsProof<R> {
    async fn prove(&self) -> Result<Option<Timestamp>, GatewayError> {
        match self.reader.claims(self.token.expose()).await {
            Ok(_) | Err(GatewayError::Unverifiable) => Ok(None),
            Err(error) => Err(error),
        }
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
pub(super) fn refusal(denied: ClaimsError, policy: &Policy) -> GatewayError {
    match denied {
        ClaimsError::Scope => TokenFault::Scope(policy.scopes.clone()).into(),
        ClaimsError::Required => ApiError::ServiceNotEnabled.into(),
        _ => TokenFault::Invalid.into(),
    }
}

/// Whether each number in it is the one that was written: integers have 64 bits, and what is beyond becomes the nearest
/// floating-point number, which many others become as well.
pub(super) fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            !number.is_f64() || number.as_f64().is_some_and(|number| number.abs() < INEXACT)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// From here on floating-point numbers leave integers out: two to the 53rd power.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// A claim as a header: a text as it is, but for what is beyond ASCII and `%`, which are percent-encoded as in the name of
/// a certificate; anything else as JSON, in which what is beyond ASCII is escaped.
///
/// # Errors
/// A text with control characters or blanks around it, a number that is not exact: an upstream would see another value
/// than was signed, or none, and might take that for leave.
fn spelled(value: &Value) -> Result<Option<HeaderValue>, ApiError> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.trim() != text || text.chars().any(char::is_control) || !is_exact(value) {
        return Err(NOT_HANDED_ON);
    }
    let text = if value.is_string() { percent_encoded(&text) } else { escaped(&text) };
    HeaderValue::from_str(&text).map(Some).map_err(|_| NOT_HANDED_ON)
}

/// A text in ASCII, from which it can be told.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// JSON in ASCII (RFC 8259 section 7): what is beyond stands in strings only.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
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
            (Value::from("Jos\u{e9} 100%"), Some("Jos%C3%A9 100%25")),
            (Value::from("Jos%C3%A9"), Some("Jos%25C3%25A9")),
            (serde_json::json!({"n\u{e9}": ["\u{1f600}%"]}), Some(r#"{"n\u00e9":["\ud83d\ude00%"]}"#)),
            (Value::from(u64::MAX), Some("18446744073709551615")),
            (Value::from(i64::MIN), Some("-9223372036854775808")),
            (Value::from(1.5), Some("1.5")),
            (Value::Null, None),
        ];
        for (value, header) in rows {
            let spelled = spelled(&value).unwrap();
            assert_eq!(spelled.as_ref().map(|spelled| spelled.to_str().unwrap()), header, "{value}");
        }
    }

    #[test]
    fn a_number_that_another_would_become_as_well_is_not_handed_on() {
        for json in [
            "18446744073709551616",
            "18446744073709551617",
            "-9223372036854775809",
            "1e16",
            "9007199254740993.0",
            r#"{"a":[18446744073709551616]}"#,
        ] {
            let value: Value = serde_json::from_str(json).unwrap();
            assert!(spelled(&value).is_err() && !is_exact(&value), "{json}");
        }
    }
}
