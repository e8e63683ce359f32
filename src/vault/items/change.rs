//! What becomes of items: made, rotated, put into another state, changed, removed. All of it is seen at once and whole
//! or not at all.

use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::Timestamp;
use crate::base::id::ItemId;
use crate::crypto::random;
use crate::store::{Precondition, StoreError, Tries};
use crate::vault::VaultError;
use crate::vault::items::algorithm::ItemKind;
use crate::vault::items::material::Material;
use crate::vault::items::object::{Item, KeyFacts, Label, Rotation, Version};
use crate::vault::items::opened::{OpenItem, ReadyKeys};
use crate::vault::items::selector::Selector;
use crate::vault::items::state::VersionState;
use crate::vault::items::store::{FOLDERS, ITEMS, Items, MAX_VERSIONS, key};

/// What an item is made from.
#[derive(Debug)]
pub struct NewItem {
    /// What it is; not a folder.
    pub kind: ItemKind,
    /// Its name and so on; an empty name is made up.
    pub label: Label,
    /// What it is for, if it is a key.
    pub key: Option<KeyFacts>,
    /// Its first version.
    pub material: Material,
}

/// What is to be changed of an item; the rest stays.
pub type ItemChanges = Box<dyn Fn(&mut Label) + Send + Sync>;

/// What becomes of items is logged, by their ids.
pub(super) const AUDIT: &str = "portcullis::vault";

impl Item {
    /// Adds a version, and puts the one before into the state `then`, or a stricter one that it is in.
    fn rotate(&mut self, material: &Material, then: VersionState, now: Timestamp) -> Result<(), VaultError> {
        let number = u32::try_from(self.versions.len() + 1).unwrap_or(u32::MAX);
        let last = self.versions.last_mut().ok_or(VaultError::Forbidden("A folder cannot be rotated"))?;
        let after = last.state.after_rotation(then);
        if after != last.state {
            last.enter(after, now);
        }
        self.versions.push(Version::new(number, material, now));
        Ok(())
    }
}

impl Version {
    fn new(number: u32, material: &Material, now: Timestamp) -> Self {
        Self {
            number,
            state: VersionState::Active,
            created_at: now,
            destroyed_at: None,
            public: material.public.clone(),
            material: Some(material.secret.clone()),
        }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.state == VersionState::Compromised && self.destroyed_at.is_some_and(|at| at <= now)
    }
}

impl Items {
    /// Makes an item.
    ///
    /// # Errors
    /// What the store says.
    pub async fn create(&self, new: NewItem) -> Result<Arc<OpenItem>, VaultError> {
        let (at, now) = (self.vault().clock().instant(), self.now());
        let id = ItemId::from_random(random::bytes()?);
        let mut label = new.label;
        if label.name.is_empty() {
            label.name = made_up(new.kind, &id);
        }
        let versions = vec![Version::new(1, &new.material, now)];
        let item = Item { id, kind: new.kind, label, created_at: now, key: new.key, versions };
        let row = self.write(&key(&item.id), Precondition::Absent, &item).await?;
        tracing::info!(target: AUDIT, item = %item.id, kind = item.kind.name(), "made");
        self.opened(item, row, at, ReadyKeys::default()).await
    }

    /// Makes a folder in the folder of `label`.
    ///
    /// # Errors
    /// [`VaultError::Taken`], [`VaultError::Unfit`] for a name that no folder can have there, or what the store says.
    pub async fn create_folder(&self, label: Label) -> Result<Arc<OpenItem>, VaultError> {
        let (at, now) = (self.vault().clock().instant(), self.now());
        let path =
            label.folder.join(&label.name).ok_or(VaultError::Unfit("no folder can have this name there"))?;
        let id = ItemId::from_random(random::bytes()?);
        let item =
            Item { id, kind: ItemKind::Folder, label, created_at: now, key: None, versions: Vec::new() };
        match self.write(&self.folder_key(&path), Precondition::Absent, &item).await {
            Ok(row) => self.folder_opened(item, row, at),
            Err(VaultError::Store(StoreError::Conflict)) => Err(VaultError::Taken),
            Err(error) => Err(error),
        }
    }

    /// Adds a version, which is the one in use from then on. The one before goes into the state `then`, or into the
    /// one that the item or its folder says.
    ///
    /// # Errors
    /// [`VaultError::Unknown`], [`VaultError::Forbidden`], or what the store says.
    pub async fn rotate(
        &self,
        id: &ItemId,
        material: &Material,
        then: Option<VersionState>,
    ) -> Result<Arc<OpenItem>, VaultError> {
        let then = match then {
            Some(then) => then,
            None => self.read(id).await?.settled.state,
        };
        let now = self.now();
        let rotated = self.change(id, |item| item.rotate(material, then, now).map(|()| true)).await?;
        tracing::info!(target: AUDIT, item = %id, versions = rotated.item.versions.len(), "rotated");
        Ok(rotated)
    }

