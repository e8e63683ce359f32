//! One connection, from its first byte to its last: who is behind it, TLS, which protocol, and of HTTP/1 one request
//! after the other, each judged before Pingora sees any of it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::Duration;

use bytes::Buf;
use pingora::apps::{HttpServerApp, ServerApp};
use pingora::protocols::http::ServerSession;
use pingora::protocols::l4::stream::Stream as Plain;
use pingora::protocols::{ALPN, GetSocketDigest, SocketDigest, Stream};
use pingora::server::ShutdownWatch;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::api::envelope::Stamp;
use crate::base::id::RequestId;
use crate::crypto::random;
use crate::gateway::listen::connections::ConnectionSlot;
use crate::gateway::listen::early_reject::{EarlyRequest, early_reject, wire};
use crate::gateway::listen::filtered_stream::FilteredStream;
use crate::gateway::listen::frames::PREFACE;
use crate::gateway::listen::head::{self, HeadRefusal, JudgedHead};
use crate::gateway::listen::proxied;
use crate::gateway::listen::service::Listener;
use crate::telemetry::{ConnectionState, FrontMetrics, GaugeGuard, HttpVersion, Refusal};

/// How long a connection without a request is kept once the process drains: its caller may just be sending one, which
/// is answered, with `Connection: close`.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// What whoever speaks HTTP/1 is told where other proxies have their exchanges processed.
const ONLY_GRPC: &[u8] =
    b"HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

impl Listener {
    /// Serves one connection to its end.
    pub(super) async fn connection(
        &self,
        tcp: TcpStream,
        peer: SocketAddr,
        mut slot: ConnectionSlot,
        shutdown: &ShutdownWatch,
    ) {
        let mut gauge = ConnectionGauge::new(&self.metrics, ConnectionState::Opening);
        // Answers are gathered before they are written.
        drop(tcp.set_nodelay(true));
        let digest = SocketDigest::from_raw_fd(tcp.as_raw_fd());
        let mut plain = Plain::from(tcp);
        let client = match self.client(&mut plain, peer, &mut slot).await {
            Ok(client) => client,
            Err(why) => return self.metrics.refused.inc(why),
        };
        drop(digest.peer_addr.set(Some(client.into())));
        plain.set_socket_digest(digest);
        let stream: Stream = match &self.tls {
            None => Box::new(plain),
            Some(tls) => {
                let acceptor = tls.acceptor();
                match timeout(self.limits.head_time, acceptor.tls_handshake(plain)).await {
                    Ok(Ok(stream)) => Box::new(stream),
                    Ok(Err(error)) => {
                        tracing::debug!(target: "portcullis::gateway", "no handshake: {error}");
                        return self.metrics.refused.inc(Refusal::Handshake);
                    }
                    Err(_) => return self.metrics.refused.inc(Refusal::Handshake),
                }
            }
        };
        let negotiated = stream.selected_alpn_proto() == Some(ALPN::H2);
        let beyond = slot.probe().map(|probe| probe.beyond);
        let mut filtered = Box::new(FilteredStream::new(stream, &self.limits, slot, &self.metrics));
        let two = negotiated || self.h2c && self.prior_knowledge(&mut filtered).await;
        if let (true, Some(full)) = (two, beyond) {
            // Probes are told by a head of HTTP/1.
            return self.metrics.refused.inc(full.refusal());
        }
        self.metrics.accepted.inc(if two { HttpVersion::Two } else { HttpVersion::One });
        if two {
            gauge.turn(ConnectionState::Active);
            filtered.upgrade(&self.limits);
            self.streams(filtered, shutdown).await;
        } else if self.is_processor() {
            self.metrics.refused.inc(Refusal::Framing);
            filtered.answer_and_close(ONLY_GRPC).await;
        } else {
            self.requests(filtered, client.ip(), gauge, shutdown).await;
        }
    }

    /// HTTP/2.
    async fn streams(&self, filtered: Box<FilteredStream>, shutdown: &ShutdownWatch) {
        #[cfg(feature = "ext_proc")]
        if let Some(processor) = &self.processor {
            return drop(processor.process_new(filtered, shutdown).await);
        }
        drop(self.app.process_new(filtered, shutdown).await);
    }

    /// Whether only other proxies are served here.
    fn is_processor(&self) -> bool {
        #[cfg(feature = "ext_proc")]
        return self.processor.is_some();
        #[cfg(not(feature = "ext_proc"))]
        false
    }

    /// Whose connection it is: the peer's, or that of whom a proxy before us names.
    async fn client(
        &self,
        plain: &mut Plain,
        peer: SocketAddr,
        slot: &mut ConnectionSlot,
    ) -> Result<SocketAddr, Refusal> {
        if !self.proxied {
            return Ok(peer);
        }
        if !self.clients.trusts(peer.ip()) {
            return Err(Refusal::ProxyHead);
        }
        match timeout(self.limits.head_time, proxied::read(plain)).await {
            Ok(Ok(None)) => Ok(peer),
            Ok(Ok(Some(client))) => slot.give_to(client.ip()).map(|()| client).map_err(|full| full.refusal()),
            Ok(Err(_)) | Err(_) => Err(Refusal::ProxyHead),
        }
    }

