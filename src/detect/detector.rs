//! The door to detection: rules compiled once, a selection of them, and the two ways to use them.

use std::sync::Arc;

use super::allow::Allow;
use super::catalogue::Catalogue;
use super::choice::Choice;
use super::engine::Engine;
use super::finding::{Finding, RuleId, Score};
use super::rule::{Rule, RuleError, RuleFault};
use super::scanner::{Progress, Query, Scanner};

/// Finds values in text. Cheap to clone; shared between threads.
#[derive(Clone)]
pub struct Detector {
    query: Query,
    /// The engine of all rules, for other choices.
    whole: Arc<Engine>,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Detector({} rules)", self.rule_count())
    }
}

/// Scratch memory of scans, to be kept and used again.
#[derive(Default)]
pub struct Cache(Progress);

impl Detector {
    /// The catalogue's rules, of which `choice` are on. Fails if the choice was made from another catalogue.
    pub fn new(catalogue: &Catalogue, choice: &Choice) -> Result<Self, RuleError> {
        let engine = catalogue.engine();
        if choice.reaches_beyond(engine.rules.len()) {
            return Err(RuleError { origin: "choice".to_owned(), number: 0, fault: RuleFault::Choice });
        }
        let part = catalogue.part(choice);
        let part = part.map_err(|fault| RuleError { origin: "choice".to_owned(), number: 0, fault })?;
        let query = Query { engine: part, choice: Arc::new(choice.clone()), floor: None, allow: None };
        Ok(Self { query, whole: engine })
    }

    /// The same on the engine of all rules, which is there already.
    pub(crate) fn whole(catalogue: &Catalogue, choice: &Choice) -> Self {
        let query =
            Query { engine: catalogue.engine(), choice: Arc::new(choice.clone()), floor: None, allow: None };
        Self { query, whole: catalogue.engine() }
    }

    /// The same rules with others of them on.
    #[must_use]
    pub fn with(&self, choice: Choice) -> Self {
        let query = Query { engine: Arc::clone(&self.whole), choice: Arc::new(choice), ..self.query.clone() };
        Self { query, whole: Arc::clone(&self.whole) }
    }

    /// The same, but reports what scores at least `floor`, in place of the rules' own thresholds.
    #[must_use]
    pub fn at_least(&self, floor: Score) -> Self {
        Self { query: Query { floor: Some(floor), ..self.query.clone() }, whole: Arc::clone(&self.whole) }
    }

    /// The same, but lets pass what `allow` lists, and only that.
    #[must_use]
    pub fn allowing(&self, allow: Allow) -> Self {
        let allow = (!allow.is_empty()).then(|| Arc::new(allow));
        Self { query: Query { allow, ..self.query.clone() }, whole: Arc::clone(&self.whole) }
    }

    /// The rule of this id. An id of another catalogue names the last rule.
    #[expect(
        clippy::indexing_slicing,
        reason = "a detector has rules, and the index is kept below their number"
    )]
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.query.engine.rules[id.index().min(self.query.engine.rules.len() - 1)]
    }

    /// Rules of the catalogue, on or not.
    pub fn rule_count(&self) -> usize {
        self.query.engine.rules.len()
    }

    /// The rules that are on.
    pub fn choice(&self) -> &Choice {
        &self.query.choice
    }

    /// Scratch memory for [`find`](Self::find).
    pub fn cache(&self) -> Cache {
        Cache::default()
    }

    /// All findings in `text`: resolved, in order, sharing no byte.
    pub fn find(&self, cache: &mut Cache, text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        cache.0.look_at_all(&self.query, text.as_bytes(), &mut |finding| findings.push(finding));
        findings
    }

    /// All that some rule takes for a value, in order of their starts, also what overlaps: each rule's view of
    /// `text`, for comparing rules.
    pub fn candidates(&self, cache: &mut Cache, text: &str) -> Vec<Finding> {
        cache.0.candidates(&self.query, text.as_bytes())
    }

    /// A scanner for text that arrives in pieces.
    pub fn scanner(&self) -> Scanner {
        Scanner::new(self.query.clone())
    }

    /// The most that a scanner holds back with these rules on, in bytes.
    pub fn reach(&self) -> usize {
        self.query.engine.reach(&self.query.choice)
    }
}
