//! How a peer is reached: address, TLS, time-outs.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pingora::protocols::ALPN;
use pingora::upstreams::peer::{HttpPeer, HttpUpstreamRequestPolicy};
use pingora::utils::tls::{WrappedX509, parse_x509};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

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
    /// From the end of a request to the first byte of its answer.
    pub first_byte: Duration,
    /// Silence while we wait for bytes.
    pub read: Duration,
    /// A write that does not move.
    pub write: Duration,
    /// A request and its answer in all, from the first attempt on. `None`: as long as it takes.
    pub total: Option<Duration>,
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

impl Dialing {
    /// The connector's description of `host` at `address`.
    pub(super) fn peer(&self, address: SocketAddr, host: &str) -> HttpPeer {
        let sni = self.tls.as_ref().map(|tls| tls.sni.clone().unwrap_or_else(|| host.to_owned()));
        let mut peer = HttpPeer::new(address, self.tls.is_some(), sni.unwrap_or_default());
        let options = &mut peer.options;
        options.connection_timeout = Some(self.connect);
        options.total_connection_timeout = Some(self.connect);
        // Pingora has one time-out for all reads of a streamed exchange; the relay sets its own.
        let read = self.first_byte.max(self.read);
        options.read_timeout = Some(self.total.map_or(read, |total| read.min(total)));
        options.write_timeout = Some(self.write);
        options.idle_timeout = Some(self.idle);
        options.alpn = match self.http {
            (2, _) => ALPN::H2,
            (_, 1) => ALPN::H1,
            _ if self.tls.is_some() => ALPN::H2H1,
            _ => ALPN::H1,
        };
        // WebSocket frames are not rewritten, so no connection may become one behind the chain's back.
        options.http_upstream_request_policy = HttpUpstreamRequestPolicy::deny_upgrades();
        if let Some(tls) = &self.tls {
            options.verify_cert = tls.verify;
            options.verify_hostname = tls.verify;
            options.ca = tls.authorities.as_ref().map(|authorities| Arc::clone(&authorities.0));
        }
        peer
    }
}
