//! [`ModelRequest`]: what a request asks a provider for, as far as it matters who pays: which models, whether in a stream, and how
//! long an answer.
//!
//! Servers differ in which of two members of one name counts, and in whether letters' case does. So every model that any of
//! them could take counts as named.

use std::collections::HashSet;
use std::ops::Range;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::base::path::RequestPath;
use crate::edit::{Edit, spliced};
use crate::gateway::llm::asked_path::{decoded, models_in_path};
use crate::gateway::llm::place::{Member, ObjectMembers};
use crate::stream::json::{Decoded, JsonToken, Leaf, Path, Segment, encoded, walk};
use crate::stream::multipart::{Boundary, PartHead, split};
use crate::usage::ModelPattern;

/// Members that name models, wherever they stand, in small letters: those of providers, and of gateways behind this one.
const MODELS: [&str; 21] = [
    "model",
    "models",
    "modelid",
    "model_id",
    "modelarn",
    "model_arn",
    "model_name",
    "base_model",
    "fallbacks",
    "fallback_models",
    "context_window_fallbacks",
    "content_policy_fallbacks",
    "default_fallbacks",
    "preset",
    "analysis_models",
    "draft_model",
    "embedding_model",
    "deployment_name",
    // What stands for a model that is said elsewhere.
    "agent",
    "agent_id",
    "assistant_id",
];

/// Members that are content, a schema or a note: what stands in them names nothing.
const CONTENT: [&str; 31] = [
    "messages",
    "contents",
    "content",
    "input",
    "inputs",
    "items",
    "prompt",
    "system",
    "systeminstruction",
    "system_instruction",
    "instructions",
    "documents",
    "query",
    "text",
    "texts",
    "properties",
    "$defs",
    "definitions",
    "parameter_definitions",
    "tool_results",
    "labels",
    "requestmetadata",
    "schema",
    "input_schema",
    "inputschema",
    "json_schema",
    "responseschema",
    "response_format",
    "arguments",
    "metadata",
    "user",
];

/// Members that say how many answers there are to be.
const ANSWERS: [&str; 3] = ["n", "best_of", "generationconfig.candidatecount"];

/// More tokens than a model writes in one answer: whoever asks for more gets no more, and reserves no more of a budget.
pub const LONGEST_ANSWER: u64 = 262_144;

/// More answers than anybody gives to one request.
const MOST_ANSWERS: u64 = 128;

/// More models than this in one request are no request of a client's.
const MOST_MODELS: usize = 64;

/// What a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRequest {
    /// Every model that it names, as it is spelled, each once.
    pub models: Vec<String>,
    /// Whether the answer is to come in a stream.
    pub streams: bool,
    /// Whether a stream is to say in its end what it took.
    pub includes_usage: bool,
    /// The most tokens that one answer may have, if it says so.
    pub most_output: Option<u64>,
    /// How many answers there are to be, if it says so.
    pub answers: Option<u64>,
}

/// Why it is not known what a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not what this path takes, so it cannot be told which model it asks")]
pub struct UnreadRequest;

/// What a request is read from.
#[derive(Clone)]
pub struct ModelRequestSource {
    /// The members by which whoever answers takes the length of an answer to be bounded ([`ModelNaming::bounds`]).
    ///
    /// [`ModelNaming::bounds`]: crate::gateway::llm::protocol::ModelNaming::bounds
    pub bounds: &'static [&'static str],
    /// Its path.
    pub path: RequestPath,
    /// The query of its target, as it is written.
    pub query: String,
    /// What `Content-Type` says.
    pub content_type: String,
    /// Its body, out of its content coding.
    pub body: Bytes,
}

