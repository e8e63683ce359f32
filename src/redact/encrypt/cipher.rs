//! What all shapes are made of: a keyed permutation of a string of symbols, or of a tuple of numbers, kept within
//! a class (a first digit that isn't zero stays so) by walking its cycle. Where FF1 has no domain, the keyed PRF
//! draws the symbols; then two values may meet, and who issues surrogates takes the next counter.

use crate::crypto::fpe::{FpeError, FpeKey, Keystream, MIN_DOMAIN};

/// Which piece of a value: goes into the tweak, so that equal pieces in different places differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::redact) enum ValuePart {
    Whole,
    Local,
    Domain,
    Path,
    Extension,
    Digits,
    Lower,
    Upper,
    Beyond,
    Unassigned,
}

/// One number of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::redact) struct TupleNumber {
    /// How many values it may take, from 0 on.
    pub(in crate::redact) size: u32,
    pub(in crate::redact) value: u32,
}

/// A key under one tweak.
pub(in crate::redact) struct Cipher<'k> {
    pub(in crate::redact) key: &'k FpeKey,
    pub(in crate::redact) tweak: [u8; 16],
}

/// Draws of the PRF until one is in the class. A class holds a tenth of all values or more, so that a thousand
/// draws fail once in 10^45.
const DRAWS: u32 = 1000;

impl Cipher<'_> {
    /// Permutes strings of this length, within the class that `same` recognises.
    pub(in crate::redact) fn string(
        &self,
        part: ValuePart,
        radix: u32,
        symbols: &mut [u16],
        same: &dyn Fn(&[u16]) -> bool,
    ) -> Result<(), FpeError> {
        if symbols.is_empty() {
            return Ok(());
        }
        if FpeKey::in_domain(radix, symbols.len()) {
            let tweak = self.tweak_for(part);
            loop {
                self.key.encrypt(radix, &tweak, symbols)?;
                if same(symbols) {
                    return Ok(());
                }
            }
        }
        let seed: Vec<u8> = symbols.iter().flat_map(|symbol| symbol.to_be_bytes()).collect();
        let mut draws = self.draws(part, &seed);
        for _ in 0..DRAWS {
            draws.fill(radix, symbols);
            if same(symbols) {
                break;
            }
        }
        Ok(())
    }

    /// Permutes tuples of these sizes, within the class that `same` recognises. False, and nothing done, when
    /// there are 2^127 tuples or more.
    pub(in crate::redact) fn tuple(
        &self,
        part: ValuePart,
        fields: &mut [TupleNumber],
        same: &dyn Fn(&[TupleNumber]) -> bool,
    ) -> Result<bool, FpeError> {
        let product = |all: u128, field: &TupleNumber| all.checked_mul(u128::from(field.size));
        let bound = fields.iter().try_fold(1, product).filter(|&bound| bound < 1 << 127);
        let Some(bound) = bound else { return Ok(false) };
        let mut rank = fields
            .iter()
            .fold(0, |rank: u128, field| rank * u128::from(field.size) + u128::from(field.value));
        let tweak = self.tweak_for(part);
        let mut draws = (bound < MIN_DOMAIN).then(|| self.draws(part, &rank.to_be_bytes()));
        for draw in 0.. {
            rank = match &mut draws {
                None => self.key.encrypt_below(bound, &tweak, rank)?,
                Some(draws) => draws.keystream.block() % bound,
            };
            let mut rest = rank;
            for field in fields.iter_mut().rev() {
                field.value = (rest % u128::from(field.size)) as u32;
                rest /= u128::from(field.size);
            }
            if same(fields) || (draws.is_some() && draw == DRAWS) {
                break;
            }
        }
        Ok(true)
    }

    /// What the PRF gives for a piece of a value.
    pub(in crate::redact) fn draws(&self, part: ValuePart, seed: &[u8]) -> KeyedSymbols {
        KeyedSymbols { keystream: self.key.keystream(&[&self.tweak_for(part), seed]) }
    }

    fn tweak_for(&self, part: ValuePart) -> [u8; 17] {
        let mut tweak = [part as u8; 17];
        tweak[..16].copy_from_slice(&self.tweak);
        tweak
    }
}

/// Symbols that look like chance and are the same for the same piece of the same value.
pub(in crate::redact) struct KeyedSymbols {
    keystream: Keystream,
}

impl KeyedSymbols {
    /// Draws a number below `bound`, which is not 0.
    pub(in crate::redact) fn below(&mut self, bound: u32) -> u32 {
        (self.keystream.block() % u128::from(bound)) as u32
    }

    /// Draws as many symbols as there is room for.
    pub(in crate::redact) fn fill(&mut self, radix: u32, symbols: &mut [u16]) {
        for chunk in symbols.chunks_mut(4) {
            // Four words of 32 bits: a modulus of 64 or less is even to one part in 2^26.
            let mut block = self.keystream.block();
            for symbol in chunk {
                *symbol = (block as u32 % radix) as u16;
                block >>= 32;
            }
        }
    }
}
