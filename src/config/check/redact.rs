//! Redaction: methods that go together, what surrogates go by, and rules that exist.

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Answers, MOST_REMEMBERED, Redact, Requests, Route, Tweak};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::detect::RuleSet;

pub(super) fn all(routes: &[Spanned<Route>], rules: &[&str], mistakes: &mut Diagnostics) {
    for route in routes {
        let Some(redact) = &route.redact else { continue };
        let ends = (route.respond.is_some() || route.endpoint.is_some()) && !route.forwards();
        if ends && route.guardrail().is_none() {
            mistakes.say(redact.span().start, "[routes.redact] needs an `upstream`");
        }
        methods(redact, mistakes);
        tweak(redact, mistakes);
        remember(redact, mistakes);
        choice(redact, mistakes);
        both(redact, mistakes);
        thresholds(redact, mistakes);
        heads(redact, mistakes);
        known(redact, rules, mistakes);
    }
}

fn methods(redact: &Spanned<Redact>, mistakes: &mut Diagnostics) {
    let begin = redact.span().start;
    if mistakes.lost(begin, "requests") {
        return;
    }
    let said = redact.answers.as_ref().filter(|said| ***said == Answers::Restore);
    if let Some(answers) = said.filter(|_| !redact.restorable() && !mistakes.lost(begin, "methods")) {
        let hint = "only what was encrypted can be restored";
        mistakes.hint(answers.span().start, "answers = \"restore\" needs requests = \"encrypt\"", hint);
    }
    if let Some(invented) = redact.invented.as_ref().filter(|_| redact.answers() != Answers::Restore) {
        let hint = "answers that are not restored are redacted as `answers` says";
        mistakes.hint(invented.span().start, "`invented` needs answers = \"restore\"", hint);
    }
    for (name, said) in
        [("restore_in_urls", &redact.restore_in_urls), ("restore_in_tool_urls", &redact.restore_in_tool_urls)]
    {
        if let Some(said) = said.as_ref().filter(|_| redact.answers() != Answers::Restore) {
            let hint = "answers that are not restored have no values to restore in URLs";
            mistakes.hint(said.span().start, format!("`{name}` needs answers = \"restore\""), hint);
        }
    }
    if let Some(nothing) = redact.methods.values().find(|own| own.requests.or(own.answers).is_none()) {
        let hint = "such as { requests = \"block\", answers = \"report\" }";
        mistakes.hint(nothing.span().start, "a rule's methods name neither `requests` nor `answers`", hint);
    }
    let idle = *redact.requests == Requests::Off && redact.answers() == Answers::Off;
    if idle && !mistakes.lost(begin, "answers") {
        mistakes
            .say(redact.requests.span().start, "nothing is redacted: `requests` and `answers` are both off");
    }
}

fn tweak(redact: &Spanned<Redact>, mistakes: &mut Diagnostics) {
    let lost = |name| mistakes.lost(redact.span().start, name);
    let known = !(lost("requests") || lost("methods") || lost("tweak"));
    if known && *redact.tweak != Tweak::Route && !redact.encrypts() {
        let hint = "surrogates come of requests = \"encrypt\", or of a rule's method \"encrypt\"";
        mistakes.hint(redact.tweak.span().start, "`tweak` does nothing: nothing gets a surrogate", hint);
    }
    let Some(header) = &redact.conversation_header else { return };
    if HeaderName::from_bytes(header.as_bytes()).is_err() {
        mistakes.say(header.span().start, "not a header's name");
    }
    if known && *redact.tweak != Tweak::Conversation {
        let hint = "it says what a conversation is";
        mistakes.hint(header.span().start, "`conversation_header` needs tweak = \"conversation\"", hint);
    }
}

fn remember(redact: &Spanned<Redact>, mistakes: &mut Diagnostics) {
    let Some(remember) = &redact.remember else { return };
    if remember.get() > MOST_REMEMBERED {
        let days = MOST_REMEMBERED.as_secs() / 86_400;
        mistakes.say(remember.span().start, format!("`remember` is {days}d at the most"));
    }
    let lost = |name| mistakes.lost(redact.span().start, name);
    if !(lost("requests") || lost("methods") || redact.encrypts()) {
        let hint = "surrogates come of requests = \"encrypt\", or of a rule's method \"encrypt\"";
        mistakes.hint(remember.span().start, "`remember` does nothing: nothing gets a surrogate", hint);
    }
}

fn choice(redact: &Spanned<Redact>, mistakes: &mut Diagnostics) {
    let Some(rules) = redact.rules.as_ref().filter(|_| !mistakes.lost(redact.span().start, "rules")) else {
        return;
    };
    if rules.is_empty() {
        mistakes.say(rules.span().start, "`rules` names none");
        return;
    }
    if let Some(other) = redact.with.first().or(redact.without.first()) {
        let hint = "`with` and `without` change the default set";
        mistakes.hint(other.span().start, "`rules` is the whole set already", hint);
    }
    let set = |name: &Spanned<String>| RuleSet::named(name).is_some();
    for rule in redact.methods.keys().filter(|rule| !rules.contains(rule) && !set(rule)) {
        mistakes.say(rule.span().start, format!("`{}` is not among `rules`", **rule));
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

fn heads(redact: &Redact, mistakes: &mut Diagnostics) {
    for header in &redact.headers {
        let at = header.span().start;
        if HeaderName::from_bytes(header.as_bytes()).is_err() {
            mistakes.say(at, "not a header's name");
        } else if OTHERS.iter().any(|other| header.eq_ignore_ascii_case(other)) {
            let hint = "cookies are named under `cookies`; by the others a request is understood";
            mistakes.hint(at, "values of this header cannot be redacted", hint);
        }
    }
    let first = redact.headers.first().or(redact.cookies.first());
    if let Some(first) = first.filter(|_| *redact.requests == Requests::Off) {
        mistakes.say(first.span().start, "nothing is redacted here: `requests` is off");
    }
}

fn thresholds(redact: &Redact, mistakes: &mut Diagnostics) {
    for threshold in redact.thresholds.values().filter(|threshold| !(0.0..=1.0).contains(&***threshold)) {
        mistakes.say(threshold.span().start, "a threshold is a score from 0 to 1");
    }
}

fn both(redact: &Redact, mistakes: &mut Diagnostics) {
    for rule in redact.without.iter().filter(|rule| redact.with.contains(rule)) {
        mistakes.say(rule.span().start, "the rule stands under `with` too");
    }
}

fn known(redact: &Redact, rules: &[&str], mistakes: &mut Diagnostics) {
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
            Some(hint) => mistakes.hint(rule.span().start, message, hint),
            None => mistakes.say(rule.span().start, message),
        }
    }
}
