//! With what a text is redacted: as a route does it, or a call of the API; and what passes there that rules find, with the reason.

use crate::base::checkpoint::Checkpoint;
use crate::console::playground::engines::PlaygroundEngine;
use crate::console::playground::request::{MethodChoice, PlaygroundChoice, RedactedAs};
use crate::detect::{Allow, Catalogue, Detector, Finding, RuleId, RuleSelection};
use crate::redact::{Method, MethodPlan, PublicNameRules, Redactor};

/// What does something with findings.
pub(super) fn redactor(
    engine: &PlaygroundEngine,
    choice: &PlaygroundChoice,
    method: Method,
    checkpoint: &Checkpoint,
) -> Redactor {
    if let Some(route) = &engine.route {
        let chosen = chosen(choice, &engine.catalogue);
        return route.clone().also_allowing(chosen).with_checkpoint(checkpoint.clone());
    }
    let mut allow = engine.allow.clone();
    for one in [chosen(choice, &engine.catalogue), nobodys(choice, &engine.catalogue)] {
        allow.extend(one);
    }
    let detector = detector(engine, choice, allow);
    let public = match (choice.road, choice.method) {
        (RedactedAs::Route, MethodChoice::Encrypt) => PublicNameRules {
            places: engine.catalogue.find("LOCATION"),
            persons: engine.catalogue.find("PERSON"),
        },
        _ => PublicNameRules::default(),
    };
    Redactor::new(detector, MethodPlan::all(method)).leaving(public).with_checkpoint(checkpoint.clone())
}

fn detector(engine: &PlaygroundEngine, choice: &PlaygroundChoice, allow: Allow) -> Detector {
    let detector = engine.detector.allowing(allow);
    match choice.floor() {
        Some(floor) => detector.at_least(floor),
        None => detector,
    }
}

/// The values that somebody wants to pass. A list that is full has no room for more: then they are found.
fn chosen(choice: &PlaygroundChoice, catalogue: &Catalogue) -> Allow {
    let mut allow = Allow::default();
    for one in &choice.pass {
        let rules: RuleSelection = catalogue.find(&one.rule).into_iter().collect();
        let _ = allow.values(Some(rules), [one.value.as_str()], false);
    }
    allow
}

/// What is nobody's, along a route.
fn nobodys(choice: &PlaygroundChoice, catalogue: &Catalogue) -> Allow {
    let mut allow = Allow::default();
    if choice.road == RedactedAs::Route {
        let _ =
            allow.special_use(Allow::SPECIAL_USE.iter().filter_map(|name| catalogue.find(name)).collect());
    }
    allow
}

/// Something that a rule finds, and why it passes all the same.
pub(super) struct AllowedFinding {
    pub(super) finding: Finding,
    pub(super) why: &'static str,
}

/// What rules find in a text, but for what is `found`.
pub(super) fn allowed(
    engine: &PlaygroundEngine,
    choice: &PlaygroundChoice,
    text: &str,
    found: &[Finding],
) -> Vec<AllowedFinding> {
    let bare = detector(engine, choice, Allow::default());
    let mut all = bare.find(text);
    all.retain(|one| {
        let at = found.partition_point(|other| other.span.end <= one.span.start);
        !found.get(at).is_some_and(|other| other.span.overlaps(one.span))
    });
    let (chosen, nobodys) = (chosen(choice, &engine.catalogue), nobodys(choice, &engine.catalogue));
    let why = |rule: RuleId, value: &str| match () {
        () if chosen.has(rule, value.as_bytes()) => "You let it pass.",
        () if engine.allow.has(rule, value.as_bytes()) => {
            "The configuration lets it pass ([[detect.allow]])."
        }
        () if engine.route.is_some() && !engine.detector.allows(rule, value) => {
            "It is public: the route lets names of countries, large places and persons of history pass."
        }
        () if engine.route.is_some() || nobodys.has(rule, value.as_bytes()) => {
            "It is nobody's: an address of documentation, of the machine itself or of its own network passes along routes."
        }
        () => {
            "It is public: names of countries, large places and persons of history pass along routes that encrypt."
        }
    };
    all.into_iter()
        .map(|finding| {
            let value = text.get(finding.span.start..finding.span.end).unwrap_or_default();
            AllowedFinding { finding, why: why(finding.rule, value) }
        })
        .collect()
}
