//! The rules there are, each checked for itself, and engines of all or some of them. That they hold their own examples
//! is checked above ([`examples`](super::examples)).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::engine::Engine;
use super::finding::RuleId;
#[cfg(feature = "names-model")]
use super::model::NamesModel;
use super::rules::{BUILTIN, NAMED, ParseError, Rule, RuleError, RuleFault, RuleFile, parse, prepare};
use super::selection::RuleSelection;

/// Engines of some of the rules that are kept.
const PARTS: usize = 8;

/// An engine of some of the rules.
struct EnginePart {
    rules: RuleSelection,
    engine: Arc<Engine>,
}

/// Where a rule stands.
pub(crate) struct RuleOrigin<'t> {
    /// The file or object, as the caller named it.
    name: &'t str,
    /// Which rule of it, counted from 1.
    number: usize,
}

impl RuleOrigin<'_> {
    /// The rule that stands here has this fault.
    pub(crate) fn error(&self, fault: RuleFault) -> RuleError {
        RuleError { origin: self.name.to_owned(), number: self.number, fault }
    }
}

/// A catalogue with rules added, and where each of those stands.
pub(crate) struct Extended<'t> {
    pub(crate) catalogue: Catalogue,
    pub(crate) origins: Vec<RuleOrigin<'t>>,
}

/// Rules with their engines. Cheap to clone.
#[derive(Clone)]
pub struct Catalogue {
    rules: Arc<Vec<Rule>>,
    engines: Arc<Engines>,
    /// Finds names beside the rules.
    #[cfg(feature = "names-model")]
    names_model: Option<Arc<NamesModel>>,
}

/// Engines, each built when it is first asked for.
#[derive(Default)]
struct Engines {
    /// Of all rules.
    whole: OnceLock<Result<Arc<Engine>, RuleFault>>,
    /// Of some of the rules, for those who keep to them.
    parts: Mutex<Vec<EnginePart>>,
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Catalogue({} rules)", self.rules.len())
    }
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
        Self {
            rules: Arc::new(rules),
            engines: Arc::default(),
            #[cfg(feature = "names-model")]
            names_model: None,
        }
    }

    /// The same rules, without what they have compiled, as `self` has them beside its model.
    fn with_rules(&self, rules: Vec<Rule>) -> Self {
        let mut other = self.clone();
        (other.rules, other.engines) = (Arc::new(rules), Arc::default());
        other
    }

    /// The same, of which detectors look through whole texts with this model too, where PERSON or LOCATION is on.
    #[cfg(feature = "names-model")]
    #[must_use]
    pub fn reading_names(self, model: Option<Arc<NamesModel>>) -> Self {
        Self { names_model: model, ..self }
    }

    /// The model that finds names, if there is one.
    #[cfg(feature = "names-model")]
    pub fn names_model(&self) -> Option<&Arc<NamesModel>> {
        self.names_model.as_ref()
    }

    /// These rules, those of `files` and `more`, each checked for itself but not against its examples.
    pub(crate) fn read<'t>(
        &self,
        files: &[RuleFile<'t>],
        more: Vec<Rule>,
    ) -> Result<Extended<'t>, Vec<RuleError>> {
        let mut rules: Vec<Rule> = self.rules().cloned().collect();
        let mut origins = Vec::new();
        let mut faults = Vec::new();
        let mut names: HashSet<String> = self.names().map(str::to_owned).collect();
        let more = (!more.is_empty()).then(|| ("", Ok(prepared(more))));
        for (name, read) in read_all(files).into_iter().chain(more) {
            let added = match read {
                Ok(added) => added,
                Err(ParseError { number, fault }) => {
                    faults.push(RuleOrigin { name, number }.error(fault));
                    continue;
                }
            };
            for ((rule, checked), number) in added.into_iter().zip(1..) {
                let origin = RuleOrigin { name, number };
                let taken = !names.insert(rule.name.clone());
                let checked = if taken { Err(RuleFault::Duplicate) } else { checked };
                faults.extend(checked.err().map(|fault| origin.error(fault)));
                origins.push(origin);
                rules.push(rule);
            }
        }
        if u16::try_from(rules.len()).is_err() {
            faults.push(RuleError::together(RuleFault::TooMany));
        }
        if faults.is_empty() {
            Ok(Extended { catalogue: self.with_rules(rules), origins })
        } else {
            Err(faults)
        }
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
        *self = self.with_rules(rules);
    }

    /// `known`, with what it has compiled, if it has the same rules; else this.
    #[must_use]
    pub fn or_known(mut self, known: &Self) -> Self {
        if self.rules == known.rules {
            (self.rules, self.engines) = (Arc::clone(&known.rules), Arc::clone(&known.engines));
        }
        self
    }

    /// Whether both have the same rules.
    pub(crate) fn has_rules_of(&self, other: &Self) -> bool {
        self.rules == other.rules
    }

    /// Whether this is the same catalogue, not one with the same rules.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rules, &other.rules) && self.reads_names_like(other)
    }

    #[cfg(feature = "names-model")]
    fn reads_names_like(&self, other: &Self) -> bool {
        match (&self.names_model, &other.names_model) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }

    #[cfg(not(feature = "names-model"))]
    fn reads_names_like(&self, _: &Self) -> bool {
        true
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
        if let Some(part) = parts.iter().find(|part| part.rules == *selection) {
            return Ok(Arc::clone(&part.engine));
        }
        let engine = Arc::new(Engine::new(Arc::clone(&self.rules), Some(selection))?);
        if parts.len() >= PARTS {
            parts.remove(0);
        }
        parts.push(EnginePart { rules: selection.clone(), engine: Arc::clone(&engine) });
        Ok(engine)
    }
}

