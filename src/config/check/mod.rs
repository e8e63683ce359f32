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
    |settings, _, mistakes| server::listeners(settings, mistakes),
    |settings, _, mistakes| certificates::listeners(settings, mistakes),
    |settings, _, mistakes| certificates::routes(settings, mistakes),
    |settings, _, mistakes| server::limits(&settings.limits, mistakes),
    |settings, _, mistakes| server::shared_limits(&settings.limits, mistakes),
    |settings, _, mistakes| server::reload(&settings.reload, mistakes),
    |settings, _, mistakes| server::vault(&settings.vault, mistakes),
    |settings, _, mistakes| server::store(&settings.store, mistakes),
    |settings, _, mistakes| sanitize::all(&settings.sanitize, mistakes),
    |settings, _, mistakes| telemetry::all(&settings.telemetry, mistakes),
    |settings, _, mistakes| audit::all(settings, mistakes),
    |settings, _, mistakes| files::blobs(&settings.blobs, mistakes),
    |settings, _, mistakes| files::mail(&settings.share, mistakes),
    |settings, _, mistakes| files::public_url(settings, mistakes),
    |settings, _, mistakes| routes::names(&settings.routes, mistakes),
    |settings, _, mistakes| routes::ends(settings, mistakes),
    |settings, _, mistakes| routes::paths(&settings.routes, mistakes),
    |settings, _, mistakes| routes::filters(&settings.routes, mistakes),
    |settings, _, mistakes| routes::clients(&settings.routes, mistakes),
    |settings, _, mistakes| routes::sessions(&settings.routes, mistakes),
    |settings, _, mistakes| routes::reach(&settings.routes, mistakes),
    |settings, _, mistakes| ext_proc::all(settings, cfg!(feature = "ext_proc"), mistakes),
    |settings, _, mistakes| cors::all(&settings.routes, mistakes),
    |settings, _, mistakes| header_rules::all(&settings.routes, mistakes),
    |settings, _, mistakes| compression::all(&settings.routes, mistakes),
    |settings, _, mistakes| jwt::all(settings, mistakes),
    |settings, _, mistakes| introspection::all(&settings.routes, mistakes),
    |settings, _, mistakes| sign::all(settings, mistakes),
    |settings, _, mistakes| provider::all(settings, mistakes),
    |settings, _, mistakes| models::all(settings, mistakes),
    |settings, _, mistakes| usage::all(settings, mistakes),
    |settings, _, mistakes| guardrails::all(&settings.routes, mistakes),
    |settings, rules, mistakes| analyzers::all(settings, rules, mistakes),
    |settings, rules, mistakes| redact::all(&settings.routes, rules, mistakes),
];

/// Runs all checks; `rules` are the short names of the rules there are.
pub(crate) fn check(
    settings: &Settings,
    places: &ValuePlaces<'_>,
    rules: &[&str],
    mistakes: &mut Diagnostics,
) {
    upstreams::all(&settings.upstreams, places, mistakes);
    server::anything(settings, places, mistakes);
    for check in CHECKS {
        check(settings, rules, mistakes);
    }
}
