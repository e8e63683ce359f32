//! Keys from a secret: HKDF (RFC 5869) and HMAC (RFC 2104), both with SHA-256.

use aws_lc_rs::{hkdf, hmac};

/// More bytes were asked for than HKDF gives from one secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HKDF with SHA-256 gives at most {MAX_HKDF_BYTES} bytes")]
pub struct KdfError;

/// RFC 5869 section 2.3: 255 blocks of the hash.
pub const MAX_HKDF_BYTES: usize = 255 * 32;

/// Derives `out` (at most [`MAX_HKDF_BYTES`]) from a secret with full entropy (never a password); `info` says
/// what for, so that one secret may serve several purposes.
pub fn hkdf_sha256(secret: &[u8], salt: &[u8], info: &[u8], out: &mut [u8]) -> Result<(), KdfError> {
    struct Len(usize);
    impl hkdf::KeyType for Len {
        fn len(&self) -> usize {
            self.0
        }
    }
    let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(secret);
    let info = [info];
    let okm = prk.expand(&info, Len(out.len())).map_err(|_| KdfError)?;
    okm.fill(out).map_err(|_| KdfError)
}

/// HMAC of the parts as if they were written one after the other. Where their borders matter, the caller
/// marks them.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    mac(&hmac::Key::new(hmac::HMAC_SHA256, key), parts.iter().copied())
}

/// A key of [`hmac_sha256`] that is used often.
#[derive(Clone)]
pub struct MacKey(hmac::Key);

impl MacKey {
    /// The key of these bytes.
    pub fn new(key: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// As [`hmac_sha256`].
    pub fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        mac(&self.0, parts.iter().copied())
    }
}

impl std::fmt::Debug for MacKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MacKey(..)")
    }
}

pub(super) fn mac<'p>(key: &hmac::Key, parts: impl Iterator<Item = &'p [u8]>) -> [u8; 32] {
    let mut running = hmac::Context::with_key(key);
    for part in parts {
        running.update(part);
    }
    let mut out = [0; 32];
    out.copy_from_slice(running.sign().as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;

    fn hex(text: &str) -> Vec<u8> {
        HEXLOWER.decode(text.as_bytes()).unwrap()
    }

    #[test]
    fn rfc_5869_appendix_a() {
        // (secret, salt, info, okm): A.1 and, with neither salt nor info, A.3.
        let cases = [
            (
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
                "000102030405060708090a0b0c",
                "f0f1f2f3f4f5f6f7f8f9",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            ),
            (
                "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
                "",
                "",
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
            ),
        ];
        for (secret, salt, info, okm) in cases {
            let mut out = [0; 42];
            hkdf_sha256(&hex(secret), &hex(salt), &hex(info), &mut out).unwrap();
            assert_eq!(HEXLOWER.encode(&out), okm);
        }
        assert_eq!(hkdf_sha256(b"k", b"", b"", &mut vec![0; MAX_HKDF_BYTES + 1]), Err(KdfError));
    }

    #[test]
    fn rfc_4231_case_2_in_any_parts() {
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        for parts in
            [&[&b"what do ya want for nothing?"[..]][..], &[b"what do ya ", b"", b"want for nothing?"]]
        {
            assert_eq!(HEXLOWER.encode(&hmac_sha256(b"Jefe", parts)), expected);
            assert_eq!(HEXLOWER.encode(&MacKey::new(b"Jefe").digest(parts)), expected);
        }
    }
}
