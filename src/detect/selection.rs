//! Which rules of a catalogue are on: a bit for each.

use super::finding::RuleId;

/// A set of rules of one catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSelection(Vec<u64>);

impl RuleSelection {
    /// No rule.
    pub(crate) const NONE: Self = Self(Vec::new());

    /// This and `rule`.
    #[must_use]
    pub fn with(mut self, rule: RuleId) -> Self {
        self.insert(rule);
        self
    }

    /// This without `rule`.
    #[must_use]
    pub fn without(mut self, rule: RuleId) -> Self {
        if let Some(word) = self.0.get_mut(rule.index() / 64) {
            *word &= !(1 << (rule.index() % 64));
        }
        self
    }

    /// Whether `rule` is on.
    pub fn has(&self, rule: RuleId) -> bool {
        self.0.get(rule.index() / 64).is_some_and(|word| word >> (rule.index() % 64) & 1 == 1)
    }

    /// Turns all rules off; what was allocated stays.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The rules in order.
    pub fn iter(&self) -> impl Iterator<Item = RuleId> {
        let words = self.0.iter().zip(0u16..);
        words.flat_map(|(&word, n)| {
            // Each with the lowest bit of the one before turned off.
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let bits = rest.take_while(|&word| word != 0).map(u64::trailing_zeros);
            bits.map(move |bit| RuleId::new(n * 64 + bit as u16))
        })
    }

    /// Adds all rules of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    /// Whether no rule is on.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether a rule is on whose index is `count` or more.
    pub(crate) fn reaches_beyond(&self, count: usize) -> bool {
        let last = self.0.iter().rposition(|&word| word != 0);
        last.is_some_and(|n| {
            let word = self.0.get(n).copied().unwrap_or(0);
            n * 64 + 63 - word.leading_zeros() as usize >= count
        })
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether all of the first `count` rules are on.
    pub(crate) fn is_all(&self, count: usize) -> bool {
        (0..u16::try_from(count).unwrap_or(u16::MAX)).all(|n| self.has(RuleId::new(n)))
    }

    /// Adds a rule.
    pub fn insert(&mut self, rule: RuleId) {
        let at = rule.index() / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        if let Some(word) = self.0.get_mut(at) {
            *word |= 1 << (rule.index() % 64);
        }
    }
}

impl FromIterator<RuleId> for RuleSelection {
    fn from_iter<I: IntoIterator<Item = RuleId>>(ids: I) -> Self {
        let mut selection = Self::default();
        ids.into_iter().for_each(|id| selection.insert(id));
        selection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_go_in_and_out() {
        let (a, b) = (RuleId::new(3), RuleId::new(200));
        let selection: RuleSelection = [a].into_iter().collect();
        assert!(selection.has(a) && !selection.has(b));
        let selection = selection.with(b).without(a);
        assert!(selection.has(b) && !selection.has(a) && !selection.is_empty());
        assert!(selection.clone().without(b).is_empty());
        let mut all = RuleSelection::default();
        all.add(&selection.with(RuleId::new(191)).with(RuleId::new(0)));
        assert_eq!(all.iter().map(RuleId::index).collect::<Vec<_>>(), [0, 191, 200]);
    }
}
