//! Exact strings found at token boundaries: a sorted list, narrowed byte by byte. It serves the issued surrogates
//! on the way back ([`surrogate_map`](super::surrogate_map)) and the found values of a document ([`document`](super::document)).
//!
//! An Aho-Corasick automaton was not taken: it costs tens of bytes for each byte of pattern, and the patterns are
//! the caller's.

use std::ops::Range;

use crate::redact::left_context::token_start;

/// What a look at one place said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexStep {
    /// Nothing begins here.
    No,
    /// A string of this length, which stands for this entry.
    Found { len: usize, entry: u32 },
    /// More text must be seen first.
    Wait,
}

/// Whether the text may go on behind what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Yes,
    No,
}

/// How bytes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaseComparison {
    Exact,
    /// The keys are in ASCII lower case already.
    Folded,
}

impl CaseComparison {
    pub(super) fn of(self, byte: u8) -> u8 {
        match self {
            Self::Exact => byte,
            Self::Folded => byte.to_ascii_lowercase(),
        }
    }
}

struct IndexKey {
    text: Box<[u8]>,
    entry: u32,
}

/// Strings, each standing for an entry of the caller's.
pub(super) struct Index {
    keys: Vec<IndexKey>,
    /// Where the strings begin that begin with this byte, or a later one; nothing where there are none.
    starts: Vec<u32>,
    /// Which two bytes they may begin with, where they are so many that most bytes begin one.
    pairs: Option<BytePairs>,
}

/// From so many strings on it is kept which two bytes they begin with.
const MANY: usize = 8;

/// Pairs of bytes; of some pairs it is taken for granted that they are among them, since others have the same bit.
struct BytePairs(Box<[u64; Self::WORDS]>);

impl BytePairs {
    /// As a power of two, bits.
    const BITS: usize = 13;
    const WORDS: usize = (1 << Self::BITS) / 64;

    /// Those that strings begin with; one of a single byte goes on with any.
    fn of(keys: &[IndexKey]) -> Self {
        let mut pairs = Self(Box::new([0; Self::WORDS]));
        for key in keys {
            match *key.text {
                [] => {}
                [first] => (0..=u8::MAX).for_each(|second| pairs.add(first, second)),
                [first, second, ..] => pairs.add(first, second),
            }
        }
        pairs
    }

    fn add(&mut self, first: u8, second: u8) {
        let (word, bit) = Self::place(first, second);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        let pair = usize::from(first) << (Self::BITS - 8) ^ usize::from(second);
        (pair / 64, 1 << (pair % 64))
    }

