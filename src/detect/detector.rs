//! The detector: rules compiled once, a selection of them, and the two ways to use them.

use std::sync::Arc;

use super::allow::Allow;
use super::catalogue::Catalogue;
use super::engine::Engine;
use super::finding::{Finding, RuleId, Score};
#[cfg(feature = "names-model")]
use super::model;
use super::naming::Label;
use super::normal;
use super::rules::{Rule, RuleError, RuleFault};
#[cfg(feature = "names-model")]
use super::scanner::NamesScan;
use super::scanner::{Query, Scanner, WholeScan};
use super::selection::RuleSelection;
use crate::base::checkpoint::{Checkpoint, Stopped};

/// Finds values in text. Cheap to clone; shared between threads.
#[derive(Clone)]
pub struct Detector {
    query: Query,
    /// Has the engine of all rules, for other choices.
    catalogue: Catalogue,
}

impl std::fmt::Debug for Detector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Detector({} rules)", self.rule_count())
    }
}

/// Scratch memory of scans, to be kept and used again.
#[derive(Default)]
pub struct Cache(WholeScan);

impl Cache {
    /// What the texts looked at with it have cost so far, beside the one look that each byte gets: bytes walked from a
    /// possible beginning of a value, words looked up near it, bytes that its check saw. Of prose that is less than one a
    /// byte, and of no text more than some hundred. It is the same on every machine.
    pub fn steps(&self) -> usize {
        self.0.steps()
    }
}

impl Detector {
    /// The catalogue's rules, of which `selection` are on, on an engine of those alone. Fails if the selection was made
    /// from another catalogue, or its rules are too large together.
    pub fn new(catalogue: &Catalogue, selection: &RuleSelection) -> Result<Self, RuleError> {
        if selection.reaches_beyond(catalogue.rules().count()) {
            return Err(RuleError::together(RuleFault::Selection));
        }
        let part = catalogue.part(selection).map_err(RuleError::together)?;
        Ok(Self::on(catalogue, part, selection.clone()))
    }

    /// On an engine of the catalogue's that has what is chosen.
    pub(crate) fn on(catalogue: &Catalogue, engine: Arc<Engine>, selection: RuleSelection) -> Self {
        let query = Query {
            engine,
            selection: Arc::new(selection),
            floor: None,
            reported: Arc::default(),
            allow: None,
            checkpoint: Checkpoint::default(),
            #[cfg(feature = "names-model")]
            names: names_of(catalogue),
        };
        Self { query, catalogue: catalogue.clone() }
    }

    /// The same with others of the catalogue's rules on, on the engine of all rules: it is built at the first call and
    /// serves every other. Fails where the rules are too large together.
    pub fn with(&self, selection: RuleSelection) -> Result<Self, RuleError> {
        let engine = self.catalogue.engine().map_err(RuleError::together)?;
        Ok(self.but(|query| (query.engine, query.selection) = (engine, Arc::new(selection))))
    }

    /// The same with another query.
    fn but(&self, change: impl FnOnce(&mut Query)) -> Self {
        let mut other = self.clone();
        change(&mut other.query);
        other
    }

    /// The same, but reports what scores at least `floor`, in place of the rules' own thresholds.
    #[must_use]
    pub fn at_least(&self, floor: Score) -> Self {
        self.but(|query| query.floor = Some(floor))
    }

    /// The same for who only reports what these rules find: what others find within it is found as well.
    #[must_use]
    pub fn reporting(&self, rules: RuleSelection) -> Self {
        self.but(|query| query.reported = Arc::new(rules))
    }

    /// The same, but lets pass what `allow` lists, and only that.
    #[must_use]
    pub fn allowing(&self, allow: Allow) -> Self {
        let allow = (!allow.is_empty()).then(|| Arc::new(allow));
        self.but(|query| query.allow = allow)
    }

    /// The same, and lets pass what `more` lists too.
    #[must_use]
    pub fn also_allowing(&self, more: Allow) -> Self {
        let mut allow = self.query.allow.as_deref().cloned().unwrap_or_default();
        allow.extend(more);
        self.allowing(allow)
    }

    /// The same for one request: [`try_find_with`](Self::try_find_with) asks `checkpoint` whether to go on, and a names
    /// model reads no more new text than one request may have read.
    #[must_use]
    pub fn with_checkpoint(&self, checkpoint: Checkpoint) -> Self {
        self.but(|query| {
            query.checkpoint = checkpoint;
            #[cfg(feature = "names-model")]
            if let Some(names) = &mut query.names {
                names.budget = Some(Arc::new(model::PieceBudget::new(names.model.options().max_tokens)));
            }
        })
    }

    /// The same for one request with `other`, which [`with_checkpoint`](Self::with_checkpoint) made: a names model reads for both no more than
    /// for one.
    #[must_use]
    pub fn sharing(&self, other: &Self) -> Self {
        self.but(|query| {
            query.checkpoint.clone_from(&other.query.checkpoint);
            #[cfg(feature = "names-model")]
            if let Some((names, of_other)) = query.names.as_mut().zip(other.query.names.as_ref()) {
                names.budget.clone_from(&of_other.budget);
            }
        })
    }

    /// The same, but text that a names model did not read for want of budget may not pass, unless the model's options say
    /// that it may: see [`is_unread`](Self::is_unread).
    #[must_use]
    pub fn strict(&self) -> Self {
        self.but(|_query| {
            #[cfg(feature = "names-model")]
            if let Some(names) = &mut _query.names {
                names.strict = names.model.options().beyond == model::OverLength::Refuse;
            }
        })
    }

