//! [`DnsResolver`]: names to addresses, and the check of what it answers.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::net::allow::Allow;
use crate::net::lookups::Lookups;

/// Addresses of a name, when they are there.
pub type AddressFuture = BoxFuture<'static, io::Result<Vec<IpAddr>>>;

/// More addresses than any honest name has.
const MOST: usize = 64;

/// Names to addresses.
pub trait DnsResolver: Send + Sync + 'static {
    /// The addresses of a name, of both families.
    fn lookup(&self, name: &str) -> AddressFuture;
}

/// Names of the configuration that are looked up at once.
const CONFIGURED_AT_ONCE: usize = 16;

/// Names in URLs of callers that are looked up at once.
const CALLERS_AT_ONCE: usize = 64;

static CONFIGURED: LazyLock<Arc<Lookups>> = LazyLock::new(|| Lookups::new(CONFIGURED_AT_ONCE, ask));

static CALLERS: LazyLock<Arc<Lookups>> = LazyLock::new(|| Lookups::new(CALLERS_AT_ONCE, ask));

/// The system's resolver. It looks a name up once at a time, and at most 16 or 64 names at once.
#[derive(Clone, Copy, Debug)]
pub enum SystemResolver {
    /// For names of the configuration.
    Configured,
    /// For names that callers choose; however slow those are, names of the configuration do not wait for them.
    Callers,
}

impl DnsResolver for SystemResolver {
    fn lookup(&self, name: &str) -> AddressFuture {
        let lookups = match self {
            Self::Configured => &CONFIGURED,
            Self::Callers => &CALLERS,
        };
        Box::pin(Arc::clone(lookups).find(name.to_owned()))
    }
}

/// Asks the system, and blocks until it answers.
fn ask(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0_u16).to_socket_addrs()?.map(|socket| socket.ip()).take(MOST + 1).collect())
}

/// Hands out addresses that may be connected to. What it hands out is what is connected to: a name is not asked
/// again between the check and the connection.
pub(super) struct CheckedResolver {
    pub(super) lookup: Arc<dyn DnsResolver>,
    /// `None`: no address is refused.
    pub(super) allow: Option<Allow>,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, allow) = (self.lookup.lookup(name.as_str()), self.allow.clone());
        Box::pin(async move {
            let found = found.await?;
            // One forbidden address among good ones is an attempt to get past this check.
            let fine = |address: &IpAddr| allow.as_ref().is_none_or(|allow| allow.address(*address));
            if found.is_empty() || found.len() > MOST || !found.iter().all(fine) {
                return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
            }
            // Port 0: the URL's.
            let sockets = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(sockets) as Addrs)
        })
    }
}
