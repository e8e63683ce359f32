//! Settings read from a request: [`ConfigDraft`]. All faults at once, those of patterns included, though patterns are
//! compiled later: that may take long, and is not for the threads that move bytes.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Value, json};

use crate::api::configs::config::ConfigSettings;
use crate::api::configs::method::{MethodPlace, MethodSpec};
use crate::api::configs::object::{Allowed, CustomRule, CustomSet, MatchType, Matcher, Matchers, Settings};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::base::id::ItemId;
use crate::base::pointer::Pointer;
use crate::detect::{Allow, Catalogue, Rule, RuleFault, RuleSet, is_name};

/// The most rules, and the most rule sets, of a config's own.
const OWN: usize = 200;
/// The most matchers of one rule.
const MATCHERS: usize = 32;
/// The most regular expressions of one config: each takes its time to compile.
const PATTERNS: usize = 256;
/// The longest text of a matcher, in characters.
const VALUE: usize = 4096;
/// The most context words of one kind, and the longest, in characters.
const WORDS: usize = 200;
const WORD: usize = 128;
/// The most allowed values, and the longest, in characters and in bytes.
const ALLOWED: usize = 1000;
const LONGEST: usize = 256;
/// The longest name and the longest description, in characters.
const NAME: usize = 256;
const DESCRIPTION: usize = 4096;
/// The most methods.
const METHODS: usize = 2000;
/// The rules of a config that names none: those that are on where nobody chose.
const DEFAULT: &str = "DEFAULT";
const NO_PATTERN: &str =
    "must be a regular expression that can be used here; one for a rule may not match the empty text";
const COSTLY: &str =
    "the regular expression would cost too much: bound its repetitions, and do not nest them";
/// Texts are taken to be in any language; the schema knows this one.
const LANGUAGES: &[(&str, &str)] = &[("en", "en")];

/// What a request says of a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it, which has a name and leaves out what the service sets.
    Whole,
    /// What changes, or what was read with what changes in it: times and the version may be among it.
    Change,
}

/// Settings as read from a request. Their patterns have not been compiled yet.
pub struct ConfigDraft {
    pub(super) settings: Settings,
    pub(super) faults: Faults,
    patterns: Vec<Unproved>,
}

/// A pattern that may be none.
struct Unproved {
    at: Pointer,
    regex: String,
    use_for: ConfigUse,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConfigUse {
    Matching,
    Allowing,
}

/// Reads settings member by member.
struct SettingsReader<'c, 'a> {
    /// The names of the built-in rules and those of the configuration's.
    built_in: HashSet<&'c str>,
    own_rules: BTreeSet<&'a str>,
    own_sets: BTreeSet<&'a str>,
    patterns: Vec<Unproved>,
}

impl ConfigDraft {
    /// Reads the members of a config that its owner sets and ends the reading of `fields`.
    pub fn read(mut fields: ObjectFields<'_>, catalogue: &Catalogue, extent: Extent) -> Self {
        fields.nulls_are_absent();
        // A client whose token is good for several configs sends the id of one with every call.
        fields.text("config_id");
        fields.member("created_at");
        version(&mut fields, Settings::SCHEMA, extent);
        if extent == Extent::Whole {
            fields.required("name");
        }
        let mut reader = SettingsReader {
            built_in: catalogue.names().collect(),
            own_rules: keys(fields.member("rules")),
            own_sets: keys(fields.member("rulesets")),
            patterns: Vec::new(),
        };
        let settings = reader.settings(&mut fields);
        let mut faults = fields.finish();
        if reader.patterns.len() > PATTERNS {
            reader.patterns.clear();
            let detail = format!("a config can have at most {PATTERNS} regular expressions");
            faults.add(Code::AboveMaxItems, Pointer::root(), detail);
        }
        Self { settings, faults, patterns: reader.patterns }
    }

    /// What compiling takes, on the scale of bytes to read; for whoever chooses where it is done.
    pub fn cost(&self) -> usize {
        self.patterns.len().saturating_mul(64 << 10)
    }

