//! [`Seal`]: a key of the ring → AES-256-GCM, with the row's kind, id and version as associated data, so that a row
//! copied to another place, or an older version put back under a newer number, does not open.
//! (A whole store put back as it once was does open: that takes a counter outside of it.)
//!
//! The key id in a sealed value (see `wrapping`) says which key of the ring sealed it.
//!
//! What is large or often written has a data key of its own ([`Seal::wrap`]): `sealed data key ‖ nonce ‖ ciphertext ‖
//! tag`. The data key is random for each write and bound to the same place, and the wrapping key seals 32 bytes.

use std::sync::{Arc, PoisonError, RwLock};

use zeroize::Zeroizing;

use crate::base::secret::Secret;
use crate::crypto::aead::{AeadKey, SEAL_BYTES};
use crate::crypto::kdf::hmac_sha256;
use crate::crypto::random;
use crate::store::{Key, Row};
use crate::vault::ring::Ring;
use crate::vault::wrapping::{FORMAT, HEADER, WrappingKey};
use crate::vault::{KeyOrigin, MasterKey, VaultError};

const DATA_KEY: usize = 32;
const WRAPPED: usize = HEADER + SEAL_BYTES + DATA_KEY;

/// Seals and opens the values of rows.
pub struct Seal {
    ring: RwLock<Arc<Ring>>,
    origin: RwLock<KeyOrigin>,
}

impl Seal {
    /// The seal of a store whose master key was never replaced.
    ///
    /// # Errors
    /// [`VaultError::Crypto`].
    pub fn new(master: &MasterKey) -> Result<Self, VaultError> {
        Ok(Self::of(Ring::derived(master)?, master.origin().clone()))
    }

    pub(super) fn of(ring: Ring, origin: KeyOrigin) -> Self {
        Self { ring: RwLock::new(Arc::new(ring)), origin: RwLock::new(origin) }
    }

    /// The keys as they are now.
    pub(super) fn ring(&self) -> Arc<Ring> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Goes on with other keys.
    pub(super) fn adopt(&self, ring: Ring, origin: KeyOrigin) {
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        *self.origin.write().unwrap_or_else(PoisonError::into_inner) = origin;
    }

    /// Seals `plaintext` for the row `key` at `version`, the version that it will have once written.
    ///
    /// # Errors
    /// [`VaultError::Crypto`].
    pub fn seal(&self, key: &Key, version: u64, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        self.ring().current()?.seal(key, version, plaintext)
    }

    /// Opens the value of a row at the place it was read from.
    ///
    /// # Errors
    /// [`VaultError::WrongKey`], [`VaultError::Newer`], [`VaultError::Damaged`].
    pub fn open(&self, row: &Row) -> Result<Secret<Vec<u8>>, VaultError> {
        self.open_at(&self.ring(), row, &row.entry.value).map(|(opened, _)| opened)
    }

