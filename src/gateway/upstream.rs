//! Where proxied requests go: a pool of peers as good as each other, their addresses, TLS, time-outs, and the headers
//! that a request has on its way out.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use pingora::http::RequestHeader;
use pingora::protocols::ALPN;
use pingora::upstreams::peer::{HttpPeer, HttpUpstreamRequestPolicy};
use pingora::utils::tls::{WrappedX509, parse_x509};
use pingora::{Error, ErrorType};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::gateway::fault::Fault;
use crate::telemetry::{UpstreamFailure, UpstreamMetrics};

/// How long a name's addresses are used before they are looked up again.
const RESOLVE_EVERY: Duration = Duration::from_secs(30);

/// One peer of a pool.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name or IP address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// How a pool is spoken to.
#[derive(Clone)]
pub struct Dialing {
    /// TLS, and how.
    pub tls: Option<Tls>,
    /// The lowest and highest HTTP major version spoken.
    pub http: (u8, u8),
    /// To connect, TLS included.
    pub connect: Duration,
    /// Silence while we wait for bytes.
    pub read: Duration,
    /// A write that does not move.
    pub write: Duration,
    /// How long an unused connection is kept.
    pub idle: Duration,
}

/// TLS towards a pool.
#[derive(Clone)]
pub struct Tls {
    /// Whether chain and name are checked.
    pub verify: bool,
    /// The name asked for and checked; `None`: the peer's host.
    pub sni: Option<String>,
    /// Authorities trusted instead of the system's.
    pub authorities: Option<Authorities>,
}

/// Certificate authorities, checked.
#[derive(Clone)]
pub struct Authorities(Arc<[WrappedX509]>);

impl Authorities {
    /// Reads a PEM file.
    ///
    /// # Errors
    /// A file that cannot be read or holds no usable authority, in words for the operator.
    pub fn read(path: &Path) -> Result<Self, &'static str> {
        let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|_| "the file of authorities cannot be read as PEM")?;
        let mut store = RootCertStore::empty();
        // Pingora panics on what it cannot parse, so it gets only what rustls has taken.
        let usable = certificates.into_iter().filter(|certificate| store.add(certificate.clone()).is_ok());
        let list: Vec<WrappedX509> = usable.map(|der| WrappedX509::new(der.to_vec(), parse_x509)).collect();
        if list.is_empty() {
            Err("the file of authorities holds none that can be used")
        } else {
            Ok(Self(list.into()))
        }
    }
}

/// What a pool is made from.
pub struct UpstreamParts {
    /// Its name.
    pub name: String,
    /// At least one.
    pub targets: Vec<Target>,
    /// Put before every path; begins with `/` and does not end with it, or empty.
    pub base: String,
    /// How it is spoken to.
    pub dialing: Dialing,
    /// Set on every request on its way out.
    pub headers: Vec<(HeaderName, Secret<Vec<u8>>)>,
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
    dialing: Dialing,
    headers: Vec<(HeaderName, HeaderValue)>,
    metrics: UpstreamMetrics,
    clock: SharedClock,
}

struct Peer {
    target: Target,
    /// What `Host` says.
    authority: HeaderValue,
    known: ArcSwapOption<Known>,
}

/// A peer's addresses, as ready-made descriptions for the connector.
struct Known {
    since: Instant,
    dials: Vec<HttpPeer>,
}

impl Upstream {
    /// Builds the pool; no name is looked up yet.
    ///
    /// # Errors
    /// A host or header that cannot stand in a head, as a word for the log.
    pub fn new(parts: UpstreamParts) -> Result<Self, &'static str> {
        let default_port = if parts.dialing.tls.is_some() { 443 } else { 80 };
        let peer = |target: Target| {
            let host =
                if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
            let text = if target.port == default_port { host } else { format!("{host}:{}", target.port) };
            let authority = HeaderValue::from_str(&text).map_err(|_| "a peer's host is not a host name")?;
            Ok(Peer { target, authority, known: ArcSwapOption::empty() })
        };
        let header = |(name, value): (HeaderName, Secret<Vec<u8>>)| {
            let mut value = HeaderValue::from_bytes(value.expose())
                .map_err(|_| "a header's value has control characters")?;
            value.set_sensitive(true);
            Ok((name, value))
        };
        Ok(Self {
            name: parts.name,
            base: parts.base,
            peers: parts.targets.into_iter().map(peer).collect::<Result<_, &'static str>>()?,
            next: AtomicUsize::new(0),
            dialing: parts.dialing,
            headers: parts.headers.into_iter().map(header).collect::<Result<_, &'static str>>()?,
            metrics: parts.metrics,
            clock: parts.clock,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Peers in the pool: how many attempts make sense before the first byte is sent.
    pub fn size(&self) -> usize {
        self.peers.len()
    }

    /// Chooses a peer: each in turn, then each of its addresses in turn.
    ///
    /// # Errors
    /// No address for its name.
    pub async fn choose(&self) -> Result<Chosen<'_>, Fault> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(peer) = self.peers.get(turn % self.peers.len().max(1)) else {
            return Err(self.failed(UpstreamFailure::Connect));
        };
        let known = match peer.known.load_full() {
            Some(known) if self.clock.instant().duration_since(known.since) < RESOLVE_EVERY => known,
            stale => self.resolve(peer, stale).await?,
        };
        let dial = (turn / self.peers.len().max(1)) % known.dials.len().max(1);
        Ok(Chosen { authority: &peer.authority, known, dial })
    }

