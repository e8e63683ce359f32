//! [`AppError`]: why the process cannot do what it is told to.

use std::path::{Path, PathBuf};

use crate::base::id::ItemId;
use crate::store::StoreError;
use crate::telemetry::MetricsError;
use crate::vault::VaultError;

/// Why the process cannot do what it is told to.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The configuration.
    #[error("{0}")]
    Config(#[from] crate::config::Problems),
    /// The store.
    #[error("{}", located(.path, .error))]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: StoreError,
    },
    /// The store, where it is a database: its address may hold a password, so only the setting is named.
    #[error("store.url: {0}")]
    Database(StoreError),
    /// The bucket for files.
    #[error("blobs.s3: the bucket `{bucket}`: {error}")]
    Bucket {
        /// What it is called.
        bucket: String,
        /// What is wrong with it.
        error: StoreError,
    },
    /// Limits.
    #[error("limits.shared: {0}")]
    Limits(String),
    /// The vault.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The rules.
    #[error("rules: {0}")]
    Rules(String),
    /// Whom sanitizing asks.
    #[error("sanitize: {0}")]
    Sanitize(String),
    /// Tokens.
    #[error(transparent)]
    Token(#[from] crate::api::token::TokenError),
    /// Sockets.
    #[error(transparent)]
    Listen(#[from] crate::gateway::listen::ListenError),
    /// The description of the API.
    #[error(transparent)]
    Described(#[from] crate::api::openapi::Malformed),
    /// Metrics.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// A route cannot be built as configured; which, and why.
    #[error("route {0}: {1}")]
    Route(String, String),
    /// A key cannot be shown; which, and why.
    #[error("jwks: {0} {1}")]
    PublicKeys(ItemId, &'static str),
    /// Reading or writing.
    #[error("{0}")]
    Io(String),
    /// Another process cannot be succeeded.
    #[error("upgrade: {0}")]
    Upgrade(String),
    /// The command line names something that is not there.
    #[error("{0}")]
    Usage(String),
    /// Whoever reads our output has had enough.
    #[error("the reader left")]
    Pipe,
    /// Text cannot be redacted or restored.
    #[error("{0}")]
    Redact(String),
}

/// An error of the store with its path, once.
fn located(path: &Path, error: &StoreError) -> String {
    match error {
        StoreError::File { .. } => error.to_string(),
        other => format!("{}: {other}", path.display()),
    }
}
