//! Overlaps: one sweep in order of starts over clusters of candidates that overlap, directly or through others.
//! In a cluster the higher score wins, then the longer, then the rule that stands first in the catalogue; what
//! overlaps a winner is dropped.
//!
//! A value that its label says to be a secret is covered whole, whatever is found in it: it takes the place of the winners
//! that it holds, unless they cover all of it, and of one that reaches beyond it what that leaves is a finding of its own.
//! Around a vendor's secret stands no other: `x-access-token:ghp_…`.
//!
//! A cluster takes no candidate that begins [`CLUSTER`] bytes or more behind its first, so that a chain of
//! overlapping candidates cannot hold a stream back. A later candidate that overlaps what a closed cluster gave out
//! is cut to begin where that ended.

use super::finding::{Finding, RuleId};

/// How far a cluster reaches from its first start, in bytes.
pub(crate) const CLUSTER: usize = 128;

/// The least that another leaves of a value that is covered, in bytes, and the least of one that was cut: a sign that parts the
/// two is no secret.
const LEFT: usize = 2;
const CUT: usize = 4;

/// Resolves candidates as they become known.
#[derive(Default)]
pub(crate) struct Resolver {
    cluster: Vec<Finding>,
    /// Where the cluster's last candidate ends.
    end: usize,
    /// Where the last finding that was given out ends.
    settled: usize,
    chosen: Vec<Finding>,
    /// Candidates by their labels that overlap what was chosen.
    labelled: Vec<Finding>,
}

/// What a resolver carries over, wherever the text begins.
#[derive(Debug, PartialEq)]
pub(crate) struct ResolverState {
    cluster: Vec<Finding>,
    /// Offsets behind the place that they are counted from; they lie before it, so they wrap.
    end: usize,
    settled: usize,
}

/// What a rule knows its values by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBy {
    /// What they are given to: all of them is secret.
    Label,
    /// How a vendor's secrets begin: what stands around one is not.
    Prefix,
    Shape,
}

/// Says that of a rule.
pub(crate) type RuleKinds<'a> = &'a dyn Fn(RuleId) -> KnownBy;

impl Resolver {
    /// Takes all candidates of `found` that begin before `frontier`, where all such are known, and gives out what is
    /// resolved. `kinds` says which candidates are covered whole. The offset up to which the text is decided.
    pub(crate) fn advance(
        &mut self,
        found: &mut Vec<Finding>,
        frontier: usize,
        kinds: RuleKinds<'_>,
        sink: &mut dyn FnMut(Finding),
    ) -> usize {
        if !found.is_empty() {
            found.sort_unstable_by_key(|one| (one.span.start, one.span.end, one.rule));
            let known = found.partition_point(|one| one.span.start < frontier);
            for candidate in found.drain(..known) {
                self.take(candidate, kinds, sink);
            }
        }
        match self.cluster.first() {
            Some(first) if frontier >= self.end || frontier >= first.span.start + CLUSTER => {
                self.close(kinds, sink);
                frontier.max(self.settled)
            }
            Some(first) => first.span.start.min(frontier).max(self.settled),
            None => frontier.max(self.settled),
        }
    }

    /// What matters of it for candidates that begin at `frontier` at the earliest, counted from `origin`.
    pub(crate) fn state(&self, frontier: usize, origin: usize) -> ResolverState {
        let by = origin.wrapping_neg();
        ResolverState {
            cluster: self.cluster.iter().map(|one| one.moved(by)).collect(),
            end: if self.cluster.is_empty() { 0 } else { self.end.wrapping_add(by) },
            settled: self.settled.max(frontier).wrapping_add(by),
        }
    }

    /// The text begins `by` bytes earlier.
    pub(crate) fn shift(&mut self, by: usize) {
        self.cluster.iter_mut().for_each(|one| *one = one.moved(by));
        self.settled += by;
        if !self.cluster.is_empty() {
            self.end += by;
        }
    }

    /// Begins anew.
    pub(crate) fn reset(&mut self) {
        self.cluster.clear();
        self.end = 0;
        self.settled = 0;
    }

