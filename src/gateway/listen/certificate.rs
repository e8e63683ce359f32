//! A certificate of ours: its files, its key, and the names that it is for.

use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

use crate::base::clock::Timestamp;
use crate::gateway::listen::error::ListenError;
use crate::gateway::listen::provider::provider;

/// The two PEM files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, then its chain.
    pub chain: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl CertificateFiles {
    /// The certificate with its key, and whom it is for.
    ///
    /// # Errors
    /// Files that cannot be read, or a key that is not the certificate's.
    pub(super) fn read(&self) -> Result<(CertifiedKey, CertificateSubject), ListenError> {
        let Self { chain, key } = self;
        let certificates = certificates(chain)?;
        let subject = CertificateSubject::of(&certificates, chain)?;
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|_| ListenError::of_file(key, "no private key in PEM can be read from it"))?;
        let certified = CertifiedKey::from_der(certificates, private, &provider()).map_err(|_| {
            ListenError::of_file(chain, "the certificate cannot be used, or the key is not its own")
        })?;
        Ok((certified, subject))
    }
}

/// Whom a certificate is for, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSubject {
    /// Its DNS names (`subjectAltName`), lower-case, without a dot at the end; the first label may be `*`. A common name is
    /// none (RFC 9525 section 2), nor is an address: callers do not ask for addresses (RFC 6066 section 3).
    pub names: Vec<String>,
    /// The algorithm of its key, as an object identifier: not every caller can verify each.
    pub algorithm: String,
    /// From when on it is good.
    pub not_before: Timestamp,
    /// Until when it is good.
    pub not_after: Timestamp,
}

impl CertificateSubject {
    /// Reads it from the first certificate of a chain; the key need not be there.
    ///
    /// # Errors
    /// A file that cannot be read, or holds no certificate.
    pub fn read(chain: &Path) -> Result<Self, ListenError> {
        Self::of(&certificates(chain)?, chain)
    }

    /// Whether callers can be shown either: the names are the same, and the algorithm.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        !self.names.is_empty() && self.names == other.names && self.algorithm == other.algorithm
    }

    /// Whether it is good at this time, as callers see it.
    pub(super) fn is_good(&self, now: Timestamp) -> bool {
        (self.not_before.as_millis()..=self.not_after.as_millis()).contains(&now.as_millis())
    }

    fn of(certificates: &[CertificateDer<'_>], chain: &Path) -> Result<Self, ListenError> {
        let first = certificates.first().ok_or_else(|| ListenError::of_file(chain, NO_CERTIFICATE))?;
        let unreadable = || ListenError::of_file(chain, "the names of its first certificate cannot be read");
        let (_, certificate) = X509Certificate::from_der(first).map_err(|_| unreadable())?;
        let alternatives = certificate.subject_alternative_name().map_err(|_| unreadable())?;
        let general = alternatives.iter().flat_map(|found| &found.value.general_names);
        let names = general.filter_map(|name| match name {
            GeneralName::DNSName(name) => dns_name(name),
            _ => None,
        });
        let algorithm = certificate.public_key().algorithm.algorithm.to_id_string();
        let at =
            |seconds: i64| Timestamp::from_millis(u64::try_from(seconds).unwrap_or(0).saturating_mul(1000));
        let not_before = at(certificate.validity().not_before.timestamp());
        let not_after = at(certificate.validity().not_after.timestamp());
        Ok(Self { names: names.collect(), algorithm, not_before, not_after })
    }
}

/// A name as it is compared. `None`: no caller asks for it.
fn dns_name(written: &str) -> Option<String> {
    let name = written.strip_suffix('.').unwrap_or(written).to_ascii_lowercase();
    let labels = name.strip_prefix("*.").unwrap_or(&name);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fits = !labels.is_empty() && !labels.starts_with('.') && labels.bytes().all(is_name);
    fits.then_some(name)
}

const NO_CERTIFICATE: &str = "no certificate in PEM can be read from it";

fn certificates(chain: &Path) -> Result<Vec<CertificateDer<'static>>, ListenError> {
    let all = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    all.map_err(|_| ListenError::of_file(chain, NO_CERTIFICATE))
}

#[cfg(test)]
mod tests {
    use super::dns_name;

    #[test]
    fn names_are_compared_as_callers_ask_for_them() {
        let rows = [
            ("Chat.Example.COM", Some("chat.example.com")),
            ("chat.example.com.", Some("chat.example.com")),
            ("*.Example.com", Some("*.example.com")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("localhost", Some("localhost")),
            // Only a whole label at the beginning stands for others (RFC 9525 section 6.3).
            ("chat*.example.com", None),
            ("*", None),
            ("*.", None),
            ("*..example.com", None),
            ("a.*.example.com", None),
            ("*.*.example.com", None),
            ("bücher.example", None),
            ("a b", None),
            ("", None),
            (".", None),
        ];
        for (written, name) in rows {
            assert_eq!(dns_name(written).as_deref(), name, "{written}");
        }
    }
}
