//! Findings, and what is none, as a page shows them: for scripts, with places in UTF-16 code units.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::console::playground::explanation::{JudgedFinding, score};
use crate::console::playground::redacting::AllowedFinding;
use crate::console::playground::units::CodeUnits;
use crate::detect::{Detector, Finding, Rejected, Rejection, Rule, Score, Span};
use crate::redact::Placement;

/// The most places that are marked.
const MARKED: usize = 5000;

/// The most findings that are told in words.
pub(super) const TOLD: usize = 400;

/// The most rules that are named for one thing that is not found.
const OTHERS: usize = 6;

/// The longest value that a table shows, in characters.
const VALUE: usize = 120;

/// A place, and what is there.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Highlight {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The rule; empty where a value stands in an encoding.
    pub(super) rule: String,
    /// Which of the findings told it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) told: Option<usize>,
}

/// A finding, told.
#[derive(Debug, Serialize)]
pub(super) struct FindingView {
    pub(super) value: String,
    pub(super) rule: String,
    pub(super) score: String,
    pub(super) why: Vec<String>,
    /// What stands for it; `None` where it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) becomes: Option<String>,
    /// Where it is in a document: a JSON pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<String>,
}

/// What rules take for a value, and which is none.
#[derive(Debug, Serialize)]
pub(super) struct RejectedView {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: String,
    /// The rule that comes nearest.
    pub(super) rule: String,
    pub(super) score: String,
    pub(super) why: Vec<String>,
    /// Other rules that know the form.
    pub(super) others: Vec<String>,
    /// How many more there are.
    pub(super) more: usize,
}

/// What is known of a rule.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct RuleFacts {
    pub(super) family: &'static str,
    pub(super) category: &'static str,
    pub(super) severity: &'static str,
    pub(super) region: String,
    pub(super) description: String,
}

impl RuleFacts {
    fn of(rule: &Rule) -> Self {
        Self {
            family: rule.family().name(),
            category: rule.category().name(),
            severity: rule.severity().name(),
            region: rule.region().to_owned(),
            description: rule.description().to_owned(),
        }
    }
}

/// What is known of a text.
#[derive(Debug, Default, Serialize)]
pub(super) struct AnalyzedText {
    /// What is found, in order.
    pub(super) marks: Vec<Highlight>,
    /// How many values rules find.
    pub(super) found: usize,
    /// How many more they find than are marked.
    pub(super) more: usize,
    /// The first of them, in words.
    pub(super) told: Vec<FindingView>,
    /// What is not found.
    pub(super) not: Vec<RejectedView>,
    /// What is known of the rules that are named.
    pub(super) rules: BTreeMap<String, RuleFacts>,
    /// The text as it leaves.
    pub(super) redacted: String,
    /// What stands for values there.
    pub(super) replaced: Vec<Highlight>,
    /// Whether nothing leaves, since something was found.
    pub(super) refused: bool,
    /// What is wrong with the text, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

/// A text, and what is known of what is in it.
pub(super) struct Marking<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Has the rules.
    pub(super) detector: &'a Detector,
    /// From which score on findings count, if not as the rules say.
    pub(super) floor: Option<Score>,
    /// Whether it is a document, whose values have pointers.
    pub(super) pointers: Option<&'a dyn Fn(Span) -> String>,
}

