//! [`SigningKey`]: what signs.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED_SIGNING,
    EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding,
};
use aws_lc_rs::{constant_time, hmac};

use super::algorithm::{JwsAlgorithm, KeyKind};
use super::der;
use super::error::JwsError;
use super::public::PublicKey;
use crate::base::secret::Secret;
use crate::crypto::random;

/// What the halves of a key that is read are tried with.
const PROBE: &[u8] = b"do these halves belong together?";

/// Bits of a new RSA key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RsaBits {
    /// 2048, the least that RFC 7518 section 3.3 allows.
    #[default]
    Two,
    /// 3072.
    Three,
    /// 4096.
    Four,
}

enum SigningMaterial {
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Rsa(Box<rsa::KeyPair>),
    Secret(Box<hmac::Key>, Secret<Vec<u8>>),
}

/// A key that signs, for one algorithm. Its memory is wiped when it goes.
pub struct SigningKey {
    algorithm: JwsAlgorithm,
    key: SigningMaterial,
}

fn curve(algorithm: JwsAlgorithm) -> &'static EcdsaSigningAlgorithm {
    match algorithm {
        JwsAlgorithm::Es384 => &ECDSA_P384_SHA384_FIXED_SIGNING,
        JwsAlgorithm::Es512 => &ECDSA_P521_SHA512_FIXED_SIGNING,
        _ => &ECDSA_P256_SHA256_FIXED_SIGNING,
    }
}

fn padding(algorithm: JwsAlgorithm) -> &'static dyn RsaEncoding {
    match algorithm {
        JwsAlgorithm::Rs384 => &RSA_PKCS1_SHA384,
        JwsAlgorithm::Rs512 => &RSA_PKCS1_SHA512,
        JwsAlgorithm::Ps256 => &RSA_PSS_SHA256,
        JwsAlgorithm::Ps384 => &RSA_PSS_SHA384,
        JwsAlgorithm::Ps512 => &RSA_PSS_SHA512,
        _ => &RSA_PKCS1_SHA256,
    }
}

fn keyed(algorithm: JwsAlgorithm, bytes: &[u8]) -> hmac::Key {
    let digest = match algorithm {
        JwsAlgorithm::Hs384 => hmac::HMAC_SHA384,
        JwsAlgorithm::Hs512 => hmac::HMAC_SHA512,
        _ => hmac::HMAC_SHA256,
    };
    hmac::Key::new(digest, bytes)
}

impl SigningKey {
    /// A new key; `bits` counts for RSA only. RSA takes up to some seconds: not on a thread that moves bytes.
    ///
    /// # Errors
    /// [`JwsError::Random`] if the system has no randomness.
    pub fn generate(algorithm: JwsAlgorithm, bits: RsaBits) -> Result<Self, JwsError> {
        let failed = |_| JwsError::Random;
        let key = match algorithm.key() {
            KeyKind::Ec(_) => SigningMaterial::Ec(EcdsaKeyPair::generate(curve(algorithm)).map_err(failed)?),
            KeyKind::Okp => SigningMaterial::Ed(Ed25519KeyPair::generate().map_err(failed)?),
            KeyKind::Rsa => {
                let size = match bits {
                    RsaBits::Two => KeySize::Rsa2048,
                    RsaBits::Three => KeySize::Rsa3072,
                    RsaBits::Four => KeySize::Rsa4096,
                };
                SigningMaterial::Rsa(Box::new(rsa::KeyPair::generate(size).map_err(failed)?))
            }
            KeyKind::Secret(length) => {
                let mut bytes = vec![0; length];
                random::fill(&mut bytes).map_err(|_| JwsError::Random)?;
                return Self::from_secret(algorithm, Secret::new(bytes));
            }
        };
        Ok(Self { algorithm, key })
    }

