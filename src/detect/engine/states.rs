//! The states of an automaton, derived from its patterns one at a time. `regex-automata` does that (its lazy DFA); here
//! each gets a small number when it is first come upon, and keeps it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use super::pattern::Traits;
use crate::detect::rules::syntax;

/// Memory that the patterns of one automaton may take, and all that is derived from them, in bytes.
const PATTERNS: usize = 48 << 20;
const DERIVED: usize = 96 << 20;
/// How many states there may be of those that are reported, and of the others.
const MOST: u16 = (1 << 15) - 1;
/// Reports are kept in so many blocks of so many.
const BLOCKS: usize = 128;
const BLOCK: usize = (MOST as usize + 1) / BLOCKS;

/// A state, by the row of its steps. Those that are come upon early lie in front. What a walk has to look at, the dead state and
/// those that are reported, has an odd one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State(u16);

impl State {
    /// Of a place that is not known yet.
    pub(crate) const UNKNOWN: Self = Self(0);
    /// No match is possible any more.
    pub(crate) const DEAD: Self = Self(1);

    pub(crate) const fn of(number: u16) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u16 {
        self.0
    }

    /// The `n`-th of those that are not reported.
    const fn plain(n: u16) -> Self {
        Self((n + 1) << 1)
    }

    /// The `n`-th of those that are.
    const fn reported(n: u16) -> Self {
        Self((n + 1) << 1 | 1)
    }

    /// Which of those that are reported it is, if it is one.
    #[inline]
    fn as_reported(self) -> Option<usize> {
        if self.is_special() { usize::from(self.0 >> 1).checked_sub(1) } else { None }
    }

    /// Which of the others.
    fn as_plain(self) -> Option<usize> {
        if self.is_special() { None } else { usize::from(self.0 >> 1).checked_sub(1) }
    }

    /// Where its row lies among those of all states.
    #[inline]
    pub(crate) const fn row(self) -> usize {
        self.0 as usize
    }

    #[inline]
    pub(crate) fn is_dead(self) -> bool {
        self == Self::DEAD
    }

    /// Whether it is dead or reported.
    #[inline]
    pub(crate) const fn is_special(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The places of the patterns that a state is a match of.
pub(crate) struct StateMatches {
    pub(crate) all: Box<[u16]>,
    /// Of those, the ones that can count alone.
    pub(crate) alone: Box<[u16]>,
}

/// The states.
pub(crate) struct States {
    dfa: DFA,
    /// One byte of each class.
    units: Vec<u8>,
    /// The patterns that have each expression.
    places: Vec<Vec<u16>>,
    traits: Vec<Traits>,
    met: Mutex<EarlyStates>,
    /// The places of the patterns that each reported state is a match of, by its number among them. What is there stays.
    reports: StateIndex<StateIndex<StateMatches>>,
    /// What those have in common, as bits: a walk asks for this at most of its steps.
    common: Box<[AtomicU8]>,
}

/// Those that were come upon.
struct EarlyStates {
    cache: Cache,
    plain: Vec<LazyStateID>,
    reported: Vec<LazyStateID>,
    numbers: HashMap<LazyStateID, State>,
}

/// Places of which each is filled once.
type StateIndex<T> = Box<[OnceLock<T>]>;

fn empty<T>(count: usize) -> StateIndex<T> {
    (0..count).map(|_| OnceLock::new()).collect()
}

impl States {
    /// Those of the matches of `regexes`, whose traits are `traits`, from where a walk begins. `None` if the expressions
    /// are too large together. They are known to parse.
    pub(crate) fn new(regexes: &[String], traits: Vec<Traits>) -> Option<Self> {
        // Many rules have values of one shape: they share one expression.
        let mut unique: Vec<&str> = Vec::new();
        let mut places: Vec<Vec<u16>> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (regex, n) in regexes.iter().zip(0..) {
            let place = *known.entry(regex).or_insert_with(|| {
                unique.push(regex);
                places.push(Vec::new());
                unique.len() - 1
            });
            places.get_mut(place)?.push(n);
        }
        let config = Config::new()
            .match_kind(MatchKind::All)
            .cache_capacity(DERIVED)
            // What is known is never forgotten: numbers are for good.
            .minimum_cache_clear_count(Some(0));
        let dfa = DFA::builder()
            .configure(config)
            .syntax(syntax::config())
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(PATTERNS)))
            .build_many(&unique)
            .ok()?;
        let units = dfa.byte_classes().representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();
        let met = EarlyStates {
            cache: dfa.create_cache(),
            plain: Vec::new(),
            reported: Vec::new(),
            numbers: HashMap::new(),
        };
        let met = Mutex::new(met);
        let common = bytemuck::zeroed_slice_box(usize::from(MOST));
        let states = Self { dfa, units, places, traits, met, reports: empty(BLOCKS), common };
        // Classes are numbered in the order of the bytes that stand for them.
        states.units.iter().zip(0..).all(|(&unit, n)| states.class(unit) == n).then_some(states)
    }

