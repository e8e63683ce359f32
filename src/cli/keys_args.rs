//! What can be said after `portcullis keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// List keys and secrets, never what is secret of them.
    List {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Show a key or secret with its versions, never what is secret of it.
    Show {
        #[command(flatten)]
        key: KeyId,
        /// As a JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Make a key and print its id, and nothing else.
    Generate(GenerateArgs),
    /// Add a version, which signs and encrypts from now on, and print its number.
    Rotate {
        #[command(flatten)]
        key: KeyId,
        /// What becomes of the version before: deactivated, suspended or destroyed; if not said, what the key says.
        #[arg(long, value_name = "STATE")]
        previous_state: Option<String>,
    },
    /// Put a version into another state: active, deactivated, suspended, compromised or destroyed.
    State {
        #[command(flatten)]
        key: KeyId,
        /// The state.
        state: String,
        /// The version: its number, or -1 for the newest, -2 for the one before.
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        version: Option<String>,
    },
    /// Print public keys.
    Public {
        #[command(flatten)]
        key: KeyId,
        /// As a set of JSON Web Keys (RFC 7517).
        #[arg(long, conflicts_with = "pem")]
        jwk: bool,
        /// As PEM (SPKI, RFC 7468), which is what is printed if nothing is said.
        #[arg(long)]
        pem: bool,
        /// The version: its number, -1 for the newest, or `all`.
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        version: Option<String>,
    },
    /// Print a version of a key: the public part, or with `--secret` the private one.
    Export {
        #[command(flatten)]
        key: KeyId,
        /// Print what is secret: a private key as PEM (PKCS #8), a symmetric one as base64, a secret as it is. The key
        /// must be exportable, and in a state that allows it.
        #[arg(long, requires = "confirm")]
        secret: bool,
        /// Say that the secret may be printed.
        #[arg(long)]
        confirm: bool,
        /// The version: its number, or -1 for the newest.
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        version: Option<String>,
    },
    /// Remove a key or secret with all its versions, for good.
    Delete {
        #[command(flatten)]
        key: KeyId,
    },
    /// Put another master key in place of the one in use; gateways may be running.
    ///
    /// What is sealed is sealed anew, row by row. Both keys open the store until all is done, then the old one is
    /// dropped. Stopped in the middle, the same command goes on.
    RotateMaster(RotateMasterArgs),
}

/// Which key is meant.
#[derive(Debug, Args)]
pub(super) struct KeyId {
    /// Its id, as `keys list` shows it (pvi_…).
    pub(super) id: String,
}

#[derive(Debug, Args)]
pub(super) struct GenerateArgs {
    /// What for: ES256, ES384, ES512, EdDSA, RS256, PS256, HS256 and so on, or AES-FF1-128 and AES-FF1-256 for
    /// format-preserving encryption.
    #[arg(long, value_name = "ALGORITHM")]
    pub(super) algorithm: String,
    /// For you to know it by; made up, if not said.
    #[arg(long)]
    pub(super) name: Option<String>,
    /// The folder it lies in, such as /teams/billing.
    #[arg(long, value_name = "PATH")]
    pub(super) folder: Option<String>,
    /// Whether what is secret of it may be handed out.
    #[arg(long)]
    pub(super) exportable: bool,
    /// How often it is rotated by itself: 30d, 12h, never; if not said, as its folder says.
    #[arg(long, value_name = "TIME")]
    pub(super) rotate_every: Option<String>,
}

/// Where the new master key is; if nothing is said, it is made and put into the data folder.
#[derive(Debug, Args)]
#[group(multiple = true)]
pub(super) struct RotateMasterArgs {
    #[command(flatten)]
    pub(super) source: NewSource,
    /// Leave the old master key valid, as the first run does anyway where the configuration names the key; the same command without
    /// this drops it.
    #[arg(long, requires = "NewSource")]
    pub(super) keep_old: bool,
}

/// Where the new master key is.
#[derive(Debug, Args)]
#[group(multiple = false, id = "NewSource")]
pub(super) struct NewSource {
    /// A file that only you may read.
    #[arg(long, value_name = "FILE")]
    pub(super) new_file: Option<PathBuf>,
    /// An environment variable.
    #[arg(long, value_name = "NAME")]
    pub(super) new_env: Option<String>,
    /// A program and its arguments, run without a shell: the rest of the command line.
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true)]
    pub(super) new_command: Option<Vec<String>>,
    /// A passphrase in a file that only you may read.
    #[arg(long, value_name = "FILE")]
    pub(super) new_passphrase_file: Option<PathBuf>,
    /// A passphrase in an environment variable.
    #[arg(long, value_name = "NAME")]
    pub(super) new_passphrase_env: Option<String>,
}
