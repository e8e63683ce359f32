//! [`StoredToken`]: a token as its row keeps it, and who may do more under a row that says more than this version knows:
//! nobody.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::tenant::Tenant;
use crate::api::token_info::{Service, TokenBounds, TokenError, TokenInfo};
use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::base::rate::Rate;
use crate::store::{NewRow, Row};
use crate::usage::{BudgetMode, ModelPattern, SpendBudget};

/// The rows of tokens.
pub(super) const KIND: &str = "api.token";

/// The last form that this version knows. Rows without one are of form 1, in which tokens had no routes; in form 2 they had
/// no rate. A token that has none is written in form 2, so that a version before still takes it.
const FORM: u32 = 3;

/// No rotation takes as long: the store would have given up on it.
const ABANDONED: Duration = Duration::from_secs(120);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn first() -> u32 {
    1
}

/// A row's JSON. Fields are only ever added, and those that a version does not know it passes on as they are, since
/// two versions of the program may share the store. Times are milliseconds since the epoch.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredToken {
    /// A form that is not known grants nothing.
    #[serde(default = "first")]
    form: u32,
    pub(super) id: String,
    name: String,
    /// `None` for all. A name that is not known grants nothing: it must not turn the list into an empty one that
    /// means all.
    services: Option<Vec<String>>,
    /// `None` for all. In form 1 a token that names services has none.
    #[serde(default)]
    routes: Option<Vec<String>>,
    configs: Vec<String>,
    created: u64,
    expires: Option<u64>,
    pub(super) revoked: Option<u64>,
    /// The row of the same token before it was rotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<String>,
    /// Whether it was rotated, so that another row is the token's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) replaced: bool,
    /// Of one that was rotated, when the token ends: its own end is that of the grace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lasts: Option<u64>,
    /// Of one that was rotated, when that began.
    #[serde(default, skip_serializing_if = "is_zero")]
    replacing: u64,
    /// When it was changed last, if ever; of rows of one token, the later one knows better.
    #[serde(default, skip_serializing_if = "is_zero")]
    changed: u64,
    #[serde(flatten)]
    bounds: StoredBounds,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// What a token is bound by, each as it is stored. What this version cannot read it cannot hold callers to, so a token that
/// has any of that may do nothing.
#[derive(Clone, Default, Serialize, Deserialize)]
struct StoredBounds {
    /// Whose data the caller works on, a name; absent for the store's own tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tenant: Option<Value>,
    /// The models it may ask, as texts; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    models: Option<Value>,
    /// What it may spend, a list of [`StoredBudget`]; absent for no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<Value>,
    /// Notes, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Value>,
    /// How often it may be used, a [`StoredRate`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredBudget {
    /// As [`SpendBudget::parse`] reads it.
    amount: String,
    mode: BudgetMode,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRate {
    times: u32,
    per_ms: u64,
}

impl StoredBounds {
    fn new(info: &TokenInfo) -> Self {
        let TokenBounds { models, budgets, rate, labels } = &info.bounds;
        let budget = |budget: &Arc<SpendBudget>| StoredBudget { amount: budget.shown(), mode: budget.mode };
        let budgets: Vec<StoredBudget> = budgets.iter().map(budget).collect();
        let models = models.as_ref().map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>());
        let rate = rate.map(|Rate { times, per }| StoredRate {
            times,
            per_ms: u64::try_from(per.as_millis()).unwrap_or(u64::MAX),
        });
        let json = |value: Result<Value, serde_json::Error>| value.ok();
        Self {
            tenant: info.tenant.name().map(Value::from),
            models: models.and_then(|models| json(serde_json::to_value(models))),
            budget: (!budgets.is_empty()).then(|| serde_json::to_value(budgets)).and_then(json),
            labels: (!labels.is_empty()).then(|| serde_json::to_value(labels)).and_then(json),
            rate: rate.and_then(|rate| json(serde_json::to_value(rate))),
        }
    }

    /// `None`: there is what this version does not know.
    fn read(&self) -> Option<(Tenant, TokenBounds)> {
        fn of<T: for<'de> Deserialize<'de>>(value: &Option<Value>) -> Option<Option<T>> {
            value.as_ref().map(|value| T::deserialize(value).ok()).map_or(Some(None), |read| read.map(Some))
        }
        let patterns = |all: Vec<String>| all.iter().map(|text| ModelPattern::parse(text).ok()).collect();
        let models: Option<Option<Vec<ModelPattern>>> = match of::<Vec<String>>(&self.models)? {
            None => Some(None),
            Some(all) => Option::<Vec<ModelPattern>>::map(patterns(all), Some),
        };
        let budget =
            |stored: StoredBudget| SpendBudget::parse(&stored.amount, stored.mode).ok().map(Arc::new);
        let budgets = of::<Vec<StoredBudget>>(&self.budget)?.unwrap_or_default();
        let rate = of::<StoredRate>(&self.rate)?;
        let tenant = match of::<String>(&self.tenant)? {
            None => Tenant::default(),
            Some(name) => Tenant::parse(&name).ok()?,
        };
        let bounds = TokenBounds {
            models: models?,
            budgets: budgets.into_iter().map(budget).collect::<Option<_>>()?,
            rate: rate.map(|rate| Rate { times: rate.times, per: Duration::from_millis(rate.per_ms) }),
            // They narrow nothing.
            labels: of::<BTreeMap<String, String>>(&self.labels).flatten().unwrap_or_default(),
        };
        Some((tenant, bounds))
    }
}

