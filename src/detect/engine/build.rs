//! From rules to groups: which group each rule is scanned in, and what the group makes of it.

use super::automaton::Automaton;
use super::group::Group;
use super::group_id::GroupId;
use super::groups::{
    Assignments, Custom, Digits, Emails, Introductions, Ipv6, NameRules, NamesGroup, Prefixes, Shapes,
    TokenGroup,
};
use super::pattern::CompiledPattern;
use crate::detect::rules::{Pattern, RuleFault, RuleRef};
use crate::detect::selection::RuleSelection;
use crate::detect::validate;

/// A group and its rules.
pub(crate) struct GroupSlot {
    pub(crate) rules: RuleSelection,
    pub(crate) group: Box<dyn Group>,
}

type Built = Result<Option<Box<dyn Group>>, RuleFault>;

/// A rule's pattern, or the rule itself where the group's code is the pattern.
fn compiled(
    RuleRef { id, rule }: RuleRef<'_>,
    pattern: Option<&Pattern>,
) -> Result<CompiledPattern, RuleFault> {
    let name = pattern.and_then(|pattern| pattern.check.as_ref()).or(rule.check.as_ref());
    let check = validate::named(name.map_or("any", String::as_str)).ok_or(RuleFault::Check)?;
    let score = pattern.and_then(|pattern| pattern.score).unwrap_or(rule.score);
    let edge = pattern.map_or_else(|| rule.default_edge(), |pattern| rule.edge(pattern));
    let alone = score >= rule.threshold || validate::can_be_sure(name.map_or("any", String::as_str));
    let ahead = rule.context.values().any(|words| !words.after.is_empty());
    Ok(CompiledPattern { rule: id, score, check, edge, alone, ahead })
}

/// The patterns of a group's rules, as text and compiled.
#[derive(Default)]
struct Patterns {
    regexes: Vec<String>,
    compiled: Vec<CompiledPattern>,
    /// Whether one of them is not built in.
    added: bool,
}

impl Patterns {
    fn of(rules: &[RuleRef<'_>]) -> Result<Self, RuleFault> {
        let mut all = Self::default();
        for &one in rules {
            all.added |= !one.rule.builtin;
            for pattern in &one.rule.patterns {
                all.regexes.push(pattern.regex.clone());
                all.compiled.push(compiled(one, Some(pattern))?);
            }
        }
        Ok(all)
    }

    fn automaton(self, group: GroupId) -> Result<Option<Automaton>, RuleFault> {
        if self.regexes.is_empty() {
            return Ok(None);
        }
        // Those of a choice of patterns have no more states than those of all.
        let automaton = Automaton::new(group, &self.regexes, self.compiled, !self.added);
        automaton.map(Some).ok_or(RuleFault::TooLarge)
    }
}

fn boxed<G: Group + 'static>(group: Option<G>) -> Option<Box<dyn Group>> {
    group.map(|group| Box::new(group) as Box<dyn Group>)
}

fn digits(rules: &[RuleRef<'_>]) -> Built {
    Ok(boxed(Patterns::of(rules)?.automaton(GroupId::Digits)?.map(Digits::new)))
}

fn tokens(rules: &[RuleRef<'_>]) -> Built {
    let Patterns { regexes, compiled, added } = Patterns::of(rules)?;
    let (shapes, others) = Shapes::take(regexes.into_iter().zip(compiled).collect());
    let (regexes, compiled) = others.into_iter().unzip();
    let automaton = Patterns { regexes, compiled, added }.automaton(GroupId::Tokens)?;
    Ok(Some(Box::new(TokenGroup::new(shapes, automaton))))
}

fn prefixes(rules: &[RuleRef<'_>]) -> Built {
    match Patterns::of(rules)?.automaton(GroupId::Prefixes)? {
        Some(automaton) => Ok(boxed(Some(Prefixes::new(automaton, rules).ok_or(RuleFault::TooLarge)?))),
        None => Ok(None),
    }
}

fn custom(rules: &[RuleRef<'_>]) -> Built {
    let patterns = Patterns::of(rules)?;
    let regexes = patterns.regexes.clone();
    // A match is reported one byte late, so what is bounded by the reach does not outgrow it.
    let reach = rules.iter().map(|one| one.rule.reach()).max().unwrap_or(0) + 1;
    match patterns.automaton(GroupId::Custom)? {
        Some(automaton) => {
            Ok(boxed(Some(Custom::new(automaton, &regexes, reach).ok_or(RuleFault::TooLarge)?)))
        }
        None => Ok(None),
    }
}

/// The groups of `rules`, each at its place; `None` where it has none.
pub(crate) fn groups(rules: &[RuleRef<'_>]) -> Result<[Option<GroupSlot>; GroupId::COUNT], RuleFault> {
    let mut of: [Vec<RuleRef<'_>>; GroupId::COUNT] = Default::default();
    for &one in rules {
        for &group in GroupId::of(one.rule.anchor) {
            if let Some(group) = of.get_mut(group as usize) {
                group.push(one);
            }
        }
    }
    let ids = of.each_ref().map(|rules| rules.iter().map(|one| one.id).collect::<RuleSelection>());
    // The group's own code is the pattern of these rules.
    let whole = |rules: &[RuleRef<'_>]| {
        rules.iter().map(|&one| compiled(one, None)).collect::<Result<Vec<_>, RuleFault>>()
    };
    let [of_digits, of_tokens, of_emails, of_ipv6, of_prefixes, of_custom, of_assignments, of_names, _] = &of;
    // Each of the large automata takes long by itself.
    let (digits, tokens, prefixes) = std::thread::scope(|scope| {
        let digits = scope.spawn(|| digits(of_digits));
        let prefixes = scope.spawn(|| prefixes(of_prefixes));
        let tokens = tokens(of_tokens);
        let done = |thread: std::thread::Result<Built>| thread.unwrap_or(Err(RuleFault::TooLarge));
        Ok::<_, RuleFault>((done(digits.join())?, tokens?, done(prefixes.join())?))
    })?;
    let takers = || Ok::<_, RuleFault>(NameRules::new(of_names, &whole(of_names)?));
    let introductions = takers()?.map(|takers| Introductions::new(takers).ok_or(RuleFault::TooLarge));
    let introductions = introductions.transpose()?;
    let groups = [
        digits,
        tokens,
        Some(Box::new(Emails::new(whole(of_emails)?)) as Box<dyn Group>),
        Some(Box::new(Ipv6::new(whole(of_ipv6)?)) as Box<dyn Group>),
        prefixes,
        custom(of_custom)?,
        boxed(Assignments::new(of_assignments, &whole(of_assignments)?)),
        boxed(takers()?.map(NamesGroup::new)),
        boxed(introductions),
    ];
    let mut ids = ids.into_iter();
    Ok(groups.map(|group| Some(GroupSlot { rules: ids.next()?, group: group? })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::catalogue::Catalogue;
    use crate::detect::finding::RuleId;
    use crate::detect::rules::Rule;

    /// What makes it safe to derive states of the built-in rules only as text comes upon them.
    #[test]
    fn there_is_room_for_all_states_of_the_built_in_rules() {
        let catalogue = Catalogue::builtin().unwrap();
        let mut rules: Vec<Rule> = catalogue.rules().cloned().collect();
        assert!(rules.iter().all(|rule| rule.builtin));
        rules.iter_mut().for_each(|rule| rule.builtin = false);
        let refs: Vec<RuleRef<'_>> =
            (0..).map(RuleId::new).zip(&rules).map(|(id, rule)| RuleRef { id, rule }).collect();
        assert!(groups(&refs).is_ok());
    }
}
