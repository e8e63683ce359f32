//! Checksums that issuers put into their tokens. A checksum that holds makes a token sure; one that doesn't may
//! still be a token of a format to come, or of a document.

use super::CheckResult;
use super::entropy::entropy;

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("base64_jwt", |value| doubly_encoded(value).into()),
    ("github", |value| of_base62(value, value.len().saturating_sub(36))),
    ("grafana_token", grafana),
    ("npm_token", |value| of_base62(value, 4)),
];

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters of the random part, and of the checksum behind it.
const RANDOM: usize = 30;
const CHECK: usize = 6;
/// What a token whose checksum doesn't hold must have to be one, in bits a character: not a placeholder's.
const VARIED: f32 = 3.0;

fn unless_placeholder(value: &[u8]) -> CheckResult {
    (entropy(value) >= VARIED).into()
}

/// A token that ends in the CRC-32 of the random part that begins at `start`, in base 62 and six characters.
fn of_base62(value: &[u8], start: usize) -> CheckResult {
    let parts = value.get(start..).and_then(|rest| rest.split_at_checked(RANDOM));
    let Some((random, check)) = parts.filter(|(_, check)| check.len() == CHECK) else {
        return unless_placeholder(value);
    };
    let place =
        |byte: &u8| BASE62.iter().position(|known| known == byte).and_then(|at| u64::try_from(at).ok());
    let written = check.iter().try_fold(0u64, |sum, byte| Some(sum * 62 + place(byte)?));
    if written == Some(u64::from(crc32(random))) { CheckResult::Sure } else { unless_placeholder(value) }
}

/// A Grafana token ends in the CRC-32 of all before its last `_`, in hexadecimal.
fn grafana(value: &[u8]) -> CheckResult {
    let at = value.iter().rposition(|&byte| byte == b'_');
    let Some((token, check)) = at.and_then(|at| value.split_at_checked(at)) else { return CheckResult::No };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let written = check.iter().skip(1).try_fold(0u32, |sum, byte| Some(sum << 4 | digit(byte)?));
    let sum = crc32(token);
    match written {
        Some(written) if written == sum || written == sum.swap_bytes() => CheckResult::Sure,
        _ => unless_placeholder(value),
    }
}

/// Whether a base64 text has `.eyJ` inside, at any of the three places that a byte can have in it.
fn doubly_encoded(value: &[u8]) -> bool {
    let forms: [&[u8]; 3] = [b"LmV5S", b"5leU", b"uZXlK"];
    forms.iter().any(|form| value.windows(form.len()).any(|window| window == *form))
}

/// CRC-32 as in IEEE 802.3, reflected. Bit by bit: it runs once for each token found.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(prefix: &[u8]) -> Vec<u8> {
        let random = b"0123456789abcdefABCDEF01234567";
        let mut rest = crc32(random);
        let mut check = [b'0'; CHECK];
        for place in check.iter_mut().rev() {
            *place = BASE62[(rest % 62) as usize];
            rest /= 62;
        }
        [prefix, random.as_slice(), &check].concat()
    }

    #[test]
    fn crc32_of_the_standard_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_checksum_makes_sure() {
        for prefix in [b"ghp_".as_slice(), b"npm_"] {
            let token = signed(prefix);
            assert_eq!(of_base62(&token, 4), CheckResult::Sure);
            let mut wrong = token.clone();
            wrong[10] = b'Z';
            assert_eq!(of_base62(&wrong, 4), CheckResult::Yes);
        }
        assert_eq!(of_base62(b"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 4), CheckResult::No);
    }

    #[test]
    fn grafanas_checksum_makes_sure() {
        let token = b"glsa_0123456789abcdefABCDEF0123456789";
        let whole = format!("{}_{:08x}", String::from_utf8_lossy(token), crc32(token));
        assert_eq!(grafana(whole.as_bytes()), CheckResult::Sure);
    }

    #[test]
    fn a_token_within_base64_is_seen() {
        // base64 of "xx.eyJ" at each alignment.
        for text in [b"eHguZXlK".as_slice(), b"eC5leUo=", b"LmV5Sg=="] {
            assert!(doubly_encoded(text));
        }
        assert!(!doubly_encoded(b"eyJhbGciOiJIUzI1NiJ9"));
    }
}
