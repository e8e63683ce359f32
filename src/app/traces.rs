//! Spans on their way to a collector: OTLP over HTTP in JSON, in batches. What cannot be sent is dropped and counted: no
//! request waits for a collector.

use std::sync::Arc;
use std::time::Duration;

use crate::app::collector::{Collector, ExportOutcome};
use crate::app::error::AppError;
use crate::base::clock::SharedClock;
use crate::config::Config;
use crate::telemetry::Metrics;
use crate::telemetry::trace::{Spans, Tracer, encode};

/// Spans of one export, at the most.
const BATCH: usize = 512;

/// How long the first span of a batch waits for others.
const GATHER: Duration = Duration::from_secs(1);

/// How long the end of the process waits for the last spans.
const LAST: Duration = Duration::from_secs(2);

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

/// What sends spans, to be run beside everything else; `None` where the configuration wants none sent.
///
/// # Errors
/// A client that cannot be had.
pub(super) fn exporter(
    config: &Config,
    spans: Option<Spans>,
    metrics: &Arc<Metrics>,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>, AppError> {
    let (Some(otlp), Some(spans)) = (&config.telemetry.otlp, spans) else { return Ok(None) };
    let client = Collector::client().map_err(|error| AppError::Io(format!("telemetry.otlp: {error}")))?;
    let headers = otlp.headers.iter().map(|(name, value)| (name.clone(), value.value().clone()));
    let collector = Collector {
        endpoint: otlp.endpoint.0.clone(),
        headers: headers.collect(),
        time: otlp.time.get(),
        client,
    };
    let exporter = Exporter { collector, service: otlp.service.clone(), metrics: Arc::clone(metrics) };
    Ok(Some(exporter.run(spans)))
}

/// Waits until the spans of what has ended are sent, or it takes too long.
pub(super) async fn last(tracer: &Tracer) {
    if tracer.is_on() {
        drop(tokio::time::timeout(LAST, tracer.sent()).await);
    }
}

struct Exporter {
    collector: Collector,
    service: String,
    metrics: Arc<Metrics>,
}

impl Exporter {
    async fn run(self, mut spans: Spans) {
        let mut failing = false;
        while let Some(batch) = spans.batch(BATCH, GATHER).await {
            let taken = self.collector.send(&encode(&self.service, &batch), "rejectedSpans").await;
            let sent = taken != ExportOutcome::Nothing;
            self.metrics.spans_lost.inc_by(match taken {
                ExportOutcome::All => 0,
                ExportOutcome::AllBut(rejected) => rejected.min(batch.len() as u64),
                ExportOutcome::Nothing => batch.len() as u64,
            });
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
}
