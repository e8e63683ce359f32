//! The filter of a route that sees to client certificates.

use std::sync::Arc;

use http::HeaderName;

use crate::app::services::Services;
use crate::config::settings::{CertificateHeaders, Route, RouteCertificate};
use crate::config::{Config, Spanned};
use crate::gateway::filter::Filter;
use crate::gateway::filters::{CertificateFilter, CertificateParts, StripHeadersFilter};

/// Lets only callers with a certificate pass where the route says so. On every route, what callers send in headers in which
/// some upstream is told of certificates does not go on: it may be the same upstream, behind another route. `None`: there is
/// nothing to see to.
///
/// # Errors
/// A header's name that is none, or a route that nobody with a certificate can reach.
pub(super) fn filter(
    setting: &Route,
    config: &Config,
    parts: &Services,
) -> Result<Option<Arc<dyn Filter>>, String> {
    let tables = config.routes.iter().filter_map(|route| route.certificate.as_ref());
    let named = tables.flat_map(|table| [&table.headers.subject, &table.headers.fingerprint]);
    let reserved: Vec<HeaderName> =
        named.filter_map(|name| header(name.as_ref()).transpose()).collect::<Result<_, _>>()?;
    if !setting.needs_certificate() {
        let strips: Option<Arc<dyn Filter>> = match reserved.is_empty() {
            true => None,
            false => Some(Arc::new(StripHeadersFilter::new(reserved))),
        };
        return Ok(strips);
    }
    if parts.embedded {
        let why = "client certificates are verified by listeners of our own, and the server that embeds this one has others";
        return Err(why.to_owned());
    }
    let RouteCertificate { subjects, headers } = setting.certificate.as_deref().cloned().unwrap_or_default();
    let CertificateHeaders { subject, fingerprint } = headers;
    Ok(Some(Arc::new(CertificateFilter::new(CertificateParts {
        subjects: subjects.into_iter().map(|subject| subject.into_inner().0).collect(),
        subject_header: header(subject.as_ref())?,
        fingerprint_header: header(fingerprint.as_ref())?,
        reserved,
    }))))
}

fn header(name: Option<&Spanned<String>>) -> Result<Option<HeaderName>, String> {
    let name = name.map(|name| HeaderName::from_bytes(name.as_bytes()));
    name.transpose().map_err(|_| "a header's name is wrong".to_owned())
}
