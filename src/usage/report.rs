//! [`UsageReport`]: what was used, summed up by day, token, route and model, for people who pay for it.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use serde::{Deserialize, Serialize};

use crate::base::calendar::CalendarPeriod;
use crate::base::clock::Timestamp;
use crate::store::{Key, NewRow, Pages, Records, StoreError};
use crate::usage::cost::Cost;
use crate::usage::named_models::{NamedModels, OTHER};
use crate::usage::prices::LONGEST_MODEL;
use crate::usage::sum_rows::{Addition, Sum, SumRows};
use crate::usage::tokens::TokenUsage;

/// Rows by what is summed up, in the order of days.
const KIND: &str = "usage.day";
/// How long they stay.
const KEPT: Duration = Duration::from_secs(400 * 24 * 60 * 60);
/// Sums that wait to be written, at the most; what does not fit is added to one that has no model.
const WAITING: usize = 50_000;

/// What is summed up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsageKey {
    /// The day in UTC, as `2026-11-25`.
    pub day: String,
    /// The caller's token, by its id; empty: none.
    pub token: String,
    /// The route.
    pub route: String,
    /// The model; empty: not known.
    pub model: String,
}

/// The sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageTotals {
    /// How many requests.
    pub requests: u64,
    /// Those whose tokens nobody reported, so that they were estimated.
    pub estimated: u64,
    /// Tokens.
    #[serde(flatten)]
    pub tokens: TokenUsage,
    /// What they cost, where the price is known.
    pub cost: Cost,
}

impl std::ops::AddAssign for UsageTotals {
    fn add_assign(&mut self, more: Self) {
        self.requests = self.requests.saturating_add(more.requests);
        self.estimated = self.estimated.saturating_add(more.estimated);
        self.tokens += more.tokens;
        self.cost += more.cost;
    }
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// What is summed up.
    pub key: UsageKey,
    /// The sums.
    pub totals: UsageTotals,
}

/// Sums of what was used.
pub struct UsageReport {
    records: Arc<dyn Records>,
    unwritten: DashMap<UsageKey, UsageTotals>,
    models: NamedModels,
    rows: tokio::sync::Mutex<SumRows<UsageTotals>>,
}

impl Sum for UsageTotals {
    fn plus(mut self, more: Self) -> Self {
        self += more;
        self
    }

    fn minus(self, less: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(less.requests),
            estimated: self.estimated.saturating_sub(less.estimated),
            tokens: self.tokens.without(less.tokens),
            cost: self.cost.less(less.cost),
        }
    }
}

impl UsageKey {
    /// The row's id: JSON, so that no name can be spelled like two, and sorted by day.
    fn row(&self) -> String {
        serde_json::to_string(&[&self.day, &self.token, &self.route, &self.model]).unwrap_or_default()
    }

    fn of_row(id: &str) -> Option<Self> {
        let [day, token, route, model]: [String; 4] = serde_json::from_str(id).ok()?;
        Some(Self { day, token, route, model })
    }
}

impl UsageReport {
    pub(super) fn new(records: Arc<dyn Records>, rows: SumRows<UsageTotals>) -> Self {
        let (unwritten, models) = (DashMap::new(), NamedModels::default());
        Self { records, unwritten, models, rows: tokio::sync::Mutex::new(rows) }
    }

    /// Adds what a request has used.
    pub fn add(&self, mut key: UsageKey, totals: UsageTotals) {
        if key.model.len() > LONGEST_MODEL || self.unwritten.len() >= WAITING {
            key.model.clear();
        }
        let named = || self.models.admits(&key.day, (&key.token, &key.route), &key.model);
        if !key.model.is_empty() && !named() {
            OTHER.clone_into(&mut key.model);
        }
        *self.unwritten.entry(key).or_default() += totals;
    }

    /// What was added that the store does not have.
    pub fn unwritten(&self) -> UsageTotals {
        let mut sum = UsageTotals::default();
        self.unwritten.iter().for_each(|entry| sum += *entry.value());
        sum
    }

    /// Writes what was added since the last time.
    pub(super) async fn write(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut rows = self.rows.lock().await;
        let waiting: Vec<UsageKey> = self.unwritten.iter().map(|entry| entry.key().clone()).collect();
        for key in waiting {
            let Some((key, totals)) = self.unwritten.remove(&key) else { continue };
            let mut taken = TakenTotals { report: self, key, totals };
            let row = Key::new(KIND, taken.key.row());
            let addition = Addition { more: totals, now, expires: now.plus(KEPT) };
            rows.add(self.records.as_ref(), &row, addition).await?;
            taken.totals = UsageTotals::default();
        }
        Ok(())
    }

    /// The sums of the days from `since` on, in the order of their keys. What was used in the last seconds may not be in
    /// them yet.
    ///
    /// # Errors
    /// The store's.
    pub async fn read(records: &dyn Records, since: Timestamp) -> Result<Vec<UsageRow>, StoreError> {
        let first = CalendarPeriod::Day.around(since).day();
        let mut rows = Vec::new();
        // Before all rows of that day.
        let mut pages = Pages::after(records, KIND, format!("[\"{first}"));
        while let Some(page) = pages.next().await? {
            let read = page.iter().filter_map(|row| {
                Some(UsageRow { key: UsageKey::of_row(row.key.id())?, totals: read(&row.entry) })
            });
            rows.extend(read);
        }
        Ok(rows)
    }
}

/// What is being written. Dropped, it gives back what is left: a write that fails, or that nobody waits for any more, loses
/// nothing.
struct TakenTotals<'r> {
    report: &'r UsageReport,
    key: UsageKey,
    totals: UsageTotals,
}

impl Drop for TakenTotals<'_> {
    fn drop(&mut self) {
        if self.totals != UsageTotals::default() {
            *self.report.unwritten.entry(self.key.clone()).or_default() += self.totals;
        }
    }
}

fn read(entry: &NewRow) -> UsageTotals {
    serde_json::from_slice(&entry.value).unwrap_or_default()
}
