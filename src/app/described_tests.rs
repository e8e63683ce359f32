//! The description of the API against the table of endpoints and what their readers ask for.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::Request;
use serde_json::{Map, Value, json};

use super::*;
use crate::api::openapi::{Descriptions, asked, document};
use crate::api::token::NewToken;
use crate::api::{ApiCall, BodyError, BodyRead};
use crate::base::budget::MemoryBudget;
use crate::base::id::RequestId;
use crate::config::{Env, Options, embedded};

struct Nothing;

impl Env for Nothing {
    fn var(&self, _: &str) -> Option<String> {
        None
    }
}

fn table() -> (tempfile::TempDir, Services, Endpoints) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { data: Some(folder.path().join("data")), ..Options::default() };
    let config = embedded(&options, &Nothing, &crate::app::builtin().unwrap()).unwrap();
    let parts = Services::new(&config).unwrap();
    let mut endpoints = Endpoints::default();
    add(&mut endpoints, &config, None, &parts).unwrap();
    (folder, parts, endpoints)
}

/// What is no row of the table.
const BESIDE: [&str; 4] = ["GET /.well-known/jwks.json", "GET /healthz", "GET /openapi.json", "GET /readyz"];

#[test]
fn every_endpoint_is_described_and_nothing_else() {
    let (_folder, _parts, endpoints) = table();
    let mounted: BTreeMap<String, bool> =
        endpoints.handlers().map(|(door, _)| (Descriptions::name(door), door.target().is_none())).collect();
    let described = Descriptions::read().unwrap();
    let described: BTreeMap<String, bool> = described
        .operations()
        .filter(|(name, _)| !BESIDE.contains(name))
        .map(|(name, operation)| (name.to_owned(), operation.open))
        .collect();
    assert_eq!(mounted, described, "endpoint, and whether it needs no token");
}

#[test]
fn the_document_is_the_golden_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/openapi.json");
    let made = format!("{:#}\n", document(|_| true).unwrap());
    if std::env::var_os("PORTCULLIS_UPDATE").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    assert!(
        made == golden,
        "the document changed: run this with PORTCULLIS_UPDATE=1 and read the difference"
    );
}

#[test]
fn references_lead_somewhere_and_ids_are_unique() {
    let document = document(|_| true).unwrap();
    let mut references = Vec::new();
    each(&document, &mut |value| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            references.push(reference.to_owned());
        }
    });
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut ids = BTreeSet::new();
    each(&document, &mut |value| {
        if let Some(id) = value.get("operationId").and_then(Value::as_str) {
            assert!(ids.insert(id.to_owned()), "{id}");
        }
    });
    assert!(ids.len() > 50);
}

fn each(value: &Value, see: &mut impl FnMut(&Value)) {
    see(value);
    match value {
        Value::Object(members) => members.values().for_each(|value| each(value, see)),
        Value::Array(items) => items.iter().for_each(|value| each(value, see)),
        _ => {}
    }
}

/// Members by the place of their object.
type Places = BTreeMap<String, BTreeSet<String>>;

struct Schemas(Value);

impl Schemas {
    fn follow<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.0.pointer(reference.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    /// The members that a schema has, and the words that they may be.
    fn declared(&self, schema: &Value, at: &str, places: &mut Places, words: &mut Places) {
        let schema = self.follow(schema);
        for branch in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            self.declared(branch, at, places, words);
        }
        if let Some(list) = schema.get("enum").and_then(Value::as_array) {
            let known = words.entry(at.to_owned()).or_default();
            known.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        if let Some(members) = schema.get("properties").and_then(Value::as_object) {
            places.entry(at.to_owned()).or_default().extend(members.keys().cloned());
            for (name, member) in members {
                self.declared(member, &format!("{at}/{name}"), places, words);
            }
        }
        for inner in ["items", "additionalProperties"].iter().filter_map(|name| schema.get(name)) {
            self.declared(inner, &format!("{at}/*"), places, words);
        }
    }

    /// Values that have every member and take every branch once.
    fn samples(&self, schema: &Value) -> Vec<Value> {
        let schema = self.follow(schema);
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            let all = branches.iter().flat_map(|branch| self.samples(branch));
            return all.filter(|sample| !sample.is_null()).collect();
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words.iter().filter(|word| !word.is_null()).cloned().collect();
        }
        let kind = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
            kind => kind.and_then(Value::as_str),
        };
        match kind {
            Some("object") => self.objects(schema),
            Some("array") => {
                let items = self.samples(schema.get("items").unwrap_or(&Value::Null));
                match schema.get("maxItems").and_then(Value::as_u64) {
                    Some(most) if most < items.len() as u64 => {
                        items.into_iter().map(|item| json!([item])).collect()
                    }
                    _ => vec![Value::Array(items)],
                }
            }
            Some("string") => vec![text(schema)],
            Some("integer" | "number") => {
                vec![schema.get("minimum").filter(|least| **least != json!(0)).cloned().unwrap_or(json!(1))]
            }
            Some("boolean") => vec![json!(true)],
            Some("null") => vec![Value::Null],
            _ => vec![json!({ "mail": "jane.doe@example.com" })],
        }
    }

    fn objects(&self, schema: &Value) -> Vec<Value> {
        let (mut whole, mut last) = (Map::new(), Map::new());
        let mut others = Vec::new();
        let members = schema.get("properties").and_then(Value::as_object);
        for (name, member) in members.into_iter().flatten() {
            let mut samples = self.samples(member).into_iter();
            whole.insert(name.clone(), samples.next().unwrap());
            let samples: Vec<Value> = samples.collect();
            // Some words are taken only together with others that are not the first.
            last.insert(name.clone(), samples.last().unwrap_or(&whole[name]).clone());
            others.extend(samples.into_iter().map(|sample| (name.clone(), sample)));
        }
        if let Some(value) = schema.get("additionalProperties").filter(|value| value.is_object()) {
            let mut samples = self.samples(value).into_iter();
            whole.insert("NAME".to_owned(), samples.next().unwrap());
            others.extend(samples.map(|sample| ("NAME".to_owned(), sample)));
        }
        let other = |(name, sample)| {
            let mut other = whole.clone();
            other.insert(name, sample);
            Value::Object(other)
        };
        let others: Vec<Value> = others.into_iter().map(other).collect();
        [Value::Object(whole.clone()), Value::Object(last)].into_iter().chain(others).collect()
    }
}

