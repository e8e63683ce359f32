//! Tokens, money and budgets, by route. Names of models come from callers, so none is a label: sums by model are in the
//! usage report.

use prometheus::{CounterVec, IntCounter, IntCounterVec};

use super::error::MetricsError;
use super::family::Families;
use super::words::words;

words! {
    /// What tokens were.
    pub enum TokenKind {
        /// Read, and not from the provider's cache.
        Input => "input",
        /// Read from its cache.
        CachedInput => "cached_input",
        /// Written.
        Output => "output",
    }
}

/// Tokens, money and budgets.
#[derive(Clone)]
pub struct UsageMetrics {
    tokens: IntCounterVec,
    cost: CounterVec,
    refused: IntCounterVec,
    waits: IntCounterVec,
    passed: IntCounterVec,
    /// Writes of what was spent that the store did not take; they are tried again.
    pub unwritten: IntCounter,
}

impl UsageMetrics {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            tokens: families.counters(
                "model_tokens_total",
                "Tokens that models read and wrote, by route.",
                &["route", "kind"],
            )?,
            cost: families.amounts("model_cost_usd_total", "What they cost, in US dollars.", &["route"])?,
            refused: families.counters(
                "over_budget_total",
                "Requests refused since a budget is used up, by its name.",
                &["budget"],
            )?,
            waits: families.counters(
                "budget_reserved_total",
                "Requests refused for a moment since those under way may use a budget up, by its name.",
                &["budget"],
            )?,
            passed: families.counters(
                "over_soft_budget_total",
                "Requests that passed though a soft budget is used up, by its name.",
                &["budget"],
            )?,
            unwritten: families.counter(
                "usage_write_failures_total",
                "Writes of what was spent that the store did not take; they are tried again.",
            )?,
        })
    }

    /// So many tokens were used.
    pub fn tokens(&self, route: &str, kind: TokenKind, count: u64) {
        if count > 0 {
            self.tokens.with_label_values(&[route, kind.word()]).inc_by(count);
        }
    }

    /// They cost so much.
    pub fn spent(&self, route: &str, nanodollars: u64) {
        // Whole billionths up to 9 million dollars are exact in a double.
        #[expect(clippy::cast_precision_loss, reason = "metrics are doubles")]
        let dollars = nanodollars as f64 / 1e9;
        self.cost.with_label_values(&[route]).inc_by(dollars);
    }

    /// A request was refused.
    pub fn refused(&self, budget: &str) {
        self.refused.with_label_values(&[budget]).inc();
    }

    /// A request was refused for what others may spend yet.
    pub fn waits(&self, budget: &str) {
        self.waits.with_label_values(&[budget]).inc();
    }

    /// A request passed though a budget is used up.
    pub fn passed(&self, budget: &str) {
        self.passed.with_label_values(&[budget]).inc();
    }
}
