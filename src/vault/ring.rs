//! [`Ring`]: the keys that seal rows. The newest but one in use seals, all of them open. Until the master key is first
//! replaced, the one key is derived from it and nothing is stored; from then on the ring lies in the store, sealed under
//! each master key that may open it ([`Kek`]), by a name that tells nothing about that key.

use data_encoding::HEXLOWER;

use crate::base::secret::Secret;
use crate::crypto::kdf::hkdf_sha256;
use crate::crypto::random;
use crate::store::{Key, NewRow, Precondition, Records, Row};
use crate::vault::wrapping::{ID_BYTES, WrappingKey};
use crate::vault::{KeyOrigin, MasterKey, VaultError};

/// The plaintext of these rows: `form (1) ‖ successor (8) ‖ predecessor (8) ‖ index key (32) ‖ id in use (8)`, then
/// for each key `id (8) ‖ key (32)`, the oldest first. No id is all zeroes.
pub(super) const RINGS: &str = "vault.ring";
const FORM: u8 = 1;
const KEY_BYTES: usize = 32;
const NOBODY: KeyId = [0; ID_BYTES];

/// Names a key; tells nothing about it.
pub(super) type KeyId = [u8; ID_BYTES];

type Bytes = Secret<[u8; KEY_BYTES]>;

struct RingKey {
    wrapping: WrappingKey,
    bytes: Bytes,
}

/// The keys that seal rows.
pub(super) struct Ring {
    keys: Vec<RingKey>,
    /// The one that seals.
    current: KeyId,
    /// For names that tell nothing: never changes, since it names rows.
    pub(super) index: Bytes,
    /// The master key that is to take over.
    pub(super) successor: Option<KeyId>,
    /// The master key that is to be forgotten.
    pub(super) predecessor: Option<KeyId>,
    /// The version of the row that it was read from; 0 if there is none.
    pub(super) version: u64,
}

fn derive(secret: &Bytes, what: &[u8]) -> Result<Bytes, VaultError> {
    let mut key = [0; KEY_BYTES];
    hkdf_sha256(secret.expose(), b"", what, &mut key)?;
    Ok(Secret::new(key))
}

fn derive_id(secret: &Bytes, what: &[u8]) -> Result<KeyId, VaultError> {
    let mut id = NOBODY;
    hkdf_sha256(secret.expose(), b"", what, &mut id)?;
    Ok(id)
}

impl Ring {
    /// The ring of a store whose master key was never replaced.
    pub(super) fn derived(master: &MasterKey) -> Result<Self, VaultError> {
        let bytes = derive(master.bytes(), b"portcullis/vault/wrap/1")?;
        let id = derive_id(master.bytes(), b"portcullis/vault/wrap/1/id")?;
        let index = derive(master.bytes(), b"portcullis/vault/index/1")?;
        let keys = vec![RingKey { wrapping: WrappingKey::new(&bytes, id)?, bytes }];
        Ok(Self { keys, current: id, index, successor: None, predecessor: None, version: 0 })
    }

    /// This one, to be stored for the first time; `None` if it was stored before.
    pub(super) fn first(&self) -> Result<Option<Self>, VaultError> {
        if self.version == 0 { Self::read(self.write().expose(), 0).map(Some) } else { Ok(None) }
    }

    /// The key that seals.
    pub(super) fn current(&self) -> Result<&WrappingKey, VaultError> {
        self.find(&self.current).ok_or(VaultError::Damaged)
    }

    /// The key of this name.
    pub(super) fn find(&self, id: &[u8]) -> Option<&WrappingKey> {
        self.keys.iter().map(|key| &key.wrapping).find(|key| key.id() == id)
    }

    /// Adds a new key, which does not seal yet.
    pub(super) fn grow(&mut self) -> Result<(), VaultError> {
        let bytes = Secret::new(random::bytes()?);
        let id = random::bytes()?;
        self.keys.push(RingKey { wrapping: WrappingKey::new(&bytes, id)?, bytes });
        Ok(())
    }

    /// Whether there is a key that does not seal yet.
    pub(super) fn has_spare(&self) -> bool {
        self.keys.last().is_some_and(|last| *last.wrapping.id() != self.current)
    }

    /// From now on the newest key seals.
    pub(super) fn advance(&mut self) {
        if let Some(last) = self.keys.last() {
            self.current = *last.wrapping.id();
        }
    }

