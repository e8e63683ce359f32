//! [`ListenerTls`]: what a listener shows and asks for in TLS, which can be replaced while it is in use: handshakes that
//! have begun end with what they began with, the next ones see the new. Nothing outlives a replacement but the connections
//! themselves: tickets are off (RFC 8446 section 2.2), and sessions that are kept are those of one state of the files.

use std::any::Any;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use pingora::listeners::TlsAccept;
use pingora::listeners::tls::{Acceptor, TlsSettings};
use pingora::protocols::tls::TlsRef;
use rustls::ServerConfig;
use rustls::server::{NoServerSessionStorage, ResolvesServerCert};

use crate::base::clock::Timestamp;
use crate::gateway::client_certificate::ClientCertificate;
use crate::gateway::embed::choose_tls;
use crate::gateway::listen::certificate::CertificateFiles;
use crate::gateway::listen::client_trust::{self, ClientTrust};
use crate::gateway::listen::error::ListenError;
use crate::gateway::listen::provider::provider;
use crate::gateway::listen::shown_certificates::{CertificatesBefore, ShownCertificates};

/// The files that a listener's TLS is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Shown to callers that ask for no name, or for one that no certificate has.
    pub certificate: CertificateFiles,
    /// Shown to callers that ask for one of their names.
    pub named: Vec<CertificateFiles>,
    /// Which callers' certificates are good, where callers are asked for one.
    pub clients: Option<ClientTrust>,
}

impl TlsFiles {
    /// The files of private keys.
    pub fn keys(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.certificate).chain(&self.named).map(|files| files.key.as_path())
    }
}

/// What the files held when they were read.
struct ReadTls {
    acceptor: Arc<Acceptor>,
    shown: Arc<ShownCertificates>,
}

/// What a listener may show and ask for from now on.
pub struct Renewed(ReadTls);

impl Renewed {
    /// The files of certificates that are not good now, where the one before is and stays.
    pub fn kept(&self) -> impl Iterator<Item = &Path> {
        self.0.shown.kept()
    }
}

/// What a listener shows and asks for.
pub struct ListenerTls(ArcSwap<ReadTls>);

impl ListenerTls {
    /// Reads all of the files.
    ///
    /// # Errors
    /// The first of them that cannot be used.
    pub fn load(files: &TlsFiles) -> Result<Self, ListenError> {
        Ok(Self(ArcSwap::from_pointee(read(files, None)?)))
    }

    /// Reads files, to be shown later: of several listeners, those of all can be read first. A certificate that is not good
    /// `now` does not take the place of one that is.
    ///
    /// # Errors
    /// As [`ListenerTls::load`].
    pub fn read(&self, files: &TlsFiles, now: Timestamp) -> Result<Renewed, ListenError> {
        let running = self.0.load();
        read(files, Some(CertificatesBefore { shown: &running.shown, now })).map(Renewed)
    }

    /// Goes by what was read from the next handshake on: certificates, authorities and revocations change together.
    pub fn show(&self, renewed: Renewed) {
        self.0.store(Arc::new(renewed.0));
    }

    /// TLS 1.2 and 1.3 as the files say now.
    pub(super) fn acceptor(&self) -> Arc<Acceptor> {
        Arc::clone(&self.0.load().acceptor)
    }
}

impl fmt::Debug for ListenerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenerTls").finish_non_exhaustive()
    }
}

fn read(files: &TlsFiles, before: Option<CertificatesBefore<'_>>) -> Result<ReadTls, ListenError> {
    let shown = Arc::new(ShownCertificates::read(&files.certificate, &files.named, before)?);
    let acceptor = acceptor(files, Arc::<ShownCertificates>::clone(&shown))?;
    Ok(ReadTls { acceptor: Arc::new(acceptor), shown })
}

/// HTTP/2 is preferred where the caller knows it.
fn acceptor(files: &TlsFiles, shown: Arc<dyn ResolvesServerCert>) -> Result<Acceptor, ListenError> {
    let TlsFiles { certificate, named: _, clients } = files;
    let unusable = |why| ListenError::Certificate { file: certificate.chain.clone(), why };
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|_| unusable("the versions of TLS are not built in"))?;
    let builder = match clients {
        Some(trust) => builder.with_client_cert_verifier(client_trust::verifier(trust)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(Arc::clone(&shown));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    if clients.is_none() {
        return Ok(Acceptor::from_server_config(Arc::new(config)));
    }
    // Of a session that is resumed, the certificate is not verified again.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    // Pingora takes a callback with a configuration of its own making only, so that is made and replaced.
    let callback = TlsSettings::with_callbacks(Box::new(PeerCertificate));
    let mut settings = callback.map_err(|_| unusable("callers cannot be asked for certificates"))?;
    settings.set_cert_resolver(shown);
    choose_tls();
    let mut acceptor = settings.build();
    acceptor.acceptor = Acceptor::from_server_config(Arc::new(config)).acceptor;
    Ok(acceptor)
}

/// Leaves the certificate that was verified where requests find it.
struct PeerCertificate;

#[async_trait]
impl TlsAccept for PeerCertificate {
    async fn handshake_complete_callback(&self, tls: &TlsRef) -> Option<Arc<dyn Any + Send + Sync>> {
        let certificate = ClientCertificate::read(tls.peer_certificate_der()?)?;
        Some(Arc::new(Arc::new(certificate)))
    }
}
