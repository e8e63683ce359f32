//! One anchored dense DFA for all patterns of a group, and a walk through it that can stop where the text stops
//! and go on when more arrives. All ends of all patterns are reported, since a shorter match may be the one that
//! its validator accepts.

use super::group_id::GroupId;
use super::pattern::{CompiledPattern, Matches, Traits};
use super::states::State;
use super::table::TransitionTable;
use super::view::View;

/// The patterns of one group.
pub(crate) struct Automaton {
    pub(crate) group: GroupId,
    table: TransitionTable,
    pub(crate) patterns: Vec<CompiledPattern>,
    /// Whether a value may begin with a byte.
    begins: Box<[bool; 256]>,
}

/// Where matches end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchEnds {
    state: State,
    pub(crate) at: usize,
    /// Whether one of the patterns can count alone.
    alone: bool,
}

/// Which of the patterns that match are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchFilter {
    All,
    /// Those that can count alone.
    Alone,
}

/// How a walk came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WalkEnd {
    /// No longer match is possible: all ends are known.
    Dead,
    /// The window ended and more text could make another match.
    NeedMore,
    /// The limit was reached and more text could make another match.
    Overlong,
}

/// A walk from one start. Offsets are the window's.
#[derive(Default)]
pub(crate) struct AutomatonWalk {
    /// Whether it is under way or at rest at `start`, so that it can be taken up again.
    pub(crate) live: bool,
    pub(crate) start: usize,
    pub(crate) at: usize,
    state: State,
    pub(crate) ends: Vec<MatchEnds>,
    /// Whether one of the ends is of a pattern that can count alone.
    pub(crate) alone: bool,
    /// Whether one is of a pattern that counts only where a word before it supports it.
    pub(crate) needy: bool,
    /// Whether a word behind it can support one of those.
    pub(crate) ahead: bool,
}

impl AutomatonWalk {
    /// What the matches so far have in common.
    pub(crate) fn matches(&self) -> Matches {
        let (first, last) =
            (self.ends.first().map_or(0, |end| end.at), self.ends.last().map_or(0, |end| end.at));
        let Self { start, alone, needy, ahead, .. } = *self;
        Matches { start, first, last, alone, needy, ahead }
    }

    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.live &= self.at >= by;
        // An overlong value may have begun long before.
        self.start = self.start.saturating_sub(by);
        self.at = self.at.saturating_sub(by);
        for end in &mut self.ends {
            end.at = end.at.saturating_sub(by);
        }
    }
}

impl Automaton {
    /// The patterns of `group`. `None` if they are too large together, which is tried unless it is `proven` that they are
    /// not. They are known to parse.
    pub(crate) fn new(
        group: GroupId,
        regexes: &[String],
        patterns: Vec<CompiledPattern>,
        proven: bool,
    ) -> Option<Self> {
        let table = TransitionTable::new(regexes, patterns.iter().map(Traits::of).collect(), proven)?;
        let mut automaton = Self { group, table, patterns, begins: Box::new([true; 256]) };
        let mut starts: Vec<State> =
            (0..=255).map(Some).chain([None]).map(|byte| automaton.table.start(byte)).collect();
        starts.sort_unstable_by_key(|state| state.number());
        starts.dedup();
        for (byte, begins) in (0..=255).zip(automaton.begins.iter_mut()) {
            *begins = starts.iter().any(|&state| !automaton.table.next(state, byte).is_dead());
        }
        Some(automaton)
    }

    /// The patterns that match up to `end`: all, or those that can count alone.
    pub(crate) fn matches(
        &self,
        end: MatchEnds,
        which: MatchFilter,
    ) -> impl Iterator<Item = &CompiledPattern> {
        // Most ends have none of those.
        let report = if which == MatchFilter::All || end.alone { self.table.report(end.state) } else { None };
        let places = report.map(|report| match which {
            MatchFilter::All => &report.all,
            MatchFilter::Alone => &report.alone,
        });
        places
            .map(AsRef::as_ref)
            .unwrap_or_default()
            .iter()
            .filter_map(|&n| self.patterns.get(usize::from(n)))
    }

    /// Bytes the automaton takes.
    pub(crate) fn memory(&self) -> usize {
        self.table.memory()
    }

    /// Whether a value may begin with the byte at `at`.
    #[inline]
    pub(crate) fn may_begin(&self, view: &View<'_>, at: usize) -> bool {
        view.get(at).is_some_and(|byte| self.begins.get(usize::from(byte)).is_some_and(|&begins| begins))
    }

    /// Walks from `start` up to `limit` bytes, or takes up the walk that stopped there.
    #[inline]
    pub(crate) fn walk(
        &self,
        view: &View<'_>,
        walk: &mut AutomatonWalk,
        start: usize,
        limit: usize,
    ) -> WalkEnd {
        if !walk.live || walk.start != start {
            walk.live = true;
            walk.start = start;
            walk.at = start;
            walk.state = self.table.start(view.before(start, 1));
            walk.ends.clear();
            (walk.alone, walk.needy, walk.ahead) = (false, false, false);
        }
        self.go_on(view, walk, start.saturating_add(limit))
    }

