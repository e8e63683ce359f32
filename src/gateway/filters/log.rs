//! Sees every request end: one access line, and the route's metrics. First in, last out.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use http::Version;

use crate::gateway::exchange::{Exchange, Outcome};
use crate::gateway::filter::{Filter, Stage};
use crate::gateway::request_trace::method_name;
use crate::gateway::terminal::Terminal;
use crate::telemetry::{Access, AccessLog, Traffic};

/// Writes the access log and counts requests.
pub struct Log(pub Arc<AccessLog>);

#[async_trait]
impl Filter for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn stage(&self) -> Stage {
        Stage::Observe
    }

    async fn done(&self, x: &mut Exchange, outcome: &Outcome) {
        let route = x.route();
        route.metrics.request(Traffic {
            status: outcome.status,
            seconds: outcome.took.as_secs_f64(),
            bytes_in: outcome.bytes_in,
            bytes_out: outcome.bytes_out,
        });
        let request_unscanned = x.facts.request_unscanned.load(Ordering::Relaxed);
        let answer_unscanned = x.facts.answer_unscanned.load(Ordering::Relaxed);
        let access = Access {
            id: &x.id,
            route: &route.name,
            method: method_name(&x.head().method),
            status: outcome.status,
            took: outcome.took,
            client: x.client,
            token: x.facts.who.as_ref().map(|who| who.id()),
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
            upstream: match &route.terminal {
                Terminal::Upstream(upstream) => Some(upstream.name()),
                _ => None,
            },
            attempts: x.trace.attempts(),
            protocol: http_version(x.head().version),
            findings: &x.facts.findings,
        };
        self.0.write(&access);
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
