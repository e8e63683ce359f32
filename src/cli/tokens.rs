//! `portcullis tokens`: who may call, on the store itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::configs::{ConfigError, Configs, Settings as RedactSettings};
use crate::api::token::{
    NewToken, Service, Tenant, TokenBounds, TokenError, TokenInfo, parse_expiry, unknown_routes,
};
use crate::app::{AppError, OpenStore, aws_secrets};
use crate::base::clock::Timestamp;
use crate::base::id::{ConfigId, TokenId};
use crate::base::rate::Rate;
use crate::cli::args::StoreArgs;
use crate::cli::failure::Failure;
use crate::cli::settings::placed;
use crate::cli::streams::{complaint, message, result};
use crate::cli::style::{FAINT, PLAIN};
use crate::cli::table::Table;
use crate::cli::tokens_args::{BoundArgs, ReachArgs, TokenCommand};
use crate::config::{Config, Period, Requirements};
use crate::usage::{BudgetMode, ModelPattern, SpendBudget};

pub(super) fn run(place: &StoreArgs, command: TokenCommand) -> Result<(), Failure> {
    // What is no id is said before a store is looked for.
    if let TokenCommand::Update { id, .. } | TokenCommand::Rotate { id, .. } | TokenCommand::Revoke { id } =
        &command
    {
        token_id(id)?;
    }
    let needs =
        if matches!(command, TokenCommand::Aws { .. }) { Requirements::VAULT } else { Requirements::STORE };
    let config = placed(place, needs)?;
    let opened = match command {
        TokenCommand::Create { .. } => OpenStore::at(&config)?,
        _ => OpenStore::existing(&config)?,
    };
    let outcome = TokenCommands { opened: &opened, config: &config, place }.run(command);
    opened.io.block_on(opened.records.close());
    outcome
}

/// What commands work with.
struct TokenCommands<'a> {
    opened: &'a OpenStore,
    config: &'a Config,
    place: &'a StoreArgs,
}

/// Where a token may go, checked.
#[derive(Clone)]
struct TokenReach {
    services: Vec<Service>,
    routes: Vec<String>,
    configs: Vec<String>,
}

