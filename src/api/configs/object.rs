//! [`Settings`] of a redact config. Source: the vendor's OpenAPI schema of the redact service's config (version 2); `allow_list` is an extension of this project.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::api::configs::config::{Config, ConfigSettings};
use crate::api::configs::method::MethodSpec;
use crate::api::token::Service;
use crate::detect::{Catalogue, RuleSet};

/// What the owner of a config sets. This is the stored form and, beside id and times, the one on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// For people; need not be unique.
    pub name: String,
    /// The rules that are on, by the names of rules or of rule sets.
    pub enabled_rules: Vec<String>,
    /// Whether they are on even where a call names its own.
    #[serde(default)]
    pub enforce_enabled_rules: bool,
    /// What becomes of findings, by the names of rules or of rule sets.
    #[serde(default)]
    pub redactions: BTreeMap<String, MethodSpec>,
    /// In rows of before: a config of the vault's. There are none, so it says nothing.
    #[serde(default, skip_serializing)]
    pub vault_service_config_id: Option<String>,
    /// The vault's secret that salts hashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt_vault_secret_id: Option<String>,
    /// The vault's key for format-preserving encryption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fpe_vault_secret_id: Option<String>,
    /// The config's own rules by name.
    #[serde(default)]
    pub rules: BTreeMap<String, CustomRule>,
    /// The config's own rule sets by name.
    #[serde(default)]
    pub rulesets: BTreeMap<String, CustomSet>,
    /// Languages of the texts (ISO 639-1).
    #[serde(default)]
    pub supported_languages: Vec<String>,
    /// Values that may pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow_list: Vec<Allowed>,
}

/// A stored redact config.
pub type RedactConfig = Config<Settings>;

impl ConfigSettings for Settings {
    const ROWS: &'static str = "redact_config";
    const SERVICE: Service = Service::Redact;
    const BARE: bool = true;
    const SCHEMA: Option<&'static str> = Some("2.0.0");

    fn vault_items(&self) -> Vec<&str> {
        let named = [&self.salt_vault_secret_id, &self.fpe_vault_secret_id];
        let tweaks = self.redactions.values().filter_map(MethodSpec::tweak_item);
        named.into_iter().filter_map(Option::as_deref).chain(tweaks).collect()
    }
    const PARTS: &'static [&'static str] = &[];
    const OPTIONAL: &'static [&'static str] = &["salt_vault_secret_id", "fpe_vault_secret_id"];
}

/// A rule of a config's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomRule {
    /// What its findings are reported as.
    pub entity_name: String,
    /// How values are found.
    pub matchers: Matchers,
    /// Findings count from this score, 0.1 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_threshold: Option<f64>,
    /// Words nearby that raise the score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context_values: Vec<String>,
    /// Words nearby that lower it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub negative_context_values: Vec<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How a custom rule finds values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Matchers {
    /// As the built-in rule of this name does.
    BuiltIn(String),
    /// By any of these.
    Own(Vec<Matcher>),
}

/// One way to find a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matcher {
    /// What `match_value` is.
    pub match_type: MatchType,
    /// A regular expression, or a text.
    pub match_value: String,
    /// The score of what is found, 0.1 to 1.
    pub match_score: f64,
}

/// What a matcher compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchType {
    /// A regular expression for the whole value.
    Regex,
    /// A text that the value starts with.
    StartsWith,
}

/// A rule set of a config's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomSet {
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Names of rules, not of other sets.
    #[serde(default)]
    pub rules: Vec<String>,
}

/// Values that may pass though a rule finds them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Allowed {
    /// This one.
    Value(String),
    /// All that the pattern matches from end to end.
    Pattern {
        /// A regular expression.
        regex: String,
    },
}

// Allowed values are nobody's business.
impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "Value(..)",
            Self::Pattern { .. } => "Pattern(..)",
        })
    }
}

impl Settings {
    /// The names of the rules that the config switches on, sets resolved; names that are no longer known are left
    /// out.
    pub fn enabled<'s>(&'s self, catalogue: &'s Catalogue) -> BTreeSet<&'s str> {
        let known = self.known(catalogue);
        self.enabled_rules.iter().flat_map(|name| self.rules_of(name, catalogue, &known)).collect()
    }

    /// The method for the findings of each rule that the config has one for. What is set for a rule by its own name
    /// goes before what is set for a set it is in; of several sets the first by name counts.
    pub fn methods<'s>(&'s self, catalogue: &'s Catalogue) -> BTreeMap<&'s str, &'s MethodSpec> {
        let known = self.known(catalogue);
        let rules = self.redactions.iter().filter(|(name, _)| known.contains(name.as_str()));
        let mut methods: BTreeMap<&str, &MethodSpec> =
            rules.map(|(name, method)| (name.as_str(), method)).collect();
        for (name, method) in &self.redactions {
            for rule in self.rules_of(name, catalogue, &known) {
                methods.entry(rule).or_insert(method);
            }
        }
        methods
    }

    /// The names of all rules there are, the config's own among them. (A catalogue looks through all of its rules
    /// for one.)
    fn known<'s>(&'s self, catalogue: &'s Catalogue) -> HashSet<&'s str> {
        catalogue.names().chain(self.rules.keys().map(String::as_str)).collect()
    }

    /// The names of the rules that `name` stands for: a rule's own, or those of a set. None if nothing has the name.
    fn rules_of<'s>(
        &'s self,
        name: &'s str,
        catalogue: &'s Catalogue,
        known: &HashSet<&'s str>,
    ) -> Vec<&'s str> {
        if known.contains(name) {
            return vec![name];
        }
        if let Some(set) = self.rulesets.get(name) {
            let known = |rule: &&'s str| known.contains(rule);
            return set.rules.iter().map(String::as_str).filter(known).collect();
        }
        let Some(set) = RuleSet::named(name) else { return Vec::new() };
        catalogue.rules().filter(|rule| set.has(rule)).map(|rule| rule.name()).collect()
    }
}
