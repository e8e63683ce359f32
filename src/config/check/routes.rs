//! Routes: names, ends, paths, who may pass, and whether a request can reach them at all.

use crate::base::path::RequestPath;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, Endpoint, Host, PathMatch, RateBy, Route, Settings, WebSocket};
use crate::config::similar;
use crate::config::spanned::Spanned;

/// What says where a route ends.
const ENDS: [&str; 3] = ["upstream", "respond", "endpoint"];

/// What says which requests a route takes.
const MATCHES: [&str; 4] = ["host", "path", "pattern", "method"];

pub(super) fn names(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for (i, route) in routes.iter().enumerate() {
        let begin = route.span().start;
        if route.name.is_empty() {
            if !diagnostics.lost(begin, "name") {
                diagnostics.say(begin, "`name` is missing: it tells the route in logs and metrics");
            }
        } else if routes.iter().take(i).any(|other| other.name == route.name) {
            diagnostics.say(route.name.span().start, "another route has this name already");
        }
    }
}

pub(super) fn ends(settings: &Settings, diagnostics: &mut Diagnostics) {
    for route in &settings.routes {
        let begin = route.span().start;
        let Route { upstream, respond, endpoint, .. } = &**route;
        let places = [
            upstream.as_ref().map(|at| at.span().start),
            respond.as_ref().map(|at| at.span().start),
            endpoint.as_ref().map(|at| at.span().start),
        ];
        let mut said = places.into_iter().flatten();
        match (said.next(), said.max()) {
            (None, _) if !ENDS.iter().any(|key| diagnostics.lost(begin, key)) => {
                diagnostics.say(begin, "a route needs one of `upstream`, `respond` and `endpoint`");
            }
            (Some(first), Some(other)) => {
                let message = "a route has only one of `upstream`, `respond` and `endpoint`";
                diagnostics.say(first.max(other), message);
            }
            _ => {}
        }
        if let Some(name) = upstream {
            known_upstream(settings, name, diagnostics);
        }
        if let Some(respond) = respond {
            let status = *respond.status;
            if !(200..=599).contains(&status) {
                diagnostics.say(respond.status.span().start, "a status must be from 200 to 599");
            }
            // RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5.
            if [204, 205, 304].contains(&status) && !respond.body.is_empty() {
                diagnostics.say(respond.status.span().start, "an answer with this status has no body");
            }
        }
        let own = endpoint.as_ref().filter(|endpoint| ***endpoint == Endpoint::Api);
        if let Some(endpoint) = own.filter(|_| !settings.api.enabled) {
            diagnostics.say(endpoint.span().start, "the API is not enabled under [api]");
        }
    }
}

fn known_upstream(settings: &Settings, name: &Spanned<String>, diagnostics: &mut Diagnostics) {
    if settings.upstreams.contains_key(name.as_str()) || diagnostics.lost_anywhere(name) {
        return;
    }
    let known = settings.upstreams.keys().map(|key| key.as_str());
    let message = format!("there is no [upstreams.{}]", **name);
    match similar::did_you_mean(name, known) {
        Some(hint) => diagnostics.hint(name.span().start, message, hint),
        None => diagnostics.say(name.span().start, message),
    }
}

pub(super) fn paths(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        if let (Some(_), Some(pattern)) = (&route.path, &route.pattern) {
            diagnostics.say(pattern.span().start, "a route has only one of `path` and `pattern`");
        }
        if let Some(path) = route.path.as_ref().filter(|path| !path.starts_with('/')) {
            diagnostics.say(path.span().start, "`path` must begin with `/`");
            continue;
        }
        if let Some(path) = route.path.as_ref().filter(|path| path.contains(['?', '#', ' ', '*'])) {
            let hint = "it is a prefix; for more, write `pattern`";
            diagnostics.hint(path.span().start, "`path` must not contain `?`, `#`, `*` or a space", hint);
            continue;
        }
        let Some(path) = &route.path else { continue };
        match RequestPath::parse(path) {
            Err(error) => diagnostics.say(path.span().start, format!("no request has this `path`: {error}")),
            Ok(normal) if normal.compared() != path.as_str() => {
                let hint = "write it without dot segments, doubled slashes and escapes of what can be shown";
                diagnostics.hint(path.span().start, "paths are normalised before they are compared", hint);
            }
            Ok(_) => {}
        }
    }
}

pub(super) fn filters(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        let begin = route.span().start;
        let own = route.endpoint.is_some() && !route.forwards() && route.guardrail().is_none();
        if (route.forwards() || route.guardrail().is_some())
            && route.auth.is_none()
            && !diagnostics.lost(begin, "auth")
        {
            let hint = match route.guardrail() {
                None => {
                    "a route to an upstream says \"token\", \"certificate\", \"introspection\" or \"none\""
                }
                Some(_) => "a route to a guardrail says \"token\", \"certificate\" or \"none\"",
            };
            diagnostics.hint(begin, "`auth` is missing", hint);
        }
        if let (true, Some(auth)) = (own, &route.auth) {
            diagnostics
                .say(auth.span().start, "`auth` does nothing here: our own endpoints always ask for a token");
        }
        let Some(rate) = &route.rate else { continue };
        if rate.per.get().is_zero() {
            diagnostics.say(rate.per.span().start, "`per` must be longer than nothing");
        }
        let counted = *rate.by == RateBy::Token && !own;
        if counted && route.auth() != Auth::Token && !diagnostics.lost(begin, "auth") {
            diagnostics.say(rate.by.span().start, "counting by token needs auth = \"token\" on the route");
        }
        if *rate.by == RateBy::Certificate && !route.needs_certificate() && !diagnostics.lost(begin, "auth") {
            let message = "counting by certificate needs auth = \"certificate\" on the route";
            diagnostics.say(rate.by.span().start, message);
        }
    }
}

