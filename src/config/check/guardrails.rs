//! Guardrails: routes that look through texts for whoever asks.

use crate::config::at::At;
use crate::config::mistakes::Mistakes;
use crate::config::settings::{Redact, Requests, Route, Tweak};

pub(super) fn all(routes: &[At<Route>], mistakes: &mut Mistakes) {
    for route in routes.iter().filter(|route| route.guardrail().is_some()) {
        if let Some(pattern) = &route.pattern {
            let hint = "what follows `path` says what is asked for";
            mistakes.hint(pattern.span().start, "a guardrail needs `path` in place of `pattern`", hint);
        }
        if route.path.is_none() && route.pattern.is_none() && !mistakes.lost(route.span().start, "path") {
            let hint = "such as path = \"/presidio\"";
            mistakes.hint(
                route.span().start,
                "a guardrail needs `path`: what follows it says what is asked for",
                hint,
            );
        }
        if let Some(redact) = &route.redact {
            idle(redact, mistakes);
        }
    }
}

/// Settings that say nothing of a text which somebody asks about.
fn idle(redact: &At<Redact>, mistakes: &mut Mistakes) {
    if *redact.requests == Requests::Off && !mistakes.lost(redact.span().start, "requests") {
        let hint = "requests = \"report\" leaves values as they are";
        mistakes.hint(redact.requests.span().start, "a guardrail that looks for nothing", hint);
    }
    if *redact.tweak == Tweak::Conversation {
        let hint = "write \"route\" or \"caller\"";
        mistakes.hint(redact.tweak.span().start, "a guardrail knows no conversations", hint);
    }
    let answers = redact.answers.as_ref().map(|said| said.span().start);
    let remember = redact.remember.as_ref().map(|said| said.span().start);
    for (name, at) in [("answers", answers), ("remember", remember)] {
        if let Some(at) = at {
            let hint = "whoever asks sends the texts of both ways, and keeps what stands for what";
            mistakes.hint(at, format!("`{name}` does nothing here: there are no answers"), hint);
        }
    }
}
