//! Which of 64 bytes belong to a class, as a bit each: what lets the scan step over text in which nothing can be.
//! Sixteen bytes at a time with the vector instructions that every processor of the architecture has, so that
//! there is nothing to detect at run time; eight at a time elsewhere.

use std::marker::PhantomData;

/// Bytes that are looked at together.
pub(crate) const BLOCK: usize = 64;

/// A class of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// `0` to `9`.
    Digit,
    /// ASCII letters and digits.
    Word,
    /// ASCII letters and every byte of a character that is not ASCII.
    Letter,
    /// `A` to `Z`.
    Upper,
    /// The alphabets of base64 and base64url (RFC 4648 sections 4 and 5): letters, digits and `+ - / _`.
    Base64,
    /// What tokens and addresses are made of: letters, digits and ``# $ % & + - . / : = ? @ _ ~``.
    Link,
    /// `\`
    Backslash,
}

impl Class {
    /// Whether `byte` belongs to it.
    pub(crate) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric(),
            Self::Letter => byte.is_ascii_alphabetic() || byte >= 0x80,
            Self::Upper => byte.is_ascii_uppercase(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'/' | b'_'),
            Self::Link => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'#'..=b'&' | b'+' | b'-'..=b'/' | b':' | b'=' | b'?' | b'@' | b'_' | b'~')
            }
            Self::Backslash => byte == b'\\',
        }
    }
}

/// The 64 bytes of `text` from `at`. Where the text ends sooner they are put into `padded`, filled up with zeros,
/// which belong to no class.
#[inline]
pub(crate) fn block<'b>(text: &'b [u8], at: usize, padded: &'b mut [u8; BLOCK]) -> &'b [u8; BLOCK] {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(whole) = rest.first_chunk() {
        return whole;
    }
    *padded = [0; BLOCK];
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    padded
}

/// The bits of `class` in the 64 bytes of `text` from `at`.
#[inline]
fn mask_at(text: &[u8], at: usize, class: Class) -> u64 {
    mask(block(text, at, &mut [0; BLOCK]), class)
}

/// Bit n is set where byte n of `block` belongs to `class`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the class is known where it is called, and half the time with it")]
pub(crate) fn mask(block: &[u8; BLOCK], class: Class) -> u64 {
    let (parts, _) = block.as_chunks::<16>();
    let mut bits = 0;
    for (n, part) in parts.iter().enumerate() {
        bits |= u64::from(lanes::mask(part, class)) << (16 * n);
    }
    bits
}

