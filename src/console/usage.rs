//! [`UsagePages`]: what requests to models took, by who asked and what, and what is left of the budgets of the configuration.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::StatusCode;
use maud::{Markup, html};

use crate::api::token::{TokenError, TokenInfo, Tokens};
use crate::base::calendar::CalendarPeriod;
use crate::base::clock::SharedClock;
use crate::console::amounts::{left_of, number};
use crate::console::paging::Paging;
use crate::console::running::RunningConfig;
use crate::console::visit::{PageContext, PageReply, PageRequest, Section, Visit};
use crate::store::Records;
use crate::usage::{
    Account, BudgetHolder, BudgetMode, Ledger, Remaining, SpendBudget, UsageKey, UsageReport, UsageRow,
    UsageTotals, spent_accounts,
};

/// The most holders of one budget that are shown.
const HOLDERS: usize = 200;
/// Begins the name of a group that is a label's.
const LABEL: &str = "label:";

/// The section of what was used.
pub(super) struct UsagePages {
    /// Who asks, and what they are labelled with.
    pub(super) tokens: Arc<Tokens>,
    /// What was spent.
    pub(super) ledger: Arc<Ledger>,
    /// Where sums of it are.
    pub(super) records: Arc<dyn Records>,
    /// What runs: its budgets.
    pub(super) running: Arc<RunningConfig>,
    /// Reads time.
    pub(super) clock: SharedClock,
}

/// The tokens that there are or were, by id.
struct TokensById(HashMap<String, TokenInfo>);

/// What rows are summed up by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GroupBy {
    Token,
    Label(String),
    Route,
    Model,
    Day,
}

/// What is left of one budget to those who have spent of it.
struct BudgetParts {
    budget: Arc<SpendBudget>,
    /// How many they are.
    count: usize,
    /// Those nearest to the limit, by what they are known as.
    nearest: Vec<(String, Remaining)>,
}

impl GroupBy {
    fn read(text: &str) -> Self {
        match text {
            "route" => Self::Route,
            "model" => Self::Model,
            "day" => Self::Day,
            _ => text.strip_prefix(LABEL).map_or(Self::Token, |name| Self::Label(name.to_owned())),
        }
    }

    /// As [`read`](Self::read) takes it.
    fn written(&self) -> String {
        match self {
            Self::Token => "token".to_owned(),
            Self::Label(name) => format!("{LABEL}{name}"),
            Self::Route => "route".to_owned(),
            Self::Model => "model".to_owned(),
            Self::Day => "day".to_owned(),
        }
    }

    /// To people.
    fn name(&self) -> &str {
        match self {
            Self::Token => "Token",
            Self::Label(name) => name,
            Self::Route => "Route",
            Self::Model => "Model",
            Self::Day => "Day",
        }
    }

    /// Which of the group a row is of; empty: of none.
    fn of<'r>(&self, key: &'r UsageKey, known: &'r TokensById) -> &'r str {
        match self {
            Self::Token => &key.token,
            Self::Label(name) => known
                .0
                .get(&key.token)
                .and_then(|info| info.bounds.labels.get(name))
                .map_or("", String::as_str),
            Self::Route => &key.route,
            Self::Model => &key.model,
            Self::Day => &key.day,
        }
    }
}

impl TokensById {
    /// What a token is called.
    fn name<'n>(&'n self, id: &'n str) -> &'n str {
        self.0.get(id).map_or(id, |info| info.name.as_str())
    }

    /// The groups that rows can be summed up by.
    fn groups(&self) -> Vec<GroupBy> {
        let labels: BTreeSet<&String> = self.0.values().flat_map(|info| info.bounds.labels.keys()).collect();
        let labels = labels.into_iter().map(|name| GroupBy::Label(name.clone()));
        [GroupBy::Token]
            .into_iter()
            .chain(labels)
            .chain([GroupBy::Route, GroupBy::Model, GroupBy::Day])
            .collect()
    }
}

