//! The fields of the form by which a token is made or changed, and what can be chosen there.

use maud::{Markup, html};

use crate::api::token::{Service, TokenInfo};
use crate::base::clock::Timestamp;
use crate::console::tokens::draft::{EVERYTHING, NO_MODELS};
use crate::console::tokens::texts::FieldTexts;

/// The field that tells a form from others which are shown.
pub(super) const FORM: &str = "form";

/// The field that says what a form was filled with.
pub(super) const WAS: &str = "was";

/// What can be chosen for a token.
pub(super) struct Choices {
    /// The routes there are.
    pub(super) routes: Vec<String>,
    /// Those of them that callers take without a token.
    pub(super) open: Vec<String>,
    /// Whether any model has a price.
    pub(super) priced: bool,
    /// The id of the form on this page that may be sent once.
    pub(super) form: String,
    /// Now.
    pub(super) now: Timestamp,
}

/// A field that nobody sees.
pub(super) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// Where tokens bound nobody.
pub(super) fn open_routes(choices: &Choices) -> Markup {
    html! {
        @if !choices.open.is_empty() {
            p.note.look {
                (choices.open.join(", ")) ": anybody may call there without a token (" code { "auth = \"none\"" }
                "), so no token bounds or ends what is called along it. " code { "auth = \"token\"" } " asks for one. "
                a href="/routes" { "More of that" }
            }
        }
    }
}

/// What can be said of a token, filled in with what is known.
pub(super) fn fields(info: Option<&TokenInfo>, choices: &Choices) -> Markup {
    let texts = info.map(FieldTexts::of).unwrap_or_default();
    html! {
        div.grid {
            div.field {
                label for="name" { "Name" }
                input #name name="name" required maxlength="128" value=[info.map(|_| texts.name.as_str())] placeholder="research";
            }
            @if info.is_none() {
                div.field {
                    label for="tenant" { "Tenant " span.hint { "whose data; empty: the store's own; it stays" } }
                    input #tenant name="tenant" maxlength="64" placeholder="acme";
                }
            }
            div.field {
                label for="expires" { "Expires " span.hint { "90d, 12h, or 2027-01-31; empty: never" } }
                input #expires name="expires" value=(texts.expires);
            }
            div.field {
                label for="rate" { "Rate " span.hint { "such as 60/1m; empty: none" } }
                input #rate name="rate" value=(texts.rate);
            }
        }
        (coverage(info, choices))
        div.grid {
            (lines("budget", "Budgets", "25usd/month, one a line; calls are refused beyond", &texts.budgets))
            (lines("soft_budget", "Soft budgets", "the same, but only told", &texts.soft_budgets))
            (models(info, &texts.models))
            (lines("label", "Labels", "team=research, one a line", &texts.labels))
            (lines("config", "Configs", "ids (pci_…), one a line; empty: all", &texts.configs))
        }
    }
}

/// Where a token may go.
fn coverage(info: Option<&TokenInfo>, choices: &Choices) -> Markup {
    let everything = info.is_some_and(|info| info.services.is_none() && info.routes.is_none());
    let has_service =
        |service| info.is_some_and(|info| info.services.iter().flatten().any(|known| *known == service));
    let has_route =
        |route: &String| info.is_some_and(|info| info.routes.iter().flatten().any(|known| known == route));
    let other_routes: Vec<&String> = info
        .iter()
        .flat_map(|info| info.routes.iter().flatten())
        .filter(|route| !choices.routes.contains(route))
        .collect();
    html! {
        fieldset {
            legend { "Covers" }
            div.checks {
                label { input type="radio" name="covers" value="ticked" checked[!everything]; "what is ticked below" }
                label { input type="radio" name="covers" value=(EVERYTHING) checked[everything]; "every service and route, but token, admin and viewer" }
            }
        }
        fieldset {
            legend { "Services" }
            div.checks {
                @for service in Service::NAMED {
                    label { input type="checkbox" name="service" value=(service.as_str()) checked[has_service(service)]; (service.as_str()) }
                }
            }
        }
        @if !choices.routes.is_empty() || !other_routes.is_empty() {
            fieldset {
                legend { "Routes" }
                div.checks {
                    @for route in choices.routes.iter().chain(other_routes) {
                        label {
                            input type="checkbox" name="route" value=(route) checked[has_route(route)]; (route)
                            @if choices.open.contains(route) { " " span.tag.look { "! open" } }
                        }
                    }
                }
                (open_routes(choices))
            }
        }
    }
}

/// Which models a token may ask. That there are none is said by itself: where none is named, all are meant.
fn models(info: Option<&TokenInfo>, named: &str) -> Markup {
    let none = info.and_then(|info| info.bounds.models.as_ref()).is_some_and(Vec::is_empty);
    html! {
        div.field {
            label for="model" { "Models " span.hint { "gpt-4o*, one a line; empty: all" } }
            textarea #model name="model" rows="2" spellcheck="false" { (named) }
            div.checks { label { input type="checkbox" name="models" value=(NO_MODELS) checked[none]; "none: every model is refused" } }
        }
    }
}

fn lines(name: &str, label: &str, hint: &str, value: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) " " span.hint { (hint) } }
            textarea id=(name) name=(name) rows="2" spellcheck="false" { (value) }
        }
    }
}
