//! Listeners, limits, the vault and the store.

use std::net::SocketAddr;
use std::time::Duration;

use crate::config::diagnostics::Diagnostics;
use crate::config::places::ValuePlaces;
use crate::config::settings::{Limits, Reload, Settings, Store, Vault, judge_store_url};
use crate::config::spanned::Spanned;
use crate::config::supplied::{SecretSource, Supplied};
use crate::gateway::clients::ForwardedHeader;

use crate::store::postgres::SslMode;
use crate::valkey::Valkey;

/// That the file says what is to be served: one that was emptied by mistake is a configuration too.
pub(super) fn anything(settings: &Settings, places: &ValuePlaces<'_>, diagnostics: &mut Diagnostics) {
    if settings.routes.is_empty() && places.lacks(&["listen"]) && places.lacks(&["routes"]) {
        let message = "the file has no routes and no listeners of its own";
        diagnostics.doubt(
            0,
            message,
            "is this the whole file? As it is, only the API is served, at 127.0.0.1:8080",
        );
    }
}

pub(super) fn listeners(settings: &Settings, diagnostics: &mut Diagnostics) {
    if settings.listen.is_empty() && !diagnostics.lost(0, "listen") {
        diagnostics.say(0, "there is no [[listen]] left to take requests");
    }
    if settings.routes.is_empty() && !settings.api.enabled && !diagnostics.lost(0, "routes") {
        diagnostics.say(0, "nothing is served: there are no routes, and the API is not enabled");
    }
    let mut seen: Vec<&Spanned<SocketAddr>> = Vec::new();
    let admin = settings.admin.iter().map(|admin| &admin.address);
    for address in settings.listen.iter().map(|listen| &listen.address).chain(admin) {
        // Port 0 is a new port each time.
        if address.port() != 0 && seen.iter().any(|other| **other == *address) {
            diagnostics.say(address.span().start, "another listener has this address already");
        }
        seen.push(address);
    }
    for listen in settings.listen.iter().filter(|listen| *listen.proxy_protocol) {
        if settings.clients.trusted_peers.is_empty() {
            let hint = "name them in `clients.trusted_peers`";
            let at = listen.proxy_protocol.span().start;
            diagnostics.hint(at, "only trusted peers may speak the PROXY protocol, and there are none", hint);
        }
    }
    for host in settings.admin.iter().flat_map(|admin| &admin.hosts) {
        if !is_host(host) {
            let message = "not the name of a host: letters, digits, hyphens and dots, without a port";
            diagnostics.say(host.span().start, message);
        }
    }
    if let Some(said) =
        settings.admin.as_ref().and_then(|admin| admin.console.as_ref()).filter(|said| ***said)
        && !cfg!(feature = "console")
    {
        diagnostics
            .say(said.span().start, "this program was built without the console (cargo feature `console`)");
    }
    let forwarded = &settings.clients.forwarded;
    if **forwarded != ForwardedHeader::Nothing && settings.clients.trusted_peers.is_empty() {
        let hint = "name them in `clients.trusted_peers`";
        diagnostics.hint(forwarded.span().start, "only trusted peers are believed, and there are none", hint);
    }
    for listen in settings.listen.iter().filter(|listen| listen.tls.is_some() && *listen.h2c) {
        let hint = "with `tls`, HTTP/2 is negotiated";
        diagnostics.hint(listen.h2c.span().start, "`h2c` is HTTP/2 without TLS", hint);
    }
}

/// Whether a text can stand in a URL as a host's name.
fn is_host(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    name.len() <= 253 && name.split('.').all(label)
}

