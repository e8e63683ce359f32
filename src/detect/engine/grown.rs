//! Values that outgrew their reach. They are certain by then, so they are not held until they end: each piece of
//! `reach` bytes is a finding of its own, and the next adjoins it. The pieces are cut at multiples of the reach
//! from the value's start, wherever the text was split.

use super::super::finding::{Finding, RuleId, Score, Span};
use super::super::validate::Verdict;
use super::automaton::{Automaton, Fate, Walk};
use super::{Found, Pass, Track};

/// A value under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grown {
    rule: RuleId,
    /// Where the piece that is not reported yet begins.
    piece: usize,
    /// Where the last match ended.
    last: usize,
    reach: usize,
}

impl Grown {
    pub(crate) fn new(rule: RuleId, start: usize, reach: usize) -> Self {
        Self { rule, piece: start, last: start, reach }
    }

    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.piece = self.piece.saturating_sub(by);
        self.last = self.last.saturating_sub(by);
    }
}

impl Pass<'_> {
    /// Goes on with what is under way in this group. The offset from which to scan on; `None` if it still goes on.
    pub(crate) fn grow(&self, automaton: &Automaton, track: &mut Track, found: &mut Found) -> Option<usize> {
        let Some(mut grown) = track.grown.take() else { return Some(track.at) };
        loop {
            let limit = grown.piece + grown.reach;
            let fate = automaton.go_on(&self.view, &mut track.walk, limit);
            let ours = track.walk.ends.iter();
            let ours = ours.filter(|end| automaton.matches(**end).any(|pattern| pattern.rule == grown.rule));
            grown.last = ours.map(|end| end.at).max().unwrap_or(grown.last);
            track.walk.ends.clear();
            match fate {
                Fate::Grown => {
                    let cut = self.boundary(limit);
                    self.piece(grown, cut, found);
                    grown.piece = cut;
                }
                Fate::Hungry => {
                    track.at = grown.piece;
                    track.grown = Some(grown);
                    return None;
                }
                Fate::Dead => {
                    let end = grown.last.max(grown.piece);
                    if end > grown.piece {
                        self.piece(grown, end, found);
                    }
                    track.walk.live = false;
                    track.at = end;
                    return Some(end);
                }
            }
        }
    }

    /// The rule whose value has outgrown its reach, by the matches seen so far: the longest, then the likeliest.
    pub(crate) fn outgrown(&self, automaton: &Automaton, walk: &Walk, limit: usize) -> Option<RuleId> {
        let seen =
            walk.ends.iter().flat_map(|&end| automaton.matches(end).map(move |pattern| (end.at, pattern)));
        let fit = seen.filter(|(_, pattern)| {
            let threshold =
                self.engine.rules.get(pattern.rule.index()).map_or(1.0, |rule| self.threshold(rule));
            self.choice.has(pattern.rule)
                && pattern.score >= threshold
                && self.view.starts(walk.start, pattern.edge)
                && (pattern.check)(self.view.slice(walk.start, limit)) != Verdict::No
        });
        let best =
            fit.max_by(|(a, x), (b, y)| a.cmp(b).then(x.score.total_cmp(&y.score)).then(y.rule.cmp(&x.rule)));
        best.map(|(_, pattern)| pattern.rule)
    }

    fn piece(&self, grown: Grown, end: usize, found: &mut Found) {
        let span = Span::new(self.view.base + grown.piece, self.view.base + end);
        found.push(Finding { rule: grown.rule, span, score: Score::new(1.0), near: None });
    }

    /// One piece of a value of `rule` that is certain.
    pub(crate) fn long_piece(&self, rule: RuleId, start: usize, end: usize, found: &mut Found) {
        self.piece(Grown::new(rule, start, 0), end, found);
    }

    /// The last character boundary at or before `at`.
    pub(crate) fn boundary(&self, at: usize) -> usize {
        let inside = |at: usize| self.view.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        (0..4).map(|back| at - back).find(|&at| !inside(at)).unwrap_or(at)
    }
}
