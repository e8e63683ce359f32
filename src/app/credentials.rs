//! What upstreams are shown that callers do not have: from settings to what requests get, once the vault has what is kept there.

use http::HeaderName;

use crate::app::error::AppError;
use crate::app::services::Services;
use crate::base::id::ItemId;
use crate::config::settings::Upstream;
use crate::config::{Config, Credential};
use crate::gateway::upstream::{AwsKeyParts, CredentialParts, UpstreamCredential};
use crate::vault::VaultError;
use crate::vault::items::{ItemKind, Items, VersionState};

/// Looks whether the vault has the secrets that upstreams are to be shown.
///
/// # Errors
/// The first that it has not, or that is none.
pub(super) async fn proved(config: &Config, parts: &Services) -> Result<(), AppError> {
    for (name, upstream) in &config.upstreams {
        let wrong = |item: &ItemId, why: &str| {
            AppError::Route(format!("to upstream {}", name.as_str()), format!("{item} {why}"))
        };
        for item in items_of(upstream) {
            let opened = match parts.items.get(item).await {
                Ok(opened) => opened,
                Err(VaultError::Unknown) => return Err(wrong(item, "is not in the vault")),
                Err(error) => return Err(error.into()),
            };
            if opened.item.kind != ItemKind::Secret {
                return Err(wrong(item, "is not a secret"));
            }
            // It may be switched off and on while we serve, too: that must not end all other routes.
            let usable = opened.item.is_enabled(parts.items.now())
                && opened.item.versions.last().is_some_and(|version| version.state == VersionState::Active);
            if !usable {
                let upstream = name.as_str();
                tracing::warn!(
                    target: "portcullis::upstream", upstream, %item,
                    "the secret may not be used now: requests to the upstream are refused until it may"
                );
            }
        }
    }
    Ok(())
}

/// The secrets of the vault that an upstream is shown.
fn items_of(upstream: &Upstream) -> impl Iterator<Item = &ItemId> {
    let aws = upstream.aws.iter().flat_map(|aws| [&aws.access_key, &aws.secret_key, &aws.session_token]);
    let all = upstream.headers.values().chain(aws.flatten());
    all.filter_map(|credential| match &**credential {
        Credential::Vault { item, .. } => Some(item),
        Credential::Supplied(_) => None,
    })
}

/// What an upstream is shown.
///
/// # Errors
/// A header's name that is wrong, which checking has made sure of.
pub(super) fn of(setting: &Upstream, items: &Items) -> Result<CredentialParts, &'static str> {
    let one = |setting: &Credential| match setting {
        Credential::Supplied(supplied) => UpstreamCredential::Fixed(supplied.value().clone()),
        Credential::Vault { item, prefix } => {
            UpstreamCredential::Vault { items: items.clone(), item: item.clone(), prefix: prefix.clone() }
        }
    };
    let mut headers = Vec::new();
    for (name, value) in &setting.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "a header's name is wrong")?;
        headers.push((name, one(value)));
    }
    let keys = setting.aws.as_ref().and_then(|aws| {
        let (id, secret) = (aws.access_key.as_ref()?, aws.secret_key.as_ref()?);
        let session_token = aws.session_token.as_ref().map(|token| one(token));
        Some(AwsKeyParts { id: one(id), secret: one(secret), session_token })
    });
    Ok(CredentialParts { headers, aws: keys })
}
