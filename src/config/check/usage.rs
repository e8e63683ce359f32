//! Budgets: what they bound, and for whom.

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Auth, Route, Settings};
use crate::config::similar;
use crate::config::spanned::Spanned;
use crate::usage::BudgetHolder;

pub(super) fn all(settings: &Settings, diagnostics: &mut Diagnostics) {
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
