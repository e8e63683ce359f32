//! [`Vault`]: a store opened with its master key, and the keys that are made when first wanted.
//!
//! The first row sealed in a new store is a canary. A wrong master key fails to open it at start, before anything
//! is written that the right one could not read.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::OnceCell;

use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::crypto::random;
use crate::store::{Key, NewRow, Precondition, Records, Row, StoreError};
use crate::vault::ring::{Kek, RINGS, Ring};
use crate::vault::{KeyOrigin, MasterKey, Seal, VaultError};

/// What became of the ring since it was last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Nothing.
    Same,
    /// It has changed, and was taken over.
    Changed,
    /// This vault's master key was replaced by another, and opens the store no more. What is in memory does.
    Gone,
}

/// Sealed keys and secrets.
pub struct Vault {
    records: Arc<dyn Records>,
    seal: Seal,
    kek: RwLock<Arc<Kek>>,
    clock: SharedClock,
    fpe: OnceCell<Arc<FpeKey>>,
}

/// A kind of row that [`Vault::seal_row`] is for: a call that is answered later. Another master key seals it anew.
pub const PENDING: &str = "api.job";
/// The other: such a call with its answer. Whoever looks for work need not walk through what is done.
pub const ENDED: &str = "api.job.ended";
/// Others: what was issued to callers, see [`REMEMBERED`].
pub const REMEMBERED: [&str; 3] = ["llm.issued", "llm.name", "llm.digests"];

pub(super) const CANARY: &str = "vault.canary";
pub(super) const KEYS: &str = "vault.key";
/// No row has this kind: it keeps a sealed file from being taken for one.
const CONTEXT: &str = "context";
const DEFAULT_FPE: &str = "fpe/default/1";
const GRANT: &str = "grant/1";
const FPE_BYTES: usize = 32;

impl Vault {
    /// Opens the store with this key; seals the canary if the store is new.
    pub async fn open(
        records: Arc<dyn Records>,
        master: &MasterKey,
        clock: SharedClock,
    ) -> Result<Self, VaultError> {
        let kek = Kek::new(master)?;
        let ring = match kek.load(records.as_ref()).await? {
            Some(ring) => ring,
            None => Ring::derived(master)?,
        };
        let seal = Seal::of(ring, master.origin().clone());
        let vault = Self { records, seal, kek: RwLock::new(Arc::new(kek)), clock, fpe: OnceCell::new() };
        let fixed = || Ok(Secret::new(b"portcullis".to_vec()));
        vault.get_or_make(&Key::new(CANARY, "1"), fixed).await?;
        Ok(vault)
    }

    /// Whether a vault was ever begun in this store.
    ///
    /// # Errors
    /// What the store says.
    pub async fn is_begun(records: &dyn Records) -> Result<bool, VaultError> {
        Ok(records.get(&Key::new(CANARY, "1")).await?.is_some())
    }

    /// Reads the ring again, as another process may have changed it.
    ///
    /// # Errors
    /// What the store says, or a ring that is damaged; the keys stay as they were then.
    pub async fn refresh(&self) -> Result<Freshness, VaultError> {
        let known = self.seal.ring().version;
        let kek = self.kek();
        match kek.load(self.records()).await? {
            // Nobody has a ring: the master key was never replaced.
            None if known == 0 && self.records().scan(RINGS, "", 1).await?.is_empty() => Ok(Freshness::Same),
            None => Ok(Freshness::Gone),
            Some(ring) if ring.version == known => Ok(Freshness::Same),
            Some(ring) => {
                self.seal.adopt(ring, kek.origin.clone());
                Ok(Freshness::Changed)
            }
        }
    }

    /// Goes on with another master key, which took over from this one.
    ///
    /// # Errors
    /// [`VaultError::WrongKey`] if it did not; nothing changes then.
    pub async fn take_over(&self, master: &MasterKey) -> Result<(), VaultError> {
        let kek = Kek::new(master)?;
        if kek.id() == self.kek().id() {
            return Ok(());
        }
        let wrong = || VaultError::WrongKey(master.origin().clone());
        let ring = kek.load(self.records()).await?.ok_or_else(wrong)?;
        self.seal.adopt(ring, kek.origin.clone());
        *self.kek.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(kek);
        Ok(())
    }

    /// That a start with this master key would open the store, as it is now. Nothing changes.
    ///
    /// # Errors
    /// [`VaultError::WrongKey`] if it would not.
    pub async fn ensure_opened_by(&self, master: &MasterKey) -> Result<(), VaultError> {
        let kek = Kek::new(master)?;
        let opens = kek.id() == self.kek().id() || kek.load(self.records()).await?.is_some();
        if opens { Ok(()) } else { Err(VaultError::WrongKey(master.origin().clone())) }
    }

