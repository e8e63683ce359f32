//! SHA-256 (FIPS 180-4), digests under a salt (RFC 2104), and digests of what comes piece by piece.

use aws_lc_rs::hmac::{HMAC_SHA256, HMAC_SHA512, Key};
use aws_lc_rs::{digest, hmac};
use crc32c::crc32c_append;

/// The digest of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    out
}

/// HMAC-SHA-256 of `bytes` under `salt`.
pub fn hmac_sha256(salt: &[u8], bytes: &[u8]) -> Vec<u8> {
    hmac::sign(&Key::new(HMAC_SHA256, salt), bytes).as_ref().to_vec()
}

/// HMAC-SHA-512 of `bytes` under `salt`.
pub fn hmac_sha512(salt: &[u8], bytes: &[u8]) -> Vec<u8> {
    hmac::sign(&Key::new(HMAC_SHA512, salt), bytes).as_ref().to_vec()
}

/// HMAC-MD5 of `bytes` under `salt`: for callers whose other systems hold such digests. What makes MD5 weak is finding
/// collisions, which does not help against a salted digest of a value (RFC 6151 section 2.3).
pub fn hmac_md5(salt: &[u8], bytes: &[u8]) -> Vec<u8> {
    use ::hmac::{Hmac, KeyInit, Mac};
    let Ok(mut mac) = Hmac::<md5::Md5>::new_from_slice(salt) else { return Vec::new() };
    mac.update(bytes);
    mac.finalize().into_bytes().to_vec()
}

/// The digests that a caller may expect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHash {
    /// RFC 1321: tells damage, not forgery.
    Md5,
    /// FIPS 180-4: tells damage, not forgery.
    Sha1,
    /// FIPS 180-4.
    Sha256,
    /// FIPS 180-4.
    Sha512,
}

/// A digest of bytes that come piece by piece.
pub struct Digester(HashState);

enum HashState {
    Ours(digest::Context),
    Md5(md5::Md5),
}

impl Digester {
    /// Nothing digested yet.
    pub fn new(hash: FileHash) -> Self {
        let ours = |algorithm| HashState::Ours(digest::Context::new(algorithm));
        Self(match hash {
            FileHash::Md5 => HashState::Md5(<md5::Md5 as md5::Digest>::new()),
            FileHash::Sha1 => ours(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            FileHash::Sha256 => ours(&digest::SHA256),
            FileHash::Sha512 => ours(&digest::SHA512),
        })
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            HashState::Ours(context) => context.update(bytes),
            HashState::Md5(md5) => md5::Digest::update(md5, bytes),
        }
    }

    /// The digest of all bytes.
    pub fn finish(self) -> Vec<u8> {
        match self.0 {
            HashState::Ours(context) => context.finish().as_ref().to_vec(),
            HashState::Md5(md5) => md5::Digest::finalize(md5).to_vec(),
        }
    }
}

/// Moves a CRC-32C (Castagnoli, RFC 3720 appendix B.4) on by `bytes`; it begins at 0. Tells damage on the way.
pub fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    crc32c_append(before, bytes)
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    #[test]
    fn fips_180_example() {
        let digest = super::sha256(b"abc");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(HEXLOWER.encode(&digest), expected);
    }

    #[test]
    fn rfc_2202_and_rfc_4231_examples() {
        let (key, text) = (b"Jefe", b"what do ya want for nothing?");
        assert_eq!(HEXLOWER.encode(&super::hmac_md5(key, text)), "750c783e6ab0b503eaa86e310a5db738");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(HEXLOWER.encode(&super::hmac_sha256(key, text)), expected);
    }

    #[test]
    fn pieces_digest_as_the_whole() {
        use super::{Digester, FileHash};
        // RFC 1321 section A.5, FIPS 180 examples, RFC 3720 section B.4.
        let rows = [
            (FileHash::Md5, "900150983cd24fb0d6963f7d28e17f72"),
            (FileHash::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (FileHash::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (hash, expected) in rows {
            let mut digester = Digester::new(hash);
            for piece in [&b"a"[..], b"", b"bc"] {
                digester.update(piece);
            }
            assert_eq!(HEXLOWER.encode(&digester.finish()), expected);
        }
        assert_eq!(Digester::new(FileHash::Sha512).finish().len(), 64);
        assert_eq!(super::crc32c(super::crc32c(0, &[0; 15]), &[0; 17]), 0x8a91_36aa);
    }
}
