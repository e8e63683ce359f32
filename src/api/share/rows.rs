//! [`Shares`]: objects as rows of the store, their bytes as blobs of the same random name.
//!
//! A folder's path is its name: a second row, named by a digest of the path, says which object it is, so that of two
//! who make one folder the second finds the first's.

use std::collections::BTreeMap;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use crate::api::error::ApiError;
use crate::api::share::folder::Folder;
use crate::api::share::object::{Object, ShareObjectKind};
use crate::base::clock::{SharedClock, Timestamp};
use crate::base::id::ShareId;
use crate::crypto::hash::sha256;
use crate::crypto::random::{self, RandomError};
use crate::store::{Blobs, Change, Key, NewRow, Pages, Precondition, Records, Row, StoreError, update};
use crate::vault::items::frequency;

const OBJECT: &str = "share.object";
const FOLDER: &str = "share.folder";

/// Why an object cannot be had or changed.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// There is no such object, or it is another tenant's.
    #[error("there is no such object")]
    Unknown,
    /// The folder named by its id is none.
    #[error("there is no such folder")]
    NoFolder,
    /// Folder and parent id name two folders.
    #[error("`folder` and `parent_id` name two folders")]
    TwoFolders,
    /// The path would be too long.
    #[error("the path is too long")]
    Path,
    /// The folder has something in it.
    #[error("the folder is not empty")]
    NotEmpty,
    /// A folder cannot lie in itself.
    #[error("a folder cannot lie in itself")]
    Within,
    /// There is a folder of this name, or a file where a folder should be.
    #[error("there is a folder of this name already")]
    Taken,
    /// The object was written since it was read.
    #[error("the object was changed by somebody else")]
    Stale,
    /// A row that cannot be read.
    #[error("a row cannot be read; it may be from a later version of this program")]
    Row,
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ShareError {
    /// How it is answered where it is no fault of the call.
    pub(crate) fn unread(&self) -> ApiError {
        match self {
            Self::Store(error) => ApiError::store(error, "share"),
            _ => ApiError::Internal("share"),
        }
    }
}

/// Which folder is meant: by path, by id, by both, or the root.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Parent {
    /// By its path; made if it is not there.
    pub folder: Option<String>,
    /// By its id; empty for the root.
    pub id: Option<String>,
}

/// The folder that an object lies in, and its id; the root has none.
pub(super) struct Location {
    pub(super) folder: Folder,
    pub(super) parent: Option<ShareId>,
}

/// What a new object is to be.
#[derive(Clone, Debug, Default)]
pub struct NewObject {
    /// Its name; empty: its id.
    pub name: String,
    /// Notes.
    pub metadata: BTreeMap<String, String>,
    /// Tags.
    pub tags: Vec<String>,
    /// How long it stays, or files in it; `None`: as the folder says.
    pub ttl: Option<String>,
}

/// A row's JSON; times are milliseconds since the epoch. The id is the row's.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredObject {
    tenant: String,
    kind: ShareObjectKind,
    name: String,
    folder: String,
    parent: Option<String>,
    metadata: BTreeMap<String, String>,
    tags: Vec<String>,
    size: u64,
    sha256: String,
    ttl: Option<String>,
    expires: Option<u64>,
    created_at: u64,
    updated_at: u64,
}

/// The objects of one store. Cheap to clone.
#[derive(Clone)]
pub struct Shares {
    pub(super) records: Arc<dyn Records>,
    pub(super) blobs: Arc<dyn Blobs>,
    pub(super) clock: SharedClock,
}

impl Shares {
    /// The objects in these stores.
    pub fn new(records: Arc<dyn Records>, blobs: Arc<dyn Blobs>, clock: SharedClock) -> Self {
        Self { records, blobs, clock }
    }

