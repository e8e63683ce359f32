//! What is shown of tokens: never a token itself, but for the one moment in which it was made.

use maud::{Markup, html};

use crate::api::token::{Service, TokenInfo};
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::console::amounts::{counted, left_of};
use crate::console::layout::csrf;
use crate::console::session::Visitor;
use crate::console::time::minute;
use crate::console::tokens::draft::EVERYTHING;
use crate::usage::{BudgetMode, Remaining, UsageTotals};

/// A token, and what is known of its use.
pub(super) struct TokenRow {
    /// The token.
    pub(super) info: TokenInfo,
    /// When it was last used, to the minute.
    pub(super) used: Option<Timestamp>,
    /// What was taken with it since the month began.
    pub(super) month: UsageTotals,
    /// What is left of its budgets.
    pub(super) left: Vec<Remaining>,
}

/// What can be chosen for a token.
pub(super) struct Choices {
    /// The routes there are.
    pub(super) routes: Vec<String>,
    /// Those of them that callers take without a token.
    pub(super) open: Vec<String>,
    /// Whether any model has a price.
    pub(super) priced: bool,
    /// Now.
    pub(super) now: Timestamp,
}

fn state(info: &TokenInfo, now: Timestamp) -> Markup {
    html! {
        @if info.revoked.is_some() { span.tag.look { "✕ revoked" } }
        @else if info.expires.is_some_and(|at| at <= now) { span.tag.look { "✕ expired" } }
        @else { span.tag.good { "✓ active" } }
    }
}

/// Where a token may go, in words.
fn reach(info: &TokenInfo) -> String {
    let services: Vec<&str> = info.services.iter().flatten().map(|service| service.as_str()).collect();
    let routes: Vec<&str> = info.routes.iter().flatten().map(String::as_str).collect();
    match (services.is_empty() && routes.is_empty(), info.services.is_none()) {
        (true, true) if info.tenant.name().is_some() => "redact, sanitize, share, and every route".to_owned(),
        (true, true) => "every service and route".to_owned(),
        (true, false) => "nothing".to_owned(),
        _ => {
            let part = |what: &str, names: &[&str]| match names.is_empty() {
                true => None,
                false => Some(format!("{what} {}", names.join(", "))),
            };
            let parts: Vec<String> =
                [part("services", &services), part("routes", &routes)].into_iter().flatten().collect();
            parts.join("; ")
        }
    }
}

