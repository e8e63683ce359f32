//! Values that outgrew their reach. They are certain by then, so they are not held until they end: each piece of
//! `reach` bytes is a finding of its own, and the next adjoins it. The pieces are cut at multiples of the reach
//! from the value's start, wherever the text was split.

use super::automaton::{Automaton, AutomatonWalk, MatchFilter, WalkEnd};
use super::context::Supported;
use super::pass::{Candidates, StartOutcome, WindowPass};
use super::pattern::CompiledPattern;
use super::track::Track;
use super::view::Ternary;
use crate::detect::finding::{Finding, RuleId, Score, Span};
use crate::detect::validate::CheckResult;

/// The shortest run that costs so much that it may count as a whole, in bytes.
const RUN: usize = 64;

/// The longest match of a start, not checked.
enum Unchecked {
    Nothing,
    NeedMore,
    /// Its rule, and where it ends.
    Match(RuleId, usize),
}

impl WindowPass<'_> {
    /// Goes on with what is under way in this group. The offset from which to scan on; `None` if it still goes on.
    pub(crate) fn go_on(
        &self,
        automaton: &Automaton,
        track: &mut Track,
        found: &mut Candidates,
    ) -> Option<usize> {
        let Some(mut overlong) = track.overlong.take() else { return Some(track.at) };
        loop {
            let limit = overlong.piece + overlong.reach;
            let step = automaton.go_on(&self.view, &mut track.walk, limit);
            let ours = track.walk.ends.iter();
            let ours = ours.filter(|end| {
                automaton.matches(**end, MatchFilter::All).any(|pattern| pattern.rule == overlong.rule)
            });
            overlong.last = ours.map(|end| end.at).max().unwrap_or(overlong.last);
            track.walk.ends.clear();
            match step {
                WalkEnd::Overlong => {
                    let cut = self.view.boundary(limit);
                    self.report_piece(overlong.rule, overlong.piece, cut, found);
                    overlong.piece = cut;
                }
                WalkEnd::NeedMore => {
                    track.at = overlong.piece;
                    track.overlong = Some(overlong);
                    return None;
                }
                WalkEnd::Dead => {
                    let end = overlong.last.max(overlong.piece);
                    if end > overlong.piece {
                        self.report_piece(overlong.rule, overlong.piece, end, found);
                    }
                    track.walk.live = false;
                    track.at = end;
                    return Some(end);
                }
            }
        }
    }

    /// The rule whose value has outgrown its reach, by the matches seen so far: the longest, then the likeliest. Where
    /// what starts may cost is used up, no check is made, and `begun` gives the rule by how the value begins.
    pub(crate) fn overlong_rule(
        &self,
        automaton: &Automaton,
        track: &mut Track,
        limit: usize,
        begun: &dyn Fn() -> Option<RuleId>,
    ) -> Option<RuleId> {
        let walk = &track.walk;
        let before = self.steps.get();
        // Each pattern with its longest match.
        let mut candidates: Vec<(usize, &CompiledPattern)> = Vec::new();
        for &end in walk.ends.iter().rev() {
            for pattern in automaton.matches(end, MatchFilter::All) {
                if !candidates.iter().any(|&(_, known)| std::ptr::eq(known, pattern)) {
                    candidates.push((end.at, pattern));
                }
            }
        }
        candidates.retain(|(_, pattern)| self.could_count(pattern, walk.start));
        let best = |fits: &dyn Fn(&CompiledPattern) -> bool| {
            let fitting = candidates.iter().filter(|(_, pattern)| fits(pattern));
            let best = fitting.max_by(|(a, x), (b, y)| {
                a.cmp(b).then(x.score.total_cmp(&y.score)).then(y.rule.cmp(&x.rule))
            });
            best.map(|(_, pattern)| pattern.rule)
        };
        let proved = best(&|pattern| self.check(pattern, walk.start, limit) != CheckResult::No);
        if proved.is_some() {
            return proved;
        }
        self.step(walk.ends.len());
        if track.budget.spend(walk.start, limit - walk.start + (self.steps.get() - before)) {
            return None;
        }
        best(&|_| true).or_else(begun)
    }

    /// Whether a match of `pattern` at `start` would be reported if its check said yes.
    fn could_count(&self, pattern: &CompiledPattern, start: usize) -> bool {
        let threshold = self.rules.get(pattern.rule.index()).map_or(1.0, |rule| self.threshold(rule));
        self.selection.has(pattern.rule)
            && pattern.score >= threshold
            && self.view.starts(start, pattern.edge)
    }

    /// Settles the matches of a walk that has ended, within what starts may cost: where that is used up, the longest
    /// match counts though no check was asked, or all that was walked where `begun` knows its rule by how it begins.
    pub(crate) fn settle_within(
        &self,
        automaton: &Automaton,
        track: &mut Track,
        begun: &dyn Fn() -> Option<RuleId>,
        found: &mut Candidates,
    ) -> StartOutcome {
        let walk = &track.walk;
        let before = self.steps.get();
        let settled = self.settle(automaton, walk, &Supported::UNKNOWN, found);
        if settled != StartOutcome::Nothing {
            return settled;
        }
        let mut budget = track.budget;
        if !budget.spend(walk.start, walk.at - walk.start + (self.steps.get() - before)) {
            match self.unchecked(automaton, walk) {
                Unchecked::NeedMore => return StartOutcome::NeedMore,
                // No match, but a long run of what matches are made of.
                Unchecked::Nothing => {
                    let end = self.view.boundary(walk.at);
                    if let Some(rule) = begun().filter(|_| end >= walk.start + RUN) {
                        track.budget = budget;
                        self.report_piece(rule, walk.start, end, found);
                        return StartOutcome::UpTo(end);
                    }
                }
                Unchecked::Match(rule, end) => {
                    track.budget = budget;
                    self.report_piece(rule, walk.start, end, found);
                    return StartOutcome::UpTo(end);
                }
            }
        }
        track.budget = budget;
        settled
    }

    /// The longest match of a walk that could be reported if its check said yes.
    fn unchecked(&self, automaton: &Automaton, walk: &AutomatonWalk) -> Unchecked {
        let ends = walk.ends.iter().rev();
        let all = ends
            .flat_map(|&end| automaton.matches(end, MatchFilter::All).map(move |pattern| (end.at, pattern)));
        for (end, pattern) in all {
            if !self.could_count(pattern, walk.start) {
                continue;
            }
            match self.view.ends(end, pattern.edge) {
                Ternary::Yes => return Unchecked::Match(pattern.rule, end),
                Ternary::Unknown => return Unchecked::NeedMore,
                Ternary::No => {}
            }
        }
        Unchecked::Nothing
    }

    /// Reports `start..end` of the window as a piece of a value of `rule` that is certain.
    pub(crate) fn report_piece(&self, rule: RuleId, start: usize, end: usize, found: &mut Candidates) {
        let span = Span::new(self.view.base + start, self.view.base + end);
        found.push(Finding { rule, span, score: Score::new(1.0), near: None });
    }
}
