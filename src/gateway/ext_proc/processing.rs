//! [`Processing`]: one exchange that a proxy shows, through the same states as one of our own.

use std::time::Duration;

use bytes::Bytes;

use crate::api::{ApiAnswer, ApiError, Body};
use crate::gateway::bounds::RequestBounds;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::RequestOutcome;
use crate::gateway::ext_proc::frame::FrameError;
use crate::gateway::ext_proc::head::{self, ProxyHeadState};
use crate::gateway::ext_proc::message::{BodySendMode, ExchangePart, ProcessingRequest, ProcessingResponse};
use crate::gateway::ext_proc::mode::{BodyModes, MISCONFIGURED};
use crate::gateway::ext_proc::stream::{GrpcStatus, ProcessStream, SILENCE, StreamFault};
use crate::gateway::ext_proc::tell::{self, PartDirection};
use crate::gateway::native::head_of;
use crate::gateway::state::{ActiveRequest, InvalidState, PAUSE, RequestState, Routing};
use crate::gateway::terminal::Terminal;

/// How long the proxy's own end of a stream is awaited once all was shown.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest piece of a body that is not answered piece by piece, in bytes.
const PIECE: usize = 64 << 10;

/// Why an exchange goes no further.
pub(super) enum ProcessingFault {
    /// The caller is told.
    Refused(GatewayError),
    /// The stream is of no more use.
    Stream(StreamFault),
}

impl From<GatewayError> for ProcessingFault {
    fn from(error: GatewayError) -> Self {
        Self::Refused(error)
    }
}

impl From<StreamFault> for ProcessingFault {
    fn from(fault: StreamFault) -> Self {
        Self::Stream(fault)
    }
}

impl From<InvalidState> for ProcessingFault {
    fn from(fault: InvalidState) -> Self {
        Self::Refused(fault.into())
    }
}

/// What the caller is told where nothing more comes of a stream.
pub(super) fn error_of(fault: StreamFault) -> GatewayError {
    match fault {
        StreamFault::Left => GatewayError::Left,
        StreamFault::Silent => GatewayError::Api(ApiError::RequestTimeout),
        StreamFault::Garbage | StreamFault::Frame(FrameError::Compressed) => MISCONFIGURED,
        StreamFault::Frame(FrameError::TooLarge(limit)) => GatewayError::Api(ApiError::TooLarge(limit)),
        StreamFault::Exhausted(why) => why.into(),
    }
}

/// What the proxy shows comes in an order that there is not.
pub(super) const DISORDER: ProcessingFault = ProcessingFault::Stream(StreamFault::Garbage);

/// How far a body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is not due yet.
    Awaited,
    /// It passes.
    Passes,
    /// Nothing more of it goes on.
    Withheld,
    /// It has ended.
    Over,
}

/// One exchange.
pub(super) struct Processing<'a> {
    pub(super) stream: &'a mut ProcessStream,
    pub(super) request: &'a mut ActiveRequest,
    /// What the proxy has of the request's head.
    pub(super) told: ProxyHeadState,
    pub(super) modes: BodyModes,
    /// The request's body.
    pub(super) outgoing: Phase,
    /// The answer's.
    pub(super) incoming: Phase,
    /// The head of an answer that can still be refused.
    pub(super) held: Option<ProcessingResponse>,
    /// Whether the head of the answer says how long its body is.
    pub(super) measured: bool,
    pub(super) outcome: RequestOutcome,
}

impl<'a> Processing<'a> {
    /// Of a request whose head was shown, and is known to the proxy as `told` has it.
    pub(super) fn new(
        stream: &'a mut ProcessStream,
        request: &'a mut ActiveRequest,
        told: ProxyHeadState,
        modes: BodyModes,
    ) -> Self {
        let (outgoing, incoming) = (Phase::Awaited, Phase::Awaited);
        let (held, measured, outcome) = (None, false, RequestOutcome::default());
        Self { stream, request, told, modes, outgoing, incoming, held, measured, outcome }
    }

