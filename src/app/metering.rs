//! How usage is counted on a route, which names of models it knows, and what writes usage down.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::app::services::Services;
use crate::config::settings::{
    CountedRequests, FallbackOn, ModelTarget as ModelTargetSetting, Provider, Route,
};
use crate::config::{Config, Spanned};
use crate::gateway::filters::UsageParts;
use crate::gateway::model_alias::{Fallbacks, ModelAlias, ModelTarget};
use crate::gateway::upstream::Upstream;
use crate::usage::{ModelPrice, PriceTable, Spend, SpendBudget, TokenUsage, UsageTotals};

/// How often what was spent is written, and what others did is learned.
const EVERY: Duration = Duration::from_secs(1);

/// Prices and budgets of a configuration, which its routes share.
pub(super) struct SpendRules {
    prices: Arc<PriceTable>,
    budgets: Arc<[Arc<SpendBudget>]>,
}

impl SpendRules {
    /// Those of a configuration.
    pub(super) fn of(config: &Config) -> Self {
        let prices: Vec<ModelPrice> = config.usage.prices.iter().map(|price| (**price).clone()).collect();
        Self {
            prices: Arc::new(PriceTable::from(prices)),
            budgets: config.usage.budgets().map(Arc::new).collect(),
        }
    }
}

/// What counts usage on a route.
pub(super) fn usage(route: &Route, config: &Config, parts: &Services, rules: &SpendRules) -> UsageParts {
    let known = matches!(*route.provider, Provider::OpenAi | Provider::Azure);
    UsageParts {
        ledger: Arc::clone(&parts.ledger),
        prices: Arc::clone(&rules.prices),
        budgets: Arc::clone(&rules.budgets),
        counts_all: config.usage.count == CountedRequests::All,
        asks_for_report: route.ask_usage.unwrap_or(known),
        collected: config.limits.collected.bytes(),
        cpu: parts.cpu.clone(),
        metrics: parts.metrics.usage.clone(),
    }
}

/// The names of models that a route knows.
///
/// # Errors
/// An upstream or a name that is not there, which checking has made sure of.
pub(super) fn aliases(
    route: &Route,
    config: &Config,
    upstreams: &BTreeMap<String, Arc<Upstream>>,
) -> Result<Vec<Arc<ModelAlias>>, String> {
    let target = |setting: &ModelTargetSetting| {
        let upstream = setting.upstream.as_ref().map(|name| {
            upstreams.get(name.as_str()).map(Arc::clone).ok_or("the upstream of a model is not there")
        });
        let upstream = upstream.transpose()?;
        Ok(ModelTarget { upstream, model: setting.model.as_str().to_owned(), weight: setting.weight })
    };
    let alias = |name: &Spanned<String>| {
        let setting = config.models.get(name.as_str()).ok_or("a model of the route is not there")?;
        let on = |what| setting.fallback.contains(&what);
        Ok(Arc::new(ModelAlias {
            name: name.as_str().to_owned(),
            targets: setting.targets.iter().map(target).collect::<Result<_, String>>()?,
            fallbacks: Fallbacks {
                rate_limited: on(FallbackOn::RateLimited),
                server_error: on(FallbackOn::ServerError),
                timeout: on(FallbackOn::Timeout),
            },
        }))
    };
    route.models.iter().map(alias).collect()
}

/// Writes what was spent, and tells other nodes, until the process ends.
pub(super) async fn keep(parts: Arc<Services>) {
    let writes = async {
        loop {
            tokio::time::sleep(EVERY).await;
            write(&parts).await;
        }
    };
    // By itself: a store that hangs is no reason to be silent.
    let tells = async {
        loop {
            parts.ledger.tell().await;
            tokio::time::sleep(EVERY).await;
        }
    };
    tokio::join!(writes, tells);
}

/// Writes what was spent so far.
pub(super) async fn write(parts: &Services) {
    if let Err(error) = parts.ledger.write().await {
        parts.metrics.usage.unwritten.inc();
        tracing::warn!(target: "portcullis::usage", "what was spent is not written yet: {error}");
    }
}

/// Accounts that are named, of those whose spending is lost.
const NAMED: usize = 100;

/// Says what was spent and is not written, as the process ends: nobody will write it.
pub(super) fn lost(parts: &Services) {
    let (accounts, sum) = (parts.ledger.unwritten(), parts.ledger.report().unwritten());
    if sum.requests > 0 {
        let UsageTotals { requests, tokens: TokenUsage { input, output, .. }, .. } = sum;
        let cost = sum.cost.to_string();
        tracing::error!(
            target: "portcullis::usage", requests, input, output, cost_usd = cost,
            "what was spent last is lost from the report of usage: the store could not be written"
        );
    }
    for (account, spent) in accounts.iter().take(NAMED) {
        let Spend { requests, tokens, cost } = spent;
        tracing::error!(
            target: "portcullis::usage", account, requests, tokens, cost_usd = %cost,
            "what was spent last is lost from a budget: the store could not be written"
        );
    }
    if accounts.len() > NAMED {
        tracing::error!(target: "portcullis::usage", accounts = accounts.len(), "and from others");
    }
}
