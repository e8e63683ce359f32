//! [`RequestPieces`]: the body of a request that is read whole, as a proxy shows it.

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::api::{BodyError, BodyRead};
use crate::gateway::ext_proc::message::{BodySendMode, ExchangePart, HttpTrailers};
use crate::gateway::ext_proc::stream::{ProcessStream, SILENCE, StreamFault};
use crate::gateway::ext_proc::tell;

/// How such a body ended.
#[derive(Default)]
pub(super) struct GatheredBody {
    /// How it begins, where that was read ahead.
    pub(super) first: Bytes,
    /// All of it has come.
    pub(super) ended: bool,
    /// What followed it.
    pub(super) trailers: Option<HttpTrailers>,
    /// What came in the place of the rest.
    pub(super) other: Option<ExchangePart>,
    /// Nothing more comes.
    pub(super) fault: Option<StreamFault>,
    /// Bytes that came.
    pub(super) bytes: u64,
    /// A piece that was shown has no answer yet.
    pub(super) unanswered: bool,
}

/// The body of a request on its way here.
pub(super) struct RequestPieces<'a> {
    stream: &'a mut ProcessStream,
    mode: BodySendMode,
    gathered: GatheredBody,
}

impl<'a> RequestPieces<'a> {
    /// Shown in this mode, of which this much has come.
    pub(super) fn new(stream: &'a mut ProcessStream, mode: BodySendMode, gathered: GatheredBody) -> Self {
        Self { stream, mode, gathered }
    }

    /// How it begins.
    ///
    /// # Errors
    /// As of every piece.
    pub(super) async fn begin(&mut self) -> Result<Bytes, BodyError> {
        let first = self.piece().await?.unwrap_or_default();
        self.gathered.first = first.clone();
        Ok(first)
    }

    /// How it ended.
    pub(super) fn into_gathered(self) -> GatheredBody {
        self.gathered
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, BodyError> {
        if !self.gathered.first.is_empty() {
            return Ok(Some(std::mem::take(&mut self.gathered.first)));
        }
        if self.gathered.ended {
            return Ok(None);
        }
        // Each piece is answered; nothing of it goes on before all is there.
        if std::mem::take(&mut self.gathered.unanswered) && self.mode == BodySendMode::Streamed {
            let sent = self.stream.send(&tell::request_piece(Some(Bytes::new()), None)).await;
            sent.map_err(|fault| self.failed(fault))?;
        }
        let shown = match self.stream.next(SILENCE).await {
            Ok(Some(message)) => message.shown,
            Ok(None) => return Err(self.failed(StreamFault::Left)),
            Err(fault) => return Err(self.failed(fault)),
        };
        match shown {
            Some(ExchangePart::RequestBody(body)) => {
                self.gathered.bytes += body.body.len() as u64;
                self.gathered.ended = body.end_of_stream || self.mode == BodySendMode::Buffered;
                self.gathered.unanswered = true;
                Ok(Some(body.body))
            }
            Some(ExchangePart::RequestTrailers(trailers))
                if self.mode == BodySendMode::FullDuplexStreamed =>
            {
                self.gathered.ended = true;
                self.gathered.trailers = Some(trailers);
                Ok(None)
            }
            other => {
                self.gathered.other = other;
                Err(BodyError::Gone)
            }
        }
    }

    fn failed(&mut self, fault: StreamFault) -> BodyError {
        self.gathered.fault = Some(fault);
        BodyError::Gone
    }
}

impl BodyRead for RequestPieces<'_> {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, BodyError>> {
        Box::pin(self.piece())
    }
}
