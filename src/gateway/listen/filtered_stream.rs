//! The stream that Pingora gets: it shows of a connection only what has been judged. Of HTTP/1 that is one request at a
//! time, its body put in one form, and nothing of the next before this one is answered; of HTTP/2 it is every byte, the
//! frames counted as they pass. Either way a caller that is too slow is cut off.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use bytes::{Buf, BytesMut};
use pingora::protocols::raw_connect::ProxyDigest;
use pingora::protocols::tls::{SslDigest, TlsRef};
use pingora::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, Stream,
    TimingDigest, UniqueID, UniqueIDType,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use crate::gateway::listen::chunks::Chunks;
use crate::gateway::listen::connections::{ConnectionSlot, CutOff};
use crate::gateway::listen::frames::{Abuse, Frames};
use crate::gateway::listen::head::Framing;
use crate::gateway::listen::limits::ListenLimits;
use crate::gateway::listen::linger::{LINGER, linger};
use crate::gateway::min_rate::MinRate;
use crate::telemetry::{FrontMetrics, Refusal};

/// What is read at once where the bytes must be looked at, and what is gathered before it is written, in bytes.
const BLOCK: usize = 4 << 10;

/// What is read at once where a request begins, in bytes: most are smaller as a whole.
const FIRST: usize = 16 << 10;

/// A connection under these rules.
pub(super) struct FilteredStream {
    /// Only `None` while it is dropped.
    inner: Option<Stream>,
    /// Read, and not yet judged or not yet due.
    pub(super) raw: BytesMut,
    /// Judged, and due.
    ready: BytesMut,
    /// To be written with what follows.
    out: BytesMut,
    protocol: HttpProtocol,
    reads: MinRate,
    writes: MinRate,
    /// Whether nothing of the answer to the current request was written yet.
    unanswered: bool,
    /// Nothing more comes or may come.
    closed: bool,
    pub(super) slot: Option<ConnectionSlot>,
    cut_off: CutOff,
    metrics: Arc<FrontMetrics>,
}

/// What is spoken.
enum HttpProtocol {
    /// HTTP/1, and what is left of the current request's body.
    One(BodyFraming),
    Two(Box<Frames>),
    /// What the request has asked for in the place of HTTP/1: all bytes are due, at any pace.
    Upgraded,
}

/// How the head of an answer begins that agrees to speak another protocol.
const AGREED: &[u8] = b"HTTP/1.1 101 ";

enum BodyFraming {
    Over,
    Length(u64),
    Chunked(Chunks),
}

impl FilteredStream {
    /// Filters a connection that begins with HTTP/1; it holds `slot` to its end.
    pub(super) fn new(
        inner: Stream,
        limits: &ListenLimits,
        slot: ConnectionSlot,
        metrics: &Arc<FrontMetrics>,
    ) -> Self {
        Self {
            inner: Some(inner),
            raw: BytesMut::new(),
            ready: BytesMut::new(),
            out: BytesMut::new(),
            protocol: HttpProtocol::One(BodyFraming::Over),
            reads: MinRate::new(limits.body_rate),
            writes: MinRate::new(limits.write_rate),
            unanswered: false,
            closed: false,
            cut_off: slot.cut_off(),
            slot: Some(slot),
            metrics: Arc::clone(metrics),
        }
    }

    /// From now on it is HTTP/2, its preface still unread.
    pub(super) fn upgrade(&mut self, limits: &ListenLimits) {
        self.ready = self.raw.split();
        self.protocol = HttpProtocol::Two(Box::new(Frames::new(limits.head_time)));
    }

