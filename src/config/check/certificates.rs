//! Certificates: those that listeners show, and those that callers must.

use std::collections::HashMap;

use http::HeaderName;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST};

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, ListenTls, Route, RouteCertificate, Settings};
use crate::config::spanned::Spanned;
use crate::gateway::listen::CertificateSubject;
use crate::gateway::upstream::never_leaves;

/// The most certificates that a listener has for other names.
const MOST: usize = 1000;

/// Headers that say how a message is read, and where it goes.
const FRAMING: [HeaderName; 5] = [CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST];

pub(super) fn listeners(settings: &Settings, diagnostics: &mut Diagnostics) {
    for tls in settings.listen.iter().filter_map(|listen| listen.tls.as_ref()) {
        shown(tls, diagnostics);
        let places = [
            (tls.client_certificates.as_ref().map(|at| at.span().start), "client_certificates"),
            (tls.client_crl.as_ref().map(|at| at.span().start), "client_crl"),
        ];
        for (place, name) in places.into_iter().filter(|_| tls.client_ca.is_none()) {
            // A `client_ca` that could not be read has been said.
            if let Some(place) = place.filter(|_| !diagnostics.lost_anywhere("client_ca")) {
                let message = format!("`{name}` does nothing here: callers are not asked for certificates");
                diagnostics.hint(place, message, "name their authorities in `client_ca`");
            }
        }
    }
}

/// What a listener shows: what nobody would be shown is a mistake, what some would not be may not be meant.
fn shown(tls: &ListenTls, diagnostics: &mut Diagnostics) {
    if let Some(beyond) = tls.sni.get(MOST) {
        return diagnostics
            .say(beyond.span().start, format!("a listener has at most {MOST} certificates in `sni`"));
    }
    let first = std::iter::once(&tls.certificate);
    let all: Vec<_> = first.chain(tls.sni.iter().map(|one| &one.certificate)).collect();
    let mut by_file = HashMap::new();
    let mut by_name = HashMap::new();
    for (n, file) in all.into_iter().enumerate() {
        let place = file.span().start;
        if by_file.insert(file.as_path(), ()).is_some() {
            diagnostics.say(place, "this certificate is shown here already");
            continue;
        }
        // A file that is not there was named, and what is wrong with one is said where it is used.
        let Ok(CertificateSubject { names, algorithm, .. }) = CertificateSubject::read(file) else {
            continue;
        };
        if n > 0 && names.is_empty() {
            let hint = "callers ask for a DNS name, which stands in `subjectAltName`";
            diagnostics.hint(place, "nobody is shown this certificate: it has no DNS name", hint);
        }
        for name in names {
            let other = by_name.entry((name.clone(), algorithm.clone())).or_insert((n, file));
            if other.0 != n {
                let message = format!("`{}` is a certificate for `{name}` too", other.1.display());
                diagnostics.doubt(place, message, "the first of both is shown");
            }
        }
    }
}

pub(super) fn routes(settings: &Settings, diagnostics: &mut Diagnostics) {
    let asked =
        settings.listen.iter().filter_map(|listen| listen.tls.as_ref()).any(|tls| tls.client_ca.is_some());
    for route in settings.routes.iter().filter(|route| route.needs_certificate()) {
        let auth =
            route.auth.as_ref().filter(|auth| ***auth == Auth::Certificate).map(|auth| auth.span().start);
        let table = route.certificate.as_ref().map(|table| table.span().start);
        let Some(place) = auth.or(table) else { continue };
        if !asked && !diagnostics.lost_anywhere("client_ca") && !diagnostics.lost(0, "listen") {
            let hint = "name the authorities of callers in `client_ca` of a listener's `tls`";
            diagnostics.hint(place, "no caller has a certificate: no listener asks for one", hint);
        }
        if let Some(certificate) = &route.certificate {
            pass(route, certificate, diagnostics);
            headers(settings, route, certificate, diagnostics);
        }
    }
}

/// Whether `auth` says what the table does.
fn pass(route: &Spanned<Route>, certificate: &Spanned<RouteCertificate>, diagnostics: &mut Diagnostics) {
    let place = certificate.span().start;
    let own = route.endpoint.is_some() && !route.forwards() && route.guardrail().is_none();
    if own {
        diagnostics
            .say(place, "[routes.certificate] does nothing here: our own endpoints always ask for a token");
    } else if route.auth() == Auth::None && !diagnostics.lost(route.span().start, "auth") {
        let hint = "write auth = \"certificate\", or \"token\" to ask for both";
        diagnostics.hint(place, "[routes.certificate] is for callers that must have one", hint);
    }
}

fn headers(
    settings: &Settings,
    route: &Route,
    certificate: &RouteCertificate,
    diagnostics: &mut Diagnostics,
) {
    let RouteCertificate { headers, .. } = certificate;
    let upstream = route.upstream.as_ref().and_then(|name| settings.upstreams.get(name.as_str()));
    let of_upstream = upstream.iter().flat_map(|upstream| upstream.headers.keys()).map(|name| name.as_str());
    let of_jwt = route.claim_headers().map(|name| name.as_str());
    let of_sign = route.sign.iter().map(|sign| sign.header.as_str());
    let mut taken: Vec<String> =
        of_upstream.chain(of_jwt).chain(of_sign).map(str::to_ascii_lowercase).collect();
    for written in [&headers.subject, &headers.fingerprint].into_iter().flatten() {
        let place = written.span().start;
        match HeaderName::from_bytes(written.as_bytes()) {
            Err(_) => diagnostics.say(place, "not a header's name"),
            Ok(name) if FRAMING.contains(&name) => {
                diagnostics
                    .say(place, "this header says how a message is read, a certificate cannot stand there");
            }
            Ok(name) if never_leaves(&name) => {
                let message =
                    format!("`{name}` never goes on to an upstream: some proxy might have written it");
                diagnostics.say(place, message);
            }
            Ok(name) if taken.iter().any(|other| other == name.as_str()) => {
                diagnostics.say(place, "this header has another value already");
            }
            Ok(name) => taken.push(name.as_str().to_owned()),
        }
    }
}
