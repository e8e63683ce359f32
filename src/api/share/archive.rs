//! Files of the share as one archive: [`Archive`], whose bytes are made as they are read. Tar (POSIX ustar, GNU's long
//! names) and ZIP (PKWARE APPNOTE 6.3), without compression: what is shared is mostly compressed already.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use flate2::Crc;
use tar::{Builder, EntryType, Header};

use crate::api::error::ApiError;
use crate::api::incoming::stored;
use crate::api::share::object::{Object, ShareObjectKind};
use crate::base::id::ShareId;
use crate::store::blobs::{ByteStream, NextChunk};
use crate::store::{Area, Blob, Blobs, StoreError};

/// The most bytes of an archive's files, and the most entries: what a ZIP without its 64-bit extension can say.
const MOST_BYTES: u64 = 3 << 30;
const MOST_ENTRIES: usize = 10_000;

/// Bytes of a block of a tar archive.
const BLOCK: u64 = 512;

/// 1980-01-01, the first day that a ZIP can say. (Its times have no zone.)
const FIRST_DAY: u16 = 0x21;

/// Names are in UTF-8.
const UTF8: u16 = 0x0800;

/// The form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveFormat {
    Tar,
    Zip,
}

impl ArchiveFormat {
    /// What an archive of this form is called.
    pub(super) const fn file_name(self) -> &'static str {
        match self {
            Self::Tar => "archive.tar",
            Self::Zip => "archive.zip",
        }
    }
}

/// A file or folder, and its path in the archive.
pub(super) struct ArchiveEntry {
    pub(super) path: String,
    pub(super) object: Object,
}

/// An archive that is being read.
pub(super) struct Archive {
    blobs: Arc<dyn Blobs>,
    form: ArchiveFormat,
    left: VecDeque<ArchiveEntry>,
    /// The file that is being read, and the bytes that follow it.
    file: Option<(Box<dyn ByteStream>, Bytes)>,
    /// Bytes so far, and for a ZIP what its end says of each entry.
    written: u64,
    directory: Vec<u8>,
    entries: u16,
    ended: bool,
}

/// Paths of an archive, no two of which are the same.
#[derive(Default)]
struct OwnPaths {
    taken: HashSet<String>,
    /// How often each was asked for, so that many of the same name are not counted from the beginning each time.
    asked: HashMap<String, usize>,
}

impl OwnPaths {
    /// This path, or with a number behind it where another has it. Signs by which programs for Windows part names are
    /// none here: the path would lead out of where the archive is unpacked.
    fn own(&mut self, path: &str) -> String {
        let path = path.replace(['\\', ':'], "_");
        let times = self.asked.entry(path.clone()).or_default();
        loop {
            *times += 1;
            let own = if *times == 1 { path.clone() } else { format!("{path} ({times})") };
            if self.taken.insert(own.clone()) {
                return own;
            }
        }
    }
}

/// An archive's entries as they are gathered.
#[derive(Default)]
struct GatheredEntries {
    entries: Vec<ArchiveEntry>,
    known: HashSet<ShareId>,
    paths: OwnPaths,
    /// Where each folder of the share lies in the archive: what lies in one goes where it went, whatever it is called there.
    folders: HashMap<String, String>,
}

impl GatheredEntries {
    /// Adds an object at `path`, or near it, unless it is there or there are too many.
    fn add(&mut self, object: &Object, path: &str) {
        if self.entries.len() > MOST_ENTRIES || !self.known.insert(object.id.clone()) {
            return;
        }
        let path = self.paths.own(path);
        if let Some(folder) = object.path() {
            self.folders.insert(folder.as_str().to_owned(), path.clone());
        }
        self.entries.push(ArchiveEntry { path, object: object.clone() });
    }
}

