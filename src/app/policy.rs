//! What a route does with what is found: its `[routes.redact]` becomes a redactor for each direction.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::settings::{
    Answers, Invented, Method as Setting, PublicNames, Redact, Requests, SpecialUse,
};
use crate::detect::{Allow, Catalogue, Detector, Rule, RuleId, RuleSelection};
use crate::gateway::filters::UrlRules;
use crate::redact::{Method, MethodPlan, PublicNameRules, Redactor};
use crate::telemetry::Direction;

/// What becomes of the findings of rules that have no method of their own.
#[derive(Clone)]
pub(super) enum OtherFindings {
    /// This.
    Gets(Method),
    /// They are not looked for.
    Allowed,
}

/// The settings of one route, with the rules that it names.
pub(super) struct RoutePolicy<'s> {
    setting: &'s Redact,
    /// With the route's own thresholds.
    catalogue: Catalogue,
    selection: RuleSelection,
    /// Those that analyzers report.
    reported: RuleSelection,
    allow: Allow,
    /// The same, and what passes where a model made it up.
    allow_made_up: Allow,
    /// Engines that are made already: both directions mostly look for the same.
    detectors: RefCell<Vec<(RuleSelection, Detector)>>,
}

impl<'s> RoutePolicy<'s> {
    /// Of these settings.
    ///
    /// # Errors
    /// A rule that is not there.
    pub(super) fn new(setting: &'s Redact, catalogue: &Catalogue, allow: &Allow) -> Result<Self, String> {
        let mut catalogue = catalogue.clone();
        for (rule, threshold) in &setting.thresholds {
            let rule = catalogue.find(rule).ok_or("a rule under `thresholds` is not there")?;
            catalogue.set_threshold(rule, **threshold);
        }
        let selection =
            setting.selection(&catalogue).map_err(|rule| format!("the rule {rule} is not there"))?;
        let mut policy = Self {
            setting,
            catalogue,
            selection,
            reported: RuleSelection::default(),
            allow: allow.clone(),
            allow_made_up: Allow::default(),
            detectors: RefCell::default(),
        };
        policy.allow_special_use()?;
        Ok(policy)
    }

    /// The same, where analyzers report these rules in requests.
    #[must_use]
    pub(super) fn with_analyzer_rules(self, reported: RuleSelection) -> Self {
        Self { reported, ..self }
    }

    /// What names nobody passes where the model shall understand it, unless a method says otherwise.
    fn public_names(&self) -> PublicNameRules {
        let pass = match self.setting.public_names {
            Some(said) => said == PublicNames::Pass,
            None => *self.setting.requests == Requests::Encrypt,
        };
        let rule = |name| self.without_method(&[name]).iter().next().filter(|_| pass);
        PublicNameRules { places: rule("LOCATION"), persons: rule("PERSON") }
    }

    /// Those of these rules that `methods` does not name.
    fn without_method(&self, rules: &[&str]) -> RuleSelection {
        let named = |name: &&&str| self.setting.methods.keys().any(|rule| rule.as_str() == **name);
        rules.iter().filter(|name| !named(name)).filter_map(|name| self.catalogue.find(name)).collect()
    }

