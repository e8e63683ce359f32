//! What was found, counted: for the metrics, the access log and the caller. Rules and numbers, never a value.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::HeaderValue;
use pingora::http::ResponseHeader;

use crate::gateway::exchange::Exchange;
use crate::gateway::filters::redact_parts::RedactParts;
use crate::redact::{BlockedRules, Report};

/// Says to the caller what was found in its request: `EMAIL_ADDRESS=2, US_SSN=1`.
const FINDINGS: &str = "portcullis-findings";

/// Counts what was found in a request that was collected.
pub(super) fn found(x: &mut Exchange, parts: &RedactParts, report: &Report) {
    parts.counts.report(report);
    for (_, rule, count) in report.by_rule().chain(report.left()) {
        *x.facts.findings.entry(rule.to_owned()).or_default() += count as u64;
    }
}

/// Counts what was found in a request that is refused for it.
pub(super) fn blocked(x: &mut Exchange, parts: &RedactParts, rules: &BlockedRules) {
    for (rule, count) in rules.iter() {
        *x.facts.findings.entry(rule.to_owned()).or_default() += count as u64;
        if let Some(id) = parts.requests.as_ref().and_then(|redactor| redactor.rule(rule)) {
            parts.counts.record(id, count as u64);
        }
    }
}

/// Adds what was counted in one body to what is counted of all, and to what its request had.
pub(super) fn settle(x: &mut Exchange, parts: &RedactParts) {
    for (own, all) in std::mem::take(&mut x.facts.counted) {
        all.scan(usize::try_from(own.scanned()).unwrap_or(usize::MAX));
        let redactor = match Arc::ptr_eq(&all, &parts.counts) {
            true => parts.requests.as_ref(),
            false => parts.answers.redactor(),
        };
        for (rule, count) in own.drain() {
            all.record(rule, count);
            if redactor.is_none_or(|redactor| !redactor.method(rule).leaves()) {
                x.facts.redacted.fetch_add(count, Ordering::Relaxed);
            }
            if let Some(name) = parts.rules.get(rule.index()) {
                *x.facts.findings.entry(name.clone()).or_default() += count;
            }
        }
    }
}

/// Puts what was found in the request into the head of its answer. What an upstream says there is not ours.
pub(super) fn head(x: &Exchange, parts: &RedactParts, head: &mut ResponseHeader) {
    head.remove_header(FINDINGS);
    let mut all = x.facts.findings.clone();
    let passing = x.facts.counted.iter().filter(|(_, of)| Arc::ptr_eq(of, &parts.counts));
    for (rule, count) in passing.flat_map(|(own, _)| own.by_rule()) {
        if let Some(name) = parts.rules.get(rule.index()) {
            *all.entry(name.clone()).or_default() += count;
        }
    }
    let counts: Vec<String> = all.iter().map(|(rule, count)| format!("{rule}={count}")).collect();
    if let Some(value) = HeaderValue::from_str(&counts.join(", ")).ok().filter(|value| !value.is_empty()) {
        drop(head.insert_header(FINDINGS, value));
    }
}
