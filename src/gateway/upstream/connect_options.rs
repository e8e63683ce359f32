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
use serde::Deserialize;

use crate::base::units::Period;

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
pub struct ConnectOptions {
    /// TLS, and how.
    pub tls: Option<PoolTls>,
    /// Which HTTP.
    pub http: Http,
    /// How long each step may take.
    pub times: Timeouts,
}

/// Which HTTP is spoken to a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Http {
    /// With TLS what the peer prefers (ALPN), without it HTTP/1.1.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// HTTP/1.1 only.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 only; without TLS by prior knowledge.
    #[serde(rename = "2")]
    Two,
}

/// `[upstreams.NAME.timeouts]`: how long each step with a pool may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// Connecting, TLS included. Default 5 s.
    pub connect: Period,
    /// From the end of the request to the first byte of the answer. Default: the same as `read`. Where bodies are not
    /// collected but stream, the longer of the two is both.
    pub first_byte: Option<Period>,
    /// Silence while we wait for bytes. Default 10 min: models think before their first word.
    pub read: Period,
    /// A write that does not move. Default 30 s.
    pub write: Period,
    /// How long an unused connection is kept. Default 60 s.
    pub idle: Period,
    /// A request and its answer in all, from the first attempt on. Default: as long as it takes. Where bodies stream, it
    /// is looked at when a piece of the answer comes or `read` is over.
    pub total: Option<Period>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Period::secs(5),
            first_byte: None,
            read: Period::secs(600),
            write: Period::secs(30),
            idle: Period::secs(60),
            total: None,
        }
    }
}

impl Timeouts {
    /// From the end of the request to the first byte of the answer.
    pub fn first_byte(&self) -> Duration {
        self.first_byte.unwrap_or(self.read).get()
    }

    /// A request and its answer in all. `None`: as long as it takes.
    pub fn total(&self) -> Option<Duration> {
        self.total.map(Period::get)
    }
}

/// TLS towards a pool.
#[derive(Clone)]
pub struct PoolTls {
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

impl ConnectOptions {
    /// The connector's description of `host` at `address`.
    pub(super) fn peer(&self, address: SocketAddr, host: &str) -> HttpPeer {
        let sni = self.tls.as_ref().map(|tls| tls.sni.clone().unwrap_or_else(|| host.to_owned()));
        let mut peer = HttpPeer::new(address, self.tls.is_some(), sni.unwrap_or_default());
        let options = &mut peer.options;
        let times = &self.times;
        options.connection_timeout = Some(times.connect.get());
        options.total_connection_timeout = Some(times.connect.get());
        // Pingora has one time-out for all reads of a streamed exchange; the relay sets its own.
        let read = times.first_byte().max(times.read.get());
        options.read_timeout = Some(times.total().map_or(read, |total| read.min(total)));
        options.write_timeout = Some(times.write.get());
        options.idle_timeout = Some(times.idle.get());
        options.alpn = match self.http {
            Http::Two => ALPN::H2,
            Http::Auto if self.tls.is_some() => ALPN::H2H1,
            Http::Auto | Http::One => ALPN::H1,
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
