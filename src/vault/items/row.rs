//! An item as the plaintext of its row: `form (1 byte) ‖ length (4) ‖ head (JSON) ‖ versions`, each version `state (1)
//! ‖ created (8) ‖ destroyed (8) ‖ length (4) ‖ public key ‖ length (4) ‖ material`. Material is never put through
//! JSON, whose reader and writer leave copies behind. Numbers are big-endian; times are milliseconds since the epoch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::id::ItemId;
use crate::base::reader::ByteReader;
use crate::base::secret::Secret;
use crate::vault::VaultError;
use crate::vault::items::algorithm::{Algorithm, ItemKind, Purpose};
use crate::vault::items::folder::Path;
use crate::vault::items::frequency::Frequency;
use crate::vault::items::object::{Item, KeyFacts, Label, Rotation, Version};
use crate::vault::items::state::VersionState;

const FORM: u8 = 1;
/// The length of what is not there.
const NONE: u32 = u32::MAX;
/// Bytes of a version beside its two keys.
const FIXED: usize = 1 + 8 + 8 + 4 + 4;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowHead {
    id: String,
    kind: String,
    name: String,
    folder: String,
    metadata: BTreeMap<String, String>,
    tags: Vec<String>,
    off: bool,
    disabled_at: Option<u64>,
    frequency: Option<String>,
    rotation: Option<String>,
    created_at: u64,
    key: Option<HeadKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadKey {
    purpose: String,
    algorithm: String,
    exportable: bool,
}

impl RowHead {
    fn of(item: &Item) -> Self {
        let label = &item.label;
        Self {
            id: item.id.to_string(),
            kind: item.kind.name().to_owned(),
            name: label.name.clone(),
            folder: label.folder.to_string(),
            metadata: label.metadata.clone(),
            tags: label.tags.clone(),
            off: label.off,
            disabled_at: label.disabled_at.map(Timestamp::as_millis),
            frequency: label.rotation.frequency.as_ref().map(ToString::to_string),
            rotation: label.rotation.state.map(|state| state.name().to_owned()),
            created_at: item.created_at.as_millis(),
            key: item.key.map(|key| HeadKey {
                purpose: key.purpose.name().to_owned(),
                algorithm: key.algorithm.name().to_owned(),
                exportable: key.exportable,
            }),
        }
    }

    fn item(self, versions: Vec<Version>) -> Option<Item> {
        let kind = ItemKind::ALL.into_iter().find(|kind| kind.name() == self.kind)?;
        let key = match self.key {
            Some(key) => Some(key.facts(kind)?),
            None => None,
        };
        let frequency = match self.frequency {
            Some(text) => Some(Frequency::parse(&text)?),
            None => None,
        };
        let rotation = match self.rotation {
            Some(name) => Some(VersionState::ALL.into_iter().find(|state| state.name() == name)?),
            None => None,
        };
        Some(Item {
            id: ItemId::parse(&self.id)?,
            kind,
            label: Label {
                name: self.name,
                folder: Path::parse(&self.folder)?,
                metadata: self.metadata,
                tags: self.tags,
                off: self.off,
                disabled_at: self.disabled_at.map(Timestamp::from_millis),
                rotation: Rotation { frequency, state: rotation },
            },
            created_at: Timestamp::from_millis(self.created_at),
            key,
            versions,
        })
    }
}

impl HeadKey {
    fn facts(self, kind: ItemKind) -> Option<KeyFacts> {
        let purpose = Purpose::ALL.into_iter().find(|purpose| purpose.name() == self.purpose)?;
        let mut all = Algorithm::all(kind, purpose).into_iter();
        let algorithm = all.find(|algorithm| algorithm.name() == self.algorithm)?;
        Some(KeyFacts { purpose, algorithm, exportable: self.exportable })
    }
}

/// The item as bytes.
pub(super) fn write(item: &Item) -> Result<Secret<Vec<u8>>, VaultError> {
    let head = serde_json::to_vec(&RowHead::of(item)).map_err(|_| VaultError::Damaged)?;
    let keys = |version: &Version| {
        version.public.len() + version.material.as_ref().map_or(0, |material| material.expose().len())
    };
    let versions: usize = item.versions.iter().map(|version| FIXED + keys(version)).sum();
    // Its final size at once: growing would leave copies behind.
    let mut out = Vec::with_capacity(1 + 4 + head.len() + versions);
    out.push(FORM);
    piece(Some(&head), &mut out);
    for version in &item.versions {
        out.push(version.state as u8);
        out.extend_from_slice(&version.created_at.as_millis().to_be_bytes());
        let destroyed = version.destroyed_at.map_or(0, Timestamp::as_millis);
        out.extend_from_slice(&destroyed.to_be_bytes());
        piece(Some(&version.public), &mut out);
        piece(version.material.as_ref().map(|material| material.expose().as_slice()), &mut out);
    }
    Ok(Secret::new(out))
}

fn piece(bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    let length = bytes.map_or(NONE, |bytes| u32::try_from(bytes.len()).unwrap_or(NONE));
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes.unwrap_or_default());
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// [`VaultError::Newer`] for a form of a later version of this program, [`VaultError::Damaged`] for none at all.
pub(super) fn read(bytes: &Secret<Vec<u8>>) -> Result<Item, VaultError> {
    match bytes.expose().split_first() {
        Some((&FORM, rest)) => item(rest).ok_or(VaultError::Damaged),
        Some(_) => Err(VaultError::Newer),
        None => Err(VaultError::Damaged),
    }
}

fn item(bytes: &[u8]) -> Option<Item> {
    let mut reader = ByteReader::new(bytes);
    let head: RowHead = serde_json::from_slice(piece_of(&mut reader)??).ok()?;
    let mut versions = Vec::new();
    while !reader.is_empty() {
        let state = VersionState::ALL.into_iter().nth(usize::from(reader.byte()?))?;
        let created_at = Timestamp::from_millis(reader.u64()?);
        let destroyed = reader.u64()?;
        versions.push(Version {
            number: u32::try_from(versions.len() + 1).ok()?,
            state,
            created_at,
            destroyed_at: (destroyed != 0).then(|| Timestamp::from_millis(destroyed)),
            public: piece_of(&mut reader)??.to_vec(),
            material: piece_of(&mut reader)?.map(|bytes| Secret::new(bytes.to_vec())),
        });
    }
    head.item(versions)
}

/// A piece, or `None` in place of one.
#[expect(clippy::option_option, reason = "the outer one: whether it could be read")]
fn piece_of<'a>(reader: &mut ByteReader<'a>) -> Option<Option<&'a [u8]>> {
    if reader.rest().starts_with(&NONE.to_be_bytes()) {
        return reader.u32().map(|_| None);
    }
    reader.long().map(Some)
}