    /// Shows the exchange to the filters, part by part, and ends the stream. Returns how it went.
    pub(super) async fn run(mut self, bounds: &RequestBounds) -> RequestOutcome {
        let done = match Box::pin(self.begin(bounds)).await {
            Ok(true) => self.parts().await,
            Ok(false) => Ok(()),
            Err(fault) => Err(fault),
        };
        match done {
            Ok(()) => self.stream.end(GrpcStatus::Ok, ""),
            Err(fault) => self.fails(fault).await,
        }
        self.outcome
    }

    /// From `Received` to where the rest is shown; `false`: it is answered.
    async fn begin(&mut self, bounds: &RequestBounds) -> Result<bool, ProcessingFault> {
        let RequestState::Received(received) = self.request.state.take() else {
            return Err(InvalidState.into());
        };
        let ActiveRequest { x, chain, .. } = &mut *self.request;
        let routing = self.stream.unless_left(received.filter(x, chain, bounds, None)).await??;
        let routed = match routing {
            Routing::Forward(routed) => routed,
            Routing::Answer(answer) => return self.answers(answer).await.map(|()| false),
        };
        if x.is_websocket() {
            return Err(GatewayError::NotBuilt("No WebSocket is served here").into());
        }
        if !matches!(x.route().terminal, Terminal::Host) {
            return Err(GatewayError::Api(ApiError::NotFound).into());
        }
        self.modes.check_request(x, &routed.plan)?;
        if chain.edits_answers() {
            self.modes.check_answer(x)?;
        }
        x.trace.attempt("ext_proc");
        self.forward(routed).await
    }

    /// The rest of the exchange, until the proxy has no more of it.
    async fn parts(&mut self) -> Result<(), ProcessingFault> {
        loop {
            let over = self.outgoing == Phase::Over && self.incoming == Phase::Over;
            let message = match self.next(if over { CLOSE_TIMEOUT } else { SILENCE }).await {
                Err(_) if over => return Ok(()),
                message => message?,
            };
            let Some(message) = message else {
                if self.incoming != Phase::Over {
                    self.request.x.caller_left(self.is_answered());
                }
                return Ok(());
            };
            self.part(message.shown.ok_or(DISORDER)?).await?;
        }
    }

    /// What the proxy shows next. Where it lets wait for itself, what of the answer waits for it is told.
    async fn next(&mut self, patience: Duration) -> Result<Option<ProcessingRequest>, ProcessingFault> {
        if self.incoming == Phase::Passes && self.modes.answer == BodySendMode::FullDuplexStreamed {
            let (x, answering) = self.request.answering()?;
            if answering.waits() {
                match self.stream.next(PAUSE).await {
                    Err(StreamFault::Silent) => {}
                    shown => return Ok(shown?),
                }
                let piece = answering.release(x)?.unwrap_or_default();
                self.outcome.bytes_out += piece.len() as u64;
                if !piece.is_empty() {
                    self.tell_streamed(PartDirection::Answer, piece, false).await?;
                }
            }
        }
        Ok(self.stream.next(patience).await?)
    }

    pub(super) async fn part(&mut self, shown: ExchangePart) -> Result<(), ProcessingFault> {
        match shown {
            ExchangePart::RequestHeaders(_) => Err(DISORDER),
            ExchangePart::RequestBody(body) => {
                self.outcome.bytes_in += body.body.len() as u64;
                let whole = self.modes.request == BodySendMode::Buffered;
                self.request_piece(body.body, body.end_of_stream || whole).await
            }
            ExchangePart::RequestTrailers(trailers) => self.request_trailers(trailers).await,
            ExchangePart::ResponseHeaders(head) => Box::pin(self.answer_head(head)).await,
            ExchangePart::ResponseBody(body) => {
                let whole = self.modes.answer == BodySendMode::Buffered;
                self.answer_piece(body.body, body.end_of_stream || whole).await
            }
            ExchangePart::ResponseTrailers(trailers) => self.answer_trailers(trailers).await,
        }
    }

