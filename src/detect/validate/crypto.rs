//! Addresses of cryptocurrencies: base58check, bech32 and bech32m (BIP 13, 173, 350), EIP-55, and the networks'
//! own version bytes.

use super::CheckResult;
use super::hash::{keccak256, sha256};

/// What this file checks, by name.
pub(super) const CHECKS: super::ChecksByName = &[
    ("btc", |value| btc(value).into()),
    ("base58check", |value| sure(base58check(value, BITCOIN, VERSIONS))),
    ("ripple", |value| sure(base58check(value, RIPPLE, &[0]))),
    ("bech32", |value| sure(bech32(value))),
    ("cashaddr", |value| sure(cashaddr(value))),
    ("ethereum", ethereum),
    ("solana", |value| solana(value).into()),
];

fn sure(yes: bool) -> CheckResult {
    if yes { CheckResult::Sure } else { CheckResult::No }
}

const BITCOIN: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const RIPPLE: &[u8; 58] = b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";

/// Version bytes of addresses of 20 bytes: Bitcoin 0 and 5, its test networks 111 and 196, Litecoin 48 and 50,
/// Dogecoin 30 and 22, Tron 65, Dash 76 and 16.
const VERSIONS: &[u8] = &[0, 5, 111, 196, 48, 50, 30, 22, 65, 76, 16];

/// The number that base-58 digits write, big-endian in 32 bytes, and how many bytes it has with the leading zeros
/// that the leading first digits stand for.
fn base58(value: &[u8], alphabet: &[u8; 58]) -> Option<([u8; 32], usize)> {
    let mut words = [0u32; 8];
    for byte in value {
        let digit = alphabet.iter().position(|known| known == byte)?;
        let mut carry = u64::try_from(digit).ok()?;
        for word in words.iter_mut().rev() {
            carry += u64::from(*word) * 58;
            *word = (carry & u64::from(u32::MAX)) as u32;
            carry >>= 32;
        }
        if carry != 0 {
            return None;
        }
    }
    let mut number = [0u8; 32];
    number
        .chunks_exact_mut(4)
        .zip(words)
        .for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    let zeros = value.iter().take_while(|byte| alphabet.first() == Some(byte)).count();
    let used = number.iter().position(|&byte| byte != 0).map_or(0, |at| number.len() - at);
    Some((number, used + zeros))
}

/// A version byte of `versions`, 20 bytes and the first four of their double SHA-256.
fn base58check(value: &[u8], alphabet: &[u8; 58], versions: &[u8]) -> bool {
    let checked = || {
        let (number, length) = base58(value, alphabet)?;
        let bytes = number.get(number.len() - 25..)?;
        let (payload, check) = bytes.split_at_checked(21)?;
        // The hash is the dear part.
        let known = length == 25 && versions.contains(payload.first()?);
        Some(known && sha256(&sha256(payload)?)?.starts_with(check))
    };
    (25..=35).contains(&value.len()) && checked() == Some(true)
}

/// The characters of bech32 and of CashAddr, by value.
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// Prefixes of bech32 addresses: segregated witness first.
const SEGWIT: &[&str] = &["bc", "tb", "bcrt", "ltc", "tltc"];
const OTHERS: &[&str] = &[
    "addr",
    "addr_test",
    "stake",
    "cosmos",
    "osmo",
    "celestia",
    "inj",
    "terra",
    "bnb",
    "zil",
    "erd",
    "band",
];

fn values(data: &[u8]) -> Option<Vec<u8>> {
    let value = |byte: &u8| BECH32.iter().position(|known| *known == byte.to_ascii_lowercase());
    data.iter().map(|byte| value(byte).and_then(|n| u8::try_from(n).ok())).collect()
}

/// The checksum of bech32 (BIP 173) over prefix and data: 1 for bech32, `BECH32M` for bech32m.
fn polymod(prefix: &[u8], data: &[u8]) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let lower = || prefix.iter().map(u8::to_ascii_lowercase);
    let all = lower().map(|byte| byte >> 5).chain([0]).chain(lower().map(|byte| byte & 31));
    all.chain(data.iter().copied()).fold(1, |sum, value| {
        let top = sum >> 25;
        let next = (sum & 0x01ff_ffff) << 5 ^ u32::from(value);
        let bits = GENERATOR.iter().enumerate().filter(|(n, _)| top >> n & 1 == 1);
        bits.fold(next, |sum, (_, generator)| sum ^ generator)
    })
}