    pub(super) fn kek(&self) -> Arc<Kek> {
        Arc::clone(&self.kek.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the store with whichever of these keys does; the store's own if it is new. A passphrase makes several.
    ///
    /// # Errors
    /// [`VaultError::WrongKey`] if none does, or what the store says.
    pub async fn open_with_any(
        records: Arc<dyn Records>,
        masters: &[MasterKey],
        clock: SharedClock,
    ) -> Result<Self, VaultError> {
        let mut wrong = KeyOrigin::Given;
        for master in masters {
            match Self::open(Arc::clone(&records), master, Arc::clone(&clock)).await {
                Err(VaultError::WrongKey(origin)) => wrong = origin,
                opened => return opened,
            }
        }
        Err(VaultError::WrongKey(wrong))
    }

    /// The AES-256 key that format-preserving encryption uses when none is named: made once for the store,
    /// whichever process asks first, and kept in memory from then on.
    pub async fn default_fpe_key(&self) -> Result<Arc<FpeKey>, VaultError> {
        let key = self.fpe.get_or_try_init(async || {
            let stored = self.get_or_make(&Key::new(KEYS, DEFAULT_FPE), || self.new_key()).await?;
            let bytes = key_bytes(stored.expose())?;
            Ok::<_, VaultError>(Arc::new(FpeKey::new(Secret::new(bytes.to_vec()))?))
        });
        key.await.cloned()
    }

    /// What the keys of upload and download URLs are made from: made once for the store, the same in every process.
    pub async fn grant_root(&self) -> Result<Secret<[u8; 32]>, VaultError> {
        let stored = self.get_or_make(&Key::new(KEYS, GRANT), || self.new_key()).await?;
        let bytes = key_bytes(stored.expose())?.try_into().map_err(|_| VaultError::Damaged)?;
        Ok(Secret::new(bytes))
    }

    /// A key for one purpose, the same in every process on this store, also after a rotation.
    pub fn derived_key(&self, purpose: &'static str) -> Secret<[u8; 32]> {
        self.seal.derived_key(purpose)
    }

    /// Seals what undoing a redaction of the tenant's needs: only this vault opens it, and only for the tenant.
    pub fn seal_context(&self, tenant: &str, context: &[u8]) -> Result<Vec<u8>, VaultError> {
        self.seal.seal(&Key::new(CONTEXT, tenant), 1, context)
    }

    /// Opens what [`Vault::seal_context`] sealed.
    pub fn open_context(&self, tenant: &str, sealed: Vec<u8>) -> Result<Secret<Vec<u8>>, VaultError> {
        self.seal.open(&Row { key: Key::new(CONTEXT, tenant), version: 1, entry: NewRow::lasting(sealed) })
    }

    /// Seals what the row `key`, of kind [`PENDING`], [`ENDED`] or one of [`REMEMBERED`], is to hold at `version`, the one it will have once written.
    ///
    /// # Errors
    /// No randomness.
    pub fn seal_row(&self, key: &Key, version: u64, value: &[u8]) -> Result<Vec<u8>, VaultError> {
        self.seal.wrap(key, version, value)
    }

    /// Opens what [`Vault::seal_row`] sealed, at the place it was read from.
    ///
    /// # Errors
    /// A value that is damaged, or another row's.
    pub fn open_row(&self, row: &Row) -> Result<Secret<Vec<u8>>, VaultError> {
        self.seal.unwrap(row)
    }

    pub(super) fn records(&self) -> &dyn Records {
        self.records.as_ref()
    }

    pub(super) fn seal(&self) -> &Seal {
        &self.seal
    }

    pub(super) fn clock(&self) -> &SharedClock {
        &self.clock
    }

    fn new_key(&self) -> Result<Secret<Vec<u8>>, VaultError> {
        let random = Secret::new(random::bytes::<FPE_BYTES>()?);
        let mut text = Vec::with_capacity(KEY_HEADER + FPE_BYTES);
        text.push(RAW_KEY);
        text.extend_from_slice(&self.clock.now().as_millis().to_be_bytes());
        text.extend_from_slice(random.expose());
        Ok(Secret::new(text))
    }

    /// What is sealed in the row, which is made if it is missing. If another process makes it meanwhile, theirs.
    async fn get_or_make(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<Secret<Vec<u8>>, VaultError>,
    ) -> Result<Secret<Vec<u8>>, VaultError> {
        if let Some(row) = self.records.get(key).await? {
            return self.seal.open(&row);
        }
        let made = make()?;
        let sealed = self.seal.seal(key, Precondition::Absent.next(), made.expose())?;
        match self.records.put_if(key, Precondition::Absent, NewRow::lasting(sealed)).await {
            Ok(_) => Ok(made),
            Err(StoreError::Conflict) => {
                let theirs = self.records.get(key).await?.ok_or(StoreError::Conflict)?;
                self.seal.open(&theirs)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault(..)")
    }
}

// The plaintext of a key's row: form (1 byte) ‖ created (8, milliseconds since the epoch) ‖ the key.
const RAW_KEY: u8 = 1;
const KEY_HEADER: usize = 1 + 8;

fn key_bytes(text: &[u8]) -> Result<&[u8], VaultError> {
    match text.split_first_chunk::<KEY_HEADER>() {
        Some(([RAW_KEY, ..], key)) => Ok(key),
        Some(_) => Err(VaultError::Newer),
        None => Err(VaultError::Damaged),
    }
}
