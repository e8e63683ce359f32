//! What stands for the console in a program that was built without it.

use std::sync::Arc;

use crate::app::error::AppError;
use crate::app::services::Services;
use crate::config::Config;
use crate::gateway::route::Route;

/// There is none.
pub(super) fn route(_: &Config, _: &Arc<Services>) -> Result<Option<Arc<Route>>, AppError> {
    Ok(None)
}
