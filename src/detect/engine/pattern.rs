//! A rule's pattern as the engine has it, and what matches from one start have in common.

use crate::detect::finding::RuleId;
use crate::detect::rules::Edge;
use crate::detect::validate::Check;

/// A pattern beside its place in the automaton.
#[derive(Clone, Copy)]
pub(crate) struct CompiledPattern {
    pub(crate) rule: RuleId,
    pub(crate) score: f32,
    pub(crate) check: Check,
    pub(crate) edge: Edge,
    /// Whether a match can count though no word near it supports it.
    pub(crate) alone: bool,
    /// Whether a word behind it can support it.
    pub(crate) ahead: bool,
}

/// What the patterns of a match state have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// One of them can count alone.
    pub(crate) alone: bool,
    /// One of them cannot.
    pub(crate) needy: bool,
    /// A word behind can support one of them that cannot.
    pub(crate) ahead: bool,
    /// One of them may end within a word.
    pub(super) open: bool,
}

impl Traits {
    /// Of one pattern.
    pub(crate) fn of(pattern: &CompiledPattern) -> Self {
        Self {
            alone: pattern.alone,
            needy: !pattern.alone,
            ahead: !pattern.alone && pattern.ahead,
            open: pattern.edge == Edge::Open,
        }
    }

    /// One bit for each.
    pub(super) fn bits(self) -> u8 {
        let all = [self.alone, self.needy, self.ahead, self.open];
        all.iter().rev().fold(0, |bits, &one| bits << 1 | u8::from(one))
    }

    /// Those of which [`bits`](Self::bits) are these.
    #[inline]
    pub(super) const fn of_bits(bits: u8) -> Self {
        Self { alone: bits & 1 != 0, needy: bits & 2 != 0, ahead: bits & 4 != 0, open: bits & 8 != 0 }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            alone: self.alone || other.alone,
            needy: self.needy || other.needy,
            ahead: self.ahead || other.ahead,
            open: self.open || other.open,
        }
    }
}

/// A match of a pattern from a start that is known.
#[derive(Clone, Copy)]
pub(crate) struct Match<'p> {
    pub(crate) end: usize,
    pub(crate) pattern: &'p CompiledPattern,
}

/// What the matches from one start have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matches {
    pub(crate) start: usize,
    /// Where the shortest and the longest end.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// One of them can count alone.
    pub(crate) alone: bool,
    /// One of them cannot.
    pub(crate) needy: bool,
    /// A word behind can support one of those.
    pub(crate) ahead: bool,
}

impl Matches {
    /// None yet.
    pub(crate) const fn at(start: usize) -> Self {
        Self { start, first: usize::MAX, last: 0, alone: false, needy: false, ahead: false }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.last == 0
    }

    #[inline]
    pub(crate) fn note(&mut self, end: usize, traits: Traits) {
        self.first = self.first.min(end);
        self.last = self.last.max(end);
        self.alone |= traits.alone;
        self.needy |= traits.needy;
        self.ahead |= traits.ahead;
    }
}
