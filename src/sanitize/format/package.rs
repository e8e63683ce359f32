//! [`Package`]: a zip file (PKWARE APPNOTE 6.3) that is read within bounds, and [`NewPackage`], one that is written: the
//! same bytes from the same entries, in the order in which they are put.
//!
//! Refused are names that lead out of a folder, names that are one in some reader's eyes, entries that lie over one
//! another, links, and encrypted entries without their password: readers differ over them, and so would those who check a file and those who
//! open it.

use std::collections::HashSet;
use std::io::{Cursor, Read, Write};

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::base::secret::Secret;
use crate::sanitize::unfold::{self, ByteCount, CountingReader};
use crate::sanitize::{Rejection, Work};

/// What the directory says of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZipEntry {
    /// Its name, with `/` between folders.
    pub(super) name: String,
    /// Whether it is a folder and holds nothing.
    pub(super) folder: bool,
    /// Whether its compressed bytes can be taken over without anything else that is attached to them.
    pub(super) bare: bool,
    stored: bool,
    /// Whether it is encrypted.
    locked: bool,
    size: Option<u64>,
}

/// A zip file that is read.
pub(super) struct Package<'f> {
    archive: ZipArchive<CountingReader<'f>>,
    count: ByteCount,
    entries: Vec<ZipEntry>,
    /// What opens its encrypted entries.
    password: Option<Secret<String>>,
}

impl<'f> Package<'f> {
    /// Reads the directory.
    ///
    /// # Errors
    /// [`Rejection::Malformed`], [`Rejection::Encrypted`], [`Rejection::OverLimit`].
    pub(super) fn open(file: &'f [u8], work: &mut Work<'_>) -> Result<Self, Rejection> {
        let count = ByteCount::default();
        let mut archive = ZipArchive::new(CountingReader::new(file, count.clone())).map_err(rejection)?;
        work.items(archive.len())?;
        if archive.has_duplicate_names() {
            return Err(Rejection::DuplicateName);
        }
        if archive.has_overlapping_files().map_err(rejection)? {
            return Err(Rejection::Malformed);
        }
        let mut entries = Vec::with_capacity(archive.len());
        let mut names = HashSet::with_capacity(archive.len());
        let mut password = None;
        for at in 0..archive.len() {
            let file = archive.by_index_raw(at).map_err(rejection)?;
            let locked = file.encrypted();
            if locked && password.is_none() {
                password = Some(work.password()?.ok_or(Rejection::Encrypted)?);
            }
            let name = file.name().map_err(rejection)?.into_owned();
            let folder = file.is_dir();
            if file.is_symlink() {
                return Err(Rejection::Symlink);
            }
            if !is_inside(&name) {
                return Err(Rejection::Traversal);
            }
            if !names.insert(name.to_lowercase()) {
                return Err(Rejection::DuplicateName);
            }
            let bare = !locked && file.extra_data_fields().next().is_none() && file.comment().is_empty();
            entries.push(ZipEntry {
                name,
                folder,
                stored: file.compression() == CompressionMethod::Stored,
                bare,
                locked,
                size: None,
            });
        }
        Ok(Self { archive, count, entries, password })
    }

    /// The entries, in the order of the directory.
    pub(super) fn entries(&self) -> &[ZipEntry] {
        &self.entries
    }

    /// The content of the entry at this place, which is taken out of the budget.
    ///
    /// # Errors
    /// [`Rejection::Malformed`], [`Rejection::OverLimit`].
    pub(super) fn read(&mut self, at: usize, work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
        let locked = self.entries.get(at).is_some_and(|entry| entry.locked);
        let count = self.count.clone();
        let file = self.file(at)?;
        let mut content = Vec::new();
        let before = count.get();
        let unfolded = unfold::all(file, |_| count.get().saturating_sub(before), &mut content, work);
        unfolded.map_err(|rejection| match rejection {
            // One password in 256 seems to fit, until what it opens is broken.
            Rejection::Malformed if locked => Rejection::WrongPassword,
            other => other,
        })?;
        if let Some(entry) = self.entries.get_mut(at) {
            entry.size = u64::try_from(content.len()).ok();
        }
        Ok(content)
    }

    fn file<'p>(&'p mut self, at: usize) -> Result<ZipFile<'p, CountingReader<'f>>, Rejection> {
        let locked = self.entries.get(at).is_some_and(|entry| entry.locked);
        match self.password.as_ref().filter(|_| locked) {
            Some(password) => {
                let opened = self.archive.by_index_decrypt(at, password.expose().as_bytes());
                opened.map_err(|error| match error {
                    ZipError::InvalidPassword => Rejection::WrongPassword,
                    // Encrypted in a way that nobody here knows.
                    ZipError::UnsupportedArchive(_) => Rejection::Unsupported,
                    _ => Rejection::Malformed,
                })
            }
            None => self.archive.by_index(at).map_err(rejection),
        }
    }

    /// The content of an entry that was read once.
    ///
    /// # Errors
    /// [`Rejection::Malformed`].
    pub(super) fn again(&mut self, at: usize) -> Result<Vec<u8>, Rejection> {
        let size = self.entries.get(at).and_then(|entry| entry.size).ok_or(Rejection::Malformed)?;
        let mut content = Vec::new();
        let file = self.file(at)?;
        file.take(size).read_to_end(&mut content).map_err(|_| Rejection::Malformed)?;
        Ok(content)
    }
}

