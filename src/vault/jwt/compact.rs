//! Compact JWS: read strictly, and told apart by whether its signature was verified.

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;

use crate::crypto::jws::JwsAlgorithm;
use crate::vault::jwt::policy::{Claims, ClaimsError, Policy};
use crate::vault::jwt::{JwtError, VerifyingKey, strict};

/// The longest token that is read, in bytes, its signature not counted: what is longer than any signature is none.
pub const LONGEST_TOKEN: usize = 1 << 20;

/// The longest header that is read, in bytes before base64url.
pub const LONGEST_HEADER: usize = 16 << 10;

/// The longest signature that is read, in characters: some times that of the largest RSA key.
const LONGEST_SIGNATURE: usize = 16 << 10;

/// How deep a header may be.
const HEADER_DEPTH: usize = 8;

/// How deep claims may be; what is signed is held to the same.
pub const CLAIMS_DEPTH: usize = 64;

/// A token whose signature nobody has checked. It tells what is needed to find a key, and nothing else; of its header
/// nothing but `alg`, `kid`, `crit` and `b64` is looked at, so a key or an address in it does nothing.
pub struct Unverified<'a> {
    message: &'a str,
    encoded: &'a str,
    /// `None` for what is not base64url in its one form, so no signature at all.
    signature: Option<Vec<u8>>,
    payload: Vec<u8>,
    algorithm: Option<JwsAlgorithm>,
    kid: Option<String>,
}

impl<'a> Unverified<'a> {
    /// Reads a compact JWS (RFC 7515 section 7.1). A signature in which anything is wrong, its encoding included, is one
    /// that will not verify.
    ///
    /// # Errors
    /// [`JwtError::Malformed`] if it is none, or its `kid` is no text (section 4.1.4); [`JwtError::Extension`] if it is one that asks for `crit` (RFC 7515
    /// section 4.1.11) or `b64` (RFC 7797).
    pub fn parse(token: &'a str) -> Result<Self, JwtError> {
        let malformed = JwtError::Malformed;
        let (message, encoded) = token.rsplit_once('.').ok_or(malformed)?;
        if message.len() > LONGEST_TOKEN {
            return Err(malformed);
        }
        // A dot is no character of base64url, so there are no more than these.
        let (header, payload) = message.split_once('.').ok_or(malformed)?;
        if header.len() > BASE64URL_NOPAD.encode_len(LONGEST_HEADER) {
            return Err(malformed);
        }
        let [header, payload] = [header, payload].map(|part| BASE64URL_NOPAD.decode(part.as_bytes()));
        let header = header.map_err(|_| malformed)?;
        let payload = payload.map_err(|_| malformed)?;
        let signature = match encoded.len() <= LONGEST_SIGNATURE {
            true => BASE64URL_NOPAD.decode(encoded.as_bytes()).ok(),
            false => None,
        };
        let header = strict::object(&header, HEADER_DEPTH).map_err(|_| malformed)?;
        if header.contains_key("crit") || header.contains_key("b64") {
            return Err(JwtError::Extension);
        }
        let algorithm = header.get("alg").and_then(Value::as_str).and_then(JwsAlgorithm::named);
        let kid = match header.get("kid") {
            None => None,
            Some(Value::String(kid)) => Some(kid.clone()),
            Some(_) => return Err(malformed),
        };
        Ok(Self { message, encoded, signature, payload, algorithm, kid })
    }

    /// The `kid` it names: something to look a key up by, and to be believed no further.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// The algorithm it names, if that is a supported one. Verification doesn't use it: it only has to be the key's.
    pub fn algorithm(&self) -> Option<JwsAlgorithm> {
        self.algorithm
    }

    /// Checks the signature with the key, by the key's algorithm.
    ///
    /// # Errors
    /// [`JwtError::Algorithm`] if the token names another, [`JwtError::Signature`] if it isn't the key's.
    pub fn verify(self, key: &VerifyingKey) -> Result<Verified, JwtError> {
        if self.algorithm != Some(key.algorithm()) {
            return Err(JwtError::Algorithm);
        }
        let signature = self.signature.ok_or(JwtError::Signature)?;
        if !key.verifies(self.message, self.encoded, &signature) {
            return Err(JwtError::Signature);
        }
        Ok(Verified { payload: self.payload, kid: self.kid })
    }
}

impl std::fmt::Debug for Unverified<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Unverified(..)")
    }
}

/// What a token says whose signature was verified. Whether it still holds and for whom is another question:
/// [`Verified::check`].
#[derive(Clone, PartialEq, Eq)]
pub struct Verified {
    payload: Vec<u8>,
    kid: Option<String>,
}

impl Verified {
    /// The bytes that were signed.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The `kid` of the header.
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// The claims, if they are what `policy` asks for at the time `now`, in seconds since 1970 (UTC).
    ///
    /// # Errors
    /// [`ClaimsError`] says what they lack.
    pub fn check(&self, policy: &Policy, now: u64) -> Result<Claims, ClaimsError> {
        let claims = strict::object(&self.payload, CLAIMS_DEPTH).map_err(|_| ClaimsError::Claims)?;
        policy.check(claims, now)
    }
}

impl std::fmt::Debug for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verified(..)")
    }
}
