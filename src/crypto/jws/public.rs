//! [`PublicKey`]: what verifies.

use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, VerificationAlgorithm,
};

use super::algorithm::{JwsAlgorithm, KeyKind};
use super::error::JwsError;
use super::{der, roca, small_order};

/// The members of a JWK that hold the key (RFC 7518 section 6, RFC 8037 section 2), big-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// `x` and `y`, each as long as the curve's field.
    Ec {
        /// `x`.
        x: Vec<u8>,
        /// `y`.
        y: Vec<u8>,
    },
    /// `n` and `e`, without leading zeros.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The exponent.
        e: Vec<u8>,
    },
    /// `x`.
    Okp {
        /// The key.
        x: Vec<u8>,
    },
}

/// A public key, and the one algorithm it is for.
#[derive(Clone)]
pub struct PublicKey {
    algorithm: JwsAlgorithm,
    numbers: Numbers,
    parsed: ParsedPublicKey,
}

fn verification(algorithm: JwsAlgorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        JwsAlgorithm::Es256 => &ECDSA_P256_SHA256_FIXED,
        JwsAlgorithm::Es384 => &ECDSA_P384_SHA384_FIXED,
        JwsAlgorithm::Es512 => &ECDSA_P521_SHA512_FIXED,
        JwsAlgorithm::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
        JwsAlgorithm::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
        JwsAlgorithm::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
        JwsAlgorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
        JwsAlgorithm::Ps384 => &RSA_PSS_2048_8192_SHA384,
        JwsAlgorithm::Ps512 => &RSA_PSS_2048_8192_SHA512,
        JwsAlgorithm::EdDsa => &ED25519,
        JwsAlgorithm::Hs256 | JwsAlgorithm::Hs384 | JwsAlgorithm::Hs512 => return None,
    })
}

impl PublicKey {
    /// From the members of a JWK.
    ///
    /// # Errors
    /// [`JwsError::Key`] if they are no key of the algorithm's: not on the curve, of another length, or an RSA modulus
    /// of fewer than 2048 or more than 8192 bits.
    pub fn from_numbers(algorithm: JwsAlgorithm, numbers: Numbers) -> Result<Self, JwsError> {
        let bytes = match (&numbers, algorithm.key()) {
            (Numbers::Ec { x, y }, KeyKind::Ec(size)) if x.len() == size && y.len() == size => {
                [&[4], x.as_slice(), y.as_slice()].concat()
            }
            (Numbers::Rsa { n, e }, KeyKind::Rsa) => {
                let bits = n.len() * 8 - n.first().map_or(0, |first| first.leading_zeros() as usize);
                let padded = n.first() == Some(&0) || e.first() == Some(&0);
                if !(2048..=8192).contains(&bits) || e.is_empty() || e.len() > 8 || padded {
                    return Err(JwsError::Key("an RSA key must have from 2048 to 8192 bits"));
                }
                if roca::is_weak(n) {
                    return Err(JwsError::Key("this RSA key can be factored (CVE-2017-15361)"));
                }
                let der = der::rsa_public_key(n, e);
                rsa::PublicKey::from_der(&der).map_err(|_| JwsError::Key("this is no RSA key"))?;
                der
            }
            (Numbers::Okp { x }, KeyKind::Okp) if x.len() == 32 => {
                if small_order::is_one(x) {
                    return Err(JwsError::Key("anything verifies under this key"));
                }
                x.clone()
            }
            _ => return Err(JwsError::Key("the key is of another kind than its algorithm")),
        };
        let verification =
            verification(algorithm).ok_or(JwsError::Key("the algorithm has no public keys"))?;
        let parsed =
            ParsedPublicKey::new(verification, bytes).map_err(|_| JwsError::Key("this is no valid key"))?;
        Ok(Self { algorithm, numbers, parsed })
    }

    /// From `SubjectPublicKeyInfo` (RFC 5280 section 4.1) in DER.
    ///
    /// # Errors
    /// [`JwsError::Key`] if it is no key of the algorithm's.
    pub fn from_spki(algorithm: JwsAlgorithm, spki: &[u8]) -> Result<Self, JwsError> {
        let other = || JwsError::Key("this is no public key of this algorithm");
        let numbers = match (algorithm.key(), der::spki_head(algorithm)) {
            (KeyKind::Rsa, _) => {
                let (n, e) = der::rsa_of_spki(spki).and_then(der::rsa_numbers).ok_or_else(other)?;
                Numbers::Rsa { n, e }
            }
            (kind, Some(head)) => {
                Self::bare(kind, spki.strip_prefix(head).ok_or_else(other)?).ok_or_else(other)?
            }
            (_, None) => return Err(other()),
        };
        let read = Self::from_numbers(algorithm, numbers)?;
        // DER has one form: lengths and numbers that are padded are refused.
        if read.to_spki() == spki { Ok(read) } else { Err(other()) }
    }

    /// What the library hands out: a point, a key of Ed25519, `RSAPublicKey`.
    pub(super) fn from_raw(algorithm: JwsAlgorithm, raw: &[u8]) -> Result<Self, JwsError> {
        let numbers = match algorithm.key() {
            KeyKind::Rsa => der::rsa_numbers(raw).map(|(n, e)| Numbers::Rsa { n, e }),
            kind => Self::bare(kind, raw),
        };
        Self::from_numbers(algorithm, numbers.ok_or(JwsError::Key("this is no public key"))?)
    }

    fn bare(kind: KeyKind, raw: &[u8]) -> Option<Numbers> {
        match kind {
            KeyKind::Ec(size) => {
                let (x, y) = raw.strip_prefix(&[4])?.split_at_checked(size)?;
                Some(Numbers::Ec { x: x.to_vec(), y: y.to_vec() })
            }
            KeyKind::Okp => Some(Numbers::Okp { x: raw.to_vec() }),
            KeyKind::Rsa | KeyKind::Secret(_) => None,
        }
    }

    /// The one algorithm it is for.
    pub fn algorithm(&self) -> JwsAlgorithm {
        self.algorithm
    }

    /// The members of its JWK.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Whether `signature`, in the form of RFC 7518 section 3, is one of `message` by this key.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.parsed.verify_sig(message, signature).is_ok()
    }

    /// `SubjectPublicKeyInfo` in DER.
    pub fn to_spki(&self) -> Vec<u8> {
        let head = der::spki_head(self.algorithm).unwrap_or_default();
        match &self.numbers {
            Numbers::Ec { x, y } => [head, &[4], x, y].concat(),
            Numbers::Okp { x } => [head, x].concat(),
            Numbers::Rsa { n, e } => der::rsa_spki(n, e),
        }
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({})", self.algorithm.name())
    }
}