fn text(schema: &Value) -> Value {
    let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or_default();
    if let Some(prefix) =
        pattern.strip_prefix('^').and_then(|pattern| pattern.get(..4)).filter(|p| p.ends_with('_'))
    {
        return json!(format!("{prefix}{}", "a".repeat(32)));
    }
    let length = schema.get("minLength").and_then(Value::as_u64).unwrap_or(1).max(1);
    let length =
        pattern.split('{').nth(1).and_then(|rest| rest.split('}').next()?.parse().ok()).unwrap_or(length);
    match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => json!("2027-01-31T12:00:00Z"),
        Some("uri") => json!("http://127.0.0.1:9/"),
        _ => json!("a".repeat(usize::try_from(length).unwrap())),
    }
}

struct Sent(Option<Bytes>);

impl BodyRead for Sent {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, BodyError>> {
        Box::pin(async { Ok(self.0.take()) })
    }
}

/// A place as the schema names it: what is no member of its object is one of any.
fn named(at: &str, declared: &Places) -> String {
    at.split('/').skip(1).fold(String::new(), |place, part| {
        let known = declared.get(&place).is_some_and(|members| members.contains(part));
        format!("{place}/{}", if known { part } else { "*" })
    })
}

/// An object that is read as it is, since its members have patterns.
const AS_A_MAP: (&str, &str) = ("POST /v2/list", "/filter");

#[test]
fn readers_ask_for_what_is_described_and_nothing_else() {
    let (_folder, parts, endpoints) = table();
    let described = Descriptions::read().unwrap();
    let described: BTreeMap<_, _> = described.operations().collect();
    let schemas = Schemas(document(|_| true).unwrap());
    let opened = &parts.opened;
    let new = NewToken { name: "all".to_owned(), ..NewToken::default() };
    let (_, token) = opened.io.block_on(opened.tokens.create(new)).unwrap();
    let who = opened.io.block_on(opened.tokens.verify(token.expose())).unwrap();
    let mut read = 0;
    for (door, handler) in endpoints.handlers() {
        let name = Descriptions::name(door);
        let Some(schema) = described[name.as_str()].request.as_ref() else { continue };
        let (mut declared, mut words) = (Places::new(), Places::new());
        schemas.declared(schema, "", &mut declared, &mut words);
        let (mut asked, mut heard) = (Places::new(), Places::new());
        for body in schemas.samples(schema) {
            let head = Request::post(door.path).body(()).unwrap().into_parts().0;
            let budget = MemoryBudget::unlimited();
            let call = ApiCall {
                who: Some(&who),
                caller: who.caller(),
                id: &RequestId::from_random([1; 20]),
                received: opened.clock.now(),
                clock: &opened.clock,
                head: &head,
                body: &mut Sent(Some(body.to_string().into())),
                budget: &budget,
            };
            drop(asked::take());
            drop(asked::take_words());
            drop(opened.io.block_on(handler.call(call)));
            for (at, member) in asked::take() {
                asked.entry(named(&at, &declared)).or_default().insert(member.to_owned());
            }
            for (at, words) in asked::take_words() {
                heard.entry(named(&at, &declared)).or_default().extend(words);
            }
        }
        declared.retain(|at, _| (name.as_str(), at.as_str()) != AS_A_MAP);
        assert_eq!(asked, declared, "{name}");
        words.retain(|at, _| heard.contains_key(at));
        assert_eq!(heard, words, "words of {name}");
        read += asked.len();
    }
    assert!(read > 60, "{read} objects were read");
}
