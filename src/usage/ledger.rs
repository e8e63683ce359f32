//! [`Ledger`]: what accounts have spent here and elsewhere, and what requests under way may spend yet.
//!
//! A request is let in while what was spent and what others under way may yet spend stay below each of its limits, and then
//! reserves what it may spend at the most: so a budget is exceeded by one request at the most, whatever comes at once. On
//! several nodes each knows what the others wrote a moment ago (see [`Ledger::write`]), so it is one request for each of
//! them, and what was spent elsewhere in that moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use dashmap::DashMap;

use crate::base::clock::{SharedClock, Timestamp};
use crate::store::{Records, StoreError};
use crate::usage::books;
use crate::usage::budget::{Account, BudgetMode, SpendBudget};
use crate::usage::report::UsageReport;
use crate::usage::spend::{Spend, SpendLimit};

/// A budget is used up.
#[derive(Clone, Debug)]
pub struct OverBudget {
    /// Which.
    pub budget: Arc<SpendBudget>,
    /// When the next period begins, in whole seconds, at least 1.
    pub after: u64,
}

/// What is left of a budget for one holder.
#[derive(Clone, Debug)]
pub struct Remaining {
    /// Of which budget.
    pub budget: Arc<SpendBudget>,
    /// How much.
    pub left: SpendLimit,
    /// When the next period begins, in whole seconds, at least 1.
    pub after: u64,
    /// Whether it is used up.
    pub used_up: bool,
}

/// What is known of one account in one window.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// What the store had when it was last read or written: of all nodes.
    written: Spend,
    /// What was spent here since.
    unwritten: Spend,
    /// What requests under way here may spend yet.
    reserved: Spend,
    /// Whether the store was read.
    known: bool,
    /// For how many writes nobody has asked for it.
    idle: u32,
    /// When the window ends.
    ends: Timestamp,
}

/// What is known of a line for which nobody has asked in so many writes is old: others may have spent since.
const OLD: u32 = 2;

/// A line that nobody has asked for in so many writes is forgotten: the store has it.
const FORGOTTEN: u32 = 60;

impl Line {
    fn until(ends: Timestamp) -> Self {
        let nothing = Spend::default();
        Self { written: nothing, unwritten: nothing, reserved: nothing, known: false, idle: 0, ends }
    }

    fn spent(&self) -> Spend {
        self.written.and(self.unwritten)
    }
}

/// The lines by the rows that have them.
type Lines = Arc<DashMap<String, Line>>;

/// What accounts have spent.
pub struct Ledger {
    records: Arc<dyn Records>,
    clock: SharedClock,
    lines: Lines,
    report: UsageReport,
}

/// What a request under way may yet spend. Dropped, it is given back.
#[derive(Debug)]
pub struct Reservation {
    lines: Lines,
    accounts: Vec<Account>,
    reserved: Spend,
}

impl Ledger {
    /// A ledger of one store.
    pub fn new(records: Arc<dyn Records>, clock: SharedClock) -> Self {
        let report = UsageReport::new(Arc::clone(&records));
        Self { records, clock, lines: Lines::default(), report }
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
        let mut reservation =
            Reservation { lines: Arc::clone(&self.lines), accounts: Vec::new(), reserved: most };
        for account in accounts {
            let mut line = self.lines.entry(account.row()).or_insert_with(|| Line::until(account.window.end));
            line.idle = 0;
            // What this very request has reserved of it, for another budget, is its own.
            let own = reservation.accounts.iter().any(|known| known.row() == account.row());
            let others = if own { line.reserved.without(most) } else { line.reserved };
            let used_up = account.budget.limit.is_used_up_by(line.spent().and(others));
            if used_up && account.budget.mode == BudgetMode::Hard {
                // What was reserved of the others is given back.
                return Err(OverBudget { after: account.window.seconds_left(now), budget: account.budget });
            }
            drop(line);
            reservation.add(account);
        }
        Ok(reservation)
    }