impl UsagePages {
    async fn show(&self, visit: &Visit<'_>) -> Result<PageReply, TokenError> {
        let now = self.clock.now();
        let known = self.tokens.list().await?;
        let known = TokensById(known.into_iter().map(|info| (info.id.to_string(), info)).collect());
        let month = CalendarPeriod::Month.around(now);
        let rows = UsageReport::read(self.records.as_ref(), month.start).await?;
        let group = GroupBy::read(visit.query.text("by"));
        let budgets = self.budgets().await?;
        let mut sums: BTreeMap<&str, UsageTotals> = BTreeMap::new();
        for UsageRow { key, totals } in &rows {
            *sums.entry(group.of(key, &known)).or_default() += *totals;
        }
        let mut sums: Vec<(&str, UsageTotals)> = sums.into_iter().collect();
        if group != GroupBy::Day {
            sums.sort_by_key(|(_, totals)| {
                std::cmp::Reverse((totals.cost.nanodollars(), totals.tokens.input, totals.requests))
            });
        }
        let paging = Paging::read(&visit.query, sums.len());
        let sums = paging.part(sums);
        let content = html! {
            header { div { h1 { "Usage" } p { "What requests to models took since " (month.start.iso8601().get(..10).unwrap_or_default()) ", in UTC. What was used in the last seconds may be missing." } } }
            section.card aria-labelledby="sums" {
                header { h2 #sums { "By " (group.name().to_lowercase()) } }
                nav aria-label="Sum up by" {
                    div.row {
                        @for one in known.groups() {
                            a href={ "/usage?" (query(&one)) } aria-current=[(one == group).then_some("true")] { (one.name()) }
                        }
                    }
                }
                @if sums.is_empty() { p.quiet { "Nothing was counted. " a href="/docs/teams" { "What is counted" } " says [usage] in the configuration." } }
                @else { (table(&group, &sums, &known)) }
                (paging.links(|from| format!("/usage?{}&from={from}", query(&group))))
            }
            (budget_table(&budgets, &known))
        };
        Ok(PageReply::Page(PageContext::plain("Usage", content)))
    }

    /// What is left of the configuration's budgets to whoever has spent of them, by the accounts that were charged.
    async fn budgets(&self) -> Result<Vec<BudgetParts>, TokenError> {
        let Some(config) = self.running.config() else { return Ok(Vec::new()) };
        let now = self.clock.now();
        let mut all = Vec::new();
        for budget in config.usage.budgets().map(Arc::new) {
            let spent = spent_accounts(self.records.as_ref(), &budget, now, HOLDERS).await?;
            let holders: Vec<String> = spent.nearest.iter().map(Account::holder).collect();
            let left = self.ledger.remaining(spent.nearest).await;
            let nearest = holders.into_iter().zip(left).collect();
            all.push(BudgetParts { budget, count: spent.count, nearest });
        }
        Ok(all)
    }
}

/// The query that asks for a group.
fn query(group: &GroupBy) -> String {
    form_urlencoded::Serializer::new(String::new()).append_pair("by", &group.written()).finish()
}

/// One of a group, to people.
fn member(group: &GroupBy, one: &str, known: &TokensById) -> Markup {
    html! {
        @match (group, one) {
            (GroupBy::Token, "") => span.quiet { "without a token" },
            (_, "") => span.quiet { "without" },
            (GroupBy::Token, id) if known.0.contains_key(id) => a href={ "/tokens/" (id) } { (known.name(id)) },
            (_, one) => (one),
        }
    }
}

fn table(group: &GroupBy, sums: &[(&str, UsageTotals)], known: &TokensById) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-labelledby="sums" {
            table {
                thead {
                    tr {
                        th { (group.name()) }
                        th.number { "Requests" } th.number { "Tokens in" } th.number { "Cached" } th.number { "Tokens out" }
                        th.number title="Requests whose tokens nobody reported: counted by their texts" { "Estimated requests" } th.number { "Cost" }
                    }
                }
                tbody {
                    @for (one, totals) in sums {
                        tr {
                            th.named scope="row" { (member(group, one, known)) }
                            td.number { (number(totals.requests)) }
                            td.number { (number(totals.tokens.input)) }
                            td.number { (number(totals.tokens.cached_input)) }
                            td.number { (number(totals.tokens.output)) }
                            td.number { (number(totals.estimated)) }
                            td.number { "$" (totals.cost) }
                        }
                    }
                }
            }
        }
    }
}

fn budget_table(budgets: &[BudgetParts], known: &TokensById) -> Markup {
    let spent = || budgets.iter().filter(|one| !one.nearest.is_empty());
    html! {
        @if spent().next().is_some() {
            section.card aria-labelledby="budgets" {
                header {
                    h2 #budgets { "Budgets" }
                    span.quiet { "of those who have spent in the period that runs, the nearest to the limit first; tokens' own are on their pages" }
                }
                div.scroll tabindex="0" role="group" aria-labelledby="budgets" {
                    table {
                        thead { tr { th { "Budget" } th { "Whose" } th { "Period" } th { "Left" } th { "Then" } } }
                        tbody { @for one in spent() { (budget_rows(one, known)) } }
                    }
                }
            }
        }
    }
}

fn budget_rows(parts: &BudgetParts, known: &TokensById) -> Markup {
    let BudgetParts { budget, count, nearest } = parts;
    html! {
        @for (holder, left) in nearest {
            tr {
                th.named scope="row" { (budget.name) }
                td.named { (whose(budget, holder, known)) }
                td { (budget.period.as_str()) }
                td { @if left.used_up { span.tag.look { "! used up" } } @else { (left_of(left)) } }
                td { @if budget.mode == BudgetMode::Soft { "only told" } @else { "refused" } }
            }
        }
        @if *count > nearest.len() {
            tr { td colspan="5" { span.quiet { "and " (number((count - nearest.len()) as u64)) " others of " (budget.name) ", who are further from the limit" } } }
        }
    }
}

fn whose(budget: &SpendBudget, holder: &str, known: &TokensById) -> Markup {
    match &budget.scope.each {
        BudgetHolder::All => html! { "everybody's" },
        BudgetHolder::Token => member(&GroupBy::Token, holder, known),
        BudgetHolder::Label(name) => html! { span.tag.said { (name) "=" (holder) } },
        BudgetHolder::Model | BudgetHolder::Route => html! { (holder) },
    }
}

impl Section for UsagePages {
    fn path(&self) -> &'static str {
        "/usage"
    }

    fn name(&self) -> &'static str {
        "Usage"
    }

    fn call<'v>(&'v self, visit: Visit<'v>) -> BoxFuture<'v, PageReply> {
        Box::pin(async move {
            if visit.asked != PageRequest::Show || !visit.rest.is_empty() {
                return PageReply::NotFound;
            }
            self.show(&visit).await.unwrap_or_else(|error| {
                tracing::error!(target: "portcullis::console", "usage: {error}");
                let content = html! { header { h1 { "Usage" } } div.note.look role="alert" { "It cannot be read now." } };
                PageReply::Wrong(StatusCode::SERVICE_UNAVAILABLE, PageContext::plain("Usage", content))
            })
        })
    }
}
