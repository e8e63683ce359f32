//! Names of models: what stands for them, and which routes know them.

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, Model, Settings};
use crate::config::similar;
use crate::config::spanned::Spanned;

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
    for model in settings.models.values() {
        targets(settings, model, diagnostics);
    }
    for route in &settings.routes {
        for name in &route.models {
            let known = || settings.models.keys().map(|key| key.as_str());
            if known().all(|known| known != name.as_str()) && !diagnostics.lost_anywhere(name) {
                unknown(name, known(), format!("there is no [models.{}]", **name), diagnostics);
            }
        }
        if let Some(name) = route.models.first().filter(|_| route.auth() != Auth::Token || !route.forwards())
        {
            let hint = "a key that a caller sends one provider is not for another";
            diagnostics.hint(
                name.span().start,
                "`models` needs a route to an upstream with `auth = \"token\"`",
                hint,
            );
        }
    }
}

fn targets(settings: &Settings, model: &Spanned<Model>, diagnostics: &mut Diagnostics) {
    let begin = model.targets.span().start;
    if model.targets.is_empty() {
        diagnostics.say(begin, "a model needs at least one of `targets`");
    }
    if !model.targets.is_empty() && model.targets.iter().all(|target| target.weight == 0) {
        diagnostics.say(begin, "one of `targets` must have a `weight`: else none is tried first");
    }
    for target in model.targets.iter() {
        if target.model.is_empty() || target.model.contains(char::is_control) {
            diagnostics.say(target.model.span().start, "a `model` is the name that its provider knows");
        }
        let Some(upstream) = &target.upstream else { continue };
        if !settings.upstreams.contains_key(upstream.as_str()) && !diagnostics.lost_anywhere(upstream) {
            let known = settings.upstreams.keys().map(|key| key.as_str());
            unknown(upstream, known, format!("there is no [upstreams.{}]", **upstream), diagnostics);
        }
    }
}

fn unknown<'a>(
    name: &Spanned<String>,
    known: impl Iterator<Item = &'a str>,
    message: String,
    diagnostics: &mut Diagnostics,
) {
    match similar::did_you_mean(name, known) {
        Some(hint) => diagnostics.hint(name.span().start, message, hint),
        None => diagnostics.say(name.span().start, message),
    }
}
