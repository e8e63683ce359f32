//! [`WrappingKey`]: one key that seals rows with AES-256-GCM, with the row's kind, id and version as associated data.
//!
//! A sealed value is `format (1 byte) ‖ key id (8) ‖ nonce (12) ‖ ciphertext ‖ tag (16)`.

use crate::base::secret::Secret;
use crate::crypto::aead::{AeadError, AeadKey};
use crate::store::{Key, Row};
use crate::vault::VaultError;

/// The first byte of a sealed value.
pub(super) const FORMAT: u8 = 1;
/// Bytes of a key's id.
pub(super) const ID_BYTES: usize = 8;
/// Bytes before the nonce.
pub(super) const HEADER: usize = 1 + ID_BYTES;

/// One key that seals rows.
pub(super) struct WrappingKey {
    key: AeadKey,
    id: [u8; ID_BYTES],
}

impl WrappingKey {
    pub(super) fn new(bytes: &Secret<[u8; 32]>, id: [u8; ID_BYTES]) -> Result<Self, VaultError> {
        Ok(Self { key: AeadKey::new(bytes.expose().as_slice())?, id })
    }

    pub(super) fn id(&self) -> &[u8; ID_BYTES] {
        &self.id
    }

    pub(super) fn seal(&self, key: &Key, version: u64, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut sealed = self.header().to_vec();
        sealed.extend_from_slice(&self.key.seal(&self.place(key, version), plaintext)?);
        Ok(sealed)
    }

    /// Opens what this very key sealed.
    pub(super) fn open_as(&self, row: &Row, value: &[u8]) -> Result<Secret<Vec<u8>>, VaultError> {
        let (_, sealed) = value.split_first_chunk::<HEADER>().ok_or(VaultError::Damaged)?;
        self.key.open(&self.place(&row.key, row.version), sealed).map_err(|error| match error {
            AeadError::Open => VaultError::Damaged,
            other => other.into(),
        })
    }

    pub(super) fn header(&self) -> [u8; HEADER] {
        let mut header = [FORMAT; HEADER];
        header[1..].copy_from_slice(&self.id);
        header
    }

    /// The associated data: header and place, each part of known length.
    pub(super) fn place(&self, key: &Key, version: u64) -> Vec<u8> {
        let mut place = self.header().to_vec();
        for part in [key.kind(), key.id()] {
            place.extend_from_slice(&(part.len() as u64).to_be_bytes());
            place.extend_from_slice(part.as_bytes());
        }
        place.extend_from_slice(&version.to_be_bytes());
        place
    }
}
