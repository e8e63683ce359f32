//! The analysis of a redaction, as `debug` asks for it (specification, "Recognizer result element").

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use crate::api::envelope::Dialect;
use crate::detect::{Rejection, Span, offset};
use crate::redact::{Rejected, Report, ReportedFinding};

/// What findings of some rules are reported as, by the rules' names: those of a config's own rules as its owner says.
#[derive(Clone, Debug, Default)]
pub struct Entities(Arc<HashMap<String, String>>);

impl Entities {
    /// The entity of a rule; for most it is the rule's name.
    pub fn of<'n>(&'n self, rule: &'n str) -> &'n str {
        self.0.get(rule).map_or(rule, String::as_str)
    }
}

impl FromIterator<(String, String)> for Entities {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().collect()))
    }
}

/// What was found and what became of it.
#[derive(Serialize)]
pub(in crate::api) struct Analysis {
    summary_counts: BTreeMap<String, usize>,
    recognizer_results: Vec<Recognized>,
}

/// One finding.
#[derive(Serialize)]
pub(in crate::api) struct Recognized {
    field_type: String,
    score: serde_json::Number,
    text: String,
    start: usize,
    end: usize,
    redacted: bool,
    /// Why it does not count; absent for what does.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_results: Option<NearbyWord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_context_results: Option<NearbyWord>,
}

/// The word that changed a score most (specification, "Context result object").
#[derive(Serialize)]
struct NearbyWord {
    word: String,
    start: usize,
    end: usize,
    score_augment: f64,
}

impl NearbyWord {
    /// A word, its place, and what it adds to the score.
    fn new(word: String, span: Span, augment: f32) -> Self {
        Self { word, start: span.start, end: span.end, score_augment: rounded(augment) }
    }
}

impl Analysis {
    /// Of a text, whose findings have byte offsets, and what of it does not count.
    pub(super) fn of_text(text: &str, report: &Report, rejected: &[Rejected], dialect: Dialect) -> Self {
        let mut marks = Vec::new();
        for found in report.findings().iter().chain(rejected.iter().map(|one| &one.found)) {
            marks.extend([found.span.start, found.span.end]);
            marks.extend(found.near.iter().flat_map(|near| [near.span.start, near.span.end]));
        }
        let places = CodePoints::of(text, marks);
        let part = |span: Span| text.get(span.start..span.end).unwrap_or_default().to_owned();
        let told = |found: &ReportedFinding| {
            let points = |span: Span| Span::new(places.at(span.start), places.at(span.end));
            let near =
                found.near.map(|near| NearbyWord::new(part(near.span), points(near.span), near.augment));
            recognized(found, dialect, part(found.span), points(found.span), near)
        };
        let rejected = rejected.iter().map(|one| told(&one.found).rejected(one.why, dialect));
        Self::new(report, report.findings().iter().map(told).chain(rejected).collect())
    }

    /// Of a document, whose findings were told in detail.
    pub(in crate::api) fn of_document(report: &Report, dialect: Dialect) -> Self {
        let told = |found: &ReportedFinding| {
            let placed = found.placed.as_ref();
            let text = placed.map(|placed| placed.text.to_string()).unwrap_or_default();
            let word = placed.and_then(|placed| placed.word.as_ref()).map(|word| word.to_string());
            let near =
                found.near.map(|near| NearbyWord::new(word.unwrap_or_default(), near.span, near.augment));
            let mut told = recognized(found, dialect, text, found.span, near);
            told.data_key = placed.map(|placed| placed.key.to_string());
            told
        };
        let rejected = report.rejected().iter().map(|one| told(&one.found).rejected(one.why, dialect));
        Self::new(report, report.findings().iter().map(told).chain(rejected).collect())
    }

    /// The same with entities in place of the rules' names. Rules of one entity are counted together.
    pub(in crate::api) fn called(mut self, entities: &Entities) -> Self {
        for found in &mut self.recognizer_results {
            found.field_type = entities.of(&found.field_type).to_owned();
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (rule, count) in self.summary_counts {
            *counts.entry(entities.of(&rule).to_owned()).or_default() += count;
        }
        self.summary_counts = counts;
        self
    }

    /// The findings alone.
    pub(in crate::api) fn into_results(self) -> Vec<Recognized> {
        self.recognizer_results
    }

    fn new(report: &Report, recognizer_results: Vec<Recognized>) -> Self {
        let summary_counts = report.by_rule().map(|(_, name, count)| (name.to_owned(), count)).collect();
        Self { summary_counts, recognizer_results }
    }
}

impl Recognized {
    /// The same as what does not count. Clients whose scores are integers get 0.
    fn rejected(mut self, why: Rejection, dialect: Dialect) -> Self {
        self.reason = Some(match why {
            Rejection::NegativeContext => "negative_context",
            Rejection::Threshold => "threshold",
        });
        if dialect == Dialect::Sdk {
            self.score = 0.into();
        }
        self
    }
}

fn recognized(
    found: &ReportedFinding,
    dialect: Dialect,
    text: String,
    span: Span,
    near: Option<NearbyWord>,
) -> Recognized {
    let (context_results, negative_context_results) = match near {
        Some(nearby) if nearby.score_augment < 0.0 => (None, Some(nearby)),
        other => (other, None),
    };
    Recognized {
        field_type: found.name.to_string(),
        score: score(found.score.value(), dialect),
        text,
        start: span.start,
        end: span.end,
        redacted: found.redacted,
        reason: None,
        data_key: None,
        context_results,
        negative_context_results,
    }
}

/// Byte offsets of a text counted in Unicode code points.
struct CodePoints(BTreeMap<usize, usize>);

impl CodePoints {
    fn of(text: &str, mut marks: Vec<usize>) -> Self {
        marks.sort_unstable();
        marks.dedup();
        let spans = marks.iter().map(|&mark| Span { start: mark, end: mark });
        let counted: Vec<Span> = offset::code_points(text, spans);
        Self(marks.into_iter().zip(counted).map(|(mark, span)| (mark, span.start)).collect())
    }

    fn at(&self, mark: usize) -> usize {
        self.0.get(&mark).copied().unwrap_or_default()
    }
}

/// Two SDKs parse a score as an integer, and fail on a fraction.
fn score(score: f32, dialect: Dialect) -> serde_json::Number {
    match dialect {
        Dialect::Sdk => 1.into(),
        Dialect::Documented => serde_json::Number::from_f64(rounded(score)).unwrap_or_else(|| 1.into()),
    }
}

/// To two places, so that `0.35` reads as that.
fn rounded(value: f32) -> f64 {
    (f64::from(value) * 100.0).round() / 100.0
}
