//! The page of all tokens: those that somebody looks for, a hundred at a time.

use maud::{Markup, html};

use crate::api::token::TokenInfo;
use crate::base::clock::Timestamp;
use crate::console::amounts::{counted, number};
use crate::console::form::Form;
use crate::console::layout::csrf;
use crate::console::paging::Paging;
use crate::console::session::Visitor;
use crate::console::time::minute;
use crate::console::tokens::fields::{Choices, FORM, fields, hidden};
use crate::console::tokens::pages::{TokenRow, TokenState, budgets, covers_open, labels, reach, state};

/// Which tokens somebody looks for.
pub(super) struct TokenSearch<'q> {
    wanted: &'q str,
    words: Vec<String>,
    state: Option<TokenState>,
}

impl<'q> TokenSearch<'q> {
    /// As a query says it: `q`, words of which each must be found, and `state`.
    pub(super) fn read(query: &'q Form) -> Self {
        let wanted = query.text("q");
        let words = wanted.split_whitespace().map(str::to_lowercase).collect();
        Self { wanted, words, state: TokenState::parse(query.text("state")) }
    }

    /// Whether it is one of those.
    pub(super) fn takes(&self, info: &TokenInfo, now: Timestamp) -> bool {
        if self.state.is_some_and(|state| state != TokenState::of(info, now)) {
            return false;
        }
        self.words.is_empty() || {
            let said = said(info);
            self.words.iter().all(|word| said.contains(word.as_str()))
        }
    }

    /// Where the page is of the same tokens that begins with this one.
    fn link(&self, from: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("q", self.wanted).append_pair("state", self.state.map_or("", TokenState::as_str));
        query.append_pair("from", &from.to_string());
        format!("/tokens?{}", query.finish())
    }
}

/// What is known of a token, for whoever looks for words.
fn said(info: &TokenInfo) -> String {
    let mut said = format!("{}\n{}\n{}", info.name, info.id, info.tenant.name().unwrap_or_default());
    for (name, value) in &info.bounds.labels {
        said.push_str(&format!("\n{name}={value}"));
    }
    for route in info.routes.iter().flatten() {
        said.push('\n');
        said.push_str(route);
    }
    said.to_lowercase()
}

/// Tokens that were looked for.
pub(super) struct TokenList<'l> {
    /// Those on this page.
    pub(super) rows: &'l [TokenRow],
    /// What was looked for.
    pub(super) search: &'l TokenSearch<'l>,
    /// Which part this is of those that were found.
    pub(super) paging: Paging,
    /// How many were found.
    pub(super) found: usize,
    /// How many there are.
    pub(super) count: usize,
}

/// The page of all tokens.
pub(super) fn all(list: &TokenList<'_>, choices: &Choices, visitor: &Visitor, may_change: bool) -> Markup {
    let TokenList { rows, search, paging, found, count } = list;
    html! {
        header {
            div { h1 { "Tokens" } p { "Who may call, where, and how much. A token's secret is shown once, when it is made." } }
        }
        @if may_change {
            section.card aria-labelledby="make" {
                details open[*count <= 1] {
                    summary #make { "Make a token" }
                    form method="post" action="/tokens/create" {
                        (csrf(visitor))
                        (hidden(FORM, &choices.form))
                        (fields(None, choices))
                        div.row { button.first { "Make it" } }
                    }
                }
            }
        }
        section.card aria-labelledby="list" {
            header { h2 #list { "All tokens" } span.quiet role="status" { (number(*found as u64)) " of " (number(*count as u64)) } }
            form method="get" action="/tokens" role="search" {
                div.row {
                    div.field { label for="q" { "Words" } input #q type="search" name="q" value=(search.wanted) placeholder="research, team=red"; }
                    div.field {
                        label for="in-state" { "State" }
                        select #in-state name="state" {
                            option value="" { "any" }
                            @for known in TokenState::ALL { option value=(known.as_str()) selected[search.state == Some(known)] { (known.as_str()) } }
                        }
                    }
                    button.first { "Find" }
                }
            }
            @if rows.is_empty() { p.quiet { "There is no such token." } }
            @else { (table(rows, choices)) }
            (paging.links(|from| search.link(from)))
        }
    }
}

/// The most characters that are shown of where a token may go; all of it is on its page.
const BRIEF: usize = 160;

/// The beginning of a long text.
fn brief(text: String) -> String {
    let end = text.char_indices().nth(BRIEF).map(|(end, _)| end);
    match end.and_then(|end| text.get(..end)) {
        Some(beginning) => format!("{beginning} …"),
        None => text,
    }
}

fn table(rows: &[TokenRow], choices: &Choices) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-labelledby="list" {
            table {
                thead {
                    tr {
                        th { "Name" } th { "State" } th { "Covers" } th { "Budgets" } th.number { "This month" }
                        th { "Last used, UTC" } th { "Expires, UTC" }
                    }
                }
                tbody {
                    @for TokenRow { info, used, month, left } in rows {
                        tr {
                            td.named { a href={ "/tokens/" (info.id) } { (info.name) } (labels(info)) }
                            td { (state(info, choices.now)) }
                            td.named { (brief(reach(info))) @if covers_open(info, choices) { " " span.tag.look title="Along a route that takes anybody (auth = \"none\"), the token limits nothing." { "! a route is open to anybody" } } }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::token::{Tenant, TokenBounds};
    use crate::base::id::TokenId;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn info(name: &str) -> TokenInfo {
        let labels = [("team".to_owned(), "Red".to_owned())].into();
        TokenInfo {
            id: TokenId::from_random([1; 20]),
            name: name.to_owned(),
            tenant: Tenant::default(),
            services: Some(Vec::new()),
            routes: Some(vec!["Chat".to_owned()]),
            configs: Vec::new(),
            created: NOW,
            expires: None,
            revoked: None,
            bounds: TokenBounds { labels, ..TokenBounds::default() },
        }
    }

    #[test]
    fn tokens_are_found_by_all_words_and_by_their_state() {
        let active = info("Research app");
        let expired = TokenInfo { expires: Some(NOW), ..info("old") };
        let revoked = TokenInfo { revoked: Some(NOW), ..expired.clone() };
        let found = |query: &str| {
            let form = Form::read(query.as_bytes()).unwrap();
            let search = TokenSearch::read(&form);
            [&active, &expired, &revoked].map(|info| search.takes(info, NOW))
        };
        for (query, wanted) in [
            ("", [true, true, true]),
            ("q=research", [true, false, false]),
            ("q=APP+team%3Dred", [true, false, false]),
            ("q=research+other", [false, false, false]),
            ("q=chat", [true, true, true]),
            ("q=pti_aeaq", [true, true, true]),
            ("state=active", [true, false, false]),
            ("state=expired", [false, true, false]),
            ("state=revoked&q=old", [false, false, true]),
            ("state=nothing", [true, true, true]),
        ] {
            assert_eq!(found(query), wanted, "{query}");
        }
        let form = Form::read(b"q=a+%26b&state=expired&from=9").unwrap();
        assert_eq!(TokenSearch::read(&form).link(100), "/tokens?q=a+%26b&state=expired&from=100");
    }
}
