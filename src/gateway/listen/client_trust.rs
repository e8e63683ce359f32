//! Which certificates of callers are good: who may issue them, and which were revoked (RFC 5280 sections 5 and 6).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme,
};

use crate::gateway::client_certificate::ClientCertificate;
use crate::gateway::listen::error::ListenError;
use crate::gateway::listen::provider::provider;

/// Whose certificates are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTrust {
    /// PEM file of the authorities that may have issued them.
    pub authorities: PathBuf,
    /// PEM file of the authorities' lists of what they have revoked. With one, each authority of a chain must have a list
    /// that is not out of date.
    pub revoked: Option<PathBuf>,
    /// Whether there is no connection without one.
    pub required: bool,
}

/// What verifies certificates of callers.
///
/// # Errors
/// Files that cannot be read, or hold what cannot be used.
pub(super) fn verifier(trust: &ClientTrust) -> Result<Arc<dyn ClientCertVerifier>, ListenError> {
    let ClientTrust { authorities, revoked, required } = trust;
    let roots = Arc::new(roots(authorities)?);
    let mut builder = WebPkiClientVerifier::builder_with_provider(roots, provider());
    if let Some(file) = revoked {
        builder = builder.with_crls(lists(file)?).enforce_revocation_expiration();
    }
    if !required {
        builder = builder.allow_unauthenticated();
    }
    let of = revoked.as_ref().unwrap_or(authorities);
    let verifier =
        builder.build().map_err(|_| ListenError::of_file(of, "it holds a list that cannot be used"))?;
    Ok(Arc::new(ReadableOnly(verifier)))
}

fn roots(file: &Path) -> Result<RootCertStore, ListenError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let all = all.map_err(|_| ListenError::of_file(file, "no authority in PEM can be read from it"))?;
    let mut roots = RootCertStore::empty();
    for authority in all {
        roots
            .add(authority)
            .map_err(|_| ListenError::of_file(file, "it holds an authority that cannot be used"))?;
    }
    if roots.is_empty() { Err(ListenError::of_file(file, "it holds no authority in PEM")) } else { Ok(roots) }
}

fn lists(file: &Path) -> Result<Vec<CertificateRevocationListDer<'static>>, ListenError> {
    let lists: Result<Vec<_>, _> =
        CertificateRevocationListDer::pem_file_iter(file).and_then(Iterator::collect);
    let lists = lists.map_err(|_| {
        ListenError::of_file(file, "no list of revoked certificates in PEM can be read from it")
    })?;
    if lists.is_empty() {
        // Without one, nothing would be taken for revoked.
        return Err(ListenError::of_file(file, "it holds no list of revoked certificates in PEM (X509 CRL)"));
    }
    Ok(lists)
}

/// Of the certificates that are good, takes those that we can read as well: what nobody can name is nobody's, and Pingora
/// panics on what it cannot parse.
#[derive(Debug)]
struct ReadableOnly(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for ReadableOnly {
    fn offer_client_auth(&self) -> bool {
        self.0.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.0.verify_client_cert(end_entity, intermediates, now)?;
        match ClientCertificate::read(end_entity) {
            Some(_) => Ok(verified),
            None => Err(Error::InvalidCertificate(CertificateError::BadEncoding)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
