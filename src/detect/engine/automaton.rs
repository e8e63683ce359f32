//! One anchored dense DFA for all patterns of a group, and a walk through it that can stop where the text stops
//! and go on when more arrives. All ends of all patterns are reported, since a shorter match may be the one that
//! its validator accepts.

use regex_automata::Anchored;
use regex_automata::MatchKind;
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};

use super::super::finding::RuleId;
use super::super::rule::Edge;
use super::super::validate::Check;
use super::view::View;

/// Memory that one group's automaton may take, and that building it may take.
const DFA_LIMIT: usize = 6 << 20;
const BUILD_LIMIT: usize = 32 << 20;

/// A pattern beside its place in the automaton.
#[derive(Clone, Copy)]
pub(crate) struct Compiled {
    pub(crate) rule: RuleId,
    pub(crate) score: f32,
    pub(crate) check: Check,
    pub(crate) edge: Edge,
    /// Whether a match can count though no word before it speaks for it.
    pub(crate) alone: bool,
}

/// What the patterns of a match state have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    /// One of them can count alone.
    alone: bool,
    /// One of them cannot.
    needy: bool,
    /// One of them may end within a word.
    open: bool,
}

impl Traits {
    fn or(self, other: Self) -> Self {
        Self {
            alone: self.alone || other.alone,
            needy: self.needy || other.needy,
            open: self.open || other.open,
        }
    }
}

/// The patterns of one group.
pub(crate) struct Automaton {
    dfa: dense::DFA<Vec<u32>>,
    start: Option<StateID>,
    pub(crate) patterns: Vec<Compiled>,
    /// The traits of each state, by its place in the table.
    traits: Vec<Traits>,
    /// Whether a value may begin with a byte.
    begins: Box<[bool; 256]>,
}

/// Where matches end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    state: StateID,
    pub(crate) at: usize,
}

/// How a walk came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No longer match is possible: all ends are known.
    Dead,
    /// The window ended and more text could make another match.
    Hungry,
    /// The limit was reached and more text could make another match.
    Grown,
}

/// A walk from one start. Offsets are the window's.
#[derive(Default)]
pub(crate) struct Walk {
    /// Whether it is under way or at rest at `start`, so that it can be taken up again.
    pub(crate) live: bool,
    pub(crate) start: usize,
    pub(crate) at: usize,
    state: StateID,
    pub(crate) ends: Vec<End>,
    /// Whether one of the ends is of a pattern that can count alone.
    pub(crate) alone: bool,
    /// Whether one is of a pattern that counts only where a word before it speaks for it.
    pub(crate) needy: bool,
}

impl Walk {
    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        self.live &= self.at >= by;
        // What has grown may have begun long before.
        self.start = self.start.saturating_sub(by);
        self.at = self.at.saturating_sub(by);
        for end in &mut self.ends {
            end.at = end.at.saturating_sub(by);
        }
    }
}

/// The regular expression syntax of all rules: bytes, ASCII classes.
pub(crate) fn config() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