pub(super) fn limits(limits: &Limits, diagnostics: &mut Diagnostics) {
    let Limits { body, collected, per_request, held, .. } = limits;
    let periods = [
        (&limits.head_time, "head_time"),
        (&limits.idle, "idle"),
        (&limits.body_grace, "body_grace"),
        (&limits.write_stall, "write_stall"),
        (&limits.queue, "queue"),
        (&limits.distinct_per, "distinct_per"),
    ];
    for (period, name) in periods.into_iter().filter(|(period, _)| period.get().is_zero()) {
        diagnostics.say(period.span().start, format!("`{name}` must be longer than nothing"));
    }
    if !(1..=256).contains(&*limits.headers) {
        diagnostics.say(limits.headers.span().start, "a request has from 1 to 256 `headers`");
    }
    if !(1..=10_000).contains(&*limits.streams) {
        diagnostics.say(limits.streams.span().start, "a connection has from 1 to 10000 `streams`");
    }
    let ordered = [
        (body, "body", per_request, "per_request"),
        (collected, "collected", per_request, "per_request"),
        (per_request, "per_request", held, "held"),
    ];
    for (small, name, large, bound) in ordered {
        if small > large {
            // A default has no place; then the other one is what the file says.
            let place = [small, large].iter().map(|size| size.span().start).find(|&at| at > 0).unwrap_or(0);
            let hint = format!("they are {} and {}", **small, **large);
            diagnostics.hint(place, format!("`{name}` must not be larger than `{bound}`"), hint);
        }
    }
}

/// The shortest time between two looks at the files.
const SHORTEST: Duration = Duration::from_millis(100);

pub(super) fn reload(reload: &Reload, diagnostics: &mut Diagnostics) {
    if reload.every.get() < SHORTEST {
        diagnostics.say(reload.every.span().start, "files are looked at every 100ms at most");
    }
}

pub(super) fn vault(vault: &Vault, diagnostics: &mut Diagnostics) {
    let Vault { master_key, master_key_command, passphrase } = vault;
    for (supplied, what) in [(master_key, "the master key"), (passphrase, "the passphrase")] {
        if let Some(literal) = supplied.iter().find(|supplied| *supplied.source() == SecretSource::Literal) {
            let hint = "write { env = \"NAME\" } or { file = \"path\" }";
            diagnostics.hint(literal.span().start, format!("{what} must not be written in this file"), hint);
        }
    }
    if let Some(command) = master_key_command
        && command.first().is_none_or(String::is_empty)
    {
        diagnostics.hint(command.span().start, "no program is named", "write [\"program\", \"argument\"]");
    }
    // Which of the two would be used could not be seen.
    let places = [
        master_key.as_ref().map(|at| at.span().start),
        master_key_command.as_ref().map(|at| at.span().start),
        passphrase.as_ref().map(|at| at.span().start),
    ];
    let mut places: Vec<usize> = places.into_iter().flatten().collect();
    places.sort_unstable();
    if let [_, second, ..] = places.as_slice() {
        diagnostics.say(*second, "the master key is already said to be elsewhere");
    }
}

pub(super) fn shared_limits(limits: &Limits, diagnostics: &mut Diagnostics) {
    let Some(shared) = &limits.shared else { return };
    let fetched = *shared.url.source() == SecretSource::Literal || !shared.url.value().expose().is_empty();
    if fetched && let Err(error) = Valkey::judge(shared.url.value().expose()) {
        diagnostics.say(shared.url.span().start, error.to_string());
    }
    if shared.timeout.get().is_zero() {
        diagnostics.say(shared.timeout.span().start, "a `timeout` must be longer than nothing");
    }
}

pub(super) fn store(store: &Store, diagnostics: &mut Diagnostics) {
    // Empty and from elsewhere: it could not be fetched, which was said.
    let fetched =
        |url: &&Spanned<Supplied>| *url.source() == SecretSource::Literal || !url.value().expose().is_empty();
    if let Some(url) = store.url.iter().find(fetched)
        && let Err(error) = judge_store_url(url.value().expose())
    {
        diagnostics.say(url.span().start, error.to_string());
    }
    if let Some(ca) = store.ca.iter().find(|_| matches!(store.tls, SslMode::Disable | SslMode::Require)) {
        let hint = "set `tls` to \"verify-ca\" or \"verify-full\"";
        diagnostics.hint(ca.span().start, "a `ca` has no effect where certificates are not checked", hint);
    }
    if store.timeout.get().is_zero() {
        diagnostics.say(store.timeout.span().start, "a `timeout` must be longer than nothing");
    }
}
