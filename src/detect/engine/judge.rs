//! From a match to a finding: selection, validator, edges, words near it. Says `NotYet` where text that has not
//! arrived could change the answer.

use super::super::context::After;
use super::super::finding::{Finding, Near, RuleId, Score, Span};
use super::super::rule::Anchor;
use super::super::selection::RuleSelection;
use super::super::validate::Verdict;
use super::automaton::{Automaton, Compiled, Traits, Walk};
use super::view::Ternary;
use super::{Found, Pass};

/// A set of rules that is mostly empty.
#[derive(Default)]
pub(crate) struct Rules {
    set: RuleSelection,
    any: bool,
}

impl Rules {
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

    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RuleId> {
        self.set.iter().take_while(|_| self.any)
    }
}

/// The rules that words near a match speak for.
#[derive(Default)]
pub(crate) struct SpokenFor {
    /// By a word before it.
    pub(crate) before: Rules,
    /// By a word behind it.
    pub(crate) behind: Rules,
    /// Nobody asked, or the text behind has not arrived.
    pub(crate) unknown: (bool, bool),
}

impl SpokenFor {
    /// Where nobody asked.
    pub(crate) const MAYBE: Self = Self { before: Rules::NONE, behind: Rules::NONE, unknown: (true, true) };

    /// Whether there is a rule that words speak for, or may.
    pub(crate) fn anyone(&self) -> bool {
        self.unknown != (false, false) || self.before.any || self.behind.any
    }

    /// Whether a match of `pattern` can count.
    fn fits(&self, pattern: &Compiled) -> bool {
        pattern.alone
            || self.unknown.0
            || self.before.has(pattern.rule)
            || pattern.ahead && (self.unknown.1 || self.behind.has(pattern.rule))
    }
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
    /// A word behind can speak for one of those.
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

/// What became of one match.
pub(crate) enum Judged {
    No,
    /// The pattern's check says no.
    Refused,
    NotYet,
    Yes(Finding),
}

/// Matches of one pattern from one start that its check may say no to, one after the other.
const TRIES: usize = 6;
/// What a check costs beside the bytes it sees, in steps.
const CHECK: usize = 16;

/// A pattern whose check said no to matches from one start.
pub(crate) struct Refused {
    pattern: *const Compiled,
    times: usize,
    /// How long the last one was.
    length: usize,
}

/// What became of all matches from one start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Not decided on the text so far.
    Waiting,
    /// None was accepted.
    Nothing,
    /// The longest accepted ends here.
    Upto(usize),
}

impl Pass<'_> {
    /// What the pattern's check says of `start..end` of the window.
    pub(crate) fn check(&self, pattern: &Compiled, start: usize, end: usize) -> Verdict {
        self.step(CHECK + (end - start));
        (pattern.check)(self.view.slice(start, end))
    }

    /// Judges `start..end` of the window as a match of `pattern`.
    pub(crate) fn judge(&self, pattern: &Compiled, start: usize, end: usize) -> Judged {
        let view = &self.view;
        if !self.selection.has(pattern.rule) || !view.starts(start, pattern.edge) {
            return Judged::No;
        }
        let ends = view.ends(end, pattern.edge);
        if ends == Ternary::No {
            return Judged::No;
        }
        let base = match self.check(pattern, start, end) {
            Verdict::No => return Judged::Refused,
            Verdict::Yes => pattern.score,
            Verdict::Sure => 1.0,
        };
        let Some(rule) = self.engine.rules.get(pattern.rule.index()) else { return Judged::No };
        if ends == Ternary::NotYet {
            return Judged::NotYet;
        }
        if rule.anchor == Anchor::Digit {
            match view.in_uuid(start, end) {
                Ternary::Yes => return Judged::No,
                Ternary::NotYet => return Judged::NotYet,
                Ternary::No => {}
            }
        }
        let ours = (rule, pattern.rule);
        let lexicon = &self.engine.lexicon;
        let asked = self.memo.borrow().asked;
        let mut near = self.memo.borrow_mut().before(lexicon, (view, self.masks), start, ours);
        self.step(self.memo.borrow().asked - asked);
        if with(base, near) < self.threshold(rule) && near.is_none_or(|near| near.augment > 0.0) {
            near = match self.memo.borrow_mut().after(lexicon, (view, self.masks), end, ours) {
                After::NotYet => return Judged::NotYet,
                After::Nothing => return Judged::No,
                After::Word(near) => Some(near),
            };
        }
        let score = with(base, near);
        if score < self.threshold(rule) {
            return Judged::No;
        }
        let span = Span::new(view.base + start, view.base + end);
        Judged::Yes(Finding { rule: pattern.rule, span, score: Score::new(score), near })
    }

    /// Offers all ends of a walk to their validators, longest first; of the patterns that cannot count alone, only
    /// those that words of the kind found can speak for.
    pub(crate) fn settle(
        &self,
        automaton: &Automaton,
        walk: &Walk,
        spoken_for: &SpokenFor,
        found: &mut Found,
    ) -> Settled {
        let ends = walk.ends.iter().rev();
        let all = ends.flat_map(|&end| automaton.matches(end).map(move |pattern| (end.at, pattern)));
        self.settle_all(walk.start, all, spoken_for, found)
    }

    /// The same for matches from `start`, in the order given.
    pub(crate) fn settle_all<'p>(
        &self,
        start: usize,
        matches: impl Iterator<Item = (usize, &'p Compiled)>,
        spoken_for: &SpokenFor,
        found: &mut Found,
    ) -> Settled {
        let kept = found.len();
        let mut longest = None;
        let refused = &mut *self.refused.borrow_mut();
        refused.clear();
        for (end, pattern) in
            matches.inspect(|_| self.step(1)).filter(|(_, pattern)| spoken_for.fits(pattern))
        {
            let ours = found.iter().skip(kept);
            if ours.clone().any(|one| one.rule == pattern.rule && one.score.value() >= pattern.score) {
                continue;
            }
            if !worth_trying(refused, pattern, end - start) {
                continue;
            }
            match self.judge(pattern, start, end) {
                Judged::No => {}
                Judged::Refused => note(refused, pattern, end - start),
                Judged::Yes(finding) => {
                    longest = longest.max(Some(end));
                    found.push(finding);
                }
                Judged::NotYet => {
                    found.truncate(kept);
                    return Settled::Waiting;
                }
            }
        }
        longest.map_or(Settled::Nothing, Settled::Upto)
    }
}

/// Whether a match of this length may be accepted where longer ones were refused: the longest few are tried, then
/// those of half the length each.
fn worth_trying(refused: &[Refused], pattern: &Compiled, length: usize) -> bool {
    let known = refused.iter().find(|one| std::ptr::eq(one.pattern, pattern));
    known.is_none_or(|one| one.times < TRIES || length <= one.length / 2)
}

fn note(refused: &mut Vec<Refused>, pattern: &Compiled, length: usize) {
    match refused.iter_mut().find(|one| std::ptr::eq(one.pattern, pattern)) {
        Some(one) => (one.times, one.length) = (one.times + 1, length),
        None => refused.push(Refused { pattern, times: 1, length }),
    }
}

fn with(base: f32, near: Option<Near>) -> f32 {
    base + near.map_or(0.0, |near| near.augment)
}