impl TokenCommands<'_> {
    fn run(&self, command: TokenCommand) -> Result<(), Failure> {
        let Self { opened, .. } = self;
        match command {
            TokenCommand::Create { name, tenant, reach, bounds, expires } => {
                let tenant = tenant.as_deref().map(tenant_of).transpose()?.unwrap_or_default();
                let TokenReach { services, routes, configs } = self.reach(reach, None)?;
                let all = services.is_empty() && routes.is_empty();
                let expires = self.expiry(expires.as_deref())?;
                let bounds = bounds_of(bounds)?;
                let of_tenant = tenant.name().is_some();
                let new = NewToken { name, tenant, services, routes, configs, expires, bounds };
                let (id, token) = opened.io.block_on(opened.tokens.create(new))?;
                if all {
                    let covers = if of_tenant { "redact, sanitize, share" } else { "every service" };
                    message(&format!(
                        "it covers {covers} and every route; --service and --route make one that covers less"
                    ));
                }
                // Nobody has what nobody could read, and nobody would know of it.
                result(token.expose()).inspect_err(|_| match opened.io.block_on(opened.tokens.revoke(&id)) {
                    Ok(()) => complaint("the token could not be written, and is revoked"),
                    Err(error) => {
                        complaint(&format!("the token {id} could not be written, nor revoked: {error}"))
                    }
                })
            }
            TokenCommand::List => self.list(),
            TokenCommand::Update { id, name, reach, bounds, expires, clear } => {
                let expires = self.expiry(expires.as_deref())?;
                let id = token_id(&id)?;
                let before = opened.io.block_on(opened.tokens.get(&id))?;
                let (reach, bounds) = (self.reach(reach, Some(&before))?, bounds_of(bounds)?);
                let change = |info: &mut TokenInfo| {
                    cleared(info, &clear);
                    changed(info, reach.clone(), bounds.clone());
                    info.name.clone_from(name.as_ref().unwrap_or(&info.name.clone()));
                    info.expires = expires.or(info.expires);
                    Ok(())
                };
                opened.io.block_on(opened.tokens.update(&id, change))?;
                message("changed");
                Ok(())
            }
            TokenCommand::Rotate { id, grace } => {
                let wrong = |_| Failure::Usage("--grace takes a time such as 30d, 12h or 90m".to_owned());
                let grace = grace.as_deref().map(|text| Period::parse(text).map_err(wrong)).transpose()?;
                let grace = grace.map_or(Duration::ZERO, Period::get);
                let secret = opened.io.block_on(opened.tokens.rotate(&token_id(&id)?, grace))?;
                result(secret.expose())
            }
            TokenCommand::Aws { id } => {
                let id = token_id(&id)?;
                let secrets = aws_secrets(&opened.vault(self.config)?);
                let secret = opened.io.block_on(opened.tokens.aws_secret(&id, &secrets))?;
                result(&format!("AWS_ACCESS_KEY_ID={id}"))?;
                result(&format!("AWS_SECRET_ACCESS_KEY={}", secret.expose()))
            }
            TokenCommand::Revoke { id } => {
                opened.io.block_on(opened.tokens.revoke(&token_id(&id)?))?;
                message("revoked");
                Ok(())
            }
        }
    }

    fn list(&self) -> Result<(), Failure> {
        let Self { opened, .. } = self;
        let tokens = opened.io.block_on(opened.tokens.list())?;
        let used = opened.io.block_on(opened.tokens.last_used())?;
        if tokens.is_empty() {
            message("there are no tokens; `portcullis tokens create --name NAME` makes one");
        }
        let now = opened.clock.now();
        let mut table = Table::new(&HEADS);
        for token in &tokens {
            // Dates say so too.
            let over = token.revoked.is_some() || token.expires.is_some_and(|end| end <= now);
            table.row(row(token, used.get(&token.id).copied()), if over { FAINT } else { PLAIN });
        }
        table.print()
    }

    /// What a token is to cover that was `before`, if it is not new.
    fn reach(&self, reach: ReachArgs, before: Option<&TokenInfo>) -> Result<TokenReach, Failure> {
        let ReachArgs { services, routes, configs } = reach;
        if !configs.iter().all(|id| ConfigId::parse(id).is_some()) {
            let why = "a config's id is pci_ and 32 characters; --config-file names a configuration file";
            return Err(Failure::Usage(why.to_owned()));
        }
        known(self.opened, &configs)?;
        let services = services.iter().map(|service| service_of(service)).collect::<Result<Vec<_>, _>>()?;
        self.check_routes(&routes, before)?;
        Ok(TokenReach { services, routes, configs })
    }

    /// Routes have names in a configuration file only; a token is made for others where none is given.
    fn check_routes(&self, routes: &[String], before: Option<&TokenInfo>) -> Result<(), Failure> {
        if routes.is_empty() {
            return Ok(());
        }
        if self.place.config_file.is_none() {
            message(
                "names of routes are not checked without a configuration file: give the gateway's with -c",
            );
            return Ok(());
        }
        let known: Vec<&str> = self.config.routes.iter().map(|route| route.name.as_str()).collect();
        match unknown_routes(routes, |route| known.contains(&route), before).first() {
            None => Ok(()),
            Some((_, unknown)) => {
                let known = if known.is_empty() { "it has none".to_owned() } else { known.join(", ") };
                Err(Failure::Usage(format!("the configuration has no route `{unknown}`, only: {known}")))
            }
        }
    }

    fn expiry(&self, text: Option<&str>) -> Result<Option<Timestamp>, TokenError> {
        text.map(|text| parse_expiry(text, self.opened.clock.now())).transpose()
    }
}

fn token_id(text: &str) -> Result<TokenId, Failure> {
    let wrong = || Failure::Usage(unlike_an_id(text));
    TokenId::parse(text).ok_or_else(wrong)
}

/// What is wrong with what should be a token's id. The text itself may be the token: it is not repeated.
fn unlike_an_id(text: &str) -> String {
    let why = match text.starts_with("pts_") {
        true => "this is a token, which only its bearer should have, and not its id",
        false => "this is not a token's id",
    };
    format!("{why}: that is pti_ and 32 characters; `portcullis tokens list` shows it")
}

/// Reads what a token is bound by.
fn bounds_of(args: BoundArgs) -> Result<TokenBounds, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let BoundArgs { models, budgets, soft_budgets, rate, labels } = args;
    let patterns = models.iter().map(|text| ModelPattern::parse(text).map_err(|error| usage(&error)));
    let models = patterns.collect::<Result<Vec<_>, _>>()?;
    let budget = |text: &String, mode| SpendBudget::parse(text, mode).map_err(|error| usage(&error));
    let hard = budgets.iter().map(|text| budget(text, BudgetMode::Hard));
    let soft = soft_budgets.iter().map(|text| budget(text, BudgetMode::Soft));
    let budgets = hard.chain(soft).map(|budget| budget.map(Arc::new)).collect::<Result<_, _>>()?;
    let label = |text: &String| {
        let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| Failure::Usage("a label is a name and a value, such as team=research".to_owned()))
    };
    Ok(TokenBounds {
        models: (!models.is_empty()).then_some(models),
        budgets,
        rate: rate.as_deref().map(|text| Rate::parse(text).map_err(|error| usage(&error))).transpose()?,
        labels: labels.iter().map(label).collect::<Result<BTreeMap<_, _>, _>>()?,
    })
}