#[cfg(target_arch = "x86_64")]
mod lanes {
    //! SSE2, which x86-64 always has.

    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };

    use super::Class;

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load(part: &[u8; 16]) -> __m128i {
        let whole = u128::from_le_bytes(*part);
        _mm_set_epi64x((whole >> 64) as i64, whole as i64)
    }

    /// Lanes from `first` on, `count` of them: moved down to the lowest signed numbers, where one comparison tells.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn range(bytes: __m128i, first: u8, count: u8) -> __m128i {
        let moved = _mm_add_epi8(bytes, _mm_set1_epi8(0x80u8.wrapping_sub(first) as i8));
        _mm_cmplt_epi8(moved, _mm_set1_epi8((0x80 + count) as i8))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn letters(bytes: __m128i) -> __m128i {
        range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn is(bytes: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn words(bytes: __m128i) -> __m128i {
        _mm_or_si128(letters(bytes), range(bytes, b'0', 10))
    }

    #[inline]
    #[expect(unsafe_code, reason = "the one call from code that is compiled for any processor; see SAFETY")]
    pub(super) fn mask(part: &[u8; 16], class: Class) -> u16 {
        // SAFETY: the instructions that `of` is compiled to need SSE2 and nothing else, and SSE2 is a part of the
        // x86-64 architecture: this module exists for no other. No pointer is involved.
        unsafe { of(part, class) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn of(part: &[u8; 16], class: Class) -> u16 {
        let bytes = load(part);
        let lanes = match class {
            Class::Digit => range(bytes, b'0', 10),
            Class::Word => words(bytes),
            // The top bit of a lane is what is taken out: it is set in what is not ASCII.
            Class::Letter => _mm_or_si128(letters(bytes), bytes),
            Class::Upper => range(bytes, b'A', 26),
            Class::Link => {
                // `-` `.` `/`, the digits and `:` follow each other.
                let numbers = _mm_or_si128(letters(bytes), range(bytes, b'-', 14));
                let mut all = _mm_or_si128(numbers, range(bytes, b'?', 2));
                all = _mm_or_si128(all, range(bytes, b'#', 4));
                for byte in *b"+=_~" {
                    all = _mm_or_si128(all, is(bytes, byte));
                }
                all
            }
            Class::Base64 => {
                let mut all = words(bytes);
                for byte in *b"+-/_" {
                    all = _mm_or_si128(all, is(bytes, byte));
                }
                all
            }
            Class::Backslash => is(bytes, b'\\'),
        };
        _mm_movemask_epi8(lanes) as u16
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lanes {
    //! Byte by byte in a form that compilers turn into vector instructions.

    use super::Class;

    #[inline]
    pub(super) fn mask(part: &[u8; 16], class: Class) -> u16 {
        part.iter().enumerate().fold(0, |bits, (n, &byte)| bits | u16::from(class.has(byte)) << n)
    }
}

/// A class known when a scan is compiled.
pub(crate) trait Set {
    /// The class.
    const CLASS: Class;
}

/// [`Class::Base64`].
pub(crate) struct Base64;
/// [`Class::Link`].
pub(crate) struct Link;

impl Set for Base64 {
    const CLASS: Class = Class::Base64;
}

impl Set for Link {
    const CLASS: Class = Class::Link;
}

/// The runs of a class that are at least `least` bytes long (2 to 32), in order.
pub(crate) struct Runs<'t, S> {
    text: &'t [u8],
    set: PhantomData<S>,
    least: u32,
    /// Where the block of `bits` begins.
    base: usize,
    /// The block's bytes of the class that have not been looked at.
    bits: u64,
    /// Where a run began that reached the end of an earlier block.
    open: Option<usize>,
}

impl<'t, S: Set> Runs<'t, S> {
    /// The runs of `text` that end after `from`. One that begins before it is seen from `from - 64` on.
    pub(crate) fn new(text: &'t [u8], from: usize, least: u32) -> Self {
        let base = from.saturating_sub(BLOCK);
        let bits = mask_at(text, base, S::CLASS);
        let mut runs = Self { text, set: PhantomData, least, base, bits, open: None };
        let before = (from - base) as u32;
        if before == BLOCK as u32 {
            // Only a run that reaches `from` is of interest.
            let run = runs.bits.leading_ones();
            runs.open = (run > 0).then(|| from - run as usize);
            runs.step();
        }
        runs
    }

    fn step(&mut self) {
        self.base += BLOCK;
        self.bits = mask_at(self.text, self.base, S::CLASS);
    }

    /// Bits of the block at which `least` bytes of the class begin.
    fn long(&self) -> u64 {
        let (mut bits, mut have) = (self.bits, 1);
        while have < self.least {
            let more = have.min(self.least - have);
            bits &= bits >> more;
            have += more;
        }
        bits
    }
}

impl<S: Set> Iterator for Runs<'_, S> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        while self.base < self.text.len() || self.open.is_some() {
            if let Some(start) = self.open {
                let more = self.bits.trailing_ones();
                if more == 64 {
                    self.step();
                    continue;
                }
                self.bits &= u64::MAX << more;
                self.open = None;
                let end = self.base + more as usize;
                if end - start >= self.least as usize {
                    return Some((start, end));
                }
            }
            let long = self.long();
            let first = long.trailing_zeros();
            let length = (self.bits.checked_shr(first).unwrap_or(0)).trailing_ones();
            if long != 0 && first + length < 64 {
                self.bits &= u64::MAX << (first + length);
                let start = self.base + first as usize;
                return Some((start, start + length as usize));
            }
            let last = self.bits.leading_ones();
            self.open = (last > 0).then(|| self.base + BLOCK - last as usize);
            self.step();
        }
        None
    }
}

/// The words (letters and digits) that hold a digit: where each has its first.
pub(crate) struct FirstDigits<'t> {
    text: &'t [u8],
    base: usize,
    digits: u64,
    words: u64,
    /// Whether the word that goes on from the block before has had its digit.
    had: bool,
}

