//! The chain of a configuration, for a Pingora server of somebody else's.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::app::error::AppError;
use crate::app::serve::ConfigSource;
use crate::app::services::Services;
use crate::app::{metering, serve, table, upkeep};
use crate::gateway::embed::{Chain, choose_tls};

impl Chain {
    /// Reads a configuration and builds its chain: routes, filters, store and vault. Listeners and the admin address of
    /// the file are not used; the server has its own. Call it before the server runs, outside of any runtime.
    ///
    /// # Errors
    /// A file with mistakes, or a part that cannot be had.
    pub fn from_config(path: impl Into<PathBuf>) -> Result<Self, AppError> {
        choose_tls();
        let config = ConfigSource::File(path.into()).load()?;
        let mut parts = Services::new(&config)?;
        parts.embedded = true;
        let parts = Arc::new(parts);
        let built = parts.opened.io.block_on(table::build(&config, &parts))?;
        let routes = Arc::new(ArcSwap::from_pointee(built));
        if let Some(writer) = parts.opened.tokens.record_uses() {
            parts.opened.io.spawn(writer);
        }
        parts.copy_audit_log(&config)?;
        parts.opened.io.spawn(upkeep::keep(Arc::clone(&parts), config.clone()));
        parts.opened.io.spawn(metering::keep(Arc::clone(&parts)));
        // The server that listens is another, and whoever reaches `/readyz` has reached it.
        parts.ready.begin();
        let in_flight = parts.in_flight.clone();
        Ok(Self::new(serve::gateway(&config, &parts, routes, in_flight)))
    }
}
