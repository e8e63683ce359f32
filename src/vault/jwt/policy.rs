//! What the claims of a verified token must say before somebody acts on them (RFC 7519 section 4.1).

use serde_json::{Map, Value};

/// The most leeway that counts, in seconds: clocks further apart are broken.
const MOST_LEEWAY: u64 = 600;

/// What claims must say. The default asks for `exp`, refuses any audience and allows no leeway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// `iss` must be one of these; none: it may be anything.
    pub issuers: Vec<String>,
    /// For whom a token may be.
    pub audience: Audience,
    /// Whether a token without `exp` is refused.
    pub expires: bool,
    /// How far clocks may be apart, in seconds; at most 600 count.
    pub leeway: u64,
    /// Claims that must be there and not `null`.
    pub required: Vec<String>,
    /// Scopes that must all be granted, in `scope` (RFC 8693 section 4.2) or `scp`.
    pub scopes: Vec<String>,
}

/// For whom a token may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// For anybody: `aud` is not looked at.
    Any,
    /// For one of these. With none, a token that has an `aud` is refused (RFC 7519 section 4.1.3) and one that has none
    /// is accepted.
    OneOf(Vec<String>),
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            issuers: Vec::new(),
            audience: Audience::OneOf(Vec::new()),
            expires: true,
            leeway: 0,
            required: Vec::new(),
            scopes: Vec::new(),
        }
    }
}

/// What claims lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// The payload is not a JSON object with each name once.
    #[error("the token holds no claims")]
    Claims,
    /// `iss` is absent or another.
    #[error("the token is by another issuer")]
    Issuer,
    /// `aud` is absent or another.
    #[error("the token is for another audience")]
    Audience,
    /// `exp` has passed.
    #[error("the token has expired")]
    Expired,
    /// `nbf` has not come.
    #[error("the token is not valid yet")]
    Early,
    /// `exp` or `nbf` is not a number, or `exp` is absent.
    #[error("the token does not say when it is valid")]
    Time,
    /// A required claim is absent.
    #[error("the token lacks a claim")]
    Required,
    /// A scope is not granted.
    #[error("the token does not grant this")]
    Scope,
}

/// The claims of a token that was verified and that a [`Policy`] let pass.
#[derive(Clone, PartialEq)]
pub struct Claims(Map<String, Value>);

impl Claims {
    /// A claim.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// `sub`, if it is a text.
    pub fn subject(&self) -> Option<&str> {
        self.get("sub").and_then(Value::as_str)
    }
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Claims(..)")
    }
}

impl Policy {
    /// Lets claims pass that say what this policy asks for.
    pub(super) fn check(&self, claims: Map<String, Value>, now: u64) -> Result<Claims, ClaimsError> {
        self.time(&claims, now)?;
        let issuer = claims.get("iss").and_then(Value::as_str);
        if !self.issuers.is_empty()
            && !issuer.is_some_and(|issuer| self.issuers.iter().any(|one| one == issuer))
        {
            return Err(ClaimsError::Issuer);
        }
        if !self.audience.holds(claims.get("aud")) {
            return Err(ClaimsError::Audience);
        }
        if self.required.iter().any(|name| claims.get(name).is_none_or(Value::is_null)) {
            return Err(ClaimsError::Required);
        }
        let granted: Vec<&str> = ["scope", "scp"].iter().flat_map(|name| texts(claims.get(*name))).collect();
        let granted: Vec<&str> = granted.into_iter().flat_map(|text| text.split(' ')).collect();
        if self.scopes.iter().any(|scope| !granted.contains(&scope.as_str())) {
            return Err(ClaimsError::Scope);
        }
        Ok(Claims(claims))
    }

    /// `NumericDate` may have a fraction (RFC 7519 section 2), hence the floating point.
    fn time(&self, claims: &Map<String, Value>, now: u64) -> Result<(), ClaimsError> {
        let leeway = self.leeway.min(MOST_LEEWAY) as f64;
        let now = now as f64;
        let date = |name| claims.get(name).map(|value| value.as_f64().ok_or(ClaimsError::Time)).transpose();
        match date("exp")? {
            // On or after `exp` it must not be accepted (section 4.1.4).
            Some(exp) if now >= exp + leeway => return Err(ClaimsError::Expired),
            None if self.expires => return Err(ClaimsError::Time),
            _ => {}
        }
        match date("nbf")? {
            Some(nbf) if now + leeway < nbf => Err(ClaimsError::Early),
            _ => Ok(()),
        }
    }
}

impl Audience {
    fn holds(&self, aud: Option<&Value>) -> bool {
        match (self, aud) {
            (Self::Any, _) => true,
            (Self::OneOf(allowed), None) => allowed.is_empty(),
            (Self::OneOf(allowed), aud) => {
                texts(aud).iter().any(|text| allowed.iter().any(|one| one == text))
            }
        }
    }
}

/// The text that a claim is, or those it is a list of; none if there is anything else among them.
fn texts(claim: Option<&Value>) -> Vec<&str> {
    match claim {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => {
            items.iter().map(Value::as_str).collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
