//! Our own endpoints: redaction, stored configs, the vault, tokens, files.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::analyzers::Analyzers;
use crate::api::configs::{
    Configs, CreateConfig, DeleteConfig, GetConfig, ListConfigs, MAX_BYTES, RedactDrafts, UpdateConfig,
};
use crate::api::envelope::DialectChoice;
use crate::api::redact::{self, Redaction};
use crate::api::token_service::{
    CreateToken, ListTokens, RevokeToken, RotateToken, TokenService, UpdateToken,
};
use crate::api::vault;
use crate::api::{Endpoint as ApiEndpoint, Endpoints};
use crate::app::error::AppError;
use crate::app::services::Services;
use crate::app::{analyzers, files};
use crate::config::Config;
use crate::config::settings::Dialect;
use crate::detect::{Detector, RuleSelection};
use crate::telemetry::Direction;
use crate::vault::items::Items;

/// Adds all of them; `analyzers` are asked what texts hold, too.
///
/// # Errors
/// Rules that are too large together; a file store that cannot be had.
pub(super) fn add(
    endpoints: &mut Endpoints,
    config: &Config,
    analyzers: Option<Analyzers>,
    parts: &Services,
) -> Result<(), AppError> {
    let dialect = match config.api.dialect {
        Dialect::Auto => DialectChoice::Auto,
        Dialect::Documented => DialectChoice::Documented,
        Dialect::Sdk => DialectChoice::Sdk,
    };
    let rules = &config.catalogue;
    let counts = parts.counts(<redact::RedactText as ApiEndpoint>::PATH, Direction::Request, rules);
    let detector = Detector::new(rules, &RuleSelection::defaults(rules));
    let detector =
        detector.map_err(|error| AppError::Rules(error.to_string()))?.allowing(config.allow.clone());
    let configs = Configs::new(parts.opened.records.clone(), Arc::clone(&parts.opened.clock));
    let redaction = Redaction::new(redact::RedactionServices {
        catalogue: rules.clone(),
        detector,
        analyzers,
        reported: analyzers::rules(&config.api.analyzers, config),
        counts,
        cpu: parts.cpu.clone(),
        vault: Arc::clone(&parts.vault),
        items: parts.items.clone(),
        allow: config.allow.clone(),
        configs: configs.clone(),
        distinct: parts.distinct(&config.limits),
    });
    let limit = config.limits.body.bytes();
    endpoints.add(redact::RedactText(redaction.clone()), dialect, limit);
    endpoints.add(redact::RedactStructured(redaction.clone()), dialect, limit);
    endpoints.add(redact::Unredact(redaction.clone()), dialect, limit);
    endpoints.add(redact::UnredactEvents(redaction.clone()), dialect, limit);
    let limit = limit.min(MAX_BYTES);
    let drafts =
        || RedactDrafts { catalogue: rules.clone(), cpu: parts.cpu.clone(), items: parts.items.clone() };
    endpoints.add(GetConfig::new(configs.clone()), dialect, limit);
    endpoints.add(CreateConfig::new(configs.clone(), drafts()), dialect, limit);
    endpoints.add(UpdateConfig::new(configs.clone(), drafts()), dialect, limit);
    endpoints.add(DeleteConfig::new(configs.clone()), dialect, limit);
    endpoints.add(ListConfigs::new(configs), dialect, limit);
    add_vault(endpoints, &parts.items, dialect, limit);
    add_tokens(endpoints, config, parts, dialect, limit);
    files::add(endpoints, config, parts, redaction, dialect)
}

fn add_tokens(
    endpoints: &mut Endpoints,
    config: &Config,
    parts: &Services,
    dialect: DialectChoice,
    limit: usize,
) {
    let routes: BTreeSet<String> = config.routes.iter().map(|route| route.name.to_string()).collect();
    let routes = Arc::new(routes);
    let service = || TokenService {
        tokens: Arc::clone(&parts.opened.tokens),
        changes: parts.changes(),
        routes: Arc::clone(&routes),
        clock: Arc::clone(&parts.opened.clock),
    };
    endpoints.add(CreateToken(service()), dialect, limit);
    endpoints.add(ListTokens(service()), dialect, limit);
    endpoints.add(UpdateToken(service()), dialect, limit);
    endpoints.add(RotateToken(service()), dialect, limit);
    endpoints.add(RevokeToken(service()), dialect, limit);
}

fn add_vault(endpoints: &mut Endpoints, items: &Items, dialect: DialectChoice, limit: usize) {
    endpoints.add(vault::GenerateKey(items.clone()), dialect, limit);
    endpoints.add(vault::StoreKey(items.clone()), dialect, limit);
    endpoints.add(vault::RotateKey(items.clone()), dialect, limit);
    endpoints.add(vault::StoreSecret(items.clone()), dialect, limit);
    endpoints.add(vault::RotateSecret(items.clone()), dialect, limit);
    endpoints.add(vault::ChangeState(items.clone()), dialect, limit);
    endpoints.add(vault::GetItem(items.clone()), dialect, limit);
    endpoints.add(vault::ListItems(items.clone()), dialect, limit);
    endpoints.add(vault::UpdateItem(items.clone()), dialect, limit);
    endpoints.add(vault::DeleteItem(items.clone()), dialect, limit);
    endpoints.add(vault::CreateFolder(items.clone()), dialect, limit);
    endpoints.add(vault::SignJwt(items.clone()), dialect, limit);
    endpoints.add(vault::VerifyJwt(items.clone()), dialect, limit);
    endpoints.add(vault::GetJwk(items.clone()), dialect, limit);
    endpoints.add(vault::Export(items.clone()), dialect, limit);
}

#[cfg(test)]
#[path = "described_tests.rs"]
mod tests;
