//! [`KeyOrigin`]: where a master key was taken from.

use std::fmt;
use std::path::PathBuf;

/// Where a master key was taken from, as errors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOrigin {
    /// The file of this name.
    File(PathBuf),
    /// Text handed in by the operator.
    Given,
    /// The output of this program.
    Command(String),
    /// A passphrase.
    Passphrase,
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "the key in {}", path.display()),
            Self::Given => f.write_str("the key given by the configuration"),
            Self::Command(program) => write!(f, "the key that {program} wrote"),
            Self::Passphrase => f.write_str("the key that the passphrase makes"),
        }
    }
}