    fn take(&mut self, mut candidate: Finding, kinds: RuleKinds<'_>, sink: &mut dyn FnMut(Finding)) {
        let start = candidate.span.start;
        if self.cluster.first().is_some_and(|first| start >= self.end || start >= first.span.start + CLUSTER)
        {
            self.close(kinds, sink);
        }
        if candidate.span.end <= self.settled {
            return;
        }
        candidate.span.start = start.max(self.settled);
        self.end = self.end.max(candidate.span.end);
        self.cluster.push(candidate);
    }

    fn close(&mut self, kinds: RuleKinds<'_>, sink: &mut dyn FnMut(Finding)) {
        if self.cluster.len() > 1 {
            self.cluster.sort_unstable_by(|a, b| {
                let score = b.score.value().total_cmp(&a.score.value());
                let length = b.span.len().cmp(&a.span.len());
                score.then(length).then(a.rule.cmp(&b.rule)).then(a.span.start.cmp(&b.span.start))
            });
        }
        self.chosen.clear();
        self.labelled.clear();
        for candidate in self.cluster.drain(..) {
            if !self.chosen.iter().any(|one| one.span.overlaps(candidate.span)) {
                self.chosen.push(candidate);
            } else if kinds(candidate.rule) == KnownBy::Label {
                self.labelled.push(candidate);
            }
        }
        for &candidate in &self.labelled {
            cover(&mut self.chosen, candidate, kinds);
        }
        self.chosen.sort_unstable_by_key(|one| one.span.start);
        for &one in &self.chosen {
            self.settled = one.span.end;
            sink(one);
        }
        self.end = 0;
    }
}