impl Automaton {
    /// `None` if the patterns together are too large. They are known to parse.
    pub(crate) fn new(regexes: &[String], patterns: Vec<Compiled>) -> Option<Self> {
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .match_kind(MatchKind::All)
                    .start_kind(StartKind::Anchored)
                    .dfa_size_limit(Some(DFA_LIMIT))
                    .determinize_size_limit(Some(BUILD_LIMIT)),
            )
            .syntax(config())
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(DFA_LIMIT)))
            .build_many(regexes)
            .ok()?;
        let start = dfa.universal_start_state(Anchored::Yes);
        let mut automaton = Self { dfa, start, patterns, traits: Vec::new(), begins: Box::new([true; 256]) };
        automaton.traits = automaton.all_traits();
        let states = start_states(&automaton.dfa);
        for (byte, begins) in (0..=255).zip(automaton.begins.iter_mut()) {
            let dead = |&state: &StateID| automaton.dfa.is_dead_state(automaton.dfa.next_state(state, byte));
            *begins = !states.iter().all(dead);
        }
        Some(automaton)
    }

    /// The traits of every state that can be reached.
    fn all_traits(&self) -> Vec<Traits> {
        let units: Vec<u8> =
            self.dfa.byte_classes().representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();
        let mut known: Vec<Option<Traits>> = Vec::new();
        let mut rest: Vec<StateID> = start_states(&self.dfa);
        while let Some(state) = rest.pop() {
            let place = self.place(state);
            if known.len() <= place {
                known.resize(place + 1, None);
            }
            let Some(traits @ None) = known.get_mut(place) else { continue };
            let of = |pattern: &Compiled| Traits {
                alone: pattern.alone,
                needy: !pattern.alone,
                open: pattern.edge == Edge::Open,
            };
            let all = self.matches_in(state).map(|(_, pattern)| of(pattern));
            *traits = Some(all.fold(Traits::default(), Traits::or));
            rest.extend(units.iter().map(|&byte| self.dfa.next_state(state, byte)));
            rest.push(self.dfa.next_eoi_state(state));
        }
        known.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn place(&self, state: StateID) -> usize {
        state.as_usize() >> self.dfa.stride2()
    }

    fn matches_in(&self, state: StateID) -> impl Iterator<Item = (usize, &Compiled)> {
        let count = if self.dfa.is_match_state(state) { self.dfa.match_len(state) } else { 0 };
        let patterns = (0..count).map(move |n| self.dfa.match_pattern(state, n).as_usize());
        patterns.filter_map(|n| Some((n, self.patterns.get(n)?)))
    }

    /// The patterns that match up to `end`.
    pub(crate) fn matches(&self, end: End) -> impl Iterator<Item = &Compiled> {
        self.matches_in(end.state).map(|(_, pattern)| pattern)
    }

    /// Bytes the automaton takes.
    pub(crate) fn memory(&self) -> usize {
        self.dfa.memory_usage() + self.traits.len() * size_of::<Traits>()
    }

    /// Whether a value may begin with the byte at `at`.
    #[inline]
    pub(crate) fn may_begin(&self, view: &View<'_>, at: usize) -> bool {
        view.get(at).is_some_and(|byte| self.begins.get(usize::from(byte)).is_some_and(|&begins| begins))
    }

    fn begin(&self, view: &View<'_>, at: usize) -> StateID {
        self.start.unwrap_or_else(|| {
            let look = start::Config::new().anchored(Anchored::Yes).look_behind(view.before(at, 1));
            // Only a quit byte makes this an error, and none is set.
            self.dfa.start_state(&look).unwrap_or_default()
        })
    }

    /// Walks from `start` up to `limit` bytes, or takes up the walk that stopped there.
    #[inline]
    pub(crate) fn walk(&self, view: &View<'_>, walk: &mut Walk, start: usize, limit: usize) -> Fate {
        if !walk.live || walk.start != start {
            walk.live = true;
            walk.start = start;
            walk.at = start;
            walk.state = self.begin(view, start);
            walk.ends.clear();
            (walk.alone, walk.needy) = (false, false);
        }
        self.go_on(view, walk, start.saturating_add(limit))
    }

    /// Goes on up to the offset `limit`.
    #[inline]
    pub(crate) fn go_on(&self, view: &View<'_>, walk: &mut Walk, limit: usize) -> Fate {
        let (mut state, mut at) = (walk.state, walk.at);
        let stop = limit.min(view.len());
        let mut dead = false;
        while let Some(&byte) = view.text.get(at).filter(|_| at < stop) {
            state = self.dfa.next_state(state, byte);
            if self.dfa.is_special_state(state) {
                if self.dfa.is_match_state(state) {
                    // A match is reported one byte late.
                    self.note(state, at, Some(byte), walk);
                } else if self.dfa.is_dead_state(state) || self.dfa.is_quit_state(state) {
                    dead = true;
                    break;
                }
            }
            at += 1;
        }
        (walk.state, walk.at) = (state, at);
        if dead { Fate::Dead } else { self.rest(view, walk, limit) }
    }

    #[cold]
    fn rest(&self, view: &View<'_>, walk: &mut Walk, limit: usize) -> Fate {
        if walk.at < view.len() || !view.complete {
            return match self.is_spent(walk.state) {
                true => Fate::Dead,
                false if walk.at >= limit => Fate::Grown,
                false => Fate::Hungry,
            };
        }
        let state = self.dfa.next_eoi_state(walk.state);
        if self.dfa.is_match_state(state) {
            self.note(state, walk.at, None, walk);
        }
        Fate::Dead
    }

    /// Keeps what ends at `at`, before `next`. Most ends lie within a word, where only open ones count.
    #[inline]
    fn note(&self, state: StateID, at: usize, next: Option<u8>, walk: &mut Walk) {
        let traits = self.traits.get(self.place(state)).copied().unwrap_or_default();
        if !traits.open && next.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            return;
        }
        walk.alone |= traits.alone;
        walk.needy |= traits.needy;
        walk.ends.push(End { state, at });
    }

    /// Whether no text that follows makes a match: a match that is just reported, and can't go on.
    fn is_spent(&self, state: StateID) -> bool {
        let ends = |byte| self.dfa.is_dead_state(self.dfa.next_state(state, byte));
        let mut bytes = self.dfa.byte_classes().representatives(0..=255).filter_map(|unit| unit.as_u8());
        bytes.all(ends) && !self.dfa.is_match_state(self.dfa.next_eoi_state(state))
    }

    /// Whether a value could begin at `start` and go on beyond the window.
    pub(crate) fn open(&self, view: &View<'_>, start: usize) -> bool {
        let mut state = self.begin(view, start);
        for &byte in view.slice(start, view.len()) {
            state = self.dfa.next_state(state, byte);
            if self.dfa.is_special_state(state) && !self.dfa.is_match_state(state) {
                return false;
            }
        }
        !self.is_spent(state)
    }
}

