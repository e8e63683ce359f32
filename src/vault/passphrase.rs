//! A master key from a passphrase, by Argon2id (RFC 9106). Salt and cost lie in the store, beside what the key seals: they
//! are no secrets, and whoever changes them only makes the right passphrase wrong.

use data_encoding::HEXLOWER;

use crate::base::secret::Secret;
use crate::crypto::passphrase::{Cost, SALT_BYTES, argon2id};
use crate::crypto::random;
use crate::store::{Key, NewRow, Pages, Precondition, Records, Row, StoreError};
use crate::vault::keys::CANARY;
use crate::vault::ring::Kek;
use crate::vault::{KeyOrigin, MasterKey, Vault, VaultError};

/// Rows of this kind hold `form (1 byte) ‖ memory (4) ‖ passes (4) ‖ lanes (4) ‖ salt (16)`, numbers big-endian.
pub(super) const SALTS: &str = "vault.salt";
const FORM: u8 = 1;
const FIRST: &str = "1";

/// How a passphrase is turned into a key.
#[derive(Clone, Debug)]
struct Salt {
    row: String,
    cost: Cost,
    salt: [u8; SALT_BYTES],
}

impl Salt {
    fn read(row: &Row) -> Result<Self, VaultError> {
        let number = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes);
        let fields = || {
            let (form, rest) = row.entry.value.split_first()?;
            let (memory, rest) = rest.split_first_chunk()?;
            let (passes, rest) = rest.split_first_chunk()?;
            let (lanes, salt) = rest.split_first_chunk()?;
            let cost = Cost { memory: number(memory), passes: number(passes), lanes: number(lanes) };
            Some((*form, cost, salt.try_into().ok()?))
        };
        match fields() {
            Some((FORM, cost, salt)) => Ok(Self { row: row.key.id().to_owned(), cost, salt }),
            Some(_) => Err(VaultError::Newer),
            None => Err(VaultError::Damaged),
        }
    }

    /// A new one, of this name in the store; somebody else's, if they were first.
    async fn make(records: &dyn Records, name: &str) -> Result<Self, VaultError> {
        let (key, cost) = (Key::new(SALTS, name), Cost::RECOMMENDED);
        let mut value = vec![FORM];
        for number in [cost.memory, cost.passes, cost.lanes] {
            value.extend_from_slice(&number.to_be_bytes());
        }
        value.extend_from_slice(&random::bytes::<SALT_BYTES>()?);
        match records.put_if(&key, Precondition::Absent, NewRow::lasting(value)).await {
            Ok(_) | Err(StoreError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
        Self::read(&records.get(&key).await?.ok_or(StoreError::Conflict)?)
    }

    /// The key that the passphrase makes with it. Takes a moment and 64 MiB: that is the point.
    async fn key(&self, passphrase: &Secret<String>) -> Result<MasterKey, VaultError> {
        let (text, Self { cost, salt, .. }) = (passphrase.clone(), self.clone());
        let made = tokio::task::spawn_blocking(move || argon2id(text.expose().as_bytes(), &salt, cost));
        let bytes = made.await.map_err(|error| VaultError::Crypto(Box::new(error)))??;
        Ok(MasterKey::from_passphrase(bytes, self.row.clone()))
    }
}

/// Every way in which a passphrase of this store is turned into a key: one, while a master key is being replaced two, and
/// one more of each replacement that was stopped before it had begun.
async fn salts(records: &dyn Records) -> Result<Vec<Salt>, VaultError> {
    let (mut pages, mut all) = (Pages::all(records, SALTS), Vec::new());
    while let Some(page) = pages.next().await? {
        for row in &page {
            all.push(Salt::read(row)?);
        }
    }
    Ok(all)
}

impl MasterKey {
    /// The keys that the passphrase makes with the salts of this store, of which one opens it if the passphrase is right.
    /// A new store gets a salt; one that was sealed in another way does not.
    ///
    /// # Errors
    /// [`VaultError::WrongKey`] for a store that was not sealed with a passphrase, or what the store says.
    pub async fn of_passphrase(
        records: &dyn Records,
        passphrase: &Secret<String>,
    ) -> Result<Vec<Self>, VaultError> {
        let mut salts = salts(records).await?;
        if salts.is_empty() {
            if records.get(&Key::new(CANARY, "1")).await?.is_some() {
                return Err(VaultError::WrongKey(KeyOrigin::Passphrase));
            }
            salts.push(Salt::make(records, FIRST).await?);
        }
        let mut keys = Vec::with_capacity(salts.len());
        for salt in &salts {
            keys.push(salt.key(passphrase).await?);
        }
        Ok(keys)
    }

    /// A key that the passphrase makes and that is not yet in use, to replace another: one that a rotation that was
    /// stopped had begun with, or else one with a salt of its own.
    ///
    /// # Errors
    /// What the store says.
    pub async fn of_new_passphrase(vault: &Vault, passphrase: &Secret<String>) -> Result<Self, VaultError> {
        let successor = vault.successor().await?;
        for salt in salts(vault.records()).await? {
            let key = salt.key(passphrase).await?;
            if Some(*Kek::new(&key)?.id()) == successor {
                return Ok(key);
            }
        }
        let name = HEXLOWER.encode(&random::bytes::<8>()?);
        Salt::make(vault.records(), &name).await?.key(passphrase).await
    }
}
