//! [`spent_accounts`]: who has spent of a budget, as the store has it, and how near each is to its end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::base::clock::Timestamp;
use crate::store::{Pages, Records, StoreError};
use crate::usage::books::{KIND, spend};
use crate::usage::budget::{Account, SpendBudget};
use crate::usage::cost::Cost;
use crate::usage::spend::{Spend, SpendLimit};

/// Those who have spent of a budget in one window.
pub struct SpentAccounts {
    /// How many there are.
    pub count: usize,
    /// Those nearest to the limit, the nearest first.
    pub nearest: Vec<Account>,
}

/// The accounts of a budget that were spent from in the window around `now`; the `most` of them that are nearest to the limit are
/// returned. What was spent in the last second may not be counted yet.
///
/// # Errors
/// The store's.
pub async fn spent_accounts(
    records: &dyn Records,
    budget: &Arc<SpendBudget>,
    now: Timestamp,
    most: usize,
) -> Result<SpentAccounts, StoreError> {
    let window = budget.period.around(now);
    let (prefix, start) = (budget.id_prefix(), window.start.as_millis().to_string());
    let before = window.start.as_millis().saturating_sub(1);
    let (mut count, mut nearest) = (0, BinaryHeap::new());
    let mut after = prefix.clone();
    loop {
        let page = records.scan(KIND, &after, Pages::ROWS).await?;
        let mut last = None;
        for row in page.iter().take_while(|row| row.key.id().starts_with(&prefix)) {
            let Some((account, at)) = Account::of_row(row.key.id()) else { continue };
            last = Some((account, row.key.id()));
            if at == start {
                count += 1;
                nearest.push((Reverse(share(budget.limit, spend(&row.entry))), account.to_owned()));
                if nearest.len() > most {
                    nearest.pop();
                }
            }
        }
        let whole = page.last().is_some_and(|row| row.key.id().starts_with(&prefix));
        match last.filter(|_| whole && page.len() == Pages::ROWS as usize) {
            // An account's windows before this one may be many, and are passed over.
            Some((account, id)) => after = format!("{account}@{before}").max(id.to_owned()),
            None => break,
        }
    }
    let account = |id| Account { budget: Arc::clone(budget), id, window };
    let nearest = nearest.into_sorted_vec().into_iter().map(|(_, id)| account(id));
    Ok(SpentAccounts { count, nearest: nearest.collect() })
}

/// How much of a limit was spent, in millionths: of that which is nearest to its end.
fn share(limit: SpendLimit, spent: Spend) -> u64 {
    let of = |spent: u64, most: Option<u64>| {
        let most = most?;
        let millionths = u128::from(spent) * 1_000_000 / u128::from(most.max(1));
        Some(u64::try_from(millionths).unwrap_or(u64::MAX))
    };
    let shares = [
        of(spent.requests, limit.requests),
        of(spent.tokens, limit.tokens),
        of(spent.cost.nanodollars(), limit.cost.map(Cost::nanodollars)),
    ];
    shares.into_iter().flatten().max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::base::calendar::CalendarPeriod;
    use crate::base::clock::{Clock, FixedClock, SharedClock};
    use crate::store::EmbeddedRecords;
    use crate::usage::budget::{BudgetHolder, BudgetMode, BudgetScope, Spender};
    use crate::usage::ledger::Ledger;

    fn budget(name: &str, each: BudgetHolder, period: CalendarPeriod) -> Arc<SpendBudget> {
        let scope = BudgetScope { each, ..BudgetScope::default() };
        let limit = SpendLimit { requests: Some(3), tokens: Some(1000), ..SpendLimit::default() };
        Arc::new(SpendBudget {
            name: name.to_owned(),
            scope,
            period,
            limit,
            mode: BudgetMode::Soft,
            hidden: false,
        })
    }

    /// Spends of a budget as whoever has this label.
    async fn spends(ledger: &Ledger, budget: &Arc<SpendBudget>, team: &str, spent: Spend, now: Timestamp) {
        let labels = BTreeMap::from([("team".to_owned(), team.to_owned())]);
        let models = ["fast".to_owned()];
        let by = Spender {
            token: Some("pti_1"),
            labels: &labels,
            route: "chat",
            models: &models,
            any_model: false,
        };
        let reserved = ledger.reserve(budget.accounts(by, now), Spend::default()).await.unwrap();
        reserved.settle(spent);
    }

    fn holders(found: &SpentAccounts) -> Vec<String> {
        found.nearest.iter().map(Account::holder).collect()
    }

    #[tokio::test]
    async fn whoever_has_spent_is_there_by_what_was_asked_for_and_the_nearest_to_the_limit_first() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::at(Timestamp::parse_iso8601("2026-11-25T10:00:00Z").unwrap()));
        let shared = Arc::clone(&clock) as SharedClock;
        let file = folder.path().join("records.sqlite");
        let records = EmbeddedRecords::open(&file, Arc::clone(&shared)).await.unwrap();
        let records: Arc<dyn Records> = Arc::new(records);
        let ledger = Ledger::new(Arc::clone(&records), shared, "one");
        let teams = budget("teams", BudgetHolder::Label("team".to_owned()), CalendarPeriod::Minute);
        let models = budget("models", BudgetHolder::Model, CalendarPeriod::Month);
        let others = [
            budget("teams, \"too\"", BudgetHolder::All, CalendarPeriod::Minute),
            budget("team", BudgetHolder::Route, CalendarPeriod::Minute),
        ];
        // Windows before this one, more than a page has.
        for _ in 0..Pages::ROWS + 20 {
            let spent = Spend { requests: 3, ..Spend::default() };
            spends(&ledger, &teams, "a@b", spent, clock.now()).await;
            ledger.write().await.unwrap();
            clock.advance(Duration::from_secs(60));
        }
        let now = clock.now();
        // One used up by requests that took no tokens, one near its tokens, one far from both.
        for (team, requests, tokens) in [("a@b", 1, 10), ("used\"up", 3, 0), ("zz", 1, 900)] {
            let spent = Spend { requests, tokens, ..Spend::default() };
            for budget in std::iter::once(&teams).chain(&others) {
                spends(&ledger, budget, team, spent, now).await;
            }
        }
        spends(&ledger, &models, "a", Spend { requests: 1, ..Spend::default() }, now).await;
        ledger.write().await.unwrap();

        let found = spent_accounts(records.as_ref(), &teams, now, 10).await.unwrap();
        assert_eq!((found.count, holders(&found)), (3, vec!["used\"up".into(), "zz".into(), "a@b".into()]));
        let found = spent_accounts(records.as_ref(), &teams, now, 1).await.unwrap();
        assert_eq!((found.count, holders(&found)), (3, vec!["used\"up".to_owned()]));
        let found = spent_accounts(records.as_ref(), &models, now, 10).await.unwrap();
        assert_eq!(holders(&found), ["fast"]);
        for (budget, holder) in others.iter().zip(["", "chat"]) {
            let found = spent_accounts(records.as_ref(), budget, now, 10).await.unwrap();
            assert_eq!((found.count, holders(&found)), (1, vec![holder.to_owned()]));
        }
        // The ledger knows of them what the store has.
        let found = spent_accounts(records.as_ref(), &teams, now, 1).await.unwrap();
        assert!(ledger.remaining(found.nearest).await[0].used_up);
        clock.advance(Duration::from_secs(60));
        assert_eq!(spent_accounts(records.as_ref(), &teams, clock.now(), 10).await.unwrap().count, 0);
    }
}
