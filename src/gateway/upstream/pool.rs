//! A pool of peers as good as each other: which of them is next, where it is, and what a request's head says there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use http::Method;
use http::header::{AUTHORIZATION, HOST, HeaderValue};
use pingora::http::RequestHeader;
use pingora::{Error, ErrorType};
use serde::Deserialize;

use crate::api::ApiError;
use crate::base::clock::SharedClock;
use crate::gateway::error::{GatewayError, Unavailable};
use crate::gateway::upstream::addresses::{AddressParts, PeerAddresses};
use crate::gateway::upstream::breaker::{Breaker, Permit};
use crate::gateway::upstream::connect_options::{ConnectOptions, Target};
use crate::gateway::upstream::credentials::{CredentialParts, CredentialSource, Credentials};
use crate::gateway::upstream::failure_times::{FailureTimes, failure_of, is_ours};
use crate::gateway::upstream::headers;
use crate::gateway::upstream::health::{Ejection, PeerHealth};
use crate::gateway::upstream::selected::{DialedAddress, SelectedPeer};
use crate::gateway::upstream::signer::AwsSigner;
use crate::gateway::upstream::sockets::UpstreamSockets;
use crate::gateway::upstream::tried::TriedPeers;
use crate::net::DnsResolver;
use crate::telemetry::{PeerState, UpstreamFailure, UpstreamMetrics};

/// The most addresses that a request is tried at as long as none can be connected to.
const MOST_CONNECTS: usize = 6;

/// Which requests are sent again when their connection ended before a byte of the answer came. What could not be
/// connected, or what an HTTP/2 upstream says it has not looked at, is always sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryPolicy {
    /// On a kept connection those whose method is idempotent (RFC 9110 section 9.2.2).
    #[default]
    Idempotent,
    /// None.
    Unsent,
}

/// What a pool is made from.
pub struct UpstreamParts {
    /// Its name.
    pub name: String,
    /// At least one, each with what is known of it.
    pub targets: Vec<(Target, Arc<PeerHealth>)>,
    /// Put before every path; begins with `/` and does not end with it, or empty.
    pub base: String,
    /// How it is spoken to.
    pub dialing: ConnectOptions,
    /// What it is shown that callers do not have.
    pub credentials: CredentialParts,
    /// Signs requests with a key of ours.
    pub signer: Option<AwsSigner>,
    /// What is sent twice.
    pub repeats: RetryPolicy,
    /// When failures put a peer out.
    pub ejection: Ejection,
    /// What it lets through.
    pub breaker: Arc<Breaker>,
    /// The pool of that name before it: where its names led is used until they are looked up again.
    pub before: Option<Arc<Upstream>>,
    /// Looks up the names of its peers.
    pub resolver: Arc<dyn DnsResolver>,
    /// Connections to all upstreams.
    pub sockets: UpstreamSockets,
    /// Its metrics.
    pub metrics: UpstreamMetrics,
    /// For the age of addresses.
    pub clock: SharedClock,
}

/// A pool of peers.
pub struct Upstream {
    name: String,
    base: String,
    peers: Vec<Peer>,
    next: AtomicUsize,
    dialing: ConnectOptions,
    credentials: CredentialSource,
    /// Whether those prove who we are in the place where a signature would.
    proves: bool,
    signer: Option<AwsSigner>,
    repeats: RetryPolicy,
    ejection: Ejection,
    /// Held while it is decided whether one more peer may be out.
    ejecting: Mutex<()>,
    breaker: Arc<Breaker>,
    sockets: UpstreamSockets,
    metrics: UpstreamMetrics,
    told: Arc<FailureTimes>,
    clock: SharedClock,
}

struct Peer {
    /// What `Host` says.
    authority: HeaderValue,
    addresses: Arc<PeerAddresses>,
    health: Arc<PeerHealth>,
}

impl Peer {
    fn shown(&self) -> &str {
        self.authority.to_str().unwrap_or_default()
    }
}

