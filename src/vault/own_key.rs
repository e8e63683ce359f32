//! A vault that keeps its own master key, in a file. The file has its name once the store is sealed with it, and not before:
//! so a key beside a store in which nothing is sealed says that this is not the store that was there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::clock::SharedClock;
use crate::store::{Records, StoreError, private};
use crate::vault::{MasterKey, Vault, VaultError};

/// How often is looked: of processes that start together one is first, and the others find what it made.
const LOOKS: usize = 8;

/// What the key is called until the store is sealed with it.
fn draft(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".first");
    name.into()
}

impl Vault {
    /// Opens the store with the key in this file, which is made only if the store is new: a fresh key for a sealed store
    /// would hide that the right one is lost, and a fresh store for an old key that the right store is.
    ///
    /// # Errors
    /// [`VaultError::KeyMissing`], [`VaultError::StoreMissing`], or what [`Vault::open`] says.
    pub async fn open_with_file(
        records: Arc<dyn Records>,
        path: &Path,
        clock: SharedClock,
    ) -> Result<Self, VaultError> {
        for _ in 0..LOOKS {
            // In this order: who gave the file its name had begun the store before.
            let key = MasterKey::load(path)?;
            let begun = Self::is_begun(records.as_ref()).await?;
            match key {
                Some(key) if begun => return Self::open(records, &key, clock).await,
                Some(_) => return Err(VaultError::StoreMissing(path.to_owned())),
                None => begin(&records, path, begun, &clock).await?,
            }
        }
        Err(VaultError::KeyMissing(path.to_owned()))
    }
}

/// Begins the store with a new key, or goes on where another process did, or one that was stopped.
async fn begin(
    records: &Arc<dyn Records>,
    path: &Path,
    begun: bool,
    clock: &SharedClock,
) -> Result<(), VaultError> {
    let draft = draft(path);
    let key = match begun {
        true => MasterKey::load(&draft)?,
        false => Some(MasterKey::load_or_create(&draft)?),
    };
    // Its name may just have changed.
    let Some(key) = key else { return Ok(()) };
    match Vault::open(Arc::clone(records), &key, Arc::clone(clock)).await {
        // Once the key has its name, another process may make a draft that nobody needs: that must not take it.
        Ok(_) => match private::give_name(path, &draft) {
            // Another process was as quick.
            Err(StoreError::File { fault, .. })
                if fault.is(ErrorKind::NotFound) || fault.is(ErrorKind::AlreadyExists) =>
            {
                Ok(())
            }
            named => Ok(named?),
        },
        // Another one was quicker, and this key is nobody's.
        Err(VaultError::WrongKey(_)) if path.exists() => {
            drop(std::fs::remove_file(&draft));
            Ok(())
        }
        Err(VaultError::WrongKey(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::SystemClock;
    use crate::store::EmbeddedRecords;

    async fn records(folder: &Path) -> Arc<dyn Records> {
        let opened = EmbeddedRecords::open(&folder.join("portcullis.sqlite"), Arc::new(SystemClock)).await;
        Arc::new(opened.unwrap())
    }

    async fn open(records: &Arc<dyn Records>, path: &Path) -> Result<Vault, VaultError> {
        Vault::open_with_file(Arc::clone(records), path, Arc::new(SystemClock)).await
    }

    #[tokio::test]
    async fn a_key_beside_a_store_that_is_not_its_own_is_told_and_a_first_start_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let store = records(folder.path()).await;
        open(&store, &path).await.unwrap();
        open(&store, &path).await.unwrap();
        assert!(path.exists() && !draft(&path).exists());
        // Another store in its place.
        let other = tempfile::tempdir().unwrap();
        let empty = records(other.path()).await;
        let told = open(&empty, &path).await.unwrap_err();
        assert!(matches!(&told, VaultError::StoreMissing(at) if *at == path), "{told}");
        assert!(!Vault::is_begun(empty.as_ref()).await.unwrap(), "nothing was written");
        // Stopped before the store was sealed, and before the key had its name.
        let path = other.path().join("master.key");
        MasterKey::load_or_create(&draft(&path)).unwrap();
        open(&empty, &path).await.unwrap();
        std::fs::rename(&path, draft(&path)).unwrap();
        open(&empty, &path).await.unwrap();
        assert!(path.exists() && !draft(&path).exists());
        // The key is gone.
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(open(&empty, &path).await, Err(VaultError::KeyMissing(_))));
        MasterKey::load_or_create(&draft(&path)).unwrap();
        assert!(matches!(open(&empty, &path).await, Err(VaultError::KeyMissing(_))));
    }
}
