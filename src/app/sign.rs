//! Tokens for upstreams and public keys for whoever verifies them: from settings to what the road is made of, once the
//! vault has the keys.

use std::sync::Arc;

use http::HeaderName;

use crate::api::vault::{JWKS_PATH, Jwks};
use crate::app::admin;
use crate::app::error::AppError;
use crate::app::services::Services;
use crate::base::id::ItemId;
use crate::config::Config;
use crate::config::settings::Sign as SignSetting;
use crate::gateway::filters::{SignFilter, SignParts};
use crate::gateway::route::Route;
use crate::gateway::terminal::Terminal;
use crate::vault::VaultError;
use crate::vault::items::{ItemKind, Items, OpenItem, VersionState};

/// Looks whether the vault has the keys that the configuration names, and whether they are for that.
///
/// # Errors
/// The first key that is not.
pub(super) async fn proved(config: &Config, parts: &Services) -> Result<(), AppError> {
    for route in &config.routes {
        let Some(sign) = &route.sign else { continue };
        let wrong =
            |id: &ItemId, why: &str| AppError::Route(route.name.to_string(), format!("sign: {id} {why}"));
        let id = &sign.key.0;
        let opened = found(&parts.items, id).await?.ok_or_else(|| wrong(id, "is not in the vault"))?;
        if !opened.signs_tokens() {
            return Err(wrong(id, "is not a key to sign tokens"));
        }
        // A key's state changes while we serve, too: that must not end all other routes.
        if opened.item.versions.last().is_none_or(|version| version.state != VersionState::Active) {
            tracing::warn!(target: "portcullis::sign", route = %*route.name, key = %id, "the key may not sign now");
        }
    }
    for item in config.jwks.iter().flat_map(|jwks| jwks.items.iter()) {
        let wrong = |why| AppError::PublicKeys(item.0.clone(), why);
        let opened = found(&parts.items, &item.0).await?.ok_or_else(|| wrong("is not in the vault"))?;
        match opened.item.kind {
            ItemKind::AsymmetricKey if opened.signs_tokens() => {}
            ItemKind::SymmetricKey => {
                return Err(wrong("is a secret that both sides have, it has no public key"));
            }
            _ => return Err(wrong("is not a key to sign tokens")),
        }
    }
    Ok(())
}

async fn found(items: &Items, id: &ItemId) -> Result<Option<Arc<OpenItem>>, AppError> {
    match items.get(id).await {
        Ok(opened) => Ok(Some(opened)),
        Err(VaultError::Unknown) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The filter that signs a token for the upstream.
pub(super) fn filter(setting: &SignSetting, parts: &Services) -> Result<SignFilter, String> {
    let header = HeaderName::from_bytes(setting.header.as_bytes()).map_err(|_| "a header's name is wrong")?;
    let claims = setting.claims.iter();
    Ok(SignFilter::new(SignParts {
        items: parts.items.clone(),
        key: setting.key.0.clone(),
        issuer: setting.issuer.to_string(),
        audiences: setting.audiences.to_vec(),
        lifetime: setting.lifetime.get(),
        publish_ahead: setting.publish_ahead.get(),
        claims: claims.map(|(name, template)| (name.to_string(), (**template).clone())).collect(),
        header,
        reuse: setting.reuse,
    }))
}

/// The path of the public keys, if any are to be shown.
pub(super) fn public_keys(
    config: &Config,
    parts: &Services,
) -> Result<Option<(&'static str, Arc<Route>)>, AppError> {
    let Some(jwks) = &config.jwks else { return Ok(None) };
    let ids = jwks.items.iter().map(|item| item.0.clone()).collect();
    let handler = Jwks::new(parts.items.clone(), ids, jwks.max_age.get());
    let terminal = Terminal::Native(Arc::new(handler));
    admin::native(parts, "jwks", terminal, vec![parts.log()]).map(|route| Some((JWKS_PATH, route)))
}
