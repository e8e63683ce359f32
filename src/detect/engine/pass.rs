//! One look at a window, and the way from a match to a finding: selection, edges, check, words near it. The answer is
//! that more is needed where text that has not arrived could change it.

use std::cell::{Cell, RefCell, RefMut};
use std::ops::ControlFlow;

use super::automaton::{Automaton, AutomatonWalk, MatchFilter, WalkEnd};
use super::context::{Lexicon, Memo, Supported, Surroundings, WordsAfter};
use super::group_id::GroupId;
use super::mask::Masks;
use super::pattern::{CompiledPattern, Match, Matches};
use super::view::{Ternary, View};
use crate::detect::finding::{ContextWord, Finding, Score, Span};
use crate::detect::rules::{Anchor, Rule, RuleRef};
use crate::detect::selection::RuleSelection;
use crate::detect::validate::CheckResult;

/// Candidates, not resolved yet.
pub(crate) type Candidates = Vec<Finding>;

/// One look at a window.
pub(crate) struct WindowPass<'a> {
    /// All rules of the catalogue.
    pub(crate) rules: &'a [Rule],
    pub(crate) lexicon: &'a Lexicon,
    pub(crate) view: View<'a>,
    pub(crate) masks: &'a Masks,
    /// The rules that are on.
    pub(crate) selection: &'a RuleSelection,
    /// Stands in place of the rules' thresholds.
    pub(crate) floor: Option<Score>,
    /// Words before the values looked at so far.
    pub(crate) memo: RefCell<Memo>,
    /// Room for the rules that words near one match support.
    pub(crate) supported: RefCell<Supported>,
    /// Room for the ends of one token's beginnings.
    pub(crate) cuts: RefCell<Vec<(usize, u32)>>,
    /// Room for the checks of one start's matches that said no.
    pub(crate) failed: RefCell<Vec<FailedCheck>>,
    /// Steps so far: bytes walked, looked up and checked beside the one look that each byte of a text gets. They are what a
    /// text costs, the same number on any machine.
    pub(crate) steps: Cell<usize>,
}

/// What became of one match.
pub(crate) enum Evaluation {
    Rejected,
    /// The pattern's check says no.
    CheckFailed,
    NeedMore,
    Accepted(Finding),
}

/// Matches of one pattern from one start that its check may say no to, one after the other.
const TRIES: usize = 6;
/// What a check costs beside the bytes it sees, in steps.
const CHECK: usize = 16;

/// A pattern whose check said no to matches from one start.
pub(crate) struct FailedCheck {
    pattern: *const CompiledPattern,
    times: usize,
    /// How long the last one was.
    length: usize,
}

/// What became of all matches from one start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartOutcome {
    /// Not decided on the text so far.
    NeedMore,
    /// None was accepted.
    Nothing,
    /// The longest accepted ends here.
    UpTo(usize),
}

