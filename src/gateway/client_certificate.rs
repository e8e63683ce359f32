//! [`ClientCertificate`]: who is at the other end of a connection, by the certificate that it has shown in the handshake
//! and whose key it has. Which authorities may have issued it the listener says; here it is read.

use std::fmt;

use data_encoding::HEXLOWER;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

use crate::base::clock::Timestamp;
use crate::crypto::hash::sha256;

/// The longest name that is taken, in bytes: as long as an identifier of SPIFFE may be (SPIFFE-ID section 2.3).
const LONGEST_NAME: usize = 2048;

/// How much of the fingerprint names a certificate in logs, in bytes.
const LOGGED: usize = 8;

/// A certificate that was verified in the handshake.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    fingerprint: [u8; 32],
    names: Vec<SubjectName>,
    identity: String,
    /// The last second in which it is valid, since 1970.
    not_after: i64,
}

impl ClientCertificate {
    /// Reads a certificate. `None`: it is no certificate, or has a name that it cannot have (RFC 5280 section 4.2.1.6:
    /// those that are compared are ASCII). To leave one name out would make its holder known by the next.
    pub fn read(der: &[u8]) -> Option<Self> {
        let (rest, certificate) = X509Certificate::from_der(der).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let names = names(&certificate)?;
        let fingerprint = sha256(der);
        let identity = match names.first() {
            Some(name) => name.to_string(),
            None => format!("sha256:{}", HEXLOWER.encode(&fingerprint)),
        };
        let not_after = certificate.validity().not_after.timestamp();
        Some(Self { fingerprint, names, identity, not_after })
    }

    /// By what its holder is known again, whichever of its certificates it shows: the first URI that it has, else DNS name,
    /// else e-mail address, else common name. One that has none of these is known by its fingerprint alone.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The identity as a header's value: what is not visible ASCII, and `%`, is percent-encoded in a common name. The others
    /// are visible ASCII.
    pub fn identity_in_header(&self) -> String {
        match self.names.first() {
            Some(SubjectName::Common(name)) => {
                let written = |byte: u8| match byte {
                    b'!'..=b'~' if byte != b'%' => char::from(byte).to_string(),
                    other => format!("%{other:02X}"),
                };
                format!("{COMMON}{}", name.bytes().map(written).collect::<String>())
            }
            _ => self.identity.clone(),
        }
    }

    /// All names that it has.
    pub fn names(&self) -> &[SubjectName] {
        &self.names
    }

    /// SHA-256 of the certificate, in hex.
    pub fn fingerprint(&self) -> String {
        HEXLOWER.encode(&self.fingerprint)
    }

    /// What logs call it: the beginning of its fingerprint. Its names may be a person's.
    pub fn short_fingerprint(&self) -> String {
        HEXLOWER.encode(self.fingerprint.get(..LOGGED).unwrap_or_default())
    }

    /// Whether its time is over: a connection may outlive it.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        i64::try_from(now.as_millis() / 1000).unwrap_or(i64::MAX) > self.not_after
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientCertificate({})", self.short_fingerprint())
    }
}

/// The names in the order of their worth: URIs, DNS names, e-mail addresses, the common name.
fn names(certificate: &X509Certificate<'_>) -> Option<Vec<SubjectName>> {
    let mut names = Vec::new();
    let alternatives = certificate.subject_alternative_name().ok()?;
    for name in alternatives.iter().flat_map(|found| &found.value.general_names) {
        let (make, text): (fn(&str) -> SubjectName, &str) = match name {
            GeneralName::URI(text) => (SubjectName::uri, text),
            GeneralName::DNSName(text) => (SubjectName::dns, text),
            GeneralName::RFC822Name(text) => (SubjectName::email, text),
            _ => continue,
        };
        if !is_name(text) || !is_visible(text) {
            return None;
        }
        names.push(make(text));
    }
    // Of several nobody could say which is meant.
    let mut common = certificate.subject().iter_common_name();
    if let (Some(one), None) = (common.next(), common.next())
        && let Ok(text) = one.as_str()
        && is_name(text)
    {
        names.push(SubjectName::Common(text.to_owned()));
    }
    names.sort_by_key(SubjectName::rank);
    Some(names)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_NAME
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A name that a certificate has for its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectName {
    /// A URI, such as an identifier of SPIFFE. Compared as it is written.
    Uri(String),
    /// A DNS name, lower-case, without the dot that may end it.
    Dns(String),
    /// An e-mail address, its domain lower-case (RFC 5280 section 7.5).
    Email(String),
    /// The common name of the subject, if there is one alone. Compared as it is written.
    Common(String),
}

/// What is written before a common name, as everywhere (RFC 4514 section 3).
const COMMON: &str = "CN=";

/// Says that a text is no name of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a name of a certificate, write one such as \"uri:spiffe://example.com/agent\", \"dns:agent.example.com\", \
     \"email:jane@example.com\" or \"CN=agent\""
)]
pub struct SubjectNameError;

impl SubjectName {
    /// Reads the written form.
    ///
    /// # Errors
    /// A text without a kind, or with a name that no certificate has. A `*` is none: it would stand for no other name.
    pub fn parse(text: &str) -> Result<Self, SubjectNameError> {
        let (make, name): (fn(&str) -> Self, &str) = if let Some(name) = text.strip_prefix(COMMON) {
            return is_name(name).then(|| Self::Common(name.to_owned())).ok_or(SubjectNameError);
        } else if let Some(name) = text.strip_prefix("uri:") {
            (Self::uri, name)
        } else if let Some(name) = text.strip_prefix("dns:") {
            (Self::dns, name)
        } else if let Some(name) = text.strip_prefix("email:") {
            (Self::email, name)
        } else {
            return Err(SubjectNameError);
        };
        let whole = is_name(name) && is_visible(name);
        let name = make(name);
        let fits = match &name {
            Self::Uri(uri) => uri.contains(':'),
            Self::Dns(name) => !name.is_empty() && !name.contains(['*', '@', ':', '/']),
            Self::Email(address) => address.split_once('@').is_some_and(|(local, domain)| {
                !local.is_empty() && !domain.is_empty() && !domain.contains('@')
            }),
            Self::Common(_) => true,
        };
        if whole && fits { Ok(name) } else { Err(SubjectNameError) }
    }

    fn uri(text: &str) -> Self {
        Self::Uri(text.to_owned())
    }

    fn dns(text: &str) -> Self {
        Self::Dns(text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase())
    }

    fn email(text: &str) -> Self {
        Self::Email(match text.rsplit_once('@') {
            Some((local, domain)) => format!("{local}@{}", domain.to_ascii_lowercase()),
            None => text.to_owned(),
        })
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Uri(_) => 0,
            Self::Dns(_) => 1,
            Self::Email(_) => 2,
            Self::Common(_) => 3,
        }
    }
}

impl fmt::Display for SubjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri(uri) => write!(f, "uri:{uri}"),
            Self::Dns(name) => write!(f, "dns:{name}"),
            Self::Email(address) => write!(f, "email:{address}"),
            Self::Common(name) => write!(f, "{COMMON}{name}"),
        }
    }
}

#[cfg(test)]
#[path = "client_certificate_tests.rs"]
mod tests;
