//! Prices that are never reached; budgets: what they bound, and for whom.

use std::collections::HashSet;

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, Route, Settings};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::usage::{BudgetHolder, ModelPattern, ModelPrice};

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
    prices(&settings.usage.prices, diagnostics);
    let budgets = &settings.usage.budgets;
    for (i, budget) in budgets.iter().enumerate() {
        let begin = budget.span().start;
        if budget.name.is_empty() || budget.name.len() > 128 || budget.name.contains(char::is_control) {
            let message = "a budget's `name` has 1 to 128 bytes and no control characters";
            diagnostics.say(budget.name.span().start, message);
        }
        if budgets.iter().take(i).any(|other| other.name == budget.name) {
            diagnostics.say(budget.name.span().start, "another budget has this name already");
        }
        if budget.usd.is_none() && budget.tokens.is_none() && budget.requests.is_none() {
            diagnostics.say(begin, "a budget needs one of `usd`, `tokens` and `requests`");
        }
        if budget.usd.is_some() && settings.usage.prices.is_empty() && !diagnostics.lost_anywhere("prices") {
            let hint = "without [[usage.prices]] everything costs nothing";
            diagnostics.hint(begin, "a budget in `usd` needs prices", hint);
        }
        for route in &budget.routes {
            let known = || settings.routes.iter().map(|known| known.name.as_str());
            if known().all(|name| name != route.as_str()) && !diagnostics.lost_anywhere(route) {
                let message = "there is no route of this name";
                match similar::did_you_mean(route, known()) {
                    Some(hint) => diagnostics.hint(route.span().start, message, hint),
                    None => diagnostics.say(route.span().start, message),
                }
            }
            let ours = |known: &&Spanned<Route>| known.name.as_str() == route.as_str() && !known.forwards();
            if settings.routes.iter().any(|known| ours(&known)) {
                let message = "requests along this route are not counted: it does not lead to an upstream";
                diagnostics.hint(
                    route.span().start,
                    message,
                    "bound them by `rate` of the route or of tokens",
                );
            }
        }
        let by_caller = matches!(budget.each.0, BudgetHolder::Token | BudgetHolder::Label(_));
        let concerns =
            |name: &str| budget.routes.is_empty() || budget.routes.iter().any(|one| one.as_str() == name);
        let mut concerned = settings.routes.iter().filter(|route| route.forwards() && concerns(&route.name));
        if by_caller && !settings.routes.is_empty() && concerned.all(|route| route.auth() != Auth::Token) {
            let message = "no route that this budget is for asks for a token, so that nobody has it";
            diagnostics.say(budget.each.span().start.max(begin), message);
        }
    }
}

/// How many pairs of prices are compared: a table may have thousands of rows.
const PAIRS: usize = 200_000;

/// Prices that are never reached, since one before them fits first.
fn prices(prices: &[Spanned<ModelPrice>], diagnostics: &mut Diagnostics) {
    let mut left = PAIRS;
    let mut known: Vec<&ModelPattern> = Vec::new();
    let mut names: HashSet<&str> = HashSet::new();
    for price in prices {
        let model = &price.model;
        let repeated = !names.insert(model.as_str());
        left = left.saturating_sub(known.len());
        let first = known.iter().find(|other| left > 0 && other.covers(model));
        if let Some(first) = first.copied().or(repeated.then_some(model)) {
            let message = format!("this price is never reached: one for `{first}` stands before it");
            diagnostics.doubt(price.span().start, message, "the first that fits counts");
        }
        if model.as_str().contains('*') {
            known.push(model);
        }
    }
}
