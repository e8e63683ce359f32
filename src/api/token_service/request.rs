//! What calls of the token service say.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::token::{NewToken, Service, Tenant, TokenBounds, TokenInfo, parse_expiry};
use crate::base::clock::Timestamp;
use crate::base::id::{ConfigId, TokenId};
use crate::base::pointer::Pointer;
use crate::base::rate::Rate;
use crate::usage::{BudgetMode, ModelPattern, SpendBudget};

/// The most entries of a list.
const MOST: usize = 64;

/// The most tokens on a page, and how many if the call does not say.
const SIZE: u32 = 1000;

/// The longest that a secret is accepted beside its successor, in seconds: 30 days.
const GRACE: u32 = 30 * 24 * 60 * 60;

/// What is said of a route that is none.
pub(super) const NO_ROUTE: &str = "the configuration has no route of this name";

/// A call that names a token and says nothing else.
pub struct IdRequest(pub TokenId);

impl IdRequest {
    pub(super) fn read(mut fields: ObjectFields<'_>) -> Result<Self, ApiError> {
        let id = id(&mut fields);
        fields.close()?;
        id.map(Self).ok_or(ApiError::Internal("tokens"))
    }
}

/// Which tokens are listed.
pub struct ListTokensRequest {
    /// How many.
    pub size: usize,
    /// Where the page before ended.
    pub last: Option<TokenId>,
}

impl ListTokensRequest {
    pub(super) fn read(mut fields: ObjectFields<'_>) -> Result<Self, ApiError> {
        fields.nulls_are_absent();
        let size = fields.integer("size", 1).unwrap_or(SIZE).min(SIZE);
        let last = fields.last(TokenId::parse);
        fields.close()?;
        Ok(Self { size: usize::try_from(size).unwrap_or(1), last })
    }
}

/// What a new token is to be.
pub struct CreateRequest(pub NewToken);

impl CreateRequest {
    /// Reads it; `routes` are those that there are.
    pub(super) fn read(
        mut fields: ObjectFields<'_>,
        now: Timestamp,
        routes: &BTreeSet<String>,
    ) -> Result<Self, ApiError> {
        fields.nulls_are_absent();
        let name = fields.required_text("name").to_owned();
        let tenant = tenant(&mut fields);
        let change = TokenChange::read(&mut fields, now, Some(routes));
        // To cover nothing is no new token's way, and to say nothing is to cover all.
        let names_none = |named: bool| named.then_some("names none; leave it out for all");
        let services = change.services.iter().flatten().any(Vec::is_empty);
        let routes = change.routes.iter().flatten().any(Vec::is_empty);
        for (member, why) in [("services", names_none(services)), ("routes", names_none(routes))] {
            if let Some(why) = why {
                let at = fields.at(member);
                fields.fault(Code::BelowMinItems, at, why.to_owned());
            }
        }
        fields.close()?;
        let narrowed = |named: Option<Option<Vec<String>>>| named.flatten().unwrap_or_default();
        Ok(Self(NewToken {
            name,
            tenant,
            services: change.services.flatten().unwrap_or_default(),
            routes: narrowed(change.routes),
            configs: change.configs.flatten().unwrap_or_default(),
            expires: change.expires.flatten(),
            bounds: TokenBounds {
                models: change.models.flatten(),
                budgets: change.budgets.flatten().unwrap_or_default(),
                rate: change.rate.flatten(),
                labels: change.labels.flatten().unwrap_or_default(),
            },
        }))
    }
}

/// What is to change of a token.
pub struct ChangeRequest {
    /// Which.
    pub id: TokenId,
    /// What.
    pub change: TokenChange,
}

impl ChangeRequest {
    pub(super) fn read(mut fields: ObjectFields<'_>, now: Timestamp) -> Result<Self, ApiError> {
        let id = id(&mut fields);
        let name = fields.text("name").map(str::to_owned);
        let change = TokenChange { name, ..TokenChange::read(&mut fields, now, None) };
        fields.close()?;
        Ok(Self { id: id.ok_or(ApiError::Internal("tokens"))?, change })
    }
}

