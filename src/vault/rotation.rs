//! Another master key in place of this one, while others use the store. Every step is one row, every stop between two of
//! them leaves a store that opens, and doing it again goes on from there:
//!
//! 1. a key that does not seal yet is added to the ring, and the ring is sealed under the new master key too;
//! 2. once every process has read it, that key seals, in both copies of the ring;
//! 3. row by row, what an older key sealed is sealed anew;
//! 4. the copy of the ring for the old master key is removed, and the salts of old passphrases.
//!
//! Older keys stay in the ring: contexts of redactions lie with callers, and a process that slept through it all may
//! write under one.

use std::time::Duration;

use crate::store::{Change, Key, NewRow, Pages, Precondition, Row, StoreError, Tries, update, update_row};
use crate::vault::items::{FOLDERS, ITEMS};
use crate::vault::keys::{CANARY, ENDED, KEYS, PENDING, REMEMBERED};
use crate::vault::passphrase::SALTS;
use crate::vault::ring::{self, Kek, Ring};
use crate::vault::{MasterKey, Vault, VaultError};

/// How long a process may take to notice that the ring has changed: it looks every second.
pub const GRACE: Duration = Duration::from_secs(3);

/// Kinds of rows that are sealed, and whether each has a data key of its own. What moves while they are walked through
/// moves to a later one.
const SEALED: [(&str, bool); 9] = {
    let [issued, names, digests] = REMEMBERED;
    [
        (CANARY, false),
        (KEYS, false),
        (ITEMS, true),
        (FOLDERS, true),
        (PENDING, true),
        (ENDED, true),
        (issued, true),
        (names, true),
        (digests, true),
    ]
};
/// Rows read at one time: with their largest size they should not fill the memory.
const PAGE: u32 = 8;
/// How often all rows are walked through: once more after one that found something.
const WALKS: usize = 5;

/// What a rotation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// Rows that were sealed anew.
    pub rows: u64,
}

/// How a rotation goes on.
#[derive(Clone, Copy)]
pub struct Pace<'a> {
    /// What other processes have to notice.
    pub grace: Duration,
    /// Called for each row that was looked at, with whether it was sealed anew.
    pub looked: &'a (dyn Fn(bool) + Sync),
}

impl Pace<'static> {
    /// Without waiting for anybody, seen by nobody.
    pub const AT_ONCE: Self = Self { grace: Duration::ZERO, looked: &|_| {} };
}

impl Vault {
    /// Puts another master key in place of this vault's. `before_the_end` is called when both keys open the store, for the last time; without `drop_old` both go on
    /// doing so.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if both are the same key, or somebody else began to put yet another one in place; what
    /// `before_the_end` says; or what the store says. The store opens in any case, and doing it again goes on.
    pub async fn rotate_master(
        &self,
        to: &MasterKey,
        pace: Pace<'_>,
        drop_old: bool,
        before_the_end: impl FnOnce() -> Result<(), VaultError>,
    ) -> Result<Rotated, VaultError> {
        let (from, new) = (self.kek(), Kek::new(to)?);
        if from.id() == new.id() {
            return Err(VaultError::Forbidden("the new master key is the one in use"));
        }
        self.begin(&from, &new).await?;
        tokio::time::sleep(pace.grace).await;
        self.advance(&from, &new).await?;
        tokio::time::sleep(pace.grace).await;
        let rows = self.reseal_all(pace).await?;
        if drop_old {
            before_the_end()?;
            self.end(&from, &new).await?;
        }
        Ok(Rotated { rows })
    }

    /// Whether another master key is to take over from this vault's, or has.
    pub fn has_successor(&self) -> bool {
        self.seal().ring().successor.is_some()
    }

    /// Whether a rotation to this vault's master key has not come to its end.
    pub fn has_predecessor(&self) -> bool {
        self.seal().ring().predecessor.is_some()
    }

    /// Ends a rotation to this vault's master key that was stopped before its end: the old one is dropped.
    ///
    /// # Errors
    /// What the store says.
    pub async fn finish_rotation(&self, pace: Pace<'_>) -> Result<Rotated, VaultError> {
        let new = self.kek();
        let rows = self.reseal_all(pace).await?;
        let Some(ring) = new.load(self.records()).await? else { return Ok(Rotated { rows }) };
        if let Some(old) = ring.predecessor {
            self.remove(&ring::place(&old)).await?;
        }
        self.forget_predecessor(&new).await?;
        Ok(Rotated { rows })
    }

    /// The master key that is to take over, if a rotation was begun.
    pub(super) async fn successor(&self) -> Result<Option<ring::KeyId>, VaultError> {
        Ok(self.kek().load(self.records()).await?.and_then(|ring| ring.successor))
    }

    async fn ring_of(&self, kek: &Kek) -> Result<Ring, VaultError> {
        kek.load(self.records()).await?.ok_or(OVERTAKEN)
    }

