//! [`Dialer`]: chooses the peers of a request, and sees what goes there and comes back. [`PoolDialer`] chooses from a pool
//! of the configuration.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use pingora::http::{RequestHeader, ResponseHeader};
use pingora::proxy::Session;
use pingora::upstreams::peer::{HttpPeer, Peer};
use pingora::{Error, ErrorSource, ErrorType};

use crate::gateway::error::GatewayError;
use crate::gateway::upstream::{Attempt, Credentials, Permit, SendProgress, TriedPeers, Upstream, is_ours};
use crate::telemetry::UpstreamFailure;

/// A head that cannot be written.
const UNSENDABLE: GatewayError = GatewayError::BadBody("the request's head cannot be forwarded");

/// How long an exchange may take.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From the end of the request to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// Silence within the answer.
    pub read: Option<Duration>,
    /// A write that does not move.
    pub write: Option<Duration>,
    /// All of it, from the first attempt on.
    pub total: Option<Duration>,
}

/// How far an attempt came that failed.
#[derive(Clone, Copy)]
pub struct DialProgress<'a> {
    /// Where it went.
    pub peer: &'a HttpPeer,
    /// Whether there was a connection.
    pub connected: bool,
    /// Whether the connection was kept from before.
    pub reused: bool,
    /// Whether the head never left as a whole.
    pub unsent: bool,
    /// The request's method.
    pub method: &'a Method,
}

/// What a collected request asks on its way.
#[async_trait]
pub trait Dialer: Send {
    /// Leave to send it; may wait.
    async fn admit(&mut self) -> Result<(), GatewayError> {
        Ok(())
    }

    /// Where the next attempt goes.
    async fn peer(&mut self, session: &mut Session) -> Result<HttpPeer, GatewayError>;

    /// How long it may take there.
    fn times(&self, peer: &HttpPeer) -> Times;

    /// Makes the caller's head one for that peer.
    async fn head(&mut self, session: &mut Session, head: &mut RequestHeader) -> Result<(), GatewayError>;

    /// The body as it leaves.
    async fn body(&mut self, _: &mut Session, body: Bytes) -> Result<Bytes, GatewayError> {
        Ok(body)
    }

    /// Signs a request whose head and body are as they leave.
    fn sign(&mut self, _: &mut RequestHeader, _: &[u8]) -> Result<(), GatewayError> {
        Ok(())
    }

    /// An attempt failed. `Ok`: there is to be another.
    fn failed(
        &mut self,
        session: &mut Session,
        error: Box<Error>,
        how: DialProgress<'_>,
    ) -> Result<(), GatewayError>;

    /// The head of the answer, before the chain sees it.
    async fn answer_head(
        &mut self,
        session: &mut Session,
        head: &mut ResponseHeader,
    ) -> Result<(), GatewayError>;

    /// A piece of the answer, before the chain sees it.
    fn answer_piece(&mut self, _: &mut Session, _: &mut Option<Bytes>, _: bool) -> Result<(), GatewayError> {
        Ok(())
    }

    /// The answer broke off.
    fn broken(&mut self, error: &Error) -> GatewayError;
}

/// The way to a pool.
pub struct PoolDialer {
    upstream: Arc<Upstream>,
    permit: Option<Permit>,
    tried: TriedPeers,
    attempts: usize,
    attempt: Option<Attempt>,
    /// What `Host` says to the peer of this attempt.
    authority: Option<HeaderValue>,
    /// What the peer is shown in this attempt that callers do not have.
    credentials: Arc<Credentials>,
}

impl PoolDialer {
    /// To this pool.
    pub fn new(upstream: Arc<Upstream>) -> Self {
        Self {
            upstream,
            permit: None,
            tried: TriedPeers::default(),
            attempts: 0,
            attempt: None,
            authority: None,
            credentials: Arc::default(),
        }
    }

    /// The pool.
    pub fn upstream(&self) -> &Arc<Upstream> {
        &self.upstream
    }

    /// Leave to send; may wait.
    ///
    /// # Errors
    /// The pool's breaker is open, or it is full.
    pub async fn enter(&mut self) -> Result<(), GatewayError> {
        self.permit = Some(self.upstream.admit().await?);
        Ok(())
    }