/// Puts `labelled` in place of those of `chosen` that lie in it, cut where others reach beyond it.
fn cover(chosen: &mut Vec<Finding>, labelled: Finding, kinds: RuleKinds<'_>) {
    let mut span = labelled.span;
    for one in chosen.iter().filter(|one| one.span.overlaps(labelled.span)) {
        if kinds(one.rule) == KnownBy::Prefix {
            return;
        }
        if one.span.start < labelled.span.start {
            span.start = one.span.end;
        }
        if one.span.end > labelled.span.end {
            span.end = one.span.start;
        }
    }
    let within = |one: &Finding| span.start <= one.span.start && one.span.end <= span.end;
    let inner = || chosen.iter().filter(|one| within(one));
    let covered: usize = inner().map(|one| one.span.len()).sum();
    let least = match inner().count() {
        _ if span != labelled.span => CUT,
        0 | 1 => LEFT,
        _ => 1,
    };
    if covered + least <= span.len() {
        chosen.retain(|one| !within(one));
        chosen.push(Finding { span, ..labelled });
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Score, Span};
    use super::*;

    fn finding(rule: u16, start: usize, end: usize, score: f32) -> Finding {
        Finding { rule: RuleId::new(rule), span: Span::new(start, end), score: Score::new(score), near: None }
    }

    /// The first are known by their shapes, those from 7 on by prefixes, and those from 10 on by labels.
    fn kinds(rule: RuleId) -> KnownBy {
        match rule.index() {
            0..7 => KnownBy::Shape,
            7..10 => KnownBy::Prefix,
            _ => KnownBy::Label,
        }
    }

    fn resolved(mut found: Vec<Finding>) -> Vec<(u16, usize, usize)> {
        let (mut resolver, mut out) = (Resolver::default(), Vec::new());
        resolver.advance(&mut found, usize::MAX, &kinds, &mut |one| out.push(one));
        assert!(out.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        out.iter()
            .map(|one| (u16::try_from(one.rule.index()).unwrap(), one.span.start, one.span.end))
            .collect()
    }

    #[test]
    fn score_then_length_then_order_decides() {
        let cases = [
            (vec![finding(0, 0, 5, 0.5), finding(1, 3, 9, 0.9)], vec![(1, 3, 9)]),
            (vec![finding(0, 0, 5, 0.9), finding(1, 3, 9, 0.9)], vec![(1, 3, 9)]),
            (vec![finding(1, 0, 5, 0.9), finding(0, 0, 5, 0.9)], vec![(0, 0, 5)]),
            (vec![finding(0, 0, 5, 0.9), finding(1, 5, 9, 0.1)], vec![(0, 0, 5), (1, 5, 9)]),
            // The middle one loses to the last and so frees the first.
            (
                vec![finding(0, 0, 5, 0.5), finding(1, 4, 9, 0.6), finding(2, 8, 12, 0.7)],
                vec![(0, 0, 5), (2, 8, 12)],
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(resolved(found), expected);
        }
    }

    #[test]
    fn what_a_label_says_to_be_a_secret_is_covered_whole() {
        let cases = [
            (vec![finding(10, 0, 30, 0.5), finding(1, 8, 20, 0.9)], vec![(10, 0, 30)]),
            (
                vec![finding(10, 0, 30, 0.5), finding(1, 2, 9, 0.9), finding(2, 12, 20, 1.0)],
                vec![(10, 0, 30)],
            ),
            // One within another, and one that loses to both.
            (vec![finding(10, 0, 30, 0.5), finding(11, 8, 20, 0.6)], vec![(10, 0, 30)]),
            (
                vec![finding(10, 0, 30, 0.6), finding(1, 8, 20, 0.9), finding(2, 18, 40, 0.5)],
                vec![(10, 0, 30)],
            ),
            // All of it is covered by others.
            (vec![finding(10, 0, 30, 0.5), finding(1, 0, 30, 0.9)], vec![(1, 0, 30)]),
            (vec![finding(10, 5, 20, 0.5), finding(1, 0, 30, 0.9)], vec![(1, 0, 30)]),
            (
                vec![finding(10, 0, 30, 0.5), finding(1, 0, 10, 0.9), finding(2, 10, 30, 0.9)],
                vec![(1, 0, 10), (2, 10, 30)],
            ),
            // Others reach beyond it.
            (vec![finding(10, 0, 30, 0.5), finding(1, 20, 40, 0.9)], vec![(10, 0, 20), (1, 20, 40)]),
            (vec![finding(10, 10, 30, 0.5), finding(1, 0, 20, 0.9)], vec![(1, 0, 20), (10, 20, 30)]),
            (
                vec![finding(10, 10, 50, 0.5), finding(1, 0, 20, 0.9), finding(2, 25, 30, 0.9)],
                vec![(1, 0, 20), (10, 20, 50)],
            ),
            (vec![finding(10, 0, 10, 0.5), finding(1, 3, 20, 0.9)], vec![(1, 3, 20)]),
            (vec![finding(10, 0, 30, 0.5), finding(1, 0, 29, 0.9)], vec![(1, 0, 29)]),
            // Known by a prefix, or without a label.
            (vec![finding(10, 0, 30, 0.5), finding(9, 8, 20, 0.9)], vec![(9, 8, 20)]),
            (vec![finding(6, 0, 30, 0.5), finding(1, 8, 20, 0.9)], vec![(1, 8, 20)]),
        ];
        for (found, expected) in cases {
            assert_eq!(resolved(found), expected);
        }
    }

    #[test]
    fn a_long_chain_is_cut_and_goes_on() {
        let chain: Vec<Finding> = (0..100).map(|n| finding(0, n * 10, n * 10 + 15, 0.9)).collect();
        let out = resolved(chain);
        assert!(out.len() >= 50 && out.last().unwrap().2 >= 995);
    }

    #[test]
    fn an_open_cluster_holds_back_from_its_start() {
        let (mut resolver, mut out) = (Resolver::default(), Vec::new());
        let mut found = vec![finding(0, 10, 20, 0.9)];
        assert_eq!(resolver.advance(&mut found, 15, &kinds, &mut |one| out.push(one)), 10);
        assert_eq!(resolver.advance(&mut found, 20, &kinds, &mut |one| out.push(one)), 20);
        assert_eq!(out.len(), 1);
    }
}