    /// Reads more of what must be judged first; 0 at the end.
    pub(super) async fn more(&mut self) -> io::Result<usize> {
        if self.raw.is_empty() {
            // Who waits for a request holds no room for it.
            self.raw = BytesMut::new();
        }
        poll_fn(|context| self.poll_more(context)).await
    }

    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(Ok(0)) };
        let mut block = [MaybeUninit::uninit(); FIRST];
        let mut buf = ReadBuf::uninit(&mut block);
        ready!(Pin::new(inner).poll_read(context, &mut buf))?;
        self.raw.extend_from_slice(buf.filled());
        self.closed |= buf.filled().is_empty();
        Poll::Ready(Ok(buf.filled().len()))
    }

    /// Answers without Pingora, between two requests.
    ///
    /// # Errors
    /// The caller's system does not take it.
    pub(super) async fn write_answer(&mut self, answer: &[u8]) -> io::Result<()> {
        let Some(inner) = &mut self.inner else { return Ok(()) };
        inner.write_all(answer).await?;
        inner.flush().await
    }

    /// Shows a judged head, the first `length` bytes of what was read, and then the body that it promises.
    pub(super) fn show(&mut self, length: usize, framing: Framing) {
        self.ready = self.raw.split_to(length.min(self.raw.len()));
        self.reads.renew();
        self.writes.renew();
        self.unanswered = true;
        self.protocol = HttpProtocol::One(match framing {
            Framing::Empty => BodyFraming::Over,
            Framing::Length(length) => BodyFraming::Length(length),
            Framing::Chunked => BodyFraming::Chunked(Chunks::default()),
        });
    }

    /// Whether another request may follow: the last one was read whole.
    pub(super) fn reusable(&self) -> bool {
        !self.closed && self.ready.is_empty() && matches!(self.protocol, HttpProtocol::One(BodyFraming::Over))
    }

    /// Answers without Pingora and ends.
    pub(super) async fn answer_and_close(mut self: Box<Self>, answer: &[u8]) {
        if timeout(LINGER, self.write_answer(answer)).await.is_err() {
            self.closed = true;
        }
    }

    fn poll_inner(&mut self, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(Ok(())) };
        let before = buf.filled().len();
        let read = ready!(Pin::new(inner).poll_read(context, buf));
        let bytes = buf.filled().len() - before;
        self.closed |= bytes == 0;
        self.reads.moved(bytes);
        Poll::Ready(read)
    }

    /// Reads at most `most` bytes straight into the buffer of the reader.
    fn poll_straight(
        &mut self,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        most: u64,
    ) -> Poll<io::Result<usize>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buf.remaining());
        let mut limited = ReadBuf::new(buf.initialize_unfilled_to(most));
        ready!(self.poll_paced(context, &mut limited))?;
        let read = limited.filled().len();
        buf.advance(read);
        Poll::Ready(Ok(read))
    }

    /// Reads for a body, at the least rate: only the caller is waited for.
    fn poll_paced(&mut self, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.poll_inner(context, buf) {
            Poll::Pending => {
                ready!(self.reads.poll_over(context));
                self.refused(Refusal::SlowBody);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            done => done,
        }
    }

    /// Reads what must be judged; 0 at the end.
    fn poll_raw(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut block = [0; BLOCK];
        let mut buf = ReadBuf::new(&mut block);
        ready!(self.poll_paced(context, &mut buf))?;
        self.raw.extend_from_slice(buf.filled());
        Poll::Ready(Ok(buf.filled().len()))
    }

    fn poll_one(&mut self, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            if !self.ready.is_empty() {
                let here = self.ready.len().min(buf.remaining());
                buf.put_slice(&self.ready.split_to(here));
                return Poll::Ready(Ok(()));
            }
            let HttpProtocol::One(body) = &mut self.protocol else { return Poll::Ready(Ok(())) };
            match body {
                BodyFraming::Over => return self.poll_silence(context),
                BodyFraming::Length(left) if self.raw.is_empty() => {
                    let most = *left;
                    let read = ready!(self.poll_straight(context, buf, most))? as u64;
                    self.body_passed(most - read.min(most));
                    return Poll::Ready(Ok(()));
                }
                BodyFraming::Length(left) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX).min(self.raw.len());
                    self.ready = self.raw.split_to(here);
                    let left = left.saturating_sub(here as u64);
                    self.body_passed(left);
                }
                BodyFraming::Chunked(chunks) if chunks.plain() > 0 && self.raw.is_empty() => {
                    let most = chunks.plain();
                    let read = ready!(self.poll_straight(context, buf, most))?;
                    if let HttpProtocol::One(BodyFraming::Chunked(chunks)) = &mut self.protocol {
                        chunks.passed(read);
                    }
                    return Poll::Ready(Ok(()));
                }
                BodyFraming::Chunked(chunks) => {
                    let judged = chunks.read(&mut self.raw, &mut self.ready);
                    let over = chunks.over();
                    if judged.is_err() {
                        self.refused(Refusal::Framing);
                        return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
                    }
                    if over {
                        self.body_passed(0);
                    } else if self.ready.is_empty() && ready!(self.poll_raw(context))? == 0 {
                        return Poll::Ready(Ok(()));
                    }
                }
            }
        }
    }

    /// So much of the body is left.
    pub(super) fn body_passed(&mut self, left: u64) {
        self.protocol =
            HttpProtocol::One(if left == 0 { BodyFraming::Over } else { BodyFraming::Length(left) });
    }

    /// The request is over: a reader that goes on waits for the caller to leave. What it sends instead is kept for
    /// later, and of that not too much.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.closed && self.raw.len() < BLOCK {
            let mut block = [0; BLOCK];
            let mut buf = ReadBuf::new(&mut block);
            ready!(self.poll_inner(context, &mut buf))?;
            self.raw.extend_from_slice(buf.filled());
        }
        if self.closed { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    /// What came before the answer that agreed is due first.
    fn poll_upgraded(&mut self, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ready.is_empty() {
            self.ready = self.raw.split();
        }
        if self.ready.is_empty() {
            return self.poll_inner(context, buf);
        }
        let here = self.ready.len().min(buf.remaining());
        buf.put_slice(&self.ready.split_to(here));
        Poll::Ready(Ok(()))
    }

    fn poll_two(&mut self, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let waits = matches!(&self.protocol, HttpProtocol::Two(frames) if !frames.begun());
        if !self.ready.is_empty() {
            let here = self.ready.len().min(buf.remaining());
            buf.put_slice(&self.ready.split_to(here));
        } else if waits {
            ready!(self.poll_paced(context, buf))?;
        } else {
            ready!(self.poll_inner(context, buf))?;
        }
        let HttpProtocol::Two(frames) = &mut self.protocol else { return Poll::Ready(Ok(())) };
        match frames.came(buf.filled().get(before..).unwrap_or_default()) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(abuse) => {
                buf.set_filled(before);
                self.cut_off(context, abuse);
                Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
            }
        }
    }

    /// Says why, as far as the caller still reads, and takes no more.
    fn cut_off(&mut self, context: &mut Context<'_>, abuse: Abuse) {
        tracing::info!(target: "portcullis::gateway", "an HTTP/2 connection is cut off: {}", abuse.word());
        let HttpProtocol::Two(frames) = &self.protocol else { return };
        if frames.between() {
            self.out.extend_from_slice(&frames.goodbye(abuse));
        }
        drop(self.poll_out(context));
        self.refused(if abuse.is_flood() { Refusal::Flood } else { Refusal::Framing });
    }

    /// It ends here, once.
    fn refused(&mut self, why: Refusal) {
        if !self.closed {
            self.metrics.refused.inc(why);
        }
        self.closed = true;
    }

    /// Writes what has been gathered.
    fn poll_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            let Some(inner) = &mut self.inner else { break };
            let wrote = Pin::new(inner).poll_write(context, &self.out);
            match ready!(self.poll_moved(context, wrote))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                wrote => self.out.advance(wrote),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// A write that does not move is given up in time.
    fn poll_moved(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Ready(Ok(bytes)) => {
                self.writes.moved(bytes);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.cut_off.check(context)?;
                ready!(self.writes.poll_over(context));
                self.refused(Refusal::SlowReader);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for FilteredStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.cut_off.check(context)?;
        match this.protocol {
            HttpProtocol::One(_) => this.poll_one(context, buf),
            HttpProtocol::Two(_) => this.poll_two(context, buf),
            HttpProtocol::Upgraded => this.poll_upgraded(context, buf),
        }
    }
}