/// Another secret for a token.
pub struct RotateTokenRequest {
    /// Which.
    pub id: TokenId,
    /// How long the secret before is accepted, in seconds.
    pub grace: u64,
}

impl RotateTokenRequest {
    pub(super) fn read(mut fields: ObjectFields<'_>) -> Result<Self, ApiError> {
        fields.nulls_are_absent();
        let id = id(&mut fields);
        let grace = fields.integer("grace_seconds", 0).unwrap_or(0);
        if grace > GRACE {
            let at = fields.at("grace_seconds");
            fields.fault(Code::NotWithinRange, at, format!("must be at most {GRACE}"));
        }
        fields.close()?;
        Ok(Self { id: id.ok_or(ApiError::Internal("tokens"))?, grace: u64::from(grace) })
    }
}

/// What of a token can be said. Of each: `None`, it is not said; `Some(None)`, it is taken away.
#[derive(Clone, Default)]
pub struct TokenChange {
    name: Option<String>,
    services: Option<Option<Vec<Service>>>,
    routes: Option<Option<Vec<String>>>,
    configs: Option<Option<Vec<String>>>,
    models: Option<Option<Vec<ModelPattern>>>,
    budgets: Option<Option<Vec<Arc<SpendBudget>>>>,
    rate: Option<Option<Rate>>,
    labels: Option<Option<BTreeMap<String, String>>>,
    expires: Option<Option<Timestamp>>,
}

impl TokenChange {
    /// Reads it. Routes that are named must be among `known`, where that is given.
    fn read(fields: &mut ObjectFields<'_>, now: Timestamp, known: Option<&BTreeSet<String>>) -> Self {
        Self {
            name: None,
            services: said(fields, "services", |fields| fields.array("services", MOST, service)),
            routes: said(fields, "routes", |fields| {
                fields.array("routes", MOST, |value, at, faults| route(value, at, faults, known))
            }),
            configs: said(fields, "configs", |fields| fields.array("configs", MOST, config)),
            models: said(fields, "models", |fields| fields.array("models", MOST, model)),
            budgets: said(fields, "budgets", |fields| fields.array("budgets", MOST, budget)),
            rate: said(fields, "rate", |fields| fields.object("rate", rate).flatten()),
            labels: said(fields, "labels", |fields| {
                fields.map("labels", MOST, |_, value, at, faults| text(value, at, faults))
            }),
            expires: said(fields, "expires", |fields| {
                let written = fields.text("expires")?;
                let at = fields.at("expires");
                let parsed = parse_expiry(written, now);
                parsed.map_err(|error| fields.fault(Code::BadFormatDateTime, at, error.to_string())).ok()
            }),
        }
    }

    /// The routes that it names.
    pub(super) fn routes(&self) -> &[String] {
        self.routes.as_ref().and_then(Option::as_deref).unwrap_or_default()
    }

    /// Changes what is known of a token.
    pub(super) fn apply(self, info: &mut TokenInfo) {
        let Self { name, services, routes, configs, models, budgets, rate, labels, expires } = self;
        if let Some(name) = name {
            info.name = name;
        }
        // As for a new token: whoever names one of the two has of the other what it names.
        if let Some(services) = services {
            info.services = services;
        }
        if let Some(routes) = routes {
            info.routes = routes;
        }
        match (&info.services, &info.routes) {
            (Some(_), None) => info.routes = Some(Vec::new()),
            (None, Some(_)) => info.services = Some(Vec::new()),
            _ => {}
        }
        info.configs = configs.map_or_else(|| std::mem::take(&mut info.configs), Option::unwrap_or_default);
        let bounds = &mut info.bounds;
        bounds.models = models.unwrap_or(bounds.models.take());
        bounds.budgets =
            budgets.map_or_else(|| std::mem::take(&mut bounds.budgets), Option::unwrap_or_default);
        bounds.rate = rate.unwrap_or(bounds.rate);
        bounds.labels = labels.map_or_else(|| std::mem::take(&mut bounds.labels), Option::unwrap_or_default);
        info.expires = expires.unwrap_or(info.expires);
    }
}

