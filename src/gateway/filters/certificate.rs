//! Who calls, by the certificate that its connection has proved in the handshake, and whether whom that names may pass.
//! What the upstream is told of it goes in headers, which no caller can set.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::{HeaderName, HeaderValue};

use crate::api::ApiError;
use crate::gateway::client_certificate::{ClientCertificate, SubjectName};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::filters::spoofed::remove_spoofed;
use crate::gateway::plan::RequestPlan;

/// Why a certificate that is good does not pass.
const OTHER: &str = "the client certificate names nobody who may use this route";

/// What the filter is made from.
#[derive(Default)]
pub struct CertificateParts {
    /// Who may pass; none: whoever has a certificate.
    pub subjects: Vec<SubjectName>,
    /// The header in which the upstream is told whom the certificate names.
    pub subject_header: Option<HeaderName>,
    /// The header in which it is told the certificate's SHA-256, in hex.
    pub fingerprint_header: Option<HeaderName>,
    /// All headers in which any upstream is told of certificates: what callers send there does not go on.
    pub reserved: Vec<HeaderName>,
}

/// Lets only callers pass whose connection has proved a certificate.
pub struct CertificateFilter(CertificateParts);

impl CertificateFilter {
    /// Makes the filter.
    pub fn new(parts: CertificateParts) -> Self {
        Self(parts)
    }

    fn covers(&self, certificate: &ClientCertificate) -> bool {
        let subjects = &self.0.subjects;
        subjects.is_empty() || certificate.names().iter().any(|name| subjects.contains(name))
    }
}

#[async_trait]
impl Filter for CertificateFilter {
    fn name(&self) -> &'static str {
        "certificate"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let now = x.clock().now();
        let shown = x.connection_certificate.as_ref().filter(|certificate| !certificate.is_expired(now));
        let certificate = Arc::clone(shown.ok_or(ApiError::Unauthorized)?);
        // The log says who it was also of one who may not.
        x.facts.certificate = Some(Arc::clone(&certificate));
        if !self.covers(&certificate) {
            return Err(ApiError::OutOfScope(OTHER).into());
        }
        let head = x.head_mut();
        self.0.reserved.iter().for_each(|header| remove_spoofed(head, header));
        let told = [
            (&self.0.subject_header, certificate.identity_in_header()),
            (&self.0.fingerprint_header, certificate.fingerprint()),
        ];
        for (header, value) in told {
            let Some(header) = header else { continue };
            let value = HeaderValue::from_str(&value).map_err(|_| ApiError::Internal("certificate"))?;
            head.insert_header(header.clone(), value).map_err(|_| ApiError::Internal("certificate"))?;
        }
        Ok(Flow::Next)
    }
}

/// Takes off headers in which only we speak, on routes that say nothing there.
pub struct StripHeadersFilter(Vec<HeaderName>);

impl StripHeadersFilter {
    /// Takes these off.
    pub fn new(headers: Vec<HeaderName>) -> Self {
        Self(headers)
    }
}

#[async_trait]
impl Filter for StripHeadersFilter {
    fn name(&self) -> &'static str {
        "headers"
    }

    fn stage(&self) -> Stage {
        Stage::Identify
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        let head = x.head_mut();
        self.0.iter().for_each(|header| remove_spoofed(head, header));
        Ok(Flow::Next)
    }
}

#[cfg(test)]
#[path = "certificate_tests.rs"]
mod tests;
