//! From rules to an engine: which group each is scanned in, and the automata of the groups.

use std::sync::Arc;

use super::super::context::Lexicon;
use super::super::error::RuleFault;
use super::super::finding::RuleId;
use super::super::rule::{Anchor, Pattern, Rule};
use super::super::selection::RuleSelection;
use super::super::validate;
use super::assign::Assigned;
use super::automaton::{Automaton, Compiled};
use super::custom::Custom;
use super::names::Names;
use super::prefix::Prefixes;
use super::shape::Shapes;
use super::token::Tokens;
use super::{Engine, group};

/// The groups that a rule of this anchor is in.
const fn groups_of(anchor: Anchor) -> &'static [usize] {
    match anchor {
        Anchor::Digit => &[group::DIGITS],
        Anchor::Token => &[group::TOKENS],
        Anchor::At => &[group::EMAILS],
        Anchor::Address => &[group::DIGITS, group::IPV6],
        Anchor::Prefix => &[group::PREFIXES],
        Anchor::Free => &[group::CUSTOM],
        Anchor::Assign => &[group::ASSIGNED],
        Anchor::Name => &[group::NAMES],
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

    fn tokens(self) -> Result<Tokens, RuleFault> {
        let (shapes, others) = Shapes::take(self.regexes.into_iter().zip(self.compiled).collect());
        let (regexes, compiled) = others.into_iter().unzip();
        Ok(Tokens { shapes, automaton: Self { regexes, compiled }.automaton()? })
    }

    fn automaton(self) -> Result<Option<Automaton>, RuleFault> {
        if self.regexes.is_empty() {
            return Ok(None);
        }
        Automaton::new(&self.regexes, self.compiled).map(Some).ok_or(RuleFault::TooLarge)
    }
}

impl Engine {
    /// Compiles those of `rules`, which have been checked one by one, that are on in `selection`; without one, all.
    pub(crate) fn new(rules: Arc<Vec<Rule>>, selection: Option<&RuleSelection>) -> Result<Self, RuleFault> {
        let mut of: [Vec<(RuleId, &Rule)>; group::COUNT] = Default::default();
        for (n, rule) in rules.iter().enumerate() {
            let id = RuleId::new(u16::try_from(n).map_err(|_| RuleFault::TooMany)?);
            if selection.is_some_and(|selection| !selection.has(id)) {
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
        let [digits, tokens, emails, ipv6, prefixes, custom, assigned, names] = &of;
        // Each of the large automata takes long by itself.
        let (digits, tokens, automaton) = std::thread::scope(|scope| {
            let digits = scope.spawn(|| Patterns::of(digits)?.automaton());
            let prefixes = scope.spawn(|| Patterns::of(prefixes)?.automaton());
            let tokens = Patterns::of(tokens)?.tokens();
            let done = |thread: std::thread::Result<_>| thread.unwrap_or(Err(RuleFault::TooLarge));
            Ok::<_, RuleFault>((done(digits.join())?, tokens?, done(prefixes.join())?))
        })?;
        let (emails, ipv6) = (whole(emails)?, whole(ipv6)?);
        let prefixes = match automaton {
            Some(automaton) => Some(Prefixes::new(automaton, prefixes).ok_or(RuleFault::TooLarge)?),
            None => None,
        };
        let custom = custom_group(custom)?;
        let on = rules.iter().zip(0..).map(|(rule, n)| (RuleId::new(n), rule));
        let on = on.filter(|&(id, _)| selection.is_none_or(|selection| selection.has(id)));
        let lexicon = Lexicon::new(on, groups_of);
        let assigned = Assigned::new(assigned, &whole(assigned)?);
        let names = Names::new(names, &whole(names)?);
        Ok(Self { lexicon, digits, tokens, emails, ipv6, prefixes, custom, assigned, names, groups, rules })
    }
}

fn custom_group(rules: &[(RuleId, &Rule)]) -> Result<Option<Custom>, RuleFault> {
    let patterns = Patterns::of(rules)?;
    let regexes = patterns.regexes.clone();
    // A match is reported one byte late, so what is bounded by the reach does not outgrow it.
    let reach = rules.iter().map(|(_, rule)| rule.reach()).max().unwrap_or(0) + 1;
    match patterns.automaton()? {
        Some(automaton) => Custom::new(automaton, &regexes, reach).map(Some).ok_or(RuleFault::TooLarge),
        None => Ok(None),
    }
}
