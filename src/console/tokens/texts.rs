//! [`FieldTexts`]: what the fields of the form say of a token; and [`digest`], by which a form knows again what it was filled
//! with.

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

use crate::api::token::{Service, TokenBounds, TokenInfo};
use crate::base::clock::Timestamp;
use crate::base::rate::Rate;
use crate::crypto::hash::sha256;
use crate::usage::{BudgetMode, ModelPattern, SpendBudget};

/// What the fields of the form say of a token: of lists, a value on each line.
#[derive(Default)]
pub(super) struct FieldTexts {
    pub(super) name: String,
    pub(super) expires: String,
    pub(super) rate: String,
    pub(super) budgets: String,
    pub(super) soft_budgets: String,
    pub(super) models: String,
    pub(super) labels: String,
    pub(super) configs: String,
}

impl FieldTexts {
    /// Of this token.
    pub(super) fn of(info: &TokenInfo) -> Self {
        let TokenBounds { models, budgets, rate, labels } = &info.bounds;
        let of_mode = |mode| lines(budgets.iter().filter(|one| one.mode == mode).map(|one| one.shown()));
        Self {
            name: info.name.clone(),
            expires: info.expires.map(Timestamp::iso8601).unwrap_or_default(),
            rate: rate.map(|rate| rate.to_string()).unwrap_or_default(),
            budgets: of_mode(BudgetMode::Hard),
            soft_budgets: of_mode(BudgetMode::Soft),
            models: lines(models.iter().flatten().map(ToString::to_string)),
            labels: lines(labels.iter().map(|(name, value)| format!("{name}={value}"))),
            configs: info.configs.join("\n"),
        }
    }
}

fn lines(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("\n")
}

/// Names what can be changed of a token as it is, so that a form which was filled with something else is not taken for this.
pub(super) fn digest(info: &TokenInfo) -> String {
    let TokenInfo { name, services, routes, configs, expires, revoked, bounds, .. } = info;
    let TokenBounds { models, budgets, rate, labels } = bounds;
    let services: Option<Vec<&str>> =
        services.as_ref().map(|all| all.iter().copied().map(Service::as_str).collect());
    let models: Option<Vec<&str>> = models.as_ref().map(|all| all.iter().map(ModelPattern::as_str).collect());
    let budget = |one: &Arc<SpendBudget>| (one.shown(), one.mode);
    let budgets: Vec<(String, BudgetMode)> = budgets.iter().map(budget).collect();
    let rate = rate.map(|Rate { times, per }| (times, u64::try_from(per.as_millis()).unwrap_or(u64::MAX)));
    let bounds = json!([models, budgets, rate, labels]);
    let ends = json!([expires.map(Timestamp::as_millis), revoked.map(Timestamp::as_millis)]);
    let said = json!([name, services, routes, configs, ends, bounds]).to_string();
    BASE64URL_NOPAD.encode(&sha256(said.as_bytes()))
}