    /// What is nobody's passes where no method says otherwise.
    fn allow_special_use(&mut self) -> Result<(), String> {
        let passes = self.setting.special_use == SpecialUse::Pass;
        let of =
            |rules: &[&str]| Some(self.without_method(rules)).filter(|rules| passes && !rules.is_empty());
        let (special, mail) = (of(&Allow::SPECIAL_USE), of(&["EMAIL_ADDRESS"]));
        if let Some(rules) = special {
            self.allow.special_use(rules).map_err(|error| error.to_string())?;
        }
        self.allow_made_up = self.allow.clone();
        if let Some(rules) = mail {
            self.allow_made_up.example_mail(rules).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// From which score on findings of analyzers count, by rule: what the route says, and what is said of rules that only
    /// they report.
    pub(super) fn floors(&self) -> BTreeMap<RuleId, f32> {
        let said = self
            .setting
            .thresholds
            .iter()
            .filter_map(|(rule, floor)| Some((self.catalogue.find(rule)?, **floor)));
        said.chain(reported_floors(&self.catalogue)).collect()
    }

    /// The rules, with the route's own thresholds.
    #[cfg(feature = "console")]
    pub(super) const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Looks through requests; `None`: they pass as they are.
    ///
    /// # Errors
    /// As of [`RoutePolicy::redactor`].
    pub(super) fn requests(&self) -> Result<Option<Redactor>, String> {
        let rest = match *self.setting.requests {
            Requests::Encrypt => OtherFindings::Gets(Method::Encrypt),
            Requests::Replace => OtherFindings::Gets(Method::Replace),
            Requests::Mask => OtherFindings::Gets(Method::Mask),
            Requests::Hash => OtherFindings::Gets(Method::Digest),
            Requests::Block => OtherFindings::Gets(Method::Block),
            Requests::Report => OtherFindings::Gets(Method::DetectOnly),
            Requests::Allow => OtherFindings::Allowed,
            Requests::Off => return Ok(None),
        };
        self.redactor(Direction::Request, &rest, &self.allow).map(Some)
    }

    /// Looks through answers that are not restored; `None`: they pass as they are.
    ///
    /// # Errors
    /// As of [`RoutePolicy::redactor`].
    pub(super) fn answers(&self) -> Result<Option<Redactor>, String> {
        let rest = match self.setting.answers() {
            Answers::Mask => OtherFindings::Gets(Method::Mask),
            Answers::Replace => OtherFindings::Gets(Method::Replace),
            Answers::Hash => OtherFindings::Gets(Method::Digest),
            Answers::Block => OtherFindings::Gets(Method::Block),
            Answers::Report => OtherFindings::Gets(Method::DetectOnly),
            Answers::Allow => OtherFindings::Allowed,
            Answers::Off | Answers::Restore => return Ok(None),
        };
        self.redactor(Direction::Answer, &rest, &self.allow).map(Some)
    }

    /// Looks through what answers that are restored say besides; `None`: that passes as it is.
    ///
    /// # Errors
    /// As of [`RoutePolicy::redactor`].
    pub(super) fn invented(&self) -> Result<Option<Redactor>, String> {
        let rest = match self.setting.invented.as_deref() {
            None | Some(Invented::Mask) => OtherFindings::Gets(Method::Mask),
            Some(Invented::Replace) => OtherFindings::Gets(Method::Replace),
            Some(Invented::Keep) => OtherFindings::Allowed,
        };
        let redactor = self.redactor(Direction::Answer, &rest, &self.allow_made_up)?;
        Ok((!redactor.is_idle()).then_some(redactor))
    }

    /// Looks for what is not allowed this way, save for values that `allow` has, and gives each rule its method.
    ///
    /// # Errors
    /// Rules that are too large together.
    fn redactor(&self, way: Direction, rest: &OtherFindings, allow: &Allow) -> Result<Redactor, String> {
        let (otherwise, mut selection) = match rest {
            OtherFindings::Gets(method) => (method.clone(), self.selection.clone()),
            OtherFindings::Allowed => (Method::Mask, RuleSelection::default()),
        };
        let mut plan = MethodPlan::all(otherwise);
        for rule in self.selection.iter() {
            match self.own(rule, way) {
                None => {}
                Some(Setting::Allow) => selection = selection.without(rule),
                Some(setting) => {
                    selection.insert(rule);
                    plan.set(rule, method(setting));
                }
            }
        }
        let mut reported = match way {
            Direction::Request => self.reported.clone(),
            Direction::Answer => RuleSelection::default(),
        };
        for rule in self.reported.iter() {
            match (self.own(rule, way), rest) {
                (None, OtherFindings::Gets(_)) => {}
                (None, OtherFindings::Allowed) | (Some(Setting::Allow), _) => {
                    reported = reported.without(rule)
                }
                (Some(setting), _) => plan.set(rule, method(setting)),
            }
        }
        let detector = self.detector(selection)?.allowing(allow.clone());
        // To refuse an answer would lose it: where a names model reads no further, the lexicon stands alone.
        let detector = if way == Direction::Request { detector.strict() } else { detector };
        Ok(Redactor::new(detector, plan).leaving(self.public_names()).with_analyzer_rules(reported))
    }

    /// The method that a rule has of its own this way.
    fn own(&self, rule: RuleId, way: Direction) -> Option<Setting> {
        let rule = self.catalogue.rule(rule)?;
        match way {
            Direction::Request => self.setting.own_method(rule, |methods| methods.requests),
            Direction::Answer => self.setting.own_method(rule, |methods| methods.answers),
        }
    }

    fn detector(&self, selection: RuleSelection) -> Result<Detector, String> {
        let mut made = self.detectors.borrow_mut();
        if let Some((_, detector)) = made.iter().find(|(of, _)| *of == selection) {
            return Ok(detector.clone());
        }
        let detector = Detector::new(&self.catalogue, &selection).map_err(|error| error.to_string())?;
        made.push((selection, detector.clone()));
        Ok(detector)
    }
}

/// The thresholds of rules that only analyzers report.
pub(super) fn reported_floors(catalogue: &Catalogue) -> impl Iterator<Item = (RuleId, f32)> {
    let reported = |(id, rule): (RuleId, &Rule)| rule.is_reported().then(|| (id, rule.threshold()));
    catalogue.ids().zip(catalogue.rules()).filter_map(reported)
}

fn method(setting: Setting) -> Method {
    match setting {
        Setting::Encrypt => Method::Encrypt,
        Setting::Replace => Method::Replace,
        Setting::Mask => Method::Mask,
        Setting::Hash => Method::Digest,
        Setting::Block => Method::Block,
        // What is allowed is not looked for.
        Setting::Report | Setting::Allow => Method::DetectOnly,
    }
}

/// In which URLs values are restored.
pub(super) fn urls(setting: &Redact) -> UrlRules {
    UrlRules {
        texts: setting.restore_in_urls.as_deref().copied(),
        arguments: setting.restore_in_tool_urls.as_deref().copied().unwrap_or_default(),
    }
}

/// What a redactor does with each rule's findings, in a word.
pub(super) fn actions(redactor: Option<&Redactor>, catalogue: &Catalogue) -> Arc<[&'static str]> {
    let word = |rule| redactor.map_or("allow", |redactor| redactor.method(rule).word());
    catalogue.names().zip(0..).map(|(_, rule)| word(RuleId::new(rule))).collect()
}
