//! What a proxy shows of an answer, and what goes on to the caller.

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_LENGTH;

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::has_body;
use crate::gateway::ext_proc::head;
use crate::gateway::ext_proc::message::{BodySendMode, HttpHeaders, HttpTrailers, ProcessingResponse};
use crate::gateway::ext_proc::mode::shows;
use crate::gateway::ext_proc::processing::{DISORDER, Phase, Processing, ProcessingFault};
use crate::gateway::ext_proc::tell::{self, PartDirection};
use crate::telemetry::{BodyScan, UpstreamFailure};

impl Processing<'_> {
    /// Shows the head of the answer to the filters.
    pub(super) async fn answer_head(&mut self, shown: HttpHeaders) -> Result<(), ProcessingFault> {
        if self.incoming != Phase::Awaited {
            return Err(DISORDER);
        }
        let head::ProxyAnswerHead { mut head, fields } = head::answer_head(shown.headers.as_ref())?;
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(GatewayError::Upstream(UpstreamFailure::Broken).into());
        }
        if head.status.is_informational() {
            return Ok(self.stream.send(&tell::head(PartDirection::Answer, None)).await?);
        }
        let status = head.status;
        self.measured = fields.contains_key(CONTENT_LENGTH);
        self.request.x.trace.answered(status.as_u16());
        let bodiless = shown.end_of_stream || !has_body(&self.request.x.head().method, status);
        if shown.end_of_stream && has_body(&self.request.x.head().method, status) {
            head::says_nothing_follows(&mut head);
        }
        let answered = self.stream.unless_left(self.request.answer(&mut head)).await?;
        answered.map(drop)?;
        let (x, answering) = self.request.answering()?;
        let (rewrites, edits, events) = (answering.rewrites(), answering.edits(), answering.is_stream());
        if bodiless {
            let mut nothing = None;
            answering.chunk(x, &mut nothing, true)?;
            if nothing.is_some_and(|bytes| !bytes.is_empty()) {
                return Err(GatewayError::Api(ApiError::Internal("empty answer")).into());
            }
        } else if rewrites {
            self.modes.check_answer(x)?;
        }
        let passes = !bodiless && shows(self.modes.answer);
        self.incoming = if passes { Phase::Passes } else { Phase::Over };
        let mut mutation = head::answer_becomes(&fields, &head);
        let mut mode_override = None;
        if events && passes && self.modes.answer == BodySendMode::Buffered && self.modes.may_change() {
            // A stream is for whoever reads along.
            self.modes.answer = BodySendMode::Streamed;
            mode_override = Some(self.modes.asked());
            mutation.get_or_insert_default().remove(CONTENT_LENGTH.as_str());
        }
        self.outcome.status = status.as_u16();
        let response = ProcessingResponse { mode_override, ..tell::head(PartDirection::Answer, mutation) };
        // Of a document, the head waits for what follows it: until then it can still be refused.
        if passes && edits && !events && self.modes.answer == BodySendMode::FullDuplexStreamed {
            self.held = Some(response);
            return Ok(());
        }
        Ok(self.stream.send(&response).await?)
    }

    pub(super) async fn answer_piece(&mut self, came: Bytes, end: bool) -> Result<(), ProcessingFault> {
        if self.incoming != Phase::Passes {
            return Err(DISORDER);
        }
        let out = self.edited(Some(came.clone()).filter(|came| !came.is_empty()), end).await?;
        if end {
            self.incoming = Phase::Over;
        }
        self.outcome.bytes_out += out.len() as u64;
        self.tell_piece(PartDirection::Answer, came, out, end).await
    }

    pub(super) async fn answer_trailers(&mut self, trailers: HttpTrailers) -> Result<(), ProcessingFault> {
        if self.incoming == Phase::Passes {
            let rest = self.edited(None, true).await?;
            self.incoming = Phase::Over;
            self.outcome.bytes_out += rest.len() as u64;
            let error =
                GatewayError::Unscannable("its end comes with trailers, behind a body that is STREAMED");
            self.tell_rest(PartDirection::Answer, Some(rest), error).await?;
        }
        let (x, answering) = self.request.answering()?;
        // They were not looked at, and may be digests of other bytes.
        let other = x.answer_scan == BodyScan::Scanned || answering.compresses();
        let mutation = other.then(|| head::no_trailers(trailers.trailers.as_ref())).flatten();
        Ok(self.stream.send(&tell::trailers(PartDirection::Answer, mutation)).await?)
    }

    /// A piece of the answer as the filters want it, and what that teaches is kept.
    async fn edited(&mut self, came: Option<Bytes>, end: bool) -> Result<Bytes, ProcessingFault> {
        if let Some(memory) = &mut self.request.x.facts.memory {
            memory.before_piece().await;
        }
        let (x, answering) = self.request.answering()?;
        let mut piece = came;
        answering.chunk(x, &mut piece, end)?;
        let over = end || x.delivery.is_cut_short();
        if let Some(memory) = &mut x.facts.memory {
            memory.after_piece(over).await;
        }
        Ok(piece.unwrap_or_default())
    }
}
