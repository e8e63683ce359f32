//! Where the strings of an index stand in a text, in time in proportion to the text.
//!
//! A text may repeat itself: `SG.SG.SG.…` begins anew at every dot, and goes on as a long value does from each of them.
//! Such a one is not compared byte by byte from every place on: sums of its prefixes tell at once whether a stretch of it
//! is what many strings begin with (Karp and Rabin's fingerprints).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use crate::redact::index::{CaseComparison, Index, IndexStep, IndexWalk, More, joined};
use crate::redact::left_context::LeftContext;

impl Index {
    /// Calls `see` for every place of `text` where a string stands at token boundaries: its place and its entry.
    pub(super) fn all(&self, text: &[u8], case: CaseComparison, see: &mut dyn FnMut(Range<usize>, u32)) {
        let mut left = LeftContext::Open;
        let mut stems = Stems::new(self, text, case);
        let (mut at, mut rest) = (0, text);
        while let Some(skipped) = self.first_start(rest, case) {
            left = left.behind(rest.get(..skipped).unwrap_or_default());
            at += skipped;
            let Some(here) = text.get(at..) else { break };
            let within = left.within_word(here);
            if within > 0 {
                at += within;
                rest = text.get(at..).unwrap_or_default();
                continue;
            }
            let Some(&byte) = here.first() else { break };
            if left.admits(byte)
                && let IndexStep::Found { len, entry } = stems.longest(at)
            {
                see(at..at + len, entry);
            }
            left = left.after(byte);
            at += 1;
            rest = text.get(at..).unwrap_or_default();
        }
    }
}

/// From this depth on sums are asked, in bytes: nearly no walk gets so far.
const DEEP: usize = 64;
/// Steps a byte of the text after which they are.
const STEPS: usize = 4;

/// Numbers modulo the prime 2^61 - 1.
#[derive(Clone, Copy)]
struct PrimeField {
    /// Drawn anew for every text: which stretches have the same sum is not to be foreseen.
    base: u64,
}

impl PrimeField {
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
    fn of(text: &[u8], case: CaseComparison, field: PrimeField) -> Self {
        let mut sums = Self { prefixes: vec![0], powers: vec![1] };
        let (mut sum, mut power) = (0, 1);
        for &byte in text {
            sum = field.and(sum, case.of(byte));
            power = PrimeField::product(power, field.base);
            sums.prefixes.push(sum);
            sums.powers.push(power);
        }
        sums
    }

    /// The sum of `length` bytes from `at` on; `None` if there are fewer.
    fn stretch(&self, at: usize, length: usize) -> Option<u64> {
        let (before, all) = (*self.prefixes.get(at)?, *self.prefixes.get(at + length)?);
        let before = PrimeField::product(before, *self.powers.get(length)?);
        Some(PrimeField::reduced(all + PrimeField::PRIME - before))
    }
}

/// Strings of the index that begin alike, by their places.
type SharedPrefix = (usize, usize);

/// What all of some strings begin with.
#[derive(Clone, Copy)]
struct Stem {
    of: SharedPrefix,
    length: usize,
    sum: u64,
    /// The entry of the string that is no longer.
    entry: Option<u32>,
}

/// The strings of an index, looked for in one text.
struct Stems<'t> {
    index: &'t Index,
    text: &'t [u8],
    case: CaseComparison,
    /// Steps so far.
    steps: usize,
    field: PrimeField,
    sums: Option<Sums>,
    stems: HashMap<SharedPrefix, Stem>,
    /// The stems, each longer than the one before, that stood in the text last. Where a text repeats itself, they stand
    /// there again.
    paths: HashMap<SharedPrefix, Vec<Stem>>,
}

impl<'t> Stems<'t> {
    fn new(index: &'t Index, text: &'t [u8], case: CaseComparison) -> Self {
        let field = PrimeField { base: 0 };
        Self { index, text, case, steps: 0, field, sums: None, stems: HashMap::new(), paths: HashMap::new() }
    }

