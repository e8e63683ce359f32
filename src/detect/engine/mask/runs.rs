//! What the bits are asked for: runs of a class, words that hold a digit, colons that can be an address's.

use super::class::Class;
use super::masks::{BLOCK, Masks};

/// The runs of a class that are at least `least` bytes long (2 to 64), in order.
pub(crate) struct Runs<'m> {
    masks: &'m Masks,
    class: Class,
    least: u32,
    /// Where the block of `bits` begins.
    base: usize,
    /// The block's bytes of the class that have not been looked at.
    bits: u64,
    /// Where a run began that reached the end of an earlier block.
    open: Option<usize>,
}

impl<'m> Runs<'m> {
    /// The runs that end after `from`. Of one that begins long before, at least 64 bytes before `from` are seen.
    pub(crate) fn new(masks: &'m Masks, from: usize, class: Class, least: u32) -> Self {
        let base = masks.back(from);
        let mut runs = Self { masks, class, least, base, bits: masks.at(class, base), open: None };
        while runs.base + BLOCK <= from {
            // Only a run that reaches `from` is of interest.
            let run = runs.bits.leading_ones() as usize;
            if run < BLOCK || runs.open.is_none() {
                runs.open = (run > 0).then(|| runs.base + BLOCK - run);
            }
            runs.step();
        }
        runs
    }

    #[inline]
    fn step(&mut self) {
        self.base += BLOCK;
        self.bits = self.masks.at(self.class, self.base);
    }

    /// Bits of the block at which `least` bytes of the class begin.
    #[inline]
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

impl Iterator for Runs<'_> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        while self.base < self.masks.len() || self.open.is_some() {
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
            if long != 0 {
                let first = long.trailing_zeros();
                let length = (self.bits >> first).trailing_ones();
                if first + length < 64 {
                    self.bits &= u64::MAX << (first + length);
                    let start = self.base + first as usize;
                    return Some((start, start + length as usize));
                }
            }
            let last = self.bits.leading_ones();
            self.open = (last > 0).then(|| self.base + BLOCK - last as usize);
            self.step();
        }
        None
    }
}

/// The words (letters and digits) that hold a digit: where each has its first.
pub(crate) struct FirstDigits<'m> {
    masks: &'m Masks,
    base: usize,
    digits: u64,
    words: u64,
    /// Whether the word that goes on from the block before has had its digit.
    had: bool,
}

impl<'m> FirstDigits<'m> {
    /// From the offset `from` on, as if the text began there.
    pub(crate) fn new(masks: &'m Masks, from: usize) -> Self {
        let base = from / BLOCK * BLOCK;
        let mut all = Self { masks, base, digits: 0, words: 0, had: false };
        all.load();
        all.digits &= u64::MAX << (from - base);
        all
    }

    #[inline]
    fn load(&mut self) {
        self.digits = self.masks.at(Class::Digit, self.base);
        if self.digits != 0 || self.had {
            self.words = self.masks.at(Class::Word, self.base);
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
            if self.base >= self.masks.len() {
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

/// The colons with a letter, a digit or a colon on both sides; where the text begins or ends, on the other.
pub(crate) struct Colons<'m> {
    masks: &'m Masks,
    base: usize,
    bits: u64,
}

impl<'m> Colons<'m> {
    /// From the offset `from` on.
    pub(crate) fn new(masks: &'m Masks, from: usize) -> Self {
        let base = from / BLOCK * BLOCK;
        let mut all = Self { masks, base, bits: 0 };
        all.load();
        all.bits &= u64::MAX << (from - base);
        all
    }

    #[inline]
    fn load(&mut self) {
        let colons = self.masks.at(Class::Colon, self.base);
        if colons == 0 {
            self.bits = 0;
            return;
        }
        let beside = |at: usize| self.masks.at(Class::Word, at) | self.masks.at(Class::Colon, at);
        let here = beside(self.base);
        let before = self.base.checked_sub(BLOCK).map_or(1, |at| beside(at) >> 63);
        let left = here << 1 | before;
        let end = self.masks.len() - self.base;
        let last = if end <= BLOCK { 1 << (end - 1) } else { 0 };
        let right = here >> 1 | beside(self.base + BLOCK) << 63 | last;
        self.bits = colons & left & right;
    }
}

impl Iterator for Colons<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.base += BLOCK;
            if self.base >= self.masks.len() {
                return None;
            }
            self.load();
        }
        let first = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(self.base + first as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::masks::tests::text;
    use super::*;

    fn masks(text: &[u8]) -> Masks {
        let mut masks = Masks::default();
        masks.cover(text);
        masks
    }

    #[test]
    fn runs_are_those_of_a_byte_loop() {
        for (class, least) in [(Class::Base64, 3), (Class::Base64, 32), (Class::Link, 2), (Class::Link, 10)] {
            for seed in 0..200 {
                let text = text(seed, 300 + seed as usize);
                let masks = masks(&text);
                for from in [0, 1, 63, 64, 65, 130, 200] {
                    let floor = masks.back(from);
                    let mut expected = Vec::new();
                    let mut at = floor;
                    while at < text.len() {
                        let run = text[at..].iter().take_while(|&&byte| class.has(byte)).count();
                        if run >= least && at + run > from {
                            expected.push((at, at + run));
                        }
                        at += run.max(1);
                    }
                    let runs: Vec<_> =
                        Runs::new(&masks, from, class, least as u32).filter(|run| run.1 > from).collect();
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
                assert_eq!(FirstDigits::new(&masks(&text), from).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn colons_are_those_of_a_byte_loop() {
        for seed in 0..200 {
            let text = text(seed, 200 + seed as usize);
            let beside = |at: Option<usize>| {
                let byte = at.and_then(|at| text.get(at));
                byte.is_none_or(|&byte| byte == b':' || byte.is_ascii_alphanumeric())
            };
            for from in [0, 5, 64, 100] {
                let fits =
                    |&at: &usize| text[at] == b':' && beside(at.checked_sub(1)) && beside(Some(at + 1));
                let expected: Vec<usize> = (from..text.len()).filter(fits).collect();
                assert_eq!(Colons::new(&masks(&text), from).collect::<Vec<_>>(), expected);
            }
        }
    }
}
