//! Rules prove their own examples before they count: an operator's file of which one rule fails changes nothing.

use std::sync::Arc;

use super::catalogue::{Catalogue, Extended};
use super::detector::{Cache, Detector};
use super::engine::Engine;
use super::finding::{RuleId, Span};
use super::rules::{Rule, RuleError, RuleFault, RuleFile, costly};
use super::selection::RuleSelection;

impl Catalogue {
    /// Adds the rules of a TOML text (`[[rule]]` tables), all or, where one is at fault, none. `origin` names the
    /// text in errors.
    pub fn extend(&mut self, toml: &str, origin: &str) -> Result<(), Vec<RuleError>> {
        self.extend_all(&[RuleFile { name: origin, toml }])
    }

    /// Adds the rules of several files, all or none.
    pub fn extend_all(&mut self, files: &[RuleFile<'_>]) -> Result<(), Vec<RuleError>> {
        self.extend_with(files, Vec::new())
    }

    /// Adds the rules of several files and then `more`, whose origin in errors is the empty name, all or none.
    pub fn extend_with(&mut self, files: &[RuleFile<'_>], more: Vec<Rule>) -> Result<(), Vec<RuleError>> {
        self.extend_as(files, more, None)
    }

    /// The same; where the outcome has the rules of `known`, it is `known`, whose rules held their examples.
    pub fn extend_as(
        &mut self,
        files: &[RuleFile<'_>],
        more: Vec<Rule>,
        known: Option<&Self>,
    ) -> Result<(), Vec<RuleError>> {
        let first = self.rules().count();
        let Extended { catalogue: extended, origins } = self.read(files, more)?;
        let added = || extended.ids().zip(extended.rules()).skip(first).zip(&origins);
        let faults: Vec<RuleError> =
            added().filter_map(|((_, rule), origin)| Some(origin.error(costly(rule)?))).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        if let Some(known) = known.filter(|known| known.has_rules_of(&extended)) {
            *self = known.clone();
            return Ok(());
        }
        let together = |fault| {
            let origin = files.first().map_or("", |file| file.name).to_owned();
            vec![RuleError { origin, number: 0, fault }]
        };
        let ids: RuleSelection = extended.ids().skip(first).collect();
        let engine = extended.part(&ids).map_err(together)?;
        let failing =
            added().filter_map(|((id, _), origin)| Some(origin.error(fails(&extended, id, &engine)?)));
        let faults: Vec<RuleError> = failing.collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        *self = extended;
        Ok(())
    }

    /// The rules, by name, that fail an example of their own.
    pub fn failing(&self) -> Result<Vec<RuleError>, RuleError> {
        let engine = self.engine().map_err(RuleError::together)?;
        let fails = |id| {
            let fault = fails(self, id, &engine)?;
            Some(RuleError { origin: self.rule(id)?.name().to_owned(), number: 0, fault })
        };
        Ok(self.ids().filter_map(fails).collect())
    }
}

impl Rule {
    /// An example without the marks around its value: what stands before the value, the value, and what stands behind it. `None`
    /// where nothing is marked with « and ».
    pub(crate) fn marked(example: &str) -> Option<(&str, &str, &str)> {
        let (head, rest) = example.split_once('«')?;
        let (value, tail) = rest.split_once('»')?;
        Some((head, value, tail))
    }
}

/// Which of its own examples the rule fails; `engine` has it.
fn fails(catalogue: &Catalogue, id: RuleId, engine: &Arc<Engine>) -> Option<RuleFault> {
    let rule = catalogue.rule(id)?;
    let detector = Detector::on(catalogue, Arc::clone(engine), [id].into_iter().collect());
    let mut cache = detector.cache();
    let missed = |example: &String| !example_holds(&detector, &mut cache, example);
    if let Some(n) = rule.matches.iter().position(missed) {
        return Some(RuleFault::Match(n + 1));
    }
    let hit = |text: &String| !detector.find_with(&mut cache, text).is_empty();
    rule.misses.iter().position(hit).map(|n| RuleFault::Miss(n + 1))
}

/// Whether `example` is found: just the part between « and », or anything where nothing is marked.
fn example_holds(detector: &Detector, cache: &mut Cache, example: &str) -> bool {
    let Some((head, value, tail)) = Rule::marked(example) else {
        return !detector.find_with(cache, example).is_empty();
    };
    let findings = detector.find_with(cache, &[head, value, tail].concat());
    let marked = Span::new(head.len(), head.len() + value.len());
    findings.iter().map(|finding| finding.span).eq([marked])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(toml: &str) -> Vec<RuleFault> {
        let mut catalogue = Catalogue::builtin().unwrap();
        let before = catalogue.rules().count();
        let faults = catalogue.extend(toml, "test").expect_err("must be refused");
        assert_eq!(catalogue.rules().count(), before, "nothing is added");
        faults.into_iter().map(|error| error.fault).collect()
    }

    #[test]
    fn the_marks_of_an_example_are_no_part_of_it() {
        let parts = Some(("write to ", "ann@mail.example", ", please"));
        assert_eq!(Rule::marked("write to «ann@mail.example», please"), parts);
        for whole in ["", "ann@mail.example", "«ann@mail.example", "ann@mail.example»", "»ann@mail.example«"]
        {
            assert_eq!(Rule::marked(whole), None, "{whole}");
        }
    }

    #[test]
    fn the_builtin_rules_pass_their_own_examples() {
        let catalogue = Catalogue::builtin().unwrap();
        assert_eq!(catalogue.failing(), Ok(Vec::new()));
        assert!(catalogue.names().any(|name| name == "EMAIL_ADDRESS"));
        for rule in catalogue.rules() {
            assert!(!rule.matches.is_empty() && !rule.source().is_empty(), "{} says too little", rule.name());
        }
        // By now text has come upon most states there are.
        assert!(catalogue.memory().unwrap() < 32 << 20);
    }

    #[test]
    fn values_are_found_between_the_quotes_of_all_languages_and_behind_signs() {
        let catalogue = Catalogue::builtin().unwrap();
        let engine = catalogue.engine().unwrap();
        let mut missed = Vec::new();
        for id in catalogue.ids() {
            let rule = catalogue.rule(id).unwrap();
            let detector = Detector::on(&catalogue, Arc::clone(&engine), [id].into_iter().collect());
            let mut cache = detector.cache();
            // One in which the value is all there is: between quotes no rule asks for more.
            let Some(value) = rule.matches.iter().find(|value| {
                let is_whole = !value.contains('«') && value.len() < 60;
                let around = detector.find_with(&mut cache, &format!("\"{value}\""));
                is_whole && around.iter().map(|one| one.span).eq([Span::new(1, 1 + value.len())])
            }) else {
                continue;
            };
            for (open, close) in [
                ("“", "”"),
                ("„", "“"),
                ("«", "»"),
                ("‹", "›"),
                ("‘", "’"),
                ("「", "」"),
                ("•", "…"),
                ("👋", "❤️"),
            ] {
                let found = detector.find_with(&mut cache, &[open, value, close].concat());
                if !found.iter().map(|one| one.span).eq([Span::new(open.len(), open.len() + value.len())]) {
                    missed.push(format!("{} {open}{value}{close}", rule.name()));
                }
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn rules_at_fault_do_not_load() {
        let rule = |fields: &str| format!("[[rule]]\nname = 'ACME_ID'\n{fields}");
        let cases = [
            ("nonsense".to_owned(), RuleFault::Syntax { line: 1, column: 9 }),
            ("[[rule]]\nname = 'x'\npatterns = [{ regex = 'a' }]".to_owned(), RuleFault::Name),
            ("[[rule]]\nname = 'URL'\npatterns = [{ regex = 'a' }]".to_owned(), RuleFault::Duplicate),
            (rule("patterns = [{ regex = 'a' }]\nscore = 7.0"), RuleFault::Number),
            (rule("patterns = [{ regex = 'a' }]\ncheck = 'none such'"), RuleFault::Check),
            (rule("patterns = [{ regex = '(' }]"), RuleFault::Pattern(1)),
            (rule("patterns = [{ regex = 'a' }, { regex = 'b*' }]"), RuleFault::Empty(2)),
            (rule("anchor = 'digit'\npatterns = [{ regex = '\\d+' }]"), RuleFault::Unbounded(1)),
            (rule("anchor = 'prefix'\npatterns = [{ regex = 'a' }]"), RuleFault::Anchor),
            (rule(""), RuleFault::Anchor),
            (rule("patterns = [{ regex = 'a' }, { regex = '[a-z]{1000}{1000}' }]"), RuleFault::Costly(2)),
            (rule("patterns = [{ regex = '(x{0,500}){0,100}y' }]"), RuleFault::Costly(1)),
            (rule("patterns = [{ regex = 'AC\\d' }]\nmatches = ['AC1', 'AD1']"), RuleFault::Match(2)),
            (rule("patterns = [{ regex = 'AC\\d' }]\nmisses = ['XAC1']"), RuleFault::Miss(1)),
        ];
        for (toml, fault) in cases {
            assert_eq!(faults(&toml), [fault], "{toml}");
        }
    }

    #[test]
    fn an_operators_rule_is_found() {
        let mut catalogue = Catalogue::builtin().unwrap();
        let toml = "[[rule]]\nname = 'ACME_ID'\npatterns = [{ regex = '\\bACME-\\d{6}\\b' }]\nmatches = ['x «ACME-123456».']";
        catalogue.extend(toml, "acme.toml").unwrap();
        let id = catalogue.find("ACME_ID").unwrap();
        assert_eq!(catalogue.rule(id).unwrap().reach(), 11);
        let detector = Detector::new(&catalogue, &RuleSelection::defaults(&catalogue)).unwrap();
        let found = detector.find("id ACME-123456 and a@example.com");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].rule, found[0].span), (id, Span::new(3, 14)));
    }

    #[test]
    fn names_that_no_rule_has_are_pointed_at() {
        let catalogue = Catalogue::builtin().unwrap();
        assert_eq!(RuleSelection::only(&catalogue, ["URL", "NOPE"]).unwrap_err().index, 1);
        assert!(!RuleSelection::defaults(&catalogue).has(catalogue.find("URL").unwrap()));
    }
}
