//! [`Collector`]: whoever takes what OTLP carries over HTTP in JSON.

use std::time::Duration;

use serde_json::Value;

use crate::base::secret::Secret;
use crate::net::{Allow, CallBody, Client, NetError, OutboundCall, Url};

/// Tries of one export, where the collector says that another may help (OTLP, "Retryable response codes").
const TRIES: u32 = 3;

/// How long the second of them waits; each one more waits twice as long.
const PAUSE: Duration = Duration::from_secs(1);

/// The largest answer that is read.
const ANSWER: usize = 64 << 10;

/// A collector, and how it is asked.
pub(super) struct Collector {
    /// The whole URL.
    pub(super) endpoint: Url,
    /// Fields of each request's head.
    pub(super) headers: Vec<(String, Secret<String>)>,
    /// For one try.
    pub(super) time: Duration,
    /// Asks it.
    pub(super) client: Client,
}

/// What became of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportOutcome {
    /// All of it was taken.
    All,
    /// So much of it was not, for good ("Partial Success").
    AllBut(u64),
    /// Nothing, for now.
    Nothing,
}

impl Collector {
    /// A client for whatever address a collector has.
    pub(super) fn client() -> Result<Client, NetError> {
        Client::new(Allow::new(Vec::new()))
    }

    /// Sends one export. `rejected` is what its answer calls what was not taken.
    pub(super) async fn send(&self, export: &Value, rejected: &str) -> ExportOutcome {
        let json = export.to_string();
        for attempt in 0..TRIES {
            let call = OutboundCall {
                url: &self.endpoint,
                headers: &self.headers,
                body: Some(CallBody::Json(json.clone())),
                timeout: self.time,
                most: ANSWER,
            };
            match self.client.call(call).await {
                Ok(answer) if (200..300).contains(&answer.status) => return taken(&answer.body, rejected),
                Ok(answer) if !matches!(answer.status, 429 | 502 | 503 | 504) => {
                    return ExportOutcome::Nothing;
                }
                _ if attempt + 1 < TRIES => tokio::time::sleep(PAUSE * 2_u32.pow(attempt)).await,
                _ => {}
            }
        }
        ExportOutcome::Nothing
    }
}

/// What an answer says; numbers of 64 bits are texts in it, which some write as numbers.
fn taken(body: &[u8], rejected: &str) -> ExportOutcome {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let count = answer.get("partialSuccess").and_then(|partial| partial.get(rejected));
    let count = count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    match count {
        None | Some(0) => ExportOutcome::All,
        Some(count) => ExportOutcome::AllBut(count),
    }
}

#[cfg(test)]
mod tests {
    use super::{ExportOutcome, taken};

    #[test]
    fn answers_say_what_was_not_taken() {
        let rows: [(&str, ExportOutcome); 5] = [
            ("", ExportOutcome::All),
            ("{}", ExportOutcome::All),
            (r#"{"partialSuccess":{"rejectedSpans":"3"}}"#, ExportOutcome::AllBut(3)),
            (r#"{"partialSuccess":{"rejectedSpans":3,"errorMessage":"x"}}"#, ExportOutcome::AllBut(3)),
            (r#"{"partialSuccess":{"rejectedSpans":"0"}}"#, ExportOutcome::All),
        ];
        for (body, want) in rows {
            assert_eq!(taken(body.as_bytes(), "rejectedSpans"), want, "{body}");
        }
    }
}
