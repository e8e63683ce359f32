//! A stored config made ready: its own rules compiled, its names looked up.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

use crate::api::configs::{Allowed, CustomRule, MatchType, Matchers, MethodSpec, RedactConfig, Settings};
use crate::api::error::ApiError;
use crate::api::redact::report::Entities;
use crate::base::id::ConfigId;
use crate::detect::{Allow, Catalogue, Detector, Rule, RuleSelection, starting_with};

/// Configs that are kept ready. One with rules of its own takes up to some twenty MiB.
const KEPT: usize = 8;

/// The version of a config, and what was made of it.
type ReadyConfig = (ConfigId, u64, Arc<CompiledConfig>);

/// A config made ready.
pub(super) struct CompiledConfig {
    /// The rules there are, the config's own included.
    pub(super) catalogue: Catalogue,
    /// With the rules that the config switches on.
    pub(super) detector: Detector,
    /// Those.
    pub(super) enabled: RuleSelection,
    /// Whether they are on also where a call names its own.
    pub(super) enforced: bool,
    pub(super) settings: Settings,
    /// What findings of the config's own rules are reported as.
    pub(super) entities: Entities,
}

/// Configs made ready not long ago.
#[derive(Default)]
pub(super) struct ReadyConfigs(Mutex<Vec<ReadyConfig>>);

impl ReadyConfigs {
    /// The config, if it is ready in this version.
    pub(super) fn get(&self, config: &RedactConfig) -> Option<Arc<CompiledConfig>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(id, version, _)| *id == config.id && *version == config.version)?;
        // The one used last stays longest.
        let found = kept.remove(at);
        let ready = Arc::clone(&found.2);
        kept.push(found);
        Some(ready)
    }

    pub(super) fn keep(&self, config: &RedactConfig, ready: &Arc<CompiledConfig>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(id, _, _)| *id != config.id);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((config.id.clone(), config.version, Arc::clone(ready)));
    }
}

impl CompiledConfig {
    /// Makes a config ready. `base` are the rules there are without it, `allow` what passes without it.
    ///
    /// # Errors
    /// Rules that no longer load, though they did when they were written: the built-in rules may have changed since.
    pub(super) fn new(base: &Catalogue, allow: &Allow, settings: &Settings) -> Result<Self, ApiError> {
        let stale = || ApiError::Internal("a config's rules");
        let mut catalogue = base.clone();
        let own = settings.rules.iter().map(|(name, rule)| own_rule(base, name, rule));
        let own = own.collect::<Option<Vec<Rule>>>().ok_or_else(stale)?;
        if !own.is_empty() {
            catalogue.extend_with(&[], own).map_err(|_| stale())?;
            // Calls may name any of them.
            catalogue.compile().map_err(|_| stale())?;
        }
        let names = settings.enabled(&catalogue);
        let enabled = RuleSelection::only(&catalogue, names.iter().copied()).map_err(|_| stale())?;
        let detector = Detector::new(&catalogue, &enabled).map_err(|_| stale())?;
        let detector = detector.allowing(allow.clone()).also_allowing(allowed(&settings.allow_list));
        let entities = settings.rules.iter().map(|(name, rule)| (name.clone(), rule.entity_name.clone()));
        Ok(Self {
            entities: entities.collect(),
            catalogue,
            detector,
            enabled,
            enforced: settings.enforce_enabled_rules,
            settings: settings.clone(),
        })
    }

    /// The methods that the config has for rules.
    pub(super) fn methods(&self) -> Vec<(&str, &MethodSpec)> {
        self.settings.methods(&self.catalogue).into_iter().collect()
    }
}

/// A custom rule as a rule of the catalogue.
fn own_rule(base: &Catalogue, name: &str, rule: &CustomRule) -> Option<Rule> {
    let matchers = match &rule.matchers {
        Matchers::BuiltIn(of) => return Some(base.rule(base.find(of)?)?.named(name)),
        Matchers::Own(matchers) => matchers,
    };
    let patterns = matchers.iter().map(|matcher| {
        let regex = match matcher.match_type {
            MatchType::Regex => matcher.match_value.clone(),
            MatchType::StartsWith => starting_with(&matcher.match_value),
        };
        json!({ "regex": regex, "score": matcher.match_score })
    });
    let context = json!({ "before": rule.context_values, "negative": rule.negative_context_values });
    let mut table = json!({
        "name": name,
        "patterns": patterns.collect::<Vec<_>>(),
        "context": { "en": context },
        "description": rule.description.clone().unwrap_or_default(),
    });
    if let (Some(threshold), Some(table)) = (rule.match_threshold, table.as_object_mut()) {
        table.insert("threshold".to_owned(), threshold.into());
    }
    serde_json::from_value(table).ok()
}

/// What the config lets pass; what no longer is a pattern is left out, so more is redacted.
fn allowed(list: &[Allowed]) -> Allow {
    let mut allow = Allow::default();
    let values = list.iter().filter_map(|allowed| match allowed {
        Allowed::Value(value) => Some(value.as_str()),
        Allowed::Pattern { .. } => None,
    });
    let values: Vec<&str> = values.collect();
    if !values.is_empty() {
        let _ = allow.values(None, values, false);
    }
    for allowed in list {
        if let Allowed::Pattern { regex } = allowed {
            let _ = allow.pattern(None, regex);
        }
    }
    allow
}
