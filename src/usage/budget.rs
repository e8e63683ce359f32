//! [`SpendBudget`]: how much may be spent in a stretch of the calendar, and who shares it; [`Account`]: one holder's part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::calendar::{CalendarPeriod, CalendarWindow};
use crate::base::clock::Timestamp;
use crate::usage::cost::Cost;
use crate::usage::model_name::model_name;
use crate::usage::prices::ModelPattern;
use crate::usage::spend::SpendLimit;

/// What happens once a budget is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetMode {
    /// Requests are refused until the next period begins.
    #[default]
    Hard,
    /// They pass, and the log and the metrics say so.
    Soft,
}

/// Says that a text is no budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a budget is an amount and a period: 25usd/month, 1000000tokens/day or 500requests/hour (a period is minute, hour, day \
     or month)"
)]
pub struct BudgetError;

/// Who has a budget: which requests count for it, and whose they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetScope {
    /// Only requests along these routes; none: along any.
    pub routes: Vec<String>,
    /// Only requests to these models; none: to any.
    pub models: Vec<ModelPattern>,
    /// Only requests of callers that have all these labels.
    pub labels: BTreeMap<String, String>,
    /// Who has one of their own.
    pub each: BudgetHolder,
}

/// Who has a budget of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BudgetHolder {
    /// Nobody: all share one.
    #[default]
    All,
    /// Each API token.
    Token,
    /// Each value of this label, such as each `team`.
    Label(String),
    /// Each model.
    Model,
    /// Each route.
    Route,
}

/// How much may be spent in a stretch of the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendBudget {
    /// Names it to people, in the store and in metrics.
    pub name: String,
    /// Who has it.
    pub scope: BudgetScope,
    /// Over what it is counted.
    pub period: CalendarPeriod,
    /// How much.
    pub limit: SpendLimit,
    /// What happens once it is used up.
    pub mode: BudgetMode,
    /// Whether callers are not told what is left of it: it is others' as well.
    pub hidden: bool,
}

/// Who spends: a request, as far as budgets tell requests apart.
#[derive(Clone, Copy, Debug)]
pub struct Spender<'a> {
    /// The caller's token, by its id.
    pub token: Option<&'a str>,
    /// What the caller is labelled with.
    pub labels: &'a BTreeMap<String, String>,
    /// The route.
    pub route: &'a str,
    /// The models that it names.
    pub models: &'a [String],
    /// Whether it may ask any model, since it names none.
    pub any_model: bool,
}

/// What one holder may spend of a budget in one window.
#[derive(Clone, Debug)]
pub struct Account {
    /// The budget.
    pub budget: Arc<SpendBudget>,
    /// Whose part; what has no holder is everybody's.
    pub(super) id: String,
    /// When it is counted from, and until when.
    pub window: CalendarWindow,
}

/// The longest part of an account's id, in bytes: ids of rows have at most 1 KiB.
const LONGEST_PART: usize = 256;

impl Account {
    /// A token's own: all of its budgets over one period are spent from together.
    pub fn of_token(budget: &Arc<SpendBudget>, token: &str, now: Timestamp) -> Self {
        Self::new(budget, &["token", budget.period.as_str(), token], now)
    }

    fn new(budget: &Arc<SpendBudget>, parts: &[&str], now: Timestamp) -> Self {
        Self { budget: Arc::clone(budget), id: spelled(parts), window: budget.period.around(now) }
    }

    /// Whether it refuses by what requests take, and not by their number alone.
    pub fn bounds_what_is_taken(&self) -> bool {
        let SpendLimit { tokens, cost, .. } = self.budget.limit;
        self.budget.mode == BudgetMode::Hard && (tokens.is_some() || cost.is_some())
    }

    /// Whose part it is: a token's id, a label's value, a model or a route; empty: everybody's.
    pub fn holder(&self) -> String {
        let parts: Vec<String> = serde_json::from_str(&self.id).unwrap_or_default();
        parts.into_iter().next_back().unwrap_or_default()
    }