/// Takes bounds away.
fn cleared(info: &mut TokenInfo, what: &[String]) {
    for what in what {
        match what.as_str() {
            "models" => info.bounds.models = None,
            "budgets" => info.bounds.budgets.clear(),
            "rate" => info.bounds.rate = None,
            "labels" => info.bounds.labels.clear(),
            _ => info.expires = None,
        }
    }
}

/// Takes on what is said.
fn changed(info: &mut TokenInfo, reach: TokenReach, bounds: TokenBounds) {
    let TokenReach { services, routes, configs } = reach;
    if !services.is_empty() || !routes.is_empty() {
        info.services = Some(services);
        info.routes = Some(routes);
    }
    if !configs.is_empty() {
        info.configs = configs;
    }
    let TokenBounds { models, budgets, rate, labels } = bounds;
    info.bounds.models = models.or(info.bounds.models.take());
    if !budgets.is_empty() {
        info.bounds.budgets = budgets;
    }
    info.bounds.rate = rate.or(info.bounds.rate);
    info.bounds.labels.extend(labels);
}

/// A token for a config that is not there could do nothing, and its bearer would not learn why.
fn known(opened: &OpenStore, configs: &[String]) -> Result<(), Failure> {
    let stored = Configs::<RedactSettings>::new(opened.records.clone(), opened.clock.clone());
    for (id, n) in configs.iter().filter_map(|id| ConfigId::parse(id)).zip(1..) {
        match opened.io.block_on(stored.get(&id)) {
            Ok(_) | Err(ConfigError::Elsewhere) => {}
            Err(ConfigError::Unknown) => {
                return Err(Failure::Usage(format!("there is no config of the id that --config {n} names")));
            }
            Err(error) => return Err(AppError::Io(format!("the stored configs: {error}")).into()),
        }
    }
    Ok(())
}

fn tenant_of(name: &str) -> Result<Tenant, Failure> {
    Tenant::parse(name).map_err(|error| Failure::Usage(error.to_string()))
}

fn service_of(name: &str) -> Result<Service, Failure> {
    Service::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Service::NAMED.iter().map(|service| service.as_str()).collect();
        Failure::Usage(format!("a service is one of {}", known.join(", ")))
    })
}

const HEADS: [&str; 14] = [
    "ID",
    "NAME",
    "SERVICES",
    "CONFIGS",
    "ROUTES",
    "CREATED",
    "EXPIRES",
    "REVOKED",
    "LAST USED",
    "MODELS",
    "BUDGETS",
    "RATE",
    "LABELS",
    "TENANT",
];

fn row(token: &TokenInfo, used: Option<Timestamp>) -> Vec<String> {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), Timestamp::iso8601);
    // To the minute, which is all that is known.
    let used = used.map_or_else(|| "-".to_owned(), |at| at.iso8601().replace(":00.000Z", "Z"));
    let listed = |names: Option<Vec<&str>>| match names.as_deref() {
        None => "all".to_owned(),
        Some([]) => "none".to_owned(),
        Some(names) => names.join(","),
    };
    let services = token.services.as_ref().map(|all| all.iter().map(|service| service.as_str()).collect());
    let routes = token.routes.as_ref().map(|all| all.iter().map(String::as_str).collect());
    let (services, routes) = (listed(services), listed(routes));
    let configs = if token.configs.is_empty() { "all".to_owned() } else { token.configs.join(",") };
    let TokenInfo { id, name, created, expires, revoked, bounds, .. } = token;
    let (created, expires, revoked) = (created.iso8601(), time(*expires), time(*revoked));
    let (models, budgets, rate, labels) = bound(bounds);
    let named = [id.to_string(), name.clone(), services, configs, routes, created, expires, revoked, used];
    let tenant = token.tenant.name().unwrap_or("-").to_owned();
    named.into_iter().chain([models, budgets, rate, labels, tenant]).collect()
}

/// What a token is bound by: models, budgets, rate, labels.
fn bound(bounds: &TokenBounds) -> (String, String, String, String) {
    let listed = |all: Vec<String>| if all.is_empty() { "-".to_owned() } else { all.join(",") };
    let models = bounds.models.as_ref();
    let models =
        models.map_or_else(|| "all".to_owned(), |all| listed(all.iter().map(ToString::to_string).collect()));
    let budget = |budget: &Arc<SpendBudget>| match budget.mode {
        BudgetMode::Hard => budget.shown(),
        BudgetMode::Soft => format!("{} (soft)", budget.shown()),
    };
    let rate = bounds
        .rate
        .map_or_else(|| "-".to_owned(), |rate| format!("{}/{}ms", rate.times, rate.per.as_millis()));
    let labels = bounds.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (models, listed(bounds.budgets.iter().map(budget).collect()), rate, listed(labels))
}
