//! [`ConfigSource`]: where the configuration comes from.

use std::path::PathBuf;

use crate::app::error::AppError;
use crate::app::services::builtin;
use crate::config::{
    CompiledRules, Config, Options, ProcessEnv, Requirements, embedded, load_for, log_format, reload,
};
use crate::telemetry::LogFormat;

/// Where the configuration comes from.
#[derive(Clone, Debug)]
pub enum ConfigSource {
    /// This file; read again on SIGHUP.
    File(PathBuf),
    /// The command line.
    Options(Options),
}

impl ConfigSource {
    /// Loads and checks it.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn load(&self) -> Result<Config, AppError> {
        self.load_for(Requirements::ALL)
    }

    /// The same, for a purpose that does not need all that it points to.
    ///
    /// # Errors
    /// As [`ConfigSource::load`].
    pub fn load_for(&self, needs: Requirements) -> Result<Config, AppError> {
        let rules = builtin()?;
        Ok(match self {
            Self::File(path) => load_for(needs, path, &ProcessEnv, &rules)?,
            Self::Options(options) => embedded(options, &ProcessEnv, &rules)?,
        })
    }

    /// How it wants the log to look, as far as that can be made out.
    pub(super) fn log_format(&self) -> LogFormat {
        match self {
            Self::File(path) => log_format(path).unwrap_or_default(),
            Self::Options(_) => LogFormat::default(),
        }
    }

    /// The same while a configuration with the rules `known` runs; and the files to look at for a change of it, where
    /// that is known.
    pub(super) fn reload(&self, known: &CompiledRules) -> (Result<Config, AppError>, Vec<PathBuf>) {
        match (self, builtin()) {
            (Self::File(path), Ok(rules)) => {
                let reading = reload(path, &ProcessEnv, &rules, known);
                (reading.outcome.map_err(AppError::from), reading.files)
            }
            (Self::File(path), Err(error)) => (Err(error), vec![path.clone()]),
            (Self::Options(_), _) => (self.load(), Vec::new()),
        }
    }
}