    /// Puts a version into another state; a compromised one is destroyed after `destroy_after`, if it is given.
    ///
    /// # Errors
    /// [`VaultError::Unknown`], [`VaultError::Forbidden`] for a state that it may not have, or what the store says.
    pub async fn change_state(
        &self,
        id: &ItemId,
        selector: Selector,
        then: VersionState,
        destroy_after: Option<Duration>,
    ) -> Result<Arc<OpenItem>, VaultError> {
        let now = self.now();
        let changed = self.change(id, |item| {
            let number = match item.kind {
                ItemKind::Folder => return Err(VaultError::Forbidden("A folder has no state")),
                _ => item.version(selector)?.number,
            };
            let version = item.versions.iter_mut().find(|version| version.number == number);
            let version = version.ok_or(VaultError::Unknown)?;
            if version.is_due(now) {
                version.enter(VersionState::Destroyed, now);
            }
            if !version.state.may_become(then) {
                return Err(VaultError::Forbidden("The version's state may not be changed to that one"));
            }
            version.enter(then, now);
            if then == VersionState::Compromised {
                version.destroyed_at = destroy_after.map(|after| now.plus(after));
            }
            Ok(true)
        });
        let changed = changed.await?;
        tracing::info!(target: AUDIT, item = %id, state = then.name(), "state changed");
        Ok(changed)
    }

    /// Changes what may change without another version.
    ///
    /// # Errors
    /// [`VaultError::Unknown`], [`VaultError::Forbidden`] where a folder would be moved, or what the store says.
    pub async fn update(&self, id: &ItemId, changes: &ItemChanges) -> Result<Arc<OpenItem>, VaultError> {
        self.change(id, |item| {
            let before = item.label.clone();
            changes(&mut item.label);
            let moved = before.name != item.label.name || before.folder != item.label.folder;
            if item.kind == ItemKind::Folder && moved {
                return Err(VaultError::Forbidden("A folder cannot be renamed or moved"));
            }
            if item.kind == ItemKind::Secret && item.label.rotation != Rotation::default() {
                return Err(VaultError::Forbidden("Secrets are not rotated by themselves"));
            }
            Ok(before != item.label)
        })
        .await
    }

    /// Removes an item with all its versions, and what lies in it if it is a folder and `recursive` says so.
    ///
    /// # Errors
    /// [`VaultError::Unknown`], [`VaultError::Forbidden`] for a folder that is not empty, or what the store says.
    pub async fn delete(&self, id: &ItemId, recursive: bool) -> Result<(), VaultError> {
        let opened = self.read(id).await?;
        let Item { kind: ItemKind::Folder, label, .. } = &opened.item else { return self.remove(id).await };
        let path = label.folder.join(&label.name).ok_or(VaultError::Damaged)?;
        let mut inside = Vec::new();
        for kind in [ITEMS, FOLDERS] {
            self.scan(kind, |_, item| {
                if item.label.folder.is_within(&path) {
                    inside.push(item.id);
                }
            })
            .await?;
        }
        if !inside.is_empty() && !recursive {
            return Err(VaultError::Forbidden("The folder is not empty"));
        }
        for id in inside.iter().chain([id]) {
            match self.remove(id).await {
                // Removed by somebody else meanwhile.
                Ok(()) | Err(VaultError::Unknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn remove(&self, id: &ItemId) -> Result<(), VaultError> {
        let mut tries = Tries::default();
        loop {
            let (key, row) = self.place(id).await?;
            match self.vault().records().remove_if(&key, row.version).await {
                Ok(()) => {
                    self.removed(id);
                    tracing::info!(target: AUDIT, item = %id, "removed");
                    return Ok(());
                }
                Err(StoreError::Conflict) => tries.again().await?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Does what is due: destroys, and rotates a key whose time has come. Only a version in full use is followed by
    /// another: what somebody took out of use stays so.
    pub(super) async fn settle(&self, opened: Arc<OpenItem>) -> Result<Arc<OpenItem>, VaultError> {
        let now = self.now();
        let id = opened.item.id.clone();
        let mut opened = opened;
        if opened.item.versions.iter().any(|version| version.is_due(now)) {
            opened = self
                .change(&id, |item| {
                    let due = item.versions.iter_mut().filter(|version| version.is_due(now));
                    Ok(due.map(|version| version.enter(VersionState::Destroyed, now)).count() > 0)
                })
                .await?;
        }
        let due = opened.next_rotation().is_some_and(|at| at <= now);
        let (Some(facts), Some(current)) = (opened.item.key, opened.item.versions.last()) else {
            return Ok(opened);
        };
        let usable = current.state == VersionState::Active && opened.item.is_enabled(now);
        if !due || !usable || opened.item.versions.len() >= MAX_VERSIONS {
            return Ok(opened);
        }
        let (number, then) = (current.number, opened.settled.state);
        let material = Material::generate(facts.algorithm).await?;
        let rotated = self.change(&id, |item| match item.versions.last() {
            Some(last) if last.number == number && last.state == VersionState::Active => {
                item.rotate(&material, then, now).map(|()| true)
            }
            _ => Ok(false),
        });
        match rotated.await {
            // What can be read can be used, though nothing can be written now.
            Err(VaultError::Store(error)) => {
                tracing::warn!(target: AUDIT, item = %id, %error, "a key could not be rotated");
                Ok(opened)
            }
            rotated => {
                tracing::info!(target: AUDIT, item = %id, "rotated, as it was due");
                rotated
            }
        }
    }
}

fn made_up(kind: ItemKind, id: &ItemId) -> String {
    let id = id.to_string();
    format!("{}_{}", kind.name(), id.get(id.len().saturating_sub(8)..).unwrap_or_default())
}