    /// Whether the first bytes are the preface of HTTP/2 (RFC 9113 section 3.3).
    async fn prior_knowledge(&self, filtered: &mut FilteredStream) -> bool {
        let deadline = Instant::now() + self.limits.head_time;
        while filtered.raw.len() < PREFACE.len() && PREFACE.starts_with(&filtered.raw) {
            match timeout_at(deadline, filtered.more()).await {
                Ok(Ok(read)) if read > 0 => {}
                _ => return false,
            }
        }
        filtered.raw.starts_with(PREFACE)
    }

    /// HTTP/1: one request after the other.
    async fn requests(
        &self,
        mut filtered: Box<FilteredStream>,
        peer: IpAddr,
        mut gauge: ConnectionGauge<'_>,
        shutdown: &ShutdownWatch,
    ) {
        let mut patience = self.limits.head_time;
        let beyond = filtered.slot.as_ref().and_then(ConnectionSlot::probe).map(|probe| probe.beyond);
        loop {
            gauge.turn(ConnectionState::Idle);
            let closes = match self.head(&mut filtered, patience, shutdown).await {
                Ok(Some((head, JudgedHead { framing, closes }))) => {
                    gauge.turn(ConnectionState::Active);
                    if let Some(full) = beyond
                        && !head::is_probe(filtered.raw.get(..head).unwrap_or_default())
                    {
                        return self.metrics.refused.inc(full.refusal());
                    }
                    let asked = EarlyRequest { head, framing, peer };
                    match self.early_reject(&mut filtered, asked, shutdown).await {
                        None => filtered.show(head, framing),
                        Some(false) => return,
                        Some(true) => {
                            patience = self.limits.idle;
                            continue;
                        }
                    }
                    closes || beyond.is_some()
                }
                Ok(None) => return,
                Err(refused) => {
                    self.metrics.refused.inc(refused.refusal());
                    let answer = self.refusal(refused);
                    return filtered.answer_and_close(&answer).await;
                }
            };
            patience = self.limits.idle;
            let mut session = ServerSession::new_http1(filtered);
            session.set_keepalive(Some(patience.as_secs()));
            if closes {
                session.set_keepalive_reuses_remaining(Some(0));
            }
            let Some(reused) = self.app.process_new_http(session, shutdown).await else { return };
            let (stream, _) = reused.consume();
            let Ok(next) = stream.into_any().downcast::<FilteredStream>() else { return };
            if !next.reusable() {
                return;
            }
            filtered = next;
        }
    }

    /// As [`early_reject`], but for a process that drains: the chain says that the answer is the connection's last.
    async fn early_reject(
        &self,
        filtered: &mut FilteredStream,
        asked: EarlyRequest,
        shutdown: &ShutdownWatch,
    ) -> Option<bool> {
        if *shutdown.borrow() || !self.gateway.is_full() {
            return None;
        }
        Box::pin(early_reject(&self.gateway, filtered, &self.metrics, asked)).await
    }

    /// Reads a head; its length, and what it says of what comes after it. `None`: the caller left, or had nothing to say.
    async fn head(
        &self,
        filtered: &mut FilteredStream,
        patience: Duration,
        shutdown: &ShutdownWatch,
    ) -> Result<Option<(usize, JudgedHead)>, HeadRefusal> {
        if filtered.raw.is_empty() && !first_byte(filtered, patience, shutdown).await {
            return Ok(None);
        }
        let deadline = Instant::now() + self.limits.head_time;
        let mut line = 0;
        loop {
            if line == 0 {
                filtered.raw.advance(head::skip_empty_lines(&filtered.raw)?);
            }
            let end = head::end(&filtered.raw, &mut line)?;
            if end.unwrap_or(filtered.raw.len()) > self.limits.head {
                return Err(HeadRefusal::TooLarge);
            }
            if let Some(end) = end {
                let whole = filtered.raw.get(..end).unwrap_or_default();
                return Ok(Some((end, head::judge(whole, self.limits.fields)?)));
            }
            match timeout_at(deadline, filtered.more()).await {
                Ok(Ok(read)) if read > 0 => {}
                Ok(_) => return Ok(None),
                Err(_) => return Err(HeadRefusal::Slow),
            }
        }
    }

    /// The answer to a head that goes nowhere.
    fn refusal(&self, refused: HeadRefusal) -> Vec<u8> {
        let id = RequestId::from_random(random::bytes().unwrap_or_default());
        let now = self.clock.now();
        let answer = refused.error().answer(&Stamp { id: &id, received: now, answered: now });
        tracing::debug!(target: "portcullis::gateway", request_id = %id, status = answer.status.as_u16(), "head refused");
        wire(&answer, false)
    }
}

/// A connection as it is counted, until it is dropped.
struct ConnectionGauge<'a>(&'a FrontMetrics, GaugeGuard);

impl<'a> ConnectionGauge<'a> {
    fn new(metrics: &'a FrontMetrics, state: ConnectionState) -> Self {
        Self(metrics, metrics.connections.during(state))
    }

    fn turn(&mut self, state: ConnectionState) {
        self.1 = self.0.connections.during(state);
    }
}

/// Waits for the first byte of a request.
async fn first_byte(filtered: &mut FilteredStream, patience: Duration, shutdown: &ShutdownWatch) -> bool {
    let mut stopping = shutdown.clone();
    let read = tokio::select! {
        biased;
        read = filtered.more() => read,
        () = sleep(patience) => return false,
        () = async { drop(stopping.wait_for(|&over| over).await) } => match timeout(CLOSE_TIMEOUT, filtered.more()).await {
            Ok(read) => read,
            Err(_) => return false,
        },
    };
    matches!(read, Ok(bytes) if bytes > 0)
}
