//! The configuration that a command works with.

use std::path::Path;

use crate::app::{AppError, Source, log_warnings};
use crate::cli::args::{Here, StoreArgs};
use crate::config::{Config, Needs, Options};

/// The configuration that says where the data folder is.
pub(super) fn placed(place: &StoreArgs, needs: Needs) -> Result<Config, AppError> {
    found(place.config_file.as_deref(), place.data.as_deref(), needs)
}

/// The same of a command that has no commands of its own.
pub(super) fn here(here: &Here, needs: Needs) -> Result<Config, AppError> {
    found(here.config.as_deref(), here.data.as_deref(), needs)
}

/// The configuration in a file, or the one of this data folder without a file.
pub(super) fn found(config: Option<&Path>, data: Option<&Path>, needs: Needs) -> Result<Config, AppError> {
    // What a master key's command complains about is logged.
    log_warnings();
    let source = match config {
        Some(path) => Source::File(path.to_owned()),
        None => Source::Options(Options { data: data.map(Path::to_owned), ..Options::default() }),
    };
    source.load_for(needs)
}