impl ModelRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// A body that is neither JSON nor a form of parts, where one is expected.
    pub fn of(request: &ModelRequestSource) -> Result<Self, UnreadRequest> {
        let mut models = ModelNames::default();
        models_in_path(&request.path).iter().for_each(|model| models.add(model));
        in_query(&request.query).iter().for_each(|model| models.add(model));
        let mut asked = Self::default();
        let kind = request.content_type.trim_start().get(..10).unwrap_or_default();
        if kind.eq_ignore_ascii_case("multipart/") {
            asked.read_parts(request, &mut models)?;
        } else if !request.body.trim_ascii().is_empty() {
            models.read(&request.body)?;
            let document: ObjectMembers<'_> =
                serde_json::from_slice(&request.body).map_err(|_| UnreadRequest)?;
            asked.read(&document.0, request.bounds);
        }
        asked.models = models.finish()?;
        Ok(asked)
    }

    fn read(&mut self, document: &[Member<'_>], bounds: &[&'static str]) {
        let is_true = |place| values(document, place).iter().any(|value| is_yes(value.get()));
        (self.streams, self.includes_usage) = (is_true("stream"), is_true("stream_options.include_usage"));
        let largest = |places: &[&'static str]| {
            let numbers = places.iter().flat_map(|place| values(document, place));
            numbers.filter_map(|value| count(value.get())).filter(|count| *count > 0).max()
        };
        self.answers = largest(&ANSWERS).map(|answers| answers.clamp(1, MOST_ANSWERS));
        self.most_output = largest(bounds);
    }

    fn read_parts(
        &mut self,
        request: &ModelRequestSource,
        models: &mut ModelNames,
    ) -> Result<(), UnreadRequest> {
        let boundary = Boundary::of(&request.content_type).map_err(|_| UnreadRequest)?;
        for span in split(&request.body, &boundary).map_err(|_| UnreadRequest)? {
            let head = request.body.get(span.head).unwrap_or_default();
            let head = PartHead::parse(head).map_err(|_| UnreadRequest)?;
            // `mo\del` is a quoted `model`, and `model[]` one of several.
            let name = head.name.as_deref().unwrap_or_default().replace('\\', "");
            let name = name.split('[').next().unwrap_or_default();
            let body = request.body.get(span.body).unwrap_or_default();
            if is_one_of(&MODELS, name) {
                models.add(&String::from_utf8_lossy(body));
            } else if head.file_name.is_none() && matches!(body.trim_ascii_start().first(), Some(b'{' | b'['))
            {
                models.read(body)?;
            }
            self.streams |=
                name == "stream" && std::str::from_utf8(body).is_ok_and(|value| is_yes(value.trim()));
        }
        Ok(())
    }

    /// The model that the answer is taken to be from: the first that is named.
    pub fn model(&self) -> Option<&str> {
        self.models.first().map(String::as_str)
    }

    /// What is dearest of those that it names, as `price` has it.
    pub fn dearest<T: Ord>(&self, price: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.models.iter().filter_map(|model| price(model)).max()
    }

    /// Whether it names only such models, and at least one.
    pub fn is_within(&self, models: &[ModelPattern]) -> bool {
        let allowed = |model: &String| models.iter().any(|pattern| pattern.takes(model));
        !self.models.is_empty() && self.models.iter().all(allowed)
    }
}

/// The member of a document that says which model is asked, where there is no doubt.
pub struct ModelMember {
    /// The model.
    pub name: String,
    /// Between its quotes, in bytes.
    pub span: Range<usize>,
}

/// Reads it: the one member `model` at the top, in whatever letters.
pub fn model_member(document: &[u8]) -> Option<ModelMember> {
    let (mut found, mut names) = (None, 0);
    walk(document, &mut |path, Leaf { span, token }| match token {
        JsonToken::Key if path.is_empty() => {
            let name = Decoded::of(document.get(span).unwrap_or_default());
            names += usize::from(name.text().eq_ignore_ascii_case("model"));
        }
        JsonToken::Text if path.len() == 1 && path.segment(0) == Some(Segment::Key("model")) => {
            let name = Decoded::of(document.get(span.clone()).unwrap_or_default()).text().to_owned();
            found = Some(ModelMember { name, span });
        }
        _ => {}
    })
    .ok()?;
    found.filter(|_| names == 1)
}

/// The document with this model in place of its own.
pub fn with_model(document: &Bytes, model: &str) -> Bytes {
    let Some(ModelMember { span, .. }) = model_member(document) else { return document.clone() };
    Bytes::from(spliced(document, &[Edit { range: span, with: encoded(model) }]))
}