/// Who may call by address: somebody, and wherever the endpoints that are kept for them can be reached.
pub(super) fn clients(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        let Route { allow_clients, deny_clients, .. } = &**route;
        if let Some(nobody) = allow_clients.as_ref().filter(|blocks| blocks.is_empty())
            && !diagnostics.within(&nobody.span())
        {
            let hint = "without it all may call, and respond = { status = 403 } lets nobody";
            diagnostics.hint(nobody.span().start, "`allow_clients` names nobody", hint);
        }
        let own = route.endpoint.as_ref().is_some_and(|endpoint| **endpoint == Endpoint::Api);
        let some = !route.host.is_empty() || !route.method.is_empty();
        let some = some || route.path.is_some() || route.pattern.is_some();
        if !own || !some {
            continue;
        }
        for said in [allow_clients, deny_clients].into_iter().flatten() {
            let message = "our own endpoints can be reached past this route: they answer at every host";
            let hint = "a route that keeps them for some has no `host`, `path`, `pattern` and `method`";
            diagnostics.hint(said.span().start, message, hint);
        }
    }
}

/// What WebSocket sessions may take up must be something.
pub(super) fn sessions(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        let WebSocket { idle, longest, .. } = &*route.websocket;
        for (period, name) in [(idle, "idle"), (longest, "longest")] {
            if period.get().is_zero() {
                diagnostics.say(period.span().start, format!("`{name}` must be longer than nothing"));
            }
        }
        let ends = route.upstream.is_none() && route.websocket.span() != (0..0);
        if ends && !diagnostics.lost(route.span().start, "upstream") {
            let hint = "only a route to an upstream has sessions";
            diagnostics.hint(route.websocket.span().start, "`websocket` does nothing here", hint);
        }
    }
}

/// The first route that matches takes the request, so one that an earlier one covers is never reached.
pub(super) fn reach(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    let sound: Vec<&Spanned<Route>> = routes
        .iter()
        .filter(|route| !route.name.is_empty())
        .filter(|route| !MATCHES.iter().any(|key| diagnostics.lost(route.span().start, key)))
        .collect();
    for (i, route) in sound.iter().enumerate() {
        // What another proxy carries is found in a table of its own.
        let same = |earlier: &&&Spanned<Route>| earlier.is_processed() == route.is_processed();
        if let Some(earlier) = sound.iter().take(i).filter(same).find(|earlier| covers(earlier, route)) {
            let message =
                format!("never reached: the route `{}` above takes all its requests", *earlier.name);
            diagnostics.hint(route.span().start, message, "the first route that matches wins");
        }
    }
}

/// Whether `wide` takes whatever `narrow` takes.
fn covers(wide: &Route, narrow: &Route) -> bool {
    let hosts = wide.host.is_empty()
        || !narrow.host.is_empty() && narrow.host.iter().all(|n| wide.host.iter().any(|w| host_covers(w, n)));
    let methods = wide.method.is_empty()
        || !narrow.method.is_empty() && narrow.method.iter().all(|method| wide.method.contains(method));
    let paths = match (wide.path(), narrow.path()) {
        (PathMatch::Prefix(wide), PathMatch::Prefix(narrow)) => takes(wide, narrow),
        (PathMatch::Prefix(wide), PathMatch::Pattern(_)) => wide == "/",
        (PathMatch::Pattern(wide), PathMatch::Pattern(narrow)) => wide == narrow,
        (PathMatch::Pattern(_), PathMatch::Prefix(_)) => false,
    };
    hosts && methods && paths
}

fn host_covers(wide: &Host, narrow: &Host) -> bool {
    let below = |name: &str, suffix: &str| name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.'));
    match (wide, narrow) {
        (Host::Suffix(wide), Host::Suffix(narrow)) => wide == narrow || below(narrow, wide),
        (Host::Suffix(wide), Host::Exact(narrow)) => below(narrow, wide),
        (Host::Exact(wide), Host::Exact(narrow)) => wide == narrow,
        (Host::Exact(_), Host::Suffix(_)) => false,
    }
}

/// Whether a path is under a prefix, by whole segments.
fn takes(prefix: &str, path: &str) -> bool {
    match path.strip_prefix(prefix) {
        Some(rest) => rest.is_empty() || prefix.ends_with('/') || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{host_covers, takes};
    use crate::config::settings::Host;

    #[test]
    fn prefixes_go_by_segments() {
        let cases = [
            ("/", "/v1", true),
            ("/v1", "/v1", true),
            ("/v1", "/v1/", true),
            ("/v1", "/v1/x", true),
            ("/v1", "/v1x", false),
            ("/v1/", "/v1", false),
            ("/v1/", "/v1/x", true),
            ("/v1/x", "/v1", false),
        ];
        for (prefix, path, want) in cases {
            assert_eq!(takes(prefix, path), want, "{prefix} {path}");
        }
    }

    #[test]
    fn a_suffix_covers_what_is_below_it() {
        let cases = [
            ("*.a.test", "b.a.test", true),
            ("*.a.test", "*.b.a.test", true),
            ("*.a.test", "a.test", false),
            ("*.a.test", "xa.test", false),
            ("a.test", "a.test", true),
            ("a.test", "*.a.test", false),
        ];
        for (wide, narrow, want) in cases {
            let [wide, narrow] = [wide, narrow].map(|host| Host::parse(host).unwrap());
            assert_eq!(host_covers(&wide, &narrow), want, "{wide:?} {narrow:?}");
        }
    }
}
