//! Who calls, by a signed token (RFC 7519): verified against keys of its issuer, its claims handed on as headers.

use async_trait::async_trait;
use http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use pingora::http::RequestHeader;
use serde_json::Value;

use crate::api::ApiError;
use crate::base::clock::SharedClock;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::bearer::{bearer, only};
use crate::gateway::filters::cookies_and_query::{retain_cookies, retain_query};
use crate::gateway::filters::spoofed::remove_spoofed;
use crate::gateway::keys::{Keys, VerifyError};
use crate::gateway::plan::RequestPlan;
use crate::vault::jwt::{Claims, Denied, Policy};

/// Where the token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `Authorization: Bearer …` (RFC 6750 section 2.1).
    Bearer,
    /// A header that is the token.
    Header(HeaderName),
    /// A cookie.
    Cookie(String),
    /// A parameter of the query.
    Query(String),
}

/// What the filter is made from.
pub struct JwtParts {
    /// Keys of those who may sign.
    pub keys: Keys,
    /// What tokens must say.
    pub policy: Policy,
    /// Where they are.
    pub place: Place,
    /// Claims that go on as headers.
    pub headers: Vec<(String, HeaderName)>,
    /// Whether the token itself goes on.
    pub forward: bool,
    /// Reads time.
    pub clock: SharedClock,
}

/// Lets only bearers of good tokens pass.
pub struct Jwt(JwtParts);

impl Jwt {
    /// Makes the filter.
    pub fn new(parts: JwtParts) -> Self {
        Self(parts)
    }

    /// What the caller's token says.
    async fn claims(&self, head: &RequestHeader) -> Result<Claims, GatewayError> {
        let token = self.0.place.find(head).ok_or(ApiError::Unauthorized)?;
        let verified = self.0.keys.verify(&token).await.map_err(|why| match why {
            VerifyError::Token => ApiError::Unauthorized,
            VerifyError::NoKeys => ApiError::Internal("keys of tokens"),
        })?;
        let now = self.0.clock.now().as_millis() / 1000;
        verified.check(&self.0.policy, now).map_err(|denied| {
            GatewayError::Api(match denied {
                Denied::Scope | Denied::Required => ApiError::ServiceNotEnabled,
                _ => ApiError::Unauthorized,
            })
        })
    }
}

#[async_trait]
impl Filter for Jwt {
    fn name(&self) -> &'static str {
        "jwt"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let claims = self.claims(x.head()).await?;
        let head = x.head_mut();
        if !self.0.forward {
            self.0.place.strip(head);
        }
        for (claim, header) in &self.0.headers {
            // Whatever the caller says of itself is no claim.
            remove_spoofed(head, header);
            let value = claims.get(claim).map_or(Ok(None), spelled)?;
            if let Some(value) = value {
                drop(head.insert_header(header.clone(), value));
            }
        }
        x.facts.claims = Some(claims);
        Ok(Flow::Next)
    }
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

impl Place {
    /// The token, if it is there exactly once.
    fn find(&self, head: &RequestHeader) -> Option<String> {
        match self {
            Self::Bearer => bearer(&head.headers).map(str::to_owned),
            Self::Header(name) => only(&head.headers, name).map(|token| token.trim().to_owned()),
            Self::Cookie(name) => {
                let cookies = head.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
                let pairs =
                    cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
                let mut found = pairs.filter(|(key, _)| key == name).map(|(_, value)| value.to_owned());
                let (one, None) = (found.next()?, found.next()) else { return None };
                Some(one)
            }
            Self::Query(name) => {
                let pairs = head.uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
                let mut found = pairs.filter(|(key, _)| key == name).map(|(_, value)| value.to_owned());
                let (one, None) = (found.next()?, found.next()) else { return None };
                Some(one)
            }
        }
    }

    /// Takes the token out of a head.
    fn strip(&self, head: &mut RequestHeader) {
        match self {
            Self::Bearer => drop(head.remove_header(&AUTHORIZATION)),
            Self::Header(name) => drop(head.remove_header(name)),
            Self::Cookie(name) => {
                retain_cookies(head, |cookie| key_of(cookie).trim_ascii() != name.as_bytes());
            }
            Self::Query(name) => {
                drop(retain_query(head, |parameter| key_of(parameter) != name.as_bytes()));
            }
        }
    }
}

/// What stands before the `=`; nothing where there is none.
fn key_of(pair: &[u8]) -> &[u8] {
    pair.iter().position(|byte| *byte == b'=').and_then(|at| pair.get(..at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str, headers: &[(&'static str, &str)]) -> RequestHeader {
        let mut head = RequestHeader::build("GET", path.as_bytes(), None).unwrap();
        for (name, value) in headers {
            head.append_header(*name, *value).unwrap();
        }
        head
    }

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

    #[test]
    fn a_token_is_found_once_and_taken_out() {
        let named = HeaderName::from_static("x-token");
        type Row = (Place, &'static str, &'static [(&'static str, &'static str)], Option<&'static str>);
        let rows: &[Row] = &[
            (Place::Bearer, "/", &[("authorization", "Bearer a.b.c")], Some("a.b.c")),
            (Place::Bearer, "/", &[("authorization", "Basic a.b.c")], None),
            (Place::Bearer, "/", &[("authorization", "Bearer a b")], None),
            (Place::Bearer, "/", &[("authorization", "Bearer ")], None),
            (Place::Bearer, "/", &[("authorization", "Bearer a"), ("authorization", "Bearer b")], None),
            (Place::Header(named.clone()), "/", &[("x-token", "a.b.c")], Some("a.b.c")),
            (Place::Cookie("s".into()), "/", &[("cookie", "t=1; s=a.b.c; u=2")], Some("a.b.c")),
            (Place::Cookie("s".into()), "/", &[("cookie", "s=a"), ("cookie", "s=b")], None),
            (Place::Query("t".into()), "/p?x=1&t=a.b.c", &[], Some("a.b.c")),
            (Place::Query("t".into()), "/p?t=a&t=b", &[], None),
        ];
        for (place, path, headers, found) in rows {
            let mut head = head(path, headers);
            assert_eq!(place.find(&head).as_deref(), *found, "{place:?} {path}");
            if found.is_some() {
                place.strip(&mut head);
                assert!(place.find(&head).is_none());
            }
        }
        let mut cookies = head("/p?t=a", &[("cookie", "t=1; s=a; u=2")]);
        Place::Cookie("s".into()).strip(&mut cookies);
        Place::Query("t".into()).strip(&mut cookies);
        assert_eq!(cookies.headers.get(COOKIE).unwrap(), "t=1; u=2");
        assert_eq!(cookies.uri.to_string(), "/p");
    }
}