/// The entries for these objects and all that lies in them: each once, under a path of its own. No more than one that is too
/// many.
pub(super) fn entries(chosen: &[Object], all: &[Object]) -> Vec<ArchiveEntry> {
    let mut gathered = GatheredEntries::default();
    for object in chosen {
        gathered.add(object, &object.name);
        let Some(folder) = object.path() else { continue };
        let mut inner: Vec<&Object> = all.iter().filter(|other| folder.holds(&other.folder)).collect();
        // A folder stands before what lies in it.
        inner.sort_by(|a, b| (a.folder.as_str(), &a.name).cmp(&(b.folder.as_str(), &b.name)));
        for other in inner {
            let between = other.folder.as_str().strip_prefix(folder.as_str()).unwrap_or_default();
            let around = gathered.folders.get(other.folder.as_str());
            let around = around.cloned().unwrap_or_else(|| format!("{}{between}", object.name));
            gathered.add(other, &format!("{around}/{}", other.name));
        }
    }
    gathered.entries
}

/// Whether an archive of these can be made.
///
/// # Errors
/// Why not.
pub(super) fn bounded(entries: &[ArchiveEntry]) -> Result<(), String> {
    let bytes: u64 = entries.iter().map(|entry| entry.object.size).sum();
    if entries.len() > MOST_ENTRIES || bytes > MOST_BYTES {
        return Err(format!("an archive has at most {MOST_ENTRIES} objects and {MOST_BYTES} bytes"));
    }
    Ok(())
}

/// Packs the entries, which are [`bounded`], into a passing file.
///
/// # Errors
/// The file store's; no randomness.
pub(super) async fn packed(
    blobs: &Arc<dyn Blobs>,
    form: ArchiveFormat,
    entries: Vec<ArchiveEntry>,
) -> Result<Blob, ApiError> {
    let mut archive = Archive::new(Arc::clone(blobs), form, entries);
    let blob = Blob::fresh(Area::Passing).map_err(|_| ApiError::Internal("random"))?;
    let put = blobs.put(&blob, &mut archive, 2 * MOST_BYTES).await;
    put.map_err(|error| stored(&error))?;
    Ok(blob)
}

impl Archive {
    /// Of these entries, at most [`MOST_ENTRIES`] with at most [`MOST_BYTES`].
    pub(super) fn new(blobs: Arc<dyn Blobs>, form: ArchiveFormat, entries: Vec<ArchiveEntry>) -> Self {
        let left = entries.into();
        let (written, directory, entries) = (0, Vec::new(), 0);
        Self { blobs, form, left, file: None, written, directory, entries, ended: false }
    }

    /// What stands before an entry's bytes.
    async fn begin(&mut self, entry: &ArchiveEntry) -> Result<Vec<u8>, StoreError> {
        let (path, size) = match entry.object.kind {
            ShareObjectKind::Dir => (format!("{}/", entry.path), 0),
            ShareObjectKind::File => (entry.path.clone(), entry.object.size),
        };
        if self.form == ArchiveFormat::Tar {
            return tar_head(&path, entry, size).map_err(|_| StoreError::Interrupted);
        }
        let crc = match entry.object.kind {
            ShareObjectKind::Dir => 0,
            // It stands before the bytes, so they are read twice.
            ShareObjectKind::File => {
                let (mut crc, mut bytes) = (Crc::new(), opened(&self.blobs, entry).await?);
                while let Some(piece) = bytes.next().await? {
                    crc.update(&piece);
                }
                crc.sum()
            }
        };
        let [size, at] = [size, self.written].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let length = u16::try_from(path.len()).unwrap_or(u16::MAX);
        let mut common = Vec::new();
        for number in [20, UTF8, 0, 0, FIRST_DAY] {
            common.extend_from_slice(&number.to_le_bytes());
        }
        for number in [crc, size, size] {
            common.extend_from_slice(&number.to_le_bytes());
        }
        common.extend_from_slice(&length.to_le_bytes());
        common.extend_from_slice(&[0; 2]);
        let mode: u32 =
            if entry.object.kind == ShareObjectKind::Dir { 0o040_755 << 16 | 0x10 } else { 0o100_644 << 16 };
        let directory =
            [b"PK\x01\x02\x14\x03".as_slice(), &common, &[0; 6], &mode.to_le_bytes(), &at.to_le_bytes()];
        self.directory.extend(directory.concat());
        self.directory.extend_from_slice(path.as_bytes());
        self.entries = self.entries.saturating_add(1);
        Ok([b"PK\x03\x04".as_slice(), &common, path.as_bytes()].concat())
    }

