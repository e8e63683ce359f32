//! Tokens that the gateway signs, and the public keys that it shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::base::from_text::FromText;
use crate::base::id::ItemId;
use crate::base::template::ClaimsTemplate;
use crate::config::{Period, Spanned};

/// `[routes.sign]`: a token (RFC 7519) for the upstream, signed with a key of the vault.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The key.
    pub key: Spanned<VaultKey>,
    /// `iss`.
    pub issuer: Spanned<String>,
    /// `aud`: for whom the token is, at least one; a text if it is one, else an array.
    pub audiences: Spanned<Vec<String>>,
    /// From `iat` and `nbf` to `exp`, in whole seconds, from ten seconds to a day; less where the caller's token ends before.
    #[serde(default = "five_minutes")]
    pub lifetime: Spanned<Period>,
    /// For how long after a rotation the version before signs on while the new one is shown already, at most a day: no
    /// less than verifiers keep keys.
    #[serde(default = "five_minutes")]
    pub publish_ahead: Spanned<Period>,
    /// All other claims: fixed values, and values of the caller's verified token. See [`ClaimsTemplate`].
    #[serde(default)]
    pub claims: BTreeMap<Spanned<String>, Spanned<ClaimsTemplate>>,
    /// Where the token goes: behind `Bearer` in `Authorization`, alone in any other header. What the caller sends
    /// there does not go on.
    #[serde(default = "authorization")]
    pub header: Spanned<String>,
    /// Whether requests with the same claims share a token for half of its lifetime.
    #[serde(default = "yes")]
    pub reuse: bool,
}

fn five_minutes() -> Spanned<Period> {
    Spanned::new(Period::secs(300))
}

fn authorization() -> Spanned<String> {
    Spanned::new("authorization".to_owned())
}

fn yes() -> bool {
    true
}

/// `[jwks]`: public keys at `GET /.well-known/jwks.json`, for whoever asks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwks {
    /// Whose: pairs of keys of the vault, with all versions that are still believed.
    pub items: Spanned<Vec<Spanned<VaultKey>>>,
    /// How long the answer may be kept (`Cache-Control: max-age`, RFC 9111 section 5.2.2.1), at most a day.
    #[serde(default = "five_minutes")]
    pub max_age: Spanned<Period>,
}

/// The id of a key in the vault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VaultKey(pub ItemId);

/// Says that a text is not the id of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a key in the vault: `pvi_` and 32 letters and digits")]
pub struct KeyIdError;

impl<'de> Deserialize<'de> for VaultKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| ItemId::parse(text).map(Self).ok_or(KeyIdError);
        FromText { expected: "the id of a key in the vault", parse }.read(deserializer)
    }
}
