//! OpenAI's moderations (API reference, "Moderations"), judged by the route's rules. What they find is personal data, for which
//! OpenAI has no category: it stands beside OpenAI's own, under the name that Mistral's moderations have for it, `pii`. Of the
//! others nothing is said here: each is false, and applied to no input.

use futures_util::future::BoxFuture;
use http::Method;
use serde_json::{Map, Value, json};

use crate::api::call::{ApiAnswer, ApiCall, Handler};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::guardrail::answer::{shown, text_of, told};
use crate::api::guardrail::engine::Guardrail;
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;
use crate::redact::{RedactError, Redactor};

/// The most inputs of one call, and parts of one input.
const MOST: usize = 10_000;

/// What is answered where a call names no model.
const MODEL: &str = "portcullis";

/// Personal data.
const PII: &str = "pii";

/// OpenAI's categories.
const OTHERS: [&str; 13] = [
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/instructions",
    "self-harm/intent",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
];

/// The API at the end of a route.
pub struct Moderations(pub Guardrail);

/// What is to be judged.
#[derive(Debug, PartialEq)]
struct ModerationsRequest {
    model: String,
    inputs: Vec<Input>,
}

/// What is judged as one: a text, or the texts of several parts.
#[derive(Debug, PartialEq)]
struct Input(Vec<String>);

impl Handler for Moderations {
    fn call<'a>(&'a self, mut call: ApiCall<'a>) -> BoxFuture<'a, ApiAnswer> {
        Box::pin(async move {
            let done = self.answer(&mut call).await;
            done.unwrap_or_else(|error| {
                let kind = match &error {
                    ApiError::Internal(_)
                    | ApiError::Overloaded
                    | ApiError::Unavailable
                    | ApiError::Unaudited
                    | ApiError::Full => "server_error",
                    _ => "invalid_request_error",
                };
                let shape = json!({ "message": text_of(&error), "type": kind, "param": null, "code": null });
                told(error, &call, "application/json", json!({ "error": shape }).to_string())
            })
        })
    }
}

impl Moderations {
    async fn answer(&self, call: &mut ApiCall<'_>) -> Result<ApiAnswer, ApiError> {
        if !matches!(self.0.operation(call).as_str(), "" | "moderations" | "v1/moderations") {
            return Err(ApiError::NotFound);
        }
        if call.head.method != Method::POST {
            return Err(ApiError::MethodNotAllowed("POST".to_owned()));
        }
        let ModerationsRequest { model, inputs } = self.0.request(call, parse).await?;
        let bytes = inputs.iter().flat_map(|input| &input.0).map(String::len).sum();
        let (redactor, counts) = (self.0.redactor.clone(), self.0.counts.clone());
        let work = move |checkpoint: &Checkpoint| {
            let redactor = redactor.with_checkpoint(checkpoint.clone());
            let each = inputs.iter().map(|input| {
                let mut surest = None::<f32>;
                for text in &input.0 {
                    for score in scores(&redactor, text, &counts)? {
                        surest = Some(surest.map_or(score, |known| known.max(score)));
                    }
                }
                Ok(result(surest))
            });
            each.collect::<Result<Vec<_>, RedactError>>()
        };
        let results = self.0.work(call, bytes, work).await?;
        shown(&json!({ "id": format!("modr-{}", call.id), "model": model, "results": results }))
    }
}

/// How sure the rules are of each value in a text.
fn scores(
    redactor: &Redactor,
    text: &str,
    counts: &crate::redact::RedactionCounts,
) -> Result<Vec<f32>, RedactError> {
    let found = redactor.find(None, text)?;
    if redactor.is_unread() {
        return Err(RedactError::Unread);
    }
    counts.scan(text.len());
    found.iter().for_each(|one| counts.record(one.rule, 1));
    Ok(found.iter().map(|one| one.score.value()).collect())
}