    /// What stands at the end.
    fn end(&self) -> Vec<u8> {
        if self.form == ArchiveFormat::Tar {
            return vec![0; 2 * BLOCK as usize];
        }
        let [size, at] = [self.directory.len() as u64, self.written]
            .map(|number| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        let count = self.entries.to_le_bytes();
        let end = [b"PK\x05\x06".as_slice(), &[0; 4], &count, &count, &size, &at, &[0; 2]].concat();
        [self.directory.as_slice(), &end].concat()
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, StoreError> {
        if let Some((bytes, rest)) = &mut self.file {
            if let Some(piece) = bytes.next().await? {
                return Ok(Some(piece));
            }
            let rest = std::mem::take(rest);
            self.file = None;
            if !rest.is_empty() {
                return Ok(Some(rest));
            }
        }
        if let Some(entry) = self.left.pop_front() {
            let head = self.begin(&entry).await?;
            if entry.object.kind == ShareObjectKind::File {
                let over = match self.form {
                    ArchiveFormat::Tar => entry.object.size.next_multiple_of(BLOCK) - entry.object.size,
                    ArchiveFormat::Zip => 0,
                };
                self.file = Some((opened(&self.blobs, &entry).await?, vec![0; over as usize].into()));
            }
            return Ok(Some(head.into()));
        }
        if self.ended {
            return Ok(None);
        }
        self.ended = true;
        Ok(Some(self.end().into()))
    }
}

async fn opened(blobs: &Arc<dyn Blobs>, entry: &ArchiveEntry) -> Result<Box<dyn ByteStream>, StoreError> {
    let opened = blobs.get(&entry.object.blob()).await?;
    opened.map(|opened| opened.bytes).ok_or(StoreError::Interrupted)
}

/// An entry's head. The builder writes what ends an archive behind it, which is cut off again.
fn tar_head(path: &str, entry: &ArchiveEntry, size: u64) -> std::io::Result<Vec<u8>> {
    let mut header = Header::new_gnu();
    let dir = entry.object.kind == ShareObjectKind::Dir;
    header.set_entry_type(if dir { EntryType::Directory } else { EntryType::Regular });
    header.set_size(size);
    header.set_mode(if dir { 0o755 } else { 0o644 });
    header.set_mtime(entry.object.updated_at.as_millis() / 1000);
    header.set_uid(0);
    header.set_gid(0);
    let mut builder = Builder::new(Vec::new());
    builder.append_data(&mut header, path, std::io::empty())?;
    let mut bytes = builder.into_inner()?;
    bytes.truncate(bytes.len().saturating_sub(2 * BLOCK as usize));
    Ok(bytes)
}

impl ByteStream for Archive {
    fn next(&mut self) -> NextChunk<'_> {
        Box::pin(async move {
            let piece = self.piece().await?;
            self.written = self.written.saturating_add(piece.as_ref().map_or(0, Bytes::len) as u64);
            Ok(piece)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_its_own_and_leads_nowhere_else() {
        let mut paths = OwnPaths::default();
        let named = ["a", "a", "a (2)", "a", "..\\..\\Startup\\x.exe", "C:x"].map(|path| paths.own(path));
        assert_eq!(named, ["a", "a (2)", "a (2) (2)", "a (3)", ".._.._Startup_x.exe", "C_x"]);
        // As many of one name as an archive may have cost no more than others.
        let many: HashSet<String> = (0..MOST_ENTRIES).map(|_| paths.own("same")).collect();
        assert_eq!(many.len(), MOST_ENTRIES);
    }
}
