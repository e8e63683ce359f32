//! Files and folders that nobody else on the machine may read: made with exact permissions from the first moment,
//! and refused when somebody widened them since. Never repairs permissions: whoever widened them may have had the
//! file read already, and the operator should know.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, hard_link, remove_file};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::base::regular_file;
use crate::base::secret::Secret;
use crate::crypto::random;
use crate::store::StoreError;
use crate::store::error::FileFault;

const OTHERS: u32 = 0o077;
const EVERYBODY_WRITES: u32 = 0o002;
const PERMISSIONS: u32 = 0o7777;

/// Makes the folder (mode 0700, parents too) if it is missing. One that is there may be readable by others, since
/// the files in it are not; it may not be writable by everybody.
pub fn folder(path: &Path) -> Result<(), StoreError> {
    let io = |error| StoreError::io(path, &error);
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        // What is there is judged below.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => made.map_err(io)?,
    }
    let metadata = std::fs::metadata(path).map_err(io)?;
    let mode = metadata.permissions().mode() & PERMISSIONS;
    match (metadata.is_dir(), mode & EVERYBODY_WRITES) {
        (false, _) => Err(StoreError::file(path, FileFault::NotAFolder)),
        (true, 0) => Ok(()),
        (true, _) => Err(StoreError::file(path, FileFault::ExposedFolder { mode })),
    }
}

/// As [`folder`], for files that may themselves be readable: nobody else may even look into it.
pub fn closed_folder(path: &Path) -> Result<(), StoreError> {
    folder(path)?;
    let metadata = std::fs::metadata(path).map_err(|error| StoreError::io(path, &error))?;
    let mode = metadata.permissions().mode() & PERMISSIONS;
    if mode & OTHERS == 0 { Ok(()) } else { Err(StoreError::file(path, FileFault::OpenFolder { mode })) }
}

/// Makes the file empty (mode 0600) if it is missing, and refuses one that others may read or write.
pub fn touch(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // Not opened: closing it again would drop the POSIX locks that SQLite holds on it in this process.
            check(path, std::fs::metadata(path))
        }
        Err(error) => Err(StoreError::io(path, &error)),
    }
}

/// Reads a small file (at most 64 KiB) that only we may read; `None` if it is missing.
pub fn read(path: &Path) -> Result<Option<Secret<Vec<u8>>>, StoreError> {
    const LIMIT: usize = 64 * 1024;
    let io = |error| StoreError::io(path, &error);
    let mut file = match regular_file::open(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            return Err(StoreError::file(path, FileFault::NotAFile));
        }
        opened => opened.map_err(io)?,
    };
    // The opened file is judged, not its name, which may mean another file by now.
    let metadata = file.metadata();
    let length = metadata.as_ref().map_or(0, Metadata::len);
    check(path, metadata)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > LIMIT {
        return Err(StoreError::io(path, &ErrorKind::FileTooLarge.into()));
    }
    // Read into its final size, so that growing leaves no copy behind.
    let mut bytes = vec![0; length];
    let read = file.read_exact(&mut bytes);
    let bytes = Secret::new(bytes);
    read.map_err(io)?;
    Ok(Some(bytes))
}

/// Writes a new file (mode 0600), whole or not at all, durable once this returns. [`ErrorKind::AlreadyExists`] if
/// there is one by now, which then is untouched.
pub fn publish(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    NewFile::of(path)?.publish(bytes)
}

/// A new file to be: there is room for its name, which nobody finds before it is whole.
///
/// The bytes are synced under another name, which is then linked to the wanted one: a plain `O_EXCL` create would
/// let a second process (or the next start after a crash) read the file before it holds anything, and a rename
/// would replace what the second process has just made.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    name: PathBuf,
    file: File,
}

impl NewFile {
    /// Begins a file (mode 0600).
    ///
    /// # Errors
    /// There is one already, or none can be made there.
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        let io = |error| StoreError::io(path, &error);
        if path.symlink_metadata().is_ok() {
            return Err(io(ErrorKind::AlreadyExists.into()));
        }
        let suffix: [u8; 8] = random::bytes().map_err(|_| io(ErrorKind::Other.into()))?;
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{:016x}", u64::from_be_bytes(suffix)));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&name).map_err(io)?;
        Ok(Self { path: path.to_owned(), name: name.into(), file })
    }

    /// Writes it, whole or not at all; durable once this returns.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if there is one by now, which then is untouched.
    pub fn publish(mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let io = |error| StoreError::io(&self.path, &error);
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_all());
        written.and_then(|()| hard_link(&self.name, &self.path)).map_err(io)?;
        sync_folder_of(&self.path)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        drop(remove_file(&self.name));
    }
}

/// Gives a file another's name, which then is no more: durable once this returns.
pub fn replace(path: &Path, with: &Path) -> Result<(), StoreError> {
    std::fs::rename(with, path).map_err(|error| StoreError::io(with, &error))?;
    sync_folder_of(path)
}

/// Gives a file a name that no file has yet, and takes its own: durable once this returns.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] if a file has the name, which then is untouched.
pub fn give_name(path: &Path, from: &Path) -> Result<(), StoreError> {
    hard_link(from, path).map_err(|error| StoreError::io(from, &error))?;
    sync_folder_of(path)?;
    drop(remove_file(from));
    Ok(())
}

fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(|error| StoreError::io(path, &error))
}

fn check(path: &Path, metadata: std::io::Result<Metadata>) -> Result<(), StoreError> {
    let metadata = metadata.map_err(|error| StoreError::io(path, &error))?;
    let mode = metadata.permissions().mode() & PERMISSIONS;
    match (metadata.is_file(), mode & OTHERS) {
        (false, _) => Err(StoreError::file(path, FileFault::NotAFile)),
        (true, 0) => Ok(()),
        (true, _) => Err(StoreError::file(path, FileFault::ExposedFile { mode })),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};

    use super::*;

    fn widen(path: &Path, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_file_is_published_once_and_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        publish(&path, b"first").unwrap();
        let second = publish(&path, b"second");
        assert!(
            matches!(second, Err(StoreError::File { fault: FileFault::Io(ErrorKind::AlreadyExists), .. })),
            "{second:?}"
        );
        assert_eq!(read(&path).unwrap().unwrap().expose(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn wider_permissions_are_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        publish(&path, b"bytes").unwrap();
        for (mode, refused) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o622, true)] {
            widen(&path, mode);
            assert_eq!(read(&path).is_err(), refused, "{mode:o}");
            assert_eq!(touch(&path).is_err(), refused, "{mode:o}");
        }
        let said = read(&path).unwrap_err().to_string();
        assert!(said.ends_with("key: mode 0622 lets others at it; set it with chmod 600"), "{said}");
    }

    #[test]
    fn a_folder_that_everybody_may_write_into_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("a/b");
        closed_folder(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        for (mode, refused) in [(0o755, false), (0o770, false), (0o777, true), (0o1777, true)] {
            widen(&path, mode);
            assert_eq!(folder(&path).is_err(), refused, "{mode:o}");
            assert!(closed_folder(&path).is_err(), "{mode:o}");
        }
    }

    #[test]
    fn what_is_no_file_or_too_large_is_refused_and_what_is_missing_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(&folder.path().join("missing")).unwrap().is_none());
        widen(folder.path(), 0o700);
        assert!(read(folder.path()).is_err());
        assert!(touch(folder.path()).is_err());
        let large = folder.path().join("large");
        publish(&large, &vec![0; 65 * 1024]).unwrap();
        assert!(read(&large).is_err());
    }
}