    /// Goes on up to the offset `limit`.
    #[inline]
    pub(crate) fn go_on(&self, view: &View<'_>, walk: &mut AutomatonWalk, limit: usize) -> WalkEnd {
        let (mut state, mut at) = (walk.state, walk.at);
        let stop = limit.min(view.len());
        let mut dead = false;
        for &byte in view.text.get(at..stop).unwrap_or_default() {
            state = self.table.next(state, byte);
            if state.is_special() {
                if state.is_dead() {
                    dead = true;
                    break;
                }
                // A match is reported one byte late.
                self.note(state, at, Some(byte), walk);
            }
            at += 1;
        }
        (walk.state, walk.at) = (state, at);
        if dead { WalkEnd::Dead } else { self.rest(view, walk, limit) }
    }

    #[cold]
    fn rest(&self, view: &View<'_>, walk: &mut AutomatonWalk, limit: usize) -> WalkEnd {
        if walk.at < view.len() || !view.complete {
            // What goes on with the text is not spent, whatever else could follow.
            let goes_on = view.get(walk.at).is_some_and(|byte| !self.table.next(walk.state, byte).is_dead());
            return match goes_on || !self.table.is_spent(walk.state) {
                false => WalkEnd::Dead,
                true if walk.at >= limit => WalkEnd::Overlong,
                true => WalkEnd::NeedMore,
            };
        }
        let state = self.table.next_end(walk.state);
        self.note(state, walk.at, None, walk);
        WalkEnd::Dead
    }

    /// Keeps what ends at `at`, before `next`. Most ends lie within a word, where only open ones count.
    #[inline]
    fn note(&self, state: State, at: usize, next: Option<u8>, walk: &mut AutomatonWalk) {
        let Some(traits) = self.table.traits(state) else { return };
        if !traits.open && next.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            return;
        }
        walk.alone |= traits.alone;
        walk.needy |= traits.needy;
        walk.ahead |= traits.ahead;
        walk.ends.push(MatchEnds { state, at, alone: traits.alone });
    }

    /// Whether a value could begin at `start` and go on beyond the window.
    pub(crate) fn open(&self, view: &View<'_>, start: usize) -> bool {
        let mut state = self.table.start(view.before(start, 1));
        for &byte in view.slice(start, view.len()) {
            state = self.table.next(state, byte);
            if state.is_dead() {
                return false;
            }
        }
        !self.table.is_spent(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::finding::RuleId;
    use crate::detect::rules::Edge;
    use crate::detect::validate;

    fn two() -> Automaton {
        let any = |rule| CompiledPattern {
            rule: RuleId::new(rule),
            score: 1.0,
            check: validate::named("any").unwrap(),
            edge: Edge::Open,
            alone: true,
            ahead: false,
        };
        Automaton::new(
            GroupId::Digits,
            &[r"\d{2,4}".to_owned(), r"\d{3}-\d".to_owned()],
            vec![any(0), any(1)],
            false,
        )
        .unwrap()
    }

    fn view(text: &str, complete: bool) -> View<'_> {
        View { text: text.as_bytes(), base: 0, complete }
    }

    fn ends(automaton: &Automaton, walk: &AutomatonWalk) -> Vec<(usize, usize)> {
        let of = |end: &MatchEnds| {
            automaton
                .matches(*end, MatchFilter::All)
                .map(|one| (one.rule.index(), end.at))
                .collect::<Vec<_>>()
        };
        walk.ends.iter().flat_map(of).collect()
    }

    #[test]
    fn all_ends_of_all_patterns_are_reported() {
        let (automaton, mut walk) = (two(), AutomatonWalk::default());
        assert_eq!(automaton.walk(&view("123-4", true), &mut walk, 0, 99), WalkEnd::Dead);
        assert_eq!(ends(&automaton, &walk), [(0, 2), (0, 3), (1, 5)]);
    }

    #[test]
    fn a_walk_goes_on_where_the_text_stopped() {
        let (automaton, mut walk) = (two(), AutomatonWalk::default());
        for text in ["", "1", "12", "123", "123-"] {
            assert_eq!(automaton.walk(&view(text, false), &mut walk, 0, 99), WalkEnd::NeedMore);
        }
        assert_eq!(automaton.walk(&view("123-4 ", false), &mut walk, 0, 99), WalkEnd::Dead);
        assert_eq!(ends(&automaton, &walk), [(0, 2), (0, 3), (1, 5)]);
        assert!(automaton.open(&view("x12", false), 1) && !automaton.open(&view("x12", false), 0));
    }
}
