//! [`replace_master`]: another master key in place of the one that the configuration names.

use std::path::{Path, PathBuf};

use crate::app::error::AppError;
use crate::app::master;
use crate::app::open_store::OpenStore;
use crate::base::secret::Secret;
use crate::config::settings::Settings;
use crate::config::{Config, Env, ProcessEnv};
use crate::store::private;
use crate::vault::rotation::{self, Pace};
use crate::vault::{MasterKey, Rotated, Vault, VaultError};

/// Where another master key is to come from.
#[derive(Clone, Debug)]
pub enum NewMaster {
    /// The vault makes it, and puts it where its own key is.
    Own,
    /// This file, which only its owner may read.
    File(PathBuf),
    /// This environment variable.
    Env(String),
    /// This program and its arguments.
    Command(Vec<String>),
    /// A passphrase in this file.
    PassphraseFile(PathBuf),
    /// A passphrase in this environment variable.
    PassphraseEnv(String),
}

/// What became of the old master key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldKeyFate {
    /// It opens the store no more; so many rows were sealed anew.
    Dropped(u64),
    /// It still opens the store, as the new one does; so many rows were sealed anew.
    Kept(u64),
    /// It had been replaced before, and is dropped now.
    Finished,
}

/// Who sees how a replacement goes on.
pub struct RotationObserver<'a> {
    /// Called once all that may be wrong with the new key is known, before anything is written.
    pub begun: &'a dyn Fn(),
    /// Called for each row that was looked at, with whether it was sealed anew.
    pub looked: &'a (dyn Fn(bool) + Sync),
}

impl NewMaster {
    async fn key(&self, vault: &Vault, config: &Config) -> Result<MasterKey, AppError> {
        Ok(match self {
            Self::Own => MasterKey::load_or_create(&next(config))?,
            Self::File(path) => MasterKey::load(path)?.ok_or_else(|| missing(path))?,
            Self::Env(name) => MasterKey::from_text(variable(name)?.expose())?,
            Self::Command(command) => master::of_command(command).await?,
            Self::PassphraseEnv(name) => MasterKey::of_new_passphrase(vault, &variable(name)?).await?,
            Self::PassphraseFile(path) => MasterKey::of_new_passphrase(vault, &text(path)?).await?,
        })
    }
}

fn next(settings: &Settings) -> PathBuf {
    settings.data.join("master.key.next")
}

fn variable(name: &str) -> Result<Secret<String>, AppError> {
    match ProcessEnv.var(name).filter(|text| !text.trim().is_empty()) {
        Some(text) => Ok(Secret::new(text)),
        None => Err(AppError::Usage(format!("the environment variable `{name}` is not set"))),
    }
}

fn missing(path: &Path) -> AppError {
    AppError::Io(format!("{}: there is no such file", path.display()))
}

fn text(path: &Path) -> Result<Secret<String>, AppError> {
    let bytes = private::read(path).map_err(VaultError::from)?;
    let bytes = bytes.ok_or_else(|| missing(path))?;
    let text = std::str::from_utf8(bytes.expose()).map_err(|_| VaultError::Unfit("a passphrase is text"))?;
    // As the configuration reads it.
    let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
    match text.trim().is_empty() {
        true => Err(AppError::Usage(format!("{}: the passphrase is empty", path.display()))),
        false => Ok(Secret::new(text.to_owned())),
    }
}

/// Puts another master key in place of the configured one, while gateways run on the store. A stop in the middle leaves
/// a store that both open; doing it again goes on. Where the configuration names the key, the old one is kept the first time,
/// whatever is asked: it is dropped by doing it again, once the configuration names the new one.
///
/// # Errors
/// A store or a key that cannot be had, two that are the same, or somebody else who does the same with another key.
pub fn replace_master(
    opened: &OpenStore,
    config: &Config,
    new: &NewMaster,
    keep_old: bool,
    watched: RotationObserver<'_>,
) -> Result<OldKeyFate, AppError> {
    if matches!(new, NewMaster::Own) && !master::is_own(config) {
        let why = "the configuration names the master key's place, so say where the new one is";
        return Err(AppError::Usage(why.to_owned()));
    }
    let vault = opened.vault(config)?;
    let pace = Pace { grace: rotation::GRACE, looked: watched.looked };
    opened.io.block_on(async {
        // Stopped between the new file and the end.
        let begun = matches!(new, NewMaster::Own) && next(config).exists();
        if vault.has_predecessor() && !begun && !keep_old {
            vault.finish_rotation(pace).await?;
            return Ok(OldKeyFate::Finished);
        }
        let key = new.key(&vault, config).await?;
        let own = matches!(new, NewMaster::Own);
        // The configuration still names the old one, by which the next process would not open the store.
        let keep_old = keep_old || !own;
        let put = || match own {
            true => Ok(private::replace(&master::file(config), &next(config))?),
            false => Ok(()),
        };
        (watched.begun)();
        let Rotated { rows } = vault.rotate_master(&key, pace, !keep_old, put).await?;
        Ok(if keep_old { OldKeyFate::Kept(rows) } else { OldKeyFate::Dropped(rows) })
    })
}