/// The page of all tokens.
pub(super) fn all(tokens: &[TokenRow], choices: &Choices, visitor: &Visitor, may_change: bool) -> Markup {
    html! {
        header {
            div { h1 { "Tokens" } p { "Who may call, where, and how much. A token's secret is shown once, when it is made." } }
        }
        @if may_change {
            section.card aria-labelledby="make" {
                details open[tokens.len() <= 1] {
                    summary #make { "Make a token" }
                    form method="post" action="/tokens/create" {
                        (csrf(visitor))
                        (fields(None, choices))
                        div.row { button.first { "Make it" } }
                    }
                }
            }
        }
        section.card aria-labelledby="list" {
            header { h2 #list { "All tokens" } span.quiet { (tokens.len()) } }
            div.scroll tabindex="0" role="group" aria-labelledby="list" {
                table {
                    thead {
                        tr {
                            th { "Name" } th { "State" } th { "Covers" } th { "Budgets" } th.number { "This month" }
                            th { "Last used" } th { "Expires" }
                        }
                    }
                    tbody {
                        @for TokenRow { info, used, month, left } in tokens {
                            tr {
                                td { a href={ "/tokens/" (info.id) } { (info.name) } @for (name, value) in &info.bounds.labels { " " span.tag { (name) "=" (value) } } }
                                td { (state(info, choices.now)) }
                                td { (reach(info)) @if covers_open(info, choices) { " " span.tag.look { "! open to anybody" } } }
                                td { (budgets(left)) @if left.is_empty() { span.quiet { "none" } } }
                                td.number { (counted(month.requests, "request")) @if month.cost.nanodollars() > 0 { br; "$" (month.cost) } }
                                td { @if let Some(used) = used { (minute(*used)) } @else { span.quiet { "never" } } }
                                td { @if let Some(at) = info.expires { (minute(at)) } @else { span.quiet { "never" } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where tokens bound nobody.
fn open_routes(choices: &Choices) -> Markup {
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

/// Whether a token covers a route that anybody may call.
fn covers_open(info: &TokenInfo, choices: &Choices) -> bool {
    let covers = |route: &String| match (&info.routes, &info.services) {
        (Some(routes), _) => routes.contains(route),
        (None, services) => services.is_none(),
    };
    info.revoked.is_none() && choices.open.iter().any(covers)
}

/// What is covered without being bounded, and amounts that nothing counts against.
fn cautions(info: &TokenInfo, choices: &Choices) -> Markup {
    let unpriced = !choices.priced && info.bounds.budgets.iter().any(|budget| budget.shown().contains("usd"));
    html! {
        @if covers_open(info, choices) { (open_routes(choices)) }
        @if unpriced { p.note.look { "A budget is in dollars, and no model has a price: nothing counts against it. See " code { "[[usage.prices]]" } "." } }
    }
}

fn budgets(left: &[Remaining]) -> Markup {
    html! {
        @for one in left {
            div {
                span.mono { (one.budget.shown()) }
                @if one.budget.mode == BudgetMode::Soft { span.quiet { " soft" } }
                " "
                @if one.used_up { span.tag.look { "! used up" } }
                @else { span.quiet { (left_of(one)) " left" } }
            }
        }
    }
}

/// The page of one token.
pub(super) fn one(token: &TokenRow, choices: &Choices, visitor: &Visitor, may_change: bool) -> Markup {
    let TokenRow { info, used, month, left } = token;
    let path = format!("/tokens/{}", info.id);
    html! {
        header { div { h1 { (info.name) " " (state(info, choices.now)) } p { a href="/tokens" { "All tokens" } } } }
        section.card aria-labelledby="facts" {
            h2 #facts { "What it is" }
            dl.facts {
                dt { "Id" } dd { code { (info.id) } }
                dt { "Made" } dd { (minute(info.created)) " UTC" }
                dt { "Last used" } dd { @if let Some(used) = used { (minute(*used)) " UTC" } @else { "never" } }
                @if let Some(at) = info.revoked { dt { "Revoked" } dd { (minute(at)) " UTC" } }
                @if let Some(name) = info.tenant.name() { dt { "Tenant" } dd { (name) } }
                dt { "Covers" } dd { (reach(info)) }
                dt { "This month" }
                dd { (counted(month.requests, "request")) ", " (month.tokens.input) " tokens in, " (month.tokens.output) " tokens out, $" (month.cost) }
                @if let Some(models) = &info.bounds.models { dt { "Models" } dd { (models.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")) } }
                @if let Some(at) = info.expires { dt { "Expires" } dd { (minute(at)) " UTC" } }
                @if !left.is_empty() && info.revoked.is_none() { dt { "Budgets" } dd { (budgets(left)) } }
            }
            (cautions(info, choices))
        }
        @if may_change && info.revoked.is_none() {
            section.card aria-labelledby="change" {
                h2 #change { "Change it" }
                p.quiet { "A bound that is left empty is none. Running gateways know within a second." }
                form method="post" action={ (path) "/change" } {
                    (csrf(visitor))
                    (fields(Some(info), choices))
                    div.row { button.first { "Save" } }
                }
            }
            section.card aria-labelledby="end" {
                h2 #end { "Its secret" }
                div.row {
                    form method="post" action={ (path) "/rotate" } {
                        (csrf(visitor))
                        div.row {
                            div.field {
                                label for="grace" { "The secret before is accepted for another" }
                                select #grace name="grace" {
                                    option value="0" { "moment" } option value="3600" selected { "hour" } option value="86400" { "day" }
                                }
                            }
                            button { "Make another secret" }
                        }
                    }
                    form method="post" action={ (path) "/revoke" } data-confirm="Revoke this token for good? Whoever uses it is refused within a second." {
                        (csrf(visitor))
                        button { "Revoke it for good" }
                    }
                }
            }
        }
    }
}

/// The page that shows a secret, once.
pub(super) fn secret(info: &TokenInfo, secret: &Secret<String>) -> Markup {
    html! {
        header { h1 { "The token " (info.name) } }
        section.card aria-labelledby="secret-head" {
            h2 #secret-head { "Copy it now" }
            p { "It is shown this once. Only its digest is kept." }
            div.row { pre.wrap #secret tabindex="0" { (secret.expose()) } button data-copy="secret" { "Copy" } }
            p { a href={ "/tokens/" (info.id) } { "I have it" } }
        }
    }
}

/// What can be said of a token, filled in with what is known.
fn fields(info: Option<&TokenInfo>, choices: &Choices) -> Markup {
    let bounds = info.map(|info| info.bounds.clone()).unwrap_or_default();
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
    let of_mode = |mode| {
        let lines = bounds.budgets.iter().filter(|budget| budget.mode == mode).map(|budget| budget.shown());
        lines.collect::<Vec<_>>().join("\n")
    };
    let models = bounds.models.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let labels =
        bounds.labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n");
    html! {
        div.grid {
            div.field {
                label for="name" { "Name" }
                input #name name="name" required maxlength="128" value=[info.map(|info| info.name.as_str())] placeholder="research";
            }
            @if info.is_none() {
                div.field {
                    label for="tenant" { "Tenant " span.hint { "whose data; empty: the store's own; it stays" } }
                    input #tenant name="tenant" maxlength="64" placeholder="acme";
                }
            }
            div.field {
                label for="expires" { "Expires " span.hint { "90d, 12h, or 2027-01-31; empty: never" } }
                input #expires name="expires" value=[info.and_then(|info| info.expires).map(Timestamp::iso8601)];
            }
            div.field {
                label for="rate" { "Rate " span.hint { "such as 60/1m; empty: none" } }
                input #rate name="rate" value=[bounds.rate.map(|rate| rate.to_string())];
            }
        }
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
        div.grid {
            (lines("budget", "Budgets", "25usd/month, one a line; calls are refused beyond", &of_mode(BudgetMode::Hard)))
            (lines("soft_budget", "Soft budgets", "the same, but only told", &of_mode(BudgetMode::Soft)))
            (lines("model", "Models", "gpt-4o*, one a line; empty: all", &models))
            (lines("label", "Labels", "team=research, one a line", &labels))
            (lines("config", "Configs", "ids (pci_…), one a line; empty: all", &info.map(|info| info.configs.join("\n")).unwrap_or_default()))
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
