//! Spans as OTLP writes them in JSON (OpenTelemetry protocol 1.x, `ExportTraceServiceRequest` by the JSON mapping of its
//! specification: ids in hexadecimal digits, 64-bit numbers as strings, enums as numbers).

use serde_json::{Value, json};

use super::span::{Finished, SpanKind, SpanWord};

/// The body of one export.
pub fn encode(service: &str, spans: &[Finished]) -> Value {
    let text = |name: &str, value: &str| json!({ "key": name, "value": { "stringValue": value } });
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "resourceSpans": [{
            "resource": { "attributes": [text("service.name", service), text("service.version", version)] },
            "scopeSpans": [{
                "scope": { "name": "portcullis", "version": version },
                "spans": spans.iter().map(span).collect::<Vec<Value>>(),
            }],
        }],
    })
}

fn span(span: &Finished) -> Value {
    let took = u64::try_from(span.took.as_nanos()).unwrap_or(u64::MAX);
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    };
    let attribute = |(name, word): &(&str, SpanWord)| {
        let value = match word {
            SpanWord::Known(text) => json!({ "stringValue": text }),
            SpanWord::Named(text) => json!({ "stringValue": text.as_ref() }),
            SpanWord::Number(number) => json!({ "intValue": number.to_string() }),
        };
        json!({ "key": name, "value": value })
    };
    let mut written = json!({
        "traceId": span.context.trace.to_string(),
        "spanId": span.context.span.to_string(),
        "name": span.name,
        "kind": kind,
        "startTimeUnixNano": span.began.to_string(),
        "endTimeUnixNano": span.began.saturating_add(took).to_string(),
        "attributes": span.words.iter().map(attribute).collect::<Vec<Value>>(),
        "flags": u32::from(span.context.sampled),
    });
    if let Value::Object(members) = &mut written {
        if let Some(parent) = span.parent {
            members.insert("parentSpanId".to_owned(), json!(parent.to_string()));
        }
        if span.failed {
            members.insert("status".to_owned(), json!({ "code": 2 }));
        }
    }
    written
}
