//! [`Ledger`]: what accounts have spent here and elsewhere, and what requests under way may spend yet.
//!
//! A request is let in while what was spent and what others under way may yet spend stay below each of its limits, and then
//! reserves what it may spend at the most: so a budget is exceeded by one request at the most, whatever comes at once. Nodes that
//! share an engine reserve there, together. Without one each knows what the others wrote a moment ago (see
//! [`Ledger::write`]), so it is one request for each of them, and what was spent elsewhere in that moment; while the engine
//! is gone each takes the others for as busy as itself.

use std::sync::Arc;

use crate::base::clock::{SharedClock, Timestamp};
use crate::store::{Records, StoreError};
use crate::usage::books;
use crate::usage::budget::{Account, BudgetMode};
use crate::usage::line::{AccountUsage, OLD, UsageByRow};
use crate::usage::report::UsageReport;
use crate::usage::reservation::{OverBudget, Remaining, Reservation};
use crate::usage::shared::{AT_ONCE, AccountClaim, EngineAnswer, SharedBudgets};
use crate::usage::spend::{Spend, SpendLimit};
use crate::usage::sum_rows::{Addition, SumRows};

/// What accounts have spent.
pub struct Ledger {
    records: Arc<dyn Records>,
    clock: SharedClock,
    lines: UsageByRow,
    shared: Option<SharedBudgets>,
    report: UsageReport,
    /// Held by who writes: what two write at once would be booked twice.
    writing: tokio::sync::Mutex<SumRows<Spend>>,
}

impl Ledger {
    /// A ledger of one store. Its writes are numbered under `node`, a name that no other process has, so that one whose
    /// answer is lost is not booked twice.
    pub fn new(records: Arc<dyn Records>, clock: SharedClock, node: &str) -> Self {
        let report = UsageReport::new(Arc::clone(&records), SumRows::of(node));
        let (lines, writing) = (UsageByRow::default(), tokio::sync::Mutex::new(SumRows::of(node)));
        Self { records, clock, lines, shared: None, report, writing }
    }

    /// Reserves together with other nodes, where `shared` says so.
    #[must_use]
    pub fn shared(self, shared: Option<SharedBudgets>) -> Self {
        Self { shared, ..self }
    }

    /// Sums by day, token, route and model.
    pub fn report(&self) -> &UsageReport {
        &self.report
    }

    /// Lets a request in that may spend up to `most`, or not.
    ///
    /// Where the store cannot be read, what was spent here is all that is known.
    ///
    /// # Errors
    /// A budget that is used up and does not let pass.
    pub async fn reserve(&self, accounts: Vec<Account>, most: Spend) -> Result<Reservation, OverBudget> {
        for account in &accounts {
            self.know(account).await;
        }
        let now = self.clock.now();
        let mut reservation = Reservation::new(Arc::clone(&self.lines), most);
        let mut before = Vec::new();
        for account in accounts {
            let row = account.row();
            before.extend(reservation.add(account).map(|line| (row, line)));
        }
        // Dropped, it gives back what it has reserved.
        let answer = match &self.shared {
            Some(shared) => self.take(shared, &reservation, now).await,
            None => None,
        };
        let nodes = self.shared.as_ref().map_or(1, SharedBudgets::nodes);
        let alone = || {
            let over =
                before.iter().filter_map(|(row, line)| reservation.used_up(row, line.taken_by(nodes), now));
            // One that is used up stays so when another has room again.
            over.min_by_key(|over| over.is_reserved).map_or(Ok(()), Err)
        };
        answer.unwrap_or_else(alone)?;
        Ok(reservation)
    }

    /// What is left of each of these accounts, as far as this node knows.
    pub async fn remaining(&self, accounts: Vec<Account>) -> Vec<Remaining> {
        let mut nothing = Reservation::new(Arc::clone(&self.lines), Spend::default());
        for account in accounts {
            self.know(&account).await;
            nothing.add(account);
        }
        nothing.remaining(self.clock.now())
    }

    /// Reserves in the engine. `None`: it is gone.
    async fn take(
        &self,
        shared: &SharedBudgets,
        reservation: &Reservation,
        now: Timestamp,
    ) -> Option<Result<(), OverBudget>> {
        let rows: Vec<String> = reservation.rows().into_iter().collect();
        let bound = |row: &String| {
            let of_row = reservation.accounts().iter().filter(|account| account.row() == *row);
            let hard = of_row.filter(|account| account.budget.mode == BudgetMode::Hard);
            hard.fold(SpendLimit::default(), |bound, account| bound.and(account.budget.limit))
        };
        let told = self.ask(shared, &rows, reservation.reserved(), bound).await?;
        let EngineAnswer::UsedUp { row, taken } = told else { return Some(Ok(())) };
        let row = rows.get(row)?;
        reservation.used_up(row, taken, now).map(Err)
    }

