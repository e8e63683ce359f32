//! The service behind the sockets: accepts, counts, and gives each connection a task of its own.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pingora::apps::{HttpServerApp, HttpServerOptions};
use pingora::protocols::http::v2::server::{H2Options, default_h2_options};
use pingora::proxy::{HttpProxy, http_proxy};
use pingora::server::configuration::ServerConf;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::base::clock::SharedClock;
use crate::base::throttle::LogThrottle;
use crate::gateway::clients::ClientResolver;
#[cfg(feature = "ext_proc")]
use crate::gateway::ext_proc::ExternalProcessor;
use crate::gateway::listen::connections::ConnectionLimit;
use crate::gateway::listen::limits::ListenLimits;
use crate::gateway::listen::serving::{Listen, Serving};
use crate::gateway::listen::socket::Sockets;
use crate::gateway::listen::tls::ListenerTls;
use crate::gateway::proxy::Gateway;
use crate::telemetry::FrontMetrics;

/// How long to wait when the system has no file descriptor for a connection: until then others may end.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// How long a connection to the listener for metrics and health is kept without a request, at the most.
const ADMIN_IDLE: Duration = Duration::from_secs(10);

/// More connections than a queue has: one that is filled as fast as it is emptied has an end all the same.
const QUEUE: usize = 1 << 16;

/// One gateway's service.
pub(super) struct FrontService {
    listeners: Vec<Arc<Listener>>,
    sockets: Sockets,
    threads: usize,
}

/// One address it listens at.
pub(super) struct Listener {
    address: SocketAddr,
    connections: ConnectionLimit,
    pub(super) tls: Option<Arc<ListenerTls>>,
    pub(super) h2c: bool,
    pub(super) proxied: bool,
    pub(super) gateway: Gateway,
    pub(super) app: Arc<HttpProxy<Gateway>>,
    /// What is served in its place, where other proxies have their exchanges processed.
    #[cfg(feature = "ext_proc")]
    pub(super) processor: Option<Arc<ExternalProcessor>>,
    pub(super) limits: ListenLimits,
    pub(super) clients: Arc<ClientResolver>,
    pub(super) clock: SharedClock,
    pub(super) metrics: Arc<FrontMetrics>,
    /// Says that connections cannot be accepted, now and then.
    refusing: LogThrottle,
}

impl FrontService {
    /// Prepares everything but the sockets.
    pub(super) fn new(conf: &Arc<ServerConf>, serving: Serving, sockets: Sockets) -> Self {
        let Serving { gateway, listen, threads, connections, mut limits, metrics } = serving;
        if connections.has_probes() {
            limits.idle = limits.idle.min(ADMIN_IDLE);
        }
        let (clients, clock) = (Arc::clone(gateway.clients()), Arc::clone(gateway.clock()));
        let mut app = http_proxy(conf, gateway.clone());
        app.h2_options = Some(streams(&limits));
        let mut options = HttpServerOptions::default();
        options.h2_idle_timeout = Some(limits.idle);
        app.server_options = Some(options);
        let app = Arc::new(app);
        #[cfg(feature = "ext_proc")]
        let processor = Arc::new(ExternalProcessor::new(gateway.clone(), streams(&limits), limits.streams));
        let listener = |listen: Listen| {
            Arc::new(Listener {
                address: listen.address,
                connections: connections.clone(),
                tls: listen.tls,
                #[cfg(feature = "ext_proc")]
                processor: listen.ext_proc.then(|| Arc::clone(&processor)),
                h2c: listen.h2c || listen.ext_proc,
                proxied: listen.proxied,
                gateway: gateway.clone(),
                app: Arc::clone(&app),
                limits: limits.clone(),
                clients: Arc::clone(&clients),
                clock: Arc::clone(&clock),
                metrics: Arc::clone(&metrics),
                refusing: LogThrottle::default(),
            })
        };
        Self { listeners: listen.into_iter().map(listener).collect(), sockets, threads }
    }
}

#[async_trait]
impl Service for FrontService {
    async fn start_service(&mut self, _: Option<ListenFds>, shutdown: ShutdownWatch, _: usize) {
        let mut loops = Vec::new();
        for address in self.listeners.drain(..) {
            match self.sockets.listener(address.address) {
                Ok(listener) => {
                    loops.push(tokio::spawn(address.run(listener, self.sockets.clone(), shutdown.clone())));
                }
                Err(error) => {
                    tracing::error!(target: "portcullis::gateway", address = %address.address, "cannot listen: {error}");
                }
            }
        }
        for each in loops {
            drop(each.await);
        }
    }

    fn name(&self) -> &str {
        "front"
    }

    fn threads(&self) -> Option<usize> {
        Some(self.threads)
    }
}

impl Listener {
    /// Accepts until the process drains; then what is still in the queue, since those callers have been told by their
    /// system that they are connected.
    async fn run(self: Arc<Self>, listener: TcpListener, sockets: Sockets, shutdown: ShutdownWatch) {
        let mut stopping = shutdown.clone();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stopping.wait_for(|&over| over) => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((tcp, peer)) => self.admit(tcp, peer, &shutdown),
                Err(error) => {
                    if let Some(unsaid) = self.refusing.due() {
                        let address = self.address;
                        tracing::warn!(target: "portcullis::gateway", %address, unsaid, "cannot accept: {error}");
                    }
                    sleep(ACCEPT_BACKOFF).await;
                }
            }
        }
        // Answers say that they are the last on their connections, and sessions end.
        self.app.http_cleanup().await;
        self.gateway.in_flight.drain();
        waiting(listener).for_each(|(tcp, peer)| self.admit(tcp, peer, &shutdown));
        sockets.close(self.address);
    }

    /// A trusted proxy stands for many callers, so it is counted in all only.
    fn admit(self: &Arc<Self>, tcp: TcpStream, peer: SocketAddr, shutdown: &ShutdownWatch) {
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let whose = Some(peer.ip()).filter(|&address| !self.clients.trusts(address));
        let place = match self.connections.take(whose) {
            Ok(place) => place,
            Err(full) => return self.metrics.refused.inc(full.refusal()),
        };
        let (this, shutdown, probe) = (Arc::clone(self), shutdown.clone(), place.probe().cloned());
        tokio::spawn(async move {
            let connection = Box::pin(this.connection(tcp, peer, place, &shutdown));
            let Some(probe) = probe else { return connection.await };
            tokio::select! {
                () = connection => {}
                () = probe.ended() => this.metrics.refused.inc(probe.beyond.refusal()),
            }
        });
    }
}

/// What the h2 crate is held to; the rest is rationed frame by frame.
fn streams(limits: &ListenLimits) -> H2Options {
    let mut options = default_h2_options();
    options.max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX));
    options.max_concurrent_streams(limits.streams);
    options
}

/// The connections that are in the queue already. The system is asked itself: the runtime may have an event of one still
/// to come, and lets a task take so many only before it pauses it.
fn waiting(listener: TcpListener) -> impl Iterator<Item = (TcpStream, SocketAddr)> {
    let listener = listener.into_std().ok();
    let accepted = move || loop {
        match listener.as_ref()?.accept() {
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
            accepted => return accepted.ok(),
        }
    };
    let ours = |(tcp, peer): (std::net::TcpStream, SocketAddr)| {
        tcp.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(tcp).ok()?, peer))
    };
    std::iter::from_fn(accepted).take(QUEUE).filter_map(ours)
}
