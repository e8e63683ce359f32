//! What a running process does every second: it looks whether another process has put other keys in place.

use std::sync::Arc;
use std::time::Duration;

use crate::app::master;
use crate::app::services::Services;
use crate::config::Config;
use crate::vault::{Freshness, VaultError};

/// How often; [`crate::vault::rotation::GRACE`] leaves room for three.
const EVERY: Duration = Duration::from_secs(1);

const TARGET: &str = "portcullis::vault";

/// Looks until the process ends.
pub(super) async fn keep(parts: Arc<Services>, config: Config) {
    let mut gone = false;
    loop {
        tokio::time::sleep(EVERY).await;
        match look(&parts, &config).await {
            Ok(Freshness::Same) => gone = false,
            Ok(Freshness::Changed) => {
                gone = false;
                tracing::info!(target: TARGET, "read the keyring again: it was changed");
            }
            Ok(Freshness::Gone) if gone => {}
            Ok(Freshness::Gone) => {
                gone = true;
                tracing::warn!(
                    target: TARGET,
                    "the master key was replaced; once the configuration names the new one, SIGHUP reads it"
                );
            }
            // The store says so itself, to whoever needs it.
            Err(error) => tracing::debug!(target: TARGET, "the keyring could not be read: {error}"),
        }
    }
}

async fn look(parts: &Services, config: &Config) -> Result<Freshness, VaultError> {
    let fresh = parts.vault.refresh().await?;
    if fresh == Freshness::Gone && master::is_own(config) {
        // The file has the new key by now.
        master::follow(&parts.vault, parts.opened.records.as_ref(), config).await?;
        return Ok(Freshness::Changed);
    }
    Ok(fresh)
}
