//! A deterministic automaton as one small table. `regex-automata` builds it; here its states are renumbered in the
//! order in which a walk comes upon them, two bytes each, so that those that text really visits lie side by side.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use crate::detect::rules::syntax;

/// Memory that one automaton may take while it is built, and that building it may take, in bytes.
const DFA_LIMIT: usize = 48 << 20;
const BUILD_LIMIT: usize = 96 << 20;

/// A state: zero is dead, those from [`Table::matching`] on are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State(u16);

/// The automaton.
pub(crate) struct Table {
    /// The class of each byte.
    classes: [u8; 256],
    /// The class of the text's end.
    end: u8,
    /// A state's row has two to the power of this many places.
    width: u32,
    next: Vec<u16>,
    /// The state to begin in behind each byte, and at the text's beginning.
    starts: Vec<u16>,
    /// The first state that is reported.
    matching: u16,
    /// Where each reported state's patterns lie in `patterns`.
    lists: Vec<(u32, u32)>,
    patterns: Vec<u16>,
}

impl Table {
    /// The automaton of all matches of `regexes` from where a walk begins. `None` if they are too large together.
    /// They are known to parse.
    pub(crate) fn new(regexes: &[String]) -> Option<Self> {
        // Many rules have values of one shape: they share one expression.
        let mut unique: Vec<&str> = Vec::new();
        let mut shared: Vec<Vec<u16>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (regex, n) in regexes.iter().zip(0..) {
            let place = *places.entry(regex).or_insert_with(|| {
                unique.push(regex);
                shared.push(Vec::new());
                unique.len() - 1
            });
            shared.get_mut(place)?.push(n);
        }
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .match_kind(MatchKind::All)
                    .start_kind(StartKind::Anchored)
                    .dfa_size_limit(Some(DFA_LIMIT))
                    .determinize_size_limit(Some(BUILD_LIMIT)),
            )
            .syntax(syntax::config())
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(DFA_LIMIT)))
            .build_many(&unique)
            .ok()?;
        Renumbering::of(&dfa)?.table(&dfa, &shared)
    }

    /// The state in which to begin behind `before`.
    pub(crate) fn start(&self, before: Option<u8>) -> State {
        State(self.starts.get(before.map_or(256, usize::from)).copied().unwrap_or(0))
    }

    #[inline]
    fn step(&self, state: State, class: u8) -> State {
        let place = usize::from(state.0) << self.width | usize::from(class);
        State(self.next.get(place).copied().unwrap_or(0))
    }

    /// The state after `byte`.
    #[inline]
    pub(crate) fn next(&self, state: State, byte: u8) -> State {
        self.step(state, self.classes.get(usize::from(byte)).copied().unwrap_or(0))
    }

    /// The state after the text's end.
    pub(crate) fn next_end(&self, state: State) -> State {
        self.step(state, self.end)
    }

    /// Whether it is dead or reported.
    #[inline]
    pub(crate) fn is_special(&self, state: State) -> bool {
        state.0.wrapping_sub(1) >= self.matching.wrapping_sub(1)
    }

    /// Whether no match is possible any more.
    #[inline]
    pub(crate) fn is_dead(state: State) -> bool {
        state.0 == 0
    }

    /// The place of a reported state among those.
    #[inline]
    pub(crate) fn reported(&self, state: State) -> Option<usize> {
        state.0.checked_sub(self.matching).map(usize::from).filter(|_| state.0 != 0)
    }

    /// How many states are reported.
    pub(crate) fn reports(&self) -> usize {
        self.lists.len()
    }

    /// The patterns that the reported state at `place` is a match of.
    pub(crate) fn patterns(&self, place: usize) -> &[u16] {
        let &(from, to) = self.lists.get(place).unwrap_or(&(0, 0));
        self.patterns.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Whether no text that follows leads to a match.
    pub(crate) fn is_spent(&self, state: State) -> bool {
        let row = usize::from(state.0) << self.width;
        self.next.get(row..row + (1 << self.width)).unwrap_or_default().iter().all(|&next| next == 0)
    }

    /// Bytes it takes.
    pub(crate) fn memory(&self) -> usize {
        (self.next.len() + self.starts.len() + self.patterns.len()) * 2 + self.lists.len() * 8
    }
}

