//! Who may pass a route by a signed token.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::config::{Period, Spanned};

/// `[routes.jwt]`: only bearers of a token (RFC 7519) that one of these keys has signed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jwt {
    /// Keys of those who may sign.
    pub keys: Spanned<JwkSource>,
    /// Where the token is.
    pub token: Spanned<TokenPlace>,
    /// One of these as `iss`; none: the one whose keys are asked for by its name, else any.
    pub issuers: Vec<String>,
    /// One of these in `aud`; none: any.
    pub audiences: Vec<String>,
    /// Whether `exp` must be there.
    pub expires: bool,
    /// What clocks may differ by, at most ten minutes.
    pub leeway: Spanned<Period>,
    /// Claims that must be there.
    pub required: Vec<String>,
    /// All of these in `scope` or `scp`.
    pub scopes: Vec<String>,
    /// Claims that go on as headers; whatever the caller sends under these names does not.
    pub headers: BTreeMap<String, Spanned<String>>,
    /// Whether the token itself goes on.
    pub forward: bool,
}

impl Default for Jwt {
    fn default() -> Self {
        Self {
            keys: Spanned::default(),
            token: Spanned::default(),
            issuers: Vec::new(),
            audiences: Vec::new(),
            expires: true,
            leeway: Spanned::new(Period::secs(30)),
            required: Vec::new(),
            scopes: Vec::new(),
            headers: BTreeMap::new(),
            forward: false,
        }
    }
}

/// Where keys come from: an issuer that says where they are, a file, or a path of an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JwkSource {
    /// A JWK set (RFC 7517); read again on a reload.
    pub file: Option<Spanned<PathBuf>>,
    /// An upstream that serves one.
    pub upstream: Option<Spanned<String>>,
    /// Its path there.
    pub path: Option<Spanned<String>>,
    /// An issuer, as tokens name it in `iss`, that says itself where its keys are (OpenID Connect Discovery).
    pub issuer: Option<Spanned<String>>,
}

/// Where tokens are; `Authorization: Bearer`, if nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenPlace {
    /// A header that is the token.
    pub header: Option<String>,
    /// A cookie.
    pub cookie: Option<String>,
    /// A parameter of the query.
    pub query: Option<String>,
}
