//! [`Item`]: a key, a secret or a folder, with its versions. Source of the fields: the vendor's OpenAPI schema, v2.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::base::clock::Timestamp;
use crate::base::id::ItemId;
use crate::base::secret::Secret;
use crate::vault::VaultError;
use crate::vault::items::algorithm::{Algorithm, ItemKind, Purpose};
use crate::vault::items::folder::Path;
use crate::vault::items::frequency::Frequency;
use crate::vault::items::selector::Selector;
use crate::vault::items::state::{VersionState, VersionUse};

/// A key, a secret or a folder.
#[derive(Debug)]
pub struct Item {
    /// Given when it was made, and kept.
    pub id: ItemId,
    /// What it is.
    pub kind: ItemKind,
    /// What may change without another version.
    pub label: Label,
    /// When it was made.
    pub created_at: Timestamp,
    /// What it is for, if it is a key.
    pub key: Option<KeyFacts>,
    /// Its versions, from 1 without a gap; a folder has none.
    pub versions: Vec<Version>,
}

/// What of an item may change without another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// For people; need not be unique, but in a folder no two folders share one.
    pub name: String,
    /// Where it lies.
    pub folder: Path,
    /// What its owner notes about it.
    pub metadata: BTreeMap<String, String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Whether somebody switched it off.
    pub off: bool,
    /// From this time on it is as if it were off.
    pub disabled_at: Option<Timestamp>,
    /// When it is rotated.
    pub rotation: Rotation,
}

/// When a key is rotated, and what becomes of the version before. `None`: as its folder says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// How often.
    pub frequency: Option<Frequency>,
    /// What becomes of the version before.
    pub state: Option<VersionState>,
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFacts {
    /// Its purpose.
    pub purpose: Purpose,
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Whether its material may be handed out.
    pub exportable: bool,
}

/// One version of a key or secret.
#[derive(Debug)]
pub struct Version {
    /// From 1.
    pub number: u32,
    /// What it may be used for.
    pub state: VersionState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was or will be destroyed.
    pub destroyed_at: Option<Timestamp>,
    /// The public key as DER (SPKI); empty where there is none.
    pub public: Vec<u8>,
    /// What is kept secret; `None` once it is destroyed.
    pub(in crate::vault) material: Option<Secret<Vec<u8>>>,
}

impl Version {
    /// Puts it into a state; a destroyed one keeps nothing.
    pub(super) fn enter(&mut self, state: VersionState, now: Timestamp) {
        self.state = state;
        if state == VersionState::Destroyed {
            self.destroyed_at = Some(now);
            self.public = Vec::new();
            self.material = None;
        }
    }
}

impl Label {
    pub(super) fn is_enabled(&self, now: Timestamp) -> bool {
        !self.off && self.disabled_at.is_none_or(|at| now < at)
    }
}

impl Item {
    /// Whether it is on at this time.
    pub fn is_enabled(&self, now: Timestamp) -> bool {
        self.label.is_enabled(now)
    }

    /// Whether this version may be used so: an item that is off counts as suspended.
    pub fn allows(&self, version: &Version, wanted: VersionUse, now: Timestamp) -> bool {
        version.state.allows(wanted) && (self.is_enabled(now) || VersionState::Suspended.allows(wanted))
    }

    /// The newest version.
    ///
    /// # Errors
    /// [`VaultError::Forbidden`] for a folder, which has none.
    pub fn current(&self) -> Result<&Version, VaultError> {
        self.versions.last().ok_or(VaultError::Forbidden("A folder has no versions"))
    }

    /// The versions that the selector means, in ascending order.
    ///
    /// # Errors
    /// [`VaultError::Unknown`] if it means one that is not there.
    pub fn selected(&self, selector: Selector) -> Result<&[Version], VaultError> {
        if self.versions.is_empty() && matches!(selector, Selector::Current | Selector::All) {
            return Ok(&[]);
        }
        let count = u32::try_from(self.versions.len()).unwrap_or(u32::MAX);
        let (first, last) = selector.of(count).ok_or(VaultError::Unknown)?;
        self.versions.get(first as usize - 1..last as usize).ok_or(VaultError::Unknown)
    }

    /// The one version that the selector means.
    ///
    /// # Errors
    /// [`VaultError::Unknown`] if it is not there.
    pub fn version(&self, selector: Selector) -> Result<&Version, VaultError> {
        match self.selected(selector)? {
            [version] => Ok(version),
            _ => Err(VaultError::Unknown),
        }
    }

    /// The version that was in use `ahead` ago, or the next one that is still believed: what a rotation has retired
    /// (deactivated) goes on for that time. One that was suspended or worse does not.
    pub(super) fn handing_over(&self, now: Timestamp, ahead: Duration) -> Option<&Version> {
        let shown = |version: &Version| version.created_at.plus(ahead) <= now;
        let since = self.versions.iter().rposition(shown).unwrap_or(0);
        let believed =
            |version: &&Version| matches!(version.state, VersionState::Active | VersionState::Deactivated);
        self.versions.iter().skip(since).find(believed)
    }

    /// When the newest version was made by a rotation; `None` if there was none.
    pub fn last_rotated(&self) -> Option<Timestamp> {
        self.versions.last().filter(|version| version.number > 1).map(|version| version.created_at)
    }
}
