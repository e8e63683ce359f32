//! [`Object`]: a file or folder of the share service. Fields: the public clients' `ItemData`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::share::folder::Folder;
use crate::base::clock::Timestamp;
use crate::base::id::ShareId;
use crate::store::{Area, Blob};

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareObjectKind {
    /// Bytes with a name.
    File,
    /// A place for files and folders.
    Dir,
}

impl ShareObjectKind {
    /// What callers see and clients compare with.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Dir => "folder",
        }
    }
}

/// A file or folder.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its id.
    pub id: ShareId,
    /// The row's version.
    pub version: u64,
    /// What it is.
    pub kind: ShareObjectKind,
    /// Its name.
    pub name: String,
    /// The folder that it lies in.
    pub folder: Folder,
    /// That folder's id; `None` for the root.
    pub parent: Option<ShareId>,
    /// Notes.
    pub metadata: BTreeMap<String, String>,
    /// Tags.
    pub tags: Vec<String>,
    /// A file's size, in bytes.
    pub size: u64,
    /// A file's SHA-256, in hexadecimal.
    pub sha256: String,
    /// How long it was said to stay, as it was written; for a folder: how long files in it stay.
    pub ttl: Option<String>,
    /// When it ceases to be there, if ever.
    pub expires: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
}

impl Object {
    /// Where a file's bytes are.
    pub fn blob(&self) -> Blob {
        Blob::new(Area::Kept, self.id.twin())
    }

    /// The path of a folder.
    pub fn path(&self) -> Option<Folder> {
        (self.kind == ShareObjectKind::Dir).then(|| self.folder.below(&self.name)).flatten()
    }
}

/// An object as callers see it.
#[derive(Debug, Serialize)]
pub struct ObjectView {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    folder: String,
    parent_id: String,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_ttl: Option<String>,
}

impl From<Object> for ObjectView {
    fn from(object: Object) -> Self {
        let file = object.kind == ShareObjectKind::File;
        Self {
            id: object.id.to_string(),
            kind: object.kind.word(),
            name: object.name,
            folder: object.folder.as_str().to_owned(),
            parent_id: object.parent.map(|id| id.to_string()).unwrap_or_default(),
            created_at: object.created_at.iso8601(),
            updated_at: object.updated_at.iso8601(),
            metadata: object.metadata,
            tags: object.tags,
            size: file.then_some(object.size),
            sha256: file.then_some(object.sha256),
            file_ttl: object.ttl,
        }
    }
}
