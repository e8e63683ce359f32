//! The last requests, for browsers: counts, names and times. What there is nothing to say of is left out.

use serde_json::{Map, Value, json};

use crate::base::clock::micros;
use crate::detect::Catalogue;
use crate::telemetry::{BodyScan, RecentPart, RecentRequest, RecentUsage};

/// Requests of one answer.
pub(super) const MOST: usize = 100;

/// These requests, the oldest first, and how many are kept in all; `begun` tells one process from the one before. With what
/// the rules look for that they name, of those of `catalogue`.
pub(super) fn shown(part: &RecentPart, begun: u64, catalogue: Option<&Catalogue>) -> String {
    let requests: Vec<Value> = part.requests.iter().map(|request| one(request)).collect();
    let names = part.requests.iter().flat_map(|request| &request.findings).map(|(rule, _)| rule.to_string());
    let meaning = |name: String| {
        let rule = catalogue.and_then(|catalogue| catalogue.rule(catalogue.find(&name)?))?;
        let said = format!("{} ({}, {})", rule.description(), rule.category().name(), rule.severity().name());
        Some((name, said.into()))
    };
    let rules: Map<String, Value> = names.filter_map(meaning).collect();
    json!({ "begun": begun, "kept": part.kept, "requests": requests, "rules": rules }).to_string()
}

/// An object of what there is something to say of.
#[derive(Default)]
struct NonEmpty(Map<String, Value>);

impl NonEmpty {
    fn some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    fn count(&mut self, name: &str, value: u64) {
        self.some(name, (value > 0).then_some(value));
    }
}

fn one(request: &RecentRequest) -> Value {
    let mut said = NonEmpty::default();
    said.some("n", Some(request.number));
    said.some("time", Some(request.time.as_millis()));
    said.some("id", Some(request.id.to_string()));
    said.some("route", Some(&*request.route));
    said.some("method", Some(&*request.method));
    said.some("protocol", request.llm_protocol);
    said.some("http", Some(request.http));
    said.count("status", request.status.into());
    said.some("fault", (request.fault != "-").then_some(request.fault));
    said.some("decision", Some(request.decision.word()));
    said.some("client", request.client.map(|address| address.to_string()));
    said.some("token", request.token.as_ref().map(ToString::to_string));
    if !request.findings.is_empty() {
        let counts = request.findings.iter().map(|(rule, count)| (rule.to_string(), (*count).into()));
        said.some("findings", Some(counts.collect::<Map<String, Value>>()));
    }
    said.count("redacted", request.redacted);
    said.count("restored", request.restored);
    let scan = |scan: BodyScan| (scan != BodyScan::NotAsked).then(|| scan.word());
    said.some("request_scan", scan(request.request_scan));
    said.some("answer_scan", scan(request.answer_scan));
    said.count("unscanned", request.unscanned);
    said.count("bytes_in", request.bytes_in);
    said.count("bytes_out", request.bytes_out);
    said.some("took", Some(micros(request.took)));
    said.some("first_byte", request.first_byte.map(micros));
    said.some("upstream", request.upstream.as_deref());
    said.count("attempts", request.attempts.into());
    said.some("usage", request.usage.as_ref().map(usage));
    Value::Object(said.0)
}

fn usage(usage: &RecentUsage) -> Value {
    let mut said = NonEmpty::default();
    said.some("model", usage.model.as_deref());
    said.count("input", usage.input);
    said.count("output", usage.output);
    said.some("estimated", usage.estimated.then_some(true));
    said.some("cost", usage.cost.as_deref());
    Value::Object(said.0)
}
