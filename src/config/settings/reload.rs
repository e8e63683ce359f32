//! When the file, and what it names, is read again.

use serde::Deserialize;

use crate::config::{Period, Spanned};

/// `[reload]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reload {
    /// Look at the configuration file and every file that it names, and reload as on SIGHUP when one has changed.
    /// Default on.
    pub watch: bool,
    /// How often. Default 2 s.
    pub every: Spanned<Period>,
}

impl Default for Reload {
    fn default() -> Self {
        Self { watch: true, every: Spanned::new(Period::secs(2)) }
    }
}