    /// The longest string at `at` of the text with a boundary behind it; what stands before is the caller's to look at.
    fn longest(&mut self, at: usize) -> IndexStep {
        let rest = self.text.get(at..).unwrap_or_default();
        if self.sums.is_none() {
            let (seen, walked) = self.index.longest_and_steps(rest, self.case, More::No);
            self.steps += walked.saturating_sub(DEEP);
            if self.steps > self.text.len().saturating_mul(STEPS) {
                self.field = PrimeField::random();
                self.sums = Some(Sums::of(self.text, self.case, self.field));
            }
            return seen;
        }
        let mut walk = self.index.walk();
        let mut best = IndexStep::No;
        for (n, &byte) in rest.iter().enumerate().take(DEEP) {
            if !walk.step(self.case.of(byte)) {
                return best;
            }
            if let Some(entry) = walk.complete().filter(|_| self.ends(at, n + 1)) {
                best = IndexStep::Found { len: n + 1, entry };
            }
        }
        if walk.depth() < DEEP {
            return best;
        }
        let of = alike(&walk);
        let mut path = self.paths.remove(&of).unwrap_or_default();
        let deeper = self.deeper(at, walk, &mut path);
        self.paths.insert(of, path);
        deeper.unwrap_or(best)
    }

    /// The same from [`DEEP`] bytes on, stem by stem: first those of `path`, then others, which become its end.
    fn deeper(&mut self, at: usize, mut walk: IndexWalk<'_>, path: &mut Vec<Stem>) -> Option<IndexStep> {
        let mut same = path.partition_point(|stem| self.stands(stem, at));
        loop {
            if let Some(stem) = same.checked_sub(1).and_then(|last| path.get(last)) {
                walk.jump(stem.of.0..stem.of.1, stem.length);
                match self.text.get(at + stem.length) {
                    Some(&byte) if walk.step(self.case.of(byte)) => {}
                    _ => break,
                }
            }
            let stem = self.stem(&walk);
            if !self.stands(&stem, at) {
                break;
            }
            path.truncate(same);
            path.push(stem);
            same += 1;
        }
        let mut known = path.iter().take(same).rev();
        known.find_map(|stem| {
            let entry = stem.entry.filter(|_| self.ends(at, stem.length))?;
            Some(IndexStep::Found { len: stem.length, entry })
        })
    }

    fn stands(&self, stem: &Stem, at: usize) -> bool {
        self.sums.as_ref().is_some_and(|sums| sums.stretch(at, stem.length) == Some(stem.sum))
    }

    fn stem(&mut self, walk: &IndexWalk<'_>) -> Stem {
        let (index, field) = (self.index, self.field);
        let of = alike(walk);
        *self.stems.entry(of).or_insert_with(|| {
            let (first, last) = (index.key(of.0), index.key(of.1.saturating_sub(1)));
            let both = first.iter().zip(last).skip(walk.depth());
            let length = walk.depth() + both.take_while(|(one, other)| one == other).count();
            let mut end = walk.clone();
            end.jump(walk.range(), length);
            let sum = field.sum(first.get(..length).unwrap_or_default());
            Stem { of, length, sum, entry: end.complete() }
        })
    }

    /// Whether a string that ends `len` bytes behind `at` has a boundary behind it.
    fn ends(&self, at: usize, len: usize) -> bool {
        let last = self.text.get((at + len).wrapping_sub(1));
        !last.zip(self.text.get(at + len)).is_some_and(|(&last, &next)| joined(last, next))
    }
}

fn alike(walk: &IndexWalk<'_>) -> SharedPrefix {
    (walk.range().start, walk.range().end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Places = Vec<(Range<usize>, u32)>;

    /// What is found by sums from the first place on, and what byte by byte.
    fn both(keys: &[String], text: &str) -> (Places, Places) {
        let index = Index::new(keys.iter().zip(0..).map(|(key, entry)| (key.as_bytes().into(), entry)));
        let mut stems = Stems::new(&index, text.as_bytes(), CaseComparison::Exact);
        stems.field = PrimeField::random();
        stems.sums = Some(Sums::of(text.as_bytes(), CaseComparison::Exact, stems.field));
        let place = |at: usize, seen| match seen {
            IndexStep::Found { len, entry } => Some((at..at + len, entry)),
            _ => None,
        };
        let summed = (0..text.len()).filter_map(|at| place(at, stems.longest(at))).collect();
        let rest = |at: usize| &text.as_bytes()[at..];
        let plain = |at| place(at, index.longest(rest(at), CaseComparison::Exact, More::No));
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
        let mut stems = Stems::new(&index, text.as_bytes(), CaseComparison::Exact);
        let found: Vec<usize> =
            (0..text.len()).filter(|&at| matches!(stems.longest(at), IndexStep::Found { .. })).collect();
        assert_eq!(found, [0]);
        assert!(stems.steps <= text.len() * STEPS + key.len(), "{}", stems.steps);
        assert_eq!(stems.stems.len(), 1);
    }
}
