//! The rules there are: the built-in ones and those an operator adds. A rule that fails its own examples does not
//! load; a file of which one rule fails changes nothing.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_automata::util::syntax;
use serde::Deserialize;

use super::builtin::BUILTIN;
use super::cost::costly;
use super::detector::{Cache, Detector};
use super::engine::Engine;
use super::error::{RuleError, RuleFault};
use super::finding::{RuleId, Span};
use super::literal;
use super::normal::as_read;
use super::rule::{Anchor, Pattern, Rule};
use super::selection::RuleSelection;
use super::validate;

/// Engines of some of the rules that are kept.
const PARTS: usize = 8;

/// The most that a value known by its digits can take, in bytes.
const LONGEST: usize = 64;

/// Some rules, and an engine of them.
type Part = (RuleSelection, Arc<Engine>);

/// A rule's file, and its number in it from one.
type Place<'t> = (&'t str, usize);

/// Rules with their engines. Cheap to clone.
#[derive(Clone)]
pub struct Catalogue {
    rules: Arc<Vec<Rule>>,
    engines: Arc<Engines>,
}

/// Engines, each built when it is first asked for.
#[derive(Default)]
struct Engines {
    /// Of all rules.
    whole: OnceLock<Result<Arc<Engine>, RuleFault>>,
    /// Of some of the rules, for those who keep to them.
    parts: Mutex<Vec<Part>>,
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Catalogue({} rules)", self.rules.len())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Rule>,
}

/// A file whose rules have fields in common: `defaults` is laid under each of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    defaults: toml::Table,
    #[serde(default)]
    rule: Vec<toml::Table>,
}

impl Catalogue {
    /// The built-in rules, read once in a process. That they pass their own examples is a test's to show.
    pub fn builtin() -> Result<Self, RuleError> {
        static LOADED: OnceLock<Result<Catalogue, RuleError>> = OnceLock::new();
        LOADED.get_or_init(load).clone()
    }

    /// No rule at all, to be extended.
    pub fn empty() -> Self {
        Self::of(Vec::new())
    }

    fn of(rules: Vec<Rule>) -> Self {
        Self { rules: Arc::new(rules), engines: Arc::default() }
    }

    /// Adds the rules of a TOML text (`[[rule]]` tables), all or, where one is at fault, none. `origin` names the
    /// text in errors.
    pub fn extend(&mut self, toml: &str, origin: &str) -> Result<(), Vec<RuleError>> {
        self.extend_all(&[(origin, toml)])
    }

    /// Adds the rules of several texts, each with the name it has in errors, all or none.
    pub fn extend_all(&mut self, texts: &[(&str, &str)]) -> Result<(), Vec<RuleError>> {
        self.extend_with(texts, Vec::new())
    }

    /// Adds the rules of several texts and then `more`, whose origin in errors is the empty name, all or none.
    pub fn extend_with(&mut self, texts: &[(&str, &str)], more: Vec<Rule>) -> Result<(), Vec<RuleError>> {
        self.extend_as(texts, more, None)
    }

