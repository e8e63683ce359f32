//! Who may pass a route by a token that only the authorization server can read.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::config::settings::{RemoteUrl, TokenPlace};
use crate::config::{Period, Spanned, Supplied};

/// `[routes.introspection]`: where the server is asked about tokens (RFC 7662), and what it must say.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Introspection {
    /// Where it is asked.
    pub endpoint: Spanned<RemoteUrl>,
    /// What it knows us as.
    pub client: Spanned<String>,
    /// How we prove that.
    pub secret: Spanned<Supplied>,
    /// Where the token is.
    #[serde(default)]
    pub token: Spanned<TokenPlace>,
    /// One of these as `iss`; none: any.
    #[serde(default)]
    pub issuers: Vec<String>,
    /// One of these in `aud`; none: any.
    #[serde(default)]
    pub audiences: Vec<String>,
    /// One of these as `client_id`; none: any.
    #[serde(default)]
    pub client_ids: Vec<String>,
    /// Whether `exp` must be there.
    #[serde(default)]
    pub expires: bool,
    /// What clocks may differ by, at most ten minutes. Default 30 s.
    #[serde(default = "half_a_minute")]
    pub leeway: Spanned<Period>,
    /// What must be there.
    #[serde(default)]
    pub required: Vec<String>,
    /// All of these in `scope`.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// What goes on as headers; whatever the caller sends under these names does not.
    #[serde(default)]
    pub headers: BTreeMap<String, Spanned<String>>,
    /// Whether the token itself goes on.
    #[serde(default)]
    pub forward: bool,
    /// How long an answer may take. Default 2 s.
    #[serde(default = "two_seconds")]
    pub timeout: Spanned<Period>,
    /// How long an answer is used, at the most until the token's `exp`; of a token that is not active at most 10 s. Default
    /// 1 min.
    #[serde(default = "minute")]
    pub cache_for: Spanned<Period>,
}

fn half_a_minute() -> Spanned<Period> {
    Spanned::new(Period::secs(30))
}

fn two_seconds() -> Spanned<Period> {
    Spanned::new(Period::secs(2))
}

fn minute() -> Spanned<Period> {
    Spanned::new(Period::secs(60))
}