    /// Compiles the patterns.
    ///
    /// # Errors
    /// All faults of the request.
    pub fn check(mut self) -> Result<Settings, ApiError> {
        let (matching, allowing): (Vec<_>, Vec<_>) =
            self.patterns.into_iter().partition(|pattern| pattern.use_for == ConfigUse::Matching);
        for Unproved { at, regex, .. } in allowing {
            if Allow::default().pattern(None, &regex).is_err() {
                self.faults.add(Code::BadFormatRegex, at, NO_PATTERN);
            }
        }
        prove(&matching, &mut self.faults);
        self.faults.close().map(|()| self.settings)
    }
}

/// Hands the patterns to the detector, all together as they will be used: apart, each could be as large, and take as
/// long, as all of them may.
fn prove(patterns: &[Unproved], faults: &mut Faults) {
    let rule = |(pattern, n): (&Unproved, usize)| {
        let rule =
            json!({ "name": format!("P{n}"), "anchor": "free", "patterns": [{ "regex": pattern.regex }] });
        serde_json::from_value::<Rule>(rule).ok()
    };
    let rules: Vec<Rule> = patterns.iter().zip(0..).filter_map(rule).collect();
    if rules.is_empty() {
        return;
    }
    for error in Catalogue::empty().extend_with(&[], rules).err().unwrap_or_default() {
        match error.number.checked_sub(1).and_then(|n| patterns.get(n)) {
            Some(pattern) => match error.fault {
                RuleFault::Costly(_) => faults.add(Code::IsTooBig, pattern.at.clone(), COSTLY),
                _ => faults.add(Code::BadFormatRegex, pattern.at.clone(), NO_PATTERN),
            },
            None => {
                let at = Pointer::root().key("rules");
                faults.add(Code::IsTooBig, at, "the regular expressions need more memory than is allowed");
            }
        }
    }
}

fn keys(value: Option<&Value>) -> BTreeSet<&str> {
    let members = value.and_then(Value::as_object);
    members.map(|members| members.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// The service counts versions; but clients that know versions of the schema name the one they write, and who changes
/// what was read sends it back.
pub fn version(fields: &mut ObjectFields<'_>, schema: Option<&str>, extent: Extent) {
    let version = fields.member("version");
    let known = schema.is_some() && version.and_then(Value::as_str) == schema;
    if extent == Extent::Whole && !known {
        fields.read_only("version");
    }
}

/// An id of a config of a service that has none here: one that is kept and does nothing would mislead.
pub fn foreign(fields: &mut ObjectFields<'_>, name: &'static str) {
    if fields.text(name).is_some() {
        let detail = "there are no configs of that kind here: leave it out";
        fields.fault(Code::ConfigNotExist, fields.at(name), detail);
    }
}

impl<'a> SettingsReader<'_, 'a> {
    fn settings(&mut self, fields: &mut ObjectFields<'a>) -> Settings {
        let name = fields.text_within("name", 1..=NAME).unwrap_or_default().to_owned();
        let rules = fields.map("rules", OWN, |key, value, at, faults| self.rule(key, value, &at, faults));
        let sets = fields.map("rulesets", OWN, |key, value, at, faults| self.set(key, value, &at, faults));
        let mut seen = HashSet::new();
        let enabled = fields.array("enabled_rules", usize::MAX, |value, at, faults| {
            let name = unique(value, at.clone(), faults, &mut seen)?;
            self.rule_or_set(name, at, faults).then(|| name.to_owned())
        });
        let redactions = fields.map("redactions", METHODS, |key, value, at, faults| {
            let known = self.rule_or_set(key, at.clone(), faults);
            MethodSpec::read(value, &at, faults, MethodPlace::InConfig).filter(|_| known)
        });
        let mut seen = HashSet::new();
        let languages = fields.array("supported_languages", 100, |value, at, faults| {
            let name = unique(value, at.clone(), faults, &mut seen)?;
            let known = LANGUAGES.iter().find(|(language, _)| *language == name);
            if known.is_none() {
                faults.add(Code::NotEnumMember, at, "must be en");
            }
            known.map(|(_, language)| (*language).to_owned())
        });
        let allowed =
            fields.array("allow_list", ALLOWED, |value, at, faults| self.allowed(value, &at, faults));
        foreign(fields, "vault_service_config_id");
        Settings {
            name,
            enabled_rules: enabled.unwrap_or_else(|| vec![DEFAULT.to_owned()]),
            enforce_enabled_rules: fields.flag("enforce_enabled_rules").unwrap_or(false),
            redactions: redactions.unwrap_or_default(),
            vault_service_config_id: None,
            salt_vault_secret_id: item(fields, "salt_vault_secret_id"),
            fpe_vault_secret_id: item(fields, "fpe_vault_secret_id"),
            rules: rules.unwrap_or_default(),
            rulesets: sets.unwrap_or_default(),
            supported_languages: languages.unwrap_or_else(|| vec!["en".to_owned()]),
            allow_list: allowed.unwrap_or_default(),
        }
    }

    fn rule(&mut self, key: &str, value: &'a Value, at: &Pointer, faults: &mut Faults) -> Option<CustomRule> {
        own_name(key, self.built_in.contains(key), at, faults);
        ObjectFields::within(value, at, faults, |fields| {
            fields.nulls_are_absent();
            fields.required("entity_name");
            let entity_name = fields.text_within("entity_name", 1..=64).unwrap_or_default().to_owned();
            let matchers = self.matchers(fields);
            let words =
                |fields: &mut ObjectFields<'a>, name| fields.array(name, WORDS, word).unwrap_or_default();
            Some(CustomRule {
                entity_name,
                match_threshold: fields.number("match_threshold", 0.1..=1.0),
                context_values: words(fields, "context_values"),
                negative_context_values: words(fields, "negative_context_values"),
                name: fields.text_within("name", 0..=NAME).map(str::to_owned),
                description: fields.text_within("description", 0..=DESCRIPTION).map(str::to_owned),
                matchers: matchers?,
            })
        })
        .flatten()
    }

    fn matchers(&mut self, fields: &mut ObjectFields<'a>) -> Option<Matchers> {
        const NAME: &str = "matchers";
        let value = fields.required(NAME)?;
        let at = fields.at(NAME);
        if let Some(name) = value.as_str() {
            if !self.built_in.contains(name) {
                fields.fault(Code::DoesNotExist, at, "there is no built-in rule of this name");
                return None;
            }
            return Some(Matchers::BuiltIn(name.to_owned()));
        }
        if value.as_array().is_some_and(Vec::is_empty) {
            fields.fault(Code::BelowMinItems, at, "must have at least one matcher, or name a built-in rule");
            return None;
        }
        fields.array(NAME, MATCHERS, |value, at, faults| self.matcher(value, &at, faults)).map(Matchers::Own)
    }

    fn matcher(&mut self, value: &'a Value, at: &Pointer, faults: &mut Faults) -> Option<Matcher> {
        const TYPES: &[(&str, MatchType)] =
            &[("regex", MatchType::Regex), ("starts_with", MatchType::StartsWith)];
        ObjectFields::within(value, at, faults, |fields| {
            fields.nulls_are_absent();
            let match_type = fields.required("match_type").and_then(|_| fields.one_of("match_type", TYPES));
            fields.required("match_value");
            let match_value = fields.text_within("match_value", 1..=VALUE).map(str::to_owned);
            fields.required("match_score");
            let match_score = fields.number("match_score", 0.1..=1.0);
            let (match_type, match_value) = match_type.zip(match_value)?;
            if match_type == MatchType::Regex {
                self.prove(fields.at("match_value"), &match_value, ConfigUse::Matching);
            }
            Some(Matcher { match_type, match_value, match_score: match_score? })
        })
        .flatten()
    }

    fn set(&self, key: &str, value: &'a Value, at: &Pointer, faults: &mut Faults) -> Option<CustomSet> {
        own_name(key, RuleSet::named(key).is_some(), at, faults);
        if self.is_rule(key) {
            faults.add(Code::InvalidPropertyName, at.clone(), "a rule has this name");
        }
        ObjectFields::within(value, at, faults, |fields| {
            fields.nulls_are_absent();
            let mut seen = HashSet::new();
            let rules = fields.array("rules", usize::MAX, |value, at, faults| {
                let name = unique(value, at.clone(), faults, &mut seen)?;
                if !self.is_rule(name) {
                    faults.add(Code::DoesNotExist, at, "there is no rule of this name");
                }
                Some(name.to_owned())
            });
            CustomSet {
                name: fields.text_within("name", 0..=NAME).map(str::to_owned),
                description: fields.text_within("description", 0..=DESCRIPTION).map(str::to_owned),
                rules: rules.unwrap_or_default(),
            }
        })
    }

    fn allowed(&mut self, value: &'a Value, at: &Pointer, faults: &mut Faults) -> Option<Allowed> {
        if let Some(text) = value.as_str() {
            let fits = Allow::default().values(None, [text], false).is_ok();
            if faults.length(text, at.clone(), &(1..=LONGEST)) && !fits {
                faults.add(Code::AboveMaxLength, at.clone(), format!("must have at most {LONGEST} bytes"));
            }
            return fits.then(|| Allowed::Value(text.to_owned()));
        }
        ObjectFields::within(value, at, faults, |fields| {
            fields.required("regex");
            let regex = fields.text_within("regex", 1..=VALUE)?.to_owned();
            self.prove(fields.at("regex"), &regex, ConfigUse::Allowing);
            Some(Allowed::Pattern { regex })
        })
        .flatten()
    }

    fn prove(&mut self, at: Pointer, regex: &str, use_for: ConfigUse) {
        self.patterns.push(Unproved { at, regex: regex.to_owned(), use_for });
    }

    fn is_rule(&self, name: &str) -> bool {
        self.own_rules.contains(name) || self.built_in.contains(name)
    }

    fn rule_or_set(&self, name: &str, at: Pointer, faults: &mut Faults) -> bool {
        let known = self.is_rule(name) || self.own_sets.contains(name) || RuleSet::named(name).is_some();
        if !known {
            faults.add(Code::DoesNotExist, at, "there is no rule and no rule set of this name");
        }
        known
    }
}

/// Names of a config's own are none of those that are built in.
fn own_name(name: &str, taken: bool, at: &Pointer, faults: &mut Faults) {
    if !is_name(name) {
        let detail = "the name must be 2 to 64 letters, digits, _, - and /, a letter first";
        faults.add(Code::InvalidPropertyName, at.clone(), detail);
    } else if taken {
        faults.add(Code::InvalidPropertyName, at.clone(), "something built in has this name");
    }
}

fn unique<'a>(
    value: &'a Value,
    at: Pointer,
    faults: &mut Faults,
    seen: &mut HashSet<&'a str>,
) -> Option<&'a str> {
    let text = faults.text(value, at.clone())?;
    if !seen.insert(text) {
        faults.add(Code::ItemNotUnique, at, "the same item twice");
        return None;
    }
    Some(text)
}

fn word(value: &Value, at: Pointer, faults: &mut Faults) -> Option<String> {
    let text = faults.text(value, at.clone())?;
    faults.length(text, at, &(1..=WORD)).then(|| text.to_owned())
}

/// The id of a vault item that may be absent.
fn item(fields: &mut ObjectFields<'_>, name: &'static str) -> Option<String> {
    let text = fields.text(name)?;
    if ItemId::parse(text).is_none() {
        fields.fault(
            Code::DoesNotMatchPattern,
            fields.at(name),
            "must be pvi_ and 32 characters of a-z and 2-7",
        );
    }
    Some(text.to_owned())
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
