//! [`Policy`]: what a verified token must say before its bearer may pass (RFC 7519 section 4.1, RFC 8725).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::base::clock::Timestamp;
use crate::vault::jwt::verify::Verified;

/// Why a token's bearer may not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The payload is no object, or a claim is of another kind than it must be.
    #[error("the claims cannot be read")]
    Claims,
    /// `exp` is past, or missing.
    #[error("expired")]
    Expired,
    /// `nbf` is to come.
    #[error("not valid yet")]
    Early,
    /// Another `iss`.
    #[error("another issuer")]
    Issuer,
    /// Another `aud`.
    #[error("another audience")]
    Audience,
    /// A claim that is required is missing or has another value.
    #[error("a required claim")]
    Claim,
    /// A scope that is required is missing.
    #[error("a required scope")]
    Scope,
}

/// What a token must say.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// One of these as `iss`; none: any.
    pub issuers: Vec<String>,
    /// One of these in `aud`; none: any.
    pub audiences: Vec<String>,
    /// Whether `exp` must be there.
    pub expires: bool,
    /// What clocks may differ by.
    pub leeway: Duration,
    /// Claims that must be there; with values, one of them.
    pub claims: BTreeMap<String, Vec<String>>,
    /// All of these in `scope` (RFC 8693 section 4.2) or `scp`.
    pub scopes: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            issuers: Vec::new(),
            audiences: Vec::new(),
            expires: true,
            leeway: Duration::from_secs(30),
            claims: BTreeMap::new(),
            scopes: Vec::new(),
        }
    }
}

impl Policy {
    /// The claims of a token that may pass.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn admit(&self, token: &Verified, now: Timestamp) -> Result<Map<String, Value>, Denied> {
        let claims = token.claims().ok_or(Denied::Claims)?;
        let (now, leeway) = (now.as_millis() as f64 / 1000.0, self.leeway.as_secs_f64());
        let time = |name: &str| match claims.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or(Denied::Claims),
        };
        match time("exp")? {
            Some(exp) if now >= exp + leeway => return Err(Denied::Expired),
            None if self.expires => return Err(Denied::Expired),
            _ => {}
        }
        if time("nbf")?.is_some_and(|nbf| now + leeway < nbf) {
            return Err(Denied::Early);
        }
        let issuer = claims.get("iss").and_then(Value::as_str);
        if !self.issuers.is_empty()
            && !issuer.is_some_and(|issuer| self.issuers.iter().any(|one| one == issuer))
        {
            return Err(Denied::Issuer);
        }
        let audiences = texts(claims.get("aud"));
        if !self.audiences.is_empty()
            && !audiences.iter().any(|one| self.audiences.iter().any(|ours| ours == one))
        {
            return Err(Denied::Audience);
        }
        for (name, wanted) in &self.claims {
            let value = claims.get(name).ok_or(Denied::Claim)?;
            let said = texts(Some(value));
            if !wanted.is_empty() && !said.iter().any(|one| wanted.iter().any(|want| want == one)) {
                return Err(Denied::Claim);
            }
        }
        let scopes: Vec<&str> = ["scope", "scp"]
            .into_iter()
            .flat_map(|name| texts(claims.get(name)))
            .flat_map(|text| text.split(' ').collect::<Vec<_>>())
            .collect();
        if !self.scopes.iter().all(|wanted| scopes.contains(&wanted.as_str())) {
            return Err(Denied::Scope);
        }
        Ok(claims)
    }
}

/// A text, or the texts of an array.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