impl WindowPass<'_> {
    /// Counts steps.
    #[inline]
    pub(crate) fn step(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
    }

    /// The score below which nothing is reported.
    pub(crate) fn threshold(&self, rule: &Rule) -> f32 {
        self.floor.map_or(rule.threshold, Score::value)
    }

    const fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { view: &self.view, masks: self.masks, lexicon: self.lexicon }
    }

    /// What the pattern's check says of `start..end` of the window.
    pub(crate) fn check(&self, pattern: &CompiledPattern, start: usize, end: usize) -> CheckResult {
        self.step(CHECK + (end - start));
        (pattern.check)(self.view.slice(start, end))
    }

    /// Evaluates `start..end` of the window as a match of `pattern`: selection, edges, check, words near it.
    pub(crate) fn evaluate(&self, pattern: &CompiledPattern, start: usize, end: usize) -> Evaluation {
        let view = &self.view;
        if !self.selection.has(pattern.rule) || !view.starts(start, pattern.edge) {
            return Evaluation::Rejected;
        }
        let ends = view.ends(end, pattern.edge);
        if ends == Ternary::No {
            return Evaluation::Rejected;
        }
        let base = match self.check(pattern, start, end) {
            CheckResult::No => return Evaluation::CheckFailed,
            CheckResult::Yes => pattern.score,
            CheckResult::Sure => 1.0,
        };
        let Some(rule) = self.rules.get(pattern.rule.index()) else { return Evaluation::Rejected };
        if ends == Ternary::Unknown {
            return Evaluation::NeedMore;
        }
        if rule.anchor == Anchor::Digit {
            if view.in_dump(start) {
                return Evaluation::Rejected;
            }
            match view.in_uuid(start, end) {
                Ternary::Yes => return Evaluation::Rejected,
                Ternary::Unknown => return Evaluation::NeedMore,
                Ternary::No => {}
            }
        }
        let rule_ref = RuleRef { id: pattern.rule, rule };
        let surroundings = self.surroundings();
        let asked = self.memo.borrow().asked;
        let mut near = self.memo.borrow_mut().before(surroundings, start, rule_ref);
        self.step(self.memo.borrow().asked - asked);
        if with(base, near) < self.threshold(rule) && near.is_none_or(|near| near.augment > 0.0) {
            near = match self.memo.borrow_mut().after(surroundings, end, rule_ref) {
                WordsAfter::NeedMore => return Evaluation::NeedMore,
                WordsAfter::Nothing => return Evaluation::Rejected,
                WordsAfter::Word(near) => Some(near),
            };
        }
        let score = with(base, near);
        if score < self.threshold(rule) {
            return Evaluation::Rejected;
        }
        let span = Span::new(view.base + start, view.base + end);
        Evaluation::Accepted(Finding { rule: pattern.rule, span, score: Score::new(score), near })
    }

    /// Evaluates all matches of a walk, longest first; of the patterns that cannot count alone, only those of rules that
    /// are `supported`.
    pub(crate) fn settle(
        &self,
        automaton: &Automaton,
        walk: &AutomatonWalk,
        supported: &Supported,
        found: &mut Candidates,
    ) -> StartOutcome {
        let which = if supported.any() { MatchFilter::All } else { MatchFilter::Alone };
        let mut settling = self.settling(walk.start, supported, found);
        for &end in walk.ends.iter().rev() {
            for pattern in automaton.matches(end, which) {
                if settling.offer(Match { end: end.at, pattern }).is_break() {
                    return StartOutcome::NeedMore;
                }
            }
        }
        settling.settled()
    }

    /// The same for matches from `start`, in the order given.
    pub(crate) fn settle_all<'p>(
        &self,
        start: usize,
        matches: impl Iterator<Item = Match<'p>>,
        supported: &Supported,
        found: &mut Candidates,
    ) -> StartOutcome {
        let mut settling = self.settling(start, supported, found);
        for one in matches {
            if settling.offer(one).is_break() {
                return StartOutcome::NeedMore;
            }
        }
        settling.settled()
    }

    fn settling<'s>(
        &'s self,
        start: usize,
        supported: &'s Supported,
        found: &'s mut Candidates,
    ) -> StartMatches<'s> {
        let mut failed = self.failed.borrow_mut();
        failed.clear();
        StartMatches { pass: self, start, supported, kept: found.len(), found, failed, longest: None }
    }

    /// Whether all that begins at `start` is decided.
    pub(crate) fn try_start(
        &self,
        automaton: &Automaton,
        walk: &mut AutomatonWalk,
        start: usize,
        found: &mut Candidates,
    ) -> bool {
        if !automaton.may_begin(&self.view, start) {
            return true;
        }
        let step = automaton.walk(&self.view, walk, start, usize::MAX);
        self.step(walk.at - start);
        match step {
            WalkEnd::NeedMore | WalkEnd::Overlong => false,
            WalkEnd::Dead if walk.ends.is_empty() => true,
            WalkEnd::Dead => {
                let supported = &mut *self.supported.borrow_mut();
                self.look_up(&walk.matches(), automaton.group, supported);
                let counts = walk.alone || supported.any();
                !counts || self.settle(automaton, walk, supported, found) != StartOutcome::NeedMore
            }
        }
    }

    /// Looks up which rules of the group words near matches support. Most numbers match a pattern of some rule that
    /// counts only then, so this is done once for all of them.
    pub(crate) fn look_up(&self, matches: &Matches, group: GroupId, supported: &mut Supported) {
        supported.before.clear();
        supported.behind.clear();
        let all = self.floor.is_some();
        (supported.before_unknown, supported.behind_unknown) = (all, all);
        if all {
            return;
        }
        let surroundings = self.surroundings();
        let mut memo = self.memo.borrow_mut();
        let asked = memo.asked;
        if matches.needy {
            memo.before_of(surroundings, matches.start, group, &mut supported.before);
        }
        if matches.ahead {
            let ends = matches.first..=matches.last;
            supported.behind_unknown = !memo.after_of(surroundings, ends, group, &mut supported.behind);
        }
        self.step(memo.asked - asked);
    }
}

/// The matches from one start, one after the other.
struct StartMatches<'s> {
    pass: &'s WindowPass<'s>,
    start: usize,
    supported: &'s Supported,
    /// How much had been found before.
    kept: usize,
    found: &'s mut Candidates,
    failed: RefMut<'s, Vec<FailedCheck>>,
    /// Where the longest that was accepted ends.
    longest: Option<usize>,
}

impl StartMatches<'_> {
    /// Evaluates one. Breaks off where more text is needed, and then nothing of this start is found.
    #[inline]
    fn offer(&mut self, Match { end, pattern }: Match<'_>) -> ControlFlow<()> {
        self.pass.step(1);
        if !self.supported.fits(pattern) {
            return ControlFlow::Continue(());
        }
        let length = end - self.start;
        let mut ours = self.found.iter().skip(self.kept);
        if ours.any(|one| one.rule == pattern.rule && one.score.value() >= pattern.score)
            || !worth_trying(&self.failed, pattern, length)
        {
            return ControlFlow::Continue(());
        }
        match self.pass.evaluate(pattern, self.start, end) {
            Evaluation::Rejected => {}
            Evaluation::CheckFailed => note_failure(&mut self.failed, pattern, length),
            Evaluation::Accepted(finding) => {
                self.longest = self.longest.max(Some(end));
                self.found.push(finding);
            }
            Evaluation::NeedMore => {
                self.found.truncate(self.kept);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn settled(self) -> StartOutcome {
        self.longest.map_or(StartOutcome::Nothing, StartOutcome::UpTo)
    }
}

/// Whether a match of this length may be accepted where longer ones were failed: the longest few are tried, then
/// those of half the length each.
fn worth_trying(failed: &[FailedCheck], pattern: &CompiledPattern, length: usize) -> bool {
    let known = failed.iter().find(|one| std::ptr::eq(one.pattern, pattern));
    known.is_none_or(|one| one.times < TRIES || length <= one.length / 2)
}

fn note_failure(failed: &mut Vec<FailedCheck>, pattern: &CompiledPattern, length: usize) {
    match failed.iter_mut().find(|one| std::ptr::eq(one.pattern, pattern)) {
        Some(one) => (one.times, one.length) = (one.times + 1, length),
        None => failed.push(FailedCheck { pattern, times: 1, length }),
    }
}

fn with(base: f32, near: Option<ContextWord>) -> f32 {
    base + near.map_or(0.0, |near| near.augment)
}
