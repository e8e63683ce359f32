//! [`Redactor`]: a detector and a plan, ready to be used on texts, documents and streams.

use std::sync::Arc;

use crate::base::budget::{Exhausted, WorkCharge};
use crate::base::checkpoint::{Checkpoint, Stopped};
use crate::detect::{Allow, Cache, Detector, Family, Finding, Label, RuleError, RuleId, RuleSelection};
use crate::redact::analyzer_findings::{AnalyzerFindings, Weight, merged};
use crate::redact::document_findings::{DocumentFindings, with_more};
use crate::redact::findings_cache::{CallerDigest, CallerFindings, FindingsCache};
use crate::redact::inline_documents::with_inline_documents;
use crate::redact::method::{Method, MethodPlan};
use crate::redact::public_names::PublicNameRules;
use crate::redact::report::{Rejected, ReportedFinding};
use crate::redact::request_words::RequestWords;
use crate::redact::surrogate_log::SurrogateLog;
use crate::redact::table::with_cells;

/// The longest text, and the most text of a document, of which is told what does not count, in bytes: it takes longer than
/// to redact it.
pub const MOST_EXPLAINED: usize = 1 << 20;

/// What each finding counts as, in bytes: it, its entry in the report, where it stands and what stands there instead.
const FINDING: usize = 512;

/// Finds and replaces. Cheap to clone.
#[derive(Clone)]
pub struct Redactor {
    pub(super) detector: Detector,
    pub(super) plan: Arc<MethodPlan>,
    /// Which of the findings stay.
    public: PublicNameRules,
    /// What was issued for other parts of the same request.
    pub(super) log: Option<SurrogateLog>,
    /// The rules of which it takes findings of analyzers.
    hears: RuleSelection,
    /// What analyzers found in the texts of the same request.
    reported: Option<Arc<AnalyzerFindings>>,
    /// What its findings count as.
    tally: Option<WorkCharge>,
    /// Takes what texts say.
    notes: Option<RequestWords>,
    /// What the request said, which its answer may repeat.
    said: Option<RequestWords>,
    /// What it found before.
    recent: Option<CallerFindings>,
}

impl Redactor {
    /// What the detector finds becomes what the plan says.
    pub fn new(detector: Detector, plan: MethodPlan) -> Self {
        let (public, hears) = (PublicNameRules::default(), RuleSelection::default());
        let reported: RuleSelection =
            detector.rule_ids().filter(|rule| plan.method(*rule).leaves()).collect();
        let detector = if reported.is_empty() { detector } else { detector.reporting(reported) };
        Self {
            detector,
            plan: Arc::new(plan),
            public,
            log: None,
            hears,
            reported: None,
            tally: None,
            notes: None,
            said: None,
            recent: None,
        }
    }

    /// The rule of this name, on or not.
    pub fn rule(&self, name: &str) -> Option<RuleId> {
        self.detector.rule_ids().find(|id| self.detector.rule(*id).name() == name)
    }

    /// What becomes of a rule's findings.
    pub fn method(&self, rule: RuleId) -> &Method {
        self.plan.method(rule)
    }

    /// The same, and lets pass what `more` lists too.
    #[must_use]
    pub fn also_allowing(self, more: Allow) -> Self {
        Self { detector: self.detector.also_allowing(more), recent: None, ..self }
    }

    /// The same, but keeps what the texts say that it redacts whole, beside what is replaced in them.
    #[must_use]
    pub fn with_request_words(self, words: RequestWords) -> Self {
        Self { notes: Some(words), ..self }
    }

    /// The same, but lets an answer repeat what was kept of its request, whichever rule finds it there. What may not pass at
    /// all may not here either, unless the request had to have it ([`RequestWords::keep`]).
    #[must_use]
    pub fn letting_repeat(self, words: RequestWords) -> Self {
        Self { said: Some(words), ..self }
    }

    /// The same, but looks up in `cache` what it found before in whole texts of [its caller](Self::for_caller).
    #[must_use]
    pub fn with_findings_cache(self, cache: Arc<FindingsCache>) -> Self {
        Self { recent: Some(CallerFindings::new(cache)), ..self }
    }

    /// The same, for texts of this caller; nothing is looked up for nobody.
    #[must_use]
    pub fn for_caller(self, caller: Option<CallerDigest>) -> Self {
        Self { recent: self.recent.map(|recent| recent.of(caller)), ..self }
    }

    /// What it found before, where that is kept. A names model keeps its own, since what it may read of a request is bounded.
    pub(super) fn recent(&self) -> Option<&CallerFindings> {
        self.recent.as_ref().filter(|_| !self.detector.reads_names())
    }

