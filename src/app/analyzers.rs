//! Analyzers as the configuration has them, and the rules that their findings are of.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::analyzers::{Analyzer, AnalyzerParts, Analyzers, AnalyzersParts, OnFailure};
use crate::app::error::AppError;
use crate::app::policy::reported_floors;
use crate::app::services::Services;
use crate::config::settings::{AfterFailure, Analyzer as Setting, Redact};
use crate::config::{Config, Spanned};
use crate::crypto::random;
use crate::detect::{RuleId, RuleSelection};
use crate::net::{Allow, Client, Url};

/// By name.
pub(super) type AnalyzersByName = BTreeMap<String, Arc<Analyzer>>;

/// All of a configuration.
///
/// # Errors
/// A client that cannot be had.
pub(super) fn all(config: &Config, parts: &Services) -> Result<AnalyzersByName, AppError> {
    let one = |(name, setting): (&Spanned<String>, &Spanned<Setting>)| {
        let made = analyzer(name, setting, config, parts);
        let made = made.map_err(|why| AppError::Io(format!("analyzers.{}: {why}", **name)))?;
        Ok((name.to_string(), Arc::new(made)))
    };
    config.analyzers.iter().map(one).collect()
}

fn analyzer(name: &str, setting: &Setting, config: &Config, parts: &Services) -> Result<Analyzer, String> {
    let rules = setting.entities.iter().map(|entity| {
        let rule = config.catalogue.find(&setting.rule_of(name, entity));
        Ok((entity.to_string(), rule.ok_or("a rule of its `rules` is not there")?))
    });
    let headers = setting.headers.iter().map(|(name, value)| (name.clone(), value.value().clone()));
    Ok(Analyzer::new(AnalyzerParts {
        name: name.to_owned(),
        client: Client::new(Allow::default()).map_err(|error| error.to_string())?,
        url: asked_at(&setting.url.0),
        headers: headers.collect(),
        language: setting.language.to_string(),
        rules: rules.collect::<Result<BTreeMap<String, RuleId>, &str>>()?,
        threshold: *setting.threshold,
        timeout: setting.timeout.get(),
        concurrency: *setting.concurrency,
        on_failure: match setting.on_failure {
            AfterFailure::Refuse => OnFailure::Refuse,
            AfterFailure::Pass => OnFailure::Pass,
        },
        max_text: setting.max_text.bytes(),
        cache_for: setting.cache_for.get(),
        key: random::bytes().map_err(|error| error.to_string())?,
        clock: Arc::clone(&parts.opened.clock),
        metrics: parts.metrics.analyzer(name),
    }))
}

/// `/analyze` below a URL.
fn asked_at(url: &Url) -> Url {
    let mut at = url.clone();
    at.set_path(&format!("{}/analyze", url.path().trim_end_matches('/')));
    at
}

/// The rules that findings of these analyzers are of.
pub(super) fn rules(names: &[Spanned<String>], config: &Config) -> RuleSelection {
    let named = names.iter().filter_map(|name| config.analyzers.get_key_value(name.as_str()));
    let rules = named.flat_map(|(name, setting)| {
        setting.entities.iter().filter_map(|entity| config.catalogue.find(&setting.rule_of(name, entity)))
    });
    rules.collect()
}

/// Those of the analyzers of a route that it wants.
pub(super) fn of_route(setting: &Redact, config: &Config) -> RuleSelection {
    let among = |rule: RuleId| {
        let name = config.catalogue.rule(rule).map(|rule| rule.name()).unwrap_or_default();
        let only = setting.rules.as_ref().is_none_or(|only| only.iter().any(|one| one.as_str() == name));
        only && setting.without.iter().all(|without| without.as_str() != name)
    };
    rules(&setting.analyzers, config).iter().filter(|&rule| among(rule)).collect()
}

/// Those of these names.
pub(super) fn asked(
    names: &[Spanned<String>],
    all: &AnalyzersByName,
    floors: BTreeMap<RuleId, f32>,
) -> Option<Analyzers> {
    let analyzers = names.iter().filter_map(|name| all.get(name.as_str()).cloned()).collect();
    Analyzers::new(AnalyzersParts { analyzers, floors })
}

/// Those that our own endpoints ask.
pub(super) fn of_api(config: &Config, all: &AnalyzersByName) -> Option<Analyzers> {
    asked(&config.api.analyzers, all, reported_floors(&config.catalogue).collect())
}
