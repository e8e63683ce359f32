//! Who we say calls: a token (RFC 7519) for the upstream, signed with a key of the vault, from a template of claims.

use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use data_encoding::BASE64URL_NOPAD;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::api::ApiError;
use crate::base::id::ItemId;
use crate::base::secret::Secret;
use crate::base::template::ClaimsTemplate;
use crate::crypto::{hash, random};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::claims::{NOT_HANDED_ON, is_exact};
use crate::gateway::filters::spoofed::remove_spoofed;
use crate::gateway::plan::RequestPlan;
use crate::vault::VaultError;
use crate::vault::items::{Items, Signer};
use crate::vault::jwt::Claims;

/// Tokens remembered for one route.
const REMEMBERED: usize = 10_000;

/// The largest payload, in bytes: heads have their limits at every server.
const LARGEST: usize = 16 << 10;

/// What the filter is made from.
pub struct SignParts {
    /// Where the key is.
    pub items: Items,
    /// The key.
    pub key: ItemId,
    /// `iss`.
    pub issuer: String,
    /// `aud`; at least one.
    pub audiences: Vec<String>,
    /// From `iat` and `nbf` to `exp`.
    pub lifetime: Duration,
    /// For how long a new version of the key is shown before it signs.
    pub publish_ahead: Duration,
    /// All other claims, by name.
    pub claims: Vec<(String, ClaimsTemplate)>,
    /// Where the token goes: behind `Bearer` in `Authorization`, alone in any other header.
    pub header: HeaderName,
    /// Whether requests with the same claims share a token for half of its lifetime.
    pub reuse: bool,
}

/// Signs a token for the upstream.
pub struct SignFilter {
    parts: SignParts,
    remembered: SignedTokenCache,
}

impl SignFilter {
    /// Makes the filter.
    pub fn new(parts: SignParts) -> Self {
        Self { parts, remembered: SignedTokenCache::default() }
    }

    async fn signer(&self) -> Result<Signer, GatewayError> {
        self.parts.items.signer(&self.parts.key, self.parts.publish_ahead).await.map_err(|error| {
            self.remembered.0.clear();
            self.failed(&error)
        })
    }

    fn failed(&self, error: &VaultError) -> GatewayError {
        tracing::error!(target: "portcullis::sign", key = %self.parts.key, %error, "no token for the upstream");
        GatewayError::Api(ApiError::Internal("sign"))
    }

    /// The claims that the template asks for.
    fn claims(&self, caller: Option<&Claims>) -> Result<Map<String, Value>, GatewayError> {
        let mut claims = Map::new();
        for (name, template) in &self.parts.claims {
            let filled = template.fill(&|claim| caller?.get(claim));
            // As for a claim that the policy of the caller's token asks for: known, and not enough.
            if let Some(value) = filled.map_err(|_| ApiError::ServiceNotEnabled)? {
                if template.asks() && !is_exact(&value) {
                    return Err(NOT_HANDED_ON.into());
                }
                claims.insert(name.clone(), value);
            }
        }
        Ok(claims)
    }