/// What is answered about an input, with how sure the rules are of the surest value in it.
fn result(surest: Option<f32>) -> Value {
    let each = |of_others: Value, of_ours: Value| -> Map<String, Value> {
        let others = OTHERS.iter().map(|name| ((*name).to_owned(), of_others.clone()));
        others.chain([(PII.to_owned(), of_ours)]).collect()
    };
    json!({
        "flagged": surest.is_some(),
        "categories": each(json!(false), json!(surest.is_some())),
        "category_scores": each(json!(0.0), json!(surest.unwrap_or_default())),
        "category_applied_input_types": each(json!([]), json!(["text"])),
    })
}

fn parse(body: &Value) -> Result<ModerationsRequest, ApiError> {
    let mut fields = ObjectFields::of(body)?;
    fields.nulls_are_absent();
    let model = fields.text("model").unwrap_or(MODEL).to_owned();
    let inputs = match fields.required("input") {
        Some(Value::String(text)) => vec![Input(vec![text.clone()])],
        Some(Value::Array(items)) => {
            let at = fields.at("input");
            if items.is_empty() {
                fields.fault(Code::BelowMinItems, at, "must have at least one item");
                Vec::new()
            } else if items.iter().any(Value::is_object) {
                let texts = fields.array("input", MOST, part).unwrap_or_default();
                vec![Input(texts.into_iter().flatten().collect())]
            } else {
                let text = |value, at, faults: &mut Faults| faults.text(value, at).map(str::to_owned);
                let texts = fields.array("input", MOST, text).unwrap_or_default();
                texts.into_iter().map(|text| Input(vec![text])).collect()
            }
        }
        Some(other) => {
            let at = fields.at("input");
            fields.faults().wrong(
                other,
                at,
                Code::InvalidString,
                "must be a string, an array of strings, or of parts",
            );
            Vec::new()
        }
        None => Vec::new(),
    };
    fields.close()?;
    Ok(ModerationsRequest { model, inputs })
}

/// The text of a part; of an image there is none, and nobody looks at it.
fn part(value: &Value, at: Pointer, faults: &mut Faults) -> Option<Option<String>> {
    ObjectFields::within(value, &at, faults, |fields| {
        fields.required("type");
        match fields.one_of("type", &[("text", true), ("image_url", false)])? {
            true => Some(Some(fields.required_text("text").to_owned())),
            false => {
                fields.required("image_url");
                Some(None)
            }
        }
    })
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_read_as_openai_has_them() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA" } });
        let rows = [
            (json!("a"), Ok(vec![vec!["a"]])),
            (json!(["a", "b"]), Ok(vec![vec!["a"], vec!["b"]])),
            (json!([text("a"), image, text("b")]), Ok(vec![vec!["a", "b"]])),
            (json!([]), Err("/input")),
            (json!(5), Err("/input")),
            (json!(null), Err("/input")),
            (json!(["a", 5]), Err("/input/1")),
            (json!([text("a"), "b"]), Err("/input/1")),
            (json!([{ "type": "audio" }]), Err("/input/0/type")),
        ];
        for (input, want) in rows {
            let read = parse(&json!({ "input": input })).map(|read| read.inputs);
            let read = read.map_err(|error| match error {
                ApiError::Validation(faults) => faults.first().map(|fault| fault.source.to_string()),
                error => Some(error.to_string()),
            });
            let want = want.map(|inputs: Vec<Vec<&str>>| {
                inputs
                    .into_iter()
                    .map(|texts| Input(texts.into_iter().map(str::to_owned).collect()))
                    .collect()
            });
            assert_eq!(read, want.map_err(|at: &str| Some(at.to_owned())), "{input}");
        }
    }

    #[test]
    fn a_result_has_all_categories() {
        for (surest, flagged) in [(None, false), (Some(0.75), true)] {
            let result = result(surest);
            assert_eq!(result["flagged"], flagged);
            assert_eq!(result["categories"]["pii"], flagged);
            assert_eq!(
                result["category_scores"]["pii"].as_f64(),
                Some(f64::from(surest.unwrap_or_default()))
            );
            for member in ["categories", "category_scores", "category_applied_input_types"] {
                assert_eq!(result[member].as_object().map(Map::len), Some(14), "{member}");
            }
            assert_eq!(result["categories"]["violence/graphic"], false);
        }
    }
}
