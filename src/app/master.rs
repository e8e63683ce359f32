//! The master key, as the configuration says where it is.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::config::settings::{Settings, Vault as Said};
use crate::store::Records;
use crate::vault::{Freshness, MasterKey, Vault, VaultError};

/// Where the vault's own key is.
pub(super) fn file(settings: &Settings) -> PathBuf {
    settings.data.join("master.key")
}

/// Whether the vault keeps its own key.
pub(super) fn is_own(settings: &Settings) -> bool {
    let Said { master_key, master_key_command, passphrase } = &settings.vault;
    master_key.is_none() && master_key_command.is_none() && passphrase.is_none()
}

/// The key that the configuration names; a passphrase may make several, of which one opens the store.
pub(super) async fn keys(records: &dyn Records, settings: &Settings) -> Result<Vec<MasterKey>, VaultError> {
    let Said { master_key, master_key_command, passphrase } = &settings.vault;
    match (master_key, master_key_command, passphrase) {
        (Some(supplied), ..) => Ok(vec![MasterKey::from_text(supplied.value().expose())?]),
        (None, Some(command), _) => Ok(vec![of_command(command).await?]),
        (None, None, Some(passphrase)) => MasterKey::of_passphrase(records, passphrase.value()).await,
        (None, None, None) => own(&file(settings)).map(|key| vec![key]),
    }
}

fn own(path: &Path) -> Result<MasterKey, VaultError> {
    MasterKey::load(path)?.ok_or_else(|| VaultError::KeyMissing(path.to_owned()))
}

pub(super) async fn of_command(command: &[String]) -> Result<MasterKey, VaultError> {
    let command = command.to_vec();
    let run = tokio::task::spawn_blocking(move || MasterKey::from_command(&command));
    run.await.map_err(|error| VaultError::Crypto(Box::new(error)))?
}

/// Goes on with the key that the configuration names now, if another took over from the vault's.
///
/// # Errors
/// A key that cannot be had, or is not the one that took over.
pub(super) async fn follow(vault: &Vault, records: &dyn Records, config: &Config) -> Result<(), VaultError> {
    if vault.refresh().await? != Freshness::Gone && !vault.has_successor() {
        return Ok(());
    }
    let mut last = Ok(());
    for key in keys(records, config).await? {
        last = vault.take_over(&key).await;
        if last.is_ok() {
            break;
        }
    }
    last
}

/// That the next start would find the master key where `config` says, in the place of `running`. What takes a program, or long
/// because a passphrase makes it, is not tried where nothing about it has changed.
///
/// # Errors
/// A key that is missing, is none, or is another store's.
pub(super) async fn ensure_next_start(
    vault: &Vault,
    records: &dyn Records,
    config: &Config,
    running: &Config,
) -> Result<(), VaultError> {
    let Said { master_key_command, passphrase, .. } = &config.vault;
    if master_key_command.is_some() || passphrase.is_some() && config.vault == running.vault {
        return Ok(());
    }
    let mut last = Ok(());
    for key in keys(records, config).await? {
        last = match vault.ensure_opened_by(&key).await {
            // Nobody can tell now.
            Err(VaultError::Store(_)) => Ok(()),
            outcome => outcome,
        };
        if last.is_ok() {
            break;
        }
    }
    last
}
