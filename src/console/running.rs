//! [`RunningConfig`]: the configuration that runs, and what came of the attempts to change it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::clock::Timestamp;
use crate::config::Config;

/// Attempts that are remembered.
const REMEMBERED: usize = 50;

/// An attempt to go on with another configuration.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// When.
    pub at: Timestamp,
    /// What made the gateway try: the start, a signal, a changed file.
    pub why: &'static str,
    /// Why it goes on as before; `None` where it does not.
    pub failed: Option<String>,
}

#[derive(Default)]
struct LoadedConfig {
    config: Option<Arc<Config>>,
    attempts: VecDeque<Attempt>,
}

/// What runs. Told by the process, read by pages.
#[derive(Default)]
pub struct RunningConfig(Mutex<LoadedConfig>);

impl RunningConfig {
    /// This configuration is in use from now on.
    pub fn loaded(&self, config: Config, why: &'static str, at: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.config = Some(Arc::new(config));
        remember(&mut known.attempts, Attempt { at, why, failed: None });
    }

    /// Another one could not be used.
    pub fn refused(&self, problems: String, why: &'static str, at: Timestamp) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remember(&mut known.attempts, Attempt { at, why, failed: Some(problems) });
    }

    /// What is in use.
    pub(super) fn config(&self) -> Option<Arc<Config>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).config.clone()
    }

    /// The attempts, the last one first.
    pub(super) fn attempts(&self) -> Vec<Attempt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).attempts.iter().rev().cloned().collect()
    }
}

fn remember(attempts: &mut VecDeque<Attempt>, attempt: Attempt) {
    if attempts.len() >= REMEMBERED {
        attempts.pop_front();
    }
    attempts.push_back(attempt);
}
