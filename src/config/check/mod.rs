//! What no setting can check alone. Every check runs, whatever the others found.
//!
//! | module | what it checks |
//! |---|---|
//! | `server` | listeners, limits, reloads, the vault and the store |
//! | `certificates` | certificates of listeners, and client certificates that routes ask for |
//! | `files` | file storage, the public URL, and mails with links |
//! | `telemetry` | the sampling ratio, period and headers of traces |
//! | `audit` | the audit log and its copies |
//! | `sanitize` | that providers named under `[sanitize]` exist; their times and headers |
//! | `analyzers` | analyzers: addresses, bounds, and the routes that use them |
//! | `upstreams` | upstreams: peers, TLS, timeouts and headers |
//! | `provider` | the provider of a route against its upstream |
//! | `models` | model aliases, and the routes that know them |
//! | `usage` | budgets: what they bound, and for whom |
//! | `routes` | routes: names, ends, paths, authentication, and whether a request can reach them |
//! | `guardrails` | guardrail routes |
//! | `ext_proc` | Envoy external processing: listeners and routes |
//! | `cors` | origins, methods and headers of CORS |
//! | `header_rules` | headers that routes set, add and remove |
//! | `compression` | that each coding is named once |
//! | `jwt` | signed tokens of callers: their keys and places |
//! | `introspection` | introspected tokens: their server and its credentials |
//! | `tokens` | what `jwt` and `introspection` share: token places, headers, clock leeway |
//! | `sign` | tokens for upstreams: claims, lifetime and header |
//! | `redact` | redaction: methods, rules and surrogates |
//! | `fields` | header names and values, wherever they are set |
//! | `prefix` | path prefixes that are put before others |

mod analyzers;
mod audit;
mod certificates;
mod compression;
mod cors;
mod ext_proc;
mod fields;
mod files;
mod guardrails;
mod header_rules;
mod introspection;
mod jwt;
mod models;
mod prefix;
mod provider;
mod redact;
mod routes;
mod sanitize;
mod server;
mod sign;
mod telemetry;
mod tokens;
mod upstreams;
mod usage;

use crate::config::diagnostics::Diagnostics;
use crate::config::places::ValuePlaces;
use crate::config::settings::Settings;

type Check = fn(&Settings, &[&str], &mut Diagnostics);

const CHECKS: &[Check] = &[
    |settings, _, diagnostics| server::listeners(settings, diagnostics),
    |settings, _, diagnostics| certificates::listeners(settings, diagnostics),
    |settings, _, diagnostics| certificates::routes(settings, diagnostics),
    |settings, _, diagnostics| server::limits(&settings.limits, diagnostics),
    |settings, _, diagnostics| server::shared_limits(&settings.limits, diagnostics),
    |settings, _, diagnostics| server::reload(&settings.reload, diagnostics),
    |settings, _, diagnostics| server::vault(&settings.vault, diagnostics),
    |settings, _, diagnostics| server::store(&settings.store, diagnostics),
    |settings, _, diagnostics| sanitize::all(&settings.sanitize, diagnostics),
    |settings, _, diagnostics| telemetry::all(&settings.telemetry, diagnostics),
    |settings, _, diagnostics| audit::all(settings, diagnostics),
    |settings, _, diagnostics| files::blobs(&settings.blobs, diagnostics),
    |settings, _, diagnostics| files::mail(&settings.share, diagnostics),
    |settings, _, diagnostics| files::public_url(settings, diagnostics),
    |settings, _, diagnostics| routes::names(&settings.routes, diagnostics),
    |settings, _, diagnostics| routes::ends(settings, diagnostics),
    |settings, _, diagnostics| routes::paths(&settings.routes, diagnostics),
    |settings, _, diagnostics| routes::filters(&settings.routes, diagnostics),
    |settings, _, diagnostics| routes::clients(&settings.routes, diagnostics),
    |settings, _, diagnostics| routes::sessions(&settings.routes, diagnostics),
    |settings, _, diagnostics| routes::reach(&settings.routes, diagnostics),
    |settings, _, diagnostics| ext_proc::all(settings, cfg!(feature = "ext_proc"), diagnostics),
    |settings, _, diagnostics| cors::all(&settings.routes, diagnostics),
    |settings, _, diagnostics| header_rules::all(&settings.routes, diagnostics),
    |settings, _, diagnostics| compression::all(&settings.routes, diagnostics),
    |settings, _, diagnostics| jwt::all(settings, diagnostics),
    |settings, _, diagnostics| introspection::all(&settings.routes, diagnostics),
    |settings, _, diagnostics| sign::all(settings, diagnostics),
    |settings, _, diagnostics| provider::all(settings, diagnostics),
    |settings, _, diagnostics| models::all(settings, diagnostics),
    |settings, _, diagnostics| usage::all(settings, diagnostics),
    |settings, _, diagnostics| guardrails::all(&settings.routes, diagnostics),
    |settings, rules, diagnostics| analyzers::all(settings, rules, diagnostics),
    |settings, rules, diagnostics| redact::all(&settings.routes, rules, diagnostics),
];

/// Runs all checks; `rules` are the short names of the rules there are.
pub(crate) fn check(
    settings: &Settings,
    places: &ValuePlaces<'_>,
    rules: &[&str],
    diagnostics: &mut Diagnostics,
) {
    upstreams::all(&settings.upstreams, places, diagnostics);
    server::anything(settings, places, diagnostics);
    for check in CHECKS {
        check(settings, rules, diagnostics);
    }
}
