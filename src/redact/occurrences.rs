//! Where the strings of an index stand in a text, in time in proportion to the text.
//!
//! A text may repeat itself: `SG.SG.SG.…` begins anew at every dot, and goes on as a long value does from each of them.
//! Such a one is not compared byte by byte from every place on: sums of its prefixes tell at once whether a stretch of it
//! is what many strings begin with (Karp and Rabin's fingerprints).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use crate::redact::index::{Case, Index, Left, More, Seen, Walk, joined};

impl Index {
    /// Calls `see` for every place of `text` where a string stands at token boundaries: its place and its entry.
    pub(super) fn all(&self, text: &[u8], case: Case, see: &mut dyn FnMut(Range<usize>, u32)) {
        let mut left = Left::Open;
        let mut stems = Stems::new(self, text, case);
        for (at, &byte) in text.iter().enumerate() {
            if self.may_begin(case.of(byte))
                && left.admits(byte)
                && let Seen::Found { len, entry } = stems.longest(at)
            {
                see(at..at + len, entry);
            }
            left = left.after(byte);
        }
    }
}

/// From this depth on sums are asked, in bytes: nearly no walk gets so far.
const DEEP: usize = 64;
/// Steps a byte of the text after which they are.
const STEPS: usize = 4;

/// Numbers modulo the prime 2^61 - 1.
#[derive(Clone, Copy)]
struct Field {
    /// Drawn anew for every text: which stretches have the same sum is not to be foreseen.
    base: u64,
}

impl Field {
    const PRIME: u64 = (1 << 61) - 1;

    fn random() -> Self {
        Self { base: RandomState::new().hash_one(()) % (Self::PRIME - 256) + 256 }
    }

    fn reduced(value: u64) -> u64 {
        let folded = (value & Self::PRIME) + (value >> 61);
        if folded >= Self::PRIME { folded - Self::PRIME } else { folded }
    }

    fn product(one: u64, other: u64) -> u64 {
        let wide = u128::from(one) * u128::from(other);
        #[expect(clippy::cast_possible_truncation, reason = "both halves have 61 bits")]
        let (low, high) = (wide as u64 & Self::PRIME, (wide >> 61) as u64);
        Self::reduced(low + high)
    }

    /// The sum of what `sum` is of and a byte behind it.
    fn and(self, sum: u64, byte: u8) -> u64 {
        Self::reduced(Self::product(sum, self.base) + u64::from(byte) + 1)
    }

    fn sum(self, bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |sum, &byte| self.and(sum, byte))
    }
}

/// Sums of all prefixes of a text, and the powers that take one from another.
struct Sums {
    prefixes: Vec<u64>,
    powers: Vec<u64>,
}

impl Sums {
    fn of(text: &[u8], case: Case, field: Field) -> Self {
        let mut sums = Self { prefixes: vec![0], powers: vec![1] };
        let (mut sum, mut power) = (0, 1);
        for &byte in text {
            sum = field.and(sum, case.of(byte));
            power = Field::product(power, field.base);
            sums.prefixes.push(sum);
            sums.powers.push(power);
        }
        sums
    }

    /// The sum of `length` bytes from `at` on; `None` if there are fewer.
    fn stretch(&self, at: usize, length: usize) -> Option<u64> {
        let (before, all) = (*self.prefixes.get(at)?, *self.prefixes.get(at + length)?);
        let before = Field::product(before, *self.powers.get(length)?);
        Some(Field::reduced(all + Field::PRIME - before))
    }
}

/// What strings that begin alike have in common.
#[derive(Clone, Copy)]
struct Stem {
    length: usize,
    sum: u64,
}

/// The strings of an index, looked for in one text.
struct Stems<'t> {
    index: &'t Index,
    text: &'t [u8],
    case: Case,
    /// Steps so far.
    steps: usize,
    field: Field,
    sums: Option<Sums>,
    /// By the first and the last of the strings.
    stems: HashMap<(usize, usize), Stem>,
}

impl<'t> Stems<'t> {
    fn new(index: &'t Index, text: &'t [u8], case: Case) -> Self {
        let field = Field { base: 0 };
        Self { index, text, case, steps: 0, field, sums: None, stems: HashMap::new() }
    }

