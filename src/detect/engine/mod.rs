//! The engine: from text to candidate findings. It works on a window of the text and never decides on text that
//! has not arrived, so a stream and a whole text are one code path; seven groups of rules are scanned apart, each
//! by what its values must contain.
//!
//! | file | finds |
//! |---|---|
//! | [`digits`] | what has a digit near its beginning |
//! | [`token`] | long runs of letters and digits |
//! | [`outward`] | e-mail addresses from `@`, IPv6 from `:` |
//! | [`prefix`] | secrets by their prefix |
//! | [`assign`] | secrets by the name they are given to |
//! | [`free`] | operators' own patterns |
//! | [`grown`] | what outgrew its reach |
//! | [`judge`] | from a match to a finding |
//!
//! [`mask`] steps over what cannot hold any of it, [`automaton`] is what walks from a
//! start, on a [`table`].

mod assign;
mod automaton;
mod digits;
mod free;
mod grown;
mod judge;
pub(crate) mod mask;
mod outward;
mod prefix;
mod table;
mod token;
pub(crate) mod view;

use std::cell::RefCell;
use std::sync::Arc;

use super::choice::Choice;
use super::context::{AFTER, Lexicon, Memo};
use super::finding::{Finding, RuleId, Score};
use super::resolve::CLUSTER;
use super::rule::{Anchor, Pattern, Rule, RuleFault};
use super::validate;
pub(crate) use assign::REACH as ASSIGN_REACH;
use assign::{Assigned, Progress};
pub(crate) use automaton::config;
use automaton::{Automaton, Compiled, Walk};
use free::Free;
use grown::Grown;
use mask::Masks;
use prefix::Prefixes;
pub(crate) use table::config;
use view::View;

/// Candidates, not resolved yet.
pub(crate) type Found = Vec<Finding>;

/// Groups of rules: by digit, runs of base64, `@`, IPv6, prefix, free.
const GROUPS: usize = 6;
const DIGITS: usize = 0;
const TOKENS: usize = 1;
/// Groups of rules: by digit, runs of base64, `@`, IPv6, prefix, free, name.
const GROUPS: usize = 7;

/// How far one group has come.
#[derive(Default)]
pub(crate) struct Track {
    /// All that begins before here is known; an offset of the window.
    pub(crate) at: usize,
    walk: Walk,
    grown: Option<Grown>,
    assigned: Progress,
}

/// How far a scan has come.
#[derive(Default)]
pub(crate) struct Tracks([Track; GROUPS]);

impl Tracks {
    /// All candidates that begin before this offset of the window are known.
    pub(crate) fn frontier(&self) -> usize {
        self.0.iter().map(|track| track.at).min().unwrap_or(0)
    }

    /// The window has lost its first `by` bytes.
    pub(crate) fn shift(&mut self, by: usize) {
        for track in &mut self.0 {
            track.at = track.at.saturating_sub(by);
            track.walk.shift(by);
            if let Some(grown) = &mut track.grown {
                grown.shift(by);
            }
        }
    }

    /// Begins anew; what was allocated stays.
    pub(crate) fn reset(&mut self) {
        for track in &mut self.0 {
            track.at = 0;
            track.walk.live = false;
            track.grown = None;
            track.assigned = Progress::default();
        }
    }
}

/// Rules, compiled.
pub(crate) struct Engine {
    pub(crate) rules: Arc<Vec<Rule>>,
    lexicon: Lexicon,
    digits: Option<Automaton>,
    tokens: Option<Automaton>,
    emails: Vec<Compiled>,
    ipv6: Vec<Compiled>,
    prefixes: Option<Prefixes>,
    prefix_rules: Vec<RuleId>,
    free: Option<Free>,
    assigned: Option<Assigned>,
    /// The rules of each group.
    groups: [Choice; GROUPS],
}

/// One look at a window.
pub(crate) struct Pass<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) view: View<'a>,
    pub(crate) masks: &'a Masks,
    pub(crate) choice: &'a Choice,
    /// Stands in place of the rules' thresholds.
    pub(crate) floor: Option<Score>,
    /// Words before the values asked about so far.
    pub(crate) memo: RefCell<Memo>,
}

