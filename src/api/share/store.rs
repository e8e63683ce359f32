//! What is done with the objects of [`Shares`]: put, opened, changed, deleted, swept.

use std::collections::BTreeMap;
use std::time::Duration;

use data_encoding::HEXLOWER;

use crate::api::share::folder::Folder;
use crate::api::share::object::{Object, ShareObjectKind};
use crate::api::share::rows::{Location, NewObject, Parent, ShareError, Shares, key};
use crate::base::clock::Timestamp;
use crate::base::id::ShareId;
use crate::store::{Area, Blob, BlobDigests, OpenBlob, Precondition};

/// Bytes that no row knows are removed once they are older than any put takes.
const ORPHAN: Duration = Duration::from_secs(24 * 3600);

/// Files looked at in one sweep for bytes that no row knows.
const SWEEP: usize = 10_000;

/// A file in the blobs, and what is known of its bytes.
#[derive(Clone, Copy)]
pub struct StoredFile<'a> {
    /// Where the bytes are.
    pub blob: &'a Blob,
    /// How many, and their digests.
    pub facts: &'a BlobDigests,
}

/// What of an object changes.
#[derive(Clone, Debug, Default)]
pub struct ObjectChange {
    /// The time of the version that the caller knows.
    pub updated_at: Option<Timestamp>,
    /// Another name.
    pub name: Option<String>,
    /// Another folder.
    pub parent: Option<Parent>,
    /// Another time to stay.
    pub ttl: Option<String>,
    /// Other notes: all, added, removed where they are the same.
    pub metadata: [Option<BTreeMap<String, String>>; 3],
    /// Other tags: all, added, removed.
    pub tags: [Option<Vec<String>>; 3],
}

impl Shares {
    /// Takes a file that was put into the blobs as an object of this name in the folder, which is made if it is not
    /// there.
    ///
    /// # Errors
    /// A path that is none, a blob that is not there, the store's.
    pub async fn put(
        &self,
        tenant: &str,
        folder: &str,
        name: &str,
        file: StoredFile<'_>,
    ) -> Result<ShareId, ShareError> {
        let new = NewObject { name: name.to_owned(), ..NewObject::default() };
        let parent = Parent { folder: Some(folder.to_owned()), id: None };
        self.put_as(tenant, &parent, new, file).await.map(|object| object.id)
    }

    /// The same with all that may be said of a file.
    ///
    /// # Errors
    /// As [`Shares::put`].
    pub async fn put_as(
        &self,
        tenant: &str,
        parent: &Parent,
        new: NewObject,
        file: StoredFile<'_>,
    ) -> Result<Object, ShareError> {
        let (folder, parent) = self.parent(tenant, parent).await?;
        let kept = self.blobs.keep(file.blob).await?.ok_or(ShareError::Unknown)?;
        let mut object =
            self.object(kept.id().twin(), ShareObjectKind::File, Location { folder, parent }, new);
        object.size = file.facts.size;
        object.sha256 = HEXLOWER.encode(&file.facts.sha256);
        let put = match self.expiry(tenant, &object).await {
            Ok(expires) => {
                object.expires = expires;
                self.write(tenant, &object, Precondition::Absent).await
            }
            Err(error) => Err(error),
        };
        // Where the store has not answered, the row may be there: its bytes stay, and are swept if it is not.
        if put.as_ref().is_err_and(|error| !matches!(error, ShareError::Store(_))) {
            drop(self.blobs.remove(&kept).await);
        }
        put.map(|version| Object { version, ..object })
    }

    /// A file and its bytes.
    ///
    /// # Errors
    /// [`ShareError::Unknown`], also for a folder; the store's.
    pub async fn open(&self, tenant: &str, id: &ShareId) -> Result<(Object, OpenBlob), ShareError> {
        let object = self.get(tenant, id).await?;
        if object.kind == ShareObjectKind::Dir {
            return Err(ShareError::Unknown);
        }
        let opened = self.blobs.get(&object.blob()).await?.ok_or(ShareError::Unknown)?;
        Ok((object, opened))
    }

    /// Makes a folder in another, which is made if it is not there. One that is there already is returned as it is.
    ///
    /// # Errors
    /// A path that is none, the store's.
    pub async fn make_folder(
        &self,
        tenant: &str,
        parent: &Parent,
        new: NewObject,
    ) -> Result<Object, ShareError> {
        let (folder, parent) = self.parent(tenant, parent).await?;
        let path = folder.below(&new.name).ok_or(ShareError::Path)?;
        if let Some(id) = self.find(tenant, &path).await? {
            return self.get(tenant, &id).await;
        }
        self.make(tenant, path, Location { folder, parent }, new).await
    }

