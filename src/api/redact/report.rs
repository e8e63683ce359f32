//! The analysis of a redaction, as `debug` asks for it (specification, "Recognizer result element").

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::api::envelope::Dialect;
use crate::detect::{Span, offset};
use crate::redact::{Found, Report};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    data_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_results: Option<Nearby>,
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_context_results: Option<Nearby>,
}

/// The word that changed a score most (specification, "Context result object").
#[derive(Serialize)]
struct Nearby {
    word: String,
    start: usize,
    end: usize,
    score_augment: f64,
}

impl Analysis {
    /// Of a text, whose findings have byte offsets.
    pub(super) fn of_text(text: &str, report: &Report, dialect: Dialect) -> Self {
        let mut marks = Vec::new();
        for found in report.findings() {
            marks.extend([found.span.start, found.span.end]);
            marks.extend(found.near.iter().flat_map(|near| [near.span.start, near.span.end]));
        }
        let places = Places::of(text, marks);
        let part = |span: Span| text.get(span.start..span.end).unwrap_or_default().to_owned();
        let told = |found: &Found| {
            let points = |span: Span| Span::new(places.at(span.start), places.at(span.end));
            let near = found.near.map(|near| (part(near.span), points(near.span), near.augment));
            recognized(found, dialect, (part(found.span), points(found.span)), near)
        };
        Self::new(report, report.findings().iter().map(told).collect())
    }

    /// Of a document, whose findings were told in detail.
    pub(in crate::api) fn of_document(report: &Report, dialect: Dialect) -> Self {
        let told = |found: &Found| {
            let placed = found.placed.as_ref();
            let text = placed.map(|placed| placed.text.to_string()).unwrap_or_default();
            let word = placed.and_then(|placed| placed.word.as_ref()).map(|word| word.to_string());
            let near = found.near.map(|near| (word.unwrap_or_default(), near.span, near.augment));
            let mut told = recognized(found, dialect, (text, found.span), near);
            told.data_key = placed.map(|placed| placed.key.to_string());
            told
        };
        Self::new(report, report.findings().iter().map(told).collect())
    }

    /// Findings of some rules are reported as something else.
    pub(super) fn called(mut self, entities: &HashMap<String, String>) -> Self {
        for found in &mut self.recognizer_results {
            if let Some(entity) = entities.get(&found.field_type) {
                found.field_type.clone_from(entity);
            }
        }
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

/// A word near a value, its place, and what it adds to the score.
type Near = (String, Span, f32);

fn recognized(
    found: &Found,
    dialect: Dialect,
    (text, span): (String, Span),
    near: Option<Near>,
) -> Recognized {
    let nearby = near.map(|(word, span, augment)| Nearby {
        word,
        start: span.start,
        end: span.end,
        score_augment: rounded(augment),
    });
    let (context_results, negative_context_results) = match nearby {
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
        data_key: None,
        context_results,
        negative_context_results,
    }
}

/// Byte offsets of a text counted in Unicode code points.
struct Places(BTreeMap<usize, usize>);

impl Places {
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
