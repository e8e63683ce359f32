//! Whose API a route leads to: what goes together, and what its upstream's address tells.

use crate::config::check::prefix;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{ProtocolSetting, Provider, Redact, Route, Settings};
use crate::config::spanned::Spanned;

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
    for route in &settings.routes {
        ends_elsewhere(route, diagnostics);
        both(route, diagnostics);
        generic(settings, route, diagnostics);
    }
}

/// What only a route that goes on has.
fn ends_elsewhere(route: &Spanned<Route>, diagnostics: &mut Diagnostics) {
    if *route.strip_prefix && route.path.is_none() && !diagnostics.lost(route.span().start, "path") {
        diagnostics
            .say(route.strip_prefix.span().start, "`strip_prefix` needs `path`: that is what is left out");
    }
    if let Some(put) = &route.replace_prefix {
        replaced(route, put, diagnostics);
    }
    let own = route.respond.is_some() || route.endpoint.is_some();
    if !own || route.forwards() {
        return;
    }
    if *route.strip_prefix {
        diagnostics.say(route.strip_prefix.span().start, "`strip_prefix` needs an `upstream`");
    }
    if let Some(put) = &route.replace_prefix {
        diagnostics.say(put.span().start, "`replace_prefix` needs an `upstream`");
    }
    if *route.provider != Provider::Auto {
        diagnostics.say(route.provider.span().start, "`provider` needs an `upstream`");
    }
}

/// What stands in the place of a path must be one, and there must be one.
fn replaced(route: &Spanned<Route>, put: &Spanned<String>, diagnostics: &mut Diagnostics) {
    let place = put.span().start;
    if route.path.is_none() && !diagnostics.lost(route.span().start, "path") {
        diagnostics.say(place, "`replace_prefix` needs `path`: that is what it stands for");
    }
    if *route.strip_prefix {
        let hint = "`strip_prefix` leaves `path` out, `replace_prefix` puts another there";
        diagnostics.hint(place, "a route has only one of `strip_prefix` and `replace_prefix`", hint);
    }
    prefix::sent("replace_prefix", put, "/v2", diagnostics);
}

fn both(route: &Route, diagnostics: &mut Diagnostics) {
    let protocol = route.redact.as_ref().map(|redact| &redact.protocol);
    let said = protocol.filter(|protocol| ***protocol != ProtocolSetting::Auto);
    if let Some(protocol) = said.filter(|_| *route.provider != Provider::Auto) {
        let hint = "`provider` of the route says it already";
        diagnostics.hint(protocol.span().start, "a route has only one of `provider` and `protocol`", hint);
    }
}

/// Read as anyone's, though it is known whose it is: what goes on over several events of a stream is not put together.
fn generic(settings: &Settings, route: &Spanned<Route>, diagnostics: &mut Diagnostics) {
    let Some(redact) = &route.redact else { return };
    let Some(at) = says_generic(route, redact) else { return };
    let upstream = route.upstream.as_ref().and_then(|name| settings.upstreams.get(name.as_str()));
    let known = upstream.and_then(|upstream| upstream.peers.iter().find_map(|peer| Provider::at(peer)));
    if let Some(provider) = known {
        let message = format!(
            "bodies are read as of no protocol, and the upstream's address is one of {}",
            provider.title()
        );
        diagnostics.doubt(at, message, format!("write provider = \"{}\" on the route", provider.name()));
    }
}

/// Where a route says that no protocol is spoken on it.
fn says_generic(route: &Route, redact: &Redact) -> Option<usize> {
    if *route.provider == Provider::Generic {
        return Some(route.provider.span().start);
    }
    (*redact.protocol == ProtocolSetting::Generic).then(|| redact.protocol.span().start)
}
