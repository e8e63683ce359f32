//! What verifies: a public key or a secret, with the one algorithm it is for.

use jsonwebtoken::{Algorithm, DecodingKey, crypto};

use crate::crypto::jws::{JwsAlgorithm, Numbers, PublicKey, SigningKey};
use crate::vault::jwt::JwtError;

/// A key that verifies, for one algorithm. A secret in it is wiped when it goes.
#[derive(Clone)]
pub struct VerifyingKey {
    algorithm: JwsAlgorithm,
    kind: Verifier,
}

#[derive(Clone)]
enum Verifier {
    Library(Algorithm, DecodingKey),
    /// ES512 is beyond the library.
    Own(Box<PublicKey>),
}

impl VerifyingKey {
    /// What verifies the signatures of `key`: its public half, or for HMAC the secret itself.
    ///
    /// # Errors
    /// [`JwtError::Key`] if the library cannot write the key.
    pub fn of(key: &SigningKey) -> Result<Self, JwtError> {
        match (key.public(), library(key.algorithm())) {
            (Some(public), _) => Ok(Self::public(&public)),
            (None, Some(named)) => {
                let secret = DecodingKey::from_secret(key.to_stored()?.expose());
                Ok(Self { algorithm: key.algorithm(), kind: Verifier::Library(named, secret) })
            }
            (None, None) => Err(JwtError::Algorithm),
        }
    }

    /// What verifies with a public key.
    pub fn public(key: &PublicKey) -> Self {
        let kind = match (library(key.algorithm()), key.numbers()) {
            (Some(named), Numbers::Ec { x, y }) => {
                Verifier::Library(named, DecodingKey::from_ec_der(&[&[4], &x[..], y].concat()))
            }
            (Some(named), Numbers::Rsa { n, e }) => {
                Verifier::Library(named, DecodingKey::from_rsa_raw_components(n, e))
            }
            (Some(named), Numbers::Okp { x }) => Verifier::Library(named, DecodingKey::from_ed_der(x)),
            (None, _) => Verifier::Own(Box::new(key.clone())),
        };
        Self { algorithm: key.algorithm(), kind }
    }

    /// The one algorithm it is for.
    pub fn algorithm(&self) -> JwsAlgorithm {
        self.algorithm
    }

    /// Whether `signature`, read from `encoded`, is this key's of `message`.
    pub(super) fn verifies(&self, message: &str, encoded: &str, signature: &[u8]) -> bool {
        match &self.kind {
            Verifier::Library(named, key) => {
                matches!(crypto::verify(encoded, message.as_bytes(), key, *named), Ok(true))
            }
            Verifier::Own(key) => key.verify(message.as_bytes(), signature),
        }
    }
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VerifyingKey({})", self.algorithm.name())
    }
}

/// The library's name of an algorithm.
fn library(algorithm: JwsAlgorithm) -> Option<Algorithm> {
    Some(match algorithm {
        JwsAlgorithm::Es256 => Algorithm::ES256,
        JwsAlgorithm::Es384 => Algorithm::ES384,
        JwsAlgorithm::Es512 => return None,
        JwsAlgorithm::Rs256 => Algorithm::RS256,
        JwsAlgorithm::Rs384 => Algorithm::RS384,
        JwsAlgorithm::Rs512 => Algorithm::RS512,
        JwsAlgorithm::Ps256 => Algorithm::PS256,
        JwsAlgorithm::Ps384 => Algorithm::PS384,
        JwsAlgorithm::Ps512 => Algorithm::PS512,
        JwsAlgorithm::EdDsa => Algorithm::EdDSA,
        JwsAlgorithm::Hs256 => Algorithm::HS256,
        JwsAlgorithm::Hs384 => Algorithm::HS384,
        JwsAlgorithm::Hs512 => Algorithm::HS512,
    })
}
