//! Tokens for upstreams and public keys: what a token may say, for how long, and where it goes.

use std::time::Duration;

use http::HeaderName;
use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Jwt, Route, Settings, Sign, TokenPlace};
use crate::config::spanned::Spanned;

/// How long a token may live: shorter and clocks that differ a little would end it, longer and it would be a password.
const LIFETIME: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(24 * 3600));

/// How long public keys may be kept, and so shown before they sign: a key that must no longer be believed is believed for so long.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// Headers that say how a message is read.
const FRAMING: [HeaderName; 10] = [
    CONNECTION,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    EXPECT,
    HOST,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Claims that the gateway says itself, and by which setting.
const OURS: [(&str, &str); 6] = [
    ("iss", "`issuer` says it"),
    ("aud", "`audiences` say it"),
    ("exp", "`lifetime` says it"),
    ("iat", "it is the time of signing"),
    ("nbf", "it is the time of signing"),
    ("jti", "every token gets one"),
];

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
    for route in &settings.routes {
        let Some(sign) = &route.sign else { continue };
        if !route.forwards() && !diagnostics.lost(route.span().start, "upstream") {
            diagnostics.say(sign.span().start, "[routes.sign] needs an `upstream`");
        }
        claims(route, sign, diagnostics);
        times(sign, diagnostics);
        header(settings, route, sign, diagnostics);
    }
    if let Some(jwks) = &settings.jwks {
        if jwks.items.is_empty() && !diagnostics.within(&jwks.items.span()) {
            diagnostics.say(jwks.items.span().start, "`items` names none");
        }
        for (n, item) in jwks.items.iter().enumerate() {
            if jwks.items.iter().take(n).any(|other| other == item) {
                diagnostics.say(item.span().start, "this key is named already");
            }
        }
        if jwks.max_age.get() > MAX_AGE {
            diagnostics.say(jwks.max_age.span().start, "public keys may be kept for at most 1d");
        }
    }
}

fn claims(route: &Spanned<Route>, sign: &Sign, diagnostics: &mut Diagnostics) {
    let lost = ["jwt", "introspection"].iter().any(|table| diagnostics.lost(route.span().start, table));
    let nobody = route.jwt.is_none() && route.introspection.is_none() && !lost;
    for (name, template) in &sign.claims {
        if let Some((name_of, why)) = OURS.iter().find(|(ours, _)| *ours == name.as_str()) {
            diagnostics.hint(name.span().start, format!("`{name_of}` is set by the gateway"), *why);
        }
        if nobody && template.asks() {
            let hint = "[routes.jwt] verifies it";
            diagnostics.hint(
                template.span().start,
                "`$claims` are of the caller's token, which nobody verifies",
                hint,
            );
        }
    }
    if sign.issuer.is_empty() {
        diagnostics.say(sign.issuer.span().start, "`issuer` is empty");
    }
    if sign.audiences.is_empty() || sign.audiences.iter().any(String::is_empty) {
        let hint = "without one, the token would be good for every service that trusts the key";
        diagnostics.hint(sign.audiences.span().start, "`audiences` names none, or an empty one", hint);
    }
}

fn times(sign: &Sign, diagnostics: &mut Diagnostics) {
    let lifetime = sign.lifetime.get();
    let place = sign.lifetime.span().start;
    if lifetime < LIFETIME.0 || lifetime > LIFETIME.1 {
        diagnostics.say(place, "a token lives from 10s to 1d");
    } else if lifetime.subsec_nanos() != 0 {
        diagnostics.say(place, "a token lives for whole seconds");
    }
    if sign.publish_ahead.get() > MAX_AGE {
        diagnostics.say(sign.publish_ahead.span().start, "a key may be shown for at most 1d before it signs");
    }
}

fn header(settings: &Settings, route: &Route, sign: &Sign, diagnostics: &mut Diagnostics) {
    let place = sign.header.span().start.max(sign.key.span().start);
    let Ok(name) = HeaderName::from_bytes(sign.header.as_bytes()) else {
        return diagnostics.say(place, "not a header's name");
    };
    if FRAMING.contains(&name) {
        return diagnostics.say(place, "this header says how a message is read, a token cannot stand there");
    }
    let same = |other: &str| name.as_str().eq_ignore_ascii_case(other);
    let upstream = route.upstream.as_ref().and_then(|upstream| settings.upstreams.get(upstream.as_str()));
    if upstream.is_some_and(|upstream| upstream.headers.keys().any(|other| same(other))) {
        diagnostics.say(place, "the upstream's `headers` have this header, and would replace the token");
    }
    let Some(jwt) = &route.jwt else { return };
    if jwt.headers.values().any(|other| same(other)) {
        diagnostics.say(place, "a claim goes on in this header already");
    }
    if jwt.forward && caller_in(jwt).is_some_and(same) {
        let hint = "leave `forward` out, or name another `header`";
        diagnostics.hint(place, "the caller's token goes on in this header already", hint);
    }
}

/// The header in which the caller's token is.
fn caller_in(jwt: &Jwt) -> Option<&str> {
    match &*jwt.token {
        TokenPlace { header: Some(name), .. } => Some(name),
        TokenPlace { cookie: Some(_), .. } => Some("cookie"),
        TokenPlace { query: Some(_), .. } => None,
        TokenPlace { .. } => Some("authorization"),
    }
}
