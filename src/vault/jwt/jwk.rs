//! [`Jwk`]: a public key as JSON (RFC 7517), and sets of them. Private members have no place in the type.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

use crate::crypto::hash::sha256;
use crate::crypto::jws::{JwsAlgorithm, JwsError, Numbers, PublicKey};

/// A public key. Members that are not listed are passed over when one is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Jwk {
    /// `EC`, `RSA` or `OKP`.
    pub kty: String,
    /// The algorithm it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    /// `sig`.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    /// What tokens call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// The curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    /// A coordinate, or the whole key of an OKP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The other coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The modulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    /// The exponent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
}

/// Keys (RFC 7517 section 5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JwkSet {
    /// In no order that matters.
    pub keys: Vec<Jwk>,
}

impl Jwk {
    /// The key that tokens call `kid`.
    pub fn new(key: &PublicKey, kid: &str) -> Self {
        let text = |bytes: &[u8]| Some(BASE64URL_NOPAD.encode(bytes));
        let common = Self {
            alg: Some(key.algorithm().name().to_owned()),
            usage: Some("sig".to_owned()),
            kid: Some(kid.to_owned()),
            crv: key.algorithm().curve().map(str::to_owned),
            ..Self::default()
        };
        match key.numbers() {
            Numbers::Ec { x, y } => Self { kty: "EC".to_owned(), x: text(x), y: text(y), ..common },
            Numbers::Rsa { n, e } => Self { kty: "RSA".to_owned(), n: text(n), e: text(e), ..common },
            Numbers::Okp { x } => Self { kty: "OKP".to_owned(), x: text(x), ..common },
        }
    }

    /// The key, for the algorithm that it names; without one, the first that its curve or kind is for.
    ///
    /// # Errors
    /// [`JwsError::Key`] if it is no public key that signs, or one of an algorithm that is not known.
    pub fn key(&self) -> Result<PublicKey, JwsError> {
        let unknown = JwsError::Key("the JWK is of a kind or an algorithm that is not known");
        if self.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return Err(JwsError::Key("the JWK is not for signatures"));
        }
        let implied = || {
            JwsAlgorithm::ALL.into_iter().find(|algorithm| match self.kty.as_str() {
                "RSA" => *algorithm == JwsAlgorithm::Rs256,
                _ => self.crv.is_some() && algorithm.curve() == self.crv.as_deref(),
            })
        };
        let algorithm = match &self.alg {
            Some(name) => JwsAlgorithm::named(name),
            None => implied(),
        };
        let algorithm = algorithm.filter(|one| one.curve() == self.crv.as_deref()).ok_or(unknown)?;
        let bytes = |member: &Option<String>| {
            let decoded = member.as_ref().and_then(|text| BASE64URL_NOPAD.decode(text.as_bytes()).ok());
            decoded.ok_or(JwsError::Key("a member of the JWK is missing or no base64url"))
        };
        let numbers = match self.kty.as_str() {
            "EC" => Numbers::Ec { x: bytes(&self.x)?, y: bytes(&self.y)? },
            "RSA" => Numbers::Rsa { n: bytes(&self.n)?, e: bytes(&self.e)? },
            "OKP" => Numbers::Okp { x: bytes(&self.x)? },
            _ => return Err(unknown),
        };
        PublicKey::from_numbers(algorithm, numbers)
    }

    /// Its thumbprint (RFC 7638): SHA-256 of the members that make the key, in base64url.
    pub fn thumbprint(&self) -> String {
        let members = [
            ("crv", &self.crv),
            ("e", &self.e),
            ("kty", &Some(self.kty.clone())),
            ("n", &self.n),
            ("x", &self.x),
            ("y", &self.y),
        ]
        .map(|(name, value)| value.as_ref().map(|value| format!("\"{name}\":\"{value}\"")));
        let members: Vec<String> = members.into_iter().flatten().collect();
        BASE64URL_NOPAD.encode(&sha256(format!("{{{}}}", members.join(",")).as_bytes()))
    }
}
