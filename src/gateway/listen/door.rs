//! The service behind the sockets: accepts, counts, and gives each connection a task of its own.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use pingora::apps::{HttpServerOptions, ServerApp};
use pingora::listeners::tls::Acceptor;
use pingora::protocols::l4::stream::Stream as Plain;
use pingora::protocols::{GetSocketDigest, SocketDigest, Stream};
use pingora::proxy::{HttpProxy, http_proxy};
use pingora::server::configuration::ServerConf;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::gateway::listen::places::Place;
use crate::gateway::listen::server::{Listen, ListenError, Serving};
use crate::gateway::listen::{Limits, Places, Sockets};
use crate::gateway::proxy::Gateway;

/// How long to wait when the system has no file descriptor for a connection: until then others may end.
const BREATH: Duration = Duration::from_millis(50);

/// One gateway's service.
pub(super) struct Door {
    entries: Vec<Arc<Entry>>,
    sockets: Sockets,
    threads: usize,
}

/// One address of it.
struct Entry {
    address: SocketAddr,
    tls: Option<Acceptor>,
    app: Arc<HttpProxy<Gateway>>,
    places: Places,
    limits: Limits,
}

impl Door {
    /// Prepares everything but the sockets.
    ///
    /// # Errors
    /// A certificate that cannot be used.
    pub(super) fn new(
        conf: &Arc<ServerConf>,
        serving: Serving,
        sockets: Sockets,
    ) -> Result<Self, ListenError> {
        let Serving { gateway, listen, threads, places, limits } = serving;
        let apps = [false, true].map(|h2c| {
            let mut app = http_proxy(conf, gateway.clone());
            let mut options = HttpServerOptions::default();
            options.h2c = h2c;
            app.server_options = Some(options);
            Arc::new(app)
        });
        let [plain, h2c] = apps;
        let entry = |listen: Listen| {
            let tls = listen.tls.as_ref().map(|certificate| certificate.acceptor()).transpose()?;
            let app = if listen.h2c { Arc::clone(&h2c) } else { Arc::clone(&plain) };
            let (places, limits) = (places.clone(), limits.clone());
            Ok(Arc::new(Entry { address: listen.address, tls, app, places, limits }))
        };
        let entries = listen.into_iter().map(entry).collect::<Result<_, ListenError>>()?;
        Ok(Self { entries, sockets, threads })
    }
}

#[async_trait]
impl Service for Door {
    async fn start_service(&mut self, _: Option<ListenFds>, shutdown: ShutdownWatch, _: usize) {
        let mut loops = Vec::new();
        for entry in self.entries.drain(..) {
            match self.sockets.listener(entry.address) {
                Ok(listener) => {
                    loops.push(tokio::spawn(entry.run(listener, self.sockets.clone(), shutdown.clone())));
                }
                Err(error) => {
                    tracing::error!(target: "portcullis::gateway", address = %entry.address, "cannot listen: {error}");
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

impl Entry {
    /// Accepts until the process drains; then what is still in the queue, since those callers have been told by their
    /// system that they are connected.
    async fn run(self: Arc<Self>, listener: TcpListener, sockets: Sockets, shutdown: ShutdownWatch) {
        let mut told = shutdown.clone();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = told.wait_for(|&over| over) => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((tcp, peer)) => self.admit(tcp, peer, &shutdown),
                Err(error) => {
                    tracing::warn!(target: "portcullis::gateway", address = %self.address, "cannot accept: {error}");
                    sleep(BREATH).await;
                }
            }
        }
        while let Some((tcp, peer)) = waiting(&listener).await {
            self.admit(tcp, peer, &shutdown);
        }
        sockets.close(self.address);
    }

    fn admit(self: &Arc<Self>, tcp: TcpStream, peer: SocketAddr, shutdown: &ShutdownWatch) {
        let Ok(place) = self.places.take(Some(peer.ip())) else { return };
        let (entry, shutdown) = (Arc::clone(self), shutdown.clone());
        tokio::spawn(async move {
            Box::pin(entry.connection(tcp, peer, &shutdown)).await;
            drop::<Place>(place);
        });
    }

    async fn connection(&self, tcp: TcpStream, peer: SocketAddr, shutdown: &ShutdownWatch) {
        drop(tcp.set_nodelay(true));
        let digest = SocketDigest::from_raw_fd(tcp.as_raw_fd());
        drop(digest.peer_addr.set(Some(peer.into())));
        let mut plain = Plain::from(tcp);
        plain.set_socket_digest(digest);
        let stream: Stream = match &self.tls {
            None => Box::new(plain),
            Some(tls) => match timeout(self.limits.head_time, tls.tls_handshake(plain)).await {
                Ok(Ok(stream)) => Box::new(stream),
                Ok(Err(_)) | Err(_) => return,
            },
        };
        let mut next = self.app.process_new(stream, shutdown).await;
        while let Some(stream) = next {
            next = self.app.process_new(stream, shutdown).await;
        }
    }
}

/// A connection that is in the queue already.
async fn waiting(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    poll_fn(|context| match listener.poll_accept(context) {
        Poll::Ready(Ok(accepted)) => Poll::Ready(Some(accepted)),
        Poll::Ready(Err(_)) | Poll::Pending => Poll::Ready(None),
    })
    .await
}
