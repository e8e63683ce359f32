//! [`OpenItem`]: an item as it was read, with what it inherits, and the keys that were made ready of it.

use std::sync::Arc;
use std::time::Instant;

use dashmap::DashMap;

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::crypto::jws::{JwsAlgorithm, PublicKey, SigningKey};
use crate::vault::VaultError;
use crate::vault::items::algorithm::{Algorithm, Purpose};
use crate::vault::items::folder::Path;
use crate::vault::items::frequency::Frequency;
use crate::vault::items::object::{Item, Rotation, Version};
use crate::vault::items::state::VersionState;
use crate::vault::jwt::VerifyingKey;

/// An item as it was read.
#[derive(Debug)]
pub struct OpenItem {
    /// The item.
    pub item: Item,
    /// When it is rotated, what it inherits included.
    pub settled: RotationTime,
    /// The row's version.
    pub(super) row: u64,
    /// Before the row was read.
    pub(super) at: Instant,
    pub(super) ready: ReadyKeys,
}

/// When an item is rotated, what it inherits included.
#[derive(Clone, Debug)]
pub struct RotationTime {
    /// How often.
    pub frequency: Frequency,
    /// The folder that says so, if the item does not.
    pub frequency_from: Option<Path>,
    /// What becomes of the version before.
    pub state: VersionState,
    /// The folder that says so, if the item does not.
    pub state_from: Option<Path>,
}

impl Default for RotationTime {
    fn default() -> Self {
        let (frequency, state) = (Frequency::never(), VersionState::Deactivated);
        Self { frequency, frequency_from: None, state, state_from: None }
    }
}

impl RotationTime {
    pub(super) fn next_rotation(&self, item: &Item) -> Option<Timestamp> {
        let every = self.frequency.every().filter(|_| item.kind.is_key())?;
        item.versions.last().map(|version| version.created_at.plus(every))
    }

    /// Whether a folder has a say in it.
    pub(super) fn inherits(item: &Item) -> bool {
        let Rotation { frequency, state } = &item.label.rotation;
        item.kind.is_key() && (frequency.is_none() || state.is_none())
    }

    /// As the item says, else as the nearest folder says that says something.
    pub(super) fn of<'a>(item: &Item, folder: impl Fn(&Path) -> Option<&'a Rotation>) -> Self {
        let mut settled = Self::default();
        let Rotation { mut frequency, mut state } = item.label.rotation.clone();
        if Self::inherits(item) {
            for path in item.label.folder.upwards() {
                let Some(theirs) = folder(&path) else { continue };
                if let (None, Some(every)) = (&frequency, &theirs.frequency) {
                    frequency = Some(every.clone());
                    settled.frequency_from = Some(path.clone());
                }
                if let (None, Some(then)) = (state, theirs.state) {
                    state = Some(then);
                    settled.state_from = Some(path);
                }
            }
        }
        settled.frequency = frequency.unwrap_or(settled.frequency);
        settled.state = state.unwrap_or(settled.state);
        settled
    }
}

/// Keys that were made ready, by version.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadyKeys {
    fpe: Arc<DashMap<u32, Arc<FpeKey>>>,
    signing: Arc<DashMap<u32, Arc<SigningKey>>>,
    public: Arc<DashMap<u32, Arc<PublicKey>>>,
    verifying: Arc<DashMap<u32, Arc<VerifyingKey>>>,
}

impl OpenItem {
    /// When the item is due to be rotated; `None` for never.
    pub fn next_rotation(&self) -> Option<Timestamp> {
        self.settled.next_rotation(&self.item)
    }

    /// Whether it is a key to sign tokens.
    pub fn signs_tokens(&self) -> bool {
        self.jws().is_ok()
    }

    /// The material of a version.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if it was destroyed.
    pub(in crate::vault) fn material<'a>(
        &self,
        version: &'a Version,
    ) -> Result<&'a Secret<Vec<u8>>, VaultError> {
        version.material.as_ref().ok_or(VaultError::Forbidden("The version is destroyed"))
    }

    /// The version as a key for format-preserving encryption.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if it is none.
    pub(super) fn fpe(&self, version: &Version) -> Result<Arc<FpeKey>, VaultError> {
        if self.item.key.is_none_or(|key| key.purpose != Purpose::Fpe) {
            return Err(VaultError::Forbidden("The item is not a key for format-preserving encryption"));
        }
        if let Some(ready) = self.ready.fpe.get(&version.number) {
            return Ok(Arc::clone(&ready));
        }
        let key = Arc::new(FpeKey::new(self.material(version)?.clone())?);
        self.ready.fpe.insert(version.number, Arc::clone(&key));
        Ok(key)
    }

    /// The version as a key that signs.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if it is none.
    pub(super) fn signing(&self, version: &Version) -> Result<Arc<SigningKey>, VaultError> {
        let algorithm = self.jws()?;
        if let Some(ready) = self.ready.signing.get(&version.number) {
            return Ok(Arc::clone(&ready));
        }
        let key = Arc::new(SigningKey::from_stored(algorithm, self.material(version)?)?);
        self.ready.signing.insert(version.number, Arc::clone(&key));
        Ok(key)
    }

    /// The version's public key.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if it has none.
    pub fn public(&self, version: &Version) -> Result<Arc<PublicKey>, VaultError> {
        let algorithm = self.jws()?;
        if version.public.is_empty() {
            return Err(VaultError::Forbidden("The version has no public key"));
        }
        if let Some(ready) = self.ready.public.get(&version.number) {
            return Ok(Arc::clone(&ready));
        }
        let key = Arc::new(PublicKey::from_spki(algorithm, &version.public)?);
        self.ready.public.insert(version.number, Arc::clone(&key));
        Ok(key)
    }

    /// What verifies the version's signatures.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if it signs nothing.
    pub(super) fn verifying(&self, version: &Version) -> Result<Arc<VerifyingKey>, VaultError> {
        if let Some(ready) = self.ready.verifying.get(&version.number) {
            return Ok(Arc::clone(&ready));
        }
        let key = Arc::new(match version.public.is_empty() {
            true => VerifyingKey::of(&*self.signing(version)?)?,
            false => VerifyingKey::public(&*self.public(version)?),
        });
        self.ready.verifying.insert(version.number, Arc::clone(&key));
        Ok(key)
    }

    pub(super) fn jws(&self) -> Result<JwsAlgorithm, VaultError> {
        match self.item.key.map(|key| key.algorithm) {
            Some(Algorithm::Jws(algorithm)) => Ok(algorithm),
            _ => Err(VaultError::Forbidden("The item is not a key to sign tokens")),
        }
    }
}
