//! Guardrails: routes that look through texts for whoever asks.

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Answers, Endpoint, Redact, Requests, Route, TweakScopeSetting};
use crate::config::spanned::Spanned;
use crate::gateway::filters::FileTreatment;

pub(super) fn all(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for (route, endpoint) in routes.iter().filter_map(|route| Some((route, route.guardrail()?))) {
        if let Some(pattern) = &route.pattern {
            let hint = "what follows `path` says what is asked for";
            diagnostics.hint(pattern.span().start, "a guardrail needs `path` in place of `pattern`", hint);
        }
        if route.path.is_none() && route.pattern.is_none() && !diagnostics.lost(route.span().start, "path") {
            let hint = match endpoint {
                Endpoint::LiteLlm => "such as path = \"/litellm\"",
                Endpoint::AgentGateway => "such as path = \"/agentgateway\"",
                Endpoint::Moderations => "such as path = \"/v1/moderations\"",
                _ => "such as path = \"/presidio\"",
            };
            diagnostics.hint(
                route.span().start,
                "a guardrail needs `path`: what follows it says what is asked for",
                hint,
            );
        }
        let Some(redact) = &route.redact else { continue };
        idle(redact, diagnostics);
        if endpoint.sees_answers() {
            unreadable(redact, diagnostics);
            forgotten(redact, diagnostics);
        } else {
            no_answers(redact, endpoint, diagnostics);
        }
    }
}

/// Settings that say nothing of a text which somebody asks about.
fn idle(redact: &Spanned<Redact>, diagnostics: &mut Diagnostics) {
    if *redact.requests == Requests::Off && !diagnostics.lost(redact.span().start, "requests") {
        let hint = "requests = \"report\" leaves values as they are";
        diagnostics.hint(redact.requests.span().start, "a guardrail that looks for nothing", hint);
    }
    if *redact.tweak == TweakScopeSetting::Conversation {
        let hint = "write \"route\" or \"caller\"";
        diagnostics.hint(redact.tweak.span().start, "a guardrail knows no conversations", hint);
    }
}

/// Settings of answers, where nobody asks about them.
fn no_answers(redact: &Redact, endpoint: Endpoint, diagnostics: &mut Diagnostics) {
    let answers = redact.answers.as_ref().map(|said| said.span().start);
    let remember = redact.remember.as_ref().map(|said| said.span().start);
    let hint = match endpoint {
        Endpoint::Moderations => "texts are judged, and nothing is put in their place",
        _ => "whoever asks sends the texts of both ways, and keeps what stands for what",
    };
    for (name, at) in [("answers", answers), ("remember", remember)] {
        if let Some(at) = at {
            diagnostics.hint(at, format!("`{name}` does nothing here: there are no answers"), hint);
        }
    }
}

/// Files are not taken apart here.
fn unreadable(redact: &Redact, diagnostics: &mut Diagnostics) {
    if let Some(files) = redact.files.as_ref().filter(|files| ***files == FileTreatment::Redact) {
        let hint = "write \"refuse\" or \"pass\"";
        diagnostics.hint(files.span().start, "a guardrail redacts no documents", hint);
    }
}

/// What is issued in a request is restored in an answer that is asked about later.
fn forgotten(redact: &Redact, diagnostics: &mut Diagnostics) {
    let never = redact.remember.as_ref().filter(|said| said.get().is_zero());
    if let Some(never) = never.filter(|_| redact.answers() == Answers::Restore) {
        let hint = "answers = \"mask\" does not restore them";
        diagnostics.hint(never.span().start, "without `remember` a guardrail restores no answers", hint);
    }
}
