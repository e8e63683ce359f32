//! The files of a listener's TLS, as the configuration names them.

use crate::config::settings::{Certificate, ClientCertificates, ListenTls};
use crate::gateway::listen::{CertificateFiles, ClientTrust, TlsFiles};

/// Those that a listener's settings name.
pub(super) fn tls_files(setting: &ListenTls) -> TlsFiles {
    let ListenTls { certificate, key, sni, client_ca, client_certificates, client_crl } = setting;
    let named = sni.iter().map(|one| {
        let Certificate { certificate, key } = &**one;
        CertificateFiles { chain: certificate.to_path_buf(), key: key.to_path_buf() }
    });
    let clients = client_ca.as_ref().map(|authorities| ClientTrust {
        authorities: authorities.to_path_buf(),
        revoked: client_crl.as_ref().map(|file| file.to_path_buf()),
        required: client_certificates.as_deref().copied().unwrap_or_default() == ClientCertificates::Required,
    });
    TlsFiles {
        certificate: CertificateFiles { chain: certificate.to_path_buf(), key: key.to_path_buf() },
        named: named.collect(),
        clients,
    }
}
