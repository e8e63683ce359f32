//! [`DnsResolver`]: names to addresses, and the check of what it answers.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::net::allow::Allow;

/// Addresses of a name, when they are there.
pub type AddressFuture = BoxFuture<'static, io::Result<Vec<IpAddr>>>;

/// More addresses than any honest name has.
const MOST: usize = 64;

/// Names to addresses.
pub trait DnsResolver: Send + Sync + 'static {
    /// The addresses of a name, of both families.
    fn lookup(&self, name: &str) -> AddressFuture;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl DnsResolver for SystemResolver {
    fn lookup(&self, name: &str) -> AddressFuture {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|socket| socket.ip()).take(MOST + 1).collect())
        })
    }
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
