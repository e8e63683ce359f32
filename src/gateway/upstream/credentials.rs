//! [`Credentials`]: what an upstream is shown that callers do not have: headers, and a key of AWS. Each value is one of the
//! configuration's, or a secret in the vault. Those are asked for with each attempt, so that a rotation holds within a second and
//! a secret that was switched off goes to nobody.

use std::sync::Arc;

use http::header::{HeaderName, HeaderValue};

use crate::base::id::ItemId;
use crate::base::secret::Secret;
use crate::crypto::sigv4::SigningKey;
use crate::vault::VaultError;
use crate::vault::items::Items;

/// Where a value comes from.
#[derive(Clone, Debug)]
pub enum UpstreamCredential {
    /// The configuration.
    Fixed(Secret<String>),
    /// The newest version of a secret in the vault.
    Vault {
        /// The vault.
        items: Items,
        /// The secret.
        item: ItemId,
        /// What stands before it, such as `Bearer `.
        prefix: String,
    },
}

/// Why there is no value now. Holds none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The vault does not give it.
    #[error("the vault's item {item}: {error}")]
    Vault {
        /// Which.
        item: ItemId,
        /// Why.
        error: VaultError,
    },
    /// It is no text that can stand in a head.
    #[error("the vault's item {0} is empty, or has characters that no header has")]
    Unfit(ItemId),
    /// The same of a value that the configuration has.
    #[error("a value is empty, or has characters that no header has")]
    Fixed,
}

/// What credentials are made from.
#[derive(Debug, Default)]
pub struct CredentialParts {
    /// Set on every request on its way out.
    pub headers: Vec<(HeaderName, UpstreamCredential)>,
    /// Signs requests.
    pub aws: Option<AwsKeyParts>,
}

/// A key of AWS.
#[derive(Debug)]
pub struct AwsKeyParts {
    /// Its id.
    pub id: UpstreamCredential,
    /// Its secret.
    pub secret: UpstreamCredential,
    /// The token that belongs to a key that is good for a while.
    pub session_token: Option<UpstreamCredential>,
}

/// What an upstream is shown, as it is now.
#[derive(Default)]
pub struct Credentials {
    /// Set on every request on its way out.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Signs requests.
    pub(super) aws: Option<AwsKey>,
}

/// A key of AWS, as it is now.
pub(super) struct AwsKey {
    pub(super) key: SigningKey,
    pub(super) session_token: Option<HeaderValue>,
}

/// Where the credentials of a pool come from.
pub(super) enum CredentialSource {
    /// They do not change.
    Fixed(Arc<Credentials>),
    /// At least one is in the vault.
    Vault(Box<CredentialParts>),
}

impl UpstreamCredential {
    fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    async fn value(&self) -> Result<Secret<String>, CredentialError> {
        let Self::Vault { items, item, prefix } = self else { return self.fixed() };
        let secret = items.secret(item).await;
        let secret = secret.map_err(|error| CredentialError::Vault { item: item.clone(), error })?;
        let unfit = || CredentialError::Unfit(item.clone());
        let text = std::str::from_utf8(secret.expose()).map_err(|_| unfit())?;
        // As of a secret in a file.
        let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        match text.is_empty() {
            true => Err(unfit()),
            false => Ok(Secret::new(format!("{prefix}{text}"))),
        }
    }

    fn fixed(&self) -> Result<Secret<String>, CredentialError> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Vault { .. } => Err(CredentialError::Fixed),
        }
    }

    /// Why a value does not fit.
    fn unfit(&self) -> CredentialError {
        match self {
            Self::Fixed(_) => CredentialError::Fixed,
            Self::Vault { item, .. } => CredentialError::Unfit(item.clone()),
        }
    }

    async fn header(&self) -> Result<HeaderValue, CredentialError> {
        let value = self.value().await?;
        header(&value).ok_or_else(|| self.unfit())
    }
}

impl CredentialParts {
    /// Whether `name` is set on requests.
    pub(super) fn set(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(set, _)| set == name)
    }

    fn all(&self) -> impl Iterator<Item = &UpstreamCredential> {
        let aws =
            self.aws.iter().flat_map(|aws| [&aws.id, &aws.secret].into_iter().chain(&aws.session_token));
        self.headers.iter().map(|(_, value)| value).chain(aws)
    }

    /// Their values now.
    async fn read(&self) -> Result<Credentials, CredentialError> {
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            headers.push((name.clone(), value.header().await?));
        }
        let Some(AwsKeyParts { id, secret, session_token }) = &self.aws else {
            return Ok(Credentials { headers, aws: None });
        };
        let key = SigningKey { id: id.value().await?.expose().clone(), secret: secret.value().await? };
        // The id stands in a head.
        let _fits = HeaderValue::from_str(&key.id).map_err(|_| id.unfit())?;
        let session_token = match session_token {
            Some(token) => Some(token.header().await?),
            None => None,
        };
        Ok(Credentials { headers, aws: Some(AwsKey { key, session_token }) })
    }

    /// The same where none is in the vault.
    fn read_fixed(&self) -> Result<Credentials, CredentialError> {
        let fixed = |value: &UpstreamCredential| header(&value.fixed()?).ok_or(CredentialError::Fixed);
        let headers = self.headers.iter().map(|(name, value)| Ok((name.clone(), fixed(value)?)));
        let aws = |aws: &AwsKeyParts| {
            let key = SigningKey { id: aws.id.fixed()?.expose().clone(), secret: aws.secret.fixed()? };
            let session_token = aws.session_token.as_ref().map(fixed).transpose()?;
            Ok::<_, CredentialError>(AwsKey { key, session_token })
        };
        Ok(Credentials {
            headers: headers.collect::<Result<_, CredentialError>>()?,
            aws: self.aws.as_ref().map(aws).transpose()?,
        })
    }
}

