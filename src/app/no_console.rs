//! What stands for the console in a program that was built without it.

use std::sync::Arc;

use crate::app::error::AppError;
use crate::app::services::Services;
use crate::base::clock::Timestamp;
use crate::config::Config;
use crate::gateway::route::Route;

/// What the console would be told.
#[derive(Default)]
pub(super) struct ConsoleState;

impl ConsoleState {
    /// Nobody asks.
    pub(super) fn loaded(&self, _: &Config, _: &'static str, _: Timestamp) {}

    /// Nobody asks.
    pub(super) fn refused(&self, _: &AppError, _: &'static str, _: Timestamp) {}
}

/// There is none.
pub(super) fn route(_: &Config, _: &Arc<Services>) -> Result<Option<Arc<Route>>, AppError> {
    Ok(None)
}