    /// Takes what texts say, where that is kept.
    pub(super) const fn notes(&self) -> Option<&RequestWords> {
        self.notes.as_ref()
    }

    /// Whether the request had to have this as it is.
    pub(super) fn requires(&self, value: &str) -> bool {
        self.said.as_ref().is_some_and(|words| words.stays(value))
    }

    /// Whether the request said this.
    pub(super) fn repeats(&self, value: &str) -> bool {
        self.said.as_ref().is_some_and(|words| words.has(value))
    }

    /// What looks for values.
    pub const fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The same, but such names stay where they are all that was found.
    #[must_use]
    pub fn leaving(self, public: PublicNameRules) -> Self {
        Self { public, ..self }
    }

    /// Whether what a rule found stays as it is.
    pub(super) fn stays(&self, rule: RuleId, value: &str) -> bool {
        self.public.has(rule, value)
    }

    /// What it would replace or report in a text, which stands where `label` says; where it is a JSON document, also in its
    /// values.
    ///
    /// # Errors
    /// The checkpoint said so.
    pub fn find(&self, label: Option<&Label>, text: &str) -> Result<Vec<Finding>, Stopped> {
        let mut cache = self.detector.cache();
        let opened = self.opened(&mut cache, text)?;
        let mut found = self.with_structures(&mut cache, text, opened)?;
        if label.is_some() {
            // A label supports what stands there, and takes nothing away.
            let labelled = self.detector.try_find_with(&mut cache, label, text)?;
            // Both are in order.
            let mut before = labelled.iter().peekable();
            found.retain(|one| {
                while before.next_if(|other| other.span.end <= one.span.start).is_some() {}
                !before.peek().is_some_and(|other| other.span.overlaps(one.span))
            });
            found.extend(labelled);
            found.sort_unstable_by_key(|one| one.span.start);
        }
        found.retain(|one| {
            !text.get(one.span.start..one.span.end).is_some_and(|value| self.stays(one.rule, value))
        });
        Ok(found)
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// The checkpoint said so.
    pub fn go_on(&self) -> Result<(), Stopped> {
        self.detector.checkpoint().pass()
    }

    /// The name of a rule.
    pub fn rule_name(&self, rule: RuleId) -> &str {
        self.detector.rule(rule).name()
    }

    /// The kind of thing that a rule finds.
    pub fn family(&self, rule: RuleId) -> Family {
        self.detector.rule(rule).family()
    }

    /// Whether text was not read that has to be: see [`Detector::is_unread`].
    pub fn is_unread(&self) -> bool {
        self.detector.is_unread()
    }

    /// The same, but looks for these rules only, also for those that it would not look for otherwise.
    ///
    /// # Errors
    /// As of [`Detector::with`].
    pub fn only(self, rules: RuleSelection) -> Result<Self, RuleError> {
        let detector = self.detector.with(rules)?;
        Ok(Self { detector, recent: None, ..self })
    }

    /// Whether it looks for nothing.
    pub fn is_idle(&self) -> bool {
        self.detector.selection().is_empty()
    }

    /// The same, but asks `checkpoint` whether to go on: each stretch of text and each value. A whole text or document
    /// that is not gone on with ends in [`RedactError::Stopped`](crate::redact::RedactError::Stopped).
    #[must_use]
    pub fn with_checkpoint(self, checkpoint: Checkpoint) -> Self {
        Self { detector: self.detector.with_checkpoint(checkpoint), ..self }
    }

    /// The same, but what it finds counts as held, and a document in which it finds too much for that ends in
    /// [`RedactError::Exhausted`](crate::redact::RedactError::Exhausted).
    #[must_use]
    pub fn with_charge(self, tally: WorkCharge) -> Self {
        Self { tally: Some(tally), ..self }
    }

    /// It found so much more.
    pub(super) fn hold(&self, findings: usize) -> Result<(), Exhausted> {
        self.tally.as_ref().map_or(Ok(()), |tally| tally.add(findings.saturating_mul(FINDING)))
    }

    /// The same of redactors that look through one document together: what a names model may read is bounded for all.
    #[must_use]
    pub fn all_with_checkpoint(redactors: Vec<Self>, checkpoint: &Checkpoint) -> Vec<Self> {
        let mut first: Option<Detector> = None;
        let passing = |redactor: Self| {
            let detector = match &first {
                Some(first) => redactor.detector.sharing(first),
                None => redactor.detector.with_checkpoint(checkpoint.clone()),
            };
            first.get_or_insert_with(|| detector.clone());
            Self { detector, ..redactor }
        };
        redactors.into_iter().map(passing).collect()
    }

    /// The same, but its surrogates go with those of `log`: none that stands for one value there is issued for another,
    /// what is issued is kept there, and the way back leads to the values of all.
    #[must_use]
    pub fn with_surrogate_log(self, log: SurrogateLog) -> Self {
        Self { log: Some(log), ..self }
    }

    /// The same, but takes findings of these rules from analyzers, whether it looks for them itself or not.
    #[must_use]
    pub fn with_analyzer_rules(self, rules: RuleSelection) -> Self {
        Self { hears: rules, ..self }
    }

    /// Whether it takes findings of analyzers.
    pub fn hears(&self) -> bool {
        !self.hears.is_empty()
    }

    /// The same, but what analyzers reported of a text counts beside what is found in it.
    #[must_use]
    pub fn with_reported(self, reported: Arc<AnalyzerFindings>) -> Self {
        Self { reported: Some(reported), ..self }
    }

    /// What was found in a text, with what analyzers reported of it and the allow-list does not let pass.
    pub(super) fn and_reported(&self, text: &str, found: Vec<Finding>) -> Vec<Finding> {
        let Some(reported) = self.reported.as_ref().map(|reported| reported.of(text)) else { return found };
        let counts = |one: &&Finding| {
            let value = text.get(one.span.start..one.span.end);
            self.hears.has(one.rule) && value.is_some_and(|value| !self.detector.allows(one.rule, value))
        };
        let reported: Vec<Finding> = reported.iter().filter(counts).copied().collect();
        match reported.is_empty() {
            true => found,
            false => merged(found, reported, &|rule| Weight::of(self.plan.method(rule))),
        }
    }

    /// What in a text its rules take for values and do not report, with bytes for places: nothing of a text over
    /// [`MOST_EXPLAINED`] bytes.
    pub fn rejected(&self, text: &str) -> Vec<Rejected> {
        let mut cache = self.detector.cache();
        let opened = self.opened(&mut cache, text).unwrap_or_default();
        self.rejected_beside(&mut cache, text, &opened.found)
    }

    /// The same beside what was found in the text.
    pub(super) fn rejected_beside(&self, cache: &mut Cache, text: &str, found: &[Finding]) -> Vec<Rejected> {
        if text.len() > MOST_EXPLAINED {
            return Vec::new();
        }
        let told = self.detector.rejected(cache, text, found).into_iter();
        let told = told.map(|one| {
            let Finding { rule, span, score, near } = one.finding;
            let name = self.detector.rule(rule).name().into();
            let found = ReportedFinding { rule, name, score, span, redacted: false, near, placed: None };
            Rejected { found, why: one.why }
        });
        told.collect()
    }

    /// What is found in a text; where it is a JSON document, also in its values, each under the names that it has there.
    ///
    /// # Errors
    /// The detector's checkpoint said so.
    pub(super) fn opened(&self, cache: &mut Cache, text: &str) -> Result<OpenedText, Stopped> {
        let mut found = self.detector.try_find_with(cache, None, text)?;
        if !text.trim_start().starts_with(['{', '[']) {
            return Ok(OpenedText { found, is_document: false });
        }
        let within = DocumentFindings::of(&self.detector, cache, text, |token, _| token.is_value())?;
        let Some(DocumentFindings { found: more, bytes }) = within else {
            return Ok(OpenedText { found, is_document: false });
        };
        found.retain(|one| {
            let before = bytes.partition_point(|bytes| bytes.end <= one.span.start);
            !bytes.get(before).is_some_and(|bytes| bytes.overlaps(one.span))
        });
        Ok(OpenedText { found: with_more(found, more), is_document: true })
    }

    /// With what is found in the tables of a text and, if it is none itself, in the documents that stand in it.
    ///
    /// # Errors
    /// The detector's checkpoint said so.
    pub(super) fn with_structures(
        &self,
        cache: &mut Cache,
        text: &str,
        opened: OpenedText,
    ) -> Result<Vec<Finding>, Stopped> {
        let found = with_cells(&self.detector, text, opened.found)?;
        match opened.is_document {
            true => Ok(found),
            false => with_inline_documents(&self.detector, cache, text, found),
        }
    }
}

/// What was found in a text.
#[derive(Default)]
pub(super) struct OpenedText {
    pub(super) found: Vec<Finding>,
    /// Whether all of it is a JSON document, whose values were looked through.
    pub(super) is_document: bool,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("plan", &self.plan).finish_non_exhaustive()
    }
}
