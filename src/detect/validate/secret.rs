//! Secrets: how random a value looks, and checksums that issuers put into their tokens.

use super::Verdict;

/// What this file checks, by name.
pub(super) const CHECKS: super::Table = &[
    ("github", github),
    ("mixed", |value| mixed(value).into()),
];

/// Letters of both cases or letters and digits, so that it is not a word or words with hyphens; and for a value
/// of hexadecimal digits alone, no: those are hashes and ids.
pub(super) fn mixed(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !value.iter().all(u8::is_ascii_hexdigit)
}

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A GitHub token ends in the CRC-32 of its random part, in base 62 and six characters. One that holds is sure;
/// one that doesn't may still be a token of a format to come.
pub(super) fn github(value: &[u8]) -> Verdict {
    let Some((random, check)) = value.get(4..).and_then(|rest| rest.split_at_checked(30)) else {
        return Verdict::Yes;
    };
    let place = |byte: &u8| BASE62.iter().position(|known| known == byte);
    let written = check.iter().take(6).try_fold(0u64, |sum, byte| Some(sum * 62 + place(byte)? as u64));
    if check.len() == 6 && written == Some(u64::from(crc32(random))) { Verdict::Sure } else { Verdict::Yes }
}

/// CRC-32 as in IEEE 802.3, reflected. Bit by bit: it runs once for each token found.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0u32, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_of_the_standard_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_github_checksum_makes_sure() {
        let random = b"0123456789abcdefABCDEF01234567";
        let mut rest = crc32(random);
        let mut check = [b'0'; 6];
        for place in check.iter_mut().rev() {
            *place = BASE62[(rest % 62) as usize];
            rest /= 62;
        }
        let token = [b"ghp_".as_slice(), random, &check].concat();
        assert_eq!(github(&token), Verdict::Sure);
        let mut wrong = token.clone();
        wrong[10] = b'Z';
        assert_eq!(github(&wrong), Verdict::Yes);
    }

    #[test]
    fn words_and_hashes_are_not_mixed() {
        assert!(mixed(b"sk-abc0def") && mixed(b"wJalrXUtnFEMI/K7"));
        assert!(!mixed(b"sk-learn-something") && !mixed(b"356a192b7913b04c"));
    }
}
