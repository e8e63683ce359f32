//! The rules whose values words near a match support.

use super::super::pattern::CompiledPattern;
use crate::detect::finding::RuleId;
use crate::detect::selection::RuleSelection;

/// A set of rules that is mostly empty.
#[derive(Default)]
pub(crate) struct SparseSelection {
    set: RuleSelection,
    any: bool,
}

impl SparseSelection {
    const NONE: Self = Self { set: RuleSelection::NONE, any: false };

    /// Adds all of `rules`, which are some.
    pub(crate) fn add(&mut self, rules: &RuleSelection) {
        self.set.add(rules);
        self.any = true;
    }

    pub(crate) fn clear(&mut self) {
        if self.any {
            self.set.clear();
            self.any = false;
        }
    }

    fn has(&self, rule: RuleId) -> bool {
        self.any && self.set.has(rule)
    }

    /// The rules in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RuleId> {
        self.set.iter().take_while(|_| self.any)
    }
}

/// The rules whose values words near a match support.
#[derive(Default)]
pub(crate) struct Supported {
    /// By a word before the match.
    pub(crate) before: SparseSelection,
    /// By a word behind the match.
    pub(crate) behind: SparseSelection,
    /// Words before the match were not looked up.
    pub(crate) before_unknown: bool,
    /// Words behind the match were not looked up, or have not arrived.
    pub(crate) behind_unknown: bool,
}

impl Supported {
    /// Where no word was looked up: every rule may be supported.
    pub(crate) const UNKNOWN: Self = Self {
        before: SparseSelection::NONE,
        behind: SparseSelection::NONE,
        before_unknown: true,
        behind_unknown: true,
    };

    /// Whether there is a rule that words support, or may.
    pub(crate) fn any(&self) -> bool {
        self.is_unknown() || self.before.any || self.behind.any
    }

    /// Whether words were not looked up on either side.
    pub(crate) const fn is_unknown(&self) -> bool {
        self.before_unknown || self.behind_unknown
    }

    /// Whether a match of `pattern` can count.
    pub(crate) fn fits(&self, pattern: &CompiledPattern) -> bool {
        pattern.alone
            || self.before_unknown
            || self.before.has(pattern.rule)
            || pattern.ahead && (self.behind_unknown || self.behind.has(pattern.rule))
    }
}
