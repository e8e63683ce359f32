//! A deterministic automaton as one small table that is filled as it is walked, two bytes a place: states that text really
//! visits lie side by side, in the order in which they were come upon, and what no text visits is never built. Readers
//! take no lock: a place goes from unknown to what it is, once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use super::pattern::Traits;
use super::states::{State, StateMatches, States};

/// Rows that each table has room for, and rows of all states that there can be; zeros of memory that nothing has touched
/// take none.
const NEAR: usize = 1 << 13;
const ALL: usize = 1 << 16;

/// The automaton.
pub(crate) struct TransitionTable {
    states: States,
    /// The class of each byte.
    classes: [u8; 256],
    /// A state's row has two to the power of this many places.
    width: u32,
    /// The rows of the states that were come upon first.
    near: Box<[AtomicU16]>,
    /// Where there are more: the same places and those behind.
    far: OnceLock<Box<[AtomicU16]>>,
    /// The state to begin in behind each byte, and at the text's beginning.
    starts: Vec<State>,
}

impl TransitionTable {
    /// The automaton of all matches of `regexes`, whose traits are `traits`, from where a walk begins. `None` if they are
    /// too large together. They are known to parse. Where it is not `proven` that there is room for all states, that is
    /// tried now.
    pub(crate) fn new(regexes: &[String], traits: Vec<Traits>, proven: bool) -> Option<Self> {
        let states = States::new(regexes, traits)?;
        let mut classes = [0; 256];
        (0..=255).zip(classes.iter_mut()).for_each(|(byte, class)| *class = states.class(byte));
        let before = (0..=255).map(Some).chain([None]);
        let starts = before.map(|byte| states.start(byte)).collect::<Option<_>>()?;
        if !proven {
            states.all()?;
        }
        let width = (usize::from(states.end()) + 1).next_power_of_two().trailing_zeros();
        let near = bytemuck::zeroed_slice_box(NEAR << width);
        Some(Self { states, classes, width, near, far: OnceLock::new(), starts })
    }

    /// The state in which to begin behind `before`.
    pub(crate) fn start(&self, before: Option<u8>) -> State {
        self.starts.get(before.map_or(256, usize::from)).copied().unwrap_or(State::DEAD)
    }

    #[inline]
    fn step(&self, state: State, class: u8) -> State {
        let place = state.row() << self.width | usize::from(class);
        // What the state is a match of was written before its number was.
        let next =
            self.near.get(place).map_or(State::UNKNOWN, |next| State::of(next.load(Ordering::Acquire)));
        if next == State::UNKNOWN { self.beyond(state, class, place) } else { next }
    }

    /// The step where the next state is not among the near ones or not known yet.
    #[cold]
    fn beyond(&self, state: State, class: u8, place: usize) -> State {
        let far = || self.far.get_or_init(|| bytemuck::zeroed_slice_box(ALL << self.width));
        let Some(cell) = self.near.get(place).or_else(|| far().get(place)) else { return State::DEAD };
        match State::of(cell.load(Ordering::Acquire)) {
            State::UNKNOWN => {
                let next = self.derived(state, class);
                cell.store(next.number(), Ordering::Release);
                next
            }
            known => known,
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "there is room: tried when the table was made, or for the built-in rules by a test; to go on without a \
                  state would be to overlook values"
    )]
    fn derived(&self, state: State, class: u8) -> State {
        self.states.next(state, class).expect("there is room for all states")
    }

    /// The state after `byte`.
    #[inline]
    pub(crate) fn next(&self, state: State, byte: u8) -> State {
        self.step(state, self.classes.get(usize::from(byte)).copied().unwrap_or(0))
    }

    /// The state after the text's end.
    pub(crate) fn next_end(&self, state: State) -> State {
        self.step(state, self.states.end())
    }

    /// What the patterns have in common that a state is a match of, if it is reported.
    #[inline]
    pub(crate) fn traits(&self, state: State) -> Option<Traits> {
        self.states.traits(state)
    }

    /// What a state is a match of, if it is reported.
    pub(crate) fn report(&self, state: State) -> Option<&StateMatches> {
        self.states.report(state)
    }

    /// Whether no text that follows leads to a match.
    pub(crate) fn is_spent(&self, state: State) -> bool {
        (0..=self.states.end()).all(|class| self.step(state, class).is_dead())
    }