    /// Tells the engine all that is known here of these rows, of which `most` is new.
    async fn ask(
        &self,
        shared: &SharedBudgets,
        rows: &[String],
        most: Spend,
        limit: impl Fn(&String) -> SpendLimit,
    ) -> Option<EngineAnswer> {
        let claims = rows.iter().filter_map(|row| {
            let mut line = self.lines.get_mut(row)?;
            line.tellings += 1;
            line.told = true;
            Some(AccountClaim { row, line: *line, most, limit: limit(row) })
        });
        let claims: Vec<AccountClaim<'_>> = claims.collect();
        let told = shared.take(&claims).await;
        let learnt = match &told {
            Some(EngineAnswer::Taken(learnt)) => learnt.as_slice(),
            _ => &[],
        };
        for (at, claim) in claims.iter().enumerate() {
            if let Some(mut line) = self.lines.get_mut(claim.row) {
                match learnt.get(at) {
                    Some(shared) => line.learn(shared),
                    None => line.told = false,
                }
            }
        }
        told
    }

    /// Tells the engine that nodes share what was spent and reserved here and is not known there yet. To be called about once a
    /// second, also while the store is gone.
    pub async fn tell(&self) {
        let Some(shared) = &self.shared else { return };
        let untold = self.lines.iter().filter(|line| line.is_to_tell());
        let rows: Vec<String> = untold.map(|line| line.key().clone()).collect();
        let nothing = |_: &String| SpendLimit::default();
        if rows.is_empty() {
            // It learns since when it remembers.
            self.ask(shared, &[], Spend::default(), nothing).await;
        }
        for rows in rows.chunks(AT_ONCE) {
            self.ask(shared, rows, Spend::default(), nothing).await;
        }
    }

    /// Reads what the store has of an account of which nothing is known, or nothing new.
    async fn know(&self, account: &Account) {
        let row = account.row();
        // What others have written the engine tells.
        let told = self.shared.as_ref().is_some_and(SharedBudgets::is_there);
        let is_old = |line: &AccountUsage| !line.known || (line.idle >= OLD && !told);
        if self.lines.get(&row).is_some_and(|line| !is_old(&line)) {
            return;
        }
        match books::read(self.records.as_ref(), &row).await {
            Ok(written) => {
                let mut line =
                    self.lines.entry(row).or_insert_with(|| AccountUsage::until(account.window.end));
                if is_old(&line) {
                    line.read(written);
                    line.idle = 0;
                }
            }
            Err(error) => {
                let budget = &account.budget.name;
                tracing::warn!(target: "portcullis::usage", budget, "what was spent is not known: {error}");
            }
        }
    }

    /// Writes what was spent here since the last time, and learns what others did. To be called about once a second; what
    /// cannot be written is tried again with the next call.
    ///
    /// # Errors
    /// The store's, once all was tried.
    pub async fn write(&self) -> Result<(), StoreError> {
        let mut rows = self.writing.lock().await;
        let now = self.clock.now();
        let mut failed = None;
        for DueRow { row, spent, ends } in self.due() {
            let written = if spent.is_nothing() {
                books::read(self.records.as_ref(), &row).await
            } else {
                let addition = Addition { more: spent, now, expires: ends };
                books::add(self.records.as_ref(), &mut rows, &row, addition).await
            };
            match written {
                Ok(written) => {
                    if let Some(mut line) = self.lines.get_mut(&row) {
                        line.wrote(spent, written);
                    }
                }
                Err(error) => failed = Some(error),
            }
        }
        // What is in the store now is no longer this node's alone.
        self.tell().await;
        let shares = self.shared.is_some();
        self.lines.retain(|_, line| line.outlives_write(now, shares));
        let reported = self.report.write(now).await;
        failed.map_or(reported, Err)
    }

    /// What accounts have spent here that the store does not have, by their rows.
    pub fn unwritten(&self) -> Vec<(String, Spend)> {
        let lines = self.lines.iter().filter(|line| !line.unwritten.is_nothing());
        lines.map(|line| (line.key().clone(), line.unwritten)).collect()
    }

    /// What is to be written, and what others may have written of what was asked for since the last time.
    fn due(&self) -> Vec<DueRow> {
        let due = self.lines.iter().filter(|line| !line.unwritten.is_nothing() || line.idle == 0);
        due.map(|line| DueRow { row: line.key().clone(), spent: line.unwritten, ends: line.ends }).collect()
    }
}