impl<'t> FirstDigits<'t> {
    /// From the offset `from` on, as if the text began there.
    pub(crate) fn new(text: &'t [u8], from: usize) -> Self {
        let mut all = Self { text, base: from, digits: 0, words: 0, had: false };
        all.load();
        all
    }

    #[inline]
    fn load(&mut self) {
        self.digits = mask_at(self.text, self.base, Class::Digit);
        if self.digits != 0 || self.had {
            self.words = mask_at(self.text, self.base, Class::Word);
        }
        if self.had {
            let same = self.words.trailing_ones();
            self.digits &= u64::MAX.checked_shl(same).unwrap_or(0);
            self.had = same == 64;
        }
    }
}

impl Iterator for FirstDigits<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.digits == 0 {
            self.base += BLOCK;
            if self.base >= self.text.len() {
                return None;
            }
            self.load();
        }
        let first = self.digits.trailing_zeros();
        let end = first + (self.words >> first).trailing_ones();
        self.had = end == 64;
        self.digits &= u64::MAX.checked_shl(end).unwrap_or(0);
        Some(self.base + first as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [Class; 7] = [
        Class::Digit,
        Class::Word,
        Class::Letter,
        Class::Upper,
        Class::Base64,
        Class::Link,
        Class::Backslash,
    ];

    /// Text of few different bytes, so that runs of all lengths occur.
    fn text(mut seed: u64, len: usize) -> Vec<u8> {
        let bytes = b"a0Z. -_\\/\xc3\xa9abcdefgh0123456789";
        (0..len)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                bytes[(seed >> 33) as usize % bytes.len()]
            })
            .collect()
    }

    #[test]
    fn every_byte_is_in_its_classes() {
        for class in CLASSES {
            for byte in 0..=255u8 {
                let mut block = [b' '; BLOCK];
                block[37] = byte;
                let expected = if class.has(byte) { 1 << 37 } else { 0 };
                assert_eq!(mask(&block, class), expected, "{class:?} {byte:#x}");
            }
        }
    }

    #[test]
    fn runs_are_those_of_a_byte_loop() {
        runs_are_right::<Base64>(3);
        runs_are_right::<Base64>(32);
        runs_are_right::<Link>(2);
        runs_are_right::<Link>(10);
    }

    fn runs_are_right<S: Set>(least: usize) {
        let class = S::CLASS;
        for seed in 0..200 {
            let text = text(seed, 300 + seed as usize);
            {
                for from in [0, 1, 63, 64, 65, 130] {
                    let mut expected = Vec::new();
                    let mut at = from;
                    while at < text.len() {
                        let run = text[at..].iter().take_while(|&&byte| class.has(byte)).count();
                        let mut start = at;
                        while at == from && start > from.saturating_sub(BLOCK) && class.has(text[start - 1]) {
                            start -= 1;
                        }
                        if run > 0 && at + run - start >= least {
                            expected.push((start, at + run));
                        }
                        at += run.max(1);
                    }
                    let runs: Vec<_> = Runs::<S>::new(&text, from, least as u32).filter(|run| run.1 > from).collect();
                    assert_eq!(runs, expected, "{class:?} from {from}");
                }
            }
        }
    }

    #[test]
    fn first_digits_are_those_of_a_byte_loop() {
        for seed in 0..200 {
            let text = text(seed, 200 + seed as usize);
            for from in [0, 5, 64, 100] {
                let mut expected = Vec::new();
                let mut had = false;
                for (at, byte) in text.iter().enumerate().skip(from) {
                    had &= byte.is_ascii_alphanumeric();
                    if byte.is_ascii_digit() && !had {
                        expected.push(at);
                        had = true;
                    }
                }
                assert_eq!(FirstDigits::new(&text, from).collect::<Vec<_>>(), expected);
            }
        }
    }
}