    fn has(&self, first: u8, second: u8) -> bool {
        let (word, bit) = Self::place(first, second);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

impl Index {
    /// Of equal strings the first stays.
    pub(super) fn new(strings: impl Iterator<Item = (Box<[u8]>, u32)>) -> Self {
        let mut keys: Vec<IndexKey> = strings.map(|(text, entry)| IndexKey { text, entry }).collect();
        keys.retain(|key| !key.text.is_empty());
        keys.sort_by(|a, b| a.text.cmp(&b.text).then(a.entry.cmp(&b.entry)));
        keys.dedup_by(|later, first| later.text == first.text);
        if keys.is_empty() {
            return Self { keys, starts: Vec::new(), pairs: None };
        }
        let mut starts = vec![0; 257];
        for first in keys.iter().filter_map(|key| key.text.first()) {
            if let Some(start) = starts.get_mut(usize::from(*first) + 1) {
                *start += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let pairs = (keys.len() >= MANY).then(|| BytePairs::of(&keys));
        Self { keys, starts, pairs }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn may_begin(&self, byte: u8) -> bool {
        !self.starting(byte).is_empty()
    }

    /// The bytes that strings begin with, in order; of several that are alike each.
    pub(super) fn first_bytes(&self) -> impl Iterator<Item = u8> {
        self.keys.iter().filter_map(|key| key.text.first().copied())
    }

    /// Where in a text a string may begin, as its first two bytes tell.
    pub(super) fn first_start(&self, text: &[u8], case: CaseComparison) -> Option<usize> {
        let begins = |byte: &u8| self.may_begin(case.of(*byte));
        let Some(pairs) = &self.pairs else { return text.iter().position(begins) };
        let mut both = text.iter().zip(text.iter().skip(1));
        both.position(|(&first, &second)| pairs.has(case.of(first), case.of(second)))
            .or_else(|| text.len().checked_sub(1).filter(|_| text.last().is_some_and(begins)))
    }

    /// Whether the first two bytes of a text tell that no string begins there: of most words they do.
    fn rules_out(&self, text: &[u8], case: CaseComparison) -> bool {
        match (text, &self.pairs) {
            ([first, second, ..], Some(pairs)) => !pairs.has(case.of(*first), case.of(*second)),
            _ => false,
        }
    }

    /// Whether one of the strings, which are in lower case, may stand at the beginning of a text, in any case. Of most words the
    /// first two letters tell that none does; escapes, and what nobody reads between characters, are for who reads them.
    pub(super) fn may_stand(&self, text: &[u8]) -> bool {
        match text {
            [first, second, ..] if first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric() => {
                let mut walk = self.walk();
                !self.rules_out(text, CaseComparison::Folded)
                    && walk.step(CaseComparison::Folded.of(*first))
                    && (walk.complete().is_some() || walk.step(CaseComparison::Folded.of(*second)))
            }
            _ => !self.is_empty(),
        }
    }

    fn starting(&self, byte: u8) -> Range<usize> {
        match self.starts.get(usize::from(byte)..) {
            Some([start, end, ..]) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// The string at a place in their order.
    pub(super) fn key(&self, at: usize) -> &[u8] {
        self.keys.get(at).map(|key| &*key.text).unwrap_or_default()
    }

    pub(super) fn walk(&self) -> IndexWalk<'_> {
        IndexWalk { index: self, range: 0..self.keys.len(), depth: 0 }
    }

    /// The longest string at the beginning of `text` with a boundary behind it.
    pub(super) fn longest(&self, text: &[u8], case: CaseComparison, more: More) -> IndexStep {
        self.longest_and_steps(text, case, more).0
    }

    /// The same, and how many bytes were looked at.
    pub(super) fn longest_and_steps(
        &self,
        text: &[u8],
        case: CaseComparison,
        more: More,
    ) -> (IndexStep, usize) {
        let mut best = IndexStep::No;
        if self.rules_out(text, case) {
            return (best, 0);
        }
        let mut walk = self.walk();
        for (at, &byte) in text.iter().enumerate() {
            if !walk.step(case.of(byte)) {
                return (best, at);
            }
            let Some(entry) = walk.complete() else { continue };
            let len = at + 1;
            match text.get(len) {
                Some(&next) if joined(byte, next) => {}
                None if more == More::Yes && byte.is_ascii_alphanumeric() => return (IndexStep::Wait, len),
                Some(_) | None => best = IndexStep::Found { len, entry },
            }
        }
        (if more == More::Yes && walk.longer() { IndexStep::Wait } else { best }, text.len())
    }
}

/// Whether two bytes belong to one token.
pub(super) fn joined(before: u8, after: u8) -> bool {
    before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric()
}

/// The strings that begin with the bytes seen so far.
#[derive(Clone)]
pub(super) struct IndexWalk<'i> {
    index: &'i Index,
    range: Range<usize>,
    depth: usize,
}

impl IndexWalk<'_> {
    /// Goes on by one byte; false when no string does.
    pub(super) fn step(&mut self, byte: u8) -> bool {
        self.range = if self.depth == 0 { self.index.starting(byte) } else { self.narrowed(byte) };
        self.depth += 1;
        !self.range.is_empty()
    }

    fn narrowed(&self, byte: u8) -> Range<usize> {
        let keys = self.index.keys.get(self.range.clone()).unwrap_or_default();
        let here = |key: &IndexKey| key.text.get(self.depth).copied();
        // Mostly all go on alike, or there is but one.
        match keys {
            [] => return self.range.clone(),
            [first, ..] if here(first) == Some(byte) && keys.last().and_then(here) == Some(byte) => {
                return self.range.clone();
            }
            [_] => return self.range.start..self.range.start,
            _ => {}
        }
        let from = keys.partition_point(|key| here(key).is_none_or(|b| b < byte));
        let keys = keys.get(from..).unwrap_or_default();
        let count = keys.partition_point(|key| here(key).is_some_and(|b| b <= byte));
        self.range.start + from..self.range.start + from + count
    }

    /// The entry whose string has been seen whole.
    pub(super) fn complete(&self) -> Option<u32> {
        let first = self.index.keys.get(self.range.start)?;
        (!self.range.is_empty() && first.text.len() == self.depth).then_some(first.entry)
    }

    /// How many bytes have been seen.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The places of the strings that begin so.
    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Goes on to the strings of `range`, which all begin with what has been seen and go on alike up to `depth`.
    pub(super) fn jump(&mut self, range: Range<usize>, depth: usize) {
        (self.range, self.depth) = (range, depth);
    }

    /// Whether a byte has been seen.
    pub(super) fn has_begun(&self) -> bool {
        self.depth > 0
    }

    /// Whether some string goes on.
    pub(super) fn longer(&self) -> bool {
        self.range.len() > usize::from(self.complete().is_some())
    }
}

/// A surrogate is known again between words only; so what ends within one takes the rest of it along.
/// With `wide` also where the value has no letter or digit at its end, since its surrogate may.
pub(super) fn whole_words(text: &[u8], wide: bool, span: &mut Range<usize>) {
    let alphanumeric = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    if wide || alphanumeric(span.start) {
        span.start = token_start(text, span.start);
    }
    while span.end > 0 && alphanumeric(span.end) && (wide || alphanumeric(span.end - 1)) {
        span.end += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::redact::left_context::LeftContext;

    use super::*;

    fn index(strings: &[&str]) -> Index {
        Index::new(strings.iter().zip(0..).map(|(text, entry)| (text.as_bytes().into(), entry)))
    }

    #[test]
    fn all_are_found_where_tokens_begin_and_nowhere_else() {
        let index = index(&["12", "2", "9", "@a"]);
        let cases: &[(&str, &[usize])] = &[
            ("12 2,12", &[0, 3, 5]),
            ("112 x2 2x", &[]),
            ("12é9", &[0, 4]),
            ("x@a @a", &[1, 4]),
            (r"\n12 \\n12", &[2, 8]),
            (r"\u00e99 \u00e9 \u00e12", &[6, 21]),
            (r"\u00\n9", &[6]),
        ];
        for (text, expected) in cases {
            let mut seen = Vec::new();
            index.all(text.as_bytes(), CaseComparison::Exact, &mut |range, _| seen.push(range.start));
            assert_eq!(seen, *expected, "{text}");
        }
    }

    /// Every string tried at every place.
    fn plainly(keys: &[String], text: &str) -> Vec<(usize, usize)> {
        let bytes = text.as_bytes();
        let mut left = LeftContext::Open;
        let mut found = Vec::new();
        for (at, &byte) in bytes.iter().enumerate() {
            let ends = |key: &&String| match (key.as_bytes().last(), bytes.get(at + key.len())) {
                (Some(&last), Some(&next)) => !joined(last, next),
                _ => true,
            };
            let here = keys.iter().filter(|key| !key.is_empty() && bytes[at..].starts_with(key.as_bytes()));
            let longest = here.filter(ends).map(String::len).max();
            found.extend(longest.filter(|_| left.admits(byte)).map(|len| (at, len)));
            left = left.after(byte);
        }
        found
    }

    proptest! {
        #[test]
        fn all_are_those_that_a_search_for_each_finds(
            keys in prop::collection::vec("[ab1@]{0,5}", 0..40),
            text in r"[ab1@ \\nu]{0,60}",
        ) {
            let index = Index::new(keys.iter().zip(0..).map(|(text, entry)| (text.as_bytes().into(), entry)));
            let mut seen = Vec::new();
            index.all(text.as_bytes(), CaseComparison::Exact, &mut |range, entry| {
                assert_eq!(Some(keys[entry as usize].as_str()), text.get(range.clone()));
                seen.push((range.start, range.len()));
            });
            prop_assert_eq!(seen, plainly(&keys, &text));
        }
    }

    #[test]
    fn the_longest_with_a_boundary_wins() {
        let index = index(&["jo@ex.com", "jo@ex.com.au", "-----END-----"]);
        let found = |len, entry| IndexStep::Found { len, entry };
        let cases = [
            ("jo@ex.com", More::No, found(9, 0)),
            ("jo@ex.com.", More::No, found(9, 0)),
            ("jo@ex.com.", More::Yes, IndexStep::Wait),
            ("jo@ex.com.aux", More::Yes, found(9, 0)),
            ("jo@ex.com.au", More::Yes, IndexStep::Wait),
            ("jo@ex.com.au!", More::Yes, found(12, 1)),
            ("jo@ex.comé", More::Yes, found(9, 0)),
            ("jo@ex.come", More::Yes, IndexStep::No),
            ("jo", More::Yes, IndexStep::Wait),
            ("jo", More::No, IndexStep::No),
            ("-----END-----x", More::Yes, found(13, 2)),
            ("-----END-----", More::Yes, found(13, 2)),
        ];
        for (text, more, expected) in cases {
            assert_eq!(index.longest(text.as_bytes(), CaseComparison::Exact, more), expected, "{text}");
        }
    }

    #[test]
    fn the_first_of_equal_strings_stays() {
        let index = index(&["same", "same"]);
        let seen = index.longest(b"same ", CaseComparison::Exact, More::No);
        assert_eq!(seen, IndexStep::Found { len: 4, entry: 0 });
    }
}
