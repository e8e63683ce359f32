//! SHA-256 (FIPS 180-4).

use aws_lc_rs::digest;

/// The digest of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    out
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
}
