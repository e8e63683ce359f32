//! Sockets: addresses, TLS, HTTP/2, and how the server is told to stop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use pingora::apps::HttpServerOptions;
use pingora::listeners::tls::TlsSettings;
use pingora::proxy::ProxyServiceBuilder;
use pingora::server::configuration::{Opt, ServerConf};
use pingora::server::{RunArgs, Server, ShutdownSignal, ShutdownSignalWatch};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, oneshot};
use tokio::time::{sleep, timeout};

use crate::gateway::proxy::Gateway;

/// How long a connection to an address of our own may take, and how long to wait before the next try.
const ANSWER: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(5);

/// One address to listen at.
#[derive(Clone, Debug)]
pub struct Listen {
    /// IP address and port.
    pub address: SocketAddr,
    /// Certificate chain and key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// HTTP/2 without TLS, by prior knowledge (RFC 9113 section 3.3).
    pub h2c: bool,
}

/// One gateway and where it is reached.
pub struct Serving {
    /// What is served.
    pub gateway: Gateway,
    /// Where; the same at each address.
    pub listen: Vec<Listen>,
    /// Threads for it.
    pub threads: usize,
}

/// A gateway cannot listen as it is told to.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// A certificate or key cannot be used.
    #[error("{}: the certificate or its key cannot be used", .0.display())]
    Certificate(PathBuf),
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

/// Tries every address and certificate before anything is served: Pingora binds in a task of its own, and ends the
/// process without a legible reason when that fails.
///
/// # Errors
/// The first address or certificate that cannot be used.
pub fn try_all(servings: &[Serving]) -> Result<(), ListenError> {
    for listen in servings.iter().flat_map(|serving| &serving.listen) {
        let bound = std::net::TcpListener::bind(listen.address);
        bound.map_err(|why| ListenError::Bind { address: listen.address, why })?;
        if let Some(pair) = &listen.tls {
            tls(pair)?;
        }
    }
    Ok(())
}

/// Returns once every address accepts connections, as a caller on this machine finds out: by connecting. Pingora does
/// not say when it has bound them.
pub async fn until_accepting(addresses: &[SocketAddr]) {
    for address in addresses {
        let near = match (address.ip(), address.port()) {
            (IpAddr::V4(ip), port) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, port).into(),
            (IpAddr::V6(ip), port) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, port).into(),
            _ => *address,
        };
        while !matches!(timeout(ANSWER, TcpStream::connect(near)).await, Ok(Ok(_))) {
            sleep(AGAIN).await;
        }
    }
}

/// Listens and serves until `stop` says otherwise. Blocks; must not be called within a runtime, since Pingora makes
/// its own. Once told to drain it takes no new connections and returns after `drain`.
///
/// # Errors
/// A certificate that cannot be used; nothing is served then.
pub fn serve(
    servings: Vec<Serving>,
    drain: Duration,
    stop: oneshot::Receiver<Stop>,
) -> Result<(), ListenError> {
    let mut server = Server::new_with_opt_and_conf(None::<Opt>, conf(drain));
    server.bootstrap();
    for serving in servings {
        for h2c in [false, true] {
            let here: Vec<&Listen> = serving.listen.iter().filter(|listen| listen.h2c == h2c).collect();
            if here.is_empty() {
                continue;
            }
            let mut options = HttpServerOptions::default();
            options.h2c = h2c;
            let builder = ProxyServiceBuilder::new(&server.configuration, serving.gateway.clone());
            let mut service = builder.server_options(options).build();
            service.threads = Some(serving.threads);
            for listen in here {
                match &listen.tls {
                    None => service.add_tcp(&listen.address.to_string()),
                    Some(pair) => {
                        service.add_tls_with_settings(&listen.address.to_string(), None, tls(pair)?)
                    }
                }
            }
            server.add_service(service);
        }
    }
    server.run(RunArgs { shutdown_signal: Box::new(Signal(Mutex::new(stop))) });
    Ok(())
}

fn tls((certificate, key): &(PathBuf, PathBuf)) -> Result<TlsSettings, ListenError> {
    let refused = || ListenError::Certificate(certificate.clone());
    let (chain, key) = (certificate.to_str().ok_or_else(refused)?, key.to_str().ok_or_else(refused)?);
    let mut tls = TlsSettings::intermediate(chain, key).map_err(|_| refused())?;
    tls.enable_h2();
    Ok(tls)
}

fn conf(drain: Duration) -> ServerConf {
    ServerConf {
        work_stealing: true,
        grace_period_seconds: Some(drain.as_secs()),
        graceful_shutdown_timeout_seconds: Some(1),
        upstream_keepalive_pool_size: 256,
        ..ServerConf::default()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn who_waits_for_addresses_waits_for_all_of_them() {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let second = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = [first.local_addr().unwrap(), second.local_addr().unwrap()];
        drop(second);
        let mut waiting = tokio::spawn(async move { until_accepting(&addresses).await });
        assert!(timeout(Duration::from_millis(100), &mut waiting).await.is_err());
        // All of this machine's addresses: another form of the same place.
        let _second = TcpListener::bind(("0.0.0.0", addresses[1].port())).unwrap();
        timeout(Duration::from_secs(10), waiting).await.unwrap().unwrap();
        let every = SocketAddr::from(([0, 0, 0, 0], addresses[1].port()));
        timeout(Duration::from_secs(10), until_accepting(&[every])).await.unwrap();
    }
}
