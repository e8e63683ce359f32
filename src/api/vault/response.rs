//! An item as callers see it. Clients fail where a member that they know is missing or null: [`ItemResponse`] has all
//! that the clients' models of keys, secrets and folders ask for.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::crypto::jws;
use crate::vault::VaultError;
use crate::vault::items::{
    Item, ItemKind, Items, KeyFacts, ListedItem, OpenItem, RotationTime, Selector, Version,
};

/// An item.
#[derive(Serialize)]
pub struct ItemResponse {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    folder: String,
    metadata: BTreeMap<String, String>,
    tags: Vec<String>,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_at: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    key: Option<KeyResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherited_settings: Option<InheritedFrom>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_versions: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_versions: Option<Vec<VersionResponse>>,
}

/// What only keys have.
#[derive(Serialize)]
struct KeyResponse {
    purpose: &'static str,
    algorithm: &'static str,
    exportable: bool,
    rotation_frequency: String,
    rotation_state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_rotated: Option<String>,
    /// Empty for never: the clients insist on a string.
    next_rotation: String,
}

/// The folders that say what an item inherits.
#[derive(Serialize)]
struct InheritedFrom {
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation_frequency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation_state: Option<String>,
}

/// One version of an item.
#[derive(Serialize)]
struct VersionResponse {
    version: u32,
    state: &'static str,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    destroyed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<RevealedSecret>,
}

/// A secret that its owner asked for, as text.
pub(super) struct RevealedSecret(pub(super) Secret<Vec<u8>>);

impl Serialize for RevealedSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(self.0.expose()))
    }
}

/// Whether a reply has the text of a secret in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Secrets {
    Shown,
    Hidden,
}

/// When a key was rotated last, and when it will be next.
#[derive(Clone, Copy)]
struct RotationTimes {
    last: Option<Timestamp>,
    next: Option<Timestamp>,
}

impl ItemResponse {
    /// The item with these of its versions.
    pub(super) fn new(
        items: &Items,
        opened: &OpenItem,
        selector: Selector,
        secrets: Secrets,
    ) -> Result<Self, VaultError> {
        let item = &opened.item;
        let keyed = (item.kind != ItemKind::Folder).then_some(());
        let version = |version: &Version| {
            let shown = item.kind == ItemKind::Secret && secrets == Secrets::Shown;
            let secret = shown.then(|| items.exported(opened, version).ok()).flatten();
            VersionResponse {
                version: version.number,
                state: version.state.name(),
                created_at: version.created_at.iso8601(),
                destroyed_at: version.destroyed_at.map(Timestamp::iso8601),
                public_key: opened.public(version).ok().map(|key| jws::public_pem(&key)),
                secret: secret.map(RevealedSecret),
            }
        };
        let versions: Vec<VersionResponse> = item.selected(selector)?.iter().map(version).collect();
        let times = RotationTimes { last: item.last_rotated(), next: opened.next_rotation() };
        Ok(Self {
            enabled: keyed.map(|()| item.is_enabled(items.now())),
            num_versions: keyed.map(|()| item.versions.len()),
            item_versions: keyed.map(|()| versions),
            ..Self::bare(item, &opened.settled, times)
        })
    }

    fn bare(item: &Item, settled: &RotationTime, times: RotationTimes) -> Self {
        let label = &item.label;
        let inherited = (item.kind != ItemKind::Secret).then(|| InheritedFrom::of(settled));
        Self {
            id: item.id.to_string(),
            kind: item.kind.name(),
            name: label.name.clone(),
            folder: label.folder.to_string(),
            metadata: label.metadata.clone(),
            tags: label.tags.clone(),
            created_at: item.created_at.iso8601(),
            enabled: None,
            disabled_at: label.disabled_at.map(Timestamp::iso8601),
            key: item.key.map(|key| KeyResponse::new(key, settled, times)),
            inherited_settings: inherited,
            num_versions: None,
            item_versions: None,
        }
    }

    /// The item as a list shows it.
    pub(super) fn listed(item: ListedItem) -> Self {
        let ListedItem { settled, last_rotated, next_rotation, .. } = &item;
        let settled = settled.clone();
        let times = RotationTimes { last: *last_rotated, next: *next_rotation };
        Self::bare(&item.into(), &settled, times)
    }
}

impl KeyResponse {
    fn new(key: KeyFacts, settled: &RotationTime, times: RotationTimes) -> Self {
        let RotationTimes { last, next } = times;
        Self {
            purpose: key.purpose.name(),
            algorithm: key.algorithm.name(),
            exportable: key.exportable,
            rotation_frequency: settled.frequency.to_string(),
            rotation_state: settled.state.name(),
            last_rotated: last.map(Timestamp::iso8601),
            next_rotation: next.map(Timestamp::iso8601).unwrap_or_default(),
        }
    }
}

impl InheritedFrom {
    fn of(settled: &RotationTime) -> Self {
        Self {
            rotation_frequency: settled.frequency_from.as_ref().map(ToString::to_string),
            rotation_state: settled.state_from.as_ref().map(ToString::to_string),
        }
    }
}
