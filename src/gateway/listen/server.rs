//! Pingora's server with our [`Door`]s in it, from the first connection until it is told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pingora::server::configuration::{Opt, ServerConf};
use pingora::server::{RunArgs, Server, ShutdownSignal, ShutdownSignalWatch};
use tokio::sync::{Mutex, oneshot};

use crate::gateway::listen::door::Door;
use crate::gateway::listen::{Certificate, ConnectionLimit, Limits, Sockets};
use crate::gateway::proxy::Gateway;
use crate::telemetry::FrontMetrics;

/// One address to listen at.
#[derive(Clone, Debug)]
pub struct Listen {
    /// IP address and port.
    pub address: SocketAddr,
    /// What to show, if TLS is spoken. Replaced by [`Certificate::show`] while it is in use.
    pub tls: Option<Arc<Certificate>>,
    /// HTTP/2 without TLS, by prior knowledge (RFC 9113 section 3.3).
    pub h2c: bool,
    /// Connections begin with a PROXY protocol head, and only trusted peers may connect.
    pub proxied: bool,
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
    pub places: ConnectionLimit,
    /// What its callers are held to.
    pub limits: Limits,
    /// Where connections and refusals are counted.
    pub metrics: Arc<FrontMetrics>,
}

/// A gateway cannot listen as it is told to.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// A certificate or key cannot be used.
    #[error("{}: {why}", .file.display())]
    Certificate {
        /// The file that is wrong, as far as it is one of the two.
        file: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The address cannot be bound.
    #[error("{address}: {why}")]
    Bind {
        /// Which address.
        address: SocketAddr,
        /// What the system says.
        why: std::io::Error,
    },
}

/// How a running server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// New connections are refused, requests under way may end.
    Drain,
    /// At once.
    Now,
}

struct Signal(Mutex<oneshot::Receiver<Stop>>);

#[async_trait]
impl ShutdownSignalWatch for Signal {
    async fn recv(&self) -> ShutdownSignal {
        match (&mut *self.0.lock().await).await {
            Ok(Stop::Drain) => ShutdownSignal::GracefulTerminate,
            Ok(Stop::Now) | Err(_) => ShutdownSignal::FastShutdown,
        }
    }
}

/// Serves at `sockets`, which must be open, until `stop` says otherwise. Blocks; must not be called within a runtime,
/// since Pingora makes its own. Once told to drain it answers the connections that wait in the sockets' queues, closes
/// the sockets and returns after `drain`.
///
/// A hand-over is the same drain, after a successor has got [`Sockets::hand_out`]: it listens on as this process closes
/// its own handles.
///
/// # Errors
/// A certificate that cannot be used; nothing is served then.
pub fn serve(
    servings: Vec<Serving>,
    sockets: &Sockets,
    drain: Duration,
    stop: oneshot::Receiver<Stop>,
) -> Result<(), ListenError> {
    let mut server = Server::new_with_opt_and_conf(None::<Opt>, conf(drain));
    server.bootstrap();
    for serving in servings {
        server.add_service(Door::new(&server.configuration, serving, sockets.clone())?);
    }
    server.run(RunArgs { shutdown_signal: Box::new(Signal(Mutex::new(stop))) });
    Ok(())
}

fn conf(drain: Duration) -> ServerConf {
    ServerConf {
        work_stealing: true,
        grace_period_seconds: Some(drain.as_secs() + u64::from(drain.subsec_nanos() > 0)),
        graceful_shutdown_timeout_seconds: Some(1),
        upstream_keepalive_pool_size: 256,
        // Pingora's own timers stay until they would have fired, long after what they were for: some 13 KB a second of a
        // time-out's length, on each thread.
        fast_timeout_to_tokio_threshold_seconds: Some(30),
        ..ServerConf::default()
    }
}