    async fn resolve(&self, peer: &Peer, stale: Option<Arc<Known>>) -> Result<Arc<Known>, Fault> {
        let Target { host, port } = &peer.target;
        let found =
            tokio::time::timeout(self.dialing.connect, tokio::net::lookup_host((host.as_str(), *port))).await;
        let dials: Vec<HttpPeer> = match found {
            Ok(Ok(addresses)) => addresses.map(|address| self.dial(address, host)).collect(),
            _ => Vec::new(),
        };
        if dials.is_empty() {
            // A resolver that is down for a moment should not take a working upstream with it.
            return stale.ok_or_else(|| self.failed(UpstreamFailure::Connect));
        }
        let known = Arc::new(Known { since: self.clock.instant(), dials });
        peer.known.store(Some(Arc::clone(&known)));
        Ok(known)
    }

    fn dial(&self, address: SocketAddr, host: &str) -> HttpPeer {
        let Dialing { tls, http: (lowest, highest), connect, read, write, idle } = &self.dialing;
        let sni = tls.as_ref().map(|tls| tls.sni.clone().unwrap_or_else(|| host.to_owned()));
        let mut peer = HttpPeer::new(address, tls.is_some(), sni.unwrap_or_default());
        let options = &mut peer.options;
        options.connection_timeout = Some(*connect);
        options.total_connection_timeout = Some(*connect);
        options.read_timeout = Some(*read);
        options.write_timeout = Some(*write);
        options.idle_timeout = Some(*idle);
        options.alpn = match (lowest, highest) {
            (2, _) => ALPN::H2,
            (_, 1) => ALPN::H1,
            _ if tls.is_some() => ALPN::H2H1,
            _ => ALPN::H1,
        };
        // WebSocket frames are not rewritten, so no connection may become one behind the chain's back.
        options.http_upstream_request_policy = HttpUpstreamRequestPolicy::deny_upgrades();
        if let Some(tls) = tls {
            options.verify_cert = tls.verify;
            options.verify_hostname = tls.verify;
            options.ca = tls.authorities.as_ref().map(|authorities| Arc::clone(&authorities.0));
        }
        peer
    }

    /// Counts a failure and names it.
    pub fn failed(&self, kind: UpstreamFailure) -> Fault {
        self.metrics.failed(kind);
        Fault::Upstream(kind)
    }

    /// Counts and names the failure behind a Pingora error.
    pub fn error(&self, error: &Error) -> Fault {
        self.failed(kind_of(error.etype()))
    }

    /// Makes a caller's head into one for this upstream: its base path and `Host`, no hop-by-hop or forwarding
    /// headers of the caller's (RFC 9110 section 7.6.1; what a caller says about forwarding is not to be believed),
    /// and the pool's own headers.
    ///
    /// # Errors
    /// Pingora's, for a head that cannot be written.
    pub fn dress(&self, head: &mut RequestHeader, authority: &HeaderValue) -> Result<(), Box<Error>> {
        strip_hop_by_hop(&head.headers).iter().for_each(|name| drop(head.remove_header(name)));
        for name in FORWARDING {
            head.remove_header(name);
        }
        if !self.base.is_empty() {
            let path = [self.base.as_bytes(), head.raw_path()].concat();
            head.set_raw_path(&path)?;
        } else if head.uri.authority().is_some() {
            let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
            head.set_raw_path(path.as_bytes())?;
        }
        head.insert_header(HOST, authority.clone())?;
        for (name, value) in &self.headers {
            head.insert_header(name.clone(), value.clone())?;
        }
        Ok(())
    }
}

/// A chosen peer.
pub struct Chosen<'a> {
    /// What `Host` says.
    pub authority: &'a HeaderValue,
    known: Arc<Known>,
    dial: usize,
}

impl Chosen<'_> {
    /// How the connector reaches it.
    pub fn dial(&self) -> Option<&HttpPeer> {
        self.known.dials.get(self.dial)
    }
}

const FORWARDING: [&str; 6] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-real-ip",
];

/// The names of `headers` that end at this hop: the standard ones, and those that `Connection` names.
pub fn strip_hop_by_hop(headers: &HeaderMap) -> Vec<HeaderName> {
    let standard =
        [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let extra = ["keep-alive", "proxy-connection", "http2-settings"].map(HeaderName::from_static);
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named =
        named.flat_map(|list| list.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok());
    standard.into_iter().chain(extra).chain(named).filter(|name| headers.contains_key(name)).collect()
}

/// What kind of failure a Pingora error is.
fn kind_of(error: &ErrorType) -> UpstreamFailure {
    match error {
        ErrorType::ConnectTimedout
        | ErrorType::ConnectRefused
        | ErrorType::ConnectNoRoute
        | ErrorType::ConnectError
        | ErrorType::BindError
        | ErrorType::SocketError => UpstreamFailure::Connect,
        ErrorType::TLSHandshakeFailure
        | ErrorType::TLSHandshakeTimedout
        | ErrorType::TLSWantX509Lookup
        | ErrorType::InvalidCert
        | ErrorType::HandshakeError => UpstreamFailure::Tls,
        ErrorType::ReadTimedout | ErrorType::WriteTimedout => UpstreamFailure::Timeout,
        _ => UpstreamFailure::Broken,
    }
}
