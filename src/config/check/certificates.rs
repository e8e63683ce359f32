//! Certificates: those that listeners show, and whether they ask callers for theirs.

use std::collections::HashMap;

use crate::config::mistakes::Mistakes;
use crate::config::settings::{Settings, Tls};
use crate::gateway::listen::CertificateSubject;

/// The most certificates that a listener has for other names.
const MOST: usize = 1000;

pub(super) fn listeners(settings: &Settings, mistakes: &mut Mistakes) {
    for tls in settings.listen.iter().filter_map(|listen| listen.tls.as_ref()) {
        shown(tls, mistakes);
        let places = [
            (tls.client_certificates.as_ref().map(|at| at.span().start), "client_certificates"),
            (tls.client_crl.as_ref().map(|at| at.span().start), "client_crl"),
        ];
        for (place, name) in places.into_iter().filter(|_| tls.client_ca.is_none()) {
            // A `client_ca` that could not be read has been said.
            if let Some(place) = place.filter(|_| !mistakes.lost_anywhere("client_ca")) {
                let message = format!("`{name}` does nothing here: callers are not asked for certificates");
                mistakes.hint(place, message, "name their authorities in `client_ca`");
            }
        }
    }
}

/// What a listener shows: what nobody would be shown is a mistake, what some would not be may not be meant.
fn shown(tls: &Tls, mistakes: &mut Mistakes) {
    if let Some(beyond) = tls.sni.get(MOST) {
        return mistakes
            .say(beyond.span().start, format!("a listener has at most {MOST} certificates in `sni`"));
    }
    let first = std::iter::once(&tls.certificate);
    let all: Vec<_> = first.chain(tls.sni.iter().map(|one| &one.certificate)).collect();
    let mut by_file = HashMap::new();
    let mut by_name = HashMap::new();
    for (n, file) in all.into_iter().enumerate() {
        let place = file.span().start;
        if by_file.insert(file.as_path(), ()).is_some() {
            mistakes.say(place, "this certificate is shown here already");
            continue;
        }
        // A file that is not there was named, and what is wrong with one is said where it is used.
        let Ok(CertificateSubject { names, algorithm }) = CertificateSubject::read(file) else { continue };
        if n > 0 && names.is_empty() {
            let hint = "callers ask for a DNS name, which stands in `subjectAltName`";
            mistakes.hint(place, "nobody is shown this certificate: it has no DNS name", hint);
        }
        for name in names {
            let other = by_name.entry((name.clone(), algorithm.clone())).or_insert((n, file));
            if other.0 != n {
                let message = format!("`{}` is a certificate for `{name}` too", other.1.display());
                mistakes.doubt(place, message, "the first of both is shown");
            }
        }
    }
}
