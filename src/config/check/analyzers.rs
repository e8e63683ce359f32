//! Analyzers: what they are asked, and who uses them.

use std::time::Duration;

use http::HeaderName;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Analyzer, Answers, Redact, Requests, Settings, analyzer_prefix};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::gateway::filters::FileTreatment;

/// How long answers may take: requests wait for them.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long an answer may be used.
const CACHE_FOR: Duration = Duration::from_secs(24 * 3600);

/// The most questions at once.
const CONCURRENCY: usize = 256;

/// The longest text that may be asked about, in bytes.
const LONGEST: usize = 16 << 20;

pub(super) fn all(settings: &Settings, rules: &[&str], diagnostics: &mut Diagnostics) {
    for (name, analyzer) in &settings.analyzers {
        named(name, diagnostics);
        entities(name, analyzer, rules, diagnostics);
        bounds(analyzer, diagnostics);
    }
    known(settings, &settings.api.analyzers, diagnostics);
    for route in &settings.routes {
        let Some(redact) = &route.redact else { continue };
        known(settings, &redact.analyzers, diagnostics);
        let Some(first) = redact.analyzers.first() else { continue };
        let at = first.span().start;
        if route.guardrail().is_some() {
            diagnostics.say(at, "a guardrail asks no analyzers: it answers by its own rules");
        } else {
            used(redact, at, diagnostics);
        }
    }
}

/// Names of rules begin with it.
fn named(name: &Spanned<String>, diagnostics: &mut Diagnostics) {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !begins || name.len() > 32 || !name.chars().all(legal) {
        let message = "an analyzer's name has 1 to 32 letters, digits, `_` and `-`, a letter first";
        diagnostics.say(name.span().start, message);
    }
}

fn entities(name: &str, analyzer: &Analyzer, rules: &[&str], diagnostics: &mut Diagnostics) {
    let entities = &analyzer.entities;
    if entities.is_empty() || entities.len() > 100 {
        diagnostics.say(entities.span().start, "`entities` names 1 to 100 kinds of values to ask for");
    }
    for (n, entity) in entities.iter().enumerate() {
        let at = entity.span().start;
        if entity.is_empty() || entity.len() > 64 || entity.contains(char::is_control) {
            diagnostics.say(at, "an entity's name has 1 to 64 bytes and no control characters");
        }
        if entities.iter().take(n).any(|other| other == entity) {
            diagnostics.say(at, "the entity is named twice");
        }
    }
    for (entity, rule) in &analyzer.rules {
        if !entities.contains(entity) {
            diagnostics.say(entity.span().start, "it is not asked for: `entities` does not name it");
        }
        let there = rules.is_empty() || rules.contains(&rule.as_str()) || Analyzer::is_own(name, rule);
        if !there {
            let message = format!("there is no rule `{}`", **rule);
            let own = || format!("a new name begins with `{}`", analyzer_prefix(name));
            let hint = similar::did_you_mean(rule, rules.iter().copied()).unwrap_or_else(own);
            diagnostics.hint(rule.span().start, message, hint);
        }
    }
}

fn bounds(analyzer: &Analyzer, diagnostics: &mut Diagnostics) {
    let Analyzer { language, threshold, timeout, concurrency, max_text, cache_for, .. } = analyzer;
    if language.is_empty() || language.len() > 35 || !language.is_ascii() {
        diagnostics.say(language.span().start, "not a language, write one such as \"en\"");
    }
    if !(0.0..=1.0).contains(&**threshold) {
        diagnostics.say(threshold.span().start, "a threshold is a score from 0 to 1");
    }
    if timeout.get().is_zero() || timeout.get() > TIMEOUT {
        diagnostics.say(timeout.span().start, "answers may take from 1ms to 60s");
    }
    if !(1..=CONCURRENCY).contains(&**concurrency) {
        diagnostics.say(concurrency.span().start, format!("`concurrency` is from 1 to {CONCURRENCY}"));
    }
    if max_text.bytes() > LONGEST {
        diagnostics.say(max_text.span().start, "`max_text` is 16MiB at the most");
    }
    if cache_for.get() > CACHE_FOR {
        diagnostics.say(cache_for.span().start, "answers may be used for at most 1d");
    }
    for (name, value) in &analyzer.headers {
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            diagnostics.say(value.span().start, format!("`{name}` is not a header's name"));
        }
    }
    let url = &analyzer.url;
    if url.0.query().is_some() || url.0.fragment().is_some() {
        let hint = "it is asked at `/analyze` below it";
        diagnostics.hint(url.span().start, "the URL of an analyzer has no query and no fragment", hint);
    }
}

/// That there is one of each name.
fn known(settings: &Settings, named: &[Spanned<String>], diagnostics: &mut Diagnostics) {
    for (n, name) in named.iter().enumerate() {
        let at = name.span().start;
        if named.iter().take(n).any(|other| other == name) {
            diagnostics.say(at, "the analyzer is named twice");
        }
        if settings.analyzers.contains_key(name.as_str()) || diagnostics.lost_anywhere(name) {
            continue;
        }
        let message = format!("there is no [analyzers.{}]", **name);
        match similar::did_you_mean(name, settings.analyzers.keys().map(|known| known.as_str())) {
            Some(hint) => diagnostics.hint(at, message, hint),
            None => diagnostics.say(at, message),
        }
    }
}

/// That there is something for them to look through, and what there is not.
fn used(redact: &Spanned<Redact>, at: usize, diagnostics: &mut Diagnostics) {
    let lost = |diagnostics: &Diagnostics, name| diagnostics.lost(redact.span().start, name);
    if *redact.requests == Requests::Off && !lost(diagnostics, "requests") {
        diagnostics.hint(
            at,
            "`analyzers` does nothing here",
            "they look through requests, and `requests` is off",
        );
    }
    if let Some(files) = redact.files.as_ref().filter(|files| ***files == FileTreatment::Redact) {
        let hint = "write \"refuse\" or \"pass\"";
        diagnostics.hint(files.span().start, "texts of documents are not shown to `analyzers`", hint);
    }
    let looks = !matches!(redact.answers(), Answers::Restore | Answers::Off | Answers::Allow);
    if let Some(answers) = redact.answers.as_ref().filter(|_| looks) {
        let hint = "what only they find passes in answers";
        diagnostics.doubt(answers.span().start, "`analyzers` look through requests, not answers", hint);
    }
}
