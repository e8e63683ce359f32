//! The engine: from text to candidate findings. It works on a window of the text and never decides on text that
//! has not arrived, so a stream and a whole text are one code path; eight groups of rules are scanned apart, each
//! by what its values must contain.
//!
//! | file | finds |
//! |---|---|
//! | [`digits`] | what has a digit near its beginning |
//! | [`token`], [`shape`] | long runs of letters and digits |
//! | [`email_ip`] | e-mail addresses from `@`, IPv6 from `:` |
//! | [`prefix`] | secrets by their prefix |
//! | [`assign`] | secrets by the name they are given to |
//! | [`names`] | persons, places, organisations |
//! | [`custom`] | operators' own patterns |
//! | [`overlong`] | what outgrew its reach |
//! | [`budget`] | what starts that come to nothing may cost |
//! | [`judge`] | from a match to a finding |
//!
//! [`mask`] steps over what cannot hold any of it, [`automaton`] is what walks from a
//! start, on a [`table`].

mod assign;
mod automaton;
mod budget;
mod build;
mod custom;
mod digits;
mod email_ip;
pub(crate) mod judge;
pub(crate) mod mask;
mod names;
mod overlong;
mod prefix;
mod shape;
mod table;
mod token;
pub(crate) mod view;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::context::{AFTER, Lexicon, Memo};
use super::finding::{Finding, RuleId, Score};
use super::resolve::CLUSTER;
use super::rule::Rule;
use super::selection::RuleSelection;
pub(crate) use assign::REACH as ASSIGN_REACH;
use assign::{Assigned, Progress};
pub(crate) use assign::{Meaning, meaning};
use automaton::{Automaton, Compiled, Walk};
use budget::Budget;
use custom::Custom;
use judge::SpokenFor;
use mask::Masks;
use names::Names;
pub(crate) use names::REACH as NAME_REACH;
use overlong::Overlong;
use prefix::Prefixes;
pub(crate) use table::config;
use token::Tokens;
use view::View;

/// Candidates, not resolved yet.
pub(crate) type Found = Vec<Finding>;

/// The groups that rules are scanned in.
pub(crate) mod group {
    pub(crate) const DIGITS: usize = 0;
    pub(crate) const TOKENS: usize = 1;
    pub(crate) const EMAILS: usize = 2;
    pub(crate) const IPV6: usize = 3;
    pub(crate) const PREFIXES: usize = 4;
    pub(crate) const CUSTOM: usize = 5;
    pub(crate) const ASSIGNED: usize = 6;
    pub(crate) const NAMES: usize = 7;
    pub(crate) const COUNT: usize = 8;
}

/// How far one group has come.
#[derive(Default)]
pub(crate) struct Track {
    /// All that begins before here is known; an offset of the window.
    pub(crate) at: usize,
    walk: Walk,
    budget: Budget,
    overlong: Option<Overlong>,
    assigned: Progress,
}

/// How far a scan has come.
#[derive(Default)]
pub(crate) struct Tracks([Track; group::COUNT]);

impl Tracks {
    /// All candidates that begin before this offset of the window are known.
    pub(crate) fn frontier(&self) -> usize {
        self.0.iter().map(|track| track.at).min().unwrap_or(0)
    }

    /// Begins with a value at `at` of the window, behind the label that says what it is.
    pub(crate) fn begin(&mut self, at: usize, meaning: Option<Meaning>) {
        for track in &mut self.0 {
            track.at = at;
        }
        if let Some(track) = self.0.get_mut(group::ASSIGNED) {
            track.assigned = Progress::labelled(meaning);
        }
    }

    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        for track in &mut self.0 {
            track.at = track.at.saturating_sub(by);
            track.walk.shift(by);
            track.budget.shift(by);
            if let Some(overlong) = &mut track.overlong {
                overlong.shift(by);
            }
        }
    }

    /// Begins anew; what was allocated stays.
    pub(crate) fn reset(&mut self) {
        for track in &mut self.0 {
            track.at = 0;
            track.walk.live = false;
            track.budget = Budget::default();
            track.overlong = None;
            track.assigned = Progress::default();
        }
    }
}