/// The states of an automaton in the order in which they are come upon, those that are reported behind the others.
struct Renumbering {
    /// One byte of each class.
    units: Vec<u8>,
    order: Vec<StateID>,
    /// The new number of each state, by its place among the automaton's.
    numbers: Vec<u16>,
    starts: Vec<StateID>,
    matching: u16,
}

impl Renumbering {
    fn of(dfa: &dense::DFA<Vec<u32>>) -> Option<Self> {
        let units: Vec<u8> =
            dfa.byte_classes().representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();
        let before = (0..=255).map(Some).chain([None]);
        let looks = before.map(|byte| start::Config::new().anchored(Anchored::Yes).look_behind(byte));
        let starts: Vec<StateID> = looks.map(|look| dfa.start_state(&look).ok()).collect::<Option<_>>()?;
        let dead = |state: StateID| dfa.is_dead_state(state) || dfa.is_quit_state(state);
        let mut seen: Vec<bool> = Vec::new();
        let mut order: Vec<StateID> = Vec::new();
        let come = |state: StateID, seen: &mut Vec<bool>, order: &mut Vec<StateID>| {
            let place = state.as_usize() >> dfa.stride2();
            if seen.len() <= place {
                seen.resize(2 * place + 1, false);
            }
            if let Some(seen @ false) = seen.get_mut(place).filter(|_| !dead(state)) {
                *seen = true;
                order.push(state);
            }
        };
        starts.iter().for_each(|&state| come(state, &mut seen, &mut order));
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            units.iter().for_each(|&byte| come(dfa.next_state(state, byte), &mut seen, &mut order));
            come(dfa.next_eoi_state(state), &mut seen, &mut order);
            at += 1;
        }
        let (matches, others): (Vec<_>, Vec<_>) =
            order.into_iter().partition(|&state| dfa.is_match_state(state));
        let matching = u16::try_from(others.len() + 1).ok()?;
        let order: Vec<StateID> = others.into_iter().chain(matches).collect();
        u16::try_from(order.len() + 1).ok()?;
        let mut numbers = vec![0; seen.len()];
        for (state, number) in order.iter().zip(1..) {
            *numbers.get_mut(state.as_usize() >> dfa.stride2())? = number;
        }
        Some(Self { units, order, numbers, starts, matching })
    }

    fn table(&self, dfa: &dense::DFA<Vec<u32>>, shared: &[Vec<u16>]) -> Option<Table> {
        let stride = dfa.stride2();
        let number = |state: StateID| self.numbers.get(state.as_usize() >> stride).copied().unwrap_or(0);
        let width = (self.units.len() + 1).next_power_of_two().trailing_zeros();
        let mut next = vec![0; (self.order.len() + 1) << width];
        for (row, &state) in next.chunks_exact_mut(1 << width).skip(1).zip(&self.order) {
            let reached = self.units.iter().map(|&byte| dfa.next_state(state, byte));
            let reached = reached.chain([dfa.next_eoi_state(state)]);
            row.iter_mut().zip(reached).for_each(|(to, state)| *to = number(state));
        }
        let mut classes = [0; 256];
        for (byte, class) in (0..=255).zip(classes.iter_mut()) {
            *class = dfa.byte_classes().get(byte);
        }
        // Classes are numbered in the order of the bytes that stand for them.
        let numbered = self.units.iter().zip(0..).all(|(&unit, n)| dfa.byte_classes().get(unit) == n);
        let (mut lists, mut patterns) = (Vec::new(), Vec::new());
        for &state in self.order.iter().filter(|&&state| dfa.is_match_state(state)) {
            let from = u32::try_from(patterns.len()).ok()?;
            for n in 0..dfa.match_len(state) {
                patterns.extend(shared.get(dfa.match_pattern(state, n).as_usize())?);
            }
            lists.push((from, u32::try_from(patterns.len()).ok()?));
        }
        let starts = self.starts.iter().map(|&state| number(state)).collect();
        let end = u8::try_from(self.units.len()).ok()?;
        numbered.then_some(Table {
            classes,
            end,
            width,
            next,
            starts,
            matching: self.matching,
            lists,
            patterns,
        })
    }
}