/// Rules, and what is wrong with each.
type CheckedRules = Vec<(Rule, Result<(), RuleFault>)>;

fn prepared(rules: Vec<Rule>) -> CheckedRules {
    let each = rules.into_iter().map(|mut rule| {
        let checked = prepare(&mut rule);
        (rule, checked)
    });
    each.collect()
}

/// The files' rules, in the order of the files. There are many built in, and every start waits for them: each half is
/// read by a thread of its own.
fn read_all<'t>(files: &[RuleFile<'t>]) -> Vec<(&'t str, Result<CheckedRules, ParseError>)> {
    let read = |files: &[RuleFile<'t>]| -> Vec<_> {
        files.iter().map(|file| (file.name, parse(file.toml).map(prepared))).collect()
    };
    let total: usize = files.iter().map(|file| file.toml.len()).sum();
    let mut before = 0;
    let half = files.iter().position(|file| {
        before += file.toml.len();
        before * 2 > total
    });
    match half.filter(|_| files.len() > 1) {
        None => read(files),
        Some(half) => std::thread::scope(|scope| {
            let (first, second) = files.split_at(half);
            let first = scope.spawn(|| read(first));
            let second = read(second);
            first.join().map_or_else(
                |panic| std::panic::resume_unwind(panic),
                |first| [first, second].into_iter().flatten().collect(),
            )
        }),
    }
}

/// The built-in rules: those of the files in their order, then the named ones in the order of their names, so that it
/// makes no difference to findings which file a vendor's rules are in.
fn load() -> Result<Catalogue, RuleError> {
    let files = [BUILTIN, NAMED].concat();
    let read = Catalogue::empty().read(&files, Vec::new()).map_err(|mut faults| faults.swap_remove(0))?;
    let is_named = |origin: &RuleOrigin<'_>| NAMED.iter().any(|file| file.name == origin.name);
    let first = read.origins.iter().position(is_named).unwrap_or(read.origins.len());
    let mut rules: Vec<Rule> = read.catalogue.rules().cloned().collect();
    if let Some(named) = rules.get_mut(first..) {
        named.sort_by(|a, b| a.name().cmp(b.name()));
    }
    rules.iter_mut().for_each(|rule| rule.builtin = true);
    Ok(Catalogue::of(rules))
}
