//! [`Engines`]: rules compiled as somebody chose them. Compiling takes a second of a processor, so the last few are kept, and one is
//! compiled at a time.

use std::sync::{Arc, Mutex, PoisonError};

use crate::api::{Caller, CpuPool, CpuTask, PoolError};
use crate::config::Config;
use crate::console::address::address;
use crate::console::playground::request::PlaygroundChoice;
use crate::console::playground::route_redactor::{RouteRedactor, RouteRedactors};
use crate::console::running::RunningConfig;
use crate::detect::{Allow, Catalogue, Detector, RuleError, RuleFile, RuleSelection};
use crate::redact::Redactor;

/// What is kept of choices without rules of their own: a detector is a choice of rules on an engine of all.
const PLAIN: usize = 16;

/// What is kept of choices with rules of their own, each with an engine of some twenty MiB.
const OWN: usize = 3;

/// The most rules of somebody's own.
const MOST: usize = 50;

/// What rules of one's own are called where they are wrong.
const ORIGIN: &str = "your rules";

/// Rules ready to look.
pub(super) struct PlaygroundEngine {
    /// Looks.
    pub(super) detector: Detector,
    /// Redacts as a route of the configuration, if one was chosen.
    pub(super) route: Option<Redactor>,
    /// The rules there are.
    pub(super) catalogue: Catalogue,
    /// What passes though a rule finds it.
    pub(super) allow: Allow,
    /// Where callers reach the gateway.
    pub(super) address: String,
}

/// Why there is no engine.
#[derive(Debug)]
pub(super) enum EngineError {
    /// Nothing runs yet.
    Starting,
    /// Too much is asked at once.
    Busy,
    /// What is wrong with rules of one's own.
    Rules(Vec<String>),
    /// Why a route has none.
    Route(String),
}

impl From<PoolError> for EngineError {
    fn from(_: PoolError) -> Self {
        Self::Busy
    }
}

/// What an engine was made of.
#[derive(Clone, PartialEq)]
struct EngineKey {
    route: Option<String>,
    only: Option<String>,
    sets: Vec<String>,
    rules: String,
    model: bool,
}

impl EngineKey {
    fn of(choice: &PlaygroundChoice) -> Self {
        let mut sets = choice.sets.clone();
        sets.sort_unstable();
        sets.dedup();
        let rules = if choice.rules.trim().is_empty() { String::new() } else { choice.rules.clone() };
        Self { route: choice.route.clone(), only: choice.only.clone(), sets, rules, model: choice.model }
    }

    fn is_own(&self) -> bool {
        !self.rules.is_empty()
    }
}

/// What is kept, of one configuration.
#[derive(Default)]
struct CachedEngine {
    config: Option<Arc<Config>>,
    made: Vec<(EngineKey, Arc<PlaygroundEngine>)>,
}

/// The last few.
pub(super) struct Engines {
    running: Arc<RunningConfig>,
    cpu: CpuPool,
    routes: RouteRedactors,
    kept: Mutex<CachedEngine>,
    /// Held by whoever compiles.
    compiling: tokio::sync::Mutex<()>,
}

impl Engines {
    /// None yet.
    pub(super) fn new(running: Arc<RunningConfig>, cpu: CpuPool, routes: RouteRedactors) -> Self {
        Self { running, cpu, routes, kept: Mutex::default(), compiling: tokio::sync::Mutex::default() }
    }

    /// What runs.
    pub(super) fn config(&self) -> Option<Arc<Config>> {
        self.running.config()
    }

    /// The engine of a choice, by the configuration that runs.
    ///
    /// # Errors
    /// [`EngineError`].
    pub(super) async fn of(
        &self,
        choice: &PlaygroundChoice,
        caller: &Caller,
    ) -> Result<Arc<PlaygroundEngine>, EngineError> {
        let config = self.config().ok_or(EngineError::Starting)?;
        let key = EngineKey::of(choice);
        if let Some(engine) = self.known(&config, &key) {
            return Ok(engine);
        }
        let _turn = self.compiling.lock().await;
        // Whoever was before may have made it.
        if let Some(engine) = self.known(&config, &key) {
            return Ok(engine);
        }
        let (of, wanted, routes) = (Arc::clone(&config), key.clone(), self.routes);
        let job = CpuTask { caller: caller.clone(), bytes: usize::MAX };
        let made = self.cpu.run(job, move |_| match &wanted.route {
            Some(route) => along(&of, route, routes).map_err(EngineError::Route),
            None => made(&of, &wanted).map_err(EngineError::Rules),
        });
        let engine = Arc::new(made.await??);
        self.keep(&config, key, &engine);
        Ok(engine)
    }

