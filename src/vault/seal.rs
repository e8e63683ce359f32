//! [`Seal`]: master key → wrapping key (HKDF) → AES-256-GCM, with the row's kind, id and version as associated
//! data, so that a row copied to another place, or an older version put back under a newer number, does not open.
//! (A whole store put back as it once was does open: that takes a counter outside of it.)
//!
//! A sealed value is `format (1 byte) ‖ key id (8) ‖ nonce (12) ‖ ciphertext ‖ tag (16)`. The key id says which key
//! sealed it, so that a ring of keys can be added without touching what is sealed.

use crate::base::secret::Secret;
use crate::crypto::aead::{AeadError, AeadKey};
use crate::crypto::kdf::hkdf_sha256;
use crate::store::{Key, Row};
use crate::vault::{MasterKey, Origin, VaultError};

const FORMAT: u8 = 1;
const ID_BYTES: usize = 8;
const HEADER: usize = 1 + ID_BYTES;

/// Seals and opens the values of rows.
pub struct Seal {
    key: AeadKey,
    id: [u8; ID_BYTES],
    origin: Origin,
}

impl Seal {
    /// Derives the wrapping key and its id; the id tells nothing about the key.
    pub fn new(master: &MasterKey) -> Result<Self, VaultError> {
        let derive = |what: &[u8], out: &mut [u8]| hkdf_sha256(master.bytes().expose(), b"", what, out);
        let (mut key, mut id) = ([0; 32], [0; ID_BYTES]);
        derive(b"portcullis/vault/wrap/1", &mut key)?;
        derive(b"portcullis/vault/wrap/1/id", &mut id)?;
        Ok(Self { key: AeadKey::new(&Secret::new(key))?, id, origin: master.origin().clone() })
    }

    /// Seals `plaintext` for the row `key` at `version`, the version that it will have once written.
    pub fn seal(&self, key: &Key, version: u64, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut sealed = self.header().to_vec();
        sealed.extend_from_slice(&self.key.seal(&self.place(key, version), plaintext)?);
        Ok(sealed)
    }

    /// Opens the value of a row at the place it was read from.
    pub fn open(&self, row: &Row) -> Result<Secret<Vec<u8>>, VaultError> {
        let (header, sealed) = row.entry.value.split_first_chunk::<HEADER>().ok_or(VaultError::Damaged)?;
        let (format, id) = header.split_first().ok_or(VaultError::Damaged)?;
        if *format != FORMAT {
            return Err(VaultError::Newer);
        }
        if id != self.id {
            return Err(VaultError::WrongKey(self.origin.clone()));
        }
        self.key.open(&self.place(&row.key, row.version), sealed).map_err(|error| match error {
            AeadError::Open => VaultError::Damaged,
            other => other.into(),
        })
    }

    fn header(&self) -> [u8; HEADER] {
        let mut header = [FORMAT; HEADER];
        header[1..].copy_from_slice(&self.id);
        header
    }

    /// The associated data: header and place, each part of known length.
    fn place(&self, key: &Key, version: u64) -> Vec<u8> {
        let mut place = self.header().to_vec();
        for part in [key.kind(), key.id()] {
            place.extend_from_slice(&(part.len() as u64).to_be_bytes());
            place.extend_from_slice(part.as_bytes());
        }
        place.extend_from_slice(&version.to_be_bytes());
        place
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
    use crate::store::Entry;

    fn seal(digit: char) -> Seal {
        let text: String = std::iter::repeat_n(digit, 64).collect();
        Seal::new(&MasterKey::from_text(&text).unwrap()).unwrap()
    }

    fn row(key: Key, version: u64, value: &[u8]) -> Row {
        Row { key, version, entry: Entry::lasting(value.to_vec()) }
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
            let kind = seal.open(&row(Key::new("case.b", id), version, &sealed));
            prop_assert!(matches!(kind, Err(VaultError::Damaged)));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (seal, key) = (seal('1'), || Key::new("case", "a"));
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
        assert!(matches!(seal('2').open(&row(key(), 1, &sealed)), Err(VaultError::WrongKey(Origin::Given))));
        sealed[0] = 2;
        assert!(matches!(seal('1').open(&row(key(), 1, &sealed)), Err(VaultError::Newer)));
    }
}