    /// Whether there is a folder of this path.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_folder(&self, tenant: &str, path: &Folder) -> Result<bool, ShareError> {
        Ok(path.is_root() || self.find(tenant, path).await?.is_some())
    }

    /// Changes an object.
    ///
    /// # Errors
    /// [`ShareError::Stale`], or a folder that has something in it and would get another path; the store's.
    pub async fn update(
        &self,
        tenant: &str,
        id: &ShareId,
        change: ObjectChange,
    ) -> Result<Object, ShareError> {
        let before = self.get(tenant, id).await?;
        if change.updated_at.is_some_and(|at| at != before.updated_at) {
            return Err(ShareError::Stale);
        }
        let mut object = before.clone();
        if let Some(name) = change.name {
            object.name = name;
        }
        if let Some(parent) = &change.parent {
            if let Some(own) = before.path()
                && self.lies_in(tenant, parent, &own).await?
            {
                return Err(ShareError::Within);
            }
            (object.folder, object.parent) = self.parent(tenant, parent).await?;
        }
        let [all, add, remove] = change.metadata;
        object.metadata = all.unwrap_or(object.metadata);
        object.metadata.extend(add.unwrap_or_default());
        let gone = remove.unwrap_or_default();
        object.metadata.retain(|name, text| gone.get(name) != Some(text));
        let [all, add, remove] = change.tags;
        object.tags = all.unwrap_or(object.tags);
        object.tags.extend(add.unwrap_or_default());
        let gone = remove.unwrap_or_default();
        let mut seen = std::collections::BTreeSet::new();
        object.tags.retain(|tag| !gone.contains(tag) && seen.insert(tag.clone()));
        if change.ttl.is_some() {
            object.ttl = change.ttl;
        }
        object.expires = self.expiry(tenant, &object).await?;
        // The time tells versions apart, so no two share a millisecond.
        let later = Timestamp::from_millis(before.updated_at.as_millis().saturating_add(1));
        object.updated_at = self.clock.now().max(later);
        let moved = before.path() != object.path();
        if moved {
            self.rename(tenant, &before, &object).await?;
        }
        let version = self.write(tenant, &object, Precondition::Version(before.version)).await?;
        if let (true, Some(path)) = (moved, before.path()) {
            self.forget(tenant, &path).await?;
        }
        Ok(Object { version, ..object })
    }

    /// Removes an object; of a folder all that is in it too, if that is wanted. Returns how many objects that were.
    ///
    /// # Errors
    /// [`ShareError::NotEmpty`], [`ShareError::Unknown`], the store's.
    pub async fn delete(&self, tenant: &str, id: &ShareId, all: bool) -> Result<u64, ShareError> {
        let object = self.get(tenant, id).await?;
        let Some(path) = object.path() else { return self.remove(tenant, &object).await.map(|()| 1) };
        let mut inner = self.all(tenant).await?;
        inner.retain(|other| path.holds(&other.folder));
        if !(all || inner.is_empty()) {
            return Err(ShareError::NotEmpty);
        }
        // What lies deepest first, so that what is left after a failure still hangs together.
        inner.sort_by_key(|other| {
            std::cmp::Reverse((other.folder.as_str().len(), other.kind == ShareObjectKind::File))
        });
        let mut count = 0;
        for object in inner.iter().chain([&object]) {
            match self.remove(tenant, object).await {
                Ok(()) => count += 1,
                Err(ShareError::Unknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// Removes what has expired, and bytes that no row knows; returns how many objects that were.
    ///
    /// # Errors
    /// The store's.
    pub async fn sweep(&self) -> Result<u64, ShareError> {
        let now = self.clock.now();
        let mut gone = Vec::new();
        self.each(|_, read| match read {
            Ok((owner, object)) if object.expires.is_some_and(|at| at <= now) => gone.push((owner, object)),
            Ok(_) | Err(_) => {}
        })
        .await?;
        let mut count = 0;
        for (tenant, object) in gone {
            count += u64::from(self.remove(&tenant, &object).await.is_ok());
        }
        let before = now.as_millis().saturating_sub(u64::try_from(ORPHAN.as_millis()).unwrap_or(u64::MAX));
        for blob in self.blobs.older(Area::Kept, Timestamp::from_millis(before), SWEEP).await? {
            if self.records.get(&key(&blob.id().twin())).await?.is_none() {
                self.blobs.remove(&blob).await?;
            }
        }
        Ok(count)
    }
}
