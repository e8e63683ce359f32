//! [`VaultMaterial`]: what a call or its config names that the vault keeps: a key, a salt, tweaks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::api::configs::{FpeTweak, MethodSpec};
use crate::api::error::{ApiError, Code};
use crate::api::fields::Faults;
use crate::api::redact::configured::CompiledConfig;
use crate::api::redact::request::{CommonRequest, RuleReference, Specific};
use crate::base::id::ItemId;
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;
use crate::crypto::fpe::FpeKey;
use crate::redact::KeyName;
use crate::vault::VaultError;
use crate::vault::items::Items;

/// A tweak, or what is wrong with the item that should be one.
pub(super) type StoredTweak = Result<Secret<Vec<u8>>, Code>;

/// What a call names of the vault's.
pub(super) struct VaultMaterial {
    /// The key, if it is not the store's own.
    pub(super) key: Option<(Arc<FpeKey>, KeyName)>,
    /// The salt, if it is not the store's own.
    pub(super) salt: Option<Secret<Vec<u8>>>,
    /// Tweaks by the ids of their items.
    pub(super) tweaks: HashMap<String, StoredTweak>,
}

impl VaultMaterial {
    /// Fetches all that the call names, or its config in its place. What cannot be had is a fault where it is named.
    ///
    /// # Errors
    /// A vault that fails.
    pub(super) async fn fetch(
        items: &Items,
        wanted: &CommonRequest,
        places: &[Specific],
        config: Option<&CompiledConfig>,
        faults: &mut Faults,
    ) -> Result<Self, ApiError> {
        let settings = config.map(|config| &config.settings);
        let fpe = settings.and_then(|settings| settings.fpe_vault_secret_id.as_deref());
        let salt = settings.and_then(|settings| settings.salt_vault_secret_id.as_deref());
        let mut key = None;
        if let Some((id, at)) = chosen(wanted.fpe_key.as_ref(), fpe) {
            match fpe_key(items, id).await? {
                Ok(found) => key = Some(found),
                Err(code) => missing(faults, code, at),
            }
        }
        let mut found_salt = None;
        if let Some((id, at)) = chosen(wanted.salt.as_ref(), salt) {
            match secret(items, id).await? {
                Ok(found) => found_salt = Some(found),
                Err(code) => missing(faults, code, at),
            }
        }
        let mut tweaks = HashMap::new();
        let specs = configured(config.filter(|_| !wanted.llm)).into_iter().chain(specs(wanted, places));
        for id in specs.filter_map(MethodSpec::tweak_item) {
            if !tweaks.contains_key(id) {
                tweaks.insert(id.to_owned(), tweak(items, id).await?);
            }
        }
        Ok(Self { key, salt: found_salt, tweaks })
    }
}

/// The item that the call names, else the one that its config names.
fn chosen<'a>(named: Option<&'a RuleReference>, config: Option<&'a str>) -> Option<(&'a str, Pointer)> {
    match (named, config) {
        (Some(RuleReference { name, at }), _) => Some((name, at.clone())),
        (None, Some(id)) => Some((id, Pointer::root().key("config_id"))),
        (None, None) => None,
    }
}

/// The ids of the items that the call itself names, whatever its config does.
pub(super) fn named<'a>(wanted: &'a CommonRequest, places: &'a [Specific]) -> Vec<&'a str> {
    let whole = [&wanted.fpe_key, &wanted.salt].into_iter().flatten().map(|named| named.name.as_str());
    whole.chain(specs(wanted, places).filter_map(MethodSpec::tweak_item)).collect()
}

/// The methods that the call itself names.
fn specs<'a>(wanted: &'a CommonRequest, places: &'a [Specific]) -> impl Iterator<Item = &'a MethodSpec> {
    let overrides = &wanted.overrides;
    let all = overrides.all.iter().map(|(_, spec)| spec);
    let each = overrides.each.iter().map(|(_, spec)| spec);
    let places = places.iter().filter_map(|place| place.rules.as_ref()).flatten();
    let places = places.filter_map(|(_, spec)| spec.as_ref());
    all.chain(each).chain(places)
}

/// The methods that the config names.
fn configured(config: Option<&CompiledConfig>) -> Vec<&MethodSpec> {
    config.map(CompiledConfig::methods).unwrap_or_default().into_iter().map(|(_, spec)| spec).collect()
}

/// Says what is wrong with an item.
pub(super) fn missing(faults: &mut Faults, code: Code, at: Pointer) {
    let detail = match code {
        Code::DoesNotExist => "there is no such vault item",
        _ => "the vault item is not for that, is not exportable, or its state does not allow it",
    };
    faults.add(code, at, detail);
}

/// What the vault found, or what is wrong with it; a vault that fails is an error of another sort.
fn found<T>(result: Result<T, VaultError>) -> Result<Result<T, Code>, ApiError> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(VaultError::Unknown) => Ok(Err(Code::DoesNotExist)),
        Err(VaultError::Forbidden(_)) => Ok(Err(Code::BadState)),
        Err(error) => Err(ApiError::vault(&error)),
    }
}

async fn fpe_key(items: &Items, id: &str) -> Result<Result<(Arc<FpeKey>, KeyName), Code>, ApiError> {
    let Some(item) = ItemId::parse(id) else { return Ok(Err(Code::DoesNotExist)) };
    let named = |(key, version)| (key, KeyName { id: id.to_owned(), version });
    Ok(found(items.fpe_key(&item, None).await)?.map(named))
}

/// The key of a context that names one.
///
/// # Errors
/// A vault that fails.
pub(super) async fn key_of(items: &Items, name: &KeyName) -> Result<Result<Arc<FpeKey>, Code>, ApiError> {
    let Some(item) = ItemId::parse(&name.id) else { return Ok(Err(Code::DoesNotExist)) };
    Ok(found(items.fpe_key(&item, Some(name.version)).await)?.map(|(key, _)| key))
}

async fn secret(items: &Items, id: &str) -> Result<Result<Secret<Vec<u8>>, Code>, ApiError> {
    let Some(item) = ItemId::parse(id) else { return Ok(Err(Code::DoesNotExist)) };
    found(items.secret(&item).await)
}

/// A secret as a tweak, of which there are the same two forms as in a call.
async fn tweak(items: &Items, id: &str) -> Result<StoredTweak, ApiError> {
    let secret = match secret(items, id).await? {
        Ok(secret) => secret,
        Err(code) => return Ok(Err(code)),
    };
    let text = std::str::from_utf8(secret.expose()).unwrap_or_default();
    let tweak = FpeTweak::parse(text).map(|tweak| Secret::new(tweak.bytes()));
    Ok(tweak.ok_or(Code::BadState))
}
