//! [`Source`]: where the configuration comes from.

use std::path::PathBuf;

use crate::app::parts::{AppError, builtin};
use crate::config::{Config, Known, Options, ProcessEnv, embedded, load, reload};

/// Where the configuration comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// This file; read again on SIGHUP.
    File(PathBuf),
    /// The command line.
    Options(Options),
}

impl Source {
    /// Loads and checks it.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn load(&self) -> Result<Config, AppError> {
        let rules = builtin()?;
        Ok(match self {
            Self::File(path) => load(path, &ProcessEnv, &rules)?,
            Self::Options(options) => embedded(options, &ProcessEnv, &rules)?,
        })
    }

    /// The same while a configuration with the rules `known` runs; and the files to look at for a change of it, where
    /// that is known.
    pub(super) fn reload(&self, known: &Known) -> (Result<Config, AppError>, Vec<PathBuf>) {
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
