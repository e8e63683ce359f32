//! The console on the listener for metrics and health.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

use crate::app::admin;
use crate::app::cleaning::{self, CleaningOutcome, CleaningRequest, FileCleaning, Released};
use crate::app::configured_providers::ConfiguredProviders;
use crate::app::error::AppError;
use crate::app::policy::RoutePolicy;
use crate::app::services::Services;
use crate::base::clock::SharedClock;
use crate::config::{Config, settings};
use crate::console::{CleanFile, Cleaner, FileToClean, NotCleaned, RouteRedactor};
use crate::console::{Console, ConsoleParts, Figures, History, Hosts, sample};
use crate::gateway::route::Route;
use crate::gateway::terminal::Terminal;
use crate::sanitize::scan::ScanItem;
use crate::sanitize::{Options, RedactionMode};
use crate::telemetry::Series;

/// The largest request to the console, in bytes: a file to clean.
const LARGEST: usize = 17 << 20;

impl Figures for Services {
    fn series(&self) -> Vec<Series> {
        let levels = self.levels();
        self.metrics.series(levels)
    }
}

/// The route to the console, where there is to be one: on an address that only this machine reaches, unless the settings say
/// otherwise. From then on figures and requests are kept for it.
///
/// # Errors
/// A route that cannot be, which would be a bug here.
pub(super) fn route(config: &Config, parts: &Arc<Services>) -> Result<Option<Arc<Route>>, AppError> {
    let Some(admin) = config.admin.as_ref().filter(|admin| admin.has_console()) else { return Ok(None) };
    let clock = &parts.opened.clock;
    let history = Arc::new(History::new(clock.now()));
    let recent = Arc::clone(parts.access.recent());
    recent.keep();
    let services: Weak<Services> = Arc::downgrade(parts);
    parts.opened.io.spawn(sample(services, Arc::downgrade(&history), Arc::clone(clock)));
    let console = Console::new(ConsoleParts {
        hosts: Hosts::new(admin.hosts.iter().map(|host| host.as_str())),
        port: admin.address.port(),
        secure: admin.tls.is_some(),
        tokens: Arc::clone(&parts.opened.tokens),
        changes: parts.changes(),
        ledger: Arc::clone(&parts.ledger),
        records: Arc::clone(&parts.opened.records),
        running: Arc::clone(&parts.console.running),
        items: parts.items.clone(),
        cpu: parts.cpu.clone(),
        history,
        recent,
        clock: Arc::clone(clock),
        cleaner: Arc::new(FileCleaner::new(Arc::clone(clock))),
        route_redactors,
    });
    admin::bounded(parts, "console", Terminal::Native(Arc::new(console)), Vec::new(), LARGEST).map(Some)
}

/// What looks through the requests along a route, but for what analyzers report.
fn route_redactors(config: &Config, route: &settings::Route) -> Result<Option<RouteRedactor>, String> {
    let Some(setting) = &route.redact else { return Ok(None) };
    let policy = RoutePolicy::new(setting, &config.catalogue, &config.allow)?;
    let catalogue = policy.catalogue().clone();
    Ok(policy.requests()?.map(|redactor| RouteRedactor { redactor, catalogue }))
}

/// From which score on links in files are defanged, as where a call of the API does not say.
const DEFANGED: u8 = 30;

/// A configuration, and whom it asks about files.
type CleanerSettings = (Arc<Config>, ConfiguredProviders);

/// Cleans the console's files, one at a time.
struct FileCleaner {
    clock: SharedClock,
    turn: Semaphore,
    asked: Mutex<Option<CleanerSettings>>,
}

impl FileCleaner {
    fn new(clock: SharedClock) -> Self {
        Self { clock, turn: Semaphore::new(1), asked: Mutex::default() }
    }

    /// Whom a configuration asks about files: read once, since it reads rules and feeds.
    async fn providers(&self, config: &Arc<Config>) -> Result<ConfiguredProviders, AppError> {
        let known = self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, providers)) = known.filter(|(of, _)| Arc::ptr_eq(of, config)) {
            return Ok(providers);
        }
        let (of, clock) = (Arc::clone(config), Arc::clone(&self.clock));
        let read = tokio::task::spawn_blocking(move || ConfiguredProviders::new(&of.sanitize, &clock)).await;
        let providers = read.map_err(|error| AppError::Io(error.to_string()))??;
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((Arc::clone(config), providers.clone()));
        Ok(providers)
    }

    async fn cleaned(&self, config: &Arc<Config>, file: &FileToClean) -> Result<CleaningOutcome, AppError> {
        let _turn = self.turn.acquire().await.map_err(|error| AppError::Io(error.to_string()))?;
        let providers = self.providers(config).await?;
        let redaction = if file.redacts { RedactionMode::Apply } else { RedactionMode::Off };
        let options =
            Options { redaction, policy: cleaning::release_policy(&config.sanitize), ..Options::default() };
        let wish = CleaningRequest { options, threshold: DEFANGED, block_unable: false, password: None };
        let cleaning = FileCleaning::new(config, &providers, wish)?;
        cleaning.clean(ScanItem { name: &file.name, bytes: file.bytes.clone() }).await
    }
}

impl Cleaner for FileCleaner {
    fn clean<'c>(
        &'c self,
        config: &'c Arc<Config>,
        file: FileToClean,
    ) -> BoxFuture<'c, Result<CleanFile, NotCleaned>> {
        Box::pin(async move {
            match self.cleaned(config, &file).await {
                Ok(CleaningOutcome::Released(Released { kind, bytes, name, summary, data })) => {
                    Ok(CleanFile {
                        name: name.unwrap_or(file.name),
                        kind: serde_json::to_value(kind)
                            .ok()
                            .and_then(|kind| kind.as_str().map(str::to_owned))
                            .unwrap_or_default(),
                        bytes,
                        summary,
                        data,
                    })
                }
                Ok(CleaningOutcome::Refused(refused)) => Err(NotCleaned::Refused(refused.why.into_owned())),
                Err(AppError::Sanitize(why)) => Err(NotCleaned::Refused(why)),
                Err(error) => {
                    tracing::error!(target: "portcullis::console", "a file cannot be cleaned: {error}");
                    Err(NotCleaned::Unavailable)
                }
            }
        })
    }
}
