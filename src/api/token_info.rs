//! What is known of a token, and why one is not accepted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::tenant::{Tenant, is_plain};
use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::base::rate::Rate;
use crate::crypto::random::RandomError;
use crate::store::StoreError;
use crate::usage::{ModelPattern, SpendBudget};

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
    /// Making, changing and ending tokens. Whoever may do that may do everything, so it must be named: a token that covers
    /// all services does not cover this one.
    Token,
    /// The console, and changes there. It must be named, too.
    Admin,
    /// The console, but to look only. It must be named, too.
    Viewer,
}

impl Service {
    /// Every service that a token covers which names none.
    pub const ALL: [Self; 4] = [Self::Redact, Self::Sanitize, Self::Vault, Self::Share];
    /// Those that a token of a tenant may cover, and covers if it names none: what the others keep is of all tenants.
    pub const OF_TENANTS: [Self; 3] = [Self::Redact, Self::Sanitize, Self::Share];
    /// Every service that a token can name.
    pub const NAMED: [Self; 7] =
        [Self::Redact, Self::Sanitize, Self::Vault, Self::Share, Self::Token, Self::Admin, Self::Viewer];

    /// Its name in URLs, settings and rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Redact => "redact",
            Self::Sanitize => "sanitize",
            Self::Vault => "vault",
            Self::Share => "share",
            Self::Token => "token",
            Self::Admin => "admin",
            Self::Viewer => "viewer",
        }
    }

    /// The service of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|service| service.as_str() == name)
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
    /// Labels are few and short.
    #[error(
        "a token has at most {MAX_LABELS} labels; a label's name has 1 to 64 small letters, digits, dots, hyphens and \
         underscores, its value 1 to {MAX_NAME} bytes and no control characters"
    )]
    Label,
    /// Bounds are few.
    #[error("a token has at most {MAX_BOUNDS} models and as many budgets")]
    Bounds,
    /// A label that a token of a tenant has by itself.
    #[error("the label `tenant` is that of a tenant's token: make one with --tenant")]
    TenantLabel,
    /// What only the operator has is not for a tenant's token.
    #[error(
        "a token of a tenant covers redact, sanitize and share at most: keys, tokens and the console are of all tenants"
    )]
    Tenant,
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

/// The most labels of a token.
pub(super) const MAX_LABELS: usize = 16;

/// The most models that a token names, and the most budgets that it has.
pub(super) const MAX_BOUNDS: usize = 64;

/// What a token is bound by, beside where it may go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenBounds {
    /// The models it may ask; `None` for all.
    pub models: Option<Vec<ModelPattern>>,
    /// What may be spent with it. Each has a name of its own: the unit it bounds.
    pub budgets: Vec<Arc<SpendBudget>>,
    /// How often it may be used, on all routes together.
    pub rate: Option<Rate>,
    /// What its caller is labelled with: a team, a user, a cost centre.
    pub labels: BTreeMap<String, String>,
}

impl TokenBounds {
    /// Whether there are few enough of each, and labels are such.
    pub(super) fn check(&self) -> Result<(), TokenError> {
        let own = usize::from(self.labels.contains_key(Tenant::LABEL));
        if self.labels.len() > MAX_LABELS + own
            || !self.labels.iter().all(|(name, value)| is_plain(name) && is_name(value))
        {
            return Err(TokenError::Label);
        }
        let models = self.models.as_ref().map_or(0, Vec::len);
        if models > MAX_BOUNDS || self.budgets.len() > MAX_BOUNDS { Err(TokenError::Bounds) } else { Ok(()) }
    }
}

/// What is known of a token. The token itself isn't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenInfo {
    /// Names it in lists and for revocation; tells nothing about the token.
    pub id: TokenId,
    /// For the operator to know it by.
    pub name: String,
    /// Whose data its caller works on; stays as it was made.
    pub tenant: Tenant,
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
    /// What it is bound by.
    pub bounds: TokenBounds,
}

impl TokenInfo {
    /// The services it covers.
    pub fn covered(&self) -> &[Service] {
        let all: &[Service] = if self.tenant.name().is_some() { &Service::OF_TENANTS } else { &Service::ALL };
        self.services.as_deref().unwrap_or(all)
    }

    /// Has its tenant in its labels, where budgets and the audit log look.
    pub(super) fn label_tenant(&mut self) {
        if let Some(name) = self.tenant.name() {
            self.bounds.labels.insert(Tenant::LABEL.to_owned(), name.to_owned());
        }
    }

    /// Whether a token may be so.
    pub(super) fn check(&self) -> Result<(), TokenError> {
        if !is_name(&self.name) {
            return Err(TokenError::Name);
        }
        if !self.routes.iter().flatten().all(|route| is_name(route)) {
            return Err(TokenError::Route);
        }
        if self.tenant.name().is_none() && self.bounds.labels.contains_key(Tenant::LABEL) {
            return Err(TokenError::TenantLabel);
        }
        let may_cover = |service| Service::OF_TENANTS.contains(service);
        if self.tenant.name().is_some() && !self.services.iter().flatten().all(may_cover) {
            return Err(TokenError::Tenant);
        }
        self.bounds.check()
    }

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

/// Reads when a token is to expire: a duration from now (`30d`, `12h`, `90m`), a date (its beginning in UTC), or
/// a time with an offset or `Z` (ISO 8601). It must lie after `now`.
pub fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, TokenError> {
    const UNITS: [(char, u64); 3] = [('d', 86_400), ('h', 3600), ('m', 60)];
    let number_of = |&(unit, seconds): &(char, u64)| Some((text.strip_suffix(unit)?, seconds));
    let at = match UNITS.iter().find_map(number_of) {
        Some((number, seconds)) => {
            let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            let number = number.parse::<u64>().ok().filter(|_| digits);
            let seconds = number.and_then(|number| number.checked_mul(seconds));
            now.plus(Duration::from_secs(seconds.ok_or(TokenError::Expiry)?))
        }
        None if text.len() == "2027-01-31".len() => {
            Timestamp::parse_iso8601(&format!("{text}T00:00:00Z")).ok_or(TokenError::Expiry)?
        }
        None => Timestamp::parse_iso8601(text).ok_or(TokenError::Expiry)?,
    };
    if at <= now { Err(TokenError::Past) } else { Ok(at) }
}
