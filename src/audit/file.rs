//! [`LogFile`]: the file of an audit log. One process writes it; it is continued where it ended; when it is
//! moved away under its name, a new one follows it.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::audit::chain::{ChainLink, MAX_LINE, ParsedLine, READ, is_torn};
use crate::audit::error::AuditError;
use crate::audit::verify::verify;

/// A file that is open, and locked against other writers for as long as it is.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    which: FileIdentity,
    /// Where the last line ends that counts as written, while something lies behind it that has to go.
    cut: Option<u64>,
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    device: u64,
    inode: u64,
}

/// How far a log is written, and which file that was in.
#[derive(Clone, Copy)]
pub struct LogPosition {
    /// The number of the last line.
    pub(super) seq: u64,
    /// The file that is written now, if that is known; others are as long as they will ever be.
    pub(super) file: Option<FileIdentity>,
}

impl LogPosition {
    /// Of a file that nobody writes: all that is in it.
    pub const WHOLE: Self = Self { seq: u64::MAX, file: None };
}

impl FileIdentity {
    pub(super) fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

impl LogFile {
    /// Opens the file or makes it, for its owner alone, and gives the last line in it.
    ///
    /// # Errors
    /// What has the name is no regular file, somebody else writes it, it cannot be used, or it does not end
    /// with lines of an audit log.
    pub(super) fn open(path: &Path) -> Result<(Self, Option<ChainLink>), AuditError> {
        let failed = |cause: io::Error| AuditError::File { path: path.to_owned(), cause };
        let not_a_file = || AuditError::NotAFile { path: path.to_owned() };
        let mut options = OpenOptions::new();
        options.read(true).append(true).mode(0o600);
        let new = match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => false,
            Ok(_) => return Err(not_a_file()),
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(failed(error)),
        };
        // `create_new` follows no symbolic link.
        let file = options.create_new(new).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AuditError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        // The name may have become another file's before the lock was had.
        let which = FileIdentity::of(&file.metadata().map_err(failed)?);
        let named = std::fs::symlink_metadata(path).map_err(failed)?;
        if !named.is_file() || FileIdentity::of(&named) != which {
            return Err(not_a_file());
        }
        if new {
            keep_name(path);
        }
        let last = resume(&file, path)?;
        Ok((Self { path: path.to_owned(), file, which, cut: None }, last))
    }

    /// Which file it is now.
    pub(super) const fn which(&self) -> FileIdentity {
        self.which
    }

    /// Puts whole lines at the end and waits until the disk has them. Where that fails nothing of them is
    /// left in the file, or is removed before anything else is written. `written` is the last line that was
    /// written.
    ///
    /// # Errors
    /// The file cannot be written; the lines are to be given again.
    pub(super) fn append(&mut self, lines: &[u8], written: ChainLink) -> Result<(), AuditError> {
        self.follow(written)?;
        let end = self.file.metadata().map_err(|cause| self.failed(cause))?.len();
        let done = self.file.write_all(lines).and_then(|()| self.file.sync_data());
        done.map_err(|cause| {
            self.cut = cut_back(&self.file, end).is_err().then_some(end);
            self.failed(cause)
        })
    }

    /// If the name is another file's by now, or nobody's, that file is opened or made.
    ///
    /// # Errors
    /// As [`LogFile::open`]; or there are lines in it that are not those that were written last. The file
    /// that was written last stays open.
    pub(super) fn follow(&mut self, written: ChainLink) -> Result<(), AuditError> {
        if let Some(end) = self.cut {
            cut_back(&self.file, end).map_err(|cause| self.failed(cause))?;
            self.cut = None;
        }
        let named = std::fs::symlink_metadata(&self.path);
        if named.is_ok_and(|named| FileIdentity::of(&named) == self.which) {
            return Ok(());
        }
        let (next, last) = Self::open(&self.path)?;
        if last.is_some_and(|last| last != written) {
            return Err(AuditError::Replaced { path: self.path.clone() });
        }
        *self = next;
        Ok(())
    }

    fn failed(&self, cause: io::Error) -> AuditError {
        AuditError::File { path: self.path.clone(), cause }
    }
}