impl Marking<'_> {
    fn part(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    fn shown(&self, span: Span) -> String {
        short(self.part(span))
    }

    fn judged<'j>(&'j self, finding: &'j Finding, name: &'j str) -> JudgedFinding<'j> {
        let rule = self.detector.rule(finding.rule);
        JudgedFinding {
            finding,
            rule,
            word: finding.near.map(|near| self.part(near.span)).unwrap_or_default(),
            least: self.floor.map_or(rule.threshold(), Score::value),
            name,
        }
    }

    /// Adds what is found, and what stands for it in `redacted`.
    pub(super) fn find(
        &self,
        looked: &mut AnalyzedText,
        found: &[Finding],
        places: &[Placement],
        redacted: &str,
    ) {
        let ends = found.iter().flat_map(|one| [one.span.start, one.span.end]);
        let before = places.iter().flat_map(|place| [place.before.start, place.before.end]);
        let units = CodeUnits::of(self.text, ends.chain(before));
        let after =
            CodeUnits::of(redacted, places.iter().flat_map(|place| [place.after.start, place.after.end]));
        let mut marks: Vec<(Span, Highlight)> = Vec::new();
        for finding in found.iter().take(MARKED) {
            let rule = self.detector.rule(finding.rule);
            let told = (looked.told.len() < TOLD).then(|| {
                let place = place_of(places, finding.span);
                let at = self.pointers.map(|pointer| pointer(finding.span));
                let name = at.as_deref().map(called).unwrap_or_default();
                let told = FindingView {
                    value: self.shown(finding.span),
                    rule: rule.name().to_owned(),
                    score: score(finding.score.value()),
                    why: self.judged(finding, name).found(),
                    becomes: place.and_then(|place| redacted.get(place.after.clone())).map(short),
                    at: at.clone(),
                };
                looked.told.push(told);
                looked.rules.entry(rule.name().to_owned()).or_insert_with(|| RuleFacts::of(rule));
                looked.told.len() - 1
            });
            marks.push((finding.span, self.mark(&units, finding.span, rule.name(), told)));
        }
        // A document's values are also replaced where no rule finds them, and within encodings.
        for place in places.iter().take(MARKED) {
            let span = Span::new(place.before.start, place.before.end);
            let at = found.partition_point(|one| one.span.end <= span.start);
            if !found.get(at).is_some_and(|one| one.span.overlaps(span)) {
                marks.push((span, self.mark(&units, span, place.rule.as_deref().unwrap_or_default(), None)));
            }
        }
        marks.sort_by_key(|(span, _)| *span);
        (looked.found, looked.more) = (found.len(), found.len().saturating_sub(MARKED));
        let told_at = |place: &Placement| {
            let at = marks.partition_point(|(span, _)| span.end <= place.before.start);
            marks.get(at).filter(|(span, _)| span.start < place.before.end).and_then(|(_, mark)| mark.told)
        };
        let replaced = places.iter().take(MARKED).map(|place| Highlight {
            start: after.at(place.after.start),
            end: after.at(place.after.end),
            rule: place.rule.as_deref().unwrap_or_default().to_owned(),
            told: told_at(place),
        });
        looked.replaced = replaced.collect();
        looked.marks = marks.into_iter().map(|(_, mark)| mark).collect();
    }

    fn mark(&self, units: &CodeUnits, span: Span, rule: &str, told: Option<usize>) -> Highlight {
        Highlight { start: units.at(span.start), end: units.at(span.end), rule: rule.to_owned(), told }
    }

    /// Adds what is not found: for each thing the rule that comes nearest.
    pub(super) fn reject(&self, looked: &mut AnalyzedText, rejected: &[Rejected]) {
        let mut things: BTreeMap<Span, Vec<&Rejected>> = BTreeMap::new();
        for one in rejected {
            things.entry(one.finding.span).or_default().push(one);
        }
        let units = CodeUnits::of(self.text, things.keys().flat_map(|span| [span.start, span.end]));
        for (span, mut rules) in things {
            let lacks = |one: &&Rejected| self.judged(&one.finding, "").least - one.finding.score.value();
            rules.sort_by(|a, b| {
                let negative = |one: &Rejected| one.why != Rejection::NegativeContext;
                negative(a).cmp(&negative(b)).then(lacks(a).total_cmp(&lacks(b)))
            });
            let Some((nearest, others)) = rules.split_first() else { continue };
            let rule = self.detector.rule(nearest.finding.rule);
            looked.rules.entry(rule.name().to_owned()).or_insert_with(|| RuleFacts::of(rule));
            let named = others.iter().take(OTHERS);
            looked.not.push(RejectedView {
                start: units.at(span.start),
                end: units.at(span.end),
                value: self.shown(span),
                rule: rule.name().to_owned(),
                score: score(nearest.finding.score.value()),
                why: self.judged(&nearest.finding, "").rejected(nearest.why),
                others: named.map(|one| self.detector.rule(one.finding.rule).name().to_owned()).collect(),
                more: others.len().saturating_sub(OTHERS),
            });
        }
    }

    /// Adds what rules find and what passes all the same.
    pub(super) fn pass(&self, looked: &mut AnalyzedText, allowed: &[AllowedFinding]) {
        let allowed = allowed.get(..allowed.len().min(TOLD)).unwrap_or_default();
        let units = CodeUnits::of(
            self.text,
            allowed.iter().flat_map(|one| [one.finding.span.start, one.finding.span.end]),
        );
        for AllowedFinding { finding, why } in allowed {
            let rule = self.detector.rule(finding.rule);
            looked.rules.entry(rule.name().to_owned()).or_insert_with(|| RuleFacts::of(rule));
            looked.not.push(RejectedView {
                start: units.at(finding.span.start),
                end: units.at(finding.span.end),
                value: self.shown(finding.span),
                rule: rule.name().to_owned(),
                score: score(finding.score.value()),
                why: vec![(*why).to_owned()],
                others: Vec::new(),
                more: 0,
            });
        }
        looked.not.sort_by_key(|not| (not.start, not.end));
    }
}

/// What the value at a pointer is called: by the nearest name that is no number of an element.
fn called(at: &str) -> &str {
    let mut names = at.rsplit('/').filter(|name| !name.bytes().all(|byte| byte.is_ascii_digit()));
    names.next().unwrap_or_default()
}

/// The replacement that touches a finding.
fn place_of(places: &[Placement], span: Span) -> Option<&Placement> {
    let at = places.partition_point(|place| place.before.end <= span.start);
    places.get(at).filter(|place| place.before.start < span.end)
}

fn short(value: &str) -> String {
    match value.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
        None => value.to_owned(),
    }
}
