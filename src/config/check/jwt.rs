//! Signed tokens: where keys are, and where tokens are.

use crate::config::check::tokens;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, JwkSource, Jwt, Settings};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::gateway::discovery::parse_issuer;

pub(super) fn all(settings: &Settings, mistakes: &mut Diagnostics) {
    for route in &settings.routes {
        let Some(jwt) = &route.jwt else { continue };
        if !route.forwards() {
            mistakes.say(jwt.span().start, "[routes.jwt] needs an `upstream`");
        }
        if tokens::is_bearer(&jwt.token) && route.auth() == Auth::Token {
            let hint = "say where the signed token is: token = { header = \"x-token\" }";
            mistakes.hint(jwt.span().start, "auth = \"token\" has the Authorization header already", hint);
        }
        keys(settings, jwt, mistakes);
        tokens::place(&jwt.token, mistakes);
        tokens::headers(route, &jwt.headers, mistakes);
        tokens::leeway(&jwt.leeway, mistakes);
    }
}

fn keys(settings: &Settings, jwt: &Spanned<Jwt>, mistakes: &mut Diagnostics) {
    let begin = jwt.span().start;
    if mistakes.lost(begin, "keys") {
        return;
    }
    let JwkSource { file, upstream, path, issuer } = &*jwt.keys;
    match (file, upstream, path, issuer) {
        (Some(_), None, None, None) => {}
        (None, None, None, Some(issuer)) => {
            if let Err(why) = parse_issuer(issuer) {
                mistakes.say(issuer.span().start, why);
            }
        }
        (None, Some(name), Some(path), None) => {
            if !settings.upstreams.contains_key(name.as_str()) {
                let message = format!("there is no upstream `{}`", **name);
                let names = settings.upstreams.keys().map(|name| name.as_str());
                match similar::did_you_mean(name, names) {
                    Some(hint) => mistakes.hint(name.span().start, message, hint),
                    None => mistakes.say(name.span().start, message),
                }
            }
            if !path.starts_with('/') || path.contains([' ', '#']) {
                mistakes.say(path.span().start, "a path begins with `/`");
            }
        }
        _ => {
            let place = jwt.keys.span().start.max(begin);
            let hint = "keys = { issuer = \"https://id.example.com\" }, keys = { file = \"jwks.json\" }, or \
                        keys = { upstream = \"NAME\", path = \"/jwks.json\" }";
            mistakes.hint(place, "`keys` names an issuer, a file, or an upstream and a path", hint);
        }
    }
}
