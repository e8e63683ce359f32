//! The last requests, for browsers: counts, names and times.

use serde_json::{Value, json};

use crate::telemetry::{RecentRequest, RecentRequests};

/// The requests behind the one of this number, the oldest first; `begun` tells one process from the one before.
pub(super) fn after(recent: &RecentRequests, number: u64, begun: u64) -> String {
    let requests: Vec<Value> = recent.after(number).iter().map(|request| one(request)).collect();
    json!({ "begun": begun, "requests": requests }).to_string()
}

fn one(request: &RecentRequest) -> Value {
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let findings: serde_json::Map<String, Value> =
        request.findings.iter().map(|(rule, count)| (rule.to_string(), (*count).into())).collect();
    let usage = request.usage.as_ref().map(|usage| {
        json!({
            "model": usage.model.as_deref(),
            "input": usage.input,
            "output": usage.output,
            "estimated": usage.estimated,
            "cost": usage.cost.as_deref(),
        })
    });
    json!({
        "n": request.number,
        "time": request.time.as_millis(),
        "id": request.id.to_string(),
        "route": *request.route,
        "method": *request.method,
        "protocol": request.llm_protocol,
        "http": request.http,
        "status": request.status,
        "fault": request.fault,
        "decision": request.decision.word(),
        "client": request.client.map(|address| address.to_string()),
        "token": request.token.as_ref().map(ToString::to_string),
        "findings": findings,
        "redacted": request.redacted,
        "restored": request.restored,
        "request_scan": request.request_scan.word(),
        "answer_scan": request.answer_scan.word(),
        "unscanned": request.unscanned,
        "bytes_in": request.bytes_in,
        "bytes_out": request.bytes_out,
        "took": micros(request.took),
        "first_byte": request.first_byte.map(micros),
        "upstream": request.upstream.as_deref(),
        "attempts": request.attempts,
        "usage": usage,
    })
}
