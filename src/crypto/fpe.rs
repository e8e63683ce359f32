//! Format-preserving encryption: FF1 (SP 800-38G) over strings of symbols and over ranges of integers, with AES of
//! 128, 192 or 256 bits; and a keyed PRF for what lies outside FF1's domain.
//!
//! FF3-1 is not here: NIST withdrew it in 2025. The first revision of SP 800-38G asks for at least a million
//! possible strings; below that a caller who sees surrogates could tabulate the whole map, so it is refused.

use std::sync::OnceLock;

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use aws_lc_rs::hmac;
use fpe::ff1::{FF1, FlexibleNumeralString};
use zeroize::Zeroizing;

use crate::base::secret::{Secret, wipe_stack};
use crate::crypto::ff1::{Direction, Halves, RadixTables, number, numerals};
use crate::crypto::kdf;

/// Why a value was not encrypted. Never holds the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FpeError {
    /// The key is not 16, 24 or 32 bytes.
    #[error("an FF1 key has 16, 24 or 32 bytes")]
    KeyLength,
    /// The radix is not in 2..=65536.
    #[error("an FF1 radix lies between 2 and 65536")]
    Radix,
    /// Fewer than [`MIN_DOMAIN`] possible values, or longer than [`MAX_SYMBOLS`].
    #[error("outside FF1's domain: fewer than {MIN_DOMAIN} values or more than {MAX_SYMBOLS} symbols")]
    Domain,
    /// A symbol that is not below the radix, or an integer that is not below its bound.
    #[error("a symbol outside the radix")]
    Symbol,
    /// The tweak is longer than [`MAX_TWEAK`].
    #[error("a tweak has at most {MAX_TWEAK} bytes")]
    Tweak,
}

/// Fewest possible values (SP 800-38G revision 1, section 5.1).
pub const MIN_DOMAIN: u128 = 1_000_000;
/// Longest string: the cost grows with the square of the length.
pub const MAX_SYMBOLS: usize = 256;
/// Longest tweak in bytes.
pub const MAX_TWEAK: usize = 1024;

/// Radices whose cipher objects of the `fpe` crate are kept; others are made for each call.
const KEPT: [u32; 6] = [10, 16, 26, 36, 62, 64];

/// An FF1 key: schedules made once and shared, and a PRF key derived from the same bytes.
pub struct FpeKey {
    cipher: Box<dyn Ff1 + Send + Sync>,
    prf: hmac::Key,
}

impl FpeKey {
    /// A key of 16, 24 or 32 bytes.
    pub fn new(bytes: Secret<Vec<u8>>) -> Result<Self, FpeError> {
        let made = Self::of(bytes.expose());
        wipe_stack();
        made
    }

    #[inline(never)]
    fn of(raw: &[u8]) -> Result<Self, FpeError> {
        let cipher: Box<dyn Ff1 + Send + Sync> = match raw.len() {
            16 => Box::new(Schedules::<Aes128>::new(raw)?),
            24 => Box::new(Schedules::<Aes192>::new(raw)?),
            32 => Box::new(Schedules::<Aes256>::new(raw)?),
            _ => return Err(FpeError::KeyLength),
        };
        let mut derived = Zeroizing::new([0; 32]);
        kdf::hkdf_sha256(raw, b"", b"portcullis/fpe/prf", derived.as_mut_slice())
            .map_err(|_| FpeError::KeyLength)?;
        Ok(Self { cipher, prf: hmac::Key::new(hmac::HMAC_SHA256, derived.as_slice()) })
    }

    /// Whether strings of `len` symbols of this radix can be encrypted.
    pub fn in_domain(radix: u32, len: usize) -> bool {
        let Ok(exponent) = u32::try_from(len) else { return false };
        let enough = u128::from(radix).checked_pow(exponent).is_none_or(|values| values >= MIN_DOMAIN);
        (2..=65536).contains(&radix) && (2..=MAX_SYMBOLS).contains(&len) && enough
    }

    /// Encrypts `symbols`, each below `radix`, in place.
    pub fn encrypt(&self, radix: u32, tweak: &[u8], symbols: &mut [u16]) -> Result<(), FpeError> {
        self.string(radix, tweak, symbols, Direction::Encrypt)
    }

    /// Undoes [`FpeKey::encrypt`].
    pub fn decrypt(&self, radix: u32, tweak: &[u8], symbols: &mut [u16]) -> Result<(), FpeError> {
        self.string(radix, tweak, symbols, Direction::Decrypt)
    }

    /// A permutation of `0..bound`, `bound` being at least [`MIN_DOMAIN`]: FF1 over the bits of the number,
    /// walked until it falls below the bound again (fewer than two steps on average).
    pub fn encrypt_below(&self, bound: u128, tweak: &[u8], value: u128) -> Result<u128, FpeError> {
        self.below(bound, tweak, value, Direction::Encrypt)
    }

    /// Undoes [`FpeKey::encrypt_below`].
    pub fn decrypt_below(&self, bound: u128, tweak: &[u8], value: u128) -> Result<u128, FpeError> {
        self.below(bound, tweak, value, Direction::Decrypt)
    }

    /// A keyed PRF (HMAC-SHA-256 under a derived key) of the parts, whose borders count.
    pub fn prf(&self, parts: &[&[u8]]) -> [u8; 32] {
        let lengths: Vec<[u8; 8]> = parts.iter().map(|part| (part.len() as u64).to_be_bytes()).collect();
        kdf::mac(&self.prf, lengths.iter().zip(parts).flat_map(|(length, part)| [&length[..], part]))
    }