/// The groups that a rule of this anchor is in.
const fn groups_of(anchor: Anchor) -> &'static [usize] {
    match anchor {
        Anchor::Digit => &[0],
        Anchor::Token => &[1],
        Anchor::At => &[2],
        Anchor::Address => &[0, 3],
        Anchor::Prefix => &[4],
        Anchor::Free => &[5],
        Anchor::Assign => &[6],
    }
}

/// A rule's pattern, or the rule itself where the group's code is the pattern.
fn compiled(id: RuleId, rule: &Rule, pattern: Option<&Pattern>) -> Option<Compiled> {
    let name = pattern.and_then(|pattern| pattern.check.as_ref()).or(rule.check.as_ref());
    let check = validate::named(name.map_or("any", String::as_str))?;
    let score = pattern.and_then(|pattern| pattern.score).unwrap_or(rule.score);
    let edge = pattern.map_or_else(|| rule.default_edge(), |pattern| rule.edge(pattern));
    let alone = score >= rule.threshold || validate::can_be_sure(name.map_or("any", String::as_str));
    let ahead = rule.context.values().any(|words| !words.after.is_empty());
    Some(Compiled { rule: id, score, check, edge, alone, ahead })
}

/// The patterns of a group's rules, as text and compiled.
#[derive(Default)]
struct Patterns {
    regexes: Vec<String>,
    compiled: Vec<Compiled>,
}

impl Patterns {
    fn of(rules: &[(RuleId, &Rule)]) -> Result<Self, RuleFault> {
        let mut all = Self::default();
        for &(id, rule) in rules {
            for pattern in &rule.patterns {
                all.regexes.push(pattern.regex.clone());
                all.compiled.push(compiled(id, rule, Some(pattern)).ok_or(RuleFault::Check)?);
            }
        }
        Ok(all)
    }

    fn automaton(self) -> Result<Option<Automaton>, RuleFault> {
        if self.regexes.is_empty() {
            return Ok(None);
        }
        Automaton::new(&self.regexes, self.compiled).map(Some).ok_or(RuleFault::TooLarge)
    }
}

impl Engine {
    /// Compiles those of `rules`, which have been checked one by one, that are on in `choice`; without one, all.
    pub(crate) fn new(rules: Arc<Vec<Rule>>, choice: Option<&Choice>) -> Result<Self, RuleFault> {
        let mut of: [Vec<(RuleId, &Rule)>; GROUPS] = Default::default();
        for (n, rule) in rules.iter().enumerate() {
            let id = RuleId::new(u16::try_from(n).map_err(|_| RuleFault::TooMany)?);
            if choice.is_some_and(|choice| !choice.has(id)) {
                continue;
            }
            for &group in groups_of(rule.anchor) {
                if let Some(group) = of.get_mut(group) {
                    group.push((id, rule));
                }
            }
        }
        let groups = of.each_ref().map(|rules| rules.iter().map(|&(id, _)| id).collect());
        let whole = |rules: &[(RuleId, &Rule)]| {
            let all = rules.iter().map(|&(id, rule)| compiled(id, rule, None).ok_or(RuleFault::Check));
            all.collect::<Result<Vec<_>, _>>()
        };
        let [digits, tokens, emails, ipv6, prefixes, free, assigned] = &of;
        let (digits, tokens) = (Patterns::of(digits)?.automaton()?, Patterns::of(tokens)?.automaton()?);
        let (emails, ipv6) = (whole(emails)?, whole(ipv6)?);
        let prefix_rules = prefixes.iter().map(|&(id, _)| id).collect();
        let prefixes = match Patterns::of(prefixes)?.automaton()? {
            Some(automaton) => Some(Prefixes::new(automaton, prefixes).ok_or(RuleFault::TooLarge)?),
            None => None,
        };
        let free = free_group(free)?;
        let on = rules.iter().zip(0..).map(|(rule, n)| (RuleId::new(n), rule));
        let on = on.filter(|&(id, _)| choice.is_none_or(|choice| choice.has(id)));
        let lexicon = Lexicon::new(on, groups_of);
        Ok(Self { lexicon, digits, tokens, emails, ipv6, prefixes, prefix_rules, free, groups, rules })
        let assigned = Assigned::new(assigned, &whole(assigned)?);
        let lexicon = Lexicon::new(&rules);
        Ok(Self { lexicon, digits, tokens, emails, ipv6, prefixes, prefix_rules, free, assigned, groups, rules })
    }

