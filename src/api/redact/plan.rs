//! From what a call wants to who looks and what becomes of findings.

use std::collections::HashMap;
use std::sync::Arc;

use crate::api::configs::{HashType, MaskingType, MethodSpec, PartialMasking};
use crate::api::error::{ApiError, Code};
use crate::api::fields::Faults;
use crate::api::redact::configured::CompiledConfig;
use crate::api::redact::request::{CommonRequest, Overrides, RuleReference, Specific};
use crate::api::redact::vault_material::{StoredTweak, missing};
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;
use crate::detect::{Allow, Catalogue, RuleId, RuleSelection};
use crate::redact::{Digest, Fpe, Method, MethodPlan, PartialMask, Salted};

/// Where a call names a tweak of the vault's.
const TWEAK: &str = "fpe_tweak_vault_secret_id";

/// What a call works with, names looked up.
pub(super) struct CallChoices {
    /// The rules; `None` for the default ones.
    pub(super) selection: Option<RuleSelection>,
    pub(super) plan: MethodPlan,
}

/// Looks up all that a call names.
pub(super) struct Resolver<'a> {
    pub(super) catalogue: &'a Catalogue,
    /// The config that the call works with, if it is not the default.
    pub(super) config: Option<&'a CompiledConfig>,
    /// The salt of digests.
    pub(super) salt: &'a Secret<Vec<u8>>,
    /// Tweaks that the vault keeps.
    pub(super) tweaks: &'a HashMap<String, StoredTweak>,
    pub(super) faults: Faults,
}

