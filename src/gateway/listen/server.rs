//! Pingora's server with our [`FrontService`]s in it, from the first connection until it is stopped.

use std::time::Duration;

use async_trait::async_trait;
use pingora::server::configuration::{Opt, ServerConf};
use pingora::server::{RunArgs, Server, ShutdownSignal, ShutdownSignalWatch};
use tokio::sync::{Mutex, oneshot};

use crate::gateway::listen::service::FrontService;
use crate::gateway::listen::serving::Serving;
use crate::gateway::listen::socket::Sockets;

/// How a running server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownMode {
    /// New connections are refused, requests under way may end.
    Drain,
    /// At once.
    Now,
}

struct Signal(Mutex<oneshot::Receiver<ShutdownMode>>);

#[async_trait]
impl ShutdownSignalWatch for Signal {
    async fn recv(&self) -> ShutdownSignal {
        match (&mut *self.0.lock().await).await {
            Ok(ShutdownMode::Drain) => ShutdownSignal::GracefulTerminate,
            Ok(ShutdownMode::Now) | Err(_) => ShutdownSignal::FastShutdown,
        }
    }
}

/// What bounds a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerBounds {
    /// How long it drains.
    pub drain: Duration,
    /// How many unused connections it keeps to upstreams, for requests that are streamed.
    pub kept: usize,
}

/// Serves at `sockets`, which must be open, until `stop` says otherwise. Blocks; must not be called within a runtime,
/// since Pingora makes its own. Once told to drain it answers the connections that wait in the sockets' queues, closes
/// the sockets and returns after the time for that.
///
/// A hand-over is the same drain, after a successor has got [`Sockets::hand_out`]: it listens on as this process closes
/// its own handles.
pub fn serve(
    servings: Vec<Serving>,
    sockets: &Sockets,
    bounds: ServerBounds,
    stop: oneshot::Receiver<ShutdownMode>,
) {
    let mut server = Server::new_with_opt_and_conf(None::<Opt>, conf(bounds));
    server.bootstrap();
    for serving in servings {
        server.add_service(FrontService::new(&server.configuration, serving, sockets.clone()));
    }
    server.run(RunArgs { shutdown_signal: Box::new(Signal(Mutex::new(stop))) });
}

fn conf(bounds: ServerBounds) -> ServerConf {
    let ServerBounds { drain, kept } = bounds;
    ServerConf {
        work_stealing: true,
        grace_period_seconds: Some(drain.as_secs() + u64::from(drain.subsec_nanos() > 0)),
        graceful_shutdown_timeout_seconds: Some(1),
        upstream_keepalive_pool_size: kept,
        // Pingora's own timers stay until they would have fired, long after what they were for: some 13 KB a second of a
        // time-out's length, on each thread.
        fast_timeout_to_tokio_threshold_seconds: Some(30),
        ..ServerConf::default()
    }
}