    /// Whether text of the request was not read that [has to be](Self::strict).
    pub fn is_unread(&self) -> bool {
        #[cfg(feature = "names-model")]
        return self.query.names.as_ref().is_some_and(|names| {
            names.strict && names.budget.as_ref().is_some_and(|budget| budget.is_exceeded())
        });
        #[cfg(not(feature = "names-model"))]
        false
    }

    /// Where this detector asks whether to go on.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.query.checkpoint
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

    /// The ids of the rules that it knows, on or not.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..u16::try_from(self.rule_count()).unwrap_or(u16::MAX)).map(RuleId::new)
    }

    /// The rules that are on.
    pub fn selection(&self) -> &RuleSelection {
        &self.query.selection
    }

    /// Whether a value that a rule names may pass: the allow-list has it.
    pub fn allows(&self, rule: RuleId, value: &str) -> bool {
        self.query.allow.as_ref().is_some_and(|allow| allow.has(rule, value.as_bytes()))
    }

    /// Whether a names model reads whole texts for it, which it does not for a [`scanner`](Self::scanner).
    pub fn reads_names(&self) -> bool {
        #[cfg(feature = "names-model")]
        return self.query.names.as_ref().is_some_and(|names| {
            [names.person, names.place].into_iter().flatten().any(|rule| self.query.selection.has(rule))
        });
        #[cfg(not(feature = "names-model"))]
        false
    }

    /// Scratch memory for [`find_with`](Self::find_with).
    pub fn cache(&self) -> Cache {
        Cache::default()
    }

    /// All findings in `text`: resolved, in order, sharing no byte. For many texts, [`find_with`](Self::find_with).
    pub fn find(&self, text: &str) -> Vec<Finding> {
        self.find_with(&mut self.cache(), text)
    }

    /// As [`find`](Self::find), with memory that is used again. It looks at the whole text whatever a
    /// [checkpoint](Self::with_checkpoint) says: nothing found is not the same as not looked.
    pub fn find_with(&self, cache: &mut Cache, text: &str) -> Vec<Finding> {
        self.try_find_with(cache, None, text).unwrap_or_else(|Stopped| {
            let unasked = self.but(|query| query.checkpoint = Checkpoint::default());
            unasked.try_find_with(cache, None, text).unwrap_or_default()
        })
    }

    /// As [`find_with`](Self::find_with), in a text that stands where `label` says (what it is called supports or
    /// contradicts what it holds, as words before it do), and no longer than a [checkpoint](Self::with_checkpoint) lets it.
    ///
    /// # Errors
    /// The checkpoint said so.
    pub fn try_find_with(
        &self,
        cache: &mut Cache,
        label: Option<&Label>,
        text: &str,
    ) -> Result<Vec<Finding>, Stopped> {
        let mut findings = Vec::new();
        let sink = &mut |finding| findings.push(finding);
        cache.0.look(&self.query, label, text, sink)?;
        self.with_names(text, findings)
    }

    /// What rules found in `text`, with what the names model finds there.
    #[cfg(feature = "names-model")]
    fn with_names(&self, text: &str, findings: Vec<Finding>) -> Result<Vec<Finding>, Stopped> {
        let Query { selection, floor, allow, checkpoint, .. } = &self.query;
        let on = |rule: Option<RuleId>| rule.filter(|&rule| selection.has(rule));
        let names = self.query.names.as_ref();
        let Some(names) = names.filter(|_| self.reads_names()) else {
            return Ok(findings);
        };
        let words = names.model.words(text, checkpoint, names.budget.as_deref())?;
        let counts = |one: &Finding| {
            let floor = floor.unwrap_or_else(|| Score::new(self.rule(one.rule).threshold()));
            let value = text.get(one.span.start..one.span.end).unwrap_or_default();
            one.score >= floor && !allow.as_ref().is_some_and(|allow| allow.has(one.rule, value.as_bytes()))
        };
        let (person, place, organisation) = (on(names.person), on(names.place), names.organisation);
        let found = model::RuleFindings { text, findings, person, place, organisation };
        Ok(model::merge(found, &words, names.model.options().threshold, &counts))
    }

    #[cfg(not(feature = "names-model"))]
    fn with_names(&self, _: &str, findings: Vec<Finding>) -> Result<Vec<Finding>, Stopped> {
        Ok(findings)
    }

    /// All that some rule takes for a value, in order of their starts, also what overlaps: each rule's view of
    /// `text`, for comparing rules.
    pub fn candidates_with(&self, cache: &mut Cache, text: &str) -> Vec<Finding> {
        cache.0.candidates(&self.query, text)
    }

    /// A scanner for text that arrives in pieces.
    pub fn scanner(&self) -> Scanner {
        Scanner::new(self.query.clone())
    }

    /// The most that a scanner holds back with these rules on, in bytes of text that reads as it is written. What
    /// does not ([`as_read`](super::as_read)) takes up to [`WIDEST`](super::WIDEST) times that.
    pub fn reach(&self) -> usize {
        self.query.engine.reach(&self.query.selection) + normal::AHEAD
    }
}

/// The catalogue's model, and its rules for names.
#[cfg(feature = "names-model")]
fn names_of(catalogue: &Catalogue) -> Option<NamesScan> {
    Some(NamesScan {
        model: Arc::clone(catalogue.names_model()?),
        budget: None,
        strict: false,
        person: catalogue.find("PERSON"),
        place: catalogue.find("LOCATION"),
        organisation: catalogue.find("ORGANIZATION"),
    })
}