/// A zip file that is written.
pub(super) struct NewPackage {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl NewPackage {
    /// Begins with nothing.
    pub(super) fn new() -> Self {
        Self { zip: ZipWriter::new(Cursor::new(Vec::new())) }
    }

    /// Takes over an entry whose content (`content`) is to stay: its compressed bytes, where it is bare; only
    /// otherwise its content is looked at.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] when it cannot be read.
    pub(super) fn keep(
        &mut self,
        from: &mut Package<'_>,
        at: usize,
        content: &[u8],
    ) -> Result<(), Rejection> {
        let entry = from.entries.get(at).ok_or(Rejection::Malformed)?;
        if entry.folder {
            return Ok(());
        }
        if !entry.bare {
            let (name, stored) = (entry.name.clone(), entry.stored);
            return self.put(&name, content, stored);
        }
        let file = from.archive.by_index_raw(at).map_err(rejection)?;
        self.zip.raw_copy_file_touch(file, DateTime::DEFAULT, Some(MODE)).map_err(rejection)
    }

    /// Writes an entry; `stored`: without compressing it.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] for one that zip files cannot hold.
    pub(super) fn put(&mut self, name: &str, content: &[u8], stored: bool) -> Result<(), Rejection> {
        let method = if stored { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(MODE);
        self.zip.start_file(name, options).map_err(|_| Rejection::OverLimit)?;
        self.zip.write_all(content).map_err(|_| Rejection::OverLimit)
    }

    /// The file.
    ///
    /// # Errors
    /// [`Rejection::OverLimit`] for one that zip files cannot hold.
    pub(super) fn finish(self) -> Result<Vec<u8>, Rejection> {
        Ok(self.zip.finish().map_err(|_| Rejection::OverLimit)?.into_inner())
    }
}

/// A plain file that its owner may write.
const MODE: u32 = 0o644;

/// Whether a name stays in the folder that the file is unpacked to, with any reader.
pub(super) fn is_inside(name: &str) -> bool {
    let path = name.strip_suffix('/').unwrap_or(name);
    let strange = |c: char| c == '\\' || c == ':' || c.is_control();
    !path.contains(strange) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn rejection(error: ZipError) -> Rejection {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => Rejection::Encrypted,
        _ => Rejection::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::bench::Bench;
    use crate::sanitize::format::FORMATS;

    fn packed(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut fresh = NewPackage::new();
        for (name, content) in entries {
            fresh.put(name, content, content.len() < 4).expect("an entry");
        }
        fresh.finish().expect("a package")
    }

    fn copied(file: &[u8]) -> Result<Vec<u8>, Rejection> {
        let mut bench = Bench::disarming();
        let mut work = bench.work();
        let (mut package, mut fresh) = (Package::open(file, &mut work)?, NewPackage::new());
        for at in 0..package.entries().len() {
            let content = package.read(at, &mut work)?;
            fresh.keep(&mut package, at, &content)?;
        }
        fresh.finish()
    }

    #[test]
    fn what_is_kept_is_the_same_file() {
        let file = packed(&[("b/c.xml", &[b'x'; 500]), ("a", b"abc")]);
        assert_eq!(copied(&file), Ok(file.clone()));
        let mut junk = b"MZ junk".to_vec();
        junk.extend(&file);
        assert_eq!(copied(&junk), Ok(file));
    }

    #[test]
    fn names_stay_inside_and_apart() {
        for name in ["../a", "a/../b", "/a", "a\\b", "c:a", "a//b", "./a", "a\0b"] {
            assert_eq!(copied(&packed(&[(name, b"x")])).err(), Some(Rejection::Traversal), "{name}");
        }
        assert_eq!(copied(&packed(&[("a.xml", b"x"), ("A.XML", b"y")])), Err(Rejection::DuplicateName));
        assert!(copied(&packed(&[("a/b..c.xml", b"x")])).is_ok());
    }

    #[test]
    fn bounds_hold() {
        let file = packed(&[("a", &vec![0; 4 << 20])]);
        let mut bench = Bench::disarming();
        let bounds =
            crate::sanitize::UnfoldBounds { bytes: 1 << 20, ..crate::sanitize::UnfoldBounds::default() };
        let options = bench.options;
        let mut work = Work::new(&FORMATS, options, bounds, &mut bench);
        let mut package = Package::open(&file, &mut work).expect("a package");
        assert_eq!(package.read(0, &mut work), Err(Rejection::OverLimit));
    }
}
