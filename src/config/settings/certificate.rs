//! Who may pass a route by a client certificate.

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;
use crate::config::Spanned;
use crate::gateway::client_certificate::SubjectName;

/// `[routes.certificate]`: only callers whose connection has proved a certificate that a `client_ca` has issued.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RouteCertificate {
    /// The certificate has one of these names; none: any.
    pub subjects: Vec<Spanned<Subject>>,
    /// What the upstream is told of it; whatever the caller sends under these names does not go on.
    pub headers: CertificateHeaders,
}

/// Names of headers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CertificateHeaders {
    /// Whom the certificate names, written as `subjects` are.
    pub subject: Option<Spanned<String>>,
    /// Its SHA-256, in hex.
    pub fingerprint: Option<Spanned<String>>,
}

/// A name that a certificate may have for its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject(pub SubjectName);

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| SubjectName::parse(text).map(Self);
        FromText { expected: "a name such as \"uri:spiffe://example.com/agent\"", parse }.read(deserializer)
    }
}
