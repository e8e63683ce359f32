//! What settings of tokens that others issue have in common: where a token is, what goes on as headers, and clocks.

use std::collections::BTreeMap;
use std::time::Duration;

use http::HeaderName;

use crate::config::Period;
use crate::config::at::At;
use crate::config::check::fields;
use crate::config::mistakes::Mistakes;
use crate::config::settings::TokenPlace;

/// The most that clocks may differ by: more would make `exp` mean little.
const LEEWAY: Duration = Duration::from_secs(600);

/// Says what is wrong with where a token is.
pub(super) fn place(token: &At<TokenPlace>, mistakes: &mut Mistakes) {
    let TokenPlace { header, cookie, query } = &**token;
    let begin = token.span().start;
    if [header, cookie, query].into_iter().flatten().count() > 1 {
        mistakes.say(begin, "a token is in one place: `header`, `cookie` or `query`");
    }
    if header.as_ref().is_some_and(|name| HeaderName::from_bytes(name.as_bytes()).is_err()) {
        mistakes.say(begin, "not a header's name");
    }
}

/// Says what is wrong with the names of headers in which claims go on, each of which has one.
pub(super) fn headers(headers: &BTreeMap<String, At<String>>, mistakes: &mut Mistakes) {
    let mut seen: Vec<HeaderName> = Vec::new();
    for written in headers.values() {
        let Some(name) = fields::name(written, mistakes) else { continue };
        if seen.contains(&name) {
            mistakes.say(written.span().start, "this header has another claim already");
        }
        seen.push(name);
    }
}

/// Says what is wrong with what clocks may differ by.
pub(super) fn leeway(leeway: &At<Period>, mistakes: &mut Mistakes) {
    if leeway.get() > LEEWAY {
        mistakes.say(leeway.span().start, "clocks may differ by at most 10m");
    }
}

/// Whether a token of somebody else's is where one of ours is looked for first.
pub(super) fn is_bearer(token: &TokenPlace) -> bool {
    let TokenPlace { header, cookie, query } = token;
    header.is_none() && cookie.is_none() && query.is_none()
}