    /// The same; where the outcome has the rules of `known`, it is `known`, whose rules held their examples.
    pub fn extend_as(
        &mut self,
        texts: &[(&str, &str)],
        more: Vec<Rule>,
        known: Option<&Self>,
    ) -> Result<(), Vec<RuleError>> {
        let first = self.rules.len();
        let (grown, places) = self.read(texts, more)?;
        let faults = costly(grown.rules.iter().skip(first).zip(&places));
        if !faults.is_empty() {
            return Err(faults);
        }
        if let Some(known) = known.filter(|known| known.rules == grown.rules) {
            *self = known.clone();
            return Ok(());
        }
        let fault = |fault| {
            let origin = texts.first().map_or("", |(origin, _)| origin).to_owned();
            vec![RuleError { origin, number: 0, fault }]
        };
        let added: RuleSelection = grown.ids().skip(first).collect();
        let engine = grown.part(&added).map_err(fault)?;
        let mut faults = Vec::new();
        for (id, &(origin, number)) in grown.ids().skip(first).zip(&places) {
            let failed = grown.fails(id, &engine);
            faults.extend(failed.map(|fault| RuleError { origin: origin.to_owned(), number, fault }));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        *self = grown;
        Ok(())
    }

    /// These rules, those of `texts` and `more`, each checked for itself but not against its examples; and the places of the
    /// latter.
    fn read<'t>(
        &self,
        texts: &[(&'t str, &str)],
        more: Vec<Rule>,
    ) -> Result<(Self, Vec<Place<'t>>), Vec<RuleError>> {
        let mut rules: Vec<Rule> = self.rules().cloned().collect();
        let mut places = Vec::new();
        let mut faults = Vec::new();
        let mut names: HashSet<String> = self.names().map(str::to_owned).collect();
        let more = (!more.is_empty()).then_some(("", Ok(more)));
        let texts = texts.iter().map(|&(origin, toml)| (origin, parse(toml)));
        for (origin, parsed) in texts.chain(more) {
            let error = |number, fault| RuleError { origin: origin.to_owned(), number, fault };
            let added = match parsed {
                Ok(added) => added,
                Err((number, fault)) => {
                    faults.push(error(number, fault));
                    continue;
                }
            };
            for (mut rule, number) in added.into_iter().zip(1..) {
                let taken = !names.insert(rule.name.clone());
                let checked = if taken { Err(RuleFault::Duplicate) } else { prepare(&mut rule) };
                faults.extend(checked.err().map(|fault| error(number, fault)));
                places.push((origin, number));
                rules.push(rule);
            }
        }
        if u16::try_from(rules.len()).is_err() {
            faults.push(RuleError { origin: String::new(), number: 0, fault: RuleFault::TooMany });
        }
        if faults.is_empty() { Ok((Self::of(rules), places)) } else { Err(faults) }
    }

    /// The rules in order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The rules' names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules().map(Rule::name)
    }

    /// The rule of this name.
    pub fn find(&self, name: &str) -> Option<RuleId> {
        let at = self.rules.iter().position(|rule| rule.name == name)?;
        u16::try_from(at).ok().map(RuleId::new)
    }

    /// The rule of this id; `None` for an id of another catalogue.
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(id.index())
    }

    /// The rules' ids in order.
    pub fn ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..u16::try_from(self.rules.len()).unwrap_or(u16::MAX)).map(RuleId::new)
    }

    /// Lets findings of this rule count from another score, 0 to 1.
    pub fn set_threshold(&mut self, rule: RuleId, threshold: f32) {
        let mut rules = (*self.rules).clone();
        if let Some(rule) = rules.get_mut(rule.index()) {
            rule.threshold = threshold.clamp(0.0, 1.0);
        }
        *self = Self::of(rules);
    }

    /// The rules, by name, that fail an example of their own.
    pub fn failing(&self) -> Result<Vec<RuleError>, RuleError> {
        let engine = self.engine().map_err(RuleError::together)?;
        let fails = |id| {
            let fault = self.fails(id, &engine)?;
            Some(RuleError { origin: self.rule(id)?.name().to_owned(), number: 0, fault })
        };
        Ok(self.ids().filter_map(fails).collect())
    }

    /// `known`, with what it has compiled, if it has the same rules; else this.
    #[must_use]
    pub fn or_known(self, known: &Self) -> Self {
        if self.rules == known.rules { known.clone() } else { self }
    }

    /// Whether this is the same catalogue, not one with the same rules.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rules, &other.rules)
    }

    /// Compiles all rules now; otherwise who asks first for others than a detector's own waits for it. Fails where they
    /// are too large together.
    pub fn compile(&self) -> Result<(), RuleError> {
        self.engine().map(drop).map_err(RuleError::together)
    }

    /// Bytes that all rules compiled take. Fails where they are too large together.
    pub fn memory(&self) -> Result<usize, RuleError> {
        self.engine().map(|engine| engine.memory()).map_err(RuleError::together)
    }

    /// The engine of all rules.
    pub(crate) fn engine(&self) -> Result<Arc<Engine>, RuleFault> {
        let built = || Engine::new(Arc::clone(&self.rules), None).map(Arc::new);
        self.engines.whole.get_or_init(built).clone()
    }

    /// An engine of the rules of `selection` alone, which is smaller and holds a stream back less. The last few are
    /// kept.
    pub(crate) fn part(&self, selection: &RuleSelection) -> Result<Arc<Engine>, RuleFault> {
        if selection.is_all(self.rules.len()) {
            return self.engine();
        }
        let mut parts = self.engines.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, engine)) = parts.iter().find(|(known, _)| known == selection) {
            return Ok(Arc::clone(engine));
        }
        let engine = Arc::new(Engine::new(Arc::clone(&self.rules), Some(selection))?);
        if parts.len() >= PARTS {
            parts.remove(0);
        }
        parts.push((selection.clone(), Arc::clone(&engine)));
        Ok(engine)
    }

    /// Which of its own examples the rule fails; `engine` has it.
    fn fails(&self, id: RuleId, engine: &Arc<Engine>) -> Option<RuleFault> {
        let rule = self.rule(id)?;
        let detector = Detector::on(self, Arc::clone(engine), [id].into_iter().collect());
        let mut cache = detector.cache();
        let missed = |example: &String| !example_holds(&detector, &mut cache, example);
        if let Some(n) = rule.matches.iter().position(missed) {
            return Some(RuleFault::Match(n + 1));
        }
        let hit = |text: &String| !detector.find(&mut cache, text).is_empty();
        rule.misses.iter().position(hit).map(|n| RuleFault::Miss(n + 1))
    }
}