    /// From a private key in PKCS #8 (RFC 5208), DER.
    ///
    /// # Errors
    /// [`JwsError::Key`] if it is no key of the algorithm's, or an RSA key of fewer than 2048 bits.
    pub fn from_pkcs8(algorithm: JwsAlgorithm, pkcs8: &[u8]) -> Result<Self, JwsError> {
        let other = |_| JwsError::Key("this is no private key of this algorithm");
        if !der::is_sequence(pkcs8) {
            return Err(JwsError::Key("this is no private key of this algorithm"));
        }
        let key = match algorithm.key() {
            KeyKind::Ec(_) => {
                SigningMaterial::Ec(EcdsaKeyPair::from_pkcs8(curve(algorithm), pkcs8).map_err(other)?)
            }
            KeyKind::Okp => {
                SigningMaterial::Ed(Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).map_err(other)?)
            }
            KeyKind::Rsa => {
                let pair = rsa::KeyPair::from_pkcs8(pkcs8).map_err(other)?;
                SigningMaterial::Rsa(Box::new(pair))
            }
            KeyKind::Secret(_) => return Err(JwsError::Key("the algorithm takes a secret")),
        };
        let made = Self { algorithm, key };
        // Whether it is large enough is found where its public half is read.
        let public = made.public().ok_or(JwsError::Key("this is no private key of this algorithm"))?;
        // The numbers of a key that was made elsewhere need not belong together.
        let signature = made.sign(PROBE).map_err(|_| JwsError::Key("this key signs nothing"))?;
        match public.verify(PROBE, &signature) {
            true => Ok(made),
            false => Err(JwsError::Key("the halves of this key do not belong together")),
        }
    }

    /// From a secret that both sides have.
    ///
    /// # Errors
    /// [`JwsError::Key`] if it is shorter than the algorithm's hash (RFC 7518 section 3.2).
    pub fn from_secret(algorithm: JwsAlgorithm, bytes: Secret<Vec<u8>>) -> Result<Self, JwsError> {
        match algorithm.key() {
            KeyKind::Secret(length) if bytes.expose().len() >= length => Ok(Self {
                algorithm,
                key: SigningMaterial::Secret(Box::new(keyed(algorithm, bytes.expose())), bytes),
            }),
            KeyKind::Secret(_) => Err(JwsError::Key("the secret is shorter than the algorithm's hash")),
            _ => Err(JwsError::Key("the algorithm takes a key pair")),
        }
    }

    /// From what [`SigningKey::to_stored`] wrote.
    ///
    /// # Errors
    /// [`JwsError::Key`].
    pub fn from_stored(algorithm: JwsAlgorithm, stored: &Secret<Vec<u8>>) -> Result<Self, JwsError> {
        match algorithm.key() {
            KeyKind::Secret(_) => Self::from_secret(algorithm, stored.clone()),
            _ => Self::from_pkcs8(algorithm, stored.expose()),
        }
    }

    /// The one algorithm it is for.
    pub fn algorithm(&self) -> JwsAlgorithm {
        self.algorithm
    }

    /// PKCS #8 in DER, or the secret.
    ///
    /// # Errors
    /// [`JwsError::Sign`] if the library cannot write the key.
    pub fn to_stored(&self) -> Result<Secret<Vec<u8>>, JwsError> {
        let failed = |_| JwsError::Sign;
        Ok(Secret::new(match &self.key {
            SigningMaterial::Ec(pair) => pair.to_pkcs8v1().map_err(failed)?.as_ref().to_vec(),
            SigningMaterial::Ed(pair) => pair.to_pkcs8v1().map_err(failed)?.as_ref().to_vec(),
            SigningMaterial::Rsa(pair) => pair.as_der().map_err(failed)?.as_ref().to_vec(),
            SigningMaterial::Secret(_, bytes) => return Ok(bytes.clone()),
        }))
    }

    /// The signature of `message`, in the form of RFC 7518 section 3: for ECDSA the two numbers, each as long as the
    /// curve's field.
    ///
    /// # Errors
    /// [`JwsError::Sign`].
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, JwsError> {
        let random = SystemRandom::new();
        match &self.key {
            SigningMaterial::Ec(pair) => {
                pair.sign(&random, message).map(|signed| signed.as_ref().to_vec()).map_err(|_| JwsError::Sign)
            }
            SigningMaterial::Ed(pair) => {
                pair.try_sign(message).map(|signed| signed.as_ref().to_vec()).map_err(|_| JwsError::Sign)
            }
            SigningMaterial::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let signed = pair.sign(padding(self.algorithm), &random, message, &mut signature);
                signed.map(|()| signature).map_err(|_| JwsError::Sign)
            }
            SigningMaterial::Secret(key, _) => Ok(hmac::sign(key, message).as_ref().to_vec()),
        }
    }

    /// The public half; `None` for secrets.
    pub fn public(&self) -> Option<PublicKey> {
        let raw: Vec<u8> = match &self.key {
            SigningMaterial::Ec(pair) => pair.public_key().as_ref().to_vec(),
            SigningMaterial::Ed(pair) => pair.public_key().as_ref().to_vec(),
            SigningMaterial::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            SigningMaterial::Secret(..) => return None,
        };
        PublicKey::from_raw(self.algorithm, &raw).ok()
    }

    /// Whether `public` is the other half of this key.
    pub fn is_pair(&self, public: &PublicKey) -> bool {
        self.algorithm == public.algorithm()
            && self.public().is_some_and(|own| own.numbers() == public.numbers())
    }

    /// Whether `signature` is one of `message` by this key: for secrets, which have no public half.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.key {
            SigningMaterial::Secret(key, _) => {
                constant_time::verify_slices_are_equal(hmac::sign(key, message).as_ref(), signature).is_ok()
            }
            _ => self.public().is_some_and(|public| public.verify(message, signature)),
        }
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({})", self.algorithm.name())
    }
}