impl AsyncWrite for FilteredStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // A session still says that it ends, as far as that goes at once.
        if !matches!(this.protocol, HttpProtocol::Upgraded) {
            this.cut_off.check(context)?;
        }
        if std::mem::take(&mut this.unanswered) && bytes.starts_with(AGREED) {
            this.protocol = HttpProtocol::Upgraded;
        }
        if this.out.len() + bytes.len() <= BLOCK {
            this.out.extend_from_slice(bytes);
        } else {
            ready!(this.poll_out(context))?;
        }
        let taken = if this.out.is_empty() {
            let Some(inner) = &mut this.inner else { return Poll::Ready(Ok(bytes.len())) };
            let wrote = Pin::new(inner).poll_write(context, bytes);
            ready!(this.poll_moved(context, wrote))?
        } else {
            bytes.len()
        };
        if let HttpProtocol::Two(frames) = &mut this.protocol {
            frames.went(bytes.get(..taken).unwrap_or_default());
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_out(context))?;
        let Some(inner) = &mut this.inner else { return Poll::Ready(Ok(())) };
        Pin::new(inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_out(context))?;
        let Some(inner) = &mut this.inner else { return Poll::Ready(Ok(())) };
        Pin::new(inner).poll_shutdown(context)
    }
}

impl Drop for FilteredStream {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else { return };
        let unread = match &self.protocol {
            HttpProtocol::One(BodyFraming::Over) => !self.raw.is_empty() || !self.ready.is_empty(),
            HttpProtocol::One(_) => true,
            // GOAWAY is to arrive, whatever else was on its way here.
            HttpProtocol::Two(_) | HttpProtocol::Upgraded => true,
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if unread || !self.out.is_empty() {
            let (rest, slot) = (self.out.split(), self.slot.take());
            runtime.spawn(async move {
                drop(timeout(LINGER, Box::pin(linger(inner, &rest))).await);
                drop(slot);
            });
        }
    }
}

