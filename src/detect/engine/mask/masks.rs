//! The bits of a window of text, for each class of bytes.

use super::class::Class;
use super::non_ascii;
use super::simd::{self, WIDTH};

/// Bytes that are looked at together.
pub(crate) const BLOCK: usize = 64;

/// The bits of a window of text.
#[derive(Default)]
pub(crate) struct Masks {
    /// The window's offset of the first block that is kept, a multiple of 64.
    base: usize,
    /// Bytes of the window that the bits tell of.
    upto: usize,
    of: [Vec<u32>; Class::COUNT],
}

impl Masks {
    /// Begins anew; what was allocated stays.
    pub(crate) fn reset(&mut self) {
        (self.base, self.upto) = (0, 0);
        self.of.iter_mut().for_each(Vec::clear);
    }

    /// Works out the bits of `text`, the window, as far as they are not known.
    pub(crate) fn cover(&mut self, text: &[u8]) {
        let whole = (self.upto / BLOCK * BLOCK).max(self.base);
        self.of.iter_mut().for_each(|bits| bits.truncate((whole - self.base) / WIDTH));
        simd::fill(text.get(whole..).unwrap_or_default(), &mut self.of);
        self.part_words(text, whole);
        self.upto = text.len();
    }

    /// Takes what is no part of a word out of the letters, from the block at `from` on, and from a character that ends there.
    fn part_words(&mut self, text: &[u8], from: usize) {
        let [_, words, letters, ..] = &mut self.of;
        let kept = text.get(self.base..).unwrap_or_default();
        non_ascii::part(kept, from - self.base, letters, words);
    }

    /// The bits before `offset` will not be asked for.
    pub(crate) fn forget(&mut self, offset: usize) {
        let blocks = offset.saturating_sub(self.base) / BLOCK;
        if blocks > 0 {
            self.of
                .iter_mut()
                .for_each(|bits| drop(bits.drain(..(blocks * (BLOCK / WIDTH)).min(bits.len()))));
            self.base += blocks * BLOCK;
        }
    }

    /// The window has lost its first `by` bytes, a multiple of 64.
    pub(crate) fn shift(&mut self, by: usize) {
        self.forget(by);
        self.base = self.base.saturating_sub(by);
        self.upto = self.upto.saturating_sub(by);
    }

    /// The bits of the block that begins at `at`, a multiple of 64: bit n is byte n. None are set outside the text.
    #[inline]
    pub(crate) fn at(&self, class: Class, at: usize) -> u64 {
        let first = at.wrapping_sub(self.base) / WIDTH;
        let Some(bits) = self.of.get(class as usize) else { return 0 };
        let half = |n: usize| u64::from(bits.get(n).copied().unwrap_or(0));
        half(first) | half(first + 1) << WIDTH
    }

    /// How many bytes of a class there are from `start` on, as far as its block and the next one tell: at least 65 are
    /// seen.
    #[inline]
    pub(crate) fn run(&self, class: Class, start: usize) -> usize {
        let block = start / BLOCK * BLOCK;
        let skipped = start - block;
        let here = (self.at(class, block) >> skipped).trailing_ones() as usize;
        if here + skipped < BLOCK {
            return here;
        }
        here + self.at(class, block + BLOCK).trailing_ones() as usize
    }

    /// Bytes that the bits tell of.
    pub(crate) fn len(&self) -> usize {
        self.upto
    }

    /// The last block before `from` that can be asked for, or the one with `from`.
    pub(super) fn back(&self, from: usize) -> usize {
        (from / BLOCK * BLOCK).saturating_sub(BLOCK).max(self.base)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Text of few different bytes, so that runs of all lengths occur.
    pub(in super::super) fn text(mut seed: u64, len: usize) -> Vec<u8> {
        let bytes = b"a0Z. -_\\/:\xc3\xa9abcdefgh0123456789";
        (0..len)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                bytes[(seed >> 33) as usize % bytes.len()]
            })
            .collect()
    }

    #[test]
    fn every_byte_is_in_its_classes() {
        for byte in 0..=255u8 {
            let mut text = [b' '; BLOCK];
            text[37] = byte;
            let mut masks = Masks::default();
            masks.cover(&text);
            for class in Class::ALL {
                let expected = if class.has(byte) { 1 << 37 } else { 0 };
                assert_eq!(masks.at(class, 0), expected, "{class:?} {byte:#x}");
            }
        }
    }

    #[test]
    fn signs_are_no_letters_wherever_blocks_end() {
        for sign in ["“", "«", "😀", "…", "“😀"] {
            for lead in 0..140 {
                let text = format!("{}é{sign}é{}", "a".repeat(lead), ".".repeat(140));
                let (mut whole, mut grown) = (Masks::default(), Masks::default());
                whole.cover(text.as_bytes());
                for upto in (1..=text.len()).filter(|upto| text.is_char_boundary(*upto)) {
                    grown.cover(text.get(..upto).unwrap().as_bytes());
                }
                for block in (0..text.len()).step_by(BLOCK) {
                    assert_eq!(
                        grown.at(Class::Letter, block),
                        whole.at(Class::Letter, block),
                        "{sign} {lead}"
                    );
                }
                let bit = |at: usize| whole.at(Class::Letter, at / BLOCK * BLOCK) >> (at % BLOCK) & 1;
                let letters: Vec<u64> = (lead..lead + 4 + sign.len()).map(bit).collect();
                let expected = [vec![1, 1], vec![0; sign.len()], vec![1, 1]].concat();
                assert_eq!(letters, expected, "{sign} {lead}");
            }
        }
    }

    #[test]
    fn a_window_that_grows_and_moves_on_has_the_bits_of_the_whole() {
        let text = text(7, 1000);
        let mut masks = Masks::default();
        let (mut base, mut upto) = (0, 0);
        for step in [1, 63, 64, 65, 200, 7, 300, 100] {
            upto += step;
            masks.cover(&text[base..upto]);
            for class in Class::ALL {
                for at in (0..upto - base).step_by(BLOCK) {
                    let expected = text[base + at..upto].iter().take(BLOCK).enumerate();
                    let expected = expected.fold(0, |all, (n, &byte)| all | u64::from(class.has(byte)) << n);
                    assert_eq!(masks.at(class, at), expected, "{class:?} at {at} of {base}..{upto}");
                }
            }
            let by = if step > 100 { 128 } else { 0 };
            masks.shift(by);
            base += by;
        }
    }
}
