//! [`ProcessStream`]: one stream of a proxy, by which it shows one exchange.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use pingora::Error;
use pingora::http::ResponseHeader;
use pingora::protocols::http::v2::server::HttpSession;
use prost::Message;
use tokio::time::timeout;

use crate::base::budget::{Exhausted, MemoryCharge};
use crate::gateway::ext_proc::frame::{FrameError, FrameReader, framed};
use crate::gateway::ext_proc::message::{ProcessingRequest, ProcessingResponse};

/// How much of what comes next is read while something else is done, in bytes: what the proxy sends beyond it waits there.
const AHEAD: usize = 256 << 10;

/// How long a proxy may say nothing where something is still to be shown: an upstream that thinks, a body that is awaited.
pub(super) const SILENCE: Duration = Duration::from_secs(15 * 60);

/// Codes of gRPC (grpc/grpc, `doc/statuscodes.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrpcStatus {
    /// All is done.
    Ok = 0,
    /// What came is no message.
    InvalidArgument = 3,
    /// It is too large, or too much is under way.
    ResourceExhausted = 8,
    /// It is not asked so here.
    FailedPrecondition = 9,
    /// There is no such method.
    Unimplemented = 12,
}

/// Why nothing more comes of a stream.
#[derive(Debug, thiserror::Error)]
pub(super) enum StreamFault {
    /// The proxy has left, or has reset the stream.
    #[error("the proxy left")]
    Left,
    /// It says nothing for too long.
    #[error("the proxy says nothing")]
    Silent,
    /// What came is no message.
    #[error("what came is no message of external processing")]
    Garbage,
    /// What came is not taken.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// There is no room for what came.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

impl StreamFault {
    /// What the proxy is told.
    pub(super) fn status(&self) -> GrpcStatus {
        match self {
            Self::Left | Self::Silent | Self::Garbage => GrpcStatus::InvalidArgument,
            Self::Frame(FrameError::Compressed) => GrpcStatus::Unimplemented,
            Self::Frame(FrameError::TooLarge(_)) | Self::Exhausted(_) => GrpcStatus::ResourceExhausted,
        }
    }
}

/// A stream of messages both ways.
pub(super) struct ProcessStream {
    session: HttpSession,
    reader: FrameReader,
    charge: MemoryCharge,
    /// The proxy has sent its last.
    ended: bool,
    begun: bool,
}

impl ProcessStream {
    /// Takes messages of at most `limit` bytes, which are charged as they are held. A write takes `write` at the most.
    pub(super) fn new(mut session: HttpSession, limit: usize, charge: MemoryCharge, write: Duration) -> Self {
        session.set_write_timeout(Some(write));
        Self { session, reader: FrameReader::new(limit), charge, ended: false, begun: false }
    }

    /// The next message, for which it waits so long; `None`: the proxy has sent its last.
    ///
    /// # Errors
    /// Nothing more comes of this stream.
    pub(super) async fn next(
        &mut self,
        patience: Duration,
    ) -> Result<Option<ProcessingRequest>, StreamFault> {
        timeout(patience, self.read()).await.map_err(|_| StreamFault::Silent)?
    }

    async fn read(&mut self) -> Result<Option<ProcessingRequest>, StreamFault> {
        loop {
            if let Some(message) = self.reader.next()? {
                self.charge.set(self.reader.held() + message.len())?;
                return ProcessingRequest::decode(message).map(Some).map_err(|_| StreamFault::Garbage);
            }
            if self.ended {
                // Half a message is none.
                return if self.reader.held() == 0 { Ok(None) } else { Err(StreamFault::Garbage) };
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), StreamFault> {
        match self.session.read_body_bytes().await {
            Ok(Some(bytes)) => {
                self.charge.set(self.reader.held() + bytes.len())?;
                self.reader.push(&bytes);
                Ok(())
            }
            Ok(None) => {
                self.ended = true;
                Ok(())
            }
            Err(_) => Err(StreamFault::Left),
        }
    }

    /// Does `work`, but not for a proxy that leaves meanwhile: it waits for what comes of it, and says so by staying.
    ///
    /// # Errors
    /// [`StreamFault::Left`], or what the proxy sends ahead has no room.
    pub(super) async fn unless_left<T>(&mut self, work: impl Future<Output = T>) -> Result<T, StreamFault> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            fault = self.leaves() => Err(fault),
        }
    }

    async fn leaves(&mut self) -> StreamFault {
        loop {
            if self.ended {
                return StreamFault::Left;
            }
            if self.reader.held() > AHEAD {
                drop(self.session.idle().await);
                return StreamFault::Left;
            }
            if let Err(fault) = self.more().await {
                return fault;
            }
        }
    }

    /// Tells the proxy something.
    ///
    /// # Errors
    /// [`StreamFault::Left`].
    pub(super) async fn send(&mut self, response: &ProcessingResponse) -> Result<(), StreamFault> {
        self.begin().map_err(|_| StreamFault::Left)?;
        let written = self.session.write_body(framed(response), false).await;
        written.map_err(|_| StreamFault::Left)
    }

    fn begin(&mut self) -> Result<(), Box<Error>> {
        if !std::mem::replace(&mut self.begun, true) {
            let mut head = ResponseHeader::build(StatusCode::OK, Some(1))?;
            head.insert_header(CONTENT_TYPE, "application/grpc+proto")?;
            self.session.write_response_header(Box::new(head), false)?;
        }
        Ok(())
    }

    /// Ends the stream; `why` is for whoever looks after the proxy.
    pub(super) fn end(&mut self, status: GrpcStatus, why: &'static str) {
        let ended = self.begin().and_then(|()| self.session.write_trailers(trailers(status, why)));
        if ended.is_err() {
            self.session.shutdown();
        }
    }

    /// Ends the stream so that nobody takes it for one that went well.
    pub(super) fn reset(&mut self) {
        self.session.shutdown();
    }
}

/// What ends a stream (gRPC over HTTP/2, "Trailers").
pub(super) fn trailers(status: GrpcStatus, why: &'static str) -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(2);
    trailers.insert("grpc-status", HeaderValue::from(status as u16));
    if !why.is_empty() {
        trailers.insert("grpc-message", HeaderValue::from_static(why));
    }
    trailers
}

/// An answer to what no stream comes of.
///
/// # Errors
/// Pingora's: the caller has left.
pub(super) fn refuse(
    session: &mut HttpSession,
    status: GrpcStatus,
    why: &'static str,
) -> Result<(), Box<Error>> {
    let mut head = ResponseHeader::build(StatusCode::OK, Some(3))?;
    head.insert_header(CONTENT_TYPE, "application/grpc+proto")?;
    for (name, value) in trailers(status, why) {
        if let Some(name) = name {
            head.insert_header(name, value)?;
        }
    }
    session.write_response_header(Box::new(head), true)
}
