//! [`RequestTrace`]: the span of a request, those of its attempts at an upstream, and the trace that goes on there.

use std::sync::Arc;

use http::{HeaderValue, Method};
use pingora::http::RequestHeader;

use crate::telemetry::trace::{
    SpanContext, SpanKind, SpanWord, TRACEPARENT, TRACESTATE, TraceContext, TraceSpan, Tracer,
};

/// The span of a request, and of its last attempt at an upstream.
#[derive(Default)]
pub struct RequestTrace {
    request: TraceSpan,
    attempt: Option<TraceSpan>,
    attempts: u32,
    answered: bool,
}

/// What a request's span has at its end.
pub struct TraceEnd<'a> {
    /// The request's method.
    pub method: &'a Method,
    /// The status sent; 0 for none.
    pub status: u16,
    /// What went wrong: a word of the access log.
    pub error: Option<&'static str>,
}

/// Where a caller says that its request stands in its trace, if it does so in one header.
fn parent(head: &RequestHeader) -> Option<TraceContext> {
    let mut all = head.headers.get_all(TRACEPARENT).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    TraceContext::parse(one.to_str().ok()?)
}

impl RequestTrace {
    /// Begins the span of the request with this head.
    pub fn new(tracer: &Tracer, head: &RequestHeader) -> Self {
        Self { request: tracer.request(parent(head)), ..Self::default() }
    }

    /// Where spans of this request's hang.
    pub fn place(&self) -> SpanContext {
        self.request.place()
    }

    /// How often an upstream was tried.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Begins an attempt at the pool of this name; one before it has failed.
    pub fn attempt(&mut self, upstream: &str) {
        let again = self.attempts > 0;
        self.attempts = self.attempts.saturating_add(1);
        if let Some(mut failed) = self.attempt.take() {
            failed.fail("connect");
        }
        let mut span = self.place().begin("upstream", SpanKind::Client);
        if span.is_recorded() {
            span.say("portcullis.upstream", SpanWord::Named(Arc::from(upstream)));
            if again {
                span.say("http.request.resend_count", SpanWord::Number(u64::from(self.attempts - 1)));
            }
        }
        self.attempt = Some(span);
    }

    /// Names the trace to the upstream; without spans of ours, what the caller said passes as it is.
    pub fn pass_on(&self, head: &mut RequestHeader) {
        let attempt = self.attempt.as_ref().map(TraceSpan::place);
        let Some(context) = attempt.and_then(|place| place.context()) else { return };
        if parent(head).is_none() {
            // It belongs to the header that was none.
            head.remove_header(TRACESTATE);
        }
        if let Ok(value) = HeaderValue::from_str(&context.to_string()) {
            drop(head.insert_header(TRACEPARENT, value));
        }
    }

    /// Notes the status of the upstream's answer.
    pub fn answered(&mut self, status: u16) {
        if std::mem::replace(&mut self.answered, true) {
            return;
        }
        if let Some(span) = &mut self.attempt {
            span.say("http.response.status_code", SpanWord::Number(u64::from(status)));
        }
    }

    /// Ends the spans of a request on this route.
    pub fn end(self, route: &str, end: TraceEnd<'_>) {
        let Self { mut request, attempt, answered, .. } = self;
        if let Some(mut span) = attempt
            && let (false, Some(why)) = (answered, end.error)
        {
            span.fail(why);
        }
        if !request.is_recorded() {
            return;
        }
        request.say("portcullis.route", SpanWord::Named(Arc::from(route)));
        request.say("http.request.method", SpanWord::Known(method_name(end.method)));
        request.say("http.response.status_code", SpanWord::Number(u64::from(end.status)));
        match end.error {
            Some(why) if end.status == 0 || end.status >= 500 => request.fail(why),
            _ => {}
        }
    }
}

/// A method's name, if it is a common one, else `-`: a caller may invent others, and put anything into them.
pub fn method_name(method: &Method) -> &'static str {
    const KNOWN: [(&Method, &str); 8] = [
        (&Method::GET, "GET"),
        (&Method::POST, "POST"),
        (&Method::PUT, "PUT"),
        (&Method::DELETE, "DELETE"),
        (&Method::HEAD, "HEAD"),
        (&Method::OPTIONS, "OPTIONS"),
        (&Method::PATCH, "PATCH"),
        (&Method::TRACE, "TRACE"),
    ];
    KNOWN.iter().find(|(known, _)| *known == method).map_or("-", |(_, name)| name)
}
