//! Spans on their way to a collector: OTLP over HTTP in JSON, in batches. What cannot be sent is dropped and counted: no
//! request waits for a collector.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::app::parts::{AppError, Parts};
use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::config::Config;
use crate::config::settings::Otlp;
use crate::net::{Allow, Call, Client};
use crate::telemetry::Metrics;
use crate::telemetry::trace::{Finished, Spans, Tracer, encode};

/// Spans of one export, at the most.
const BATCH: usize = 512;

/// How long the first span of a batch waits for others.
const GATHER: Duration = Duration::from_secs(1);

/// Tries of one batch, where the collector says that another may help (OTLP, "Retryable response codes").
const TRIES: u32 = 3;

/// How long the end of the process waits for the last spans.
const LAST: Duration = Duration::from_secs(2);

/// The largest answer that is read.
const ANSWER: usize = 64 << 10;

/// The tracer that the configuration wants, and its spans.
pub(super) fn tracer(
    config: &Config,
    clock: &SharedClock,
    metrics: &Arc<Metrics>,
) -> (Tracer, Option<Spans>) {
    let Some(otlp) = &config.telemetry.otlp else { return (Tracer::default(), None) };
    let lost = metrics.spans_lost.clone();
    let (tracer, spans) = Tracer::new(*otlp.ratio, Arc::clone(clock), move || lost.inc());
    (tracer, Some(spans))
}

/// Begins to send spans.
///
/// # Errors
/// A client that cannot be had.
pub(super) fn send(config: &Config, parts: &Arc<Parts>) -> Result<(), AppError> {
    let spans = parts.spans.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Some(otlp), Some(spans)) = (&config.telemetry.otlp, spans) else { return Ok(()) };
    let client = Client::new(Allow::new(Vec::new()))
        .map_err(|error| AppError::Io(format!("telemetry.otlp: {error}")))?;
    let headers = otlp.headers.iter().map(|(name, value)| (name.clone(), value.value().clone()));
    let exporter = Exporter {
        otlp: otlp.clone(),
        headers: headers.collect(),
        client,
        metrics: Arc::clone(&parts.metrics),
    };
    parts.opened.io.spawn(exporter.run(spans));
    Ok(())
}

/// Waits until the spans of what has ended are sent, or it takes too long.
pub(super) async fn last(parts: &Parts) {
    if parts.tracer.is_on() {
        drop(tokio::time::timeout(LAST, parts.tracer.sent()).await);
    }
}

struct Exporter {
    otlp: Otlp,
    headers: Vec<(String, Secret<String>)>,
    client: Client,
    metrics: Arc<Metrics>,
}

impl Exporter {
    async fn run(self, mut spans: Spans) {
        let mut failing = false;
        while let Some(batch) = spans.batch(BATCH, GATHER).await {
            let sent = self.export(&batch).await;
            if !sent {
                self.metrics.spans_lost.inc_by(batch.len() as u64);
            }
            if sent == failing {
                failing = !sent;
                match sent {
                    true => {
                        tracing::info!(target: "portcullis::telemetry", "the collector takes spans again")
                    }
                    false => tracing::warn!(
                        target: "portcullis::telemetry",
                        "the collector does not take spans; they are dropped and counted"
                    ),
                }
            }
        }
    }

    async fn export(&self, batch: &[Finished]) -> bool {
        let json = encode(&self.otlp.service, batch).to_string();
        for attempt in 0..TRIES {
            let call = Call {
                url: &self.otlp.endpoint.0,
                headers: &self.headers,
                json: Some(json.clone()),
                timeout: self.otlp.time.get(),
                most: ANSWER,
            };
            match self.client.call(call).await.map(|answer| answer.status) {
                Ok(200..300) => return true,
                Ok(429 | 502 | 503 | 504) | Err(_) if attempt + 1 < TRIES => {
                    tokio::time::sleep(GATHER * 2_u32.pow(attempt)).await;
                }
                _ => return false,
            }
        }
        false
    }
}
