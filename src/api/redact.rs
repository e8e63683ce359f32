//! `POST /v1/redact`: redacts a text (specification, group B; field names from the public SDKs).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::api::call::BoxFuture;
use crate::api::cpu::CpuPool;
use crate::api::endpoint::{Asker, Endpoint, Success};
use crate::api::envelope::Dialect;
use crate::api::error::{ApiError, Code};
use crate::api::fields::Fields;
use crate::api::token::Service;
use crate::base::pointer::Pointer;
use crate::detect::{Catalogue, Choice, Detector, Span, offset};
use crate::redact::{Counts, Keys, Method, Plan, RedactError, Redacted, Redactor};

/// The operation, with what it works with.
pub struct Redact {
    catalogue: Arc<Catalogue>,
    detector: Detector,
    counts: Arc<Counts>,
    cpu: CpuPool,
}

impl Redact {
    /// Redacts with the rules that `detector` has switched on, unless a call names its own; findings are counted in
    /// `counts`.
    pub fn new(catalogue: Arc<Catalogue>, detector: Detector, counts: Arc<Counts>, cpu: CpuPool) -> Self {
        Self { catalogue, detector, counts, cpu }
    }
}

/// What a call asks.
pub struct RedactAsk {
    text: String,
    debug: bool,
    return_result: bool,
    rules: Option<Choice>,
}

/// What it is told.
#[derive(Serialize)]
pub struct RedactReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted_text: Option<String>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Analysis>,
}

#[derive(Serialize)]
struct Analysis {
    summary_counts: BTreeMap<String, usize>,
    recognizer_results: Vec<Recognized>,
}

/// One finding (specification, "Recognizer result element").
#[derive(Serialize)]
struct Recognized {
    field_type: String,
    score: serde_json::Number,
    text: String,
    start: usize,
    end: usize,
    redacted: bool,
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

impl Endpoint for Redact {
    const PATH: &'static str = "/v1/redact";
    const SERVICE: Service = Service::Redact;
    type Ask = RedactAsk;
    type Reply = RedactReply;

    fn parse(&self, mut fields: Fields<'_>) -> Result<RedactAsk, ApiError> {
        let text = fields.required_text("text").to_owned();
        let debug = fields.flag("debug").unwrap_or(false);
        let return_result = fields.flag("return_result").unwrap_or(true);
        let named = fields.names("rules");
        let rules = named.map(|named| {
            let at = Pointer::root().key("rules");
            let mut known = Vec::with_capacity(named.len());
            for (index, name) in named {
                match self.catalogue.find(name) {
                    Some(_) => known.push(name),
                    None => {
                        fields.fault(Code::DoesNotExist, at.index(index), "there is no rule of this name")
                    }
                }
            }
            Choice::only(&self.catalogue, known)
        });
        fields.close()?;
        let rules = rules.transpose().map_err(|_| ApiError::Internal("rules"))?;
        Ok(RedactAsk { text, debug, return_result, rules })
    }

    fn call<'a>(
        &'a self,
        asker: Asker<'a>,
        ask: RedactAsk,
    ) -> BoxFuture<'a, Result<Success<RedactReply>, ApiError>> {
        Box::pin(async move {
            let RedactAsk { text, debug, return_result, rules } = ask;
            let detector = rules.map_or_else(|| Ok(self.detector.clone()), |rules| self.detector.with(rules));
            let detector = detector.map_err(|_| ApiError::Internal("rules"))?;
            let redactor = Redactor::new(detector, Plan::all(Method::Replace));
            let dialect = asker.dialect;
            let bytes = text.len();
            let work = move || -> Result<(Redacted<String>, Option<Analysis>), RedactError> {
                let redacted = redactor.text(&text, &Keys::default())?;
                let analysis = debug.then(|| analysis(&text, &redacted, dialect));
                Ok((redacted, analysis))
            };
            let done = self.cpu.run(bytes, work).await.map_err(|_| ApiError::Internal("cpu"))?;
            let (redacted, report) = done.map_err(|_| ApiError::Internal("redact"))?;
            self.counts.report(redacted.report());
            let count = redacted.report().count();
            let summary = format!("Redacted {count} {}", if count == 1 { "value" } else { "values" });
            let redacted_text = return_result.then(|| redacted.into_value());
            Ok(Success { summary, result: RedactReply { redacted_text, count, report } })
        })
    }
}

fn analysis(text: &str, redacted: &Redacted<String>, dialect: Dialect) -> Analysis {
    let report = redacted.report();
    let mut marks = Vec::new();
    for found in report.findings() {
        marks.extend([found.span.start, found.span.end]);
        marks.extend(found.near.iter().flat_map(|near| [near.span.start, near.span.end]));
    }
    let places = Places::of(text, marks);
    let part = |span: Span| text.get(span.start..span.end).unwrap_or_default().to_owned();
    let recognizer_results = report
        .findings()
        .iter()
        .map(|found| {
            let nearby = found.near.map(|near| Nearby {
                word: part(near.span),
                start: places.at(near.span.start),
                end: places.at(near.span.end),
                score_augment: rounded(near.augment),
            });
            let (context_results, negative_context_results) = match nearby {
                Some(nearby) if nearby.score_augment < 0.0 => (None, Some(nearby)),
                other => (other, None),
            };
            Recognized {
                field_type: found.name.to_string(),
                score: score(found.score.value(), dialect),
                text: part(found.span),
                start: places.at(found.span.start),
                end: places.at(found.span.end),
                redacted: found.redacted,
                context_results,
                negative_context_results,
            }
        })
        .collect();
    let summary_counts = report.by_rule().map(|(_, name, count)| (name.to_owned(), count)).collect();
    Analysis { summary_counts, recognizer_results }
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
