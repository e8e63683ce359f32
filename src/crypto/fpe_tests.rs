//! FF1 against the published samples and against the `fpe` crate.

use data_encoding::HEXLOWER;
use proptest::prelude::*;

use super::*;

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";

/// SP 800-38G's "FF1samples.pdf", samples 1 to 9: (key bytes of `KEY`, tweak, plaintext, ciphertext).
const SAMPLES: [(usize, &str, &str, &str); 9] = [
    (16, "", "0123456789", "2433477484"),
    (16, "39383736353433323130", "0123456789", "6124200773"),
    (16, "3737373770717273373737", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (24, "", "0123456789", "2830668132"),
    (24, "39383736353433323130", "0123456789", "2496655549"),
    (24, "3737373770717273373737", "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (32, "", "0123456789", "6657667009"),
    (32, "39383736353433323130", "0123456789", "1001623463"),
    (32, "3737373770717273373737", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
];

fn hex(text: &str) -> Vec<u8> {
    HEXLOWER.decode(text.as_bytes()).unwrap()
}

fn key(len: usize) -> FpeKey {
    FpeKey::new(Secret::new(hex(KEY)[..len].to_vec())).unwrap()
}

fn symbols(text: &str) -> Vec<u16> {
    text.chars().map(|c| c.to_digit(36).unwrap() as u16).collect()
}

#[test]
fn nist_samples() {
    for (len, tweak, plain, cipher) in SAMPLES {
        let radix = if plain.len() == 10 { 10 } else { 36 };
        let (key, tweak) = (key(len), hex(tweak));
        let mut text = symbols(plain);
        key.encrypt(radix, &tweak, &mut text).unwrap();
        assert_eq!(text, symbols(cipher));
        key.decrypt(radix, &tweak, &mut text).unwrap();
        assert_eq!(text, symbols(plain));
    }
}

#[test]
fn refuses_what_is_outside_the_standard() {
    let key = key(16);
    let cases: [(u32, usize, u16, FpeError); 6] = [
        (1, 10, 0, FpeError::Radix),
        (65537, 10, 0, FpeError::Radix),
        (10, 5, 0, FpeError::Domain),
        (62, 3, 0, FpeError::Domain),
        (10, 257, 0, FpeError::Domain),
        (10, 6, 10, FpeError::Symbol),
    ];
    for (radix, len, symbol, error) in cases {
        assert_eq!(key.encrypt(radix, b"", &mut vec![symbol; len]), Err(error));
    }
    assert_eq!(key.encrypt(10, &[0; MAX_TWEAK + 1], &mut [0; 6]), Err(FpeError::Tweak));
    assert_eq!(key.encrypt_below(999_999, b"", 0), Err(FpeError::Domain));
    assert_eq!(key.encrypt_below(1_000_000, b"", 1_000_000), Err(FpeError::Symbol));
    assert_eq!(FpeKey::new(Secret::new(vec![0; 20])).err(), Some(FpeError::KeyLength));
}

#[test]
fn the_prf_sees_where_parts_end() {
    let key = key(32);
    assert_ne!(key.prf(&[b"ab", b"c"]), key.prf(&[b"a", b"bc"]));
    assert_eq!(key.prf(&[b"ab", b"c"]), key.prf(&[b"ab", b"c"]));
    assert_ne!(key.prf(&[b"x"]), super::super::kdf::hmac_sha256(&hex(KEY), &[b"x"]));
}

#[test]
fn debug_is_silent() {
    assert_eq!(format!("{:?}", key(16)), "FpeKey(..)");
}

/// Radix, symbols and tweak; lengths on both sides of what the short form takes.
fn input() -> impl Strategy<Value = (u32, Vec<u16>, Vec<u8>)> {
    let radix = prop_oneof![2u32..70, Just(256), Just(65536)];
    radix.prop_flat_map(|radix| {
        let least = (2..).find(|&len| FpeKey::in_domain(radix, len)).unwrap();
        let most = u16::try_from(radix - 1).unwrap();
        let strings = prop::collection::vec(0..=most, least..=(least + 60));
        (Just(radix), strings, prop::collection::vec(any::<u8>(), 0..40))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn agrees_with_the_crate((radix, plain, tweak) in input()) {
        let key = key(32);
        let mut ours = plain.clone();
        key.encrypt(radix, &tweak, &mut ours).unwrap();
        let mut theirs = plain.clone();
        key.cipher.long(radix, &tweak, &mut theirs, Direction::Encrypt).unwrap();
        prop_assert_eq!(&ours, &theirs);
        key.decrypt(radix, &tweak, &mut ours).unwrap();
        prop_assert_eq!(ours, plain);
    }

    #[test]
    fn integers_stay_below_their_bound(
        (bound, value) in (MIN_DOMAIN..=u128::MAX >> 1).prop_flat_map(|bound| (Just(bound), 0..bound)),
        shift in 0u32..100,
    ) {
        let bound = (bound >> shift).max(MIN_DOMAIN);
        let value = value % bound;
        let key = key(16);
        let surrogate = key.encrypt_below(bound, b"t", value).unwrap();
        prop_assert!(surrogate < bound);
        prop_assert_eq!(key.decrypt_below(bound, b"t", surrogate), Ok(value));
    }
}
