//! [`WatchedFiles`] and [`ConfigFiles`]: files that are looked at again and again. A look takes their metadata and reads nothing, follows
//! links (so that a Kubernetes volume, which swaps a link to a folder, is seen to change), and tells a file that was put
//! in another's place by its inode. It works on every file system, network ones included, which notifications do not.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::base::clock::Timestamp;
use crate::config::settings::Reload;

/// The most files of one folder that are looked at.
const FILES: usize = 1000;

/// What tells a file from what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Seconds and nanoseconds since 1970: of the contents, and of the inode.
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What one look saw; `None` where nothing was.
type Snapshot = BTreeMap<PathBuf, Option<Stamp>>;

/// Files that may have changed while they were read, as they were then.
#[derive(Clone, Debug, Default)]
pub(super) struct DoubtedFiles(Snapshot);

/// Files, as they were when they were last read and when they were last looked at.
#[derive(Debug, Default)]
pub(super) struct WatchedFiles {
    paths: Vec<PathBuf>,
    read: Snapshot,
    seen: Snapshot,
    doubted: DoubtedFiles,
}

impl WatchedFiles {
    /// Files that were read from `began` on: what has changed since then may have been read before or after.
    pub(super) fn new(paths: Vec<PathBuf>, began: Timestamp) -> Self {
        Self::again(paths, began, &DoubtedFiles::default())
    }

    /// The same, where these were doubted the last time. One that has not changed since is not doubted again: by a clock that is
    /// behind that of the files, it always would be.
    pub(super) fn again(paths: Vec<PathBuf>, began: Timestamp, doubted: &DoubtedFiles) -> Self {
        let seen = look(&paths);
        let is_late = |stamp: Stamp| stamp.millis() >= began.as_millis();
        let late = seen.iter().filter(|(_, stamp)| stamp.is_some_and(is_late));
        let late: Snapshot = late.map(|(path, stamp)| (path.clone(), *stamp)).collect();
        let read = seen.iter().map(|(path, stamp)| {
            let doubtful = late.contains_key(path) && doubted.0.get(path) != Some(stamp);
            (path.clone(), stamp.filter(|_| !doubtful))
        });
        Self { read: read.collect(), doubted: DoubtedFiles(late), seen, paths }
    }

    /// Looks. `true` if the files are others than those that were read, and the same as at the last look: whoever
    /// writes them has come to an end. They count as read from now on.
    pub(super) fn look(&mut self) -> bool {
        let now = look(&self.paths);
        let settled = now == self.seen;
        self.seen = now;
        let changed = settled && self.seen != self.read;
        if changed {
            self.read = self.seen.clone();
        }
        changed
    }
}

/// The files of the running configuration, and how often they are looked at.
pub(super) struct ConfigFiles {
    pub(super) setting: Reload,
    watched: Arc<Mutex<WatchedFiles>>,
    doubted: DoubtedFiles,
}

impl ConfigFiles {
    pub(super) fn new(setting: Reload, watched: WatchedFiles) -> Self {
        Self { setting, doubted: watched.doubted.clone(), watched: Arc::new(Mutex::new(watched)) }
    }

    /// Those that were doubted when they were last read.
    pub(super) fn doubted(&self) -> DoubtedFiles {
        self.doubted.clone()
    }

    /// Returns once the files are others than they were. May be dropped at any time, if they are read then.
    pub(super) async fn changed(&self) {
        loop {
            tokio::time::sleep(self.setting.every.get()).await;
            if !self.setting.watch {
                continue;
            }
            let watched = Arc::clone(&self.watched);
            // Some dozens of calls that answer from the system's cache, or never where a server of files is gone: one look at a
            // time waits for it.
            let look = move || watched.try_lock().is_ok_and(|mut watched| watched.look());
            if tokio::task::spawn_blocking(look).await.unwrap_or(false) {
                return;
            }
        }
    }

    /// These were read.
    pub(super) fn read(&mut self, watched: WatchedFiles) {
        self.doubted = watched.doubted.clone();
        self.watched = Arc::new(Mutex::new(watched));
    }
}

fn look(paths: &[PathBuf]) -> Snapshot {
    let mut look = Snapshot::new();
    for path in paths {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => look.extend(inside(path)),
            found => {
                look.insert(path.clone(), found.ok().map(|found| Stamp::of(&found)));
            }
        }
    }
    look
}

