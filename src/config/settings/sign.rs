//! Tokens that the gateway signs, and the public keys that it shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::base::id::ItemId;
use crate::base::template::Template;
use crate::base::written::Written;
use crate::config::{At, Period};

/// `[routes.sign]`: a token (RFC 7519) for the upstream, signed with a key of the vault.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The key.
    pub key: At<VaultKey>,
    /// `iss`.
    pub issuer: At<String>,
    /// `aud`: for whom the token is, at least one; a text if it is one, else an array.
    pub audiences: At<Vec<String>>,
    /// From `iat` and `nbf` to `exp`, in whole seconds, from ten seconds to a day; less where the caller's token ends before.
    #[serde(default = "five_minutes")]
    pub lifetime: At<Period>,
    /// For how long after a rotation the version before signs on while the new one is shown already, at most a day: no
    /// less than verifiers keep keys.
    #[serde(default = "five_minutes")]
    pub publish_ahead: At<Period>,
    /// All other claims: fixed values, and values of the caller's verified token. See [`Template`].
    #[serde(default)]
    pub claims: BTreeMap<At<String>, At<Template>>,
    /// Where the token goes: behind `Bearer` in `Authorization`, alone in any other header. What the caller sends
    /// there does not go on.
    #[serde(default = "authorization")]
    pub header: At<String>,
    /// Whether requests with the same claims share a token for half of its lifetime.
    #[serde(default = "yes")]
    pub reuse: bool,
}

fn five_minutes() -> At<Period> {
    At::new(Period::secs(300))
}

fn authorization() -> At<String> {
    At::new("authorization".to_owned())
}

fn yes() -> bool {
    true
}

/// `[jwks]`: public keys at `GET /.well-known/jwks.json`, for whoever asks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwks {
    /// Whose: pairs of keys of the vault, with all versions that are still believed.
    pub items: At<Vec<At<VaultKey>>>,
    /// How long the answer may be kept (`Cache-Control: max-age`, RFC 9111 section 5.2.2.1), at most a day.
    #[serde(default = "five_minutes")]
    pub max_age: At<Period>,
}

/// The id of a key in the vault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VaultKey(pub ItemId);

/// Says that a text is not the id of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a key in the vault: `pvi_` and 32 letters and digits")]
pub struct NotAKey;

impl<'de> Deserialize<'de> for VaultKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| ItemId::parse(text).map(Self).ok_or(NotAKey);
        Written { expected: "the id of a key in the vault", parse }.read(deserializer)
    }
}