impl Upstream {
    /// Builds the pool; no name is looked up yet.
    ///
    /// # Errors
    /// A host or header that cannot stand in a head, in words for the log.
    pub fn new(parts: UpstreamParts) -> Result<Self, &'static str> {
        let told = Arc::new(FailureTimes::default());
        let default_port = if parts.dialing.tls.is_some() { 443 } else { 80 };
        let peer = |(target, health): (Target, Arc<PeerHealth>)| {
            let host =
                if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
            let text = if target.port == default_port { host } else { format!("{host}:{}", target.port) };
            let authority = HeaderValue::from_str(&text).map_err(|_| "a peer's host is not a host name")?;
            let addresses = PeerAddresses::new(AddressParts {
                target,
                dialing: parts.dialing.clone(),
                resolver: Arc::clone(&parts.resolver),
                clock: Arc::clone(&parts.clock),
                upstream: parts.name.clone(),
                peer: text,
                told: Arc::clone(&told),
            });
            let before = parts.before.iter().flat_map(|before| &before.peers);
            before.for_each(|before| addresses.inherit(&before.addresses));
            Ok(Peer { authority, addresses: Arc::new(addresses), health })
        };
        let peers = parts.targets.into_iter().map(peer).collect::<Result<Vec<_>, &'static str>>()?;
        Ok(Self {
            name: parts.name,
            base: parts.base,
            peers,
            next: AtomicUsize::new(0),
            dialing: parts.dialing,
            proves: parts.credentials.set(&AUTHORIZATION),
            credentials: CredentialSource::new(parts.credentials)
                .map_err(|_| "a header's value has control characters")?,
            signer: parts.signer,
            repeats: parts.repeats,
            ejection: parts.ejection,
            ejecting: Mutex::new(()),
            breaker: parts.breaker,
            sockets: parts.sockets,
            metrics: parts.metrics,
            told,
            clock: parts.clock,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a URL of one of its peers asks of it, as a route does: without the path that all its targets begin with. `None`
    /// for a URL that leads elsewhere; one without a host leads to whom it came from.
    pub fn asked<'u>(&self, url: &'u str) -> Option<&'u str> {
        let rest = match url.split_once("//") {
            Some(("" | "http:" | "https:", rest)) => {
                let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
                let plain =
                    |text: &'u str| text.strip_suffix(":443").or(text.strip_suffix(":80")).unwrap_or(text);
                let is = |peer: &Peer| {
                    let known = peer.authority.to_str().unwrap_or_default();
                    known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(plain(host))
                };
                self.peers.iter().any(is).then_some(rest)?
            }
            _ => Some(url).filter(|url| url.starts_with('/'))?,
        };
        let asked = rest
            .strip_prefix(self.base.as_str())
            .filter(|asked| asked.is_empty() || asked.starts_with(['/', '?', '#']));
        Some(asked.unwrap_or(rest))
    }

    /// How it is spoken to.
    pub fn dialing(&self) -> &ConnectOptions {
        &self.dialing
    }

    /// How many attempts make sense: each peer once, and a second try where there is only one. As long as connections are
    /// refused at once, each address once, of up to six. `waited`: the last attempt was connected, or had no answer in time.
    pub fn attempts(&self, waited: bool) -> usize {
        let peers = self.peers.len().max(2);
        if waited {
            return peers;
        }
        let addresses: usize = self.peers.iter().map(|peer| peer.addresses.count()).sum();
        peers.max(addresses.min(MOST_CONNECTS))
    }

    /// Its breaker.
    pub fn breaker(&self) -> &Arc<Breaker> {
        &self.breaker
    }

    /// Asks its breaker for leave to send a request; may wait for a place.
    ///
    /// # Errors
    /// [`GatewayError::Unavailable`]; there are as many connections to upstreams as there are file descriptors for.
    pub async fn admit(&self) -> Result<Permit, GatewayError> {
        let permit = self.breaker.admit().await.inspect_err(|fault| {
            if let GatewayError::Unavailable(why) = fault {
                self.metrics.failed(why.failure());
            }
        })?;
        let socket = self.sockets.take().ok_or_else(|| self.no_descriptor())?;
        Ok(permit.holding(socket))
    }

    /// Brings its gauges up to date.
    pub fn show(&self) {
        let now = self.clock.instant();
        for state in [PeerState::Healthy, PeerState::Unhealthy, PeerState::Ejected] {
            let peers = self.peers.iter().filter(|peer| peer.health.state(now) == state).count();
            self.metrics.peers.set(state, peers);
        }
        self.metrics.circuit(self.breaker.circuit());
        self.metrics.in_flight(self.breaker.in_flight());
    }

    /// Chooses a peer that takes requests: each in turn, then each of its addresses in turn; one that `tried` does not
    /// have, if there is one. It has it then. A peer for whose name there is no address is passed over.
    ///
    /// # Errors
    /// No peer takes requests, or no address for its name.
    pub async fn choose(&self, tried: &mut TriedPeers) -> Result<SelectedPeer, GatewayError> {
        for _ in 1..self.peers.len().min(MOST_CONNECTS) {
            match self.next_peer(tried).await {
                Err(GatewayError::Upstream(_)) => {}
                chosen => return chosen,
            }
        }
        self.next_peer(tried).await
    }

