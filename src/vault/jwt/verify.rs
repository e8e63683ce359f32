//! From [`Compact`] to [`Verified`]: the key says which algorithm it is for, and the token must claim the same; what a
//! token carries besides (`jwk`, `jku`, `x5c`…) is never looked at.

use std::sync::Arc;

use data_encoding::{BASE64URL_NOPAD, BASE64URL_NOPAD as BASE64};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::{Map, Value};

use crate::crypto::jws::{JwsAlgorithm, JwsError, KeyKind, Numbers, PublicKey, SigningKey};
use crate::vault::jwt::compact::Compact;

/// A key that verifies, and the one algorithm it is for. Cheap to clone.
#[derive(Clone)]
pub struct VerifyingKey(Arc<Inner>);

struct Inner {
    algorithm: JwsAlgorithm,
    /// `None` for the algorithm that the library does not know.
    library: Option<(Algorithm, DecodingKey)>,
    own: Own,
}

enum Own {
    Public(PublicKey),
    Secret(Arc<SigningKey>),
}

impl VerifyingKey {
    /// A public key.
    ///
    /// # Errors
    /// [`JwsError::Key`] if the library refuses it.
    pub fn public(key: PublicKey) -> Result<Self, JwsError> {
        let refused = |_| JwsError::Key("this is no valid key");
        let text = |bytes: &[u8]| BASE64.encode(bytes);
        let algorithm = key.algorithm();
        let library = match (known(algorithm), key.numbers()) {
            (None, _) => None,
            (Some(known), numbers) => Some((
                known,
                match numbers {
                    Numbers::Ec { x, y } => {
                        DecodingKey::from_ec_components(&text(x), &text(y)).map_err(refused)?
                    }
                    Numbers::Rsa { n, e } => DecodingKey::from_rsa_raw_components(n, e),
                    Numbers::Okp { x } => DecodingKey::from_ed_components(&text(x)).map_err(refused)?,
                },
            )),
        };
        Ok(Self(Arc::new(Inner { algorithm, library, own: Own::Public(key) })))
    }

    /// The verifying side of a key that signs.
    ///
    /// # Errors
    /// As [`VerifyingKey::public`].
    pub fn of(key: &Arc<SigningKey>) -> Result<Self, JwsError> {
        match key.public() {
            Some(public) => Self::public(public),
            // The library would keep its copy of a secret for ever.
            None => Ok(Self(Arc::new(Inner {
                algorithm: key.algorithm(),
                library: None,
                own: Own::Secret(Arc::clone(key)),
            }))),
        }
    }

    /// The one algorithm it is for.
    pub fn algorithm(&self) -> JwsAlgorithm {
        self.0.algorithm
    }

    /// What the token says, if it is signed by this key.
    pub fn verify(&self, token: &Compact<'_>) -> Option<Verified> {
        let Inner { algorithm, library, own } = &*self.0;
        if token.alg() != algorithm.name() || token.is_critical() {
            return None;
        }
        let decoded = || BASE64URL_NOPAD.decode(token.signature.as_bytes()).ok();
        if let KeyKind::Ec(size) = algorithm.key() {
            decoded().filter(|signature| signature.len() == 2 * size)?;
        }
        let message = token.signed.as_bytes();
        let good = match (library, own) {
            (Some((known, key)), _) => {
                jsonwebtoken::crypto::verify(token.signature, message, key, *known).unwrap_or(false)
            }
            (None, Own::Public(key)) => key.verify(message, &decoded()?),
            (None, Own::Secret(key)) => key.verify(message, &decoded()?),
        };
        good.then(|| Verified { payload: token.payload.clone() })
    }
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VerifyingKey({})", self.algorithm().name())
    }
}

fn known(algorithm: JwsAlgorithm) -> Option<Algorithm> {
    Some(match algorithm {
        JwsAlgorithm::Es256 => Algorithm::ES256,
        JwsAlgorithm::Es384 => Algorithm::ES384,
        JwsAlgorithm::Rs256 => Algorithm::RS256,
        JwsAlgorithm::Rs384 => Algorithm::RS384,
        JwsAlgorithm::Rs512 => Algorithm::RS512,
        JwsAlgorithm::Ps256 => Algorithm::PS256,
        JwsAlgorithm::Ps384 => Algorithm::PS384,
        JwsAlgorithm::Ps512 => Algorithm::PS512,
        JwsAlgorithm::EdDsa => Algorithm::EdDSA,
        JwsAlgorithm::Es512 | JwsAlgorithm::Hs256 | JwsAlgorithm::Hs384 | JwsAlgorithm::Hs512 => return None,
    })
}

/// What a token says that its key's owner signed. Only verification makes one.
pub struct Verified {
    payload: Vec<u8>,
}

impl Verified {
    /// The payload's bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The claims (RFC 7519 section 4); `None` if the payload is no JSON object. Of a member that is said twice the
    /// last counts.
    pub fn claims(&self) -> Option<Map<String, Value>> {
        serde_json::from_slice(&self.payload).ok()
    }
}

impl std::fmt::Debug for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Verified({} bytes)", self.payload.len())
    }
}
