//! Where the gateway listens, and what it serves itself.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::Spanned;
use crate::config::settings::AddressBlock;
use crate::gateway::clients::{ForwardedHeader, Underscores};

/// Where `serve` listens unless told otherwise.
const LISTEN: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8080);

/// Where metrics and health are served unless told otherwise.
const ADMIN: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 9180);

/// One `[[listen]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// IP address and port.
    pub address: Spanned<SocketAddr>,
    /// Serve TLS. HTTP/2 is then negotiated (ALPN).
    pub tls: Option<ListenTls>,
    /// Also take HTTP/2 without TLS, by prior knowledge (RFC 9113 section 3.3). Default off.
    #[serde(default)]
    pub h2c: Spanned<bool>,
    /// Connections begin with a PROXY protocol head (version 1 or 2), and only `clients.trusted_peers` may connect.
    /// Default off.
    #[serde(default)]
    pub proxy_protocol: Spanned<bool>,
    /// Serve Envoy's external processing and nothing else: gRPC, over TLS or without. Its requests take the routes with
    /// `endpoint = "ext_proc"`. Needs a binary built with `--features ext_proc`. Default off.
    #[serde(default)]
    pub ext_proc: Spanned<bool>,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            address: Spanned::new(LISTEN.into()),
            tls: None,
            h2c: Spanned::new(false),
            proxy_protocol: Spanned::new(false),
            ext_proc: Spanned::new(false),
        }
    }
}

/// `[listen.tls]`: what a listener shows, and what it asks callers for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenTls {
    /// PEM file with the certificate, then its chain. Shown where the caller asks for no name, or for one that no
    /// certificate has.
    pub certificate: Spanned<PathBuf>,
    /// PEM file with the private key.
    pub key: Spanned<PathBuf>,
    /// Certificates for other names.
    #[serde(default)]
    pub sni: Vec<Spanned<Certificate>>,
    /// PEM file of the authorities whose certificates callers may show. `None`: callers are not asked for one.
    pub client_ca: Option<Spanned<PathBuf>>,
    /// Whether callers must show one. Default `required`; needs `client_ca`.
    pub client_certificates: Option<Spanned<ClientCertificates>>,
    /// PEM file of what those authorities have revoked; needs `client_ca`.
    pub client_crl: Option<Spanned<PathBuf>>,
}

/// `[[listen.tls.sni]]`: a certificate for the names that it has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// PEM file with the certificate, then its chain.
    pub certificate: Spanned<PathBuf>,
    /// PEM file with the private key.
    pub key: Spanned<PathBuf>,
}

/// Whether callers must show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientCertificates {
    /// There is no connection without one.
    #[default]
    Required,
    /// Routes say whether they need one.
    Optional,
}

/// `[admin]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Admin {
    /// IP address and port of `/metrics`, `/healthz`, `/readyz` and the console. Default 127.0.0.1:9180.
    pub address: Spanned<SocketAddr>,
    /// Whether the console is there. Default: where only this machine reaches it.
    pub console: Option<Spanned<bool>>,
    /// Names under which the console may be asked, besides addresses and `localhost`.
    pub hosts: Vec<Spanned<String>>,
    /// With it, the listener speaks TLS only.
    pub tls: Option<ListenTls>,
}

impl Admin {
    /// Whether the console is there.
    pub fn has_console(&self) -> bool {
        self.console.as_deref().copied().unwrap_or(self.address.ip().is_loopback())
    }
}

impl Default for Admin {
    fn default() -> Self {
        Self { address: Spanned::new(ADMIN.into()), console: None, hosts: Vec::new(), tls: None }
    }
}

/// `[clients]`: who callers are, where other proxies stand before us.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clients {
    /// Proxies whose word is taken, by address or block (`10.0.0.0/8`). Default: none.
    pub trusted_peers: Vec<AddressBlock>,
    /// Where they say it. Default `nothing`.
    pub forwarded: Spanned<ForwardedHeader>,
    /// What becomes of headers with an underscore in the name. Default `drop`.
    pub underscores: Underscores,
}

/// `[api]`: our own endpoints.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Api {
    /// Serve them beside the routes, at exactly their own paths. Default on.
    pub enabled: bool,
    /// How answers spell what specification and SDKs spell differently.
    pub dialect: Dialect,
    /// Where callers reach us, `https://host[:port][/path]`: upload and download URLs begin with it. `None`: the first
    /// listener's address. What a request calls `Host` is never believed.
    pub public_url: Option<Spanned<String>>,
    /// Which of `[analyzers]` are asked about texts and documents that are to be redacted.
    pub analyzers: Vec<Spanned<String>>,
}

impl Default for Api {
    fn default() -> Self {
        Self { enabled: true, dialect: Dialect::Auto, public_url: None, analyzers: Vec::new() }
    }
}

/// How a success is spelt: the specification says `success`, every SDK compares `Success`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// By the caller's `User-Agent`.
    #[default]
    Auto,
    /// As the specification has it.
    Documented,
    /// As the SDKs expect it.
    Sdk,
}
