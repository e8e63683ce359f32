//! SHA-256 (FIPS 180-4), and digests under a salt (RFC 2104).

use aws_lc_rs::hmac::{HMAC_SHA256, Key};
use aws_lc_rs::{digest, hmac};

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

/// HMAC-MD5 of `bytes` under `salt`: for callers whose other systems hold such digests. What makes MD5 weak is finding
/// collisions, which does not help against a salted digest of a value (RFC 6151 section 2.3).
pub fn hmac_md5(salt: &[u8], bytes: &[u8]) -> Vec<u8> {
    use ::hmac::{Hmac, KeyInit, Mac};
    let Ok(mut mac) = Hmac::<md5::Md5>::new_from_slice(salt) else { return Vec::new() };
    mac.update(bytes);
    mac.finalize().into_bytes().to_vec()
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
}
