//! [`ConsoleState`]: what the console is told of configurations; nothing, in a program without one.

#[cfg(feature = "console")]
use std::sync::Arc;

use crate::app::error::AppError;
use crate::base::clock::Timestamp;
use crate::config::Config;
#[cfg(feature = "console")]
use crate::console::RunningConfig;

/// What the console is told.
#[derive(Default)]
pub(super) struct ConsoleState {
    #[cfg(feature = "console")]
    pub(super) running: Arc<RunningConfig>,
}

#[cfg(feature = "console")]
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

#[cfg(not(feature = "console"))]
impl ConsoleState {
    /// Nobody asks.
    pub(super) fn loaded(&self, _: &Config, _: &'static str, _: Timestamp) {}

    /// Nobody asks.
    pub(super) fn refused(&self, _: &AppError, _: &'static str, _: Timestamp) {}
}
