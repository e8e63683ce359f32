//! [`AuditTrail`]: what is written of each request into the audit log, for whoever has to answer who did what.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::api::block_in_place;
use crate::audit::{AuditEvent, AuditKind, AuditLog, AuditTokens, Decision};
use crate::base::throttle::LogThrottle;
use crate::gateway::exchange::{Exchange, RequestOutcome};
use crate::gateway::request_trace::method_name;
use crate::telemetry::{Addresses, LostLines};

/// Where requests are written down.
#[derive(Clone)]
pub struct AuditTrail {
    /// The log.
    pub log: Arc<AuditLog>,
    /// What of callers' addresses it has.
    pub addresses: Addresses,
    /// Whether nothing may pass that cannot be written down.
    pub must_be_written: bool,
    /// Counts what could not be.
    pub lost: LostLines,
    /// How often that is said.
    pub told: Arc<LogThrottle>,
}

/// Statuses by which we refuse.
const REFUSED: std::ops::Range<u16> = 400..500;

impl AuditTrail {
    /// Whether nothing may pass now; then the log is told why.
    pub(super) fn is_shut(&self) -> bool {
        let fault = if self.must_be_written { self.log.fault() } else { None };
        if let Some(fault) = &fault {
            self.tell("requests are refused: the audit log cannot be written", fault);
        }
        fault.is_some()
    }

    /// Tells the log what is wrong with this one, every few seconds.
    fn tell(&self, what: &'static str, why: &str) {
        if let Some(unsaid) = self.told.due() {
            let path = self.log.path().display();
            tracing::error!(target: "portcullis::audit", %path, why, unsaid, "{what}");
        }
    }

    /// Writes a request down that has ended.
    pub(super) fn write(&self, x: &Exchange, outcome: &RequestOutcome) {
        let who = x.facts.principal.as_ref();
        let client = self.addresses.shown(x.client).map(|address| address.to_string());
        let certificate = x.facts.certificate.as_ref().map(|one| one.short_fingerprint());
        let used = x.facts.used.as_ref();
        let own = x.error_word;
        let decision = match (own, outcome.status) {
            (Some("caller_gone"), _) | (None, 0) => Decision::Failed,
            (Some(_), 501) => Decision::Refused,
            (Some(_), status) if REFUSED.contains(&status) => Decision::Refused,
            (Some(_), _) => Decision::Failed,
            (None, _) => Decision::Passed,
        };
        let mut event = AuditEvent::of(AuditKind::Request, x.received);
        event.request_id = Some(&x.id);
        event.token = who.map(|who| who.id());
        event.token_name = who.map(|who| who.name());
        event.subject = x.facts.claims.as_ref().and_then(|claims| claims.subject());
        event.certificate = certificate.as_deref();
        event.client = client.as_deref();
        if let Some(who) = who {
            event.labels = &who.bounds().labels;
        }
        event.method = method_name(&x.head().method);
        event.route = &x.route().name;
        event.path_protocol = x.protocol().map(|protocol| protocol.name);
        event.model = used.and_then(|used| used.model.as_deref());
        event.upstream = x.upstream().map(|upstream| upstream.name());
        event.status = outcome.status;
        event.decision = decision;
        event.reason = own;
        event.findings = &x.facts.findings;
        event.redacted = x.facts.redacted.load(Ordering::Relaxed);
        event.restored = x.facts.restored.load(Ordering::Relaxed);
        event.tokens = used.filter(|used| !used.tokens.is_empty()).map(|used| AuditTokens {
            input: used.tokens.input,
            cached_input: used.tokens.cached_input,
            output: used.tokens.output,
            reasoning: used.tokens.reasoning,
            estimated: used.estimated,
        });
        event.cost_nanodollars = used.and_then(|used| used.cost).map(|cost| cost.nanodollars());
        event.took = outcome.took;
        // Where the disk is behind, this request waits for it; others do not.
        let written = self.log.try_write(&event).or_else(|_| block_in_place(|| self.log.write(&event)));
        match (written, self.log.fault()) {
            (Err(error), fault) => {
                self.lost.inc();
                self.tell("requests are not in the audit log", &fault.unwrap_or_else(|| error.to_string()));
            }
            (Ok(()), Some(fault)) => self.tell("the audit log is not written, events wait", &fault),
            (Ok(()), None) => {}
        }
    }
}
