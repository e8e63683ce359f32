//! [`Serving`]: what is served, where, and under which limits.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::gateway::listen::connections::ConnectionLimit;
use crate::gateway::listen::limits::ListenLimits;
use crate::gateway::listen::tls::ListenerTls;
use crate::gateway::proxy::Gateway;
use crate::telemetry::FrontMetrics;

/// One address to listen at.
#[derive(Clone, Debug)]
pub struct Listen {
    /// IP address and port.
    pub address: SocketAddr,
    /// What to show and to ask for, if TLS is spoken. Replaced by [`ListenerTls::show`] while it is in use.
    pub tls: Option<Arc<ListenerTls>>,
    /// HTTP/2 without TLS, by prior knowledge (RFC 9113 section 3.3).
    pub h2c: bool,
    /// Connections begin with a PROXY protocol head, and only trusted peers may connect.
    pub proxied: bool,
    /// Other proxies have their exchanges processed here, and nothing else is served.
    pub ext_proc: bool,
}

/// One gateway and where it is reached.
pub struct Serving {
    /// What is served.
    pub gateway: Gateway,
    /// Where; the same at each address.
    pub listen: Vec<Listen>,
    /// Threads for it.
    pub threads: usize,
    /// How many connections it takes, and how many it has.
    pub connections: ConnectionLimit,
    /// What its callers are held to.
    pub limits: ListenLimits,
    /// Where connections and refusals are counted.
    pub metrics: Arc<FrontMetrics>,
}