/// The values at a place (`a.b`, `a[*].b`), whatever the case of its letters; of several members of one name, all.
fn values<'a>(document: &[Member<'a>], place: &str) -> Vec<&'a RawValue> {
    let (first, rest) = place.split_once('.').map_or((place, None), |(first, rest)| (first, Some(rest)));
    let (name, each) = first.strip_suffix("[*]").map_or((first, false), |name| (name, true));
    let named = document.iter().filter(|(own, _)| own.is_like(name)).map(|(_, value)| *value);
    let found: Vec<&RawValue> = match each {
        false => named.collect(),
        true => {
            named.filter_map(|value| serde_json::from_str::<Vec<_>>(value.get()).ok()).flatten().collect()
        }
    };
    let Some(rest) = rest else { return found };
    let objects = found.into_iter().filter(|value| value.get().starts_with('{'));
    let objects = objects.filter_map(|value| serde_json::from_str::<ObjectMembers<'a>>(value.get()).ok());
    objects.flat_map(|members| values(&members.0, rest)).collect()
}

/// Whether a value says yes, as lenient servers read one: `true`, `1`, `"on"`.
fn is_yes(value: &str) -> bool {
    let value = value.trim_matches('"').to_ascii_lowercase();
    let no = ["", "null", "false", "0", "0.0", "no", "off", "n", "f"];
    !no.contains(&value.as_str())
}

/// The values of parameters that name a model.
fn in_query(query: &str) -> Vec<String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs
        .filter(|(own, _)| decoded(own).eq_ignore_ascii_case("model"))
        .map(|(_, value)| decoded(value))
        .collect()
}

/// A number of tokens as lenient servers read one: `100`, `100.0`, `1e2`, `"100"`.
fn count(value: &str) -> Option<u64> {
    let number: f64 = value.trim_matches('"').parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast saturates, and is looked at before"
    )]
    (number >= 0.0).then_some(number.ceil() as u64)
}

/// Models as they are found, each once.
#[derive(Default)]
struct ModelNames {
    order: Vec<String>,
    known: HashSet<String>,
    too_many: bool,
}

impl ModelNames {
    /// Some servers take several in one text, with commas.
    fn add(&mut self, text: &str) {
        for model in text.split(',') {
            // As Google spells names of resources.
            let model = model.trim();
            let model = model.strip_prefix("models/").unwrap_or(model);
            if model.is_empty() || self.known.contains(model) {
                continue;
            }
            if self.order.len() == MOST_MODELS {
                self.too_many = true;
                return;
            }
            self.known.insert(model.to_owned());
            self.order.push(model.to_owned());
        }
    }

    /// Reads a document: every string in a member that names models, whatever else it is within.
    fn read(&mut self, document: &[u8]) -> Result<(), UnreadRequest> {
        let walked = walk(document, &mut |path, Leaf { span, token }| {
            if token == JsonToken::Number || !names_models(path) || self.too_many {
                return;
            }
            let text = Decoded::of(document.get(span).unwrap_or_default());
            // A key may be a model for which others stand in, if it is not one that says what stands below it.
            if token != JsonToken::Key
                || !(is_one_of(&MODELS, text.text()) || is_one_of(&CONTENT, text.text()))
            {
                self.add(text.text());
            }
        });
        walked.map_err(|_| UnreadRequest)
    }

    fn finish(self) -> Result<Vec<String>, UnreadRequest> {
        if self.too_many { Err(UnreadRequest) } else { Ok(self.order) }
    }
}

/// Whether what stands at a path names models: within a member that does, and not within content.
fn names_models(path: &Path<'_>) -> bool {
    let keys = path.segments().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key),
        Segment::Index(_) => None,
    });
    let (mut above, mut names) = ("", false);
    for key in keys {
        // What is said of audio that comes in is a setting.
        if is_one_of(&CONTENT, key) && !above.eq_ignore_ascii_case("audio") {
            return false;
        }
        names |= is_one_of(&MODELS, key);
        above = key;
    }
    names
}

fn is_one_of(all: &[&str], name: &str) -> bool {
    name.len() <= 24 && all.iter().any(|one| one.eq_ignore_ascii_case(name))
}

#[cfg(test)]
#[path = "model_request_tests.rs"]
mod tests;
