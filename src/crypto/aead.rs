//! AES-256-GCM (SP 800-38D) with a random 96-bit nonce in front of what it seals. Random nonces bound one key to
//! 2^32 messages (SP 800-38D section 8.3); what seals more derives keys per object.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};

use crate::base::secret::Secret;

/// Why something was not sealed or opened. It never says more: the reason would help a forger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AeadError {
    /// The library refused to seal (no randomness, or a message beyond the cipher's limit).
    #[error("sealing failed")]
    Seal,
    /// Not sealed by this key, or not with this associated data, or changed since.
    #[error("not sealed by this key for this place, or changed since")]
    Open,
}

/// An AES-256-GCM key. The library wipes its schedule when it is dropped.
pub struct AeadKey(RandomizedNonceKey);

/// Bytes that sealing adds: nonce and tag.
pub const SEAL_BYTES: usize = NONCE_LEN + 16;

impl AeadKey {
    /// A key, which has 32 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, AeadError> {
        RandomizedNonceKey::new(&AES_256_GCM, bytes).map(Self).map_err(|_| AeadError::Seal)
    }

    /// Seals `plaintext`; `aad` says where it belongs and must be the same when it is opened.
    pub fn seal(&self, aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, AeadError> {
        let mut sealed = Vec::with_capacity(SEAL_BYTES + plaintext.len());
        sealed.extend_from_slice(&[0; NONCE_LEN]);
        sealed.extend_from_slice(plaintext);
        let Some((front, body)) = sealed.split_first_chunk_mut::<NONCE_LEN>() else {
            return Err(AeadError::Seal);
        };
        let (nonce, tag) =
            self.0.seal_in_place_separate_tag(Aad::from(aad), body).map_err(|_| AeadError::Seal)?;
        front.copy_from_slice(nonce.as_ref());
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Opens what [`AeadKey::seal`] made.
    pub fn open(&self, aad: &[u8], sealed: &[u8]) -> Result<Secret<Vec<u8>>, AeadError> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(AeadError::Open)?;
        let mut plaintext = body.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::from(aad), &mut plaintext);
        let len = opened.map_err(|_| AeadError::Open)?.len();
        plaintext.truncate(len);
        Ok(Secret::new(plaintext))
    }
}

impl std::fmt::Debug for AeadKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AeadKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> AeadKey {
        AeadKey::new(&[byte; 32]).unwrap()
    }

    #[test]
    fn opens_what_it_sealed_and_nothing_else() {
        let key_1 = key(1);
        let sealed = key_1.seal(b"row 7", b"hunter2").unwrap();
        assert_eq!(sealed.len(), 7 + SEAL_BYTES);
        assert_eq!(key_1.open(b"row 7", &sealed).unwrap().expose(), b"hunter2");
        assert_eq!(key_1.open(b"row 8", &sealed).err(), Some(AeadError::Open));
        assert_eq!(key(2).open(b"row 7", &sealed).err(), Some(AeadError::Open));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(key_1.open(b"row 7", &changed).err(), Some(AeadError::Open));
            assert_eq!(key_1.open(b"row 7", &sealed[..at]).err(), Some(AeadError::Open));
        }
    }

    #[test]
    fn nonces_differ() {
        let key = key(1);
        assert_ne!(key.seal(b"", b"same").unwrap(), key.seal(b"", b"same").unwrap());
    }

    #[test]
    fn the_layout_is_nonce_ciphertext_tag() {
        // Another implementation of the standard must be able to open it.
        let sealed = key(3).seal(b"aad", b"text").unwrap();
        let other = aws_lc_rs::aead::LessSafeKey::new(
            aws_lc_rs::aead::UnboundKey::new(&AES_256_GCM, &[3; 32]).unwrap(),
        );
        let nonce = Nonce::try_assume_unique_for_key(&sealed[..NONCE_LEN]).unwrap();
        let mut rest = sealed[NONCE_LEN..].to_vec();
        assert_eq!(other.open_in_place(nonce, Aad::from(b"aad"), &mut rest).unwrap(), b"text");
    }
}
