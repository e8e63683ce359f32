//! Values that go to an upstream: as any other that may be secret (see [`Supplied`]), or `{ vault = "pvi_…" }`, a secret in the
//! vault, which is read while the gateway runs.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::base::id::ItemId;
use crate::base::secret::Secret;
use crate::config::supplied::{SecretSource, Supplied};

/// A value that goes to an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// One that the configuration gives or points to.
    Supplied(Supplied),
    /// The newest version of a secret in the vault.
    Vault {
        /// The secret.
        item: ItemId,
        /// What stands before it, such as `Bearer `.
        prefix: String,
    },
}

impl Credential {
    /// The value that the configuration gives or points to; `None` for one in the vault.
    pub fn supplied(&self) -> Option<&Supplied> {
        match self {
            Self::Supplied(supplied) => Some(supplied),
            Self::Vault { .. } => None,
        }
    }
}

/// What the table form may hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CredentialTable {
    env: Option<String>,
    file: Option<PathBuf>,
    vault: Option<String>,
    prefix: Option<String>,
}

struct CredentialVisitor;

impl<'de> Visitor<'de> for CredentialVisitor {
    type Value = Credential;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, { env = \"NAME\" }, { file = \"path\" } or { vault = \"pvi_…\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Credential, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Credential, E> {
        Ok(of(SecretSource::Literal, text))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Credential, A::Error> {
        let pointed = CredentialTable::deserialize(MapAccessDeserializer::new(map))?;
        match (pointed.env, pointed.file, pointed.vault, pointed.prefix) {
            (Some(name), None, None, None) => Ok(of(SecretSource::Env(name), String::new())),
            (None, Some(path), None, None) => Ok(of(SecretSource::File(path), String::new())),
            (None, None, Some(item), prefix) => {
                let wrong = || {
                    A::Error::custom(
                        "`vault` is not the id of a secret in the vault: `pvi_` and 32 letters and digits",
                    )
                };
                let item = ItemId::parse(&item).ok_or_else(wrong)?;
                Ok(Credential::Vault { item, prefix: prefix.unwrap_or_default() })
            }
            (_, _, None, Some(_)) => Err(A::Error::custom("`prefix` goes with `vault` only")),
            _ => Err(A::Error::custom("name exactly one of `env`, `file` and `vault`")),
        }
    }
}

fn of(source: SecretSource, value: String) -> Credential {
    Credential::Supplied(Supplied { source, value: Secret::new(value) })
}

impl<'de> Deserialize<'de> for Credential {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CredentialVisitor)
    }
}
