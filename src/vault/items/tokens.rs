//! Tokens signed with items and verified against them. A token's `kid` is `<id>|<version>`: what it names is looked up,
//! and nothing else of an unverified token is used.

use std::sync::Arc;
use std::time::Duration;

use crate::base::id::ItemId;
use crate::crypto::jws::{PublicKey, SigningKey, public_pem};
use crate::vault::VaultError;
use crate::vault::items::algorithm::ItemKind;
use crate::vault::items::object::Version;
use crate::vault::items::selector::Selector;
use crate::vault::items::state::VersionUse;
use crate::vault::items::store::Items;
use crate::vault::jwt::{self, Jwk, JwtError, Unverified, Verified};

/// Between the id and the version of a `kid`. Source: the specification's note on JWKS.
const BAR: char = '|';

fn kid(id: &ItemId, version: &Version) -> String {
    format!("{id}{BAR}{}", version.number)
}

/// What a `kid` names; without a version it is the newest.
fn named(kid: &str) -> Option<(ItemId, Selector)> {
    let Some((id, version)) = kid.split_once(BAR) else {
        return Some((ItemId::parse(kid)?, Selector::Current));
    };
    // One name for one version: 1, not 01 or +1.
    let number = version.parse::<u32>().ok().filter(|number| *number > 0 && number.to_string() == version)?;
    Some((ItemId::parse(id)?, Selector::Number(number)))
}

/// A version of a key that may sign.
pub struct Signer {
    key: Arc<SigningKey>,
    kid: String,
}

impl Signer {
    /// The `kid` of what it signs.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// Signs the text of a JSON object.
    ///
    /// # Errors
    /// [`VaultError::Token`] for a payload that is no object.
    pub fn sign(&self, payload: &str) -> Result<String, VaultError> {
        Ok(jwt::sign(&self.key, &self.kid, payload)?)
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer(..)")
    }
}

impl Items {
    /// Signs the text of a JSON object with the newest version of a key.
    ///
    /// # Errors
    /// [`VaultError::Unknown`]; [`VaultError::Forbidden`] if the item is no key to sign tokens, or its state does not
    /// allow it; [`VaultError::Token`] for a payload that is no object; or what the store says.
    pub async fn sign_jwt(&self, id: &ItemId, payload: &str) -> Result<String, VaultError> {
        self.signer(id, Duration::ZERO).await?.sign(payload)
    }

    /// What a key signs with now, if its newest version may sign: the version that was in use `ahead` ago. So a new
    /// version is shown for that time before it signs, and whoever keeps public keys has it by then. A change made here
    /// holds at once, one made by another process within a second, so a signer is not kept.
    ///
    /// # Errors
    /// As [`Items::sign_jwt`], but for the payload.
    pub async fn signer(&self, id: &ItemId, ahead: Duration) -> Result<Signer, VaultError> {
        let opened = self.usable(id).await?;
        opened.jws()?;
        let newest = self.allowed(&opened, Selector::Current, VersionUse::Sign)?;
        let version = opened.item.handing_over(self.now(), ahead).unwrap_or(newest);
        Ok(Signer { key: opened.signing(version)?, kid: kid(id, version) })
    }

    /// What a token says, if its signature is that of the version that it names; `None` if it is not, if there is no
    /// such version, or if that version's signatures are not believed.
    ///
    /// # Errors
    /// [`VaultError::Token`] with [`JwtError::Malformed`] for what is no token at all, or what the store says.
    pub async fn verify_jwt(&self, token: &str) -> Result<Option<Verified>, VaultError> {
        let unverified = match Unverified::parse(token) {
            Ok(unverified) => unverified,
            Err(JwtError::Malformed) => return Err(JwtError::Malformed.into()),
            Err(_) => return Ok(None),
        };
        let Some((id, selector)) = unverified.kid().and_then(named) else { return Ok(None) };
        match self.verifying(&id, selector, unverified).await {
            Err(VaultError::Unknown | VaultError::Forbidden(_)) => Ok(None),
            verified => verified,
        }
    }

    async fn verifying(
        &self,
        id: &ItemId,
        selector: Selector,
        token: Unverified<'_>,
    ) -> Result<Option<Verified>, VaultError> {
        let mut opened = self.usable(id).await?;
        if opened.item.version(selector).is_err() {
            // Another process may have made the version since.
            opened = self.get(id).await?;
        }
        let version = self.allowed(&opened, selector, VersionUse::Verify)?;
        let key = opened.verifying(version)?;
        Ok(token.verify(&key).ok())
    }

    /// The public keys of the versions that the selector means, in ascending order. Of several, those that may not be
    /// shown are left out.
    ///
    /// # Errors
    /// [`VaultError::Unknown`]; [`VaultError::Forbidden`] if the item has no public keys or the one may not be shown;
    /// or what the store says.
    pub async fn public_keys(&self, id: &ItemId, selector: Selector) -> Result<Vec<Jwk>, VaultError> {
        self.publish(id, selector, |version, key| Jwk::of(key, &kid(id, version))).await
    }

    /// As [`Items::public_keys`], as PEM (SPKI).
    ///
    /// # Errors
    /// As [`Items::public_keys`].
    pub async fn public_pems(&self, id: &ItemId, selector: Selector) -> Result<Vec<String>, VaultError> {
        self.publish(id, selector, |_, key| public_pem(key)).await
    }

    async fn publish<T>(
        &self,
        id: &ItemId,
        selector: Selector,
        shown: impl Fn(&Version, &PublicKey) -> T,
    ) -> Result<Vec<T>, VaultError> {
        let opened = self.get(id).await?;
        if opened.item.kind != ItemKind::AsymmetricKey {
            return Err(VaultError::Forbidden("The item has no public key"));
        }
        if selector.is_single() {
            self.allowed(&opened, selector, VersionUse::Publish)?;
        }
        let now = self.now();
        let versions = opened.item.selected(selector)?.iter();
        let public = versions.filter(|version| opened.item.allows(version, VersionUse::Publish, now));
        public.map(|version| Ok(shown(version, &*opened.public(version)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kid_has_one_form() {
        let id = ItemId::from_random([7; 20]);
        let of = |end: &str| named(&format!("{id}{end}"));
        assert_eq!(of("|12"), Some((id.clone(), Selector::Number(12))));
        assert_eq!(of(""), Some((id.clone(), Selector::Current)));
        for end in ["|", "|0", "|01", "|+1", "|-1", "| 1", "|1 ", "|1|1", "|all", "|4294967296", " ", "\0|1"]
        {
            assert_eq!(of(end), None, "{end:?}");
        }
        assert_eq!(named("|1"), None);
        assert_eq!(named("../../etc/passwd"), None);
    }
}
