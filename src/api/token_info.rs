//! What is known of a token, and why one is not accepted.

use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::crypto::random::RandomError;
use crate::store::StoreError;

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Redaction of text and documents, and its undoing.
    Redact,
    /// Cleaning of files.
    Sanitize,
    /// Keys, secrets and signatures.
    Vault,
    /// Storage of files.
    Share,
}

impl Service {
    /// Every service.
    pub const ALL: [Self; 4] = [Self::Redact, Self::Sanitize, Self::Vault, Self::Share];

    /// Its name in URLs, settings and rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Redact => "redact",
            Self::Sanitize => "sanitize",
            Self::Vault => "vault",
            Self::Share => "share",
        }
    }

    /// The service of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|service| service.as_str() == name)
    }
}

impl std::fmt::Display for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a token was not accepted, made or found. Whoever presents one is told only "not authorized"; which of the
/// reasons it was is for the log.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// No such token.
    #[error("no such token")]
    Unknown,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// It was revoked.
    #[error("the token was revoked")]
    Revoked,
    /// A token's name has 1 to [`MAX_NAME`] bytes and no control characters.
    #[error("a token's name has 1 to {MAX_NAME} bytes and no control characters")]
    Name,
    /// A route's name has 1 to [`MAX_NAME`] bytes and no control characters, as in a configuration.
    #[error("a route's name has 1 to {MAX_NAME} bytes and no control characters")]
    Route,
    /// A new token would have expired already.
    #[error("the token would have expired already")]
    Past,
    /// Neither a duration nor a date.
    #[error(
        "give a duration like 30d, 12h or 90m, or a date like 2027-01-31, or a time like 2027-01-31T12:00:00Z"
    )]
    Expiry,
    /// A row that cannot be read.
    #[error("a token's row cannot be read; it may be from a later version of this program")]
    Row,
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Longest name of a token, in bytes.
pub const MAX_NAME: usize = 128;

/// What is known of a token. The token itself isn't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenInfo {
    /// Names it in lists and for revocation; tells nothing about the token.
    pub id: TokenId,
    /// For the operator to know it by.
    pub name: String,
    /// The services it may use; `None` for all.
    pub services: Option<Vec<Service>>,
    /// The names of the routes it may pass; `None` for all.
    pub routes: Option<Vec<String>>,
    /// The ids of the configs it may use; empty for all.
    pub configs: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ceases to be accepted, if ever.
    pub expires: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked: Option<Timestamp>,
}

impl TokenInfo {
    pub(super) fn usable(&self, now: Timestamp) -> Result<(), TokenError> {
        match (self.revoked, self.expires) {
            (Some(_), _) => Err(TokenError::Revoked),
            (None, Some(at)) if at <= now => Err(TokenError::Expired),
            _ => Ok(()),
        }
    }
}

/// Whether a token or a route may be called so.
pub(super) fn is_name(name: &str) -> bool {
    !(name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control))
}