    fn open_at<'r>(
        &self,
        ring: &'r Ring,
        row: &Row,
        value: &[u8],
    ) -> Result<(Secret<Vec<u8>>, &'r WrappingKey), VaultError> {
        let header = value.first_chunk::<HEADER>().ok_or(VaultError::Damaged)?;
        let (format, id) = header.split_first().ok_or(VaultError::Damaged)?;
        if *format != FORMAT {
            return Err(VaultError::Newer);
        }
        let wrapping = ring.find(id).ok_or_else(|| VaultError::WrongKey(self.origin()))?;
        wrapping.open_as(row, value).map(|opened| (opened, wrapping))
    }

    /// Seals `plaintext` under a data key of its own; the place is as for [`Seal::seal`].
    ///
    /// # Errors
    /// [`VaultError::Crypto`].
    pub fn wrap(&self, key: &Key, version: u64, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let ring = self.ring();
        let current = ring.current()?;
        // Filled in place: an array that moves leaves copies behind.
        let mut data = Zeroizing::new([0; DATA_KEY]);
        random::fill(data.as_mut_slice())?;
        let mut wrapped = current.seal(key, version, data.as_slice())?;
        let sealed = AeadKey::new(data.as_slice())?.seal(&current.place(key, version), plaintext)?;
        wrapped.extend_from_slice(&sealed);
        Ok(wrapped)
    }

    /// Opens what [`Seal::wrap`] sealed, at the place it was read from.
    ///
    /// # Errors
    /// As [`Seal::open`].
    pub fn unwrap(&self, row: &Row) -> Result<Secret<Vec<u8>>, VaultError> {
        let ring = self.ring();
        let (wrapped, sealed) = row.entry.value.split_at_checked(WRAPPED).ok_or(VaultError::Damaged)?;
        let (data, wrapping) = self.open_at(&ring, row, wrapped)?;
        let opened = AeadKey::new(data.expose())?.open(&wrapping.place(&row.key, row.version), sealed);
        opened.map_err(|_| VaultError::Damaged)
    }

    /// Whether the key that seals now sealed the row.
    pub(super) fn is_current(&self, row: &Row) -> Result<bool, VaultError> {
        let header = row.entry.value.first_chunk::<HEADER>().ok_or(VaultError::Damaged)?;
        Ok(*header == self.ring().current()?.header())
    }

    /// A name for what has `text` as its name, which tells nothing about it and is the same each time.
    pub fn index(&self, kind: &str, text: &str) -> [u8; 20] {
        let length = (kind.len() as u64).to_be_bytes();
        let parts = [&length, kind.as_bytes(), text.as_bytes()];
        let mut index = [0; 20];
        let whole = hmac_sha256(self.ring().index.expose(), &parts);
        index.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        index
    }

    /// A key for one purpose: no name of [`Seal::index`] tells anything about it.
    pub(super) fn derived_key(&self, purpose: &'static str) -> Secret<[u8; 32]> {
        let parts: [&[u8]; 2] = [b"portcullis/vault/derived/1", purpose.as_bytes()];
        // Lengths come first in what names are made of, and none is so long.
        Secret::new(hmac_sha256(self.ring().index.expose(), &parts))
    }

    /// Where the master key came from.
    pub(super) fn origin(&self) -> KeyOrigin {
        self.origin.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::NewRow;

    fn seal(digit: char) -> Seal {
        let text: String = std::iter::repeat_n(digit, 64).collect();
        Seal::new(&MasterKey::from_text(&text).unwrap()).unwrap()
    }

    fn row(key: Key, version: u64, value: &[u8]) -> Row {
        Row { key, version, entry: NewRow::lasting(value.to_vec()) }
    }

    proptest! {
        #[test]
        fn opens_at_its_place_and_at_no_other(
            id in "[a-c/]{0,3}", other in "[a-c/]{0,3}", version in 1..4u64, later in 1..4u64,
            text in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let seal = seal('1');
            let sealed = seal.seal(&Key::new("case.a", id.clone()), version, &text).unwrap();
            let opened = seal.open(&row(Key::new("case.a", id.clone()), version, &sealed)).unwrap();
            prop_assert_eq!(opened.expose(), &text);
            let moved = seal.open(&row(Key::new("case.a", other.clone()), later, &sealed));
            prop_assert_eq!(moved.is_ok(), (&other, later) == (&id, version));
            let kind = seal.open(&row(Key::new("case.b", id.clone()), version, &sealed));
            prop_assert!(matches!(kind, Err(VaultError::Damaged)));
            let wrapped = seal.wrap(&Key::new("case.a", id.clone()), version, &text).unwrap();
            let opened = seal.unwrap(&row(Key::new("case.a", id.clone()), version, &wrapped)).unwrap();
            prop_assert_eq!(opened.expose(), &text);
            let moved = seal.unwrap(&row(Key::new("case.a", other.clone()), later, &wrapped));
            prop_assert_eq!(moved.is_ok(), (&other, later) == (&id, version));
            // Another row's data key does not help either.
            let theirs = seal.wrap(&Key::new("case.a", other), later, &text).unwrap();
            let mixed = [&theirs[..WRAPPED], &wrapped[WRAPPED..]].concat();
            prop_assert!(seal.unwrap(&row(Key::new("case.a", id), version, &mixed)).is_err());
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (seal, key) = (seal('1'), || Key::new("case", "a"));
        let wrapped = seal.wrap(&key(), 1, b"hunter2").unwrap();
        for at in 0..wrapped.len() {
            assert!(seal.unwrap(&row(key(), 1, &wrapped[..at])).is_err(), "cut at {at}");
            let mut changed = wrapped.clone();
            changed[at] ^= 1;
            assert!(seal.unwrap(&row(key(), 1, &changed)).is_err(), "byte {at}");
        }
        let sealed = seal.seal(&key(), 1, b"hunter2").unwrap();
        for at in 0..sealed.len() {
            assert!(seal.open(&row(key(), 1, &sealed[..at])).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                assert!(seal.open(&row(key(), 1, &changed)).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn another_key_and_another_format_are_told_apart() {
        let key = || Key::new("case", "a");
        let mut sealed = seal('1').seal(&key(), 1, b"hunter2").unwrap();
        assert!(matches!(
            seal('2').open(&row(key(), 1, &sealed)),
            Err(VaultError::WrongKey(KeyOrigin::Given))
        ));
        sealed[0] = 2;
        assert!(matches!(seal('1').open(&row(key(), 1, &sealed)), Err(VaultError::Newer)));
    }
}
