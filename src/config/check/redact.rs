//! Redaction: methods that go together, what surrogates go by, and rules that exist.

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Answers, MOST_REMEMBERED, Redact, Requests, Route, TweakScopeSetting};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::detect::RuleSet;

pub(super) fn all(routes: &[Spanned<Route>], rules: &[&str], diagnostics: &mut Diagnostics) {
    for route in routes {
        let Some(redact) = &route.redact else { continue };
        let ends = (route.respond.is_some() || route.endpoint.is_some()) && !route.forwards();
        if ends && route.guardrail().is_none() {
            diagnostics.say(redact.span().start, "[routes.redact] needs an `upstream`");
        }
        methods(redact, diagnostics);
        tweak(redact, diagnostics);
        remember(redact, diagnostics);
        choice(redact, diagnostics);
        both(redact, diagnostics);
        thresholds(redact, diagnostics);
        heads(redact, diagnostics);
        known(redact, rules, diagnostics);
    }
}

fn methods(redact: &Spanned<Redact>, diagnostics: &mut Diagnostics) {
    let begin = redact.span().start;
    if diagnostics.lost(begin, "requests") {
        return;
    }
    let said = redact.answers.as_ref().filter(|said| ***said == Answers::Restore);
    if let Some(answers) = said.filter(|_| !redact.restorable() && !diagnostics.lost(begin, "methods")) {
        let hint = "only what was encrypted can be restored";
        diagnostics.hint(answers.span().start, "answers = \"restore\" needs requests = \"encrypt\"", hint);
    }
    if let Some(invented) = redact.invented.as_ref().filter(|_| redact.answers() != Answers::Restore) {
        let hint = "answers that are not restored are redacted as `answers` says";
        diagnostics.hint(invented.span().start, "`invented` needs answers = \"restore\"", hint);
    }
    for (name, said) in
        [("restore_in_urls", &redact.restore_in_urls), ("restore_in_tool_urls", &redact.restore_in_tool_urls)]
    {
        if let Some(said) = said.as_ref().filter(|_| redact.answers() != Answers::Restore) {
            let hint = "answers that are not restored have no values to restore in URLs";
            diagnostics.hint(said.span().start, format!("`{name}` needs answers = \"restore\""), hint);
        }
    }
    if let Some(nothing) = redact.methods.values().find(|own| own.requests.or(own.answers).is_none()) {
        let hint = "such as { requests = \"block\", answers = \"report\" }";
        diagnostics.hint(
            nothing.span().start,
            "a rule's methods name neither `requests` nor `answers`",
            hint,
        );
    }
    let idle = *redact.requests == Requests::Off && redact.answers() == Answers::Off;
    if idle && !diagnostics.lost(begin, "answers") {
        diagnostics
            .say(redact.requests.span().start, "nothing is redacted: `requests` and `answers` are both off");
    }
}

fn tweak(redact: &Spanned<Redact>, diagnostics: &mut Diagnostics) {
    let lost = |name| diagnostics.lost(redact.span().start, name);
    let known = !(lost("requests") || lost("methods") || lost("tweak"));
    if known && *redact.tweak != TweakScopeSetting::Route && !redact.encrypts() {
        let hint = "surrogates come of requests = \"encrypt\", or of a rule's method \"encrypt\"";
        diagnostics.hint(redact.tweak.span().start, "`tweak` does nothing: nothing gets a surrogate", hint);
    }
    let Some(header) = &redact.conversation_header else { return };
    if HeaderName::from_bytes(header.as_bytes()).is_err() {
        diagnostics.say(header.span().start, "not a header's name");
    }
    if known && *redact.tweak != TweakScopeSetting::Conversation {
        let hint = "it says what a conversation is";
        diagnostics.hint(header.span().start, "`conversation_header` needs tweak = \"conversation\"", hint);
    }
}

fn remember(redact: &Spanned<Redact>, diagnostics: &mut Diagnostics) {
    let Some(remember) = &redact.remember else { return };
    if remember.get() > MOST_REMEMBERED {
        let days = MOST_REMEMBERED.as_secs() / 86_400;
        diagnostics.say(remember.span().start, format!("`remember` is {days}d at the most"));
    }
    let lost = |name| diagnostics.lost(redact.span().start, name);
    if !(lost("requests") || lost("methods") || redact.encrypts()) {
        let hint = "surrogates come of requests = \"encrypt\", or of a rule's method \"encrypt\"";
        diagnostics.hint(remember.span().start, "`remember` does nothing: nothing gets a surrogate", hint);
    }
}

fn choice(redact: &Spanned<Redact>, diagnostics: &mut Diagnostics) {
    let Some(rules) = redact.rules.as_ref().filter(|_| !diagnostics.lost(redact.span().start, "rules"))
    else {
        return;
    };
    if rules.is_empty() {
        diagnostics.say(rules.span().start, "`rules` names none");
        return;
    }
    if let Some(other) = redact.with.first().or(redact.without.first()) {
        let hint = "`with` and `without` change the default set";
        diagnostics.hint(other.span().start, "`rules` is the whole set already", hint);
    }
    let set = |name: &Spanned<String>| RuleSet::named(name).is_some();
    for rule in redact.methods.keys().filter(|rule| !rules.contains(rule) && !set(rule)) {
        diagnostics.say(rule.span().start, format!("`{}` is not among `rules`", **rule));
    }
}

/// Headers by which a request is understood, or its caller known: they have settings of their own, or none.
const OTHERS: [&str; 12] = [
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn heads(redact: &Redact, diagnostics: &mut Diagnostics) {
    for header in &redact.headers {
        let at = header.span().start;
        if HeaderName::from_bytes(header.as_bytes()).is_err() {
            diagnostics.say(at, "not a header's name");
        } else if OTHERS.iter().any(|other| header.eq_ignore_ascii_case(other)) {
            let hint = "cookies are named under `cookies`; by the others a request is understood";
            diagnostics.hint(at, "values of this header cannot be redacted", hint);
        }
    }
    let first = redact.headers.first().or(redact.cookies.first());
    if let Some(first) = first.filter(|_| *redact.requests == Requests::Off) {
        diagnostics.say(first.span().start, "nothing is redacted here: `requests` is off");
    }
}

fn thresholds(redact: &Redact, diagnostics: &mut Diagnostics) {
    for threshold in redact.thresholds.values().filter(|threshold| !(0.0..=1.0).contains(&***threshold)) {
        diagnostics.say(threshold.span().start, "a threshold is a score from 0 to 1");
    }
}

fn both(redact: &Redact, diagnostics: &mut Diagnostics) {
    for rule in redact.without.iter().filter(|rule| redact.with.contains(rule)) {
        diagnostics.say(rule.span().start, "the rule stands under `with` too");
    }
}

fn known(redact: &Redact, rules: &[&str], diagnostics: &mut Diagnostics) {
    if rules.is_empty() {
        return;
    }
    let named = redact.rules.iter().flat_map(|rules| rules.iter());
    let listed = named.chain(&redact.with).chain(&redact.without).chain(redact.methods.keys());
    let listed = listed.filter(|name| RuleSet::named(name).is_none());
    for rule in listed.chain(redact.thresholds.keys()) {
        if rules.contains(&rule.as_str()) {
            continue;
        }
        let message = format!("there is no rule `{}`", **rule);
        match similar::did_you_mean(rule, rules.iter().copied()) {
            Some(hint) => diagnostics.hint(rule.span().start, message, hint),
            None => diagnostics.say(rule.span().start, message),
        }
    }
}
