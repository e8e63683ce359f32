//! [`Material`]: what of a version is kept secret, and the public key that belongs to it.

use crate::base::secret::Secret;
use crate::crypto::random;
use crate::vault::VaultError;
use crate::vault::items::algorithm::Algorithm;

/// The longest secret, in characters. Source: the vendor's schema of `/v2/secret/store`.
pub const MAX_SECRET: usize = 10_240;

/// What a version is made of.
pub struct Material {
    /// The public key as DER (SPKI); empty where there is none.
    pub(super) public: Vec<u8>,
    pub(super) secret: Secret<Vec<u8>>,
}

impl Material {
    /// A new key.
    ///
    /// # Errors
    /// No randomness.
    pub async fn generate(algorithm: Algorithm) -> Result<Self, VaultError> {
        match algorithm {
            Algorithm::Fpe(fpe) => {
                // Filled in place: a vector that grows leaves copies behind.
                let mut bytes = vec![0; fpe.key_bytes()];
                random::fill(&mut bytes)?;
                Ok(Self::opaque(Secret::new(bytes)))
            }
        }
    }

    /// A symmetric key that somebody has.
    ///
    /// # Errors
    /// [`VaultError::Unfit`] if it is none of the algorithm's.
    pub fn symmetric(algorithm: Algorithm, key: Secret<Vec<u8>>) -> Result<Self, VaultError> {
        match algorithm {
            Algorithm::Fpe(fpe) if key.expose().len() != fpe.key_bytes() => {
                Err(VaultError::Unfit("the key has not as many bytes as its algorithm takes"))
            }
            Algorithm::Fpe(_) => Ok(Self::opaque(key)),
        }
    }

    /// A secret, or anything else that is used as it is.
    pub fn opaque(secret: Secret<Vec<u8>>) -> Self {
        Self { public: Vec::new(), secret }
    }
}

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Material(..)")
    }
}