/// A member that may be absent, or `null` to be taken away.
fn said<'a, T>(
    fields: &mut ObjectFields<'a>,
    name: &'static str,
    read: impl FnOnce(&mut ObjectFields<'a>) -> Option<T>,
) -> Option<Option<T>> {
    match fields.members().get(name) {
        None => {
            // It is asked for all the same: what is not asked for is unknown.
            fields.member(name);
            None
        }
        Some(Value::Null) => {
            fields.member(name);
            Some(None)
        }
        Some(_) => read(fields).map(Some),
    }
}

fn id(fields: &mut ObjectFields<'_>) -> Option<TokenId> {
    let text = fields.required_text("id");
    let id = TokenId::parse(text);
    if id.is_none() && !text.is_empty() {
        let at = fields.at("id");
        fields.fault(Code::DoesNotMatchPattern, at, "must be pti_ and 32 characters, as lists show it");
    }
    id
}

fn tenant(fields: &mut ObjectFields<'_>) -> Tenant {
    let Some(name) = fields.text("tenant") else { return Tenant::default() };
    Tenant::parse(name).unwrap_or_else(|error| {
        let at = fields.at("tenant");
        fields.fault(Code::DoesNotMatchPattern, at, error.to_string());
        Tenant::default()
    })
}

fn text(value: &Value, at: Pointer, faults: &mut Faults) -> Option<String> {
    faults.text(value, at).map(str::to_owned)
}

fn route(
    value: &Value,
    at: Pointer,
    faults: &mut Faults,
    known: Option<&BTreeSet<String>>,
) -> Option<String> {
    let name = faults.text(value, at.clone())?;
    if known.is_some_and(|known| !known.contains(name)) {
        faults.add(Code::DoesNotExist, at, NO_ROUTE);
    }
    Some(name.to_owned())
}

fn service(value: &Value, at: Pointer, faults: &mut Faults) -> Option<Service> {
    let known = Service::parse(faults.text(value, at.clone())?);
    if known.is_none() {
        let names: Vec<&str> = Service::NAMED.iter().map(|service| service.as_str()).collect();
        faults.add(Code::NotEnumMember, at, format!("must be one of {}", names.join(", ")));
    }
    known
}

fn config(value: &Value, at: Pointer, faults: &mut Faults) -> Option<String> {
    let id = ConfigId::parse(faults.text(value, at.clone())?);
    if id.is_none() {
        faults.add(Code::DoesNotMatchPattern, at, "must be pci_ and 32 characters");
    }
    id.map(|id| id.to_string())
}

fn model(value: &Value, at: Pointer, faults: &mut Faults) -> Option<ModelPattern> {
    let parsed = ModelPattern::parse(faults.text(value, at.clone())?);
    parsed.map_err(|error| faults.add(Code::DoesNotMatchPattern, at, error.to_string())).ok()
}

/// `{"amount": "25usd/month", "mode": "hard"}`.
fn budget(value: &Value, at: Pointer, faults: &mut Faults) -> Option<Arc<SpendBudget>> {
    let read = |fields: &mut ObjectFields<'_>| {
        let modes = [("hard", BudgetMode::Hard), ("soft", BudgetMode::Soft)];
        let mode = fields.one_of("mode", &modes).unwrap_or_default();
        let parsed = SpendBudget::parse(fields.required_text("amount"), mode);
        let at = fields.at("amount");
        parsed.map_err(|error| fields.fault(Code::DoesNotMatchPattern, at, error.to_string())).ok()
    };
    ObjectFields::within(value, &at, faults, read).flatten().map(Arc::new)
}

/// `{"requests": 60, "per_seconds": 60}`.
fn rate(fields: &mut ObjectFields<'_>) -> Option<Rate> {
    let requests = fields.integer("requests", 1).and_then(NonZeroU32::new);
    let seconds = fields.integer("per_seconds", 1).unwrap_or(1);
    if requests.is_none() {
        let at = fields.at("requests");
        fields.fault(Code::FieldRequired, at, "must say how many requests");
    }
    Some(Rate { times: requests?.get(), per: Duration::from_secs(u64::from(seconds)) })
}
