//! Sees every request end: one access line, and the route's metrics. First in, last out.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use http::Version;

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, RequestOutcome, RequestUse};
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::audit_trail::AuditTrail;
use crate::gateway::plan::RequestPlan;
use crate::gateway::request_trace::method_name;
use crate::telemetry::{Access, AccessLog, AccessUsage, Traffic};

/// Writes the access log and the audit log, and counts requests.
pub struct LogFilter {
    /// The access log.
    pub access: Arc<AccessLog>,
    /// The audit log, on routes that are in it.
    pub audit: Option<AuditTrail>,
}

#[async_trait]
impl Filter for LogFilter {
    fn name(&self) -> &'static str {
        "log"
    }

    fn stage(&self) -> Stage {
        Stage::Observe
    }

    async fn request(&self, _: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        match self.audit.as_ref().is_some_and(AuditTrail::is_shut) {
            true => Err(GatewayError::Api(ApiError::Unaudited)),
            false => Ok(Flow::Next),
        }
    }

    async fn done(&self, x: &mut Exchange, outcome: &RequestOutcome) {
        if let Some(audit) = &self.audit {
            audit.write(x, outcome);
        }
        let route = x.route();
        route.metrics.request(Traffic {
            status: outcome.status,
            seconds: outcome.took.as_secs_f64(),
            bytes_in: outcome.bytes_in,
            bytes_out: outcome.bytes_out,
            first_byte: x.first_byte.map(|took| took.as_secs_f64()),
            llm_protocol: x.known_protocol(),
        });
        let request_unscanned = x.facts.request_unscanned.load(Ordering::Relaxed);
        let answer_unscanned = x.facts.answer_unscanned.load(Ordering::Relaxed);
        let certificate = x.facts.certificate.as_ref().map(|one| one.short_fingerprint());
        let access = Access {
            id: &x.id,
            route: &route.name,
            method: method_name(&x.head().method),
            status: outcome.status,
            took: outcome.took,
            client: x.client,
            token: x.facts.principal.as_ref().map(|who| who.id()),
            certificate: certificate.as_deref(),
            bytes_in: outcome.bytes_in,
            bytes_out: outcome.bytes_out,
            redacted: x.facts.redacted.load(Ordering::Relaxed),
            restored: x.facts.restored.load(Ordering::Relaxed),
            kept_in_urls: x.facts.kept_in_urls.load(Ordering::Relaxed),
            request_scan: x.request_scan.without(request_unscanned),
            answer_scan: x.answer_scan.without(answer_unscanned),
            request_unscanned,
            answer_unscanned,
            fault: x.error_word.unwrap_or("-"),
            time: x.received,
            upstream: x.upstream().map(|upstream| upstream.name()),
            attempts: x.trace.attempts(),
            protocol: http_version(x.head().version),
            llm_protocol: x.known_protocol(),
            first_byte: x.first_byte,
            findings: &x.facts.findings,
            usage: x.facts.used.as_ref().map(usage),
        };
        self.access.write(&access);
    }
}

/// What a request took of a model.
fn usage(used: &RequestUse) -> AccessUsage<'_> {
    let RequestUse { model, tokens, estimated, cost } = used;
    AccessUsage {
        model: model.as_deref(),
        input_tokens: tokens.input,
        cached_input_tokens: tokens.cached_input,
        output_tokens: tokens.output,
        estimated: *estimated,
        cost: cost.map(|cost| cost.to_string()),
    }
}

/// The caller's version of HTTP.
fn http_version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "http/1.0",
        Version::HTTP_11 => "http/1.1",
        Version::HTTP_2 => "http/2",
        _ => "-",
    }
}
