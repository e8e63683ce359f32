//! Values that may come from elsewhere: `"literal"`, `{ env = "NAME" }` or `{ file = "path" }`.
//!
//! The value itself is a [`Secret`] from the moment it is read: no problem, log line or `Debug` ever shows it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::base::secret::Secret;

/// Where environment variables are looked up.
pub trait Env {
    /// The variable's value; `None` if it is not set or not Unicode.
    fn var(&self, name: &str) -> Option<String>;
}

/// The environment this process was started with.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessEnv;

impl Env for ProcessEnv {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl Env for BTreeMap<String, String> {
    fn var(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }
}

/// Where a [`Supplied`] value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// The configuration file itself.
    Literal,
    /// The environment variable of this name.
    Env(String),
    /// The file at this path, without its last line break.
    File(PathBuf),
}

/// What of all that a configuration points to must be there: a command that does one thing does not need the secrets of
/// all others. What need not be there and is not, is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The database's address.
    pub store: bool,
    /// The master key or passphrase.
    pub vault: bool,
    /// What sanitizing asks others with, and its files.
    pub sanitize: bool,
    /// Other files: certificates, authorities, keys of tokens' issuers.
    pub files: bool,
    /// All other secrets: what goes to upstreams, keys of buckets, private keys of listeners.
    pub serving: bool,
}

impl Requirements {
    /// Everything, as serving does.
    pub const ALL: Self = Self { store: true, vault: true, sanitize: true, files: true, serving: true };
    /// Nothing but the file itself and its rules.
    pub const RULES: Self =
        Self { store: false, vault: false, sanitize: false, files: false, serving: false };
    /// The store.
    pub const STORE: Self = Self { store: true, ..Self::RULES };
    /// The vault, which lies in the store.
    pub const VAULT: Self = Self { vault: true, ..Self::STORE };
    /// Sanitizing.
    pub const SANITIZE: Self = Self { sanitize: true, ..Self::RULES };
    /// All but secrets, which are elsewhere where a configuration is only checked.
    pub const FILES: Self = Self { files: true, ..Self::RULES };
}

/// A value that the configuration gives or points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supplied {
    pub(crate) source: SecretSource,
    pub(crate) value: Secret<String>,
}

impl Supplied {
    /// The value. Loading has fetched it; it is empty only where that was told not to need it.
    pub fn value(&self) -> &Secret<String> {
        &self.value
    }

    /// What the environment variable `name` holds, once it is fetched.
    pub(crate) fn of_env(name: &str) -> Self {
        Self { source: SecretSource::Env(name.to_owned()), value: Secret::new(String::new()) }
    }

    /// Where it came from.
    pub fn source(&self) -> &SecretSource {
        &self.source
    }
}

/// What the table form may hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuppliedTable {
    env: Option<String>,
    file: Option<PathBuf>,
}

struct SuppliedVisitor;

impl<'de> Visitor<'de> for SuppliedVisitor {
    type Value = Supplied;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, { env = \"NAME\" } or { file = \"path\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Supplied, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Supplied, E> {
        Ok(Supplied { source: SecretSource::Literal, value: Secret::new(text) })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Supplied, A::Error> {
        let pointed = SuppliedTable::deserialize(MapAccessDeserializer::new(map))?;
        let source = match (pointed.env, pointed.file) {
            (Some(name), None) => SecretSource::Env(name),
            (None, Some(path)) => SecretSource::File(path),
            _ => return Err(A::Error::custom("name exactly one of `env` and `file`")),
        };
        Ok(Supplied { source, value: Secret::new(String::new()) })
    }
}

impl<'de> Deserialize<'de> for Supplied {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SuppliedVisitor)
    }
}
