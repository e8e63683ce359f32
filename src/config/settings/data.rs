//! The vault's settings.

use serde::Deserialize;

use crate::config::{At, Supplied};

/// `[vault]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vault {
    /// The key that seals all others, as base64 or hex text, from the environment or a file; a literal is refused.
    /// `None`: the vault keeps its own in `<data>/master.key`, made at the first start.
    pub master_key: Option<At<Supplied>>,
}
