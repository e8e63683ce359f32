//! What it means for a route that its settings change: never a value, which may be secret.

use crate::config::listed_names;
use crate::config::settings::{Answers, Requests, Route};
use crate::console::routes::words::looks_for;
use crate::detect::{Catalogue, RuleSelection};

/// A route, and the rules that there are beside it.
#[derive(Clone, Copy)]
pub(in crate::console) struct RuledRoute<'c> {
    pub(in crate::console) route: &'c Route,
    pub(in crate::console) catalogue: &'c Catalogue,
}

/// What changes for a route.
pub(in crate::console) fn effects(was: RuledRoute<'_>, will: RuledRoute<'_>) -> Vec<String> {
    let (before, after) = (was.route, will.route);
    let mut effects = Vec::new();
    let named = |catalogue: &Catalogue, selection: Option<RuleSelection>| -> Vec<String> {
        let ids = selection.iter().flat_map(RuleSelection::iter).collect::<Vec<_>>();
        ids.into_iter().filter_map(|id| Some(catalogue.rule(id)?.name().to_owned())).collect()
    };
    let rules = |one: RuledRoute<'_>| named(one.catalogue, looks_for(one.route, one.catalogue));
    let (was, will) = (rules(was), rules(will));
    let mut changed = |what: &str, of: &[String], other: &[String]| {
        let only: Vec<&str> = of.iter().filter(|name| !other.contains(name)).map(String::as_str).collect();
        effects.extend(listed_names(&only).map(|names| format!("{what} {names}")));
    };
    changed("no longer looked for:", &was, &will);
    changed("looked for from then on:", &will, &was);
    let ways = |route: &Route| match &route.redact {
        Some(redact) => (*redact.requests, redact.answers()),
        None => (Requests::Off, Answers::Off),
    };
    let ((requests, answers), (new_requests, new_answers)) = (ways(before), ways(after));
    if requests != new_requests {
        effects.push(format!("findings in requests: {requests:?}, then {new_requests:?}").to_lowercase());
    }
    if answers != new_answers {
        effects.push(format!("findings in answers: {answers:?}, then {new_answers:?}").to_lowercase());
    }
    if before.auth() != after.auth() {
        effects.push(format!("who may call: {:?}, then {:?}", before.auth(), after.auth()).to_lowercase());
    }
    if before.upstream.as_deref() != after.upstream.as_deref() {
        effects.push("it leads to another upstream".to_owned());
    }
    let methods = |route: &Route| route.redact.as_ref().map(|redact| redact.methods.clone());
    if methods(before).unwrap_or_default() != methods(after).unwrap_or_default() {
        effects.push("rules have other methods of their own".to_owned());
    }
    effects
}