fn load() -> Result<Catalogue, RuleError> {
    let read = Catalogue::empty().read(BUILTIN, Vec::new());
    read.map(|(catalogue, _)| catalogue).map_err(|mut faults| faults.swap_remove(0))
}

fn parse(toml: &str) -> Result<Vec<Rule>, (usize, RuleFault)> {
    let syntax = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = toml.as_bytes().get(..at).unwrap_or_default();
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        (0, RuleFault::Syntax { line, column })
    };
    if !toml.contains("[defaults") {
        let file: File = toml::from_str(toml).map_err(syntax)?;
        return Ok(file.rule);
    }
    let family: Family = toml::from_str(toml).map_err(syntax)?;
    let rules = family.rule.into_iter().zip(1..);
    let rules = rules.map(|(mut rule, number)| {
        lay_under(&mut rule, &family.defaults);
        rule.try_into::<Rule>().map_err(|_| (number, RuleFault::Fields))
    });
    rules.collect()
}

/// Fills in what `table` does not say; tables within are filled in, lists are not.
fn lay_under(table: &mut toml::Table, defaults: &toml::Table) {
    for (name, value) in defaults {
        match (table.get_mut(name), value) {
            (None, value) => {
                table.insert(name.clone(), value.clone());
            }
            (Some(toml::Value::Table(own)), toml::Value::Table(common)) => lay_under(own, common),
            (Some(_), _) => {}
        }
    }
}

