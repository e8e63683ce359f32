//! What every redaction call can say: the fields that `/v1/redact` and `/v1/redact_structured` have in common.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::block_in_place;
use crate::api::configs::{MethodPlace, MethodSpec};
use crate::api::error::Code;
use crate::api::fields::{Faults, ObjectFields};
use crate::base::pointer::Pointer;
use crate::detect::{Allow, states};

/// The most entries of a call's allow-list.
const ALLOWED: usize = 1000;

/// A rule or rule set by name, and where the body names it.
pub(super) struct RuleReference {
    pub(super) name: String,
    pub(super) at: Pointer,
}

impl RuleReference {
    /// The config that a call names.
    pub(super) fn config(fields: &mut ObjectFields<'_>) -> Option<Self> {
        let name = fields.text("config_id")?.to_owned();
        Some(Self { name, at: fields.at("config_id") })
    }
}

/// Methods that a call chooses.
#[derive(Default)]
pub(super) struct Overrides {
    /// For every rule.
    pub(super) all: Option<(Pointer, MethodSpec)>,
    /// For these.
    pub(super) each: Vec<(RuleReference, MethodSpec)>,
}

/// Rules and methods for a part of a document alone.
pub(super) struct Specific {
    /// `None`: those of the call.
    pub(super) rules: Option<Vec<(RuleReference, Option<MethodSpec>)>>,
}

/// The common part of a call.
pub(super) struct CommonRequest {
    pub(super) config: Option<RuleReference>,
    pub(super) return_result: bool,
    pub(super) debug: bool,
    pub(super) llm: bool,
    /// `None`: those of the config. Never empty.
    pub(super) rules: Option<Vec<RuleReference>>,
    pub(super) rulesets: Option<Vec<RuleReference>>,
    pub(super) overrides: Overrides,
    pub(super) fpe_key: Option<RuleReference>,
    pub(super) salt: Option<RuleReference>,
    pub(super) allow: Allow,
}

impl CommonRequest {
    /// Reads the common members.
    pub(super) fn of(fields: &mut ObjectFields<'_>) -> Self {
        let config = RuleReference::config(fields);
        let (mut fpe_key, mut salt) = (None, None);
        fields.object("vault_parameters", |fields| {
            fields.nulls_are_absent();
            let mut item = |name: &'static str| {
                let id = fields.text(name)?.to_owned();
                Some(RuleReference { name: id, at: fields.at(name) })
            };
            (fpe_key, salt) = (item("fpe_key_id"), item("salt_secret_id"));
        });
        Self {
            config,
            return_result: fields.flag("return_result").unwrap_or(true),
            debug: fields.flag("debug").unwrap_or(false),
            llm: fields.flag("llm_request").unwrap_or(false),
            rules: names(fields, "rules"),
            rulesets: names(fields, "rulesets"),
            overrides: overrides(fields),
            fpe_key,
            salt,
            allow: allow(fields),
        }
    }
}

/// An empty list is none: somebody who wants nothing redacted does not call.
fn names(fields: &mut ObjectFields<'_>, field: &'static str) -> Option<Vec<RuleReference>> {
    let named = fields.names(field).filter(|named| !named.is_empty())?;
    let at = fields.at(field);
    let named =
        named.into_iter().map(|(index, name)| RuleReference { name: name.to_owned(), at: at.index(index) });
    Some(named.collect())
}

/// One method for all rules where the object says a `redaction_type`, else one for each rule: clients write both.
fn overrides(fields: &mut ObjectFields<'_>) -> Overrides {
    const FIELD: &str = "redaction_method_overrides";
    let (at, Some(value)) = (fields.at(FIELD), fields.member(FIELD)) else { return Overrides::default() };
    if value.get("redaction_type").is_some_and(Value::is_string) {
        let all = MethodSpec::read(value, &at, fields.faults(), MethodPlace::InRequest);
        return Overrides { all: all.map(|method| (at, method)), each: Vec::new() };
    }
    let each: BTreeMap<String, (RuleReference, MethodSpec)> = fields
        .map(FIELD, usize::MAX, |rule, value, at, faults| {
            let method = MethodSpec::read(value, &at, faults, MethodPlace::InRequest)?;
            Some((RuleReference { name: rule.to_owned(), at }, method))
        })
        .unwrap_or_default();
    Overrides { all: None, each: each.into_values().collect() }
}

/// States of all patterns in one list together: they are compiled for one call, which takes about a microsecond for each.
const STATES: usize = 200_000;

/// Values that pass though a rule finds them: `["text", {"regex": "…"}]`.
fn allow(fields: &mut ObjectFields<'_>) -> Allow {
    let has_patterns = |list: &Vec<Value>| list.iter().any(Value::is_object);
    match fields.members().get("allow_list").and_then(Value::as_array).is_some_and(has_patterns) {
        true => block_in_place(|| allowed(fields)),
        false => allowed(fields),
    }
}

fn allowed(fields: &mut ObjectFields<'_>) -> Allow {
    let mut patterns = Patterns { allow: Allow::default(), left: STATES };
    let mut texts: Vec<&str> = Vec::new();
    fields.array("allow_list", ALLOWED, |value, at, faults| {
        match value.as_str() {
            Some(text) => texts.push(text),
            None => patterns.add(value, &at, faults),
        }
        Some(())
    });
    let Patterns { mut allow, .. } = patterns;
    if let Err(error) = allow.values(None, texts, false) {
        fields.fault(Code::BadFormat, fields.at("allow_list"), error.to_string());
    }
    allow
}

/// The patterns of a list, as far as they are read.
struct Patterns {
    allow: Allow,
    /// States that others may still have.
    left: usize,
}

impl Patterns {
    fn add(&mut self, value: &Value, at: &Pointer, faults: &mut Faults) {
        let regex =
            ObjectFields::within(value, at, faults, |fields| fields.required_text("regex").to_owned());
        let Some(regex) = regex.filter(|regex| !regex.is_empty()) else { return };
        // What has too many states, or is no pattern, is refused where it is compiled.
        match self.left.checked_sub(states(&regex).unwrap_or(0)) {
            Some(left) => {
                self.left = left;
                if let Err(error) = self.allow.pattern(None, &regex) {
                    faults.add(Code::BadFormatRegex, at.key("regex"), error.to_string());
                }
            }
            None => faults.add(Code::AboveMaxItems, at.key("regex"), "the patterns are too large together"),
        }
    }
}