impl StoredToken {
    pub(super) fn new(info: &TokenInfo) -> Self {
        let mut stored = Self {
            form: 2,
            id: info.id.to_string(),
            name: String::new(),
            services: None,
            routes: None,
            configs: Vec::new(),
            created: info.created.as_millis(),
            expires: None,
            revoked: info.revoked.map(Timestamp::as_millis),
            before: None,
            replaced: false,
            lasts: None,
            replacing: 0,
            changed: 0,
            bounds: StoredBounds::default(),
            rest: Map::new(),
        };
        stored.fill(info);
        stored
    }

    /// Takes on what can be changed of a token.
    pub(super) fn change(&mut self, info: &TokenInfo, now: Timestamp) {
        self.changed = now.as_millis().max(self.changed.saturating_add(1));
        self.fill(info);
    }

    fn fill(&mut self, info: &TokenInfo) {
        self.form = if info.bounds.rate.is_some() { FORM } else { 2 };
        self.name.clone_from(&info.name);
        let services = info.services.as_ref();
        self.services = services.map(|some| some.iter().map(ToString::to_string).collect());
        self.routes.clone_from(&info.routes);
        self.configs.clone_from(&info.configs);
        self.bounds = StoredBounds::new(info);
        self.last(info.expires.map(Timestamp::as_millis));
    }

    /// The same token with another secret; `before` is the row of the one that it had.
    pub(super) fn after(self, before: &str) -> Self {
        Self { before: Some(before.to_owned()), ..self }
    }

    /// Another secret takes the place of its own, which is accepted for `grace` yet.
    pub(super) fn replace(&mut self, now: Timestamp, grace: Duration) {
        (self.replaced, self.lasts) = (true, self.expires);
        self.replacing = now.as_millis();
        let until = now.plus(grace).as_millis();
        self.expires = Some(self.expires.map_or(until, |ends| ends.min(until)));
    }

    /// Another rotation goes on where one has ended: what is left of its secret's grace stays as it is.
    pub(super) fn reclaim(&mut self, now: Timestamp) {
        self.replacing = now.as_millis();
    }

    /// What it was before another secret took the place of its own.
    pub(super) fn restored(self) -> Self {
        Self { expires: self.lasts, lasts: None, replaced: false, replacing: 0, ..self }
    }

    /// Whether the rotation that took it has ended half way, so that no other row is the token's.
    pub(super) fn is_abandoned(&self, now: Timestamp) -> bool {
        self.replaced && now.as_millis().saturating_sub(self.replacing) >= ABANDONED.as_millis() as u64
    }

    /// Takes on what another row of the token says, if it was changed later; whether that is anything new.
    pub(super) fn follow(&mut self, before: &Self) -> bool {
        let revokes = self.revoked.is_none() && before.revoked.is_some();
        if revokes {
            self.revoked = before.revoked;
        }
        let changes = before.changed > self.changed;
        if changes {
            self.changed = before.changed;
            self.name.clone_from(&before.name);
            self.services.clone_from(&before.services);
            self.routes.clone_from(&before.routes);
            self.configs.clone_from(&before.configs);
            (self.form, self.bounds) = (before.form, before.bounds.clone());
            self.last(if before.replaced { before.lasts } else { before.expires });
        }
        revokes || changes
    }

    /// The token is to end then; a secret before ends with its grace too.
    fn last(&mut self, at: Option<u64>) {
        if !self.replaced {
            self.expires = at;
            return;
        }
        self.lasts = at;
        if let (Some(at), Some(ends)) = (at, self.expires) {
            self.expires = Some(ends.min(at));
        }
    }

    /// Whether this version knows all that the row says.
    pub(super) fn is_known(&self) -> bool {
        self.form <= FORM && self.bounds.read().is_some()
    }

    pub(super) fn read(row: &Row) -> Result<Self, TokenError> {
        serde_json::from_slice(&row.entry.value).map_err(|_| TokenError::Row)
    }

    pub(super) fn entry(&self) -> Result<NewRow, TokenError> {
        serde_json::to_vec(self).map(NewRow::lasting).map_err(|_| TokenError::Row)
    }

    /// The token itself, whichever of its secrets this is of.
    pub(super) fn token(self) -> Result<TokenInfo, TokenError> {
        let expires = if self.replaced { self.lasts } else { self.expires };
        Self { expires, ..self }.info()
    }

    /// The token as this secret has it.
    pub(super) fn info(self) -> Result<TokenInfo, TokenError> {
        let read = self.bounds.read().filter(|_| self.form <= FORM);
        let beyond = read.is_none();
        let (tenant, bounds) = read.unwrap_or_default();
        let known = |names: Vec<String>| names.iter().filter_map(|name| Service::parse(name)).collect();
        let services = self.services.map(known);
        let routes = match (self.form, &services) {
            (1, Some(_)) => Some(Vec::new()),
            (1, None) => None,
            _ => self.routes,
        };
        Ok(TokenInfo {
            id: TokenId::parse(&self.id).ok_or(TokenError::Row)?,
            name: self.name,
            tenant,
            services: if beyond { Some(Vec::new()) } else { services },
            routes: if beyond { Some(Vec::new()) } else { routes },
            configs: self.configs,
            created: Timestamp::from_millis(self.created),
            expires: self.expires.map(Timestamp::from_millis),
            revoked: self.revoked.map(Timestamp::from_millis),
            bounds,
        })
    }
}
