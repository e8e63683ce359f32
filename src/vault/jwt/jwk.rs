//! JSON Web Keys (RFC 7517): public keys for signatures, and nothing else. There is no place for `d` or `k` in them.

use std::collections::BTreeMap;

use data_encoding::BASE64URL_NOPAD;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::crypto::hash;
use crate::crypto::jws::{JwsAlgorithm, Numbers, PublicKey};
use crate::vault::jwt::JwtError;

/// A public key for signatures, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Jwk {
    kty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    crv: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#use: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_ops: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    /// Private and secret members, read only to be refused: whoever published them must make a new key.
    #[serde(rename = "d", alias = "k", alias = "p", alias = "q", alias = "dp", alias = "dq", alias = "qi")]
    #[serde(skip_serializing)]
    private: Option<IgnoredAny>,
}

/// A set of keys (RFC 7517 section 5).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JwkSet {
    /// The keys.
    pub keys: Vec<Jwk>,
}

impl JwkSet {
    /// Reads a set; keys that cannot be read are left out (RFC 7517 section 5).
    ///
    /// # Errors
    /// [`JwtError::Jwk`] if it is no set.
    pub fn parse(text: &[u8]) -> Result<Self, JwtError> {
        #[derive(Deserialize)]
        struct Set<'a> {
            #[serde(borrow)]
            keys: Vec<&'a serde_json::value::RawValue>,
        }
        let set: Set<'_> = serde_json::from_slice(text).map_err(|_| JwtError::Jwk)?;
        let keys = set.keys.into_iter().filter_map(|key| Jwk::parse(key.get().as_bytes()).ok());
        Ok(Self { keys: keys.collect() })
    }

    /// The key of this id; none if there are several.
    pub fn find(&self, kid: &str) -> Option<&Jwk> {
        let mut found = self.keys.iter().filter(|key| key.kid() == Some(kid));
        found.next().filter(|_| found.next().is_none())
    }
}

impl Jwk {
    /// The key as JSON members, under this id.
    pub fn of(key: &PublicKey, kid: &str) -> Self {
        let written = |bytes: &[u8]| Some(BASE64URL_NOPAD.encode(bytes));
        let mut jwk = Self {
            crv: key.algorithm().curve().map(str::to_owned),
            alg: Some(key.algorithm().name().to_owned()),
            r#use: Some("sig".to_owned()),
            kid: Some(kid.to_owned()),
            ..Self::default()
        };
        match key.numbers() {
            Numbers::Ec { x, y } => (jwk.kty, jwk.x, jwk.y) = ("EC".to_owned(), written(x), written(y)),
            Numbers::Rsa { n, e } => (jwk.kty, jwk.n, jwk.e) = ("RSA".to_owned(), written(n), written(e)),
            Numbers::Okp { x } => (jwk.kty, jwk.x) = ("OKP".to_owned(), written(x)),
        }
        jwk
    }

    /// Reads one key. That its numbers are a key is found by [`Jwk::public_key`].
    ///
    /// # Errors
    /// [`JwtError::Jwk`] if it is no JSON Web Key, has a member twice, or holds private or secret parts.
    pub fn parse(text: &[u8]) -> Result<Self, JwtError> {
        let read: Self = serde_json::from_slice(text).map_err(|_| JwtError::Jwk)?;
        let refused = read.private.is_some() || !matches!(read.kty.as_str(), "EC" | "RSA" | "OKP");
        if refused { Err(JwtError::Jwk) } else { Ok(read) }
    }

    /// `kid`.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// The algorithm it is for: `alg`, or the one that its curve has. An RSA key without `alg` doesn't say.
    pub fn algorithm(&self) -> Option<JwsAlgorithm> {
        if let Some(alg) = &self.alg {
            return JwsAlgorithm::named(alg);
        }
        let curve = self.crv.as_deref()?;
        JwsAlgorithm::ALL.into_iter().find(|one| one.curve() == Some(curve))
    }

    /// The key, for an algorithm that whoever trusts this key has chosen.
    ///
    /// # Errors
    /// [`JwtError::Jwk`] if the key is not meant for that: another `alg`, `crv`, `use` or `key_ops`;
    /// [`JwtError::Key`] if it is no valid key.
    pub fn public_key(&self, algorithm: JwsAlgorithm) -> Result<PublicKey, JwtError> {
        let verifies = self.key_ops.as_ref().is_none_or(|all| all.iter().any(|one| one == "verify"));
        let signatures = self.r#use.as_ref().is_none_or(|purpose| purpose == "sig");
        let named = self.alg.as_ref().is_none_or(|alg| alg == algorithm.name());
        if !(verifies && signatures && named) || self.crv.as_deref() != algorithm.curve() {
            return Err(JwtError::Jwk);
        }
        let read = |member: &Option<String>| {
            let text = member.as_ref().ok_or(JwtError::Jwk)?;
            BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| JwtError::Jwk)
        };
        let numbers = match self.kty.as_str() {
            "EC" => Numbers::Ec { x: read(&self.x)?, y: read(&self.y)? },
            "RSA" => Numbers::Rsa { n: read(&self.n)?, e: read(&self.e)? },
            "OKP" => Numbers::Okp { x: read(&self.x)? },
            _ => return Err(JwtError::Jwk),
        };
        Ok(PublicKey::from_numbers(algorithm, numbers)?)
    }

    /// The thumbprint (RFC 7638 section 3, RFC 8037 section 2) by SHA-256, in base64url.
    pub fn thumbprint(&self) -> String {
        let required: &[(&str, &Option<String>)] = match self.kty.as_str() {
            "EC" => &[("crv", &self.crv), ("x", &self.x), ("y", &self.y)],
            "RSA" => &[("e", &self.e), ("n", &self.n)],
            _ => &[("crv", &self.crv), ("x", &self.x)],
        };
        // Sorted by name, written without white space.
        let mut members: BTreeMap<&str, &str> =
            required.iter().map(|(name, value)| (*name, value.as_deref().unwrap_or_default())).collect();
        members.insert("kty", &self.kty);
        let text = serde_json::to_vec(&members).unwrap_or_default();
        BASE64URL_NOPAD.encode(&hash::sha256(&text))
    }
}