    /// Step 1.
    async fn begin(&self, from: &Kek, new: &Kek) -> Result<(), VaultError> {
        let mut tries = Tries::default();
        loop {
            let stored = from.load(self.records()).await?;
            let mut ring = match stored {
                Some(ring) => ring,
                None => self.seal().ring().first()?.ok_or(OVERTAKEN)?,
            };
            let resumed = ring.successor == Some(*new.id());
            if !resumed {
                if let Some(other) = ring.successor.replace(*new.id()) {
                    self.remove(&ring::place(&other)).await?;
                }
                ring.grow()?;
                match from.store(self.records(), &ring).await {
                    Ok(version) => ring.version = version,
                    Err(VaultError::Store(StoreError::Conflict)) => {
                        tries.again().await?;
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            }
            match new.mirror(self.records(), &mut ring, Some(*from.id())).await {
                Err(VaultError::Store(StoreError::Conflict)) => tries.again().await?,
                mirrored => return mirrored,
            }
        }
    }

    /// Step 2.
    async fn advance(&self, from: &Kek, new: &Kek) -> Result<(), VaultError> {
        let mut ring = self.ring_of(from).await?;
        if ring.successor != Some(*new.id()) {
            return Err(OVERTAKEN);
        }
        if ring.has_spare() {
            ring.advance();
            ring.version = match from.store(self.records(), &ring).await {
                Err(VaultError::Store(StoreError::Conflict)) => return Err(OVERTAKEN),
                stored => stored?,
            };
        }
        match new.mirror(self.records(), &mut ring, Some(*from.id())).await {
            Err(VaultError::Store(StoreError::Conflict)) => return Err(OVERTAKEN),
            mirrored => mirrored?,
        }
        self.refresh().await.map(drop)
    }

    /// Step 3.
    async fn reseal_all(&self, pace: Pace<'_>) -> Result<u64, VaultError> {
        let mut total = 0;
        for _ in 0..WALKS {
            let mut found = 0;
            for (kind, wrapped) in SEALED {
                let mut pages = Pages::all(self.records(), kind).of(PAGE);
                while let Some(page) = pages.next().await? {
                    for row in page {
                        let sealed = self.reseal(row, wrapped).await?;
                        (pace.looked)(sealed);
                        found += u64::from(sealed);
                    }
                }
            }
            total += found;
            if found == 0 {
                break;
            }
        }
        Ok(total)
    }

    /// Seals one row anew, unless the right key sealed it; whether there was anything to do.
    async fn reseal(&self, row: Row, wrapped: bool) -> Result<bool, VaultError> {
        update_row(self.records(), row, |row| {
            // Removed meanwhile.
            let Some(row) = row else { return Ok(Change::Leave(false)) };
            let seal = self.seal();
            if seal.is_current(&row)? {
                return Ok(Change::Leave(false));
            }
            let version = Precondition::of(Some(&row)).next();
            let value = match wrapped {
                true => seal.wrap(&row.key, version, seal.unwrap(&row)?.expose())?,
                false => seal.seal(&row.key, version, seal.open(&row)?.expose())?,
            };
            Ok(Change::Put(NewRow { value, expires: row.entry.expires }, true))
        })
        .await
    }

    /// Step 4.
    async fn end(&self, from: &Kek, new: &Kek) -> Result<(), VaultError> {
        let ring = self.ring_of(from).await?;
        // What the new master key opens is looked at once more before the old one is gone.
        let theirs = self.ring_of(new).await?;
        if ring.successor != Some(*new.id()) || theirs.current()?.id() != ring.current()?.id() {
            return Err(OVERTAKEN);
        }
        match self.records().remove_if(&ring::place(from.id()), ring.version).await {
            Ok(()) => self.forget_predecessor(new).await,
            Err(StoreError::Conflict) => Err(OVERTAKEN),
            Err(error) => Err(error.into()),
        }
    }

    async fn forget_predecessor(&self, new: &Kek) -> Result<(), VaultError> {
        let mut pages = Pages::all(self.records(), SALTS);
        while let Some(page) = pages.next().await? {
            for row in page.iter().filter(|row| Some(row.key.id()) != new.salt.as_deref()) {
                self.remove(&row.key).await?;
            }
        }
        let mut ring = self.ring_of(new).await?;
        ring.predecessor = None;
        match new.store(self.records(), &ring).await {
            // Somebody else did the same.
            Ok(_) | Err(VaultError::Store(StoreError::Conflict)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes a row, whatever is in it.
    async fn remove(&self, key: &Key) -> Result<(), VaultError> {
        update(self.records(), key, |_| Ok(Change::Remove(()))).await
    }
}

const OVERTAKEN: VaultError =
    VaultError::Forbidden("the master key is being replaced by somebody else, or was; look, and begin again");

#[cfg(test)]
#[path = "rotation_tests.rs"]
mod tests;
