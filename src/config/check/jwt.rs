//! Signed tokens: where keys are, and where tokens are.

use crate::config::check::tokens;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, JwkSource, Jwt, Settings};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::gateway::discovery::parse_issuer;

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
    for route in &settings.routes {
        let Some(jwt) = &route.jwt else { continue };
        if !route.forwards() {
            diagnostics.say(jwt.span().start, "[routes.jwt] needs an `upstream`");
        }
        if tokens::is_bearer(&jwt.token) && route.auth() == Auth::Token {
            let hint = "say where the signed token is: token = { header = \"x-token\" }";
            diagnostics.hint(jwt.span().start, "auth = \"token\" has the Authorization header already", hint);
        }
        keys(settings, jwt, diagnostics);
        tokens::place(&jwt.token, diagnostics);
        tokens::headers(route, &jwt.headers, diagnostics);
        tokens::leeway(&jwt.leeway, diagnostics);
    }
}

fn keys(settings: &Settings, jwt: &Spanned<Jwt>, diagnostics: &mut Diagnostics) {
    let begin = jwt.span().start;
    if diagnostics.lost(begin, "keys") {
        return;
    }
    let JwkSource { file, upstream, path, issuer } = &*jwt.keys;
    match (file, upstream, path, issuer) {
        (Some(_), None, None, None) => {}
        (None, None, None, Some(issuer)) => {
            if let Err(why) = parse_issuer(issuer) {
                diagnostics.say(issuer.span().start, why);
            }
        }
        (None, Some(name), Some(path), None) => {
            if !settings.upstreams.contains_key(name.as_str()) {
                let message = format!("there is no upstream `{}`", **name);
                let names = settings.upstreams.keys().map(|name| name.as_str());
                match similar::did_you_mean(name, names) {
                    Some(hint) => diagnostics.hint(name.span().start, message, hint),
                    None => diagnostics.say(name.span().start, message),
                }
            }
            if !path.starts_with('/') || path.contains([' ', '#']) {
                diagnostics.say(path.span().start, "a path begins with `/`");
            }
        }
        _ => {
            let place = jwt.keys.span().start.max(begin);
            let hint = "keys = { issuer = \"https://id.example.com\" }, keys = { file = \"jwks.json\" }, or \
                        keys = { upstream = \"NAME\", path = \"/jwks.json\" }";
            diagnostics.hint(place, "`keys` names an issuer, a file, or an upstream and a path", hint);
        }
    }
}
