//! AES in CBC mode with PKCS #7 padding (SP 800-38A section 6.2, RFC 5652 section 6.3): what Presidio's operator `encrypt`
//! writes. It does not say whether anybody changed the text; what is our own to seal is sealed by [`aead`](super::aead).

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;

use crate::base::secret::Secret;

/// A key that is none, or a text that no key of this kind wrote. It never says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key is not of 16, 24 or 32 bytes, or did not write the text")]
pub struct CbcError;

/// Bytes of a block, and of the initialisation vector.
const BLOCK: usize = 16;

/// A key of 16, 24 or 32 bytes.
#[derive(Clone)]
pub struct CbcKey(Secret<Vec<u8>>);

impl CbcKey {
    /// A key.
    ///
    /// # Errors
    /// Another number of bytes.
    pub fn new(bytes: Secret<Vec<u8>>) -> Result<Self, CbcError> {
        match bytes.expose().len() {
            16 | 24 | 32 => Ok(Self(bytes)),
            _ => Err(CbcError),
        }
    }

    fn unbound(&self) -> Result<UnboundCipherKey, CbcError> {
        let key = self.0.expose();
        let algorithm = match key.len() {
            16 => &AES_128,
            24 => &AES_192,
            _ => &AES_256,
        };
        UnboundCipherKey::new(algorithm, key).map_err(|_| CbcError)
    }

    /// A random initialisation vector, and the text's blocks behind it.
    ///
    /// # Errors
    /// No randomness.
    pub fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, CbcError> {
        let key = PaddedBlockEncryptingKey::cbc_pkcs7(self.unbound()?).map_err(|_| CbcError)?;
        let mut blocks = text.to_vec();
        let context = key.encrypt(&mut blocks).map_err(|_| CbcError)?;
        let DecryptionContext::Iv128(vector) = context else { return Err(CbcError) };
        let mut written = vector.as_ref().to_vec();
        written.append(&mut blocks);
        Ok(written)
    }

    /// What [`CbcKey::encrypt`] was given.
    ///
    /// # Errors
    /// Another key wrote it, or nobody.
    pub fn decrypt(&self, written: &[u8]) -> Result<Vec<u8>, CbcError> {
        let (vector, blocks) = written.split_first_chunk::<BLOCK>().ok_or(CbcError)?;
        let key = PaddedBlockDecryptingKey::cbc_pkcs7(self.unbound()?).map_err(|_| CbcError)?;
        let mut blocks = blocks.to_vec();
        let context = DecryptionContext::Iv128(FixedLength::from(vector));
        let text = key.decrypt(&mut blocks, context).map_err(|_| CbcError)?;
        Ok(text.to_vec())
    }
}

impl std::fmt::Debug for CbcKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CbcKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::cipher::EncryptionContext;

    use super::*;

    fn key(bytes: &[u8]) -> CbcKey {
        CbcKey::new(Secret::new(bytes.to_vec())).unwrap()
    }

    #[test]
    fn what_is_encrypted_comes_back_under_its_key_alone() {
        for length in [16, 24, 32] {
            let (one, other) = (key(&vec![1; length]), key(&vec![2; length]));
            for text in ["", "a", "0123456789abcdef", "jane.doe@harbour-post.com \u{1f512}"] {
                let written = one.encrypt(text.as_bytes()).unwrap();
                assert_eq!(one.decrypt(&written).unwrap(), text.as_bytes());
                assert_ne!(one.encrypt(text.as_bytes()).unwrap(), written, "the vector is random");
                assert_ne!(other.decrypt(&written).ok().as_deref(), Some(text.as_bytes()));
            }
        }
    }

    /// SP 800-38A, F.2.1: the first block of CBC-AES128.
    #[test]
    fn the_standards_example_is_read() {
        let hex = |text: &str| data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap();
        let one = key(&hex("2b7e151628aed2a6abf7158809cf4f3c"));
        // Its plaintext has no padding: only that the first block is right can be told by encrypting under its vector.
        let vector = hex("000102030405060708090a0b0c0d0e0f");
        let cipher = PaddedBlockEncryptingKey::cbc_pkcs7(one.unbound().unwrap()).unwrap();
        let mut blocks = hex("6bc1bee22e409f96e93d7e117393172a");
        let context = EncryptionContext::Iv128(FixedLength::from(<[u8; BLOCK]>::try_from(vector).unwrap()));
        cipher.less_safe_encrypt(&mut blocks, context).unwrap();
        assert_eq!(blocks[..BLOCK], hex("7649abac8119b246cee98e9b12e9197d"));
    }

    #[test]
    fn neither_keys_nor_texts_of_other_lengths_are_taken() {
        for length in [0, 15, 17, 23, 33] {
            assert_eq!(CbcKey::new(Secret::new(vec![1; length])).err(), Some(CbcError));
        }
        for length in [0, 15, 16, 17, 31] {
            assert_eq!(key(&[1; 16]).decrypt(&vec![0; length]), Err(CbcError));
        }
    }
}