/// The states in which an anchored walk can begin.
fn start_states(dfa: &dense::DFA<Vec<u32>>) -> Vec<StateID> {
    let before = (0..=255).map(Some).chain([None]);
    let looks = before.map(|byte| start::Config::new().anchored(Anchored::Yes).look_behind(byte));
    looks.filter_map(|look| dfa.start_state(&look).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::validate;

    fn two() -> Automaton {
        let any = |rule| Compiled {
            rule: RuleId::new(rule),
            score: 1.0,
            check: validate::named("any").unwrap(),
            edge: Edge::Open,
            alone: true,
        };
        Automaton::new(&[r"\d{2,4}".to_owned(), r"\d{3}-\d".to_owned()], vec![any(0), any(1)]).unwrap()
    }

    fn view(text: &str, complete: bool) -> View<'_> {
        View { text: text.as_bytes(), base: 0, complete }
    }

    fn ends(automaton: &Automaton, walk: &Walk) -> Vec<(usize, usize)> {
        let of = |end: &End| automaton.matches_in(end.state).map(|(n, _)| (n, end.at)).collect::<Vec<_>>();
        walk.ends.iter().flat_map(of).collect()
    }

    #[test]
    fn all_ends_of_all_patterns_are_reported() {
        let (automaton, mut walk) = (two(), Walk::default());
        assert_eq!(automaton.walk(&view("123-4", true), &mut walk, 0, 99), Fate::Dead);
        assert_eq!(ends(&automaton, &walk), [(0, 2), (0, 3), (1, 5)]);
    }

    #[test]
    fn a_walk_goes_on_where_the_text_stopped() {
        let (automaton, mut walk) = (two(), Walk::default());
        for text in ["", "1", "12", "123", "123-"] {
            assert_eq!(automaton.walk(&view(text, false), &mut walk, 0, 99), Fate::Hungry);
        }
        assert_eq!(automaton.walk(&view("123-4 ", false), &mut walk, 0, 99), Fate::Dead);
        assert_eq!(ends(&automaton, &walk), [(0, 2), (0, 3), (1, 5)]);
        assert!(automaton.open(&view("x12", false), 1) && !automaton.open(&view("x12", false), 0));
    }
}
