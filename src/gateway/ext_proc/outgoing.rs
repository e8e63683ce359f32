//! What a proxy shows of a request, and what goes on to the upstream.

use bytes::Bytes;

use crate::gateway::collected_body::CollectedBody;
use crate::gateway::error::GatewayError;
use crate::gateway::ext_proc::head;
use crate::gateway::ext_proc::message::{BodySendMode, ExchangePart, HttpTrailers};
use crate::gateway::ext_proc::pieces::{GatheredBody, RequestPieces};
use crate::gateway::ext_proc::processing::{DISORDER, Phase, Processing, ProcessingFault};
use crate::gateway::ext_proc::tell::{self, PartDirection};
use crate::gateway::filter::Flow;
use crate::gateway::llm::repeats_body;
use crate::gateway::plan::RequestPlan;
use crate::gateway::state::{ActiveRequest, RequestState, Routed, Streaming};
use crate::telemetry::BodyScan;

/// All pieces of such a body have their answers when its end is known.
const TRAILERS: GatewayError =
    GatewayError::NotBuilt("A body that is STREAMED cannot be redacted where trailers follow it");

impl Processing<'_> {
    /// Tells the proxy what becomes of the request, its body with it where that is read whole.
    pub(super) async fn forward(&mut self, routed: Routed) -> Result<bool, ProcessingFault> {
        let Routed { mut plan, read: _ } = routed;
        let sends_body = self.request.x.sends_body();
        let judged = plan.collects().is_some() || plan.must_show_kind();
        if judged && sends_body && self.modes.request == BodySendMode::Streamed {
            // They go out with the head, and say what the body says.
            if repeats_body(&self.request.x.head().headers) {
                let why = "Headers that repeat values of the body are not processed where that is STREAMED";
                return Err(GatewayError::NotBuilt(why).into());
            }
        }
        let waits = judged && (self.modes.request == BodySendMode::FullDuplexStreamed || !sends_body);
        if !waits {
            self.tell_head().await?;
        }
        let mut gathered = GatheredBody { ended: !sends_body, ..GatheredBody::default() };
        if plan.must_show_kind() && sends_body {
            let mut pieces = RequestPieces::new(self.stream, self.modes.request, gathered);
            let begun = pieces.begin().await;
            gathered = pieces.into_gathered();
            let Ok(first) = begun else { return self.interrupted(gathered).await };
            plan.body_begins(&mut self.request.x, first, gathered.ended)?;
            drop(plan.take_read());
        }
        match plan.collects() {
            Some(limit) => self.collect(plan, limit, gathered, waits).await,
            None => self.pass(plan, gathered, waits).await,
        }
    }

    /// A body that passes piece by piece.
    async fn pass(
        &mut self,
        plan: RequestPlan,
        gathered: GatheredBody,
        waits: bool,
    ) -> Result<bool, ProcessingFault> {
        if waits {
            self.tell_head().await?;
        }
        let GatheredBody { first, ended, trailers, bytes, unanswered, .. } = gathered;
        self.outcome.bytes_in = bytes;
        let mut streaming = Streaming::new(plan, None);
        streaming.begin_attempt(&self.request.x)?;
        self.request.state = RequestState::Streaming(Box::new(streaming));
        self.outgoing = if self.request.x.sends_body() { Phase::Passes } else { Phase::Over };
        if unanswered {
            self.request_piece(first, ended && trailers.is_none()).await?;
        }
        if let Some(trailers) = trailers {
            self.request_trailers(trailers).await?;
        }
        Ok(true)
    }

    /// A body that is read whole and shown to the filters.
    async fn collect(
        &mut self,
        plan: RequestPlan,
        limit: usize,
        gathered: GatheredBody,
        waits: bool,
    ) -> Result<bool, ProcessingFault> {
        self.request.state = RequestState::Collected;
        let mut pieces = RequestPieces::new(self.stream, self.modes.request, gathered);
        let collected = CollectedBody::of(&mut pieces, &self.request.x, limit).await;
        let gathered = pieces.into_gathered();
        self.outcome.bytes_in = gathered.bytes;
        if gathered.other.is_some() || gathered.fault.is_some() {
            return self.interrupted(gathered).await;
        }
        let mut collected = collected?;
        self.request.x.read_call(&collected.document.original);
        let ActiveRequest { x, chain, .. } = &mut *self.request;
        let flow = self.stream.unless_left(chain.collected(x, &mut collected.document)).await??;
        if let Flow::Answer(answer) = flow {
            return self.answers(answer).await.map(|()| false);
        }
        let came = collected.as_came();
        let body = collected.into_body(x, &plan)?;
        if waits {
            self.tell_head().await?;
        }
        self.outgoing = Phase::Over;
        if !self.request.x.sends_body() {
            return Ok(true);
        }
        let out = body.bytes.clone();
        match self.modes.request {
            BodySendMode::FullDuplexStreamed => {
                self.tell_streamed(PartDirection::Request, out, gathered.trailers.is_none()).await?;
                if let Some(trailers) = gathered.trailers {
                    self.request_trailers(trailers).await?;
                }
            }
            BodySendMode::Buffered => {
                let mutation = self.told.becomes(self.request.x.head().clone())?;
                let changed = out != came;
                let measured = changed && self.told.is_measured();
                let mutation = if measured { Some(head::length(mutation, out.len())) } else { mutation };
                let with = changed.then_some(out);
                self.stream.send(&tell::piece(PartDirection::Request, with, mutation)).await?;
            }
            _ => self.stream.send(&tell::piece(PartDirection::Request, Some(out), None)).await?,
        }
        Ok(true)
    }

    /// Something else came before the body was there whole: an upstream may answer before it has read all.
    async fn interrupted(&mut self, gathered: GatheredBody) -> Result<bool, ProcessingFault> {
        if let Some(fault) = gathered.fault {
            return Err(fault.into());
        }
        let other = gathered.other.ok_or(DISORDER)?;
        if let ExchangePart::RequestTrailers(_) = other {
            return Err(TRAILERS.into());
        }
        self.outgoing = Phase::Withheld;
        if gathered.unanswered && self.modes.request == BodySendMode::Streamed {
            self.stream.send(&tell::request_piece(Some(Bytes::new()), None)).await?;
        }
        self.part(other).await.map(|()| true)
    }

    /// Tells the proxy what becomes of the request's head.
    async fn tell_head(&mut self) -> Result<(), ProcessingFault> {
        let mut head = self.request.x.head().clone();
        self.request.x.trace.pass_on(&mut head);
        let mut response = tell::head(PartDirection::Request, self.told.becomes(head)?);
        response.mode_override = self.modes.with_trailers();
        Ok(self.stream.send(&response).await?)
    }

    pub(super) async fn request_piece(&mut self, came: Bytes, end: bool) -> Result<(), ProcessingFault> {
        let out = match self.outgoing {
            Phase::Passes => {
                let (x, streaming) = self.request.streaming()?;
                let mut piece = Some(came.clone());
                streaming.request_chunk(x, &mut piece, end)?;
                piece.unwrap_or_default()
            }
            Phase::Withheld => Bytes::new(),
            Phase::Awaited | Phase::Over => return Err(DISORDER),
        };
        if end {
            self.outgoing = Phase::Over;
        }
        self.tell_piece(PartDirection::Request, came, out, end).await
    }

    pub(super) async fn request_trailers(&mut self, trailers: HttpTrailers) -> Result<(), ProcessingFault> {
        if self.outgoing == Phase::Passes {
            let (x, streaming) = self.request.streaming()?;
            let mut rest = None;
            streaming.request_chunk(x, &mut rest, true)?;
            self.tell_rest(PartDirection::Request, rest, TRAILERS).await?;
        }
        self.outgoing = Phase::Over;
        // They were not looked at.
        let scanned = self.request.x.request_scan == BodyScan::Scanned;
        let mutation = scanned.then(|| head::no_trailers(trailers.trailers.as_ref())).flatten();
        Ok(self.stream.send(&tell::trailers(PartDirection::Request, mutation)).await?)
    }
}
