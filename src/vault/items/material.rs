//! [`Material`]: what of a version is kept secret, and the public key that belongs to it.

use crate::base::secret::Secret;
use crate::crypto::jws::{self, JwsAlgorithm, JwsError, KeyKind, RsaBits, SigningKey};
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
            Algorithm::Jws(jws) if jws.key() == KeyKind::Rsa => {
                // Primes take their time.
                let made = tokio::task::spawn_blocking(move || Self::signing(jws)).await;
                made.map_err(|error| VaultError::Crypto(Box::new(error)))?
            }
            Algorithm::Jws(jws) => Self::signing(jws),
        }
    }

    fn signing(algorithm: JwsAlgorithm) -> Result<Self, VaultError> {
        Self::of(&SigningKey::generate(algorithm, RsaBits::default())?)
    }

    fn of(key: &SigningKey) -> Result<Self, VaultError> {
        let public = key.public().map(|public| public.to_spki()).unwrap_or_default();
        Ok(Self { public, secret: key.to_stored()? })
    }

    /// A pair of keys that somebody has, each in PEM.
    ///
    /// # Errors
    /// [`VaultError::Unfit`] if they are none of the algorithm's, or no pair.
    pub fn pair(algorithm: Algorithm, private: &str, public: &str) -> Result<Self, VaultError> {
        let Algorithm::Jws(algorithm) = algorithm else {
            return Err(VaultError::Unfit("the algorithm takes no pair of keys"));
        };
        let made = Self::of(&jws::private_key(algorithm, private).map_err(unfit)?)?;
        match jws::public_key(algorithm, public).map_err(unfit)?.to_spki() == made.public {
            true => Ok(made),
            false => Err(VaultError::Unfit("the private and the public key are no pair")),
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
            Algorithm::Jws(jws) => {
                SigningKey::from_secret(jws, key.clone()).map_err(unfit)?;
                Ok(Self::opaque(key))
            }
        }
    }

    /// A secret, or anything else that is used as it is.
    pub fn opaque(secret: Secret<Vec<u8>>) -> Self {
        Self { public: Vec::new(), secret }
    }
}

fn unfit(error: JwsError) -> VaultError {
    match error {
        JwsError::Key(why) => VaultError::Unfit(why),
        other => other.into(),
    }
}

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Material(..)")
    }
}