/// What one row is to be written with.
struct DueRow {
    row: String,
    spent: Spend,
    ends: Timestamp,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::base::calendar::CalendarPeriod;
    use crate::base::clock::{Clock, FixedClock};
    use crate::store::EmbeddedRecords;
    use crate::usage::budget::{BudgetScope, SpendBudget, Spender};
    use crate::usage::report::{UsageKey, UsageTotals};

    async fn records(folder: &std::path::Path) -> Arc<dyn Records> {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
        Arc::new(EmbeddedRecords::open(&folder.join("records.sqlite"), clock).await.unwrap())
    }

    struct Node {
        ledger: Ledger,
        clock: Arc<FixedClock>,
    }

    fn node(records: &Arc<dyn Records>) -> Node {
        let clock = Arc::new(FixedClock::at(Timestamp::parse_iso8601("2026-11-25T10:00:00Z").unwrap()));
        static NODES: AtomicU64 = AtomicU64::new(0);
        let name = NODES.fetch_add(1, Ordering::Relaxed).to_string();
        let ledger = Ledger::new(Arc::clone(records), Arc::clone(&clock) as SharedClock, &name);
        Node { ledger, clock }
    }

    fn tokens(tokens: u64) -> Spend {
        Spend { requests: 1, tokens, ..Spend::default() }
    }

    impl Node {
        fn accounts(&self, most: u64, mode: BudgetMode) -> Vec<Account> {
            let limit = SpendLimit { tokens: Some(most), ..SpendLimit::default() };
            let (scope, period) = (BudgetScope::default(), CalendarPeriod::Hour);
            let name = "all".to_owned();
            let budget = Arc::new(SpendBudget { name, scope, period, limit, mode, hidden: false });
            let labels = std::collections::BTreeMap::new();
            let by = Spender { token: None, labels: &labels, route: "chat", models: &[], any_model: false };
            budget.accounts(by, self.clock.now())
        }

        async fn reserve(&self, most: u64, mode: BudgetMode) -> Result<Reservation, OverBudget> {
            self.ledger.reserve(self.accounts(100, mode), tokens(most)).await
        }
    }