/// Rules, compiled.
pub(crate) struct Engine {
    pub(crate) rules: Arc<Vec<Rule>>,
    lexicon: Lexicon,
    digits: Option<Automaton>,
    tokens: Tokens,
    emails: Vec<Compiled>,
    ipv6: Vec<Compiled>,
    prefixes: Option<Prefixes>,
    custom: Option<Custom>,
    assigned: Option<Assigned>,
    names: Option<Names>,
    /// The rules of each group.
    groups: [RuleSelection; group::COUNT],
}

/// One look at a window.
pub(crate) struct Pass<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) view: View<'a>,
    pub(crate) masks: &'a Masks,
    pub(crate) selection: &'a RuleSelection,
    /// Stands in place of the rules' thresholds.
    pub(crate) floor: Option<Score>,
    /// Words before the values asked about so far.
    pub(crate) memo: RefCell<Memo>,
    /// Room for the rules that words near one match speak for.
    pub(crate) spoken_for: RefCell<SpokenFor>,
    /// Room for the ends of one token's beginnings.
    pub(crate) cuts: RefCell<Vec<(usize, u32)>>,
    /// Room for what the checks of one start's matches said no to.
    pub(crate) refused: RefCell<Vec<judge::Refused>>,
    /// Steps so far: bytes walked, looked up and checked beside the one look that each byte of a text gets. What a text
    /// costs, told alike on any machine.
    pub(crate) steps: Cell<usize>,
}

impl Engine {
    /// Bytes the automata take.
    pub(crate) fn memory(&self) -> usize {
        let automata = self.digits.as_ref().map_or(0, Automaton::memory) + self.tokens.memory();
        let prefixes = self.prefixes.as_ref().map_or(0, Prefixes::memory);
        automata
            + prefixes
            + self.assigned.as_ref().map_or(0, Assigned::memory)
            + self.names.as_ref().map_or(0, Names::memory)
            + self.custom.as_ref().map_or(0, Custom::memory)
    }

    /// The most that a stream holds back with these rules on, in bytes.
    pub(crate) fn reach(&self, selection: &RuleSelection) -> usize {
        let on = self
            .rules
            .iter()
            .enumerate()
            .filter(|(n, _)| u16::try_from(*n).is_ok_and(|n| selection.has(RuleId::new(n))));
        let right =
            |rule: &Rule| if rule.context.values().any(|words| !words.after.is_empty()) { AFTER } else { 0 };
        on.map(|(_, rule)| rule.reach() + right(rule) + 2 + CLUSTER).max().unwrap_or(0)
    }
}

impl Pass<'_> {
    /// Scans on from where `tracks` stand; pushes the candidates that are decided, in no order.
    pub(crate) fn run(&self, tracks: &mut Tracks, found: &mut Found) {
        let [digits, tokens, emails, ipv6, prefixes, custom, assigned, names] = &mut tracks.0;
        match &self.engine.digits {
            Some(automaton) if self.is_on(group::DIGITS) => self.digits(automaton, digits, found),
            _ => digits.at = self.view.len(),
        }
        if self.is_on(group::TOKENS) {
            self.tokens(&self.engine.tokens, tokens, found);
        } else {
            tokens.at = self.view.len();
        }
        if self.is_on(group::EMAILS) {
            self.emails(&self.engine.emails, emails, found);
        } else {
            emails.at = self.view.len();
        }
        if self.is_on(group::IPV6) {
            self.ipv6(&self.engine.ipv6, ipv6, found);
        } else {
            ipv6.at = self.view.len();
        }
        match &self.engine.prefixes {
            Some(group) if self.is_on(group::PREFIXES) => self.prefixes(group, prefixes, found),
            _ => prefixes.at = self.view.len(),
        }
        match &self.engine.custom {
            Some(group) if self.is_on(group::CUSTOM) => self.custom(group, custom, found),
            _ => custom.at = self.view.len(),
        }
        match &self.engine.assigned {
            Some(group) if self.is_on(group::ASSIGNED) => self.assigned(group, assigned, found),
            _ => assigned.at = self.view.len(),
        }
        match &self.engine.names {
            Some(group) if self.is_on(group::NAMES) => self.names(group, names, found),
            _ => names.at = self.view.len(),
        }
    }

    /// Counts steps.
    #[inline]
    pub(crate) fn step(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
    }

    /// The score below which nothing is reported.
    fn threshold(&self, rule: &Rule) -> f32 {
        self.floor.map_or(rule.threshold, Score::value)
    }

    fn is_on(&self, group: usize) -> bool {
        self.engine.groups.get(group).is_some_and(|rules| self.selection.meets(rules))
    }
}
