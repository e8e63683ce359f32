//! A token as callers see it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::api::token::{Service, TokenInfo};
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::usage::{BudgetMode, SpendBudget};

/// What is known of a token. `null` where it is not narrowed.
#[derive(Serialize)]
pub struct TokenResponse {
    id: String,
    name: String,
    tenant: Option<String>,
    services: Option<Vec<&'static str>>,
    routes: Option<Vec<String>>,
    configs: Option<Vec<String>>,
    models: Option<Vec<String>>,
    budgets: Vec<BudgetResponse>,
    rate: Option<RateResponse>,
    labels: BTreeMap<String, String>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
}

#[derive(Serialize)]
struct BudgetResponse {
    amount: String,
    mode: BudgetMode,
}

#[derive(Serialize)]
struct RateResponse {
    requests: u32,
    per_seconds: u64,
}

impl TokenResponse {
    pub(super) fn new(info: &TokenInfo, used: Option<Timestamp>) -> Self {
        let bounds = &info.bounds;
        let budget = |budget: &SpendBudget| BudgetResponse { amount: budget.shown(), mode: budget.mode };
        let models = bounds.models.as_ref();
        Self {
            id: info.id.to_string(),
            name: info.name.clone(),
            tenant: info.tenant.name().map(str::to_owned),
            services: info.services.as_ref().map(|all| all.iter().copied().map(Service::as_str).collect()),
            routes: info.routes.clone(),
            configs: (!info.configs.is_empty()).then(|| info.configs.clone()),
            models: models.map(|all| all.iter().map(ToString::to_string).collect()),
            budgets: bounds.budgets.iter().map(|one| budget(one)).collect(),
            rate: bounds
                .rate
                .map(|rate| RateResponse { requests: rate.times, per_seconds: rate.per.as_secs() }),
            labels: bounds.labels.clone(),
            created_at: info.created.iso8601(),
            expires_at: info.expires.map(Timestamp::iso8601),
            revoked_at: info.revoked.map(Timestamp::iso8601),
            last_used_at: used.map(Timestamp::iso8601),
        }
    }
}

/// A token and its secret, which is shown here and never again.
#[derive(Serialize)]
pub struct NewTokenResponse {
    #[serde(flatten)]
    info: TokenResponse,
    token: String,
}

impl NewTokenResponse {
    pub(super) fn new(info: &TokenInfo, secret: Secret<String>) -> Self {
        Self { info: TokenResponse::new(info, None), token: secret.expose().clone() }
    }
}

/// A page of tokens.
#[derive(Serialize)]
pub struct TokensResponse {
    /// How many there are.
    pub(super) count: usize,
    /// Those of this page, by id.
    pub(super) items: Vec<TokenResponse>,
    /// Where it ended; empty on the last one.
    pub(super) last: String,
}
