//! A listener's certificate, which can be replaced while it is in use: handshakes that have begun end with the one they
//! began with, the next ones see the new one. Sessions are never resumed from outside this process (RFC 8446 section
//! 2.2: tickets are off), so nothing of an old key is kept anywhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use pingora::listeners::tls::Acceptor;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::gateway::listen::error::ListenError;

/// What a certificate's files held when they were read again.
#[derive(Debug)]
pub struct Renewed(CertifiedKey);

/// A certificate chain with its key, from two PEM files.
#[derive(Debug)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    shown: ArcSwap<CertifiedKey>,
}

impl Certificate {
    /// Reads the chain (the certificate first) and the key.
    ///
    /// # Errors
    /// Files that cannot be read, or a key that is not the certificate's.
    pub fn load(chain: PathBuf, key: PathBuf) -> Result<Self, ListenError> {
        let shown = ArcSwap::from_pointee(read(&chain, &key)?);
        Ok(Self { chain, key, shown })
    }

    /// Whether it is read from these two files.
    pub fn is_from(&self, chain: &Path, key: &Path) -> bool {
        self.chain == chain && self.key == key
    }

    /// Reads the files again. What is shown stays until [`Certificate::show`]: of several, all can be read first.
    ///
    /// # Errors
    /// As [`Certificate::load`].
    pub fn renewed(&self) -> Result<Renewed, ListenError> {
        Ok(Renewed(read(&self.chain, &self.key)?))
    }

    /// Shows this from the next handshake on.
    pub fn show(&self, renewed: Renewed) {
        self.shown.store(Arc::new(renewed.0));
    }

    /// TLS 1.2 and 1.3 with this certificate; HTTP/2 is preferred where the caller knows it.
    ///
    /// # Errors
    /// A provider without the protocol versions, which would be a fault of the build.
    pub(super) fn acceptor(self: &Arc<Self>) -> Result<Acceptor, ListenError> {
        let shows: Arc<dyn ResolvesServerCert> = Arc::clone(self) as _;
        let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|_| ListenError::Certificate {
            file: self.chain.clone(),
            why: "the versions of TLS are not built in",
        })?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(shows);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Acceptor::from_server_config(Arc::new(config)))
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.shown.load_full())
    }
}

fn provider() -> Arc<CryptoProvider> {
    let active = CryptoProvider::get_default().cloned();
    active.unwrap_or_else(|| Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}

fn read(chain: &PathBuf, key: &PathBuf) -> Result<CertifiedKey, ListenError> {
    let refused = |file: &PathBuf, why| ListenError::Certificate { file: file.clone(), why };
    let no_chain = |_| refused(chain, "no certificate in PEM can be read from it");
    let certificates = CertificateDer::pem_file_iter(chain).map_err(no_chain)?;
    let certificates: Vec<_> = certificates.collect::<Result<_, _>>().map_err(no_chain)?;
    let private = PrivateKeyDer::from_pem_file(key);
    let private = private.map_err(|_| refused(key, "no private key in PEM can be read from it"))?;
    CertifiedKey::from_der(certificates, private, &provider())
        .map_err(|_| refused(chain, "the certificate cannot be used, or the key is not its own"))
}
