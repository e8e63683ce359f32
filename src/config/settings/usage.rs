//! What requests to models take: which are counted, what they cost, and budgets.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::base::calendar::CalendarPeriod;
use crate::base::from_text::FromText;
use crate::config::Spanned;
use crate::usage::{
    BudgetHolder, BudgetMode, BudgetScope, Cost, ModelPattern, ModelPrice, SpendBudget, SpendLimit, dollars,
};

/// `[usage]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Which requests are counted.
    pub count: CountedRequests,
    /// What models cost; the first that fits counts.
    pub prices: Vec<Spanned<ModelPrice>>,
    /// What may be spent.
    pub budgets: Vec<Spanned<Budget>>,
}

impl Usage {
    /// The budgets, as they are counted.
    pub fn budgets(&self) -> impl Iterator<Item = SpendBudget> {
        self.budgets.iter().map(|setting| {
            let Budget { name, period, usd, tokens, requests, each, routes, models, labels, mode, hidden } =
                &**setting;
            SpendBudget {
                name: name.to_string(),
                scope: BudgetScope {
                    routes: routes.iter().map(|route| route.as_str().to_owned()).collect(),
                    models: models.clone(),
                    labels: labels.clone(),
                    each: each.0.clone(),
                },
                period: period.0,
                limit: SpendLimit { requests: *requests, tokens: *tokens, cost: usd.map(|usd| usd.0) },
                mode: *mode,
                hidden: *hidden,
            }
        })
    }
}

/// Which requests are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountedRequests {
    /// Those that something bounds: a budget, or a token narrowed to models.
    #[default]
    Bounded,
    /// All to paths of a known protocol, on every route that leads to somebody else.
    All,
}

/// `[[usage.budgets]]`: what may be spent in a stretch of the calendar.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Names it in answers, logs and metrics; unique.
    pub name: Spanned<String>,
    /// Over what it is counted, in UTC.
    pub period: Period,
    /// How much money, in US dollars. What no price is known for costs nothing.
    #[serde(default)]
    pub usd: Option<Dollars>,
    /// How many tokens, read and written.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// How many requests.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Who has one of their own. Default: all share one.
    #[serde(default)]
    pub each: Spanned<Holder>,
    /// Only requests along these routes. Default: along all.
    #[serde(default)]
    pub routes: Vec<Spanned<String>>,
    /// Only requests to these models. Default: to any.
    #[serde(default)]
    pub models: Vec<ModelPattern>,
    /// Only requests of tokens with these labels. Default: of all.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// What happens once it is used up.
    #[serde(default)]
    pub mode: BudgetMode,
    /// Whether callers are not told what is left of it (`portcullis-budget-remaining`): for a budget that several tenants share.
    #[serde(default)]
    pub hidden: bool,
}

/// US dollars, as a number or as a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Dollars(#[serde(deserialize_with = "dollars")] pub Cost);

/// A period as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period(pub CalendarPeriod);

/// Says that a text is not a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a period, write one of \"minute\", \"hour\", \"day\", \"month\"")]
pub struct PeriodError;

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| CalendarPeriod::parse(text).map(Self).ok_or(PeriodError);
        FromText { expected: "a period such as \"month\"", parse }.read(deserializer)
    }
}

/// Who has a budget of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder(pub BudgetHolder);

/// Says that a text is nobody who has a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not who has a budget, write one of \"all\", \"token\", \"model\", \"route\" or \"label:NAME\"")]
pub struct BudgetHolderError;

impl Holder {
    fn parse(text: &str) -> Result<Self, BudgetHolderError> {
        Ok(Self(match text {
            "all" => BudgetHolder::All,
            "token" => BudgetHolder::Token,
            "model" => BudgetHolder::Model,
            "route" => BudgetHolder::Route,
            other => {
                let label = other.strip_prefix("label:").filter(|label| !label.is_empty());
                BudgetHolder::Label(label.ok_or(BudgetHolderError)?.to_owned())
            }
        }))
    }
}

impl<'de> Deserialize<'de> for Holder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FromText { expected: "who has a budget, such as \"token\"", parse: Self::parse }.read(deserializer)
    }
}
