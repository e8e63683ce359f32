//! What is known of a token, and why one is not accepted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::api::tenant::{Tenant, is_plain};
use crate::base::clock::Timestamp;
use crate::base::id::TokenId;
use crate::base::rate::Rate;
use crate::base::steering::{hides, steers};
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
    /// A token's name is short, and says nothing that is not seen.
    #[error(
        "a token's name has 1 to {MAX_NAME} bytes, no control characters, none that turn the direction of text, and no blanks \
         at its ends"
    )]
    Name,
    /// A route's name has 1 to [`MAX_NAME`] bytes and no control characters, as in a configuration.
    #[error("a route's name has 1 to {MAX_NAME} bytes and no control characters")]
    Route,
    /// Labels are few and short, and say nothing that is not seen.
    #[error(
        "a token has at most {MAX_LABELS} labels; a label's name has 1 to 64 small letters, digits, dots, hyphens and \
         underscores, its value 1 to {MAX_NAME} bytes, no control characters, none that turn the direction of text, and no \
         blanks at its ends"
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
    /// A new token would end after all that a date can say.
    #[error("a token ends within the year 9999 at the latest; say no end for one that never expires")]
    Far,
    /// What is to be changed is not what whoever changes it has seen.
    #[error("the token was changed meanwhile")]
    Changed,
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
    /// Whether there are few enough of each, and labels are such. Labels that a token has already stay as they are.
    fn check(&self, before: Option<&Self>) -> Result<(), TokenError> {
        let own = usize::from(self.labels.contains_key(Tenant::LABEL));
        let had =
            |name: &String, value: &String| before.is_some_and(|one| one.labels.get(name) == Some(value));
        let fits = |(name, value): (&String, &String)| is_plain(name) && (is_text(value) || had(name, value));
        if self.labels.len() > MAX_LABELS + own || !self.labels.iter().all(fits) {
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

/// Those of some routes, with their numbers, that a token may not be given: there are none of these names, and it has not had
/// them, if it is not new.
pub fn unknown_routes<'r>(
    routes: &'r [String],
    is_known: impl Fn(&str) -> bool,
    before: Option<&TokenInfo>,
) -> Vec<(usize, &'r str)> {
    let had =
        |route: &String| before.is_some_and(|before| before.routes.iter().flatten().any(|had| had == route));
    let unknown = routes.iter().enumerate().filter(|(_, route)| !is_known(route) && !had(route));
    unknown.map(|(at, route)| (at, route.as_str())).collect()
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

    /// Whether a token may be so that was `before`, if it is not new. What versions before let it have, and what stays as it
    /// was, is no fault of this change.
    pub(super) fn check(&self, before: Option<&Self>) -> Result<(), TokenError> {
        if !is_text(&self.name) && before.is_none_or(|before| before.name != self.name) {
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
        self.bounds.check(before.map(|before| &before.bounds))
    }

    pub(super) fn usable(&self, now: Timestamp) -> Result<(), TokenError> {
        match (self.revoked, self.expires) {
            (Some(_), _) => Err(TokenError::Revoked),
            (None, Some(at)) if at <= now => Err(TokenError::Expired),
            _ => Ok(()),
        }
    }
}

/// Whether a route may be called so.
fn is_name(name: &str) -> bool {
    !(name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control))
}

/// Whether a token may be called so, or a label may say so: what people read, which must not seem to be something else. With
/// blanks at its ends, it would seem to be what it is without them.
fn is_text(text: &str) -> bool {
    is_name(text) && !text.contains(|c| steers(c) || hides(c)) && text.trim() == text
}

/// The last moment that a token may end at: the last one that a date can say.
const LAST: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// Reads when a token is to expire: a duration from now (`30d`, `12h`, `90m`), a date (its beginning in UTC), or
/// a time with an offset or `Z` (ISO 8601). It must lie after `now`, and within the calendar.
pub fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, TokenError> {
    const UNITS: [(char, u64); 3] = [('d', 86_400), ('h', 3600), ('m', 60)];
    let number_of = |&(unit, seconds): &(char, u64)| Some((text.strip_suffix(unit)?, seconds));
    let at = match UNITS.iter().find_map(number_of) {
        Some((number, seconds)) => {
            if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
                return Err(TokenError::Expiry);
            }
            let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(seconds));
            now.plus(Duration::from_secs(seconds.ok_or(TokenError::Far)?))
        }
        None if text.len() == "2027-01-31".len() => {
            Timestamp::parse_iso8601(&format!("{text}T00:00:00Z")).ok_or(TokenError::Expiry)?
        }
        None => Timestamp::parse_iso8601(text).ok_or(TokenError::Expiry)?,
    };
    if at <= now {
        return Err(TokenError::Past);
    }
    if at > LAST { Err(TokenError::Far) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn services_print_and_parse_back() {
        for service in Service::ALL {
            assert_eq!(Service::parse(&service.to_string()), Some(service));
        }
        assert_eq!(Service::parse("Redact"), None);
    }

    #[test]
    fn expiries_are_read_as_written() {
        // START is 2027-01-15T08:00:00Z.
        let good = [
            ("30d", "2027-02-14T08:00:00.000Z"),
            ("12h", "2027-01-15T20:00:00.000Z"),
            ("90m", "2027-01-15T09:30:00.000Z"),
            ("2027-01-16", "2027-01-16T00:00:00.000Z"),
            ("2028-02-29", "2028-02-29T00:00:00.000Z"),
            ("2027-01-15T08:00:00.001Z", "2027-01-15T08:00:00.001Z"),
            ("2027-06-01T00:00:00+02:00", "2027-05-31T22:00:00.000Z"),
        ];
        for (text, at) in good {
            assert_eq!(parse_expiry(text, START).unwrap().iso8601(), at, "{text}");
        }
        let bad = [
            "",
            "d",
            "30",
            "-1d",
            "+1d",
            "1.5h",
            "1 d",
            "30D",
            "1w",
            "tomorrow",
            "2027-02-29",
            "2027-13-01",
            "31.01.2027",
            "2027-1-1",
            "2027-01-16T00:00:00",
            "½d",
        ];
        for text in bad {
            assert!(matches!(parse_expiry(text, START), Err(TokenError::Expiry)), "{text}");
        }
        for text in ["0m", "2027-01-15", "2020-01-01", "2027-01-15T08:00:00Z"] {
            assert!(matches!(parse_expiry(text, START), Err(TokenError::Past)), "{text}");
        }
        for text in
            ["99999999d", "99999999999999999999d", "18446744073709551615d", "9999-12-31T23:59:59-01:00"]
        {
            assert!(matches!(parse_expiry(text, START), Err(TokenError::Far)), "{text}");
        }
        assert_eq!(parse_expiry("9999-12-31", START).unwrap().iso8601(), "9999-12-31T00:00:00.000Z");
    }

    proptest! {
        #[test]
        fn any_text_is_an_expiry_after_now_or_an_error(text in "[0-9dhm:TZ+ -]{0,24}|\\PC{0,24}") {
            if let Ok(at) = parse_expiry(&text, START) {
                prop_assert!(at > START);
            }
        }

        #[test]
        fn durations_add_up(number in 1..100_000u64, unit in 0..3usize) {
            let (letter, seconds) = [("d", 86_400), ("h", 3600), ("m", 60)][unit];
            let at = parse_expiry(&format!("{number}{letter}"), START).unwrap();
            prop_assert_eq!(at, START.plus(Duration::from_secs(number * seconds)));
        }
    }
}
