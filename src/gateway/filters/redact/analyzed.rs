//! What analyzers say of the texts of a request.

use std::sync::Arc;

use bytes::Bytes;

use crate::api::analyzers::Analyzers;
use crate::api::{ApiError, CpuPool, CpuTask};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filters::redact::reading::{BodyFault, ReadAs, Readings};
use crate::redact::{AnalyzerFindings, FindingLimits};
use crate::telemetry::trace::SpanKind;

/// A body that analyzers are asked about.
pub(super) struct QuestionedBody<'b> {
    pub(super) reading: &'b ReadAs,
    pub(super) readings: &'b Readings,
    pub(super) body: &'b Bytes,
}

impl QuestionedBody<'_> {
    /// Asks about its texts.
    ///
    /// # Errors
    /// A body that cannot be read; an analyzer that must answer and does not.
    pub(super) async fn ask(
        self,
        x: &Exchange,
        analyzers: &Analyzers,
        cpu: &CpuPool,
    ) -> Result<Arc<AnalyzerFindings>, GatewayError> {
        let (reading, readings, body) = (self.reading.clone(), self.readings.clone(), self.body.clone());
        let job = CpuTask { caller: x.caller(), bytes: body.len() };
        // They are copies, at most once all of the body.
        let mut held = x.budget.charge();
        held.set(body.len())?;
        let texts = move |_: &_| {
            let parsed = match reading.parse(&body, &readings) {
                Ok(parsed) => parsed,
                // What cannot be taken apart is refused, or passes, when it is redacted.
                Err(BodyFault::Form(_)) => return Ok(Vec::new()),
                Err(fault) => return Err(fault),
            };
            let texts = parsed.content.texts(&body, FindingLimits::default())?;
            Ok::<_, BodyFault>(texts.into_texts())
        };
        let texts = cpu.run(job, texts).await.map_err(ApiError::from).map_err(GatewayError::Api)??;
        let span = x.trace.place().begin("analyze", SpanKind::Client);
        let reported = analyzers.ask(texts).await.map(Arc::new).map_err(|_| GatewayError::Unanalyzed);
        drop(span);
        reported
    }
}
