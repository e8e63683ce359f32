//! Guardrails: routes that look through texts for whoever asks, by what their `redact` says of requests.

use std::sync::Arc;

use crate::api::guardrail::{Guardrail, GuardrailParts};
use crate::app::policy::{RoutePolicy, actions};
use crate::app::services::Services;
use crate::config::settings::{Redact, Requests, Route, Tweak};
use crate::config::{At, Config};
use crate::telemetry::Direction;

/// The guardrail of a route.
///
/// # Errors
/// A rule that is not there, which checking has made sure of; rules that are too large together.
pub(super) fn guardrail(route: &Route, config: &Config, parts: &Services) -> Result<Guardrail, String> {
    let rules = &config.catalogue;
    // What these programs expect of values of which nobody says more.
    let plain = Redact { requests: At::new(Requests::Replace), ..Redact::default() };
    let setting = route.redact.as_deref().unwrap_or(&plain);
    let redactor = RoutePolicy::new(setting, rules, &config.allow)?.requests()?;
    let redactor = redactor.ok_or("its `redact` looks for nothing")?;
    let words = actions(Some(&redactor), rules);
    Ok(Guardrail::new(GuardrailParts {
        route: route.name.to_string(),
        by_caller: *setting.tweak == Tweak::Caller,
        catalogue: rules.clone(),
        redactor,
        counts: parts.policy_counts(&route.name, Direction::Request, rules, words),
        vault: Arc::clone(&parts.vault),
        cpu: parts.cpu.clone(),
        distinct: parts.distinct(&config.limits),
        prefix: route.prefix(),
        limit: config.limits.body.bytes(),
    }))
}