    /// A token with these claims.
    fn token(
        &self,
        signer: &Signer,
        claims: Map<String, Value>,
        time: Validity,
    ) -> Result<Secret<String>, GatewayError> {
        let mut all = claims;
        let Self { parts: SignParts { issuer, audiences, .. }, .. } = self;
        all.insert("iss".to_owned(), issuer.as_str().into());
        let audience = match audiences.as_slice() {
            [one] => one.as_str().into(),
            several => several.into(),
        };
        all.insert("aud".to_owned(), audience);
        all.insert("iat".to_owned(), time.now.into());
        all.insert("nbf".to_owned(), time.now.into());
        all.insert("exp".to_owned(), time.end.into());
        let id = random::bytes::<16>().map_err(|_| ApiError::Internal("randomness"))?;
        all.insert("jti".to_owned(), BASE64URL_NOPAD.encode(&id).into());
        let payload = serde_json::to_string(&all).map_err(|_| ApiError::Internal("sign"))?;
        if payload.len() > LARGEST {
            return Err(ApiError::HeadTooLarge.into());
        }
        match signer.sign(&payload) {
            Ok(token) => Ok(Secret::new(token)),
            // Claims of the caller's that cannot be said again: too deep within the template.
            Err(VaultError::Token(_)) => Err(ApiError::ServiceNotEnabled.into()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The header's value, with a token that was remembered or is new.
    fn value(
        &self,
        signer: &Signer,
        claims: Map<String, Value>,
        time: Validity,
    ) -> Result<HeaderValue, GatewayError> {
        if !self.parts.reuse {
            return self.spelled(&self.token(signer, claims, time)?);
        }
        let digest = serde_json::to_vec(&claims).map_err(|_| ApiError::Internal("sign"))?;
        let digest = hash::sha256(&digest);
        if let Some(value) = self.remembered.find(&digest, signer.kid(), time, |token| self.spelled(token)) {
            return value;
        }
        let token = self.token(signer, claims, time)?;
        let value = self.spelled(&token);
        self.remembered.keep(digest, SignedToken { kid: signer.kid().to_owned(), time, token }, time.now);
        value
    }

    fn spelled(&self, token: &Secret<String>) -> Result<HeaderValue, GatewayError> {
        let value = match self.parts.header == AUTHORIZATION {
            true => HeaderValue::try_from(format!("Bearer {}", token.expose())),
            false => HeaderValue::from_str(token.expose()),
        };
        let mut value = value.map_err(|_| ApiError::Internal("sign"))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

#[async_trait]
impl Filter for SignFilter {
    fn name(&self) -> &'static str {
        "sign"
    }

    fn stage(&self) -> Stage {
        Stage::Sign
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let signer = self.signer().await?;
        let claims = self.claims(x.facts.claims.as_ref())?;
        let now = x.clock().now().as_millis() / 1000;
        let time = Validity::of(now, self.parts.lifetime, x.facts.claims.as_ref());
        let value = self.value(&signer, claims, time)?;
        let head = x.head_mut();
        remove_spoofed(head, &self.parts.header);
        drop(head.insert_header(self.parts.header.clone(), value));
        Ok(Flow::Next)
    }
}

/// From when to when a token is valid, in seconds since 1970 (UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Validity {
    now: u64,
    end: u64,
}

impl Validity {
    /// Of a token that is signed now: it ends with the one that it is made from, if that is before its time. What
    /// [`crate::vault::jwt::Policy`] lets pass after its end gets a second.
    fn of(now: u64, lifetime: Duration, caller: Option<&Claims>) -> Self {
        let exp = caller.and_then(|claims| claims.get("exp")?.as_f64());
        // A fraction of a second is left out; what no number of seconds can be is the longest there is.
        let last = exp.map_or(u64::MAX, |exp| exp as u64).max(now.saturating_add(1));
        Self { now, end: now.saturating_add(lifetime.as_secs()).min(last) }
    }

    /// Until when the token is used again: for half of its time.
    const fn half(self) -> u64 {
        self.now.saturating_add(self.end.saturating_sub(self.now) / 2)
    }
}

/// A token that was signed.
struct SignedToken {
    kid: String,
    time: Validity,
    token: Secret<String>,
}

/// Tokens that may be used again, by the digest of the claims that were asked for.
#[derive(Default)]
struct SignedTokenCache(DashMap<[u8; 32], SignedToken>);

impl SignedTokenCache {
    /// What `show` makes of a token with these claims that this key has signed, and that ends no later than one that was
    /// signed now. Tokens of other keys are forgotten.
    fn find<T>(
        &self,
        digest: &[u8; 32],
        kid: &str,
        time: Validity,
        show: impl Fn(&Secret<String>) -> T,
    ) -> Option<T> {
        let found = self.0.get(digest)?;
        if found.kid != kid {
            drop(found);
            self.0.retain(|_, token| token.kid == kid);
            return None;
        }
        (time.now < found.time.half() && found.time.end <= time.end).then(|| show(&found.token))
    }

    fn keep(&self, digest: [u8; 32], token: SignedToken, now: u64) {
        if self.0.len() >= REMEMBERED {
            self.0.retain(|_, token| now < token.time.half());
            // Looking through all of them for little would be repeated at every request.
            if self.0.len() > REMEMBERED / 2 {
                self.0.clear();
            }
        }
        self.0.insert(digest, token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::jwt::{Audience, Introspected, Policy};

    fn token(kid: &str, end: u64) -> SignedToken {
        let time = Validity { now: 0, end };
        SignedToken { kid: kid.to_owned(), time, token: Secret::new("t".to_owned()) }
    }

    #[test]
    fn a_token_is_used_again_until_its_time_or_its_key_is_over() {
        let remembered = SignedTokenCache::default();
        let find_for = |n: u8, kid: &str, now, end| {
            remembered.find(&[n; 32], kid, Validity { now, end }, |token| token.expose().clone())
        };
        let find = |n, kid, now| find_for(n, kid, now, 1000);
        remembered.keep([1; 32], token("k|1", 200), 50);
        remembered.keep([2; 32], token("k|1", 200), 50);
        assert_eq!(find(1, "k|1", 99).as_deref(), Some("t"));
        assert_eq!((find(1, "k|1", 100), find(3, "k|1", 50)), (None, None));
        // Whose own token ends before it gets another one.
        assert_eq!(find_for(1, "k|1", 50, 200).as_deref(), Some("t"));
        assert_eq!(find_for(1, "k|1", 50, 199), None);
        // A rotation: nothing of the key before is kept.
        assert_eq!(find(1, "k|2", 50), None);
        assert!(remembered.0.is_empty());
    }

    #[test]
    fn a_token_ends_with_the_one_it_is_made_from() {
        let minute = Duration::from_secs(60);
        let rows = [
            (r#"{"active": true}"#, 160),
            (r#"{"active": true, "exp": 1000}"#, 160),
            (r#"{"active": true, "exp": 160.9}"#, 160),
            (r#"{"active": true, "exp": 130}"#, 130),
            (r#"{"active": true, "exp": 130.9}"#, 130),
            (r#"{"active": true, "exp": 1e300}"#, 160),
            // Let in by the leeway.
            (r#"{"active": true, "exp": 90}"#, 101),
        ];
        let policy = Policy { audience: Audience::Any, expires: false, leeway: 30, ..Policy::default() };
        for (claims, end) in rows {
            let said = Introspected::parse(claims.as_bytes()).unwrap().unwrap().check(&policy, 100).unwrap();
            assert_eq!(Validity::of(100, minute, Some(&said)), Validity { now: 100, end }, "{claims}");
        }
        assert_eq!(Validity::of(100, minute, None), Validity { now: 100, end: 160 });
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let remembered = SignedTokenCache::default();
        for n in 0..3 * REMEMBERED as u64 {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&n.to_be_bytes());
            remembered.keep(digest, token("k|1", 200), 50);
            assert!(remembered.0.len() <= REMEMBERED);
        }
    }
}
