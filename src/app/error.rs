//! [`AppError`]: why the process cannot do what it is told to.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::api::token::TokenError;
use crate::base::id::ItemId;
use crate::base::ordered_pool::JobPanic;
use crate::gateway::listen::ListenError;
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
    /// There is no store in the data folder.
    #[error("{}: there is no store here", .0.display())]
    NoStore(PathBuf),
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
    Described(#[from] crate::api::openapi::DescriptionError),
    /// Metrics.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// A route cannot be built as configured; which, and why.
    #[error("route {0}: {1}")]
    Route(String, String),
    /// A configuration without routes where there are some.
    #[error(
        "it has no routes, and the running configuration has some: is the file whole? A restart takes it as it is"
    )]
    NoRoutes,
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
    /// A thread that works on the input has failed.
    #[error(transparent)]
    Worker(#[from] JobPanic),
}

impl AppError {
    /// What can be done next, where the error does not say so itself: words for whoever is at the command line.
    pub fn tip(&self) -> Option<String> {
        let tip = match self {
            Self::Store { error, .. } | Self::Vault(VaultError::Store(error)) => store_tip(error)?,
            Self::NoStore(_) => {
                "name its folder with --data, or the file that names it with -c; `portcullis serve` and `portcullis tokens \
                 create` make one"
            }
            Self::Database(StoreError::Unavailable(_)) => {
                "is the database running, and does [store] have its address, user, password and `ca`?"
            }
            Self::Bucket { .. } => "does [blobs.s3] have the bucket's endpoint, region and keys?",
            Self::Token(TokenError::Unknown) => "`portcullis tokens list` shows the ids that there are",
            Self::Token(TokenError::Revoked | TokenError::Expired) => {
                "`portcullis tokens create --name NAME` makes another one"
            }
            Self::Token(TokenError::Store(error)) => store_tip(error)?,
            Self::Vault(VaultError::Unknown) => {
                "`portcullis keys list` shows the ids that there are, `portcullis keys show ID` the versions of one"
            }
            Self::Listen(ListenError::Bind { address, why }) => return bind_tip(*address, why.kind()),
            Self::Listen(ListenError::Certificate { .. }) => {
                "`portcullis check -c FILE` looks through all certificates without starting"
            }
            Self::Config(problems) => return problems.is_missing_file().then(|| MISSING_FILE.to_owned()),
            _ => return None,
        };
        Some(tip.to_owned())
    }
}

/// What can be done where there is no configuration file.
const MISSING_FILE: &str = "name yours with -c FILE; `portcullis serve` also runs without a file, with --listen, --upstream and --data";

fn store_tip(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        error if error.is_busy() => {
            "wait for the process that holds it, such as a backup, or end it; `fuser FILE` says which one it is"
        }
        StoreError::File { fault, .. } if fault.is(ErrorKind::PermissionDenied) => {
            "run it as the user whose gateway it is, such as `sudo -u portcullis portcullis …`, or name another folder \
             with --data"
        }
        StoreError::File { fault, .. } if fault.is(ErrorKind::AlreadyExists) => {
            "name a file that is not there yet"
        }
        _ => return None,
    })
}

fn bind_tip(address: SocketAddr, why: ErrorKind) -> Option<String> {
    Some(match why {
        ErrorKind::AddrInUse => format!(
            "another program has port {}; name another address with --listen or --admin, or in the configuration, or \
             take over from a gateway with --upgrade",
            address.port()
        ),
        ErrorKind::PermissionDenied => format!(
            "port {} takes the capability CAP_NET_BIND_SERVICE, which conf/portcullis.service shows; or name one above 1023",
            address.port()
        ),
        ErrorKind::AddrNotAvailable => {
            "this machine has no such address; 0.0.0.0 and [::] stand for all that it has".to_owned()
        }
        _ => return None,
    })
}

/// An error of the store with its path, once.
fn located(path: &Path, error: &StoreError) -> String {
    match error {
        StoreError::File { .. } => error.to_string(),
        other => format!("{}: {other}", path.display()),
    }
}
