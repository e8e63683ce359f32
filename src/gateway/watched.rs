//! What a walk tells about itself: its span, the attempts at an upstream, and the trace that goes on there.

use std::sync::Arc;

use http::HeaderValue;
use pingora::http::RequestHeader;

use crate::gateway::exchange::Exchange;
use crate::gateway::filters::registered;
use crate::gateway::upstream::Upstream;
use crate::telemetry::trace::{Kind, Place, Span, TRACEPARENT, TRACESTATE, TraceContext, Tracer, Word};

/// The span of a request, and of what it asks upstream.
#[derive(Default)]
pub struct Watched {
    request: Span,
    attempt: Option<Span>,
    attempts: u32,
    answered: bool,
}

/// Where a caller says that its request stands in its trace, if it does so in one header.
fn parent(head: &RequestHeader) -> Option<TraceContext> {
    let mut all = head.headers.get_all(TRACEPARENT).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    TraceContext::parse(one.to_str().ok()?)
}

impl Exchange {
    /// Begins the span of the request.
    pub fn watch(&mut self, tracer: &Tracer) {
        self.watched.request = tracer.request(parent(self.head()));
    }

    /// Where spans of this request's hang.
    pub fn place(&self) -> Place {
        self.watched.request.place()
    }

    /// How often an upstream was tried.
    pub fn attempts(&self) -> u32 {
        self.watched.attempts
    }

    /// Begins an attempt at an upstream; one before it has failed.
    pub fn attempt(&mut self, upstream: &Upstream) {
        let again = self.watched.attempts > 0;
        self.watched.attempts = self.watched.attempts.saturating_add(1);
        if let Some(mut failed) = self.watched.attempt.take() {
            failed.fail("connect");
        }
        let mut span = self.place().begin("upstream", Kind::Client);
        if span.is_recorded() {
            span.say("portcullis.upstream", Word::Named(Arc::from(upstream.name())));
            if again {
                span.say("http.request.resend_count", Word::Number(u64::from(self.watched.attempts - 1)));
            }
        }
        self.watched.attempt = Some(span);
    }

    /// Tells the upstream which trace its part belongs to; without traces of ours, what the caller said passes as it is.
    pub fn pass_trace(&self, head: &mut RequestHeader) {
        let attempt = self.watched.attempt.as_ref().map(Span::place);
        let Some(context) = attempt.and_then(|place| place.context()) else { return };
        if parent(head).is_none() {
            // It belongs to the header that was none.
            head.remove_header(TRACESTATE);
        }
        if let Ok(value) = HeaderValue::from_str(&context.to_string()) {
            drop(head.insert_header(TRACEPARENT, value));
        }
    }

    /// The head of the upstream's answer is there.
    pub fn answered(&mut self, status: u16) {
        if std::mem::replace(&mut self.watched.answered, true) {
            return;
        }
        if let Some(span) = &mut self.watched.attempt {
            span.say("http.response.status_code", Word::Number(u64::from(status)));
        }
    }

    /// Ends the spans.
    pub(super) fn unwatch(&mut self, status: u16) {
        let Watched { mut request, attempt, answered, .. } = std::mem::take(&mut self.watched);
        if let Some(mut span) = attempt
            && let (false, Some(why)) = (answered, self.fault)
        {
            span.fail(why);
        }
        if !request.is_recorded() {
            return;
        }
        request.say("portcullis.route", Word::Named(Arc::from(self.route().name.as_str())));
        request.say("http.request.method", Word::Known(registered(&self.head().method)));
        request.say("http.response.status_code", Word::Number(u64::from(status)));
        match self.fault {
            Some(why) if status == 0 || status >= 500 => request.fail(why),
            _ => {}
        }
    }
}