const BECH32M: u32 = 0x2bc8_30a3;

/// An address in bech32 or bech32m with a known prefix. Segregated witness: version 0 has bech32 and 20 or 32 bytes,
/// later ones have bech32m and 2 to 40 bytes (BIP 141, BIP 350).
fn bech32(value: &[u8]) -> bool {
    let Some(at) = value.iter().rposition(|&byte| byte == b'1') else { return false };
    let (prefix, rest) = value.split_at(at);
    let mixed = value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    let Some(data) = rest.get(1..).and_then(values).filter(|data| data.len() > 6 && !mixed) else {
        return false;
    };
    let sum = polymod(prefix, &data);
    let among = |known: &[&str]| known.iter().any(|known| prefix.eq_ignore_ascii_case(known.as_bytes()));
    if !among(SEGWIT) {
        return among(OTHERS) && sum == 1;
    }
    let bytes = (data.len() - 7) * 5 / 8;
    match data.first() {
        Some(0) => sum == 1 && matches!(bytes, 20 | 32),
        Some(1..=16) => sum == BECH32M && (2..=40).contains(&bytes),
        _ => false,
    }
}

/// A Bitcoin Cash address (CashAddr specification), with or without its prefix.
fn cashaddr(value: &[u8]) -> bool {
    const GENERATOR: [u64; 5] =
        [0x98_f2bc_8e61, 0x79_b76d_99e2, 0xf3_3e5f_b3c4, 0xae_2eab_e2a8, 0x1e_4f43_e470];
    let data = value.strip_prefix(b"bitcoincash:").unwrap_or(value);
    let Some(data) = values(data).filter(|data| data.len() == 42) else { return false };
    let prefix = b"bitcoincash".iter().map(|byte| byte & 31).chain([0]);
    let sum = prefix.chain(data).fold(1u64, |sum, value| {
        let top = sum >> 35;
        let next = (sum & 0x07_ffff_ffff) << 5 ^ u64::from(value);
        let bits = GENERATOR.iter().enumerate().filter(|(n, _)| top >> n & 1 == 1);
        bits.fold(next, |sum, (_, generator)| sum ^ generator)
    });
    sum == 1
}

/// A Bitcoin address of the main network.
fn btc(value: &[u8]) -> bool {
    base58check(value, BITCOIN, &[0, 5])
        || value.get(..3).is_some_and(|head| head.eq_ignore_ascii_case(b"bc1")) && bech32(value)
}

/// `0x` and 40 hexadecimal digits: in one case it may be an address, in both it must keep to EIP-55.
fn ethereum(value: &[u8]) -> CheckResult {
    let Some(digits) = value.get(2..).filter(|digits| digits.len() == 40) else { return CheckResult::No };
    let (lower, upper) =
        (digits.iter().any(u8::is_ascii_lowercase), digits.iter().any(u8::is_ascii_uppercase));
    if !lower || !upper {
        return CheckResult::Yes;
    }
    let Some(hash) = keccak256(&digits.to_ascii_lowercase()) else { return CheckResult::No };
    let nibbles = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let right =
        |(digit, nibble): (&u8, u8)| digit.is_ascii_digit() || digit.is_ascii_uppercase() == (nibble >= 8);
    sure(digits.iter().zip(nibbles).all(right))
}

/// A key of 32 bytes in base 58 with letters in both cases and digits; nothing proves it.
fn solana(value: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    mixed && base58(value, BITCOIN).is_some_and(|(_, length)| length == 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitcoin_addresses() {
        // The genesis block's address, and BIP 173's and BIP 350's examples.
        let valid = [
            "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
            "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        ];
        for address in valid {
            assert!(btc(address.as_bytes()), "{address}");
        }
        for address in
            ["1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "1", ""]
        {
            assert!(!btc(address.as_bytes()), "{address}");
        }
    }

    #[test]
    fn other_addresses() {
        assert!(base58check(b"rrrrrrrrrrrrrrrrrrrrrhoLvTp", RIPPLE, &[0]), "account zero");
        assert!(cashaddr(b"bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"));
        assert!(solana(b"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"));
        // EIP-55's examples.
        for address in
            ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"]
        {
            assert_eq!(ethereum(address.as_bytes()), CheckResult::Sure, "{address}");
        }
        assert_eq!(ethereum(b"0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed"), CheckResult::No);
        assert_eq!(ethereum(b"0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"), CheckResult::Yes);
    }
}
