//! What settings of tokens that others issue have in common: where a token is, what goes on as headers, and clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use http::HeaderName;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST};

use crate::config::Period;
use crate::config::check::fields;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Route, TokenPlace};
use crate::config::spanned::Spanned;
use crate::gateway::upstream::never_leaves;

/// Headers that say how a message is read, or where it goes.
const FRAMING: [HeaderName; 4] = [CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST];

/// The most that clocks may differ by: more would make `exp` mean little.
const LEEWAY: Duration = Duration::from_secs(600);

/// Says what is wrong with where a token is.
pub(super) fn place(token: &Spanned<TokenPlace>, diagnostics: &mut Diagnostics) {
    let TokenPlace { header, cookie, query } = &**token;
    let begin = token.span().start;
    if [header, cookie, query].into_iter().flatten().count() > 1 {
        diagnostics.say(begin, "a token is in one place: `header`, `cookie` or `query`");
    }
    if header.as_ref().is_some_and(|name| HeaderName::from_bytes(name.as_bytes()).is_err()) {
        diagnostics.say(begin, "not a header's name");
    }
}

/// Says what is wrong with the names of headers in which claims go on, each of which has one.
pub(super) fn headers(
    route: &Route,
    headers: &BTreeMap<String, Spanned<String>>,
    diagnostics: &mut Diagnostics,
) {
    let mut seen: Vec<String> = Vec::new();
    for written in headers.values() {
        let Some(name) = fields::name(written, diagnostics) else { continue };
        let (place, plain) = (written.span().start, fields::plain(&name));
        if FRAMING.iter().any(|known| known.as_str() == plain) {
            diagnostics.say(place, "this header says how a message is read, a claim cannot stand there");
        } else if route.upstream.is_some() && never_leaves(&name) {
            let message = format!("`{name}` never goes on to an upstream: some proxy might have written it");
            diagnostics.say(place, message);
        } else if seen.contains(&plain) {
            diagnostics.say(place, "this header has another claim already");
        }
        seen.push(plain);
    }
}

/// Says what is wrong with what clocks may differ by.
pub(super) fn leeway(leeway: &Spanned<Period>, diagnostics: &mut Diagnostics) {
    if leeway.get() > LEEWAY {
        diagnostics.say(leeway.span().start, "clocks may differ by at most 10m");
    }
}

/// Whether a token of somebody else's is where one of ours is looked for first.
pub(super) fn is_bearer(token: &TokenPlace) -> bool {
    let TokenPlace { header, cookie, query } = token;
    header.is_none() && cookie.is_none() && query.is_none()
}
