//! Log records as OTLP has them in JSON ("ProtoJSON" of the protocol's specification).

use serde_json::{Value, json};

/// How much a record matters, by the numbers of OpenTelemetry's data model for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// As it should be.
    Info,
    /// Worth a look.
    Warn,
    /// Something went wrong.
    Error,
}

impl Severity {
    const fn number(self) -> u8 {
        match self {
            Self::Info => 9,
            Self::Warn => 13,
            Self::Error => 17,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// When it happened, in nanoseconds since 1970 (UTC).
    pub time: u64,
    /// How much it matters.
    pub severity: Severity,
    /// What it says.
    pub body: &'a str,
}

/// The body of one export: records of one event, which this names, of one gateway, called `instance`.
pub fn encode_records(service: &str, instance: &str, event: &str, records: &[LogRecord<'_>]) -> Value {
    let text = |name: &str, value: &str| json!({ "key": name, "value": { "stringValue": value } });
    let version = env!("CARGO_PKG_VERSION");
    let record = |record: &LogRecord<'_>| {
        json!({
            "timeUnixNano": record.time.to_string(),
            "severityNumber": record.severity.number(),
            "severityText": record.severity.text(),
            "eventName": event,
            "body": { "stringValue": record.body },
        })
    };
    json!({
        "resourceLogs": [{
            "resource": { "attributes": [
                text("service.name", service),
                text("service.version", version),
                text("service.instance.id", instance),
            ] },
            "scopeLogs": [{
                "scope": { "name": "portcullis", "version": version },
                "logRecords": records.iter().map(record).collect::<Vec<Value>>(),
            }],
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_the_form_of_the_protocol() {
        let one = |severity| LogRecord { time: 1_800_000_000_000_000_001, severity, body: "{\"seq\":1}" };
        let all = [Severity::Info, Severity::Warn, Severity::Error].map(one);
        let sent = encode_records("gate", "node-1", "portcullis.audit", &all);
        let records = &sent["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
        let numbers: Vec<u64> = (0..3).map(|n| records[n]["severityNumber"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [9, 13, 17]);
        assert_eq!(records[0]["timeUnixNano"], "1800000000000000001", "64 bits are texts");
        assert_eq!(records[0]["body"]["stringValue"], "{\"seq\":1}");
        let of = &sent["resourceLogs"][0]["resource"]["attributes"];
        assert_eq!(
            (&of[0]["value"]["stringValue"], &of[2]["value"]["stringValue"]),
            (&"gate".into(), &"node-1".into())
        );
    }
}
