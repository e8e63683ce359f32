//! Spans: what a request spent its time on, in W3C's Trace Context and OpenTelemetry's terms. They have names and numbers
//! of ours and words of the configuration, and nothing of a body, a header's value, a path or a query.
//!
//! | file | noun |
//! |---|---|
//! | `context` | [`TraceContext`]: `traceparent`, read and written |
//! | `span` | [`Tracer`], [`TraceSpan`] and [`SpanContext`]: where the next one hangs |
//! | `here` | the place that work is done for |
//! | `otlp` | [`encode`]: spans as OTLP writes them in JSON |

mod context;
mod here;
mod otlp;
mod span;

pub use context::{SpanId, TRACEPARENT, TRACESTATE, TraceContext, TraceId};
pub use here::{here, step, within};
pub use otlp::encode;
pub use span::{Finished, SpanContext, SpanKind, SpanWord, Spans, TraceSpan, Tracer};
