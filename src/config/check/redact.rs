//! Redaction: methods that go together, what surrogates go by, and rules that exist.

use http::HeaderName;

use crate::config::at::At;
use crate::config::mistakes::Mistakes;
use crate::config::settings::{Answers, MOST_REMEMBERED, Redact, Requests, Route, Tweak};
use crate::config::similar;

pub(super) fn all(routes: &[At<Route>], rules: &[&str], mistakes: &mut Mistakes) {
    for route in routes {
        let Some(redact) = &route.redact else { continue };
        if (route.respond.is_some() || route.endpoint.is_some()) && !route.forwards() {
            mistakes.say(redact.span().start, "[routes.redact] needs an `upstream`");
        }
        methods(redact, mistakes);
        tweak(redact, mistakes);
        remember(redact, mistakes);
        choice(redact, mistakes);
        both(redact, mistakes);
        known(redact, rules, mistakes);
    }
}

fn methods(redact: &At<Redact>, mistakes: &mut Mistakes) {
    let begin = redact.span().start;
    if mistakes.lost(begin, "requests") {
        return;
    }
    let said = redact.answers.as_ref().filter(|said| ***said == Answers::Restore);
    if let Some(answers) = said.filter(|_| *redact.requests != Requests::Encrypt) {
        let hint = "only what was encrypted can be restored";
        mistakes.hint(answers.span().start, "answers = \"restore\" needs requests = \"encrypt\"", hint);
    }
    if let Some(invented) = redact.invented.as_ref().filter(|_| redact.answers() != Answers::Restore) {
        let hint = "answers that are not restored are redacted as `answers` says";
        mistakes.hint(invented.span().start, "`invented` needs answers = \"restore\"", hint);
    }
    let idle = *redact.requests == Requests::Off && redact.answers() == Answers::Off;
    if idle && !mistakes.lost(begin, "answers") {
        mistakes
            .say(redact.requests.span().start, "nothing is redacted: `requests` and `answers` are both off");
    }
}

fn tweak(redact: &At<Redact>, mistakes: &mut Mistakes) {
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

fn remember(redact: &At<Redact>, mistakes: &mut Mistakes) {
    let Some(remember) = &redact.remember else { return };
    if remember.get() > MOST_REMEMBERED {
        let days = MOST_REMEMBERED.as_secs() / 86_400;
        mistakes.say(remember.span().start, format!("`remember` is {days}d at the most"));
    }
    let lost = |name| mistakes.lost(redact.span().start, name);
    if !(lost("requests") || lost("methods")) && !redact.encrypts() {
        let hint = "surrogates come of requests = \"encrypt\", or of a rule's method \"encrypt\"";
        mistakes.hint(remember.span().start, "`remember` does nothing: nothing gets a surrogate", hint);
    }
}

fn choice(redact: &At<Redact>, mistakes: &mut Mistakes) {
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
    for rule in redact.methods.keys().filter(|rule| !rules.contains(rule)) {
        mistakes.say(rule.span().start, format!("`{}` is not among `rules`", **rule));
    }
}

fn both(redact: &Redact, mistakes: &mut Mistakes) {
    for rule in redact.without.iter().filter(|rule| redact.with.contains(rule)) {
        mistakes.say(rule.span().start, "the rule stands under `with` too");
    }
}

fn known(redact: &Redact, rules: &[&str], mistakes: &mut Mistakes) {
    if rules.is_empty() {
        return;
    }
    let named = redact.rules.iter().flat_map(|rules| rules.iter());
    for rule in named.chain(&redact.with).chain(&redact.without).chain(redact.methods.keys()) {
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
