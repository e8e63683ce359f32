//! What is shown of tokens: never a token itself, but for the one moment in which it was made.

use maud::{Markup, html};

use crate::api::token::TokenInfo;
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::console::amounts::{counted, left_of};
use crate::console::layout::csrf;
use crate::console::session::Visitor;
use crate::console::time::minute;
use crate::console::tokens::fields::{Choices, FORM, WAS, fields, hidden, open_routes};
use crate::console::tokens::texts::digest;
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

/// Whether a token is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenState {
    /// It is.
    Active,
    /// Its time is over.
    Expired,
    /// Somebody has ended it.
    Revoked,
}

impl TokenState {
    /// Every state.
    pub(super) const ALL: [Self; 3] = [Self::Active, Self::Expired, Self::Revoked];

    /// That of a token.
    pub(super) fn of(info: &TokenInfo, now: Timestamp) -> Self {
        match info.expires {
            _ if info.revoked.is_some() => Self::Revoked,
            Some(at) if at <= now => Self::Expired,
            _ => Self::Active,
        }
    }

    /// In a word.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }

    /// The state of this word.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// Whether a token is accepted, as a tag.
pub(super) fn state(info: &TokenInfo, now: Timestamp) -> Markup {
    let state = TokenState::of(info, now);
    html! {
        @if state == TokenState::Active { span.tag.good { "✓ " (state.as_str()) } }
        @else { span.tag.look { "✕ " (state.as_str()) } }
    }
}

/// The labels of a token, as tags.
pub(super) fn labels(info: &TokenInfo) -> Markup {
    html! { @for (name, value) in &info.bounds.labels { " " span.tag.said { (name) "=" (value) } } }
}

/// Where a token may go, in words.
pub(super) fn reach(info: &TokenInfo) -> String {
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

/// Whether a token covers a route that anybody may call.
pub(super) fn covers_open(info: &TokenInfo, choices: &Choices) -> bool {
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

/// What is left of budgets.
pub(super) fn budgets(left: &[Remaining]) -> Markup {
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

/// The page of one token, with what whoever sees it is to know first.
pub(super) fn one(
    token: &TokenRow,
    choices: &Choices,
    visitor: &Visitor,
    may_change: bool,
    note: Option<&str>,
) -> Markup {
    let info = &token.info;
    html! {
        header { div { h1 { (info.name) " " (state(info, choices.now)) } p { a href="/tokens" { "All tokens" } } } }
        @if let Some(note) = note { p.note.look role="alert" { (note) } }
        section.card aria-labelledby="facts" {
            h2 #facts { "What it is" }
            (facts(token))
            (cautions(info, choices))
        }
        @if may_change && info.revoked.is_none() { (changes(info, choices, visitor)) }
    }
}

/// What is known of a token.
fn facts(token: &TokenRow) -> Markup {
    let TokenRow { info, used, month, left } = token;
    let models = info.bounds.models.as_ref().map(|all| match all.as_slice() {
        [] => "none".to_owned(),
        all => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    });
    html! {
        dl.facts {
            dt { "Id" } dd { code { (info.id) } }
            dt { "Made" } dd { (minute(info.created)) " UTC" }
            dt { "Last used" } dd { @if let Some(used) = used { (minute(*used)) " UTC" } @else { "never" } }
            @if let Some(at) = info.revoked { dt { "Revoked" } dd { (minute(at)) " UTC" } }
            @if let Some(name) = info.tenant.name() { dt { "Tenant" } dd { (name) } }
            dt { "Covers" } dd { (reach(info)) }
            dt { "This month" }
            dd { (counted(month.requests, "request")) ", " (month.tokens.input) " tokens in, " (month.tokens.output) " tokens out, $" (month.cost) }
            @if let Some(models) = models { dt { "Models" } dd { (models) } }
            @if let Some(at) = info.expires { dt { "Expires" } dd { (minute(at)) " UTC" } }
            @if !left.is_empty() && info.revoked.is_none() { dt { "Budgets" } dd { (budgets(left)) } }
        }
    }
}

/// What can be changed of a token.
fn changes(info: &TokenInfo, choices: &Choices, visitor: &Visitor) -> Markup {
    let path = format!("/tokens/{}", info.id);
    html! {
        section.card aria-labelledby="change" {
            h2 #change { "Change it" }
            p.quiet { "A bound that is left empty is none. Running gateways know within a second." }
            form method="post" action={ (path) "/change" } {
                (csrf(visitor))
                (hidden(WAS, &digest(info)))
                (fields(Some(info), choices))
                div.row { button.first { "Save" } }
            }
        }
        section.card aria-labelledby="end" {
            h2 #end { "Its secret" }
            div.row {
                form method="post" action={ (path) "/rotate" } {
                    (csrf(visitor))
                    (hidden(FORM, &choices.form))
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
