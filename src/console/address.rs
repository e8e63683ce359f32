//! Where the gateway is reached.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::config::Config;

/// Where callers reach the gateway: as configured, else its first listener.
pub(super) fn address(config: &Config) -> String {
    if let Some(url) = &config.api.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let Some(listen) = config.listen.first() else { return "http://127.0.0.1:8080".to_owned() };
    let scheme = if listen.tls.is_some() { "https" } else { "http" };
    let mut address: SocketAddr = *listen.address;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("{scheme}://{address}")
}
