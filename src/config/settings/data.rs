//! The vault's settings.

use serde::Deserialize;

use crate::config::{Spanned, Supplied};

/// `[vault]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Vault {
    /// The key that seals all others, as base64 or hex text, from the environment or a file; a literal is refused.
    /// `None`: the vault keeps its own in `<data>/master.key`, made at the first start.
    pub master_key: Option<Spanned<Supplied>>,
    /// A program and its arguments, run without a shell, that writes the master key to its standard output.
    pub master_key_command: Option<Spanned<Vec<String>>>,
    /// What the master key is made from with Argon2id, from the environment or a file; a literal is refused.
    pub passphrase: Option<Spanned<Supplied>>,
}