/// Removes what lies behind `end`, and never adds anything.
fn cut_back(file: &File, end: u64) -> io::Result<()> {
    if file.metadata()?.len() > end { file.set_len(end) } else { Ok(()) }
}

/// Has the disk keep the name of a file that was just made.
fn keep_name(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Some file systems cannot do this for folders; the lines are kept even so.
    let _kept = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Finds the last line, and ends what stands behind it with a line break if that is missing.
fn resume(file: &File, path: &Path) -> Result<Option<ChainLink>, AuditError> {
    let failed = |cause: io::Error| AuditError::File { path: path.to_owned(), cause };
    let length = file.metadata().map_err(failed)?.len();
    if length == 0 {
        return Ok(None);
    }
    let mut last = [0];
    file.read_exact_at(&mut last, length - 1).map_err(failed)?;
    let ended = last == *b"\n";
    let from = last_whole(file, if ended { length - 1 } else { length }).map_err(failed)?;
    let mut reader = BufReader::new(file);
    reader.seek(SeekFrom::Start(from)).map_err(failed)?;
    let found = verify(reader, None);
    let found = found.map_err(|mut broken| {
        // An error names a line of the file.
        broken.line = broken.line.saturating_add(line_breaks(file, from).unwrap_or_default());
        AuditError::End { path: path.to_owned(), broken }
    })?;
    if !ended {
        let mut file = file;
        file.write_all(b"\n").and_then(|()| file.sync_data()).map_err(failed)?;
    }
    Ok(found.last)
}

/// Where the last whole line begins; or, when there is none, the first; or one that is no line at all. `end`
/// is where the text of the last line ends.
fn last_whole(file: &File, mut end: u64) -> io::Result<u64> {
    loop {
        let from = end.saturating_sub(READ);
        let mut text = vec![0; usize::try_from(end - from).map_err(io::Error::other)?];
        file.read_exact_at(&mut text, from)?;
        let before = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = text.get(before..).unwrap_or_default();
        let start = from + before as u64;
        let passed_over = line.len() <= MAX_LINE && ParsedLine::parse(line).is_none() && is_torn(line, None);
        if !passed_over || start == 0 {
            return Ok(start);
        }
        end = start - 1;
    }
}

/// How many line breaks there are before `end`.
fn line_breaks(file: &File, end: u64) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    reader.rewind()?;
    let mut reader = reader.take(end);
    let mut count = 0;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(count);
        }
        count += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let read = bytes.len();
        reader.consume(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::samples;
    use crate::audit::verify::LineFault;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        (folder, path)
    }

    fn last(path: &Path) -> Option<ChainLink> {
        verify(std::fs::read(path).unwrap().as_slice(), None).unwrap().last
    }

    /// Why the file cannot be opened.
    fn refused(path: &Path) -> AuditError {
        LogFile::open(path).err().unwrap()
    }

    #[test]
    fn what_a_failed_write_left_is_removed_and_nothing_else() {
        let (_folder, path) = folder();
        let lines = samples(3);
        let (mut log, none) = LogFile::open(&path).unwrap();
        assert_eq!(none, None);
        log.append(lines[0].as_bytes(), ChainLink::START).unwrap();
        let written = last(&path).unwrap();
        // As a full disk leaves it: the second line, and a piece of the third.
        let end = lines[0].len() as u64;
        (&log.file).write_all(lines[1].as_bytes()).unwrap();
        (&log.file).write_all(&lines[2].as_bytes()[..50]).unwrap();
        log.cut = Some(end);
        log.append(lines[1..].concat().as_bytes(), written).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines.concat());
        // A file that somebody made shorter is not made longer.
        log.file.set_len(10).unwrap();
        cut_back(&log.file, 20).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 10);
        cut_back(&log.file, 4).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), &lines[0].as_bytes()[..4]);
    }

    #[test]
    fn a_file_is_continued_wherever_it_was_torn() {
        let (_folder, path) = folder();
        let lines = samples(3);
        let whole = lines[..2].concat();
        for torn in (0..lines[2].len() - 1).step_by(9) {
            // Killed in the third line, and once more behind the line break that ends it.
            for more in ["", "\n", "\n{\"se"] {
                let more = if torn == 0 { "" } else { more };
                let text = whole.clone() + lines[2].get(..torn).unwrap() + more;
                std::fs::write(&path, &text).unwrap();
                let (_log, found) = LogFile::open(&path).unwrap();
                assert_eq!(found.map(|link| link.seq), Some(2), "{torn}");
                let kept = std::fs::read_to_string(&path).unwrap();
                assert!(kept.starts_with(&text) && kept.ends_with('\n'));
            }
        }
        // All but the line break: that is a whole line.
        std::fs::write(&path, lines.concat().trim_end()).unwrap();
        assert_eq!(LogFile::open(&path).unwrap().1, last(&path));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines.concat());
    }

    #[test]
    fn a_file_of_one_torn_line_begins_a_chain() {
        let (_folder, path) = folder();
        std::fs::write(&path, r#"{"seq":1,"no"#).unwrap();
        let (mut log, found) = LogFile::open(&path).unwrap();
        assert_eq!(found, None);
        log.append(samples(1).concat().as_bytes(), ChainLink::START).unwrap();
        let found = verify(std::fs::read(&path).unwrap().as_slice(), None).unwrap();
        assert_eq!((found.lines, found.torn), (1, 1));
    }

    #[test]
    fn a_file_that_does_not_end_well_is_refused_by_the_number_of_its_line() {
        let (_folder, path) = folder();
        let lines = samples(3);
        let changed = lines[2].replace("chat", "chot");
        let rows = [
            ([lines[0].as_str(), &lines[1], &changed].concat(), 3, "changed after it was written"),
            ([lines[0].as_str(), &lines[1], "Hello\n"].concat(), 3, "no line of an audit log"),
            ([lines[0].as_str(), &lines[1], "\n"].concat(), 3, "no line of an audit log"),
            ([lines[0].as_str(), &"x".repeat(200_000)].concat(), 2, "64 KiB"),
            ("\n".to_owned(), 1, "no line of an audit log"),
        ];
        for (text, line, expected) in rows {
            std::fs::write(&path, &text).unwrap();
            let error = refused(&path);
            assert!(error.to_string().contains(expected), "{error}");
            assert!(matches!(error, AuditError::End { broken, .. } if broken.line == line), "{expected}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(
            matches!(refused(&path), AuditError::End { broken, .. } if matches!(broken.why, LineFault::Form))
        );
    }

    #[test]
    fn only_a_regular_file_of_ones_own_is_opened() {
        use std::os::unix::fs::PermissionsExt;

        let (folder, path) = folder();
        let (log, _) = LogFile::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(refused(&path), AuditError::Locked { .. }));
        drop(log);
        assert!(LogFile::open(&path).is_ok());
        assert!(matches!(refused(folder.path()), AuditError::NotAFile { .. }));
        let (link, dangling) = (folder.path().join("link"), folder.path().join("dangling"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        std::os::unix::fs::symlink(folder.path().join("absent"), &dangling).unwrap();
        assert!(matches!(refused(&link), AuditError::NotAFile { .. }));
        assert!(matches!(refused(&dangling), AuditError::NotAFile { .. }));
        assert!(!folder.path().join("absent").exists());
        assert!(matches!(refused(&folder.path().join("no/file")), AuditError::File { .. }));
    }

    #[test]
    fn a_file_with_other_lines_is_not_continued() {
        let (folder, path) = folder();
        let lines = samples(2);
        let (mut log, _) = LogFile::open(&path).unwrap();
        log.append(lines[0].as_bytes(), ChainLink::START).unwrap();
        let written = last(&path).unwrap();
        // A copy with the same lines may take its place.
        let copy = folder.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        std::fs::rename(&copy, &path).unwrap();
        log.append(lines[1].as_bytes(), written).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines.concat());
        std::fs::write(&copy, &lines[0]).unwrap();
        std::fs::rename(&copy, &path).unwrap();
        let now = ChainLink { seq: 2, ..written };
        assert!(matches!(log.follow(now), Err(AuditError::Replaced { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(log.follow(now).is_ok());
    }
}