/// Whether a rule or a rule set can have this name: 2 to 64 ASCII letters, digits, `_`, `-` and `/`, a letter first.
/// (Those built in are upper snake case.)
pub fn is_name(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/');
    (2..=64).contains(&text.len())
        && text.bytes().all(legal)
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Checks what can be checked of one rule alone, and fills in what follows from it.
fn prepare(rule: &mut Rule) -> Result<(), RuleFault> {
    if !is_name(&rule.name) {
        return Err(RuleFault::Name);
    }
    let numbers = [rule.score, rule.threshold, rule.augment, rule.against];
    let numbers = numbers.into_iter().chain(rule.patterns.iter().filter_map(|pattern| pattern.score));
    if !numbers.into_iter().all(|number| (0.0..=1.0).contains(&number)) {
        return Err(RuleFault::Number);
    }
    if let Some(label) = &rule.pem {
        rule.patterns.push(Pattern { regex: pem(label), score: None, check: None, edge: None });
    }
    literals(rule)?;
    let patterned =
        matches!(rule.anchor, Anchor::At | Anchor::Assign | Anchor::Name) || !rule.patterns.is_empty();
    let placed = rule.gives.is_some() == (rule.anchor == Anchor::Assign)
        && rule.tag.is_some() == (rule.anchor == Anchor::Name);
    let prefixed = rule.prefixes.iter().all(|prefix| prefix.len() >= 3 && prefix.is_ascii());
    if !patterned || !placed || !prefixed || rule.prefixes.is_empty() == (rule.anchor == Anchor::Prefix) {
        return Err(RuleFault::Anchor);
    }
    let checks = rule.patterns.iter().filter_map(|pattern| pattern.check.as_ref()).chain(&rule.check);
    if !checks.into_iter().all(|name| validate::named(name).is_some()) {
        return Err(RuleFault::Check);
    }
    let bound = longest(rule)?;
    rule.reach = rule.reach.or(bound);
    Ok(())
}

/// What is given literally becomes a pattern.
fn literals(rule: &mut Rule) -> Result<(), RuleFault> {
    if rule.literals.iter().any(|literal| literal.is_empty() || literal.trim() != literal) {
        return Err(RuleFault::Literal);
    }
    if rule.literals.is_empty() {
        return Ok(());
    }
    let any: Vec<String> = rule.literals.iter().map(|text| literal::whole(&as_read(text))).collect();
    let flags = if rule.any_case { "(?i)" } else { "" };
    let regex = format!("{flags}(?:{})", any.join("|"));
    rule.patterns.push(Pattern { regex, score: None, check: None, edge: None });
    Ok(())
}

/// The longest match of a rule's patterns; `None` if one has no bound.
fn longest(rule: &Rule) -> Result<Option<u16>, RuleFault> {
    let by_digits = matches!(rule.anchor, Anchor::Digit | Anchor::Token | Anchor::Address);
    let mut longest = match rule.anchor {
        Anchor::At => Some(EMAIL),
        Anchor::Assign => Some(super::engine::ASSIGN_REACH),
        Anchor::Name => Some(super::engine::NAME_REACH),
        _ => Some(0),
    };
    for (pattern, n) in rule.patterns.iter().zip(1..) {
        let parsed = syntax::parse_with(&pattern.regex, &super::engine::config());
        let parsed = parsed.map_err(|_| RuleFault::Pattern(n))?;
        if parsed.properties().minimum_len().unwrap_or(0) == 0 {
            return Err(RuleFault::Empty(n));
        }
        let most = parsed.properties().maximum_len().and_then(|most| u16::try_from(most).ok());
        if by_digits && most.is_none_or(|most| usize::from(most) > LONGEST) {
            return Err(RuleFault::Unbounded(n));
        }
        // One pattern without a bound leaves the rule without one.
        longest = longest.zip(most).map(|(longest, most)| longest.max(most));
    }
    Ok(longest)
}

/// The longest e-mail address that is looked for, in bytes: local part, `@`, domain.
const EMAIL: u16 = 256 + 1 + 253;

/// A PEM block (RFC 7468 section 3) with this label, or a beginning of one that has key material. Line ends may be
/// escaped, once or more, or be spaces; headers (RFC 1421, RFC 9580 armor) may stand before the material.
fn pem(label: &str) -> String {
    let gap = r#"(?:[ \t\r\n"',]|\\+[nrt])"#;
    let header = format!(r"(?:{gap}+[A-Za-z\-]+: [ !#-&(-\[\]-~]+)*");
    let line = "[A-Za-z0-9+/=]{16,}";
    let material = format!("{gap}*{line}(?:{gap}+{line})*");
    let rest = format!("(?:{gap}*[A-Za-z0-9+/=]+)?(?:{gap}+[A-Za-z0-9+/=]+)?{gap}*");
    format!("-----BEGIN {label}-----{header}(?:{material}|(?:{material})?{rest}-----END {label}-----)")
}

/// Whether `example` is found: just the part between « and », or anything where nothing is marked.
fn example_holds(detector: &Detector, cache: &mut Cache, example: &str) -> bool {
    let Some((head, (value, tail))) =
        example.split_once('«').and_then(|(head, rest)| Some((head, rest.split_once('»')?)))
    else {
        return !detector.find(cache, example).is_empty();
    };
    let findings = detector.find(cache, &[head, value, tail].concat());
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
    fn the_builtin_rules_pass_their_own_examples() {
        let catalogue = Catalogue::builtin().unwrap();
        assert_eq!(catalogue.failing(), Ok(Vec::new()));
        assert!(catalogue.names().any(|name| name == "EMAIL_ADDRESS"));
        for rule in catalogue.rules() {
            assert!(!rule.matches.is_empty() && !rule.source().is_empty(), "{} says too little", rule.name());
        }
        assert!(catalogue.memory().unwrap() < 20 << 20);
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
        let found = detector.find(&mut detector.cache(), "id ACME-123456 and a@example.com");
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