    /// Where the next attempt goes.
    ///
    /// # Errors
    /// Nobody takes requests, no address is known, or the vault does not give what the upstream is to be shown.
    pub async fn next(&mut self) -> Result<HttpPeer, GatewayError> {
        self.attempts += 1;
        self.credentials = self.upstream.credentials().await?;
        let chosen = self.upstream.choose(&mut self.tried).await.inspect_err(|fault| {
            if let (GatewayError::Upstream(_), Some(permit)) = (fault, &mut self.permit) {
                permit.record(false);
            }
        })?;
        let Some(peer) = chosen.dial() else { return Err(self.upstream.failed(UpstreamFailure::Connect)) };
        self.attempt = Some(Attempt::begin(&self.upstream, &chosen, self.attempts > 1));
        self.authority = Some(chosen.authority.clone());
        Ok(peer.clone())
    }

    /// Makes the caller's head one for the peer of this attempt.
    ///
    /// # Errors
    /// Pingora's, for a head that cannot be written.
    pub fn apply_headers(&self, head: &mut RequestHeader) -> Result<(), Box<Error>> {
        match &self.authority {
            Some(authority) => self.upstream.apply_headers(head, authority, &self.credentials),
            None => Ok(()),
        }
    }

    /// The head of the answer is there.
    pub fn answered(&mut self, status: StatusCode) {
        if let Some(attempt) = &mut self.attempt {
            attempt.answered(status, self.permit.as_mut());
        }
    }

    /// The peer let the request down for this reason, and no other is tried.
    pub fn lost(&mut self, error: &Error, peer: &HttpPeer) {
        self.upstream.tell(&peer.address().to_string(), error);
        self.record_failure();
    }

    /// The peer let the request down, and no other is tried.
    pub fn record_failure(&mut self) {
        if let Some(attempt) = &mut self.attempt {
            attempt.failed();
        }
        if let Some(permit) = &mut self.permit {
            permit.record(false);
        }
    }

    /// An attempt failed. Whether there is to be another; the failure is counted then, else when the caller is answered.
    /// One for which this process has no file descriptor is nobody else's failure.
    pub fn again(&mut self, error: &Error, how: DialProgress<'_>) -> bool {
        if *error.esource() == ErrorSource::Downstream {
            return false;
        }
        self.upstream.tell(&how.peer.address().to_string(), error);
        if is_ours(error) {
            return false;
        }
        if let Some(attempt) = self.attempt.as_mut().filter(|_| !how.connected) {
            attempt.unreachable();
        }
        // Where nothing answers, each address costs a whole wait.
        let waited = how.connected || error.etype() == &ErrorType::ConnectTimedout;
        let again = self.attempts < self.upstream.attempts(waited)
            && (!how.connected
                || self.upstream.repeats(
                    error,
                    how.method,
                    SendProgress { unsent: how.unsent, reused: how.reused },
                ));
        if again {
            if let Some(mut attempt) = self.attempt.take().filter(|_| how.connected) {
                attempt.failed();
            }
            drop(self.upstream.error(error));
        } else {
            self.record_failure();
        }
        again
    }
}

#[async_trait]
impl Dialer for PoolDialer {
    async fn admit(&mut self) -> Result<(), GatewayError> {
        self.enter().await
    }

    async fn peer(&mut self, _: &mut Session) -> Result<HttpPeer, GatewayError> {
        self.next().await
    }

    fn times(&self, _: &HttpPeer) -> Times {
        let times = &self.upstream.dialing().times;
        Times {
            first_byte: Some(times.first_byte()),
            read: Some(times.read.get()),
            write: Some(times.write.get()),
            total: times.total(),
        }
    }

    async fn head(&mut self, _: &mut Session, head: &mut RequestHeader) -> Result<(), GatewayError> {
        self.apply_headers(head).map_err(|_| UNSENDABLE)
    }

    fn sign(&mut self, head: &mut RequestHeader, body: &[u8]) -> Result<(), GatewayError> {
        self.upstream.sign(head, body, &self.credentials).map_err(|_| UNSENDABLE)
    }

    fn failed(
        &mut self,
        _: &mut Session,
        error: Box<Error>,
        how: DialProgress<'_>,
    ) -> Result<(), GatewayError> {
        if self.again(&error, how) { Ok(()) } else { Err(self.upstream.error(&error)) }
    }

    async fn answer_head(&mut self, _: &mut Session, head: &mut ResponseHeader) -> Result<(), GatewayError> {
        self.answered(head.status);
        Ok(())
    }

    fn broken(&mut self, error: &Error) -> GatewayError {
        let peer = self.authority.as_ref().and_then(|authority| authority.to_str().ok());
        self.upstream.tell(peer.unwrap_or_default(), error);
        self.record_failure();
        self.upstream.error(error)
    }
}