    /// Tells the proxy what stands in the place of a piece.
    pub(super) async fn tell_piece(
        &mut self,
        way: PartDirection,
        came: Bytes,
        out: Bytes,
        end: bool,
    ) -> Result<(), ProcessingFault> {
        let mode = match way {
            PartDirection::Request => self.modes.request,
            PartDirection::Answer => self.modes.answer,
        };
        if mode == BodySendMode::FullDuplexStreamed {
            return self.tell_streamed(way, out, end).await;
        }
        let changed = out != came;
        let measured = if way == PartDirection::Request { self.told.is_measured() } else { self.measured };
        let whole = changed && measured && mode == BodySendMode::Buffered;
        let length = whole.then(|| head::length(None, out.len()));
        Ok(self.stream.send(&tell::piece(way, changed.then_some(out), length)).await?)
    }

    /// How a body goes on that is not answered piece by piece.
    pub(super) async fn tell_streamed(
        &mut self,
        way: PartDirection,
        mut out: Bytes,
        end: bool,
    ) -> Result<(), ProcessingFault> {
        if way == PartDirection::Answer
            && let Some(held) = self.held.take()
        {
            self.stream.send(&held).await?;
        }
        while !out.is_empty() {
            let piece = out.split_to(PIECE.min(out.len()));
            self.stream.send(&tell::streamed(way, piece, end && out.is_empty())).await?;
            if out.is_empty() {
                return Ok(());
            }
        }
        if end {
            self.stream.send(&tell::streamed(way, Bytes::new(), true)).await?;
        }
        Ok(())
    }

    /// What is left of a body when its trailers come; else nothing has room for it.
    pub(super) async fn tell_rest(
        &mut self,
        way: PartDirection,
        rest: Option<Bytes>,
        error: GatewayError,
    ) -> Result<(), ProcessingFault> {
        let rest = rest.unwrap_or_default();
        let mode = if way == PartDirection::Request { self.modes.request } else { self.modes.answer };
        match mode {
            BodySendMode::FullDuplexStreamed => self.tell_streamed(way, rest, false).await,
            _ if rest.is_empty() => Ok(()),
            _ => Err(error.into()),
        }
    }

    /// Sends an answer of a filter, through the response half of all.
    pub(super) async fn answers(&mut self, mut answer: ApiAnswer) -> Result<(), ProcessingFault> {
        let mut head = head_of(&answer).map_err(|_| GatewayError::Gone)?;
        let (x, answering) = self.request.answer(&mut head).await?;
        let Body::Whole(bytes) = answer.body else {
            return Err(GatewayError::Api(ApiError::Internal("streamed answer")).into());
        };
        let mut body = Some(bytes);
        if answering.rewrites() {
            answering.chunk(x, &mut body, true)?;
        }
        answer.body = Body::Whole(body.unwrap_or_default());
        answer.headers = head.headers.clone();
        self.immediate(answer).await
    }

    /// Whether the caller may have the head of an answer.
    fn is_answered(&self) -> bool {
        let waits = self.incoming == Phase::Passes && self.modes.answer == BodySendMode::Buffered;
        self.outcome.status != 0 && self.held.is_none() && !waits
    }

    async fn immediate(&mut self, answer: ApiAnswer) -> Result<(), ProcessingFault> {
        if !self.is_answered() {
            self.outcome.status = answer.status.as_u16();
            self.outcome.bytes_out = answer.bytes().len() as u64;
        }
        let told = tell::immediate(head::immediate(&answer, self.request.x.error_word));
        drop(answer);
        Ok(self.stream.send(&told).await?)
    }

    /// The exchange goes no further: its caller is told why, or has its answer broken off.
    async fn fails(&mut self, fault: ProcessingFault) {
        let (error, status) = match fault {
            ProcessingFault::Refused(error) => (error, GrpcStatus::Ok),
            ProcessingFault::Stream(StreamFault::Left) => {
                self.request.x.caller_left(self.is_answered());
                return self.stream.reset();
            }
            ProcessingFault::Stream(fault) => {
                let status = fault.status();
                (error_of(fault), status)
            }
        };
        if self.is_answered() {
            self.request.x.delivery.cut_short();
        }
        let answer = self.request.error_answer(error);
        match self.immediate(answer).await {
            Ok(()) => self.stream.end(status, ""),
            Err(_) => self.stream.reset(),
        }
    }
}