impl CredentialSource {
    /// Values that do not change are made ready here.
    ///
    /// # Errors
    /// One of those does not fit.
    pub(super) fn new(parts: CredentialParts) -> Result<Self, CredentialError> {
        let is_fixed = parts.all().all(UpstreamCredential::is_fixed);
        match is_fixed {
            true => Ok(Self::Fixed(Arc::new(parts.read_fixed()?))),
            false => Ok(Self::Vault(Box::new(parts))),
        }
    }

    /// The values as they are now.
    ///
    /// # Errors
    /// The vault does not give one, or it does not fit.
    pub(super) async fn read(&self) -> Result<Arc<Credentials>, CredentialError> {
        match self {
            Self::Fixed(all) => Ok(Arc::clone(all)),
            Self::Vault(parts) => parts.read().await.map(Arc::new),
        }
    }
}

fn header(value: &Secret<String>) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.expose()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::base::clock::{FixedClock, SharedClock, Timestamp};
    use crate::store::EmbeddedRecords;
    use crate::vault::items::{
        ItemChanges, ItemKind, Label, Material, NewItem, Path, Rotation, Selector, VersionState,
    };
    use crate::vault::{MasterKey, Vault};

    fn fixed(text: &str) -> UpstreamCredential {
        UpstreamCredential::Fixed(Secret::new(text.to_owned()))
    }

    #[tokio::test]
    async fn values_of_the_configuration_are_made_ready_and_must_fit() {
        let name = HeaderName::from_static("x-key");
        let of = |value: &str| {
            let headers = vec![(name.clone(), fixed(value))];
            CredentialSource::new(CredentialParts { headers, aws: None })
        };
        let ready = of("abc").unwrap().read().await.unwrap();
        assert_eq!(ready.headers[0].1, "abc");
        assert!(ready.headers[0].1.is_sensitive());
        assert!(matches!(of("a\nb"), Err(CredentialError::Fixed)));
    }

    /// A secret that says so, in a vault.
    async fn secret(folder: &std::path::Path, text: &str) -> (Items, ItemId, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let shared: SharedClock = Arc::clone(&clock) as SharedClock;
        let records = EmbeddedRecords::open(&folder.join("s"), Arc::clone(&shared)).await.unwrap();
        let master = MasterKey::from_text(&"1".repeat(64)).unwrap();
        let vault = Vault::open(Arc::new(records), &master, shared).await.unwrap();
        let items = Items::new(Arc::new(vault));
        let label = Label {
            name: "key".to_owned(),
            folder: Path::parse("/").unwrap(),
            metadata: BTreeMap::new(),
            tags: Vec::new(),
            off: false,
            disabled_at: None,
            rotation: Rotation::default(),
        };
        let new = NewItem { kind: ItemKind::Secret, label, key: None, material: material(text) };
        let id = items.create(new).await.unwrap().item.id.clone();
        (items, id, clock)
    }

    fn material(text: &str) -> Material {
        Material::opaque(Secret::new(text.as_bytes().to_vec()))
    }

    #[tokio::test]
    async fn a_secret_of_the_vault_is_the_newest_one_or_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (items, item, _) = secret(folder.path(), "one\n").await;
        let credential = UpstreamCredential::Vault {
            items: items.clone(),
            item: item.clone(),
            prefix: "Bearer ".to_owned(),
        };
        let headers = vec![(HeaderName::from_static("authorization"), credential)];
        let source = CredentialSource::new(CredentialParts { headers, aws: None }).unwrap();
        let now = async || source.read().await.map(|all| all.headers[0].1.to_str().unwrap().to_owned());
        assert_eq!(now().await.unwrap(), "Bearer one");
        items.rotate(&item, &material("two"), None).await.unwrap();
        assert_eq!(now().await.unwrap(), "Bearer two");
        for unfit in ["", "\n", "a\u{1}b"] {
            items.rotate(&item, &material(unfit), None).await.unwrap();
            assert!(matches!(now().await, Err(CredentialError::Unfit(_))), "{unfit:?}");
        }
        items.rotate(&item, &material("three"), None).await.unwrap();
        let switch = |off: bool| -> ItemChanges { Box::new(move |label| label.off = off) };
        items.update(&item, &switch(true)).await.unwrap();
        let error = now().await.unwrap_err().to_string();
        assert!(error.contains("does not allow that") && error.contains(&item.to_string()), "{error}");
        items.update(&item, &switch(false)).await.unwrap();
        assert_eq!(now().await.unwrap(), "Bearer three");
        items.change_state(&item, Selector::Current, VersionState::Suspended, None).await.unwrap();
        assert!(now().await.is_err());
        items.delete(&item, false).await.unwrap();
        assert!(now().await.unwrap_err().to_string().contains("no such item"));
    }
}