    /// Bytes the automata take.
    pub(crate) fn memory(&self) -> usize {
        let automata = self.digits.iter().chain(&self.tokens).map(Automaton::memory).sum::<usize>();
        let prefixes = self.prefixes.as_ref().map_or(0, Prefixes::memory);
        automata + prefixes + self.assigned.as_ref().map_or(0, Assigned::memory) + self.free.as_ref().map_or(0, Free::memory)
    }

    /// The most that a stream holds back with these rules on, in bytes.
    pub(crate) fn reach(&self, choice: &Choice) -> usize {
        let on = self
            .rules
            .iter()
            .enumerate()
            .filter(|(n, _)| u16::try_from(*n).is_ok_and(|n| choice.has(RuleId::new(n))));
        let right =
            |rule: &Rule| if rule.context.values().any(|words| !words.after.is_empty()) { AFTER } else { 0 };
        on.map(|(_, rule)| rule.reach() + right(rule) + 2 + CLUSTER).max().unwrap_or(0)
    }
}

fn free_group(rules: &[(RuleId, &Rule)]) -> Result<Option<Free>, RuleFault> {
    let patterns = Patterns::of(rules)?;
    let regexes = patterns.regexes.clone();
    // A match is reported one byte late, so what is bounded by the reach does not outgrow it.
    let reach = rules.iter().map(|(_, rule)| rule.reach()).max().unwrap_or(0) + 1;
    match patterns.automaton()? {
        Some(automaton) => Free::new(automaton, &regexes, reach).map(Some).ok_or(RuleFault::TooLarge),
        None => Ok(None),
    }
}

impl Pass<'_> {
    /// Scans on from where `tracks` stand; pushes the candidates that are decided, in no order.
    pub(crate) fn run(&self, tracks: &mut Tracks, found: &mut Found) {
        let [digits, tokens, emails, ipv6, prefixes, free, assigned] = &mut tracks.0;
        match &self.engine.digits {
            Some(automaton) if self.is_on(DIGITS) => self.digits(automaton, digits, found),
            _ => digits.at = self.view.len(),
        }
        match &self.engine.tokens {
            Some(automaton) if self.is_on(TOKENS) => self.tokens(automaton, tokens, found),
            _ => tokens.at = self.view.len(),
        }
        if self.is_on(2) {
            self.emails(&self.engine.emails, emails, found);
        } else {
            emails.at = self.view.len();
        }
        if self.is_on(3) {
            self.ipv6(&self.engine.ipv6, ipv6, found);
        } else {
            ipv6.at = self.view.len();
        }
        match &self.engine.prefixes {
            Some(group) if self.is_on(4) => self.prefixes(group, prefixes, found),
            _ => prefixes.at = self.view.len(),
        }
        match &self.engine.free {
            Some(group) if self.is_on(5) => self.free(group, free, found),
            _ => free.at = self.view.len(),
        }
        match &self.engine.assigned {
            Some(group) if self.is_on(6) => self.assigned(group, assigned, found),
            _ => assigned.at = self.view.len(),
        }
    }

    /// The score below which nothing is reported.
    fn threshold(&self, rule: &Rule) -> f32 {
        self.floor.map_or(rule.threshold, Score::value)
    }

    fn is_on(&self, group: usize) -> bool {
        self.engine.groups.get(group).is_some_and(|rules| self.choice.meets(rules))
    }
}