    /// The class of a byte.
    pub(crate) fn class(&self, byte: u8) -> u8 {
        self.dfa.byte_classes().get(byte)
    }

    /// The class of the text's end, behind those of bytes.
    pub(crate) fn end(&self) -> u8 {
        u8::try_from(self.units.len()).unwrap_or(u8::MAX)
    }

    fn met(&self) -> MutexGuard<'_, EarlyStates> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state to begin in behind `before`; `None` if there is no room for it.
    pub(crate) fn start(&self, before: Option<u8>) -> Option<State> {
        let look = start::Config::new().anchored(Anchored::Yes).look_behind(before);
        let mut met = self.met();
        let state = self.dfa.start_state(&mut met.cache, &look).ok()?;
        self.number(&mut met, state)
    }

    /// The state behind `state` and what is of `class`; `None` if there is no room for it.
    pub(crate) fn next(&self, state: State, class: u8) -> Option<State> {
        let mut met = self.met();
        let met = &mut *met;
        let reported = state.as_reported().and_then(|n| met.reported.get(n));
        let known = reported.or_else(|| state.as_plain().and_then(|n| met.plain.get(n)));
        let Some(&from) = known else { return Some(State::DEAD) };
        let to = match self.units.get(usize::from(class)) {
            Some(&byte) => self.dfa.next_state(&mut met.cache, from, byte),
            None => self.dfa.next_eoi_state(&mut met.cache, from),
        };
        self.number(met, to.ok()?)
    }

    fn number(&self, met: &mut EarlyStates, state: LazyStateID) -> Option<State> {
        if state.is_dead() || state.is_quit() {
            return Some(State::DEAD);
        }
        if let Some(&known) = met.numbers.get(&state) {
            return Some(known);
        }
        let is_match = state.is_match();
        let list = if is_match { &mut met.reported } else { &mut met.plain };
        let n = u16::try_from(list.len()).ok().filter(|&n| n < MOST)?;
        list.push(state);
        let known = if is_match {
            self.put(n, &met.cache, state)?;
            State::reported(n)
        } else {
            State::plain(n)
        };
        met.numbers.insert(state, known);
        Some(known)
    }

    /// Writes down what a reported state is a match of, before anybody is told its number.
    fn put(&self, n: u16, cache: &Cache, state: LazyStateID) -> Option<()> {
        let found = (0..self.dfa.match_len(cache, state)).map(|n| self.dfa.match_pattern(cache, state, n));
        let all: Box<[u16]> =
            found.filter_map(|one| self.places.get(one.as_usize())).flatten().copied().collect();
        let of = |n: u16| self.traits.get(usize::from(n)).copied().unwrap_or_default();
        let alone = all.iter().copied().filter(|&n| of(n).alone).collect();
        let traits = all.iter().map(|&n| of(n)).fold(Traits::default(), Traits::or);
        self.common.get(usize::from(n))?.store(traits.bits(), Ordering::Release);
        let block = self.reports.get(usize::from(n) / BLOCK)?.get_or_init(|| empty(BLOCK));
        block.get(usize::from(n) % BLOCK)?.set(StateMatches { all, alone }).ok()
    }

    /// What the patterns have in common that a state is a match of, if it is reported.
    #[inline]
    pub(crate) fn traits(&self, state: State) -> Option<Traits> {
        let bits = self.common.get(state.as_reported()?)?;
        Some(Traits::of_bits(bits.load(Ordering::Acquire)))
    }

    /// What a state is a match of, if it is reported.
    pub(crate) fn report(&self, state: State) -> Option<&StateMatches> {
        let n = state.as_reported()?;
        self.reports.get(n / BLOCK)?.get()?.get(n % BLOCK)?.get()
    }

    /// Derives all there are. `None` if there is no room for them.
    pub(crate) fn all(&self) -> Option<()> {
        let (mut plain, mut reported) = (0, 0);
        loop {
            let state = {
                let met = self.met();
                if usize::from(plain) < met.plain.len() {
                    plain += 1;
                    State::plain(plain - 1)
                } else if usize::from(reported) < met.reported.len() {
                    reported += 1;
                    State::reported(reported - 1)
                } else {
                    return Some(());
                }
            };
            for class in 0..=self.end() {
                self.next(state, class)?;
            }
        }
    }

    /// Bytes they take.
    pub(crate) fn memory(&self) -> usize {
        let met = self.met();
        let each = size_of::<LazyStateID>() * 3 + size_of::<State>();
        let lists: usize = self
            .reports
            .iter()
            .filter_map(OnceLock::get)
            .flatten()
            .filter_map(OnceLock::get)
            .map(|report| size_of_val(report) + (report.all.len() + report.alone.len()) * 2)
            .sum();
        self.dfa.memory_usage() + met.cache.memory_usage() + met.numbers.len() * each + lists
    }
}
