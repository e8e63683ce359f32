//! Who calls, by a token that only the authorization server can read (RFC 7662): that is asked, and what it says is judged and
//! handed on as the claims of a signed token are.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::api::ApiError;
use crate::base::clock::SharedClock;
use crate::gateway::error::{GatewayError, TokenFault};
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::claims::{TokenPassage, TokenReader, identify, refusal};
use crate::gateway::introspection::{Introspector, TokenStatus};
use crate::gateway::plan::RequestPlan;
use crate::vault::jwt::{Claims, Policy};

/// The longest token that the server is asked about, in bytes.
const LONGEST: usize = 8 << 10;

/// What the filter is made from.
pub struct IntrospectParts {
    /// Knows how tokens stand.
    pub introspector: Introspector,
    /// What the server must say of them.
    pub policy: Policy,
    /// One of these as `client_id`; none: any.
    pub client_ids: Vec<String>,
    /// Where tokens are, and what of one goes on.
    pub passage: TokenPassage,
    /// Reads time.
    pub clock: SharedClock,
}

#[async_trait]
impl TokenReader for IntrospectParts {
    fn passage(&self) -> &TokenPassage {
        &self.passage
    }

    async fn claims(&self, token: &str) -> Result<Claims, GatewayError> {
        let Self { introspector, policy, client_ids, clock, .. } = self;
        if !is_token(token) {
            return Err(TokenFault::Invalid.into());
        }
        let standing = introspector.standing(token).await.map_err(|_| GatewayError::Unverifiable)?;
        let TokenStatus::Active(said) = standing else { return Err(TokenFault::Invalid.into()) };
        let checked = said.check(policy, clock.now().as_millis() / 1000);
        let claims = checked.map_err(|denied| refusal(denied, policy))?;
        let id = claims.get("client_id").and_then(Value::as_str);
        let is_ours = |id: &str| client_ids.iter().any(|one| one == id);
        match client_ids.is_empty() || id.is_some_and(is_ours) {
            true => Ok(claims),
            false => Err(ApiError::ServiceNotEnabled.into()),
        }
    }
}

/// Lets only bearers of active tokens pass.
pub struct IntrospectFilter(Arc<IntrospectParts>);

impl IntrospectFilter {
    /// Makes the filter.
    pub fn new(parts: IntrospectParts) -> Self {
        Self(Arc::new(parts))
    }
}

/// Whether a text can be a token (RFC 6749 appendix A.12), and is no longer than one.
fn is_token(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[async_trait]
impl Filter for IntrospectFilter {
    fn name(&self) -> &'static str {
        "introspection"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        identify(&self.0, x).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_token_is_asked_of_nobody() {
        let longest = "x".repeat(LONGEST);
        let longer = format!("{longest}x");
        let rows = [
            ("2YotnFZFEjr1zCsicMWpAA", true),
            ("a/b+c=.~-_ \"", true),
            (longest.as_str(), true),
            (longer.as_str(), false),
            ("", false),
            ("a\tb", false),
            ("a\u{e9}", false),
            ("a\u{7f}", false),
        ];
        for (text, is) in rows {
            assert_eq!(is_token(text), is, "{} bytes", text.len());
        }
    }
}
