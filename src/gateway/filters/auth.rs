//! Who calls: `Authorization: Bearer <token>` (RFC 6750 section 2.1) against the API tokens of this process. The
//! header does not go on: the token is ours, not the upstream's.

use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::api::ApiError;
use crate::api::token::{TokenError, Tokens};
use crate::gateway::exchange::Exchange;
use crate::gateway::fault::Fault;
use crate::gateway::filter::{Filter, Flow, Stage};

/// Lets only callers with a token pass.
pub struct Auth {
    tokens: Arc<Tokens>,
}

impl Auth {
    /// Proves callers against `tokens`.
    pub fn new(tokens: Arc<Tokens>) -> Self {
        Self { tokens }
    }
}

#[async_trait]
impl Filter for Auth {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange) -> Result<Flow, Fault> {
        let token = bearer(&x.head().headers).ok_or(ApiError::Unauthorized)?;
        let who = self.tokens.verify(token).await.map_err(|error| match error {
            TokenError::Unknown | TokenError::Expired | TokenError::Revoked => ApiError::Unauthorized,
            _ => ApiError::Internal("tokens"),
        })?;
        x.head_mut().remove_header(&AUTHORIZATION);
        x.facts.who = Some(who);
        Ok(Flow::Next)
    }
}

/// The token, if there is exactly one header of the right form.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (one, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' ')).then_some(token)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_one_whole_bearer_header_counts() {
        let rows: &[(&[&str], Option<&str>)] = &[
            (&["Bearer abc"], Some("abc")),
            (&["bearer  abc "], Some("abc")),
            (&[], None),
            (&["Bearer"], None),
            (&["Bearer "], None),
            (&["abc"], None),
            (&["Token abc"], None),
            (&["Bearer a b"], None),
            (&["Bearer a", "Bearer a"], None),
        ];
        for (values, token) in rows {
            let mut headers = HeaderMap::new();
            for value in *values {
                headers.append(AUTHORIZATION, HeaderValue::from_static(value));
            }
            assert_eq!(bearer(&headers), *token, "{values:?}");
        }
    }
}