impl Resolver<'_> {
    /// The whole of a call.
    pub(super) fn call(&mut self, wanted: &CommonRequest) -> CallChoices {
        let selection = self.selection(wanted.rules.as_deref(), wanted.rulesets.as_deref());
        let plan = self.plan(wanted.llm, &wanted.overrides);
        CallChoices { selection, plan }
    }

    /// A part of a document: the call's plan with what the part says on top.
    pub(super) fn place(&mut self, call: &CallChoices, specific: &Specific) -> CallChoices {
        let (mut selection, mut plan) = (call.selection.clone(), call.plan.clone());
        if let Some(rules) = &specific.rules {
            let mut own = self.enforced().cloned().unwrap_or_default();
            for (named, spec) in rules {
                let spec = spec.as_ref().filter(|spec| self.may_choose(spec));
                let method = spec.map(|spec| self.method(spec, &named.at));
                let Some(rule) = self.rule(named) else { continue };
                own.insert(rule);
                if let Some(method) = method {
                    plan.set(rule, method);
                }
            }
            selection = Some(own);
        }
        CallChoices { selection, plan }
    }

    /// What of a document no path leads to: the rules that are on in every call, if there are any.
    pub(super) fn rest(&self, call: &CallChoices) -> Option<CallChoices> {
        let selection = self.enforced()?.clone();
        Some(CallChoices { selection: Some(selection), plan: call.plan.clone() })
    }

    /// What of the call's allow-list holds.
    pub(super) fn allow(&self, allow: &Allow) -> Allow {
        let Some(enforced) = self.enforced() else { return allow.clone() };
        let free: RuleSelection = self.catalogue.ids().filter(|rule| !enforced.has(*rule)).collect();
        allow.clone().only_for(&free)
    }

    /// The rules that the config has on in every call.
    fn enforced(&self) -> Option<&RuleSelection> {
        self.config.filter(|config| config.enforced).map(|config| &config.enabled)
    }

    /// Whether a call may choose a method. Where rules are enforced, none that leaves something of a value: nor for
    /// another rule, whose findings may lie over those of an enforced one.
    fn may_choose(&self, spec: &MethodSpec) -> bool {
        self.enforced().is_none() || !spec.leaves_something()
    }

    /// Rules and sets together; `None` where neither is named.
    fn selection(
        &mut self,
        rules: Option<&[RuleReference]>,
        sets: Option<&[RuleReference]>,
    ) -> Option<RuleSelection> {
        if rules.is_none() && sets.is_none() {
            return None;
        }
        let mut selection = self.enforced().cloned().unwrap_or_default();
        for named in rules.unwrap_or_default() {
            if let Some(rule) = self.rule(named) {
                selection.insert(rule);
            }
        }
        for named in sets.unwrap_or_default() {
            match self.set(&named.name) {
                Some(rules) => rules.into_iter().for_each(|rule| selection.insert(rule)),
                None => {
                    self.faults.add(
                        Code::DoesNotExist,
                        named.at.clone(),
                        "there is no rule set of this name",
                    );
                }
            }
        }
        Some(selection)
    }

    pub(super) fn rule(&mut self, named: &RuleReference) -> Option<RuleId> {
        let rule = self.catalogue.find(&named.name);
        if rule.is_none() {
            self.faults.add(Code::DoesNotExist, named.at.clone(), "there is no rule of this name");
        }
        rule
    }

    /// The rules of a set of the config's own, or of one that is built in.
    fn set(&self, name: &str) -> Option<Vec<RuleId>> {
        if let Some(set) = self.config.and_then(|config| config.settings.rulesets.get(name)) {
            return Some(set.rules.iter().filter_map(|rule| self.catalogue.find(rule)).collect());
        }
        Some(RuleSelection::sets(self.catalogue, [name]).ok()?.iter().collect())
    }

    /// The call's own methods go before what it is for, and that before its config's.
    fn plan(&mut self, llm: bool, overrides: &Overrides) -> MethodPlan {
        if let Some((at, spec)) = overrides.all.as_ref().filter(|(_, spec)| self.may_choose(spec)) {
            return MethodPlan::all(self.method(spec, at));
        }
        let mut plan = MethodPlan::all(if llm { Method::Encrypt } else { Method::Replace });
        let config = self.config.filter(|_| !llm);
        for (rule, spec) in config.map(CompiledConfig::methods).unwrap_or_default() {
            let method = self.method(spec, &Pointer::root());
            if let Some(rule) = self.catalogue.find(rule) {
                plan.set(rule, method);
            }
        }
        for (named, spec) in &overrides.each {
            let method = self.method(spec, &named.at);
            if let Some(rule) = self.rule(named).filter(|_| self.may_choose(spec)) {
                plan.set(rule, method);
            }
        }
        plan
    }

    /// The method that a specification describes.
    pub(super) fn method(&mut self, spec: &MethodSpec, at: &Pointer) -> Method {
        match spec {
            MethodSpec::Mask => Method::Mask,
            MethodSpec::Replacement { redaction_value: None } => Method::Replace,
            MethodSpec::Replacement { redaction_value: Some(text) } => Method::Text(text.as_str().into()),
            MethodSpec::PartialMasking { partial_masking } => {
                Method::Partial(Arc::new(partial(partial_masking)))
            }
            MethodSpec::Hash { hash } => {
                let digest = match hash.hash_type {
                    HashType::Md5 => Digest::Md5,
                    HashType::Sha256 => Digest::Sha256,
                };
                Method::Hash(Arc::new(Salted { digest, salt: self.salt.clone() }))
            }
            MethodSpec::DetectOnly => Method::DetectOnly,
            MethodSpec::Fpe { fpe_alphabet, fpe_tweak, fpe_tweak_vault_secret_id } => {
                let mut tweak = fpe_tweak.as_ref().map(|tweak| tweak.bytes());
                if let Some(id) = fpe_tweak_vault_secret_id {
                    match self.tweaks.get(id) {
                        Some(Ok(kept)) => tweak = Some(kept.expose().clone()),
                        Some(Err(code)) => missing(&mut self.faults, *code, at.key(TWEAK)),
                        None => missing(&mut self.faults, Code::DoesNotExist, at.key(TWEAK)),
                    }
                }
                Method::Fpe(Arc::new(Fpe { alphabet: *fpe_alphabet, tweak }))
            }
        }
    }

    /// # Errors
    /// All names that nothing has.
    pub(super) fn close(self) -> Result<(), ApiError> {
        self.faults.close()
    }
}

fn partial(spec: &PartialMasking) -> PartialMask {
    let masks = spec.masking_type == MaskingType::Mask;
    let (left, right) = match masks {
        true => (spec.masked_from_left, spec.masked_from_right),
        false => (spec.unmasked_from_left, spec.unmasked_from_right),
    };
    PartialMask {
        masks,
        left: left as usize,
        right: right as usize,
        ignore: spec.chars_to_ignore.clone(),
        with: spec.masking_char,
    }
}