    /// The row that has it.
    pub(super) fn row(&self) -> String {
        format!("{}@{}", self.id, self.window.start.as_millis())
    }

    /// The account that a row is of, and when its window begins.
    pub(super) fn of_row(row: &str) -> Option<(&str, &str)> {
        row.rsplit_once('@')
    }
}

/// The parts of an account's id, of which the last one says whose it is. JSON, so that no name can be spelled like two.
fn spelled(parts: &[&str]) -> String {
    let cut = |part: &&str| part.get(..part.floor_char_boundary(LONGEST_PART)).unwrap_or_default().to_owned();
    let parts: Vec<String> = parts.iter().map(cut).collect();
    serde_json::to_string(&parts).unwrap_or_default()
}

impl SpendBudget {
    /// The accounts that a request spends from; none where it does not count for this budget. Of several models that one
    /// names, any may be asked, and one that names none may ask those of any budget.
    pub fn accounts(self: &Arc<Self>, by: Spender<'_>, now: Timestamp) -> Vec<Account> {
        let BudgetScope { routes, models, labels, each } = &self.scope;
        let fits = (routes.is_empty() || routes.iter().any(|route| route == by.route))
            && (models.is_empty()
                || by.any_model
                || by.models.iter().any(|model| models.iter().any(|one| one.takes(model))))
            && labels.iter().all(|(name, value)| by.labels.get(name) == Some(value));
        if !fits {
            return Vec::new();
        }
        let one = |holder: Option<&str>| holder.into_iter().map(str::to_owned).collect();
        let holders: BTreeSet<String> = match each {
            BudgetHolder::All => one(Some("")),
            BudgetHolder::Token => one(by.token),
            BudgetHolder::Label(name) => one(by.labels.get(name).map(String::as_str)),
            // In small letters, as patterns have it; what is no name of a model is one with all that is none.
            BudgetHolder::Model if by.any_model => one(Some("other")),
            BudgetHolder::Model => {
                let holder = |model: &String| model_name(model).unwrap_or("other").to_lowercase();
                by.models.iter().map(holder).collect()
            }
            BudgetHolder::Route => one(Some(by.route)),
        };
        let [kind, name, period] = self.parts();
        holders.iter().map(|holder| Account::new(self, &[kind, name, period, holder], now)).collect()
    }

    /// What the ids of all its accounts begin with.
    pub(super) fn id_prefix(&self) -> String {
        format!("{},", spelled(&self.parts()).trim_end_matches(']'))
    }

    fn parts(&self) -> [&str; 3] {
        ["budget", self.name.as_str(), self.period.as_str()]
    }

    /// Reads one as the command line and the API have it: `25usd/month`.
    ///
    /// # Errors
    /// [`BudgetError`].
    pub fn parse(text: &str, mode: BudgetMode) -> Result<Self, BudgetError> {
        let (amount, period) = text.trim().split_once('/').ok_or(BudgetError)?;
        let period = CalendarPeriod::parse(period.trim()).ok_or(BudgetError)?;
        let amount = amount.trim();
        let number = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = amount.strip_prefix(number).unwrap_or_default();
        let number = number.trim().replace('_', "");
        let whole = || number.parse::<u64>().map_err(|_| BudgetError);
        let limit = match unit {
            "usd" => SpendLimit {
                cost: Some(Cost::parse(&number).map_err(|_| BudgetError)?),
                ..SpendLimit::default()
            },
            "tokens" => SpendLimit { tokens: Some(whole()?), ..SpendLimit::default() },
            "requests" => SpendLimit { requests: Some(whole()?), ..SpendLimit::default() },
            _ => return Err(BudgetError),
        };
        let name = limit.unit().to_owned();
        Ok(Self { name, scope: BudgetScope::default(), period, limit, mode, hidden: false })
    }

