//! [`Items`]: items as rows. One row holds an item with all its versions, so that what changes together is seen
//! together: no token names a key that is not shown yet.
//!
//! What was read is remembered for less than a second, by versions of rows: a change made here holds at once, one
//! made by another process within that second. A row that is older than one that was seen was put back, and is
//! refused.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dashmap::DashMap;

use crate::base::clock::Timestamp;
use crate::base::id::ItemId;
use crate::store::{Key, NewRow, Pages, Precondition, Row, StoreError, Tries};
use crate::vault::items::algorithm::ItemKind;
use crate::vault::items::folder::Path;
use crate::vault::items::object::Item;
use crate::vault::items::opened::{OpenItem, ReadyKeys, RotationTime};
use crate::vault::items::row;
use crate::vault::{Vault, VaultError};

/// The most versions of one item.
pub const MAX_VERSIONS: usize = 10_000;

/// The most bytes of one item with all its versions.
pub const MAX_BYTES: usize = 16 << 20;

pub(in crate::vault) const ITEMS: &str = "vault.item";
pub(in crate::vault) const FOLDERS: &str = "vault.folder";

/// An item is read again after this.
const MEMORY: Duration = Duration::from_millis(900);
/// What nobody read again for so long is forgotten, keys and all, when something else is read.
const IDLE: Duration = Duration::from_secs(60);
/// Items remembered at one time. Beyond this many in use, the others are read each time.
const REMEMBERED: usize = 10_000;
/// Rows read at one time: with their largest size they should not fill the memory.
const PAGE: u32 = 8;

/// The items of one vault. Cheap to clone.
#[derive(Clone)]
pub struct Items(Arc<SharedItems>);

struct SharedItems {
    vault: Arc<Vault>,
    remembered: DashMap<ItemId, Arc<OpenItem>>,
    /// The newest version of each row that was seen.
    seen: DashMap<ItemId, u64>,
    /// When idle items were last forgotten.
    swept: Mutex<Instant>,
}

impl std::fmt::Debug for Items {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Items(..)")
    }
}

pub(super) fn key(id: &ItemId) -> Key {
    Key::new(ITEMS, id.to_string())
}

impl Items {
    /// The items in this vault.
    pub fn new(vault: Arc<Vault>) -> Self {
        let swept = Mutex::new(vault.clock().instant());
        Self(Arc::new(SharedItems { vault, remembered: DashMap::new(), seen: DashMap::new(), swept }))
    }

    pub(super) fn vault(&self) -> &Vault {
        &self.0.vault
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        self.vault().clock().now()
    }

    /// The item as it is now. What was due is done first: a rotation, or a destruction.
    ///
    /// # Errors
    /// [`VaultError::Unknown`], or what the store says.
    pub async fn get(&self, id: &ItemId) -> Result<Arc<OpenItem>, VaultError> {
        let opened = self.read(id).await?;
        self.settle(opened).await
    }

    /// The item as it was less than a second ago, for use. What was due is done first.
    ///
    /// # Errors
    /// As [`Items::get`]; a folder is unknown.
    pub async fn usable(&self, id: &ItemId) -> Result<Arc<OpenItem>, VaultError> {
        let now = self.vault().clock().instant();
        let remembered = self.0.remembered.get(id).map(|opened| Arc::clone(&opened));
        let fresh = remembered.filter(|opened| now.saturating_duration_since(opened.at) < MEMORY);
        let opened = match fresh {
            Some(opened) => opened,
            None => self.read_item(id).await?.ok_or(VaultError::Unknown)?,
        };
        self.settle(opened).await
    }

    /// The item as it is in the store.
    pub(super) async fn read(&self, id: &ItemId) -> Result<Arc<OpenItem>, VaultError> {
        match self.read_item(id).await? {
            Some(opened) => Ok(opened),
            None => self.folder_of(id).await?.ok_or(VaultError::Unknown).map(|(_, folder)| folder),
        }
    }