    fn write(&self) -> Secret<Vec<u8>> {
        let mut out = Vec::with_capacity(
            1 + 3 * ID_BYTES + KEY_BYTES * (1 + self.keys.len()) + ID_BYTES * self.keys.len(),
        );
        out.push(FORM);
        out.extend_from_slice(&self.successor.unwrap_or(NOBODY));
        out.extend_from_slice(&self.predecessor.unwrap_or(NOBODY));
        out.extend_from_slice(self.index.expose());
        out.extend_from_slice(&self.current);
        for key in &self.keys {
            out.extend_from_slice(key.wrapping.id());
            out.extend_from_slice(key.bytes.expose());
        }
        Secret::new(out)
    }

    fn read(bytes: &[u8], version: u64) -> Result<Self, VaultError> {
        match bytes.split_first() {
            Some((&FORM, rest)) => Self::fields(rest, version).ok_or(VaultError::Damaged),
            Some(_) => Err(VaultError::Newer),
            None => Err(VaultError::Damaged),
        }
    }

    fn fields(bytes: &[u8], version: u64) -> Option<Self> {
        let (successor, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (predecessor, rest) = rest.split_first_chunk::<ID_BYTES>()?;
        let (index, rest) = rest.split_first_chunk::<KEY_BYTES>()?;
        let (current, mut rest) = rest.split_first_chunk::<ID_BYTES>()?;
        let mut keys = Vec::new();
        while let Some((id, more)) = rest.split_first_chunk::<ID_BYTES>() {
            let (bytes, more) = more.split_first_chunk::<KEY_BYTES>()?;
            let bytes = Secret::new(*bytes);
            keys.push(RingKey { wrapping: WrappingKey::new(&bytes, *id).ok()?, bytes });
            rest = more;
        }
        let somebody = |id: &KeyId| (*id != NOBODY).then_some(*id);
        let (successor, predecessor) = (somebody(successor), somebody(predecessor));
        let ring =
            Self { keys, current: *current, index: Secret::new(*index), successor, predecessor, version };
        (rest.is_empty() && ring.current().is_ok()).then_some(ring)
    }
}

/// The key that seals the ring: derived from a master key.
pub(super) struct Kek {
    wrapping: WrappingKey,
    pub(super) origin: KeyOrigin,
    /// The row of the salt that its passphrase needs, if it has one.
    pub(super) salt: Option<String>,
}

/// Where the ring of the master key of this name is.
pub(super) fn place(id: &KeyId) -> Key {
    Key::new(RINGS, HEXLOWER.encode(id))
}

impl Kek {
    pub(super) fn new(master: &MasterKey) -> Result<Self, VaultError> {
        let bytes = derive(master.bytes(), b"portcullis/vault/ring/1")?;
        let id = derive_id(master.bytes(), b"portcullis/vault/ring/1/id")?;
        let (origin, salt) = (master.origin().clone(), master.salt().map(str::to_owned));
        Ok(Self { wrapping: WrappingKey::new(&bytes, id)?, origin, salt })
    }

    pub(super) fn id(&self) -> &KeyId {
        self.wrapping.id()
    }

    /// The ring that this master key opens; `None` if none was stored for it.
    pub(super) async fn load(&self, records: &dyn Records) -> Result<Option<Ring>, VaultError> {
        let Some(row) = records.get(&place(self.id())).await? else { return Ok(None) };
        self.open(&row).map(Some)
    }

    fn open(&self, row: &Row) -> Result<Ring, VaultError> {
        Ring::read(self.wrapping.open_as(row, &row.entry.value)?.expose(), row.version)
    }

    /// Writes the ring for this master key in place of the version that it has; its new version.
    pub(super) async fn store(&self, records: &dyn Records, ring: &Ring) -> Result<u64, VaultError> {
        let expected = Precondition::at(ring.version);
        let key = place(self.id());
        let sealed = self.wrapping.seal(&key, expected.next(), ring.write().expose())?;
        Ok(records.put_if(&key, expected, NewRow::lasting(sealed)).await?)
    }

    /// Writes for this master key what another one's ring holds, whatever was there.
    pub(super) async fn mirror(
        &self,
        records: &dyn Records,
        ring: &mut Ring,
        predecessor: Option<KeyId>,
    ) -> Result<(), VaultError> {
        let there = records.get(&place(self.id())).await?.map_or(0, |row| row.version);
        let theirs = (ring.version, ring.successor, ring.predecessor);
        (ring.version, ring.successor, ring.predecessor) = (there, None, predecessor);
        let stored = self.store(records, ring).await;
        (ring.version, ring.successor, ring.predecessor) = theirs;
        stored.map(drop)
    }
}
