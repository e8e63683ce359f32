//! [`Reservation`]: what a request under way may yet spend.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::clock::Timestamp;
use crate::usage::budget::{Account, BudgetMode, SpendBudget};
use crate::usage::line::{AccountUsage, UsageByRow};
use crate::usage::spend::{Spend, SpendLimit};

/// In so many seconds a request may have ended that others wait for.
const AGAIN: u64 = 1;

/// A budget is used up, or what is under way may use it up.
#[derive(Clone, Debug)]
pub struct OverBudget {
    /// Which.
    pub budget: Arc<SpendBudget>,
    /// When the next period begins, in whole seconds, at least 1; where what is under way stands in the way, when it may be asked again.
    pub after: u64,
    /// Whether it is not used up yet, but may be once the requests under way have ended.
    pub is_reserved: bool,
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

/// What a request under way may yet spend. Dropped, it is given back.
#[derive(Debug)]
pub struct Reservation {
    lines: UsageByRow,
    accounts: Vec<Account>,
    reserved: Spend,
}

impl Reservation {
    /// One of nothing yet, whose accounts may each have `most` spent from them.
    pub(super) fn new(lines: UsageByRow, most: Spend) -> Self {
        Self { lines, accounts: Vec::new(), reserved: most }
    }

    /// Reserves from an account; from one that several budgets share, once. Returns what was known of it before: `None` for one
    /// that the request has reserved from already.
    pub(super) fn add(&mut self, account: Account) -> Option<AccountUsage> {
        let row = account.row();
        let new = !self.accounts.iter().any(|known| known.row() == row);
        let before = new.then(|| {
            let mut line = self.lines.entry(row).or_insert_with(|| AccountUsage::until(account.window.end));
            let before = *line;
            line.reserve(self.reserved);
            before
        });
        self.accounts.push(account);
        before
    }

    /// The accounts.
    pub(super) fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// What is reserved of each.
    pub(super) fn reserved(&self) -> Spend {
        self.reserved
    }

    /// The accounts' rows, each once.
    pub(super) fn rows(&self) -> BTreeSet<String> {
        self.accounts.iter().map(Account::row).collect()
    }

    /// The first budget of a row that so much uses up, and that does not let pass.
    pub(super) fn used_up(&self, row: &str, taken: Spend, now: Timestamp) -> Option<OverBudget> {
        let hard = self.accounts.iter().filter(|account| account.budget.mode == BudgetMode::Hard);
        let of_row = hard.filter(|account| account.row() == row);
        let over = of_row.filter(|account| account.budget.limit.is_used_up_by(taken));
        let spent = self.lines.get(row).map(|line| line.spent()).unwrap_or_default();
        // A request that is under way is one, whatever it takes.
        let certain = Spend { requests: taken.requests, ..spent };
        let waits = |account: &Account| !account.budget.limit.is_used_up_by(certain);
        let account = over.min_by_key(|account| waits(account))?;
        let is_reserved = waits(account);
        let left = account.window.seconds_left(now);
        let after = if is_reserved { AGAIN.min(left) } else { left };
        Some(OverBudget { budget: Arc::clone(&account.budget), after, is_reserved })
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
                line.spend(spent);
            }
        }
    }

    /// Whether a budget that does not let pass is used up by now.
    pub fn over(&self, now: Timestamp) -> Option<OverBudget> {
        let all = self.remaining(now).into_iter();
        let over = |one: &Remaining| one.used_up && one.budget.mode == BudgetMode::Hard;
        let mut over = all.filter(over);
        over.next().map(|Remaining { budget, after, .. }| OverBudget { budget, after, is_reserved: false })
    }

    fn give_back(&mut self, spent: Spend) {
        let rows = self.rows();
        self.accounts.clear();
        for row in rows {
            // The line stays while anything is reserved of it.
            if let Some(mut line) = self.lines.get_mut(&row) {
                line.settle(self.reserved, spent);
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.give_back(Spend::default());
    }
}
