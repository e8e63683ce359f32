//! `POST /v1/redact_structured`: redacts JSON (specification, group B). What is not redacted comes back as it is
//! written: the order of members, the digits of numbers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::configs::{MethodPlace, MethodSpec};
use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code, Invalid};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::redact::path::{Query, Size};
use crate::api::redact::report::Analysis;
use crate::api::redact::request::{CommonRequest, RuleReference, Specific};
use crate::api::redact::service::{PreparedRedactors, Redaction};
use crate::api::redact::text::summary;
use crate::api::redact::unredact::raw;
use crate::api::token::Service;
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;
use crate::redact::{
    FindingLimits, PathTree, RedactError, Redactor, Selected, Selection, Texts, structured, structured_texts,
};

/// The most paths of one call, and rules of one path.
const PATHS: usize = 100;

/// The largest document that paths are looked for in, in bytes: it is held as a tree then, which is many times as
/// large.
const WITH_PATHS: usize = 16 << 20;

/// The operation.
pub struct RedactStructured(pub Redaction);

/// A path, what it asks, and where the body says so.
struct RequestedPath {
    query: Query,
    at: Pointer,
}

/// What a call asks.
pub struct StructuredRequest {
    wanted: CommonRequest,
    document: CallerDocument,
    places: Vec<RequestedPath>,
    specific: Vec<Specific>,
}

/// The caller's document.
struct CallerDocument {
    json: String,
    /// Whether it came as a string and goes back as one.
    quoted: bool,
}

/// What it is told.
#[derive(Serialize)]
pub struct StructuredResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted_data: Option<Box<RawValue>>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Analysis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpe_context: Option<String>,
}

impl Endpoint for RedactStructured {
    const PATH: &'static str = "/v1/redact_structured";
    const SERVICE: Service = Service::Redact;
    const KEEPS_NOTHING: bool = true;
    const RAW: &'static [&'static str] = &["data"];
    type Request = StructuredRequest;
    type Response = StructuredResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<StructuredRequest, ApiError> {
        let data = fields.required_raw("data");
        let wanted = CommonRequest::of(&mut fields);
        let _ = fields.one_of("format", &[("json", ())]);
        let chosen = fields.array("jsonp", PATHS, path);
        let document = CallerDocument::of(data);
        if chosen.is_some() && !document.is_json() {
            fields.fault(Code::BadFormat, fields.at("data"), "paths need JSON");
        }
        if chosen.is_some() && document.json.len() > WITH_PATHS {
            let detail = format!("with paths a document may have {WITH_PATHS} bytes");
            fields.fault(Code::IsTooBig, fields.at("data"), detail);
        }
        fields.close()?;
        let (places, specific) = chosen.unwrap_or_default().into_iter().unzip();
        Ok(StructuredRequest { wanted, document, places, specific })
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: StructuredRequest,
    ) -> BoxFuture<'a, Result<Success<StructuredResponse>, ApiError>> {
        Box::pin(async move {
            let StructuredRequest { wanted, document, places, specific } = request;
            let PreparedRedactors { parts, keys, terms, entities } =
                self.0.prepare(&caller, &wanted, &specific).await?;
            let (dialect, debug, bytes) = (caller.dialect, wanted.debug, document.json.len());
            let document = Arc::new(NamedPaths { document, places });
            let shown = Arc::clone(&document);
            let texts = move || shown.texts();
            let parts = self.0.asked(&caller, parts, bytes, texts).await?;
            let work = move |checkpoint: &Checkpoint| {
                let NamedPaths { document, places } = &*document;
                let parts = Redactor::all_with_checkpoint(parts, checkpoint);
                let rest = (parts.len() > places.len()).then_some(places.len());
                let selection = match document.chosen(places, rest) {
                    Ok(selection) => selection,
                    Err(fault) => return Ok(Err(fault)),
                };
                let selected = Selected { selection: &selection, redactors: &parts, detail: debug };
                let done = structured(document.json.as_bytes(), selected, &keys, FindingLimits::default());
                done.map(|done| Ok((done, document.quoted)))
            };
            let done = self.0.work(&caller, bytes.saturating_mul(1 + specific.len()), work).await?;
            let ((redacted, context), quoted) = done.map_err(|fault| ApiError::Validation(vec![fault]))?;
            let report = redacted.report();
            self.0.parts().counts.report(report);
            let count = report.count();
            let report = wanted.debug.then(|| Analysis::of_document(report, dialect).called(&entities));
            let fpe_context = self.0.seal(caller.who.tenant(), context, terms)?;
            let redacted_data = match wanted.return_result {
                true => Some(returned(redacted.into_value(), quoted)?),
                false => None,
            };
            let result = StructuredResponse { redacted_data, count, report, fpe_context };
            Ok(Success { summary: summary(count), result })
        })
    }
}

