//! [`Spend`]: what was used, in the three units that can be bounded.

use serde::{Deserialize, Serialize};

use crate::usage::cost::Cost;

/// Requests, tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// How many requests.
    pub requests: u64,
    /// How many tokens, read and written together.
    pub tokens: u64,
    /// How much money.
    pub cost: Cost,
}

impl Spend {
    /// Whether it is nothing.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// What is left of it without `less`.
    #[must_use]
    pub fn without(self, less: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(less.requests),
            tokens: self.tokens.saturating_sub(less.tokens),
            cost: self.cost.less(less.cost),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, more: Self) -> Self {
        self.requests = self.requests.saturating_add(more.requests);
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.cost += more.cost;
        self
    }

    /// So many times as much.
    #[must_use]
    pub(super) fn times(self, count: u32) -> Self {
        let count = u64::from(count);
        Self {
            requests: self.requests.saturating_mul(count),
            tokens: self.tokens.saturating_mul(count),
            cost: Cost::from_nanodollars(self.cost.nanodollars().saturating_mul(count)),
        }
    }
}

/// A bound on each; `None`: there is none on that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpendLimit {
    /// On requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// On tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// On money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl SpendLimit {
    /// Whether it bounds nothing.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Both together: the tighter of each two.
    #[must_use]
    pub(super) fn and(self, more: Self) -> Self {
        fn tighter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Self {
            requests: tighter(self.requests, more.requests),
            tokens: tighter(self.tokens, more.tokens),
            cost: tighter(self.cost, more.cost),
        }
    }

    /// What it bounds first, in one word.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self { cost: Some(_), .. } => "cost",
            Self { tokens: Some(_), .. } => "tokens",
            _ => "requests",
        }
    }

    /// Whether so much uses it up.
    pub fn is_used_up_by(self, spent: Spend) -> bool {
        self.requests.is_some_and(|most| spent.requests >= most)
            || self.tokens.is_some_and(|most| spent.tokens >= most)
            || self.cost.is_some_and(|most| spent.cost >= most)
    }

    /// What is left of it.
    #[must_use]
    pub fn after(self, spent: Spend) -> Self {
        Self {
            requests: self.requests.map(|most| most.saturating_sub(spent.requests)),
            tokens: self.tokens.map(|most| most.saturating_sub(spent.tokens)),
            cost: self.cost.map(|most| most.less(spent.cost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bound_that_is_reached_uses_a_limit_up() {
        let limit = SpendLimit { requests: Some(3), tokens: None, cost: Some(Cost::from_nanodollars(10)) };
        let spend = |requests, cost| Spend { requests, tokens: 1 << 40, cost: Cost::from_nanodollars(cost) };
        assert!(!limit.is_used_up_by(spend(2, 9)));
        assert!(limit.is_used_up_by(spend(3, 0)));
        assert!(limit.is_used_up_by(spend(0, 10)));
        assert!(!SpendLimit::default().is_used_up_by(spend(u64::MAX, u64::MAX)));
        let left = limit.after(spend(1, 12));
        assert_eq!((left.requests, left.tokens, left.cost), (Some(2), None, Some(Cost::default())));
    }
}