    /// Bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        let touched = |cells: &[AtomicU16]| {
            cells
                .chunks(2048)
                .filter(|page| page.iter().any(|cell| cell.load(Ordering::Relaxed) != 0))
                .count()
                * 4096
        };
        touched(&self.near) + self.far.get().map_or(0, |far| touched(far)) + self.states.memory()
    }
}

#[cfg(test)]
mod tests {
    use regex_automata::dfa::{Automaton as _, StartKind, dense};
    use regex_automata::{Anchored, Input, MatchKind};

    use super::*;
    use crate::detect::rules::syntax;

    /// Three patterns, of which the last has more states than lie near.
    fn regexes() -> Vec<String> {
        [r"\d{2,4}", r"\d{3}-\d\b", "[ab]*a[ab]{13}c", r"\d{2,4}"].map(str::to_owned).to_vec()
    }

    fn table(proven: bool) -> TransitionTable {
        TransitionTable::new(&regexes(), vec![Traits::default(); 4], proven).unwrap()
    }

    /// Which patterns end where, by the table.
    fn ends(table: &TransitionTable, text: &[u8]) -> Vec<(usize, Vec<u16>)> {
        let (mut state, mut ends) = (table.start(None), Vec::new());
        let mut note = |at, state| ends.extend(table.report(state).map(|report| (at, report.all.to_vec())));
        for (at, &byte) in text.iter().enumerate() {
            state = table.next(state, byte);
            note(at, state);
        }
        note(text.len(), table.next_end(state));
        ends
    }

    /// The same by an automaton that was built whole.
    fn expected(dfa: &dense::DFA<Vec<u32>>, text: &[u8]) -> Vec<(usize, Vec<u16>)> {
        let mut state = dfa.start_state_forward(&Input::new(text).anchored(Anchored::Yes)).unwrap();
        let mut ends = Vec::new();
        for at in 0..=text.len() {
            state =
                text.get(at).map_or_else(|| dfa.next_eoi_state(state), |&byte| dfa.next_state(state, byte));
            if dfa.is_match_state(state) {
                let patterns =
                    (0..dfa.match_len(state)).flat_map(|n| match dfa.match_pattern(state, n).as_usize() {
                        0 => vec![0, 3],
                        n => vec![u16::try_from(n).unwrap()],
                    });
                ends.push((at, patterns.collect()));
            }
        }
        ends
    }

    #[test]
    fn all_who_walk_a_new_one_at_once_see_the_same() {
        let text: Vec<u8> = (0_u32..4000)
            .flat_map(|n| format!("{}{}", "ab".repeat(n as usize % 9), n).into_bytes())
            .collect();
        let texts: Vec<&[u8]> = text.chunks(37).collect();
        let whole = table(false);
        let expected: Vec<_> = texts.iter().map(|text| ends(&whole, text)).take(50).collect();
        for _ in 0..20 {
            let fresh = table(true);
            std::thread::scope(|scope| {
                let walks: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(|| {
                            texts.iter().map(|text| ends(&fresh, text)).take(50).collect::<Vec<_>>()
                        })
                    })
                    .collect();
                for walk in walks {
                    assert_eq!(walk.join().unwrap(), expected);
                }
            });
        }
    }

    #[test]
    fn it_matches_like_one_that_was_built_whole() {
        let mut dice = 7_u32;
        let mut of = |letters: &[u8], length: usize| -> Vec<u8> {
            let mut next = || {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                letters[(dice >> 16) as usize % letters.len()]
            };
            (0..length).map(|_| next()).collect()
        };
        let config = dense::Config::new().match_kind(MatchKind::All).start_kind(StartKind::Anchored);
        let dfa = dense::Builder::new()
            .configure(config)
            .syntax(syntax::config())
            .build_many(&regexes()[..3])
            .unwrap();
        let (lazy, whole) = (table(true), table(false));
        for n in 0..6000 {
            let text = if n % 3 == 0 { of(b"0123-4 ", 9) } else { of(b"ababababababababc", 40) };
            let expected = expected(&dfa, &text);
            assert_eq!(ends(&lazy, &text), expected, "{text:?}");
            assert_eq!(ends(&whole, &text), expected, "{text:?}");
        }
        assert!(lazy.far.get().is_some(), "some lie far");
    }
}
