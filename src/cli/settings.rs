//! The configuration that a command works with.

use std::path::Path;

use crate::app::{AppError, ConfigSource, log_warnings};
use crate::cli::args::{InstanceArgs, StoreArgs};
use crate::config::{Config, Options, Requirements};

/// The configuration that says where the data folder is.
pub(super) fn placed(place: &StoreArgs, needs: Requirements) -> Result<Config, AppError> {
    found(place.config_file.as_deref(), place.data.as_deref(), needs)
}

/// The same of a command that has no commands of its own.
pub(super) fn here(here: &InstanceArgs, needs: Requirements) -> Result<Config, AppError> {
    found(here.config.as_deref(), here.data.as_deref(), needs)
}

/// The configuration in a file, or the one of this data folder without a file.
pub(super) fn found(
    config: Option<&Path>,
    data: Option<&Path>,
    needs: Requirements,
) -> Result<Config, AppError> {
    // What a master key's command complains about is logged.
    log_warnings();
    let source = match config {
        Some(path) => ConfigSource::File(path.to_owned()),
        None => ConfigSource::Options(Options { data: data.map(Path::to_owned), ..Options::default() }),
    };
    source.load_for(needs)
}