    /// One that is under way counts as a request, whatever it takes: that one does not come back.
    #[tokio::test]
    async fn what_is_under_way_is_waited_for_and_a_number_of_requests_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&records(folder.path()).await);
        let budget = |name: &str, limit| {
            let (scope, period, mode) = (BudgetScope::default(), CalendarPeriod::Hour, BudgetMode::Hard);
            let budget = SpendBudget { name: name.to_owned(), scope, period, limit, mode, hidden: false };
            let labels = std::collections::BTreeMap::new();
            let by = Spender { token: None, labels: &labels, route: "chat", models: &[], any_model: false };
            Arc::new(budget).accounts(by, node.clock.now())
        };
        let of_tokens = SpendLimit { tokens: Some(100), ..SpendLimit::default() };
        let of_requests = SpendLimit { requests: Some(1), ..SpendLimit::default() };
        let first = node.ledger.reserve(budget("tokens", of_tokens), tokens(100)).await.unwrap();
        let over = node.ledger.reserve(budget("tokens", of_tokens), tokens(1)).await.unwrap_err();
        assert_eq!((over.is_reserved, over.after), (true, 1));
        let second = node.ledger.reserve(budget("requests", of_requests), tokens(1)).await.unwrap();
        let over = node.ledger.reserve(budget("requests", of_requests), tokens(1)).await.unwrap_err();
        assert_eq!((over.is_reserved, over.after), (false, 3600));
        // Of both, the one that stays used up is told.
        let both = [budget("tokens", of_tokens), budget("requests", of_requests)].concat();
        let over = node.ledger.reserve(both, tokens(1)).await.unwrap_err();
        assert_eq!((over.budget.name.as_str(), over.is_reserved), ("requests", false));
        drop((first, second));
    }

    #[tokio::test]
    async fn whatever_comes_at_once_a_budget_is_exceeded_by_one_request_at_the_most() {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&records(folder.path()).await);
        let mut under_way = Vec::new();
        while let Ok(one) = node.reserve(30, BudgetMode::Hard).await {
            under_way.push(one);
        }
        assert_eq!(under_way.len(), 4, "30, 60, 90, and one that takes it beyond");
        for one in under_way {
            one.settle(tokens(10));
        }
        // 40 were spent in truth.
        let one = node.reserve(1000, BudgetMode::Hard).await.unwrap();
        assert_eq!(one.remaining(node.clock.now())[0].left.tokens, Some(60));
        drop(one);
        let one = node.reserve(1, BudgetMode::Hard).await.unwrap();
        one.settle(tokens(60));
        let over = node.reserve(1, BudgetMode::Hard).await.unwrap_err();
        assert_eq!(over.after, 3600);
        node.clock.advance(Duration::from_secs(3600));
        assert!(node.reserve(1, BudgetMode::Hard).await.is_ok(), "the next hour");
    }

    #[tokio::test]
    async fn what_two_write_at_once_is_booked_once() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path()).await;
        let node = node(&records);
        for _ in 0..20 {
            node.reserve(1, BudgetMode::Soft).await.unwrap().settle(tokens(10));
            let (one, other) = tokio::join!(node.ledger.write(), node.ledger.write());
            one.and(other).unwrap();
        }
        assert!(node.ledger.unwritten().is_empty());
        let row = node.accounts(100, BudgetMode::Soft)[0].row();
        assert_eq!(books::read(records.as_ref(), &row).await.unwrap().tokens, 200);
    }

    #[tokio::test]
    async fn a_write_that_nobody_waits_for_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&records(folder.path()).await);
        let key = UsageKey {
            day: "2026-11-25".to_owned(),
            token: String::new(),
            route: "chat".to_owned(),
            model: String::new(),
        };
        let totals = UsageTotals { requests: 3, ..UsageTotals::default() };
        node.ledger.report().add(key, totals);
        {
            let mut write = std::pin::pin!(node.ledger.write());
            let polled = futures_util::poll!(write.as_mut());
            assert!(polled.is_pending(), "the store has not answered yet");
        }
        assert_eq!(node.ledger.report().unwritten(), totals);
    }

    #[tokio::test]
    async fn a_soft_budget_lets_pass_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&records(folder.path()).await);
        node.reserve(1, BudgetMode::Soft).await.unwrap().settle(tokens(100));
        let one = node.reserve(1, BudgetMode::Soft).await.unwrap();
        let left = &one.remaining(node.clock.now())[0];
        assert!(left.used_up && one.over(node.clock.now()).is_none());
        // A refusal gives back what was reserved of the others.
        let hard = node.accounts(100, BudgetMode::Hard);
        let both = [node.accounts(500, BudgetMode::Hard), hard].concat();
        assert!(node.ledger.reserve(both, tokens(400)).await.is_err());
    }

    #[tokio::test]
    async fn nodes_that_share_a_store_add_to_each_others_spending_and_it_outlives_them() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path()).await;
        let (one, other) = (node(&records), node(&records));
        for _ in 0..2 {
            one.reserve(1, BudgetMode::Hard).await.unwrap().settle(tokens(30));
            other.reserve(1, BudgetMode::Hard).await.unwrap().settle(tokens(15));
            one.ledger.write().await.unwrap();
            other.ledger.write().await.unwrap();
        }
        one.reserve(1, BudgetMode::Hard).await.unwrap().settle(tokens(10));
        one.ledger.write().await.unwrap();
        // The other has not been asked since, and looks before it lets anybody in.
        other.ledger.write().await.unwrap();
        other.ledger.write().await.unwrap();
        assert!(other.reserve(1, BudgetMode::Hard).await.is_err());
        let third = node(&records);
        assert!(third.reserve(1, BudgetMode::Hard).await.is_err(), "begun anew");
        third.clock.advance(Duration::from_secs(3600));
        third.ledger.write().await.unwrap();
        assert!(third.ledger.lines.is_empty(), "over and written");
    }

    #[tokio::test]
    async fn two_budgets_of_a_token_over_one_period_are_spent_from_once() {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&records(folder.path()).await);
        let own = |text: &str, mode| {
            let budget = Arc::new(SpendBudget::parse(text, mode).unwrap());
            Account::of_token(&budget, "pti_1", node.clock.now())
        };
        let both = || vec![own("60tokens/day", BudgetMode::Hard), own("20tokens/day", BudgetMode::Soft)];
        for left in [60, 45, 30] {
            let one = node.ledger.reserve(both(), tokens(15)).await.unwrap();
            assert_eq!(one.remaining(node.clock.now())[0].left.tokens, Some(left));
            one.settle(tokens(15));
        }
        let one = node.ledger.reserve(both(), tokens(15)).await.unwrap();
        assert!(one.remaining(node.clock.now())[1].used_up);
        drop(one);
        let one = node.ledger.reserve(both(), tokens(15)).await.unwrap();
        assert_eq!(one.remaining(node.clock.now())[0].left.tokens, Some(15), "what was reserved is back");
    }

    #[tokio::test]
    async fn a_session_spends_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let node = node(&records(folder.path()).await);
        let session = node.reserve(10, BudgetMode::Hard).await.unwrap();
        session.spend(tokens(60));
        assert!(session.over(node.clock.now()).is_none());
        session.spend(tokens(60));
        assert!(session.over(node.clock.now()).is_some());
        session.settle(Spend::default());
        assert!(node.reserve(1, BudgetMode::Hard).await.is_err());
    }
}