    /// As [`SpendBudget::parse`] reads it, if it bounds one thing alone.
    pub fn shown(&self) -> String {
        let SpendLimit { requests, tokens, cost } = self.limit;
        let amounts = [
            cost.map(|cost| format!("{cost}usd")),
            tokens.map(|tokens| format!("{tokens}tokens")),
            requests.map(|requests| format!("{requests}requests")),
        ];
        let amounts: Vec<String> = amounts.into_iter().flatten().collect();
        format!("{}/{}", amounts.join("+"), self.period.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_they_are_written() {
        for (text, shown) in [
            ("25usd/month", "25.00usd/month"),
            ("0.5usd/day", "0.50usd/day"),
            ("1_000_000tokens/day", "1000000tokens/day"),
            (" 500 requests / hour ", "500requests/hour"),
            ("60requests/minute", "60requests/minute"),
        ] {
            let budget = SpendBudget::parse(text, BudgetMode::Hard).unwrap();
            assert_eq!(budget.shown(), shown, "{text}");
            assert_eq!(SpendBudget::parse(shown, BudgetMode::Hard).unwrap(), budget);
        }
        for text in [
            "",
            "25",
            "25usd",
            "usd/day",
            "25eur/day",
            "25usd/week",
            "-1tokens/day",
            "1.5tokens/day",
            "25usd/day/1",
        ] {
            assert_eq!(SpendBudget::parse(text, BudgetMode::Hard), Err(BudgetError), "{text}");
        }
    }

    #[test]
    fn requests_count_for_whoever_has_the_budget() {
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let budget = |scope| {
            let limit = SpendLimit { tokens: Some(1), ..SpendLimit::default() };
            Arc::new(SpendBudget {
                name: "b".into(),
                scope,
                period: CalendarPeriod::Day,
                limit,
                mode: BudgetMode::Hard,
                hidden: false,
            })
        };
        let red = labels(&[("team", "red")]);
        let none = labels(&[]);
        let models = ["gpt-4o".to_owned(), "GPT-4o".to_owned(), "jane@example.com".to_owned()];
        let by = |token, labels, models| Spender { token, labels, route: "chat", models, any_model: false };
        let holders = |scope: BudgetScope, by: Spender<'_>| -> Vec<String> {
            let accounts = budget(scope).accounts(by, Timestamp::from_millis(0));
            let holder = |account: &Account| serde_json::from_str::<Vec<String>>(&account.id).unwrap().pop();
            accounts.iter().filter_map(holder).collect()
        };
        let each = |each| BudgetScope { each, ..BudgetScope::default() };
        let team = || BudgetHolder::Label("team".to_owned());
        let for_gpt =
            || BudgetScope { models: vec![ModelPattern::parse("gpt*").unwrap()], ..BudgetScope::default() };
        let routes = BudgetScope { routes: vec!["other".into()], ..BudgetScope::default() };
        let any = Spender { any_model: true, ..by(None, &none, &[]) };
        let rows: [(BudgetScope, Spender<'_>, &[&str]); 13] = [
            (for_gpt(), any, &[""]),
            (each(BudgetHolder::Model), any, &["other"]),
            (BudgetScope::default(), by(None, &none, &[]), &[""]),
            (each(BudgetHolder::Token), by(Some("pti_1"), &none, &[]), &["pti_1"]),
            (each(BudgetHolder::Token), by(None, &none, &[]), &[]),
            (each(team()), by(None, &red, &[]), &["red"]),
            (each(team()), by(None, &none, &[]), &[]),
            (each(BudgetHolder::Model), by(None, &none, &models), &["gpt-4o", "other"]),
            (each(BudgetHolder::Route), by(None, &none, &[]), &["chat"]),
            (routes, by(None, &none, &[]), &[]),
            (for_gpt(), by(None, &none, &models), &[""]),
            (for_gpt(), by(None, &none, &models[2..]), &[]),
            (BudgetScope { labels: red.clone(), ..BudgetScope::default() }, by(None, &none, &[]), &[]),
        ];
        for (at, (scope, by, want)) in rows.into_iter().enumerate() {
            assert_eq!(holders(scope, by), want, "{at}");
        }
    }
}