    async fn read_item(&self, id: &ItemId) -> Result<Option<Arc<OpenItem>>, VaultError> {
        let at = self.vault().clock().instant();
        let Some(row) = self.row(id).await? else {
            self.forget(id);
            return Ok(None);
        };
        let known = self.0.remembered.get(id).map(|opened| Arc::clone(&opened));
        let ready = known.filter(|known| known.row == row.version).map(|known| known.ready.clone());
        let item = self.open(&row)?;
        self.opened(item, row.version, at, ready.unwrap_or_default()).await.map(Some)
    }

    /// Remembers an item.
    pub(super) async fn opened(
        &self,
        item: Item,
        row: u64,
        at: Instant,
        ready: ReadyKeys,
    ) -> Result<Arc<OpenItem>, VaultError> {
        let settled = self.settled(&item).await?;
        let opened = Arc::new(OpenItem { item, settled, row, at, ready });
        let id = &opened.item.id;
        let newest = *self.0.seen.entry(id.clone()).and_modify(|seen| *seen = row.max(*seen)).or_insert(row);
        if newest == row {
            self.sweep(at);
            if self.0.remembered.len() < REMEMBERED {
                self.0.remembered.insert(id.clone(), Arc::clone(&opened));
            }
        }
        Ok(opened)
    }

    fn sweep(&self, now: Instant) {
        let mut swept = self.0.swept.lock().unwrap_or_else(PoisonError::into_inner);
        let full = self.0.remembered.len() >= REMEMBERED;
        if full || now.saturating_duration_since(*swept) >= IDLE {
            *swept = now;
            let longest = if full { MEMORY } else { IDLE };
            self.0.remembered.retain(|_, other| now.saturating_duration_since(other.at) < longest);
        }
    }

    pub(super) fn forget(&self, id: &ItemId) {
        self.0.remembered.remove(id);
    }

    /// The item was removed: whatever was read of it before is not remembered, and a row put back is refused.
    pub(super) fn removed(&self, id: &ItemId) {
        self.0.seen.insert(id.clone(), u64::MAX);
        self.forget(id);
    }

    /// An item's row, which is refused if it is older than one that was seen before it was read.
    async fn row(&self, id: &ItemId) -> Result<Option<Row>, VaultError> {
        let newest = self.newest(id);
        let row = self.vault().records().get(&key(id)).await?;
        match row {
            Some(row) if row.version < newest => Err(VaultError::Damaged),
            row => Ok(row),
        }
    }

    fn newest(&self, id: &ItemId) -> u64 {
        self.0.seen.get(id).map_or(0, |seen| *seen)
    }

    /// Opens the row of an item or folder.
    pub(super) fn open(&self, read: &Row) -> Result<Item, VaultError> {
        let item = row::read(&self.vault().seal().unwrap(read)?)?;
        // The seal binds the row to its own name; an id within it that differs would be a bug of ours.
        match read.key.kind() == ITEMS && item.id.to_string() != read.key.id() {
            true => Err(VaultError::Damaged),
            false => Ok(item),
        }
    }

    /// Writes an item in place of what is expected.
    pub(super) async fn write(
        &self,
        key: &Key,
        expected: Precondition,
        item: &Item,
    ) -> Result<u64, VaultError> {
        let text = row::write(item)?;
        if item.versions.len() > MAX_VERSIONS || text.expose().len() > MAX_BYTES {
            return Err(VaultError::Forbidden("The item has as many versions as it may have"));
        }
        let sealed = self.vault().seal().wrap(key, expected.next(), text.expose())?;
        Ok(self.vault().records().put_if(key, expected, NewRow::lasting(sealed)).await?)
    }

