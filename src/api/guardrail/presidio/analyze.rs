//! `POST analyze`: where values stand.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use crate::api::call::{ApiAnswer, ApiCall};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::guardrail::answer::shown;
use crate::api::guardrail::engine::Guardrail;
use crate::api::guardrail::presidio::answer::RECOGNIZER;
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;
use crate::detect::offset::code_points;
use crate::detect::{Finding, Label, RuleSelection};
use crate::redact::{RedactError, Redactor};

/// The most texts in one call.
const TEXTS: usize = 10_000;

/// The most words and names in one list.
const WORDS: usize = 1_000;

/// What a call asks.
struct AnalyzeRequest {
    texts: Vec<String>,
    /// Whether they came as a list, and are told as one.
    listed: bool,
    only: Option<RuleSelection>,
    floor: f32,
    explained: bool,
    context: Option<Label>,
    allowed: HashSet<String>,
}

/// One value (Presidio REST API, `RecognizerResultWithAnalysis`).
#[derive(Serialize)]
struct RecognizerResult {
    entity_type: String,
    /// In code points.
    start: usize,
    end: usize,
    score: f32,
    analysis_explanation: Option<Explanation>,
    recognition_metadata: Metadata,
}

/// Why a value counts (Presidio REST API, `AnalysisExplanation`).
#[derive(Serialize)]
struct Explanation {
    recognizer: &'static str,
    pattern_name: String,
    pattern: Option<String>,
    original_score: f32,
    score: f32,
    textual_explanation: Option<String>,
    score_context_improvement: f32,
    supportive_context_word: String,
    validation_result: Option<f32>,
}

#[derive(Serialize)]
struct Metadata {
    recognizer_name: &'static str,
    recognizer_identifier: String,
}

/// Answers a call.
pub(super) async fn analyze(guardrail: &Guardrail, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
    let request = guardrail.request(call, |body| parse(guardrail, body)).await?;
    let redactor = match &request.only {
        None => guardrail.redactor.clone(),
        Some(rules) => {
            let only = guardrail.redactor.clone().only(rules.clone());
            only.map_err(|_| ApiError::Internal("rules"))?
        }
    };
    let bytes = request.texts.iter().map(String::len).sum();
    let counts = guardrail.counts.clone();
    let listed = request.listed;
    let work = move |checkpoint: &Checkpoint| {
        let redactor = redactor.with_checkpoint(checkpoint.clone());
        let each = request.texts.iter().map(|text| {
            let found = request.found(&redactor, text)?;
            counts.scan(text.len());
            found.iter().for_each(|one| counts.record(one.rule, 1));
            Ok(results(&redactor, text, &found, request.explained))
        });
        each.collect::<Result<Vec<_>, RedactError>>()
    };
    let mut results = guardrail.work(call, bytes, work).await?;
    if listed { shown(&results) } else { shown(&results.pop().unwrap_or_default()) }
}

impl AnalyzeRequest {
    fn found(&self, redactor: &Redactor, text: &str) -> Result<Vec<Finding>, RedactError> {
        let mut found = redactor.find(self.context.as_ref(), text)?;
        if redactor.is_unread() {
            return Err(RedactError::Unread);
        }
        found.retain(|one| {
            let value = text.get(one.span.start..one.span.end).unwrap_or_default();
            one.score.value() >= self.floor && !self.allowed.contains(value)
        });
        Ok(found)
    }
}

fn results(redactor: &Redactor, text: &str, found: &[Finding], explained: bool) -> Vec<RecognizerResult> {
    let places = code_points(text, found.iter().map(|one| one.span));
    let each = found.iter().zip(places).map(|(one, place)| {
        let name = redactor.rule_name(one.rule);
        RecognizerResult {
            entity_type: name.to_owned(),
            start: place.start,
            end: place.end,
            score: one.score.value(),
            analysis_explanation: explained.then(|| explanation(name, text, one)),
            recognition_metadata: Metadata {
                recognizer_name: RECOGNIZER,
                recognizer_identifier: format!("{RECOGNIZER}_{name}"),
            },
        }
    });
    each.collect()
}

fn explanation(name: &str, text: &str, found: &Finding) -> Explanation {
    let score = found.score.value();
    let (word, improvement) = match found.near {
        Some(near) => (text.get(near.span.start..near.span.end).unwrap_or_default(), near.augment),
        None => ("", 0.0),
    };
    Explanation {
        recognizer: RECOGNIZER,
        pattern_name: name.to_owned(),
        pattern: None,
        original_score: (score - improvement).clamp(0.0, 1.0),
        score,
        textual_explanation: None,
        score_context_improvement: improvement,
        supportive_context_word: word.to_owned(),
        validation_result: None,
    }
}

fn parse(guardrail: &Guardrail, body: &Value) -> Result<AnalyzeRequest, ApiError> {
    let mut fields = ObjectFields::of(body)?;
    fields.nulls_are_absent();
    let (texts, listed) = texts(&mut fields);
    let only = entities(&mut fields, guardrail);
    let floor = fields.number("score_threshold", 0.0..=1.0).unwrap_or_default() as f32;
    let explained = fields.flag("return_decision_process").unwrap_or(false);
    let words = |fields: &mut ObjectFields<'_>, name| {
        let text = |value: &Value, at, faults: &mut Faults| faults.text(value, at).map(str::to_owned);
        fields.array(name, WORDS, text).unwrap_or_default()
    };
    let context = words(&mut fields, "context");
    let context = Label::of(context.iter().map(String::as_str));
    let allowed = words(&mut fields, "allow_list").into_iter().collect();
    fields.one_of("allow_list_match", &[("exact", ())]);
    let own = fields.array("ad_hoc_recognizers", usize::MAX, |_, _, _| Some(()));
    if own.is_some_and(|own| !own.is_empty()) {
        let detail = "must be empty: rules of one call are not taken; write them into the configuration";
        fields.fault(Code::AboveMaxItems, fields.at("ad_hoc_recognizers"), detail);
    }
    // What they say changes nothing: all languages are looked for, and no text is logged.
    for ignored in ["language", "correlation_id", "regex_flags", "trace"] {
        fields.member(ignored);
    }
    fields.close()?;
    Ok(AnalyzeRequest { texts, listed, only, floor, explained, context, allowed })
}

/// One text, or several.
fn texts(fields: &mut ObjectFields<'_>) -> (Vec<String>, bool) {
    match fields.required("text") {
        Some(Value::Array(_)) => {
            let text = |value, at, faults: &mut Faults| faults.text(value, at).map(str::to_owned);
            (fields.array("text", TEXTS, text).unwrap_or_default(), true)
        }
        Some(value) => {
            let at = fields.at("text");
            (fields.faults().text(value, at).map(str::to_owned).into_iter().collect(), false)
        }
        None => (Vec::new(), false),
    }
}

/// The rules that a call asks for, in place of the route's. One that is not there is a fault: what somebody believes to be
/// looked for must not pass.
fn entities(fields: &mut ObjectFields<'_>, guardrail: &Guardrail) -> Option<RuleSelection> {
    let rules = &guardrail.catalogue;
    let rule = |value, at: Pointer, faults: &mut Faults| {
        let name = faults.text(value, at.clone())?;
        let known = rules.find(name);
        if known.is_none() {
            faults.add(
                Code::NotEnumMember,
                at,
                "there is no rule of this name; `supportedentities` has them all",
            );
        }
        known
    };
    let chosen = fields.array("entities", WORDS, rule)?;
    (!chosen.is_empty()).then(|| chosen.into_iter().collect())
}
