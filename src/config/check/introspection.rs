//! Tokens that only their server can read: that a route which asks for one says where, and who asks there.

use std::time::Duration;

use crate::config::check::tokens;
use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, Introspection, Route};
use crate::config::spanned::Spanned;
use crate::config::supplied::SecretSource;

/// How long an answer may be used: a token that was taken back passes for so long.
const CACHE_FOR: Duration = Duration::from_secs(24 * 3600);

/// How long an answer may take: requests wait for it.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn all(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for route in routes {
        let asks = route.auth.as_ref().filter(|auth| ***auth == Auth::Introspection);
        let begin = route.span().start;
        match (asks, &route.introspection) {
            (Some(auth), None) if !diagnostics.lost(begin, "introspection") => {
                let hint = "[routes.introspection] says where: `endpoint`, `client` and `secret`";
                diagnostics.hint(auth.span().start, "nobody is asked about tokens", hint);
            }
            (None, Some(table)) if !diagnostics.lost(begin, "auth") => {
                let hint = "write auth = \"introspection\"";
                diagnostics.hint(table.span().start, "[routes.introspection] does nothing here", hint);
            }
            _ => {}
        }
        if let Some(table) = &route.introspection {
            judge(route, table, diagnostics);
        }
    }
}

fn judge(route: &Spanned<Route>, table: &Spanned<Introspection>, diagnostics: &mut Diagnostics) {
    let place = table.span().start;
    if !route.forwards() && !diagnostics.lost(route.span().start, "upstream") {
        diagnostics.say(place, "[routes.introspection] needs an `upstream`");
    }
    if route.jwt.is_some() {
        diagnostics.say(place, "a route has only one of `jwt` and `introspection`: both say who calls");
    }
    if table.client.is_empty() {
        diagnostics.say(table.client.span().start, "`client` is empty: the server must know who asks");
    }
    let secret = &table.secret;
    if secret.source() == &SecretSource::Literal && secret.value().expose().is_empty() {
        diagnostics.say(secret.span().start, "`secret` is empty: the server must know who asks");
    }
    let timeout = table.timeout.get();
    if timeout.is_zero() || timeout > TIMEOUT {
        diagnostics.say(table.timeout.span().start, "an answer may take from 1ms to 60s");
    }
    if table.cache_for.get() > CACHE_FOR {
        diagnostics.say(table.cache_for.span().start, "answers may be used for at most 1d");
    }
    tokens::place(&table.token, diagnostics);
    tokens::headers(route, &table.headers, diagnostics);
    tokens::leeway(&table.leeway, diagnostics);
}