    /// The longest string at `at` of the text with a boundary behind it; what stands before is the caller's to look at.
    fn longest(&mut self, at: usize) -> Seen {
        let rest = self.text.get(at..).unwrap_or_default();
        if self.sums.is_none() {
            let (seen, walked) = self.index.longest_and_steps(rest, self.case, More::No);
            self.steps += walked.saturating_sub(DEEP);
            if self.steps > self.text.len().saturating_mul(STEPS) {
                self.field = Field::random();
                self.sums = Some(Sums::of(self.text, self.case, self.field));
            }
            return seen;
        }
        let mut walk = self.index.walk();
        let mut best = Seen::No;
        for (n, &byte) in rest.iter().enumerate().take(DEEP) {
            if !walk.step(self.case.of(byte)) {
                return best;
            }
            self.note(at, n + 1, &walk, &mut best);
        }
        if walk.depth() == DEEP { self.deeper(at, walk, best) } else { best }
    }

    /// The same from [`DEEP`] bytes on, stem by stem.
    fn deeper(&mut self, at: usize, mut walk: Walk<'_>, mut best: Seen) -> Seen {
        loop {
            let stem = self.stem(&walk);
            let here = self.sums.as_ref().and_then(|sums| sums.stretch(at, stem.length));
            if here != Some(stem.sum) {
                return best;
            }
            walk.jump(stem.length);
            self.note(at, stem.length, &walk, &mut best);
            match self.text.get(at + stem.length) {
                Some(&byte) if walk.step(self.case.of(byte)) => {}
                _ => return best,
            }
        }
    }

    /// Notes the string that ends `len` bytes behind `at`, if there is one with a boundary behind it.
    fn note(&self, at: usize, len: usize, walk: &Walk<'_>, best: &mut Seen) {
        let Some(entry) = walk.complete() else { return };
        let last = self.text.get((at + len).wrapping_sub(1));
        let within = last.zip(self.text.get(at + len)).is_some_and(|(&last, &next)| joined(last, next));
        if !within {
            *best = Seen::Found { len, entry };
        }
    }

    fn stem(&mut self, walk: &Walk<'_>) -> Stem {
        let range = walk.range();
        let (first, last) = (self.index.key(range.start), self.index.key(range.end.saturating_sub(1)));
        let field = self.field;
        *self.stems.entry((range.start, range.end)).or_insert_with(|| {
            let known = walk.depth();
            let both = first.iter().zip(last).skip(known);
            let length = known + both.take_while(|(one, other)| one == other).count();
            Stem { length, sum: field.sum(first.get(..length).unwrap_or_default()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Places = Vec<(Range<usize>, u32)>;

    /// What is found by sums from the first place on, and what byte by byte.
    fn both(keys: &[String], text: &str) -> (Places, Places) {
        let index = Index::new(keys.iter().zip(0..).map(|(key, entry)| (key.as_bytes().into(), entry)));
        let mut stems = Stems::new(&index, text.as_bytes(), Case::Exact);
        stems.field = Field::random();
        stems.sums = Some(Sums::of(text.as_bytes(), Case::Exact, stems.field));
        let place = |at: usize, seen| match seen {
            Seen::Found { len, entry } => Some((at..at + len, entry)),
            _ => None,
        };
        let summed = (0..text.len()).filter_map(|at| place(at, stems.longest(at))).collect();
        let rest = |at: usize| &text.as_bytes()[at..];
        let plain = |at| place(at, index.longest(rest(at), Case::Exact, More::No));
        (summed, (0..text.len()).filter_map(plain).collect())
    }

    proptest! {
        #[test]
        fn sums_find_what_comparing_finds(
            lengths in prop::collection::vec(0usize..200, 1..8),
            ends in prop::collection::vec("[ab.]{0,3}", 8),
            text in prop::collection::vec((0usize..260, "[ab.]{0,3}"), 1..5),
        ) {
            let repeated = |length: usize| "ab.".repeat(80).get(..length.min(240)).unwrap().to_owned();
            let keys: Vec<String> =
                lengths.iter().zip(&ends).map(|(&length, end)| repeated(length) + end).collect();
            let text: String = text.into_iter().map(|(length, end)| repeated(length) + &end).collect();
            let (summed, plain) = both(&keys, &text);
            prop_assert_eq!(summed, plain);
        }
    }

    /// A text of one long value and as much that goes on like it, but ends otherwise: 200 million comparisons byte by byte.
    #[test]
    fn a_text_that_repeats_itself_is_walked_once() {
        let unit = "SG.".repeat(20_000);
        let text = format!("{unit}!{unit}?");
        let key = format!("{unit}!");
        let index = Index::new([(key.as_bytes().into(), 7)].into_iter());
        let mut stems = Stems::new(&index, text.as_bytes(), Case::Exact);
        let found: Vec<usize> =
            (0..text.len()).filter(|&at| matches!(stems.longest(at), Seen::Found { .. })).collect();
        assert_eq!(found, [0]);
        assert!(stems.steps <= text.len() * STEPS + key.len(), "{}", stems.steps);
        assert_eq!(stems.stems.len(), 1);
    }
}