/// The files of a folder, save those that editors and Kubernetes hide.
fn inside(folder: &Path) -> Snapshot {
    let entries = fs::read_dir(folder).into_iter().flatten().take(FILES).flatten();
    let seen = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let stamped = seen.map(|entry| {
        let path = entry.path();
        let stamp = fs::metadata(&path).ok().map(|found| Stamp::of(&found));
        (path, stamp)
    });
    stamped.collect()
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// When the inode last changed, in milliseconds since 1970.
    fn millis(&self) -> u64 {
        let (seconds, nanoseconds) = self.changed;
        u64::try_from(seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const LATER: Timestamp = Timestamp::from_millis(u64::MAX);

    /// Whether one change is noticed: once, and not before it has settled.
    fn noticed(watched: &mut WatchedFiles) {
        assert!(!watched.look(), "not settled");
        assert!(watched.look());
        assert!(!watched.look(), "once");
    }

    #[test]
    fn what_changes_is_noticed_once_it_has_settled() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "1").unwrap();
        fs::create_dir(at("d")).unwrap();
        let mut watched = WatchedFiles::new(vec![at("a"), at("d"), at("gone")], LATER);
        assert!(!watched.look() && !watched.look());
        fs::write(at("a"), "22").unwrap();
        noticed(&mut watched);
        // While somebody writes on nothing is read.
        for text in ["333", "4444", "55555"] {
            fs::write(at("a"), text).unwrap();
            assert!(!watched.look());
        }
        assert!(watched.look());
        fs::write(at("gone"), "").unwrap();
        noticed(&mut watched);
        fs::write(at("d/x.toml"), "").unwrap();
        noticed(&mut watched);
        fs::write(at("d/.x.toml.swp"), "").unwrap();
        assert!(!watched.look() && !watched.look());
        fs::remove_file(at("d/x.toml")).unwrap();
        noticed(&mut watched);
    }

    #[test]
    fn another_file_in_its_place_is_another_though_it_looks_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "1").unwrap();
        let mut watched = WatchedFiles::new(vec![at("a")], LATER);
        let when = fs::metadata(at("a")).unwrap().modified().unwrap();
        fs::write(at("b"), "2").unwrap();
        fs::File::options().write(true).open(at("b")).unwrap().set_modified(when).unwrap();
        fs::rename(at("b"), at("a")).unwrap();
        noticed(&mut watched);
    }

    #[test]
    fn a_link_to_a_folder_that_is_swapped_is_seen_through() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for version in ["v1", "v2"] {
            fs::create_dir(at(version)).unwrap();
            fs::write(at(version).join("a.toml"), "same").unwrap();
        }
        // As the kubelet does it: a file is a link into `..data`, which is a link to the version.
        symlink("v1", at("..data")).unwrap();
        symlink("..data/a.toml", at("a.toml")).unwrap();
        let mut file = WatchedFiles::new(vec![at("a.toml")], LATER);
        let mut all = WatchedFiles::new(vec![folder.path().to_owned()], LATER);
        symlink("v2", at("..data_tmp")).unwrap();
        fs::rename(at("..data_tmp"), at("..data")).unwrap();
        noticed(&mut file);
        noticed(&mut all);
    }

    #[test]
    fn what_changed_while_it_was_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "1").unwrap();
        let mut watched = WatchedFiles::new(vec![path], Timestamp::from_millis(0));
        assert!(watched.look() && !watched.look());
    }

    #[test]
    fn by_a_clock_that_is_behind_a_file_is_read_again_once_only() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "1").unwrap();
        let behind = Timestamp::from_millis(0);
        let read =
            |files: &ConfigFiles| WatchedFiles::again(vec![at("a"), at("b")], behind, &files.doubted());
        let look = |files: &ConfigFiles| files.watched.lock().unwrap().look();
        let first = WatchedFiles::new(vec![at("a"), at("b")], behind);
        let mut files = ConfigFiles::new(Reload::default(), first);
        assert!(look(&files), "it may have changed while it was read");
        for _ in 0..3 {
            files.read(read(&files));
            assert!(!look(&files) && !look(&files));
        }
        // Another file, and the same one once more.
        for name in ["b", "a"] {
            fs::write(at(name), "22").unwrap();
            assert!(!look(&files) && look(&files), "{name}");
            files.read(read(&files));
            assert!(look(&files), "{name} may have changed while it was read");
            files.read(read(&files));
            assert!(!look(&files) && !look(&files), "{name}");
        }
    }
}