impl fmt::Debug for FilteredStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteredStream").finish_non_exhaustive()
    }
}

#[async_trait]
impl Shutdown for FilteredStream {
    async fn shutdown(&mut self) {
        drop(AsyncWriteExt::shutdown(self).await);
    }
}

impl UniqueID for FilteredStream {
    fn id(&self) -> UniqueIDType {
        self.inner.as_ref().map_or(0, |inner| inner.id())
    }
}

impl Ssl for FilteredStream {
    fn get_ssl(&self) -> Option<&TlsRef> {
        self.inner.as_ref()?.get_ssl()
    }

    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        self.inner.as_ref()?.get_ssl_digest()
    }

    /// What was negotiated, or what the first bytes show: Pingora asks only here.
    fn selected_alpn_proto(&self) -> Option<ALPN> {
        Some(match self.protocol {
            HttpProtocol::One(_) | HttpProtocol::Upgraded => ALPN::H1,
            HttpProtocol::Two(_) => ALPN::H2,
        })
    }
}

impl GetTimingDigest for FilteredStream {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.inner.as_ref().map(|inner| inner.get_timing_digest()).unwrap_or_default()
    }
}

impl GetProxyDigest for FilteredStream {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.inner.as_ref()?.get_proxy_digest()
    }
}

impl GetSocketDigest for FilteredStream {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.inner.as_ref()?.get_socket_digest()
    }
}

impl Peek for FilteredStream {}