    async fn next_peer(&self, tried: &mut TriedPeers) -> Result<SelectedPeer, GatewayError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let place = self.place(turn, tried).ok_or_else(|| {
            self.metrics.failed(UpstreamFailure::Down);
            GatewayError::Unavailable(Unavailable::Down)
        })?;
        tried.add(place);
        self.reach(place, turn / self.peers.len().max(1), tried).await
    }

    /// The first from `turn` on that takes requests: one that was not tried, else one that has an address that was not.
    /// If failures put all of them out, any that checks do not call down.
    fn place(&self, turn: usize, tried: &TriedPeers) -> Option<usize> {
        let now = self.clock.instant();
        let count = self.peers.len();
        let places = || (0..count).map(|step| turn.wrapping_add(step) % count.max(1));
        let state = |place: &usize| self.peers.get(*place).map(|peer| peer.health.state(now));
        let takes = |place: &usize| state(place) == Some(PeerState::Healthy);
        let is_up = |place: &usize| state(place).is_some_and(|state| state != PeerState::Unhealthy);
        let offers = |place: &usize, awake| {
            let peer = self.peers.get(*place);
            peer.is_some_and(|peer| peer.addresses.has_untried(tried, awake))
        };
        let fresh = places().filter(|place| !tried.has(*place)).find(takes);
        fresh
            .or_else(|| places().filter(takes).find(|place| offers(place, true)))
            .or_else(|| places().filter(takes).find(|place| offers(place, false)))
            .or_else(|| places().find(takes))
            .or_else(|| places().find(is_up))
    }

    /// The peer at `place`, whatever is known of it, and the `turn`th of its addresses, or the next that `tried` does not have;
    /// it has it then.
    ///
    /// # Errors
    /// No address for its name.
    pub(super) async fn reach(
        &self,
        place: usize,
        turn: usize,
        tried: &mut TriedPeers,
    ) -> Result<SelectedPeer, GatewayError> {
        let Some(peer) = self.peers.get(place) else { return Err(self.failed(UpstreamFailure::Connect)) };
        let Some(known) = peer.addresses.find(tried).await else {
            self.went(place, false);
            return Err(self.failed(UpstreamFailure::Connect));
        };
        let dial = peer.addresses.pick(&known, tried, turn);
        let chosen = SelectedPeer::new(peer.authority.clone(), place, known, dial);
        if let Some(address) = chosen.dialed().address {
            tried.add_address(address);
        }
        Ok(chosen)
    }

    /// How many addresses of the peer at `place` are worth an attempt.
    pub(super) fn addresses_of(&self, place: usize) -> usize {
        self.peers.get(place).map_or(0, |peer| peer.addresses.count().min(MOST_CONNECTS))
    }

    /// The address of `chosen` could not be connected to: it rests. Returns whether all addresses of the peer do.
    pub(super) fn unreachable(&self, chosen: &DialedAddress) -> bool {
        let (Some(peer), Some(address)) = (self.peers.get(chosen.place), chosen.address) else { return true };
        peer.addresses.unreachable(address)
    }

    /// The address of `chosen` was connected to.
    pub(super) fn reached(&self, chosen: &DialedAddress) {
        if let (Some(peer), Some(address)) = (self.peers.get(chosen.place), chosen.address) {
            peer.addresses.reached(address);
        }
    }

    /// Counts an attempt, and returns when it begins.
    pub(super) fn begin_attempt(&self, again: bool) -> Instant {
        self.metrics.attempt(again);
        self.clock.instant()
    }

    /// The head of an answer came to what was begun then.
    pub(super) fn answers(&self, begun: Instant) {
        let took = self.clock.instant().saturating_duration_since(begun);
        self.metrics.first_byte(took.as_secs_f64());
    }

    /// A request to the peer at `place` went so.
    pub(super) fn went(&self, place: usize, well: bool) {
        let Some(peer) = self.peers.get(place) else { return };
        let now = self.clock.instant();
        if well {
            return peer.health.good(&self.ejection, now);
        }
        if !peer.health.bad(&self.ejection, now) {
            return;
        }
        let _one_at_a_time = self.ejecting.lock().unwrap_or_else(PoisonError::into_inner);
        let out = self.peers.iter().filter(|peer| peer.health.is_out(now)).count();
        if out < self.ejection.most(self.peers.len()) {
            let period = peer.health.eject(&self.ejection, now);
            let (upstream, seconds) = (self.name.as_str(), period.as_secs_f64());
            let peer = peer.shown();
            tracing::warn!(target: "portcullis::upstream", upstream, peer, seconds, "a peer fails and gets no requests");
        }
    }

    /// Records a check of the peer at `place`; `needed` in a row with the same result count. `why` it is not well.
    pub(super) fn checked(&self, place: usize, well: bool, needed: u32, why: &str) {
        let Some(peer) = self.peers.get(place) else { return };
        if peer.health.checked(well, needed) {
            let (upstream, peer) = (self.name.as_str(), peer.shown());
            match well {
                true => {
                    tracing::info!(target: "portcullis::upstream", upstream, peer, "checks call a peer up again")
                }
                false => {
                    tracing::warn!(target: "portcullis::upstream", upstream, peer, why, "checks call a peer down")
                }
            }
        }
    }

    /// Nobody checks its peers any more.
    pub fn unchecked(&self) {
        self.peers.iter().for_each(|peer| peer.health.unchecked());
    }

    /// How many peers there are.
    pub(super) fn size(&self) -> usize {
        self.peers.len()
    }

    /// Whether a request that failed so may be sent again.
    ///
    /// An HTTP/1.1 upstream that closes a kept connection may have read the request before: then only the method says
    /// whether it matters (RFC 9112 section 9.3.1). HTTP/2 says itself what it has not looked at (RFC 9113 sections 6.8
    /// and 8.7).
    pub fn repeats(&self, error: &Error, method: &Method, sent: SendProgress) -> bool {
        let mut why = error.retry;
        why.decide_reuse(sent.reused);
        match error.etype() {
            ErrorType::H2Error | ErrorType::H2Downgrade if why.retry() => true,
            ErrorType::WriteError | ErrorType::H2Error if sent.unsent => true,
            // What came was no HTTP/2, so it may be anything.
            ErrorType::InvalidH2 => false,
            _ => why.retry() && method.is_idempotent() && self.repeats == RetryPolicy::Idempotent,
        }
    }

    /// Counts a failure and names it.
    pub fn failed(&self, kind: UpstreamFailure) -> GatewayError {
        self.metrics.failed(kind);
        GatewayError::Upstream(kind)
    }

    /// Tells the log why a request failed at `peer`.
    pub fn tell(&self, peer: &str, error: &Error) {
        self.told.failure(&self.name, peer, error);
    }

    /// Counts and names the failure behind a Pingora error.
    pub fn error(&self, error: &Error) -> GatewayError {
        if is_ours(error) {
            return self.no_descriptor();
        }
        self.failed(failure_of(error))
    }

    /// This process has no file descriptor for another connection: counts and names that.
    fn no_descriptor(&self) -> GatewayError {
        self.metrics.failed(UpstreamFailure::Full);
        GatewayError::Api(ApiError::Overloaded)
    }

    /// What it is shown now that callers do not have.
    ///
    /// # Errors
    /// The vault does not give it: nothing may be sent then.
    pub async fn credentials(&self) -> Result<Arc<Credentials>, GatewayError> {
        self.credentials.read().await.map_err(|error| {
            let upstream = self.name.as_str();
            tracing::error!(target: "portcullis::upstream", upstream, "no credential for the upstream: {error}");
            GatewayError::Api(ApiError::Internal("upstream credential"))
        })
    }

    /// Makes a caller's head into one for this upstream: its base path and `Host`, no hop-by-hop or forwarding
    /// headers of the caller's, and the pool's own headers.
    ///
    /// # Errors
    /// Pingora's, for a head that cannot be written.
    pub fn apply_headers(
        &self,
        head: &mut RequestHeader,
        authority: &HeaderValue,
        credentials: &Credentials,
    ) -> Result<(), Box<Error>> {
        headers::strip(head);
        head.set_raw_path(&[self.base.as_bytes(), &headers::origin_form(head)].concat())?;
        head.insert_header(HOST, authority.clone())?;
        for (name, value) in &credentials.headers {
            head.insert_header(name.clone(), value.clone())?;
        }
        Ok(())
    }

    /// Whether a request with this head of a caller's is signed with keys of ours: then all of its body must be there, of
    /// at most so many bytes.
    pub fn signs(&self, head: &RequestHeader) -> Option<usize> {
        self.signer.as_ref().filter(|_| !self.proves)?.signs(head)
    }

    /// Signs a request as it is about to leave, if it is signed.
    ///
    /// # Errors
    /// Pingora's, for a head that cannot be written.
    pub fn sign(
        &self,
        head: &mut RequestHeader,
        body: &[u8],
        credentials: &Credentials,
    ) -> Result<(), Box<Error>> {
        match (&self.signer, &credentials.aws) {
            (Some(signer), Some(key)) => signer.sign(head, body, key, self.clock.now()),
            _ => Ok(()),
        }
    }
}

/// How far a request came that failed.
#[derive(Clone, Copy, Debug)]
pub struct SendProgress {
    /// Whether its head never left as a whole.
    pub unsent: bool,
    /// Whether its connection was kept from before.
    pub reused: bool,
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