/// A document, and the places of it that a call names.
struct NamedPaths {
    document: CallerDocument,
    places: Vec<RequestedPath>,
}

impl NamedPaths {
    /// The texts of the document.
    fn texts(&self) -> Result<Texts, RedactError> {
        let Self { document, places } = self;
        // Too costly a path is refused when the document is redacted.
        let Ok(selection) = document.chosen(places, None) else { return Ok(Texts::default()) };
        structured_texts(document.json.as_bytes(), &selection)
    }
}

impl CallerDocument {
    /// JSON as it is written, or within a string.
    fn of(data: &str) -> Self {
        let text = serde_json::from_str::<String>(data).ok();
        let within = |text: &String| {
            text.trim_start().starts_with(['{', '['])
                && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
        };
        match text.filter(within) {
            Some(json) => Self { json, quoted: true },
            None => Self { json: data.to_owned(), quoted: false },
        }
    }

    /// Whether it is more than a text.
    fn is_json(&self) -> bool {
        self.quoted || !self.json.starts_with('"')
    }

    /// The places, each by the redactor of its number, and the rest of the document by the redactor `rest`.
    fn chosen(&self, places: &[RequestedPath], rest: Option<usize>) -> Result<Selection, Invalid> {
        if places.is_empty() {
            return Ok(Selection::Everything);
        }
        let json = serde_json::from_str::<Value>(&self.json);
        let json =
            json.map_err(|_| Invalid::new(Code::BadFormat, Pointer::root().key("data"), "must be JSON"))?;
        let mut size = Size::of(&json);
        let mut chosen = PathTree::default();
        for (part, RequestedPath { query, at }) in places.iter().enumerate() {
            query.choose(&json, &mut size, part, &mut chosen).map_err(|_| {
                Invalid::new(Code::IsTooBig, at.clone(), "the document is too large for so costly a path")
            })?;
        }
        if let Some(rest) = rest {
            chosen.choose([], rest);
        }
        Ok(Selection::Chosen(chosen))
    }
}

/// `"$.a"` or `{"path": "$.a", "rules": ["A", {"rule": "B", "redaction_type": "mask"}]}`.
fn path(value: &Value, at: Pointer, faults: &mut Faults) -> Option<(RequestedPath, Specific)> {
    if let Some(text) = value.as_str() {
        let query = query(text, &at, faults)?;
        return Some((RequestedPath { query, at }, Specific { rules: None }));
    }
    if !value.is_object() {
        faults.wrong(value, at, Code::InvalidString, "must be a path, or an object with one");
        return None;
    }
    let read = ObjectFields::within(value, &at, faults, |fields| {
        let (text, at) = (fields.required_text("path").to_owned(), fields.at("path"));
        let rules = fields.array("rules", PATHS, rule).filter(|rules| !rules.is_empty());
        (text, at, rules)
    });
    let (text, at, rules) = read?;
    let query = query(&text, &at, faults)?;
    Some((RequestedPath { query, at }, Specific { rules }))
}

fn query(text: &str, at: &Pointer, faults: &mut Faults) -> Option<Query> {
    let query = Query::parse(text);
    if query.is_none() {
        faults.add(Code::BadFormatJSONPath, at.clone(), "must be a JSONPath query (RFC 9535)");
    }
    query
}

/// `"RULE"`, or an object with its method.
fn rule(value: &Value, at: Pointer, faults: &mut Faults) -> Option<(RuleReference, Option<MethodSpec>)> {
    if let Some(name) = value.as_str() {
        return Some((RuleReference { name: name.to_owned(), at }, None));
    }
    if !value.is_object() {
        faults.wrong(value, at, Code::InvalidString, "must be a rule's name, or an object with one");
        return None;
    }
    let (name, spec) = ObjectFields::within(value, &at, faults, |fields| {
        let name = fields.required_text("rule").to_owned();
        fields.nulls_are_absent();
        (name, MethodSpec::of(fields, MethodPlace::InRequest))
    })?;
    Some((RuleReference { name, at: at.key("rule") }, Some(spec?)))
}

fn returned(json: Vec<u8>, quoted: bool) -> Result<Box<RawValue>, ApiError> {
    if !quoted {
        return raw(json);
    }
    let text = String::from_utf8(json).map_err(|_| ApiError::Internal("redact"))?;
    raw(serde_json::to_vec(&text).map_err(|_| ApiError::Internal("redact"))?)
}
