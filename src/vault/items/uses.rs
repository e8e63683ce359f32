//! What callers' keys and secrets are for: each use asks whether item and version allow it.

use std::sync::Arc;

use data_encoding::BASE64;

use crate::base::id::ItemId;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::crypto::jws;
use crate::vault::VaultError;
use crate::vault::items::algorithm::ItemKind;
use crate::vault::items::change::AUDIT;
use crate::vault::items::object::Version;
use crate::vault::items::opened::OpenItem;
use crate::vault::items::selector::Selector;
use crate::vault::items::state::VersionUse;
use crate::vault::items::store::Items;

impl Items {
    /// A key for format-preserving encryption, and its version: the newest one to encrypt, or the one named to
    /// decrypt what it encrypted.
    ///
    /// # Errors
    /// [`VaultError::Unknown`]; [`VaultError::Forbidden`] if it is no such key, may not be handed out, or is in a state
    /// that does not allow it; or what the store says.
    pub async fn fpe_key(&self, id: &ItemId, version: Option<u32>) -> Result<(Arc<FpeKey>, u32), VaultError> {
        let opened = self.usable(id).await?;
        let (selector, wanted) = match version {
            None => (Selector::Current, VersionUse::Encrypt),
            Some(number) => (Selector::Number(number), VersionUse::Decrypt),
        };
        // The vendor's schema asks for an exportable key, since the redaction service gets it from the vault.
        if opened.item.key.is_none_or(|key| !key.exportable) {
            return Err(VaultError::Forbidden("The item is not an exportable key"));
        }
        let version = self.allowed(&opened, selector, wanted)?;
        opened.fpe(version).map(|key| (key, version.number))
    }

    /// The newest version of a secret, as a salt or tweak.
    ///
    /// # Errors
    /// [`VaultError::Unknown`]; [`VaultError::Forbidden`] if it is no secret or in a state that does not allow it; or
    /// what the store says.
    pub async fn secret(&self, id: &ItemId) -> Result<Secret<Vec<u8>>, VaultError> {
        let opened = self.usable(id).await?;
        if opened.item.kind != ItemKind::Secret {
            return Err(VaultError::Forbidden("The item is not a secret"));
        }
        let version = self.allowed(&opened, Selector::Current, VersionUse::Encrypt)?;
        opened.material(version).cloned()
    }

    /// The material of a version, for its owner.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] if it may not be handed out.
    pub fn exported(&self, opened: &OpenItem, version: &Version) -> Result<Secret<Vec<u8>>, VaultError> {
        if opened.item.key.is_some_and(|key| !key.exportable) {
            return Err(VaultError::Forbidden("The key is not exportable"));
        }
        if !opened.item.allows(version, VersionUse::Export, self.now()) {
            return Err(VaultError::Forbidden("The state of the item or version does not allow that"));
        }
        let material = opened.material(version).cloned()?;
        tracing::info!(target: AUDIT, item = %opened.item.id, version = version.number, "handed out");
        Ok(material)
    }

    /// What is secret of a version, as its owner would write it: a private key as PEM (PKCS #8), a symmetric key as
    /// base64, a secret as it is.
    ///
    /// # Errors
    /// As [`Items::exported`]; [`VaultError::Forbidden`] for a folder.
    pub fn secret_text(&self, opened: &OpenItem, version: &Version) -> Result<Secret<String>, VaultError> {
        let material = self.exported(opened, version)?;
        match opened.item.kind {
            ItemKind::AsymmetricKey => Ok(jws::private_pem(&material)),
            ItemKind::SymmetricKey => Ok(Secret::new(BASE64.encode(material.expose()))),
            ItemKind::Secret | ItemKind::Folder => {
                let text = std::str::from_utf8(material.expose()).map_err(|_| VaultError::Damaged)?;
                Ok(Secret::new(text.to_owned()))
            }
        }
    }

    /// The version that the selector means, if it may be used so.
    pub(super) fn allowed<'a>(
        &self,
        opened: &'a OpenItem,
        selector: Selector,
        wanted: VersionUse,
    ) -> Result<&'a Version, VaultError> {
        let version = opened.item.version(selector)?;
        match opened.item.allows(version, wanted, self.now()) {
            true => Ok(version),
            false => Err(VaultError::Forbidden("The state of the item or version does not allow that")),
        }
    }
}
