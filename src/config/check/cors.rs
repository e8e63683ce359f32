//! What browsers are told: what names something, and what a browser would not take.

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Cors, Route};
use crate::config::spanned::Spanned;
use crate::gateway::origin::OriginRule;

pub(super) fn all(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        let Some(cors) = &route.cors else { continue };
        origins(cors, diagnostics);
        methods(route, cors, diagnostics);
        names(cors, diagnostics);
    }
}

fn origins(cors: &Cors, diagnostics: &mut Diagnostics) {
    let Cors { origins, credentials, .. } = cors;
    if origins.is_empty() && !diagnostics.within(&origins.span()) {
        diagnostics.hint(
            origins.span().start,
            "`origins` names none",
            "leave `cors` out: no page may call then",
        );
    }
    for (n, origin) in origins.iter().enumerate() {
        let place = origin.span().start;
        if origins.iter().take(n).any(|other| other == origin) {
            diagnostics.say(place, "this origin is named twice");
        }
        match **origin {
            OriginRule::Any if origins.len() > 1 => {
                diagnostics.say(place, "`*` stands alone: it is every origin")
            }
            OriginRule::Any if **credentials => {
                let hint = "or every page on the web could act for whoever visits it";
                diagnostics.hint(place, "with `credentials`, `origins` must be named", hint);
            }
            OriginRule::Opaque if **credentials => {
                let hint = "every page can put another into a sandbox, whose origin is `null` then";
                diagnostics.hint(place, "`null` with `credentials` is every origin", hint);
            }
            _ => {}
        }
    }
}

fn methods(route: &Route, cors: &Cors, diagnostics: &mut Diagnostics) {
    let Some(methods) = &cors.methods else { return };
    if methods.is_empty() && !diagnostics.within(&methods.span()) {
        let hint = "without it pages may use those that the route takes";
        diagnostics.hint(methods.span().start, "`methods` names none", hint);
    }
    let taken =
        |method: &&Spanned<_>| route.method.is_empty() || route.method.iter().any(|own| **own == ***method);
    for method in methods.iter().filter(|method| !taken(method)) {
        diagnostics.say(method.span().start, "the route does not take this method");
    }
}

fn names(cors: &Cors, diagnostics: &mut Diagnostics) {
    for name in cors.headers.iter().flat_map(|names| names.iter()).chain(&cors.expose) {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            diagnostics.say(name.span().start, "not a field name (RFC 9110 section 5.1)");
        }
    }
    let star = |name: &&Spanned<String>| name.as_str() == "*";
    if let Some(star) = cors.headers.iter().flat_map(|names| names.iter()).find(star) {
        diagnostics.hint(star.span().start, "`*` is no header", "without `headers` pages may send any");
    }
    let Some(star) = cors.expose.iter().find(star) else { return };
    if *cors.credentials {
        diagnostics.say(star.span().start, "with `credentials` browsers do not take `*` for all headers");
    } else if cors.expose.len() > 1 {
        diagnostics.say(star.span().start, "`*` stands alone: it is every header");
    }
}