    /// A keystream that the parts decide, their borders too: the PRF is asked once, so that what is drawn costs the
    /// same a block however long the parts are.
    pub fn keystream(&self, parts: &[&[u8]]) -> Keystream {
        let seed = Zeroizing::new(self.prf(parts));
        Keystream { cipher: Aes256::new(&(*seed).into()), counter: 0 }
    }

    fn string(
        &self,
        radix: u32,
        tweak: &[u8],
        symbols: &mut [u16],
        direction: Direction,
    ) -> Result<(), FpeError> {
        check(radix, tweak)?;
        if !Self::in_domain(radix, symbols.len()) {
            return Err(FpeError::Domain);
        }
        if symbols.iter().any(|&symbol| u32::from(symbol) >= radix) {
            return Err(FpeError::Symbol);
        }
        let Some(shape) = RadixTables::new(radix, symbols.len()) else {
            let done = self.cipher.long(radix, tweak, symbols, direction);
            wipe_stack();
            return done;
        };
        let half = symbols.len() / 2;
        let (front, back) = symbols.split_at_mut(half);
        let halves = Halves { a: number(front, radix), b: number(back, radix) };
        let Halves { a, b } = self.cipher.short(&shape, tweak, halves, direction);
        numerals(a, radix, front);
        numerals(b, radix, back);
        Ok(())
    }

    fn below(
        &self,
        bound: u128,
        tweak: &[u8],
        mut value: u128,
        direction: Direction,
    ) -> Result<u128, FpeError> {
        check(2, tweak)?;
        if bound < MIN_DOMAIN {
            return Err(FpeError::Domain);
        }
        if value >= bound {
            return Err(FpeError::Symbol);
        }
        let bits = 128 - (bound - 1).leading_zeros();
        let shape = RadixTables::new(2, bits as usize).ok_or(FpeError::Domain)?;
        let low = bits - shape.u;
        loop {
            let halves = Halves { a: value >> low, b: value & (shape.mod_v - 1) };
            let Halves { a, b } = self.cipher.short(&shape, tweak, halves, direction);
            value = a << low | b;
            if value < bound {
                return Ok(value);
            }
        }
    }
}

impl std::fmt::Debug for FpeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FpeKey(..)")
    }
}

/// AES-256 in counter mode (SP 800-38A section 6.5) from zero, under a key that is used for nothing else. Made by
/// [`FpeKey::keystream`].
pub struct Keystream {
    cipher: Aes256,
    counter: u128,
}

impl Keystream {
    /// The next 16 bytes, big-endian.
    pub fn block(&mut self) -> u128 {
        let mut block = self.counter.to_be_bytes().into();
        self.cipher.encrypt_block(&mut block);
        self.counter = self.counter.wrapping_add(1);
        u128::from_be_bytes(block.into())
    }
}

impl std::fmt::Debug for Keystream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keystream(..)")
    }
}

fn check(radix: u32, tweak: &[u8]) -> Result<(), FpeError> {
    match (radix, tweak.len()) {
        (0 | 1 | 65537.., _) => Err(FpeError::Radix),
        (_, len) if len > MAX_TWEAK => Err(FpeError::Tweak),
        _ => Ok(()),
    }
}

/// FF1 with one block cipher, whatever its key's length.
trait Ff1 {
    fn short(&self, shape: &RadixTables, tweak: &[u8], halves: Halves, direction: Direction) -> Halves;
    fn long(
        &self,
        radix: u32,
        tweak: &[u8],
        symbols: &mut [u16],
        direction: Direction,
    ) -> Result<(), FpeError>;
}

struct Schedules<C> {
    block: C,
    /// What the `fpe` crate needs for each radix of [`KEPT`], made when first used.
    kept: [OnceLock<FF1<C>>; KEPT.len()],
    bytes: Secret<Vec<u8>>,
}

impl<C: KeyInit> Schedules<C> {
    fn new(bytes: &[u8]) -> Result<Self, FpeError> {
        let block = C::new_from_slice(bytes).map_err(|_| FpeError::KeyLength)?;
        Ok(Self { block, kept: std::array::from_fn(|_| OnceLock::new()), bytes: Secret::new(bytes.to_vec()) })
    }

    fn ff1(&self, radix: u32) -> Result<FF1<C>, FpeError>
    where
        C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + Clone,
    {
        FF1::new(self.bytes.expose(), radix).map_err(|_| FpeError::Radix)
    }
}

impl<C> Ff1 for Schedules<C>
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit + Clone,
{
    fn short(&self, shape: &RadixTables, tweak: &[u8], halves: Halves, direction: Direction) -> Halves {
        shape.run(&self.block, tweak, halves, direction)
    }

    fn long(
        &self,
        radix: u32,
        tweak: &[u8],
        symbols: &mut [u16],
        direction: Direction,
    ) -> Result<(), FpeError> {
        let once;
        let slot = KEPT.iter().position(|&kept| kept == radix).and_then(|at| self.kept.get(at));
        let ff1 = match slot {
            Some(slot) => match slot.get() {
                Some(ff1) => ff1,
                None => {
                    let made = self.ff1(radix)?;
                    slot.get_or_init(|| made)
                }
            },
            None => {
                once = self.ff1(radix)?;
                &once
            }
        };
        let input = FlexibleNumeralString::from(symbols.to_vec());
        let output = match direction {
            Direction::Encrypt => ff1.encrypt(tweak, &input),
            Direction::Decrypt => ff1.decrypt(tweak, &input),
        };
        let output = Vec::from(output.map_err(|_| FpeError::Domain)?);
        symbols.copy_from_slice(&output);
        Ok(())
    }
}

#[cfg(test)]
#[path = "fpe_tests.rs"]
mod tests;
