//! The console on the listener for metrics and health.

use std::sync::{Arc, Weak};

use crate::app::admin;
use crate::app::error::AppError;
use crate::app::services::Services;
use crate::base::clock::Timestamp;
use crate::config::Config;
use crate::console::{Console, ConsoleParts, Figures, History, Hosts, Running, sample};
use crate::gateway::route::Route;
use crate::gateway::terminal::Terminal;
use crate::telemetry::Series;

/// The largest request to the console, in bytes: a file to clean.
const LARGEST: usize = 17 << 20;

/// What the console is told.
#[derive(Default)]
pub(super) struct ConsoleState {
    running: Arc<Running>,
}

impl ConsoleState {
    /// This configuration is in use from now on.
    pub(super) fn loaded(&self, config: &Config, why: &'static str, at: Timestamp) {
        self.running.loaded(config.clone(), why, at);
    }

    /// Another one could not be used.
    pub(super) fn refused(&self, error: &AppError, why: &'static str, at: Timestamp) {
        self.running.refused(error.to_string(), why, at);
    }
}

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
    });
    admin::bounded(parts, "console", Terminal::Native(Arc::new(console)), Vec::new(), LARGEST).map(Some)
}