    /// Reads what the store has of an account of which nothing is known, or nothing new.
    async fn know(&self, account: &Account) {
        let row = account.row();
        if self.lines.get(&row).is_some_and(|line| line.known && line.idle < OLD) {
            return;
        }
        match books::read(self.records.as_ref(), &row).await {
            Ok(written) => {
                let mut line = self.lines.entry(row).or_insert_with(|| Line::until(account.window.end));
                if !line.known || line.idle >= OLD {
                    (line.written, line.known, line.idle) = (written, true, 0);
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
        let now = self.clock.now();
        let mut failed = None;
        for Due { row, spent, ends } in self.due() {
            let written = if spent.is_nothing() {
                books::read(self.records.as_ref(), &row).await
            } else {
                books::add(self.records.as_ref(), &row, spent, ends).await
            };
            match written {
                Ok(written) => {
                    if let Some(mut line) = self.lines.get_mut(&row) {
                        (line.written, line.known) = (written, true);
                        line.unwritten = line.unwritten.without(spent);
                    }
                }
                Err(error) => failed = Some(error),
            }
        }
        self.lines.retain(|_, line| {
            line.idle += 1;
            let needed = line.ends > now && line.idle < FORGOTTEN;
            needed || !line.unwritten.is_nothing() || !line.reserved.is_nothing()
        });
        let reported = self.report.write(now).await;
        failed.map_or(reported, Err)
    }

    /// What is to be written, and what others may have written of what was asked for since the last time.
    fn due(&self) -> Vec<Due> {
        let due = self.lines.iter().filter(|line| !line.unwritten.is_nothing() || line.idle == 0);
        due.map(|line| Due { row: line.key().clone(), spent: line.unwritten, ends: line.ends }).collect()
    }
}

/// What one row is to be written with.
struct Due {
    row: String,
    spent: Spend,
    ends: Timestamp,
}

impl Reservation {
    /// Reserves from an account; from one that several budgets share, once.
    fn add(&mut self, account: Account) {
        let row = account.row();
        if !self.accounts.iter().any(|known| known.row() == row)
            && let Some(mut line) = self.lines.get_mut(&row)
        {
            line.reserved = line.reserved.and(self.reserved);
        }
        self.accounts.push(account);
    }

    /// The accounts' rows, each once.
    fn rows(&self) -> BTreeSet<String> {
        self.accounts.iter().map(Account::row).collect()
    }

    /// What is left of each budget, the request itself not counted.
    pub fn remaining(&self, now: Timestamp) -> Vec<Remaining> {
        let remaining = |account: &Account| {
            let spent = self.lines.get(&account.row()).map(|line| line.spent()).unwrap_or_default();
            let limit = account.budget.limit;
            Remaining {
                left: limit.after(spent),
                after: account.window.seconds_left(now),
                used_up: limit.is_used_up_by(spent),
                budget: Arc::clone(&account.budget),
            }
        };
        self.accounts.iter().map(remaining).collect()
    }

    /// Counts what the request has spent, and gives back what else was reserved.
    pub fn settle(mut self, spent: Spend) {
        self.give_back(spent);
    }

    /// Counts what a part of the request has spent, which may go on: a session.
    pub fn spend(&self, spent: Spend) {
        for row in self.rows() {
            if let Some(mut line) = self.lines.get_mut(&row) {
                line.unwritten = line.unwritten.and(spent);
            }
        }
    }

    /// Whether a budget that does not let pass is used up by now.
    pub fn over(&self, now: Timestamp) -> Option<OverBudget> {
        let all = self.remaining(now).into_iter();
        let over = |one: &Remaining| one.used_up && one.budget.mode == BudgetMode::Hard;
        let mut over = all.filter(over);
        over.next().map(|Remaining { budget, after, .. }| OverBudget { budget, after })
    }

    fn give_back(&mut self, spent: Spend) {
        let rows = self.rows();
        self.accounts.clear();
        for row in rows {
            // The line stays while anything is reserved of it.
            if let Some(mut line) = self.lines.get_mut(&row) {
                line.reserved = line.reserved.without(self.reserved);
                line.unwritten = line.unwritten.and(spent);
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.give_back(Spend::default());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::calendar::CalendarPeriod;
    use crate::base::clock::{Clock, FixedClock};
    use crate::store::EmbeddedRecords;
    use crate::usage::budget::{BudgetScope, Spender};

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
        let ledger = Ledger::new(Arc::clone(records), Arc::clone(&clock) as SharedClock);
        Node { ledger, clock }
    }

    fn tokens(tokens: u64) -> Spend {
        Spend { requests: 1, tokens, ..Spend::default() }
    }

    impl Node {
        fn accounts(&self, most: u64, mode: BudgetMode) -> Vec<Account> {
            let limit = SpendLimit { tokens: Some(most), ..SpendLimit::default() };
            let (scope, period) = (BudgetScope::default(), CalendarPeriod::Hour);
            let budget = Arc::new(SpendBudget { name: "all".to_owned(), scope, period, limit, mode });
            let labels = std::collections::BTreeMap::new();
            let by = Spender { token: None, labels: &labels, route: "chat", models: &[] };
            budget.accounts(by, self.clock.now())
        }

        async fn reserve(&self, most: u64, mode: BudgetMode) -> Result<Reservation, OverBudget> {
            self.ledger.reserve(self.accounts(100, mode), tokens(most)).await
        }
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