    fn known(&self, config: &Arc<Config>, key: &EngineKey) -> Option<Arc<PlaygroundEngine>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.config.as_ref().is_some_and(|known| Arc::ptr_eq(known, config)) {
            *kept = CachedEngine { config: Some(Arc::clone(config)), made: Vec::new() };
            return None;
        }
        let at = kept.made.iter().position(|(known, _)| known == key)?;
        // The one used last stays longest.
        let found = kept.made.remove(at);
        let engine = Arc::clone(&found.1);
        kept.made.push(found);
        Some(engine)
    }

    fn keep(&self, config: &Arc<Config>, key: EngineKey, engine: &Arc<PlaygroundEngine>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.config.as_ref().is_some_and(|known| Arc::ptr_eq(known, config)) {
            return;
        }
        let (own, most) = (key.is_own(), if key.is_own() { OWN } else { PLAIN });
        let same = kept.made.iter().filter(|(known, _)| known.is_own() == own).count();
        if same >= most
            && let Some(first) = kept.made.iter().position(|(known, _)| known.is_own() == own)
        {
            kept.made.remove(first);
        }
        kept.made.push((key, Arc::clone(engine)));
    }
}

/// As requests along a route of the configuration.
fn along(config: &Config, name: &str, redactors: RouteRedactors) -> Result<PlaygroundEngine, String> {
    let route = config.routes.iter().find(|route| route.name.as_str() == name);
    let route = route.ok_or("The configuration has no such route any more. Load the page anew.")?;
    let RouteRedactor { redactor, catalogue } =
        redactors(config, route)?.ok_or("This route leaves requests as they are.")?;
    let detector = redactor.detector().clone();
    let (allow, address) = (config.allow.clone(), address(config));
    Ok(PlaygroundEngine { detector, route: Some(redactor), catalogue, allow, address })
}

fn made(config: &Config, key: &EngineKey) -> Result<PlaygroundEngine, Vec<String>> {
    let mut catalogue = config.catalogue.clone();
    if !key.model {
        catalogue = catalogue.reading_names(None);
    }
    let before = catalogue.rules().count();
    if key.is_own() {
        extend(&mut catalogue, &key.rules)?;
    }
    let sets = key.sets.iter().map(String::as_str);
    let mut selection = match &key.only {
        None => RuleSelection::sets(&catalogue, sets).map_err(|error| vec![error.to_string()])?,
        Some(rule) => RuleSelection::only(&catalogue, [rule.as_str()])
            .map_err(|_| vec!["There is no rule of that name.".to_owned()])?,
    };
    // Rules of one's own are on.
    catalogue.ids().skip(before).for_each(|rule| selection.insert(rule));
    let wrong = |error: RuleError| vec![error.fault.to_string()];
    let defaults = RuleSelection::defaults(&catalogue);
    // The default rules have an engine of their own already; all others share the one of all rules, as calls of the API do.
    let detector = match key.is_own() || selection == defaults {
        true => Detector::new(&catalogue, &selection),
        false => Detector::new(&catalogue, &defaults).and_then(|detector| detector.with(selection)),
    };
    let (detector, address) = (detector.map_err(wrong)?, address(config));
    Ok(PlaygroundEngine { detector, route: None, catalogue, allow: config.allow.clone(), address })
}

/// Adds rules of one's own.
fn extend(catalogue: &mut Catalogue, rules: &str) -> Result<(), Vec<String>> {
    let file = RuleFile { name: ORIGIN, toml: rules };
    // First by themselves, which takes a moment however many there are.
    let mut alone = Catalogue::empty();
    let said = |faults: Vec<RuleError>| {
        let placed = faults.iter().take(20).map(|fault| fault.placed(rules));
        placed.collect::<Vec<String>>()
    };
    alone.extend_with(&[file], Vec::new()).map_err(said)?;
    let count = alone.rules().count();
    if count > MOST {
        return Err(vec![format!("{ORIGIN}: these are {count} rules; the playground takes {MOST}")]);
    }
    catalogue.extend_with(&[file], Vec::new()).map_err(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_own_rules_have_their_places() {
        let mut catalogue = Catalogue::builtin().unwrap();
        let before = catalogue.rules().count();
        let rule = |name: &str| format!("[[rule]]\nname = \"{name}\"\nliterals = [\"Project Heron\"]\n");
        let cases = [
            ("[[rule]\n".to_owned(), "your rules:1:"),
            (
                format!(
                    "{}\n[[rule]]\nname = \"SLOW\"\npatterns = [{{ regex = '(x{{0,500}}){{0,100}}y' }}]\n",
                    rule("HERON")
                ),
                "your rules:5: ",
            ),
            (
                "[[rule]]\nname = \"SLOW\"\npatterns = [{ regex = '(a+)+b', extra = 1 }]\n".to_owned(),
                "your rules:",
            ),
            (rule("EMAIL_ADDRESS"), "your rules:1: another rule"),
            ((0..=MOST).map(|n| rule(&format!("HERON_{n}"))).collect(), "your rules: these are 51 rules"),
            (format!("{}matches = [\"ask\"]\n", rule("HERON")), "your rules:1: example 1"),
        ];
        for (rules, starts) in cases {
            let faults = extend(&mut catalogue, &rules).unwrap_err();
            assert!(faults.iter().any(|fault| fault.starts_with(starts)), "{starts}: {faults:?}");
            assert_eq!(catalogue.rules().count(), before);
        }
        extend(&mut catalogue, &rule("HERON")).unwrap();
        assert!(catalogue.find("HERON").is_some());
    }
}
