//! Headers that routes set, add and remove: none that says how a message is read, or that would not arrive.

use http::HeaderName;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, EXPECT, HOST, IF_RANGE,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RANGE,
};

use crate::config::check::fields;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{CertificateHeaders, HeaderRules, Route};
use crate::config::spanned::Spanned;
use crate::config::supplied::Supplied;
use crate::gateway::upstream::is_stripped;

/// How the names begin of fields in which a WebSocket is agreed on, and in which servers say what they share with pages.
const WEBSOCKET: &str = "sec-websocket-";
const CORS: &str = "access-control-";

/// In which direction a head goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadDirection {
    Request,
    Answer,
}

pub(super) fn all(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        if let Some(rules) = &route.request_headers {
            if !route.forwards() && !diagnostics.lost(route.span().start, "upstream") {
                diagnostics.say(rules.span().start, "[routes.request_headers] needs an `upstream`");
            }
            judge(route, rules, HeadDirection::Request, diagnostics);
        }
        if let Some(rules) = &route.answer_headers {
            judge(route, rules, HeadDirection::Answer, diagnostics);
        }
    }
}

fn judge(route: &Route, rules: &HeaderRules, way: HeadDirection, diagnostics: &mut Diagnostics) {
    let HeaderRules { remove, set, add } = rules;
    let mut seen: Vec<String> = Vec::new();
    let set = set.iter().chain(add).map(|(name, value)| (name, Some(value)));
    for (written, value) in remove.iter().map(|name| (name, None)).chain(set) {
        if let Some(name) = fields::name(written, diagnostics) {
            let place = written.span().start;
            let plain = fields::plain(&name);
            if seen.contains(&plain) {
                let hint = "it is removed, set or added";
                diagnostics.hint(place, format!("`{name}` is named twice"), hint);
            } else if let Some(HeaderRefusal { why, hint }) = refused(route, &name, way, value.is_some()) {
                diagnostics.hint(place, format!("`{name}` {why}"), hint);
            }
            seen.push(plain);
        }
        if let Some(value) = value {
            values(value, diagnostics);
        }
    }
}

/// Why a rule may not name a header.
struct HeaderRefusal {
    why: &'static str,
    hint: &'static str,
}

fn refused(route: &Route, name: &HeaderName, way: HeadDirection, sets: bool) -> Option<HeaderRefusal> {
    let plain = fields::plain(name);
    let text = plain.as_str();
    let is = |names: &[HeaderName]| names.iter().any(|known| known.as_str() == text);
    let of_hop = is(&[PROXY_AUTHENTICATE, PROXY_AUTHORIZATION]) || text.starts_with("proxy-");
    let said = |why, hint| Some(HeaderRefusal { why, hint });
    if of_hop || text == "http2-settings" || text.starts_with(WEBSOCKET) {
        return said("is written by the gateway itself", "it belongs to one connection");
    }
    if is(&[CONTENT_TYPE, CONTENT_ENCODING, CONTENT_RANGE]) {
        return said("says how the body is read", "it goes on as it came");
    }
    match way {
        HeadDirection::Request if is(&[HOST, EXPECT]) => {
            said("is written by the gateway itself", "its peers say which host an upstream is")
        }
        HeadDirection::Request if is(&[ACCEPT_ENCODING, RANGE, IF_RANGE]) => {
            said("says how the answer is read", "it goes on as it came, or as scanning needs it")
        }
        HeadDirection::Request if says_who_calls(route, text) => {
            said("says who calls", "what callers send there does not go on, whatever is said here")
        }
        // Taken off all that callers send, and what is set here with it.
        HeadDirection::Request if sets && route.upstream.is_some() && is_stripped(text) => {
            said("does not go on from here", "set it under `headers` of the upstream")
        }
        HeadDirection::Answer if route.cors.is_some() && text.starts_with(CORS) => {
            said("is written by the gateway itself", "[routes.cors] says what")
        }
        HeadDirection::Request | HeadDirection::Answer => None,
    }
}

/// Whether a filter of the route tells the upstream there who calls: a rule that came after it would tell another.
fn says_who_calls(route: &Route, plain: &str) -> bool {
    let certificate = route.certificate.iter().flat_map(|table| {
        let CertificateHeaders { subject, fingerprint } = &table.headers;
        [subject, fingerprint].into_iter().flatten()
    });
    let same = |name: &Spanned<String>| name.to_ascii_lowercase().replace('_', "-") == plain;
    route.claim_headers().chain(certificate).any(same)
}

fn values(value: &Spanned<Supplied>, diagnostics: &mut Diagnostics) {
    fields::value(value, diagnostics);
    let text = value.value().expose();
    // HTTP/2 ends a stream for it (RFC 9113 section 8.2.1).
    if text.trim_matches([' ', '\t']) != text.as_str() {
        diagnostics.say(value.span().start, "a field value must not begin or end with a blank");
    }
}
