//! Signed tokens: where keys are, where tokens are, and names that can stand in a head.

use std::time::Duration;

use http::HeaderName;

use crate::config::at::At;
use crate::config::mistakes::Mistakes;
use crate::config::settings::{Auth, JwkSource, Jwt, Settings, TokenPlace};
use crate::config::similar;

/// The most that clocks may differ by: more would make `exp` mean little.
const LEEWAY: Duration = Duration::from_secs(600);

pub(super) fn all(settings: &Settings, mistakes: &mut Mistakes) {
    for route in &settings.routes {
        let Some(jwt) = &route.jwt else { continue };
        if !route.forwards() {
            mistakes.say(jwt.span().start, "[routes.jwt] needs an `upstream`");
        }
        let TokenPlace { header, cookie, query } = &*jwt.token;
        let bearer = header.is_none() && cookie.is_none() && query.is_none();
        if bearer && route.auth() == Auth::Token {
            let hint = "say where the signed token is: token = { header = \"x-token\" }";
            mistakes.hint(jwt.span().start, "auth = \"token\" has the Authorization header already", hint);
        }
        keys(settings, jwt, mistakes);
        token(jwt, mistakes);
    }
}

fn keys(settings: &Settings, jwt: &At<Jwt>, mistakes: &mut Mistakes) {
    let begin = jwt.span().start;
    if mistakes.lost(begin, "keys") {
        return;
    }
    let JwkSource { file, upstream, path } = &*jwt.keys;
    match (file, upstream, path) {
        (Some(_), None, None) => {}
        (None, Some(name), Some(path)) => {
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
            let hint =
                "keys = { file = \"jwks.json\" }, or keys = { upstream = \"NAME\", path = \"/jwks.json\" }";
            mistakes.hint(place, "`keys` names a file, or an upstream and a path", hint);
        }
    }
}

fn token(jwt: &At<Jwt>, mistakes: &mut Mistakes) {
    let TokenPlace { header, cookie, query } = &*jwt.token;
    let place = jwt.token.span().start;
    if [header, cookie, query].into_iter().flatten().count() > 1 {
        mistakes.say(place, "a token is in one place: `header`, `cookie` or `query`");
    }
    if header.as_ref().is_some_and(|name| HeaderName::from_bytes(name.as_bytes()).is_err()) {
        mistakes.say(place, "not a header's name");
    }
    for name in jwt.headers.values() {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            mistakes.say(name.span().start, "not a header's name");
        }
    }
    if jwt.leeway.get() > LEEWAY {
        mistakes.say(jwt.leeway.span().start, "clocks may differ by at most 10m");
    }
}