    /// Where the bytes are.
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.blobs
    }

    /// An object.
    ///
    /// # Errors
    /// [`ShareError::Unknown`], the store's.
    pub async fn get(&self, tenant: &str, id: &ShareId) -> Result<Object, ShareError> {
        let row = self.records.get(&key(id)).await?.ok_or(ShareError::Unknown)?;
        let (owner, object) = read(&row)?;
        let there = owner == tenant && object.expires.is_none_or(|at| at > self.clock.now());
        if there { Ok(object) } else { Err(ShareError::Unknown) }
    }

    /// Every object of the tenant.
    ///
    /// # Errors
    /// The store's.
    pub async fn all(&self, tenant: &str) -> Result<Vec<Object>, ShareError> {
        let now = self.clock.now();
        let mut all = Vec::new();
        let mut unread = None;
        self.each(|row, read| match read {
            Ok((owner, object)) if owner == tenant && object.expires.is_none_or(|at| at > now) => {
                all.push(object);
            }
            Ok(_) => {}
            Err(error) if is_of(row, tenant) => unread = Some(error),
            Err(_) => {}
        })
        .await?;
        unread.map_or(Ok(all), Err)
    }

    /// Whether what is meant is this folder or lies in it. Nothing is made.
    pub(super) async fn lies_in(
        &self,
        tenant: &str,
        parent: &Parent,
        own: &Folder,
    ) -> Result<bool, ShareError> {
        let by_path = parent.folder.as_deref().and_then(Folder::parse);
        if by_path.is_some_and(|path| own.holds(&path)) {
            return Ok(true);
        }
        let Some(id) = parent.id.as_deref().and_then(ShareId::parse) else { return Ok(false) };
        match self.get(tenant, &id).await {
            Ok(found) => Ok(found.path().is_some_and(|path| own.holds(&path))),
            Err(ShareError::Unknown) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The folder that is meant, and its id.
    pub(super) async fn parent(
        &self,
        tenant: &str,
        parent: &Parent,
    ) -> Result<(Folder, Option<ShareId>), ShareError> {
        let by_path = parent.folder.as_deref().filter(|path| !path.is_empty());
        let by_path = by_path.map(|path| Folder::parse(path).ok_or(ShareError::Path)).transpose()?;
        let Some(id) = parent.id.as_deref().filter(|id| !id.is_empty()) else {
            let folder = by_path.unwrap_or_default();
            let id = self.ensure(tenant, &folder).await?;
            return Ok((folder, id));
        };
        let id = ShareId::parse(id).ok_or(ShareError::NoFolder)?;
        let found = self.get(tenant, &id).await.map_err(|error| match error {
            ShareError::Unknown => ShareError::NoFolder,
            other => other,
        })?;
        let folder = found.path().ok_or(ShareError::NoFolder)?;
        if by_path.is_some_and(|path| path != folder) {
            return Err(ShareError::TwoFolders);
        }
        Ok((folder, Some(id)))
    }

    /// The folder's id; it and those that it lies in are made if they are not there.
    async fn ensure(&self, tenant: &str, folder: &Folder) -> Result<Option<ShareId>, ShareError> {
        let mut missing = Vec::new();
        let (mut at, mut parent) = (folder.clone(), None);
        while let Some((outer, name)) = at.split() {
            if let Some(id) = self.find(tenant, &at).await? {
                parent = Some(id);
                break;
            }
            missing.push((at.clone(), outer.clone(), name.to_owned()));
            at = outer;
        }
        while let Some((path, outer, name)) = missing.pop() {
            let new = NewObject { name, ..NewObject::default() };
            parent = Some(self.make(tenant, path, Location { folder: outer, parent }, new).await?.id);
        }
        Ok(parent)
    }

    /// Makes a folder; if somebody else makes it meanwhile, theirs.
    pub(super) async fn make(
        &self,
        tenant: &str,
        path: Folder,
        location: Location,
        new: NewObject,
    ) -> Result<Object, ShareError> {
        let object = self.object(ShareId::from_random(random::bytes()?), ShareObjectKind::Dir, location, new);
        let version = self.write(tenant, &object, Precondition::Absent).await?;
        let entry = NewRow::lasting(object.id.to_string().into_bytes());
        match self.records.put_if(&folder_key(tenant, &path), Precondition::Absent, entry).await {
            Ok(_) => Ok(Object { version, ..object }),
            Err(error) => {
                drop(self.records.remove_if(&key(&object.id), version).await);
                if !matches!(error, StoreError::Conflict) {
                    return Err(error.into());
                }
                let theirs = self.find(tenant, &path).await?.ok_or(ShareError::Stale)?;
                self.get(tenant, &theirs).await
            }
        }
    }

    /// The folder of this path, if it is there.
    pub(super) async fn find(&self, tenant: &str, path: &Folder) -> Result<Option<ShareId>, ShareError> {
        let Some(row) = self.records.get(&folder_key(tenant, path)).await? else { return Ok(None) };
        let id =
            std::str::from_utf8(&row.entry.value).ok().and_then(ShareId::parse).ok_or(ShareError::Row)?;
        match self.get(tenant, &id).await {
            Ok(found) if found.path().as_ref() == Some(path) => Ok(Some(id)),
            // A name that a crash has left.
            Ok(_) | Err(ShareError::Unknown) => {
                match self.records.remove_if(&row.key, row.version).await {
                    // Somebody else took it away, or took it.
                    Ok(()) | Err(StoreError::Conflict) => Ok(None),
                    Err(error) => Err(error.into()),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the new path of a folder that has nothing in it.
    pub(super) async fn rename(
        &self,
        tenant: &str,
        before: &Object,
        after: &Object,
    ) -> Result<(), ShareError> {
        let (Some(old), new) = (before.path(), after.path().ok_or(ShareError::Path)?) else { return Ok(()) };
        if self.all(tenant).await?.iter().any(|other| old.holds(&other.folder)) {
            return Err(ShareError::NotEmpty);
        }
        if self.find(tenant, &new).await?.is_some() {
            return Err(ShareError::Taken);
        }
        let entry = NewRow::lasting(after.id.to_string().into_bytes());
        match self.records.put_if(&folder_key(tenant, &new), Precondition::Absent, entry).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict) => Err(ShareError::Taken),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn forget(&self, tenant: &str, path: &Folder) -> Result<(), ShareError> {
        let Some(row) = self.records.get(&folder_key(tenant, path)).await? else { return Ok(()) };
        match self.records.remove_if(&row.key, row.version).await {
            Ok(()) | Err(StoreError::Conflict) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the row first: bytes that no row knows are swept, a row without bytes would be seen.
    pub(super) async fn remove(&self, tenant: &str, object: &Object) -> Result<(), ShareError> {
        update(self.records.as_ref(), &key(&object.id), |row| match row {
            Some(_) => Ok(Change::Remove(())),
            None => Err(ShareError::Unknown),
        })
        .await?;
        match object.path() {
            Some(path) => self.forget(tenant, &path).await,
            None => Ok(self.blobs.remove(&object.blob()).await?),
        }
    }

    pub(super) fn object(
        &self,
        id: ShareId,
        kind: ShareObjectKind,
        location: Location,
        new: NewObject,
    ) -> Object {
        let now = self.clock.now();
        Object {
            version: 0,
            kind,
            name: if new.name.is_empty() { id.to_string() } else { new.name },
            id,
            folder: location.folder,
            parent: location.parent,
            metadata: new.metadata,
            tags: new.tags,
            size: 0,
            sha256: String::new(),
            ttl: new.ttl,
            expires: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// When a file is to go: as it says itself, else as the nearest folder says.
    pub(super) async fn expiry(
        &self,
        tenant: &str,
        object: &Object,
    ) -> Result<Option<Timestamp>, ShareError> {
        if object.kind == ShareObjectKind::Dir {
            return Ok(None);
        }
        let (mut ttl, mut parent) = (object.ttl.clone(), object.parent.clone());
        while let (None, Some(id)) = (&ttl, parent) {
            let folder = self.get(tenant, &id).await?;
            (ttl, parent) = (folder.ttl, folder.parent);
        }
        let life = ttl.and_then(|text| frequency::span(&text));
        Ok(life.map(|life| object.created_at.plus(life)))
    }

    pub(super) async fn write(
        &self,
        tenant: &str,
        object: &Object,
        expected: Precondition,
    ) -> Result<u64, ShareError> {
        let stored = StoredObject {
            tenant: tenant.to_owned(),
            kind: object.kind,
            name: object.name.clone(),
            folder: object.folder.as_str().to_owned(),
            parent: object.parent.as_ref().map(ToString::to_string),
            metadata: object.metadata.clone(),
            tags: object.tags.clone(),
            size: object.size,
            sha256: object.sha256.clone(),
            ttl: object.ttl.clone(),
            expires: object.expires.map(Timestamp::as_millis),
            created_at: object.created_at.as_millis(),
            updated_at: object.updated_at.as_millis(),
        };
        let value = serde_json::to_vec(&stored).map_err(|_| ShareError::Row)?;
        match self.records.put_if(&key(&object.id), expected, NewRow::lasting(value)).await {
            Err(StoreError::Conflict) => Err(ShareError::Stale),
            written => Ok(written?),
        }
    }

    pub(super) async fn each(
        &self,
        mut see: impl FnMut(&Row, Result<(String, Object), ShareError>) + Send,
    ) -> Result<(), ShareError> {
        let mut pages = Pages::all(self.records.as_ref(), OBJECT);
        while let Some(page) = pages.next().await? {
            for row in &page {
                see(row, read(row));
            }
        }
        Ok(())
    }
}

pub(super) fn key(id: &ShareId) -> Key {
    Key::new(OBJECT, id.to_string())
}

fn folder_key(tenant: &str, path: &Folder) -> Key {
    Key::new(FOLDER, format!("{tenant}/{}", HEXLOWER.encode(&sha256(path.as_str().as_bytes()))))
}

/// Whether a row that cannot be read may be this tenant's: what a later version has written for another is nothing to it.
pub(super) fn is_of(row: &Row, tenant: &str) -> bool {
    #[derive(Deserialize)]
    struct Owned {
        tenant: String,
    }
    let owned = serde_json::from_slice(&row.entry.value);
    owned.map_or(true, |Owned { tenant: owner }| owner == tenant)
}

/// The tenant whose object it is, and the object.
pub(super) fn read(row: &Row) -> Result<(String, Object), ShareError> {
    let stored: StoredObject = serde_json::from_slice(&row.entry.value).map_err(|_| ShareError::Row)?;
    let parent = stored.parent.map(|id| ShareId::parse(&id).ok_or(ShareError::Row)).transpose()?;
    let object = Object {
        id: ShareId::parse(row.key.id()).ok_or(ShareError::Row)?,
        version: row.version,
        kind: stored.kind,
        name: stored.name,
        folder: Folder::parse(&stored.folder).ok_or(ShareError::Row)?,
        parent,
        metadata: stored.metadata,
        tags: stored.tags,
        size: stored.size,
        sha256: stored.sha256,
        ttl: stored.ttl,
        expires: stored.expires.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(stored.created_at),
        updated_at: Timestamp::from_millis(stored.updated_at),
    };
    Ok((stored.tenant, object))
}