    /// Changes an item, again and again until nobody else has changed it meanwhile. `change` says whether there is
    /// anything to write.
    pub(super) async fn change(
        &self,
        id: &ItemId,
        mut change: impl FnMut(&mut Item) -> Result<bool, VaultError>,
    ) -> Result<Arc<OpenItem>, VaultError> {
        let mut tries = Tries::default();
        loop {
            let at = self.vault().clock().instant();
            let (key, read) = self.place(id).await?;
            let mut item = self.open(&read)?;
            let folder = key.kind() == FOLDERS;
            if !change(&mut item)? {
                return match folder {
                    true => self.folder_opened(item, read.version, at),
                    false => self.opened(item, read.version, at, ReadyKeys::default()).await,
                };
            }
            match self.write(&key, Precondition::Version(read.version), &item).await {
                Ok(row) if folder => return self.folder_opened(item, row, at),
                Ok(row) => return self.opened(item, row, at, ReadyKeys::default()).await,
                Err(VaultError::Store(StoreError::Conflict)) => tries.again().await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// The row of an item or folder.
    pub(super) async fn place(&self, id: &ItemId) -> Result<(Key, Row), VaultError> {
        if let Some(row) = self.row(id).await? {
            return Ok((key(id), row));
        }
        let (row, _) = self.folder_of(id).await?.ok_or(VaultError::Unknown)?;
        Ok((row.key.clone(), row))
    }

    pub(super) fn folder_opened(
        &self,
        item: Item,
        row: u64,
        at: Instant,
    ) -> Result<Arc<OpenItem>, VaultError> {
        // Whatever lies in the folder may inherit from it.
        self.0.remembered.clear();
        let settled = RotationTime::of(&item, |_| None);
        Ok(Arc::new(OpenItem { item, settled, row, at, ready: ReadyKeys::default() }))
    }

    /// Reads all rows of a kind and hands each to `each`.
    pub(in crate::vault) async fn scan(
        &self,
        kind: &'static str,
        mut each: impl FnMut(Row, Item),
    ) -> Result<(), VaultError> {
        let mut pages = Pages::all(self.vault().records(), kind).of(PAGE);
        while let Some(page) = pages.next().await? {
            for row in page {
                let item = self.open(&row)?;
                if row.version >= self.newest(&item.id) {
                    each(row, item);
                    continue;
                }
                // Changed or removed since the page was read, or put back.
                if let Some(row) = self.row(&item.id).await? {
                    let item = self.open(&row)?;
                    each(row, item);
                }
            }
        }
        Ok(())
    }

    /// Where a folder's row is.
    pub(in crate::vault) fn folder_key(&self, path: &Path) -> Key {
        let index = self.vault().seal().index("folder", path.as_str());
        Key::new(FOLDERS, ItemId::from_random(index).to_string())
    }

    async fn folder_of(&self, id: &ItemId) -> Result<Option<(Row, Arc<OpenItem>)>, VaultError> {
        let at = self.vault().clock().instant();
        let mut found = None;
        self.scan(FOLDERS, |row, item| {
            if item.id == *id {
                found = Some((row, item));
            }
        })
        .await?;
        let Some((row, item)) = found else { return Ok(None) };
        let settled = RotationTime::of(&item, |_| None);
        let opened = OpenItem { item, settled, row: row.version, at, ready: ReadyKeys::default() };
        Ok(Some((row, Arc::new(opened))))
    }

    /// When an item is rotated: as it says, else as the nearest folder says that says something.
    async fn settled(&self, item: &Item) -> Result<RotationTime, VaultError> {
        let mut folders = Vec::new();
        if RotationTime::inherits(item) {
            for path in item.label.folder.upwards() {
                let Some(row) = self.vault().records().get(&self.folder_key(&path)).await? else { continue };
                let folder = self.open(&row)?;
                if folder.kind != ItemKind::Folder {
                    return Err(VaultError::Damaged);
                }
                folders.push((path, folder.label.rotation));
            }
        }
        Ok(RotationTime::of(item, |path| folders.iter().find(|(known, _)| known == path).map(|(_, own)| own)))
    }
}
