//! [`Follower`]: reads the file of an audit log as it grows, for whoever keeps a copy of the lines elsewhere. It goes over
//! to the next file when the one that it reads was moved away, once it has read that to its end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::audit::chain::{ChainLink, ParsedLine, READ};
use crate::audit::error::AuditError;
use crate::audit::file::{FileIdentity, LogPosition};
use crate::base::clock::Timestamp;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedLine {
    /// What it follows.
    pub before: ChainLink,
    /// Itself.
    pub this: ChainLink,
    /// What it calls the gateway that wrote it.
    pub node: String,
    /// When what it says began.
    pub time: Timestamp,
    /// How that ended: `passed`, `refused`, `failed`.
    pub decision: String,
    /// The line, without its line break.
    pub text: String,
}

/// A line with its line break is shorter than this, in bytes.
const LONGEST: u64 = READ + 1;

/// So much of what was read last is kept, in bytes: a line's hash and what ends it.
const MARK: usize = 72;

/// Reads lines in their order, each once.
pub struct Follower {
    path: PathBuf,
    open: Option<OpenFile>,
    cut: bool,
}

/// The file that is read.
struct OpenFile {
    file: File,
    which: FileIdentity,
    /// Where the next line begins.
    at: u64,
    /// What stands right before that.
    mark: Vec<u8>,
    /// The number of the last line that was read.
    last: u64,
    /// Lines up to this number were read before the file was cut.
    known: u64,
    /// It was cut.
    cut: bool,
}

/// What is read of a line's own words.
#[derive(Deserialize)]
struct LineFields {
    node: String,
    time: String,
    decision: String,
}

impl Follower {
    /// Of the file that has this name now, or once will have it; from its first line on.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None, cut: false }
    }

    /// Goes to the line behind the last one of these that the file has, or that its first line follows. `None`: there is no such
    /// line, and it begins with the first.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn go_behind(&mut self, ends: &[ChainLink]) -> Result<Option<ChainLink>, AuditError> {
        self.open = OpenFile::named(&self.path).map_err(|cause| failed(&self.path, cause))?;
        let mut found = None;
        let Some(open) = &mut self.open else { return Ok(None) };
        loop {
            let start = open.at;
            let read = open.lines(u64::MAX, 1).map_err(|cause| failed(&self.path, cause))?;
            let Some(line) = read.first() else { break };
            for (link, at) in [(line.before, start), (line.this, open.at)] {
                if link.seq > 0 && ends.contains(&link) {
                    found = Some((link, at));
                }
            }
        }
        let (last, at) = found.map_or((0, 0), |(link, at)| (link.seq, at));
        open.go_to(at, last).map_err(|cause| failed(&self.path, cause))?;
        Ok(found.map(|(link, _)| link))
    }

    /// Up to `most` lines that come next, of those that are `written`: what lies behind that may yet be taken back.
    ///
    /// A file that was cut, or written anew in its place, is read from its beginning again, without the lines that were read before
    /// ([`Follower::was_cut`]). A file that has no more lines to come is let go of as soon as another has its name: what was
    /// removed takes no room on the disk any more.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn next(&mut self, written: LogPosition, most: usize) -> Result<Vec<FollowedLine>, AuditError> {
        if self.open.is_none() {
            self.open = OpenFile::named(&self.path).map_err(|cause| failed(&self.path, cause))?;
        }
        loop {
            let Some(open) = &mut self.open else { return Ok(Vec::new()) };
            let lines = open.lines(written.seq, most);
            self.cut |= std::mem::take(&mut open.cut);
            let lines = lines.map_err(|cause| failed(&self.path, cause))?;
            if !lines.is_empty() {
                return Ok(lines);
            }
            let Some(next) = self.successor(written).map_err(|cause| failed(&self.path, cause))? else {
                return Ok(lines);
            };
            // Its first line was written behind the last one of the file before: only now that has an end.
            let Some(open) = &mut self.open else { return Ok(lines) };
            let rest = open.lines(written.seq, most).map_err(|cause| failed(&self.path, cause))?;
            if !rest.is_empty() {
                return Ok(rest);
            }
            self.open = Some(next);
        }
    }

    /// Whether a file was cut, or written anew in its place, since this was asked last.
    pub fn was_cut(&mut self) -> bool {
        std::mem::take(&mut self.cut)
    }

    /// Another file that has the name by now, once it has a line, or once nobody writes the one before. A full disk may have no
    /// room for that line while the file before is open.
    fn successor(&self, written: LogPosition) -> io::Result<Option<OpenFile>> {
        let Some(mut next) = OpenFile::named(&self.path)? else { return Ok(None) };
        let Some(open) = self.open.as_ref().filter(|open| open.which != next.which) else { return Ok(None) };
        let ended = written.file.is_some_and(|file| file != open.which);
        if !ended && next.lines(written.seq, 1)?.is_empty() {
            return Ok(None);
        }
        next.go_to(0, 0)?;
        Ok(Some(next))
    }
}

fn failed(path: &Path, cause: io::Error) -> AuditError {
    AuditError::File { path: path.to_owned(), cause }
}

impl OpenFile {
    /// The file of this name, if there is one.
    fn named(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => {
                let which = FileIdentity::of(&file.metadata()?);
                Ok(Some(Self { file, which, at: 0, mark: Vec::new(), last: 0, known: 0, cut: false }))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Goes to a place where a line begins, behind the line of the number `last`.
    fn go_to(&mut self, at: u64, last: u64) -> io::Result<()> {
        let mut mark = vec![0; usize::try_from(at).unwrap_or(MARK).min(MARK)];
        self.file.read_exact_at(&mut mark, at.saturating_sub(MARK as u64))?;
        (self.at, self.mark, self.last, self.known) = (at, mark, last, 0);
        Ok(())
    }

    /// Whether what was read last still stands where it stood.
    fn is_as_read(&self) -> io::Result<bool> {
        let mut found = vec![0; self.mark.len()];
        match self.file.read_exact_at(&mut found, self.at.saturating_sub(self.mark.len() as u64)) {
            Ok(()) => Ok(found == self.mark),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whole lines from where it stands, up to a number. What is no line of a log is passed over: the next one's number says
    /// whether anything is missing.
    fn lines(&mut self, until: u64, most: usize) -> io::Result<Vec<FollowedLine>> {
        if !self.is_as_read()? {
            let last = self.last;
            self.go_to(0, last)?;
            (self.known, self.cut) = (last, true);
        }
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let mut reader = BufReader::new(file);
        let (mut lines, mut text) = (Vec::new(), Vec::new());
        while lines.len() < most {
            text.clear();
            let read = Read::take(&mut reader, LONGEST).read_until(b'\n', &mut text)? as u64;
            let line = match text.strip_suffix(b"\n") {
                Some(line) => parsed(line),
                // Too long for a line of a log, so it is none.
                None if read == LONGEST => None,
                // Its end is still to come.
                None => break,
            };
            if line.as_ref().is_some_and(|line| line.this.seq > until) {
                break;
            }
            self.at += read;
            self.mark.clear();
            self.mark.extend_from_slice(text.get(text.len().saturating_sub(MARK)..).unwrap_or_default());
            if let Some(line) = line {
                self.last = self.last.max(line.this.seq);
                lines.extend((line.this.seq > self.known).then_some(line));
            }
        }
        Ok(lines)
    }
}

fn parsed(text: &[u8]) -> Option<FollowedLine> {
    let sealed = ParsedLine::parse(text)?;
    let said: LineFields = serde_json::from_slice(text).ok()?;
    Some(FollowedLine {
        before: ChainLink { seq: sealed.seq - 1, hash: sealed.prev },
        this: ChainLink { seq: sealed.seq, hash: sealed.hash },
        node: said.node,
        time: Timestamp::parse_iso8601(&said.time)?,
        decision: said.decision,
        text: String::from_utf8(text.to_vec()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::audit::chain::{sample, samples};
    use crate::audit::writer::AuditLog;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        (folder, path)
    }

    fn put(path: &Path, lines: &[String]) {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.unwrap().write_all(lines.concat().as_bytes()).unwrap();
    }

    fn up_to(seq: u64) -> LogPosition {
        LogPosition { seq, file: None }
    }

    fn numbers(lines: &[FollowedLine]) -> Vec<u64> {
        lines.iter().map(|line| line.this.seq).collect()
    }

    /// The numbers of all that comes next.
    fn all(follower: &mut Follower) -> Vec<u64> {
        let mut all = Vec::new();
        loop {
            let lines = follower.next(LogPosition::WHOLE, 2).unwrap();
            if lines.is_empty() {
                return all;
            }
            all.extend(numbers(&lines));
        }
    }

    #[test]
    fn lines_come_once_as_they_are_written() {
        let (_folder, path) = folder();
        let lines = samples(6);
        let mut follower = Follower::new(&path);
        assert_eq!(all(&mut follower), [0; 0], "there is no file yet");
        put(&path, &lines[..3]);
        let first = follower.next(LogPosition::WHOLE, 1).unwrap().remove(0);
        assert_eq!((first.before, first.text.as_str()), (ChainLink::START, lines[0].trim_end()));
        assert_eq!((first.time, first.decision.as_str()), (Timestamp::from_millis(1000), "passed"));
        assert_eq!(numbers(&follower.next(up_to(2), 10).unwrap()), [2], "what may be taken back is not read");
        assert_eq!(numbers(&follower.next(up_to(2), 10).unwrap()), [0; 0]);
        assert_eq!(all(&mut follower), [3]);
        // In pieces, and behind what is no line.
        let (begin, end) = lines[3].split_at(40);
        put(&path, &["torn\n".to_owned(), "x".repeat(200_000), "\n".to_owned(), begin.to_owned()]);
        assert_eq!(all(&mut follower), [0; 0]);
        put(&path, &[end.to_owned(), lines[4].clone()]);
        assert_eq!(all(&mut follower), [4, 5]);
    }

    #[test]
    fn it_goes_on_in_the_next_file_once_it_has_read_this_one() {
        let (folder, path) = folder();
        let lines = samples(6);
        let moved = folder.path().join("audit.1.jsonl");
        put(&path, &lines[..2]);
        let mut follower = Follower::new(&path);
        assert_eq!(numbers(&follower.next(LogPosition::WHOLE, 1).unwrap()), [1]);
        std::fs::rename(&path, &moved).unwrap();
        assert_eq!(all(&mut follower), [2]);
        // A line that was on its way when the file was moved, and a new file that is empty yet.
        put(&moved, &lines[2..3]);
        put(&path, &[]);
        assert_eq!(all(&mut follower), [3]);
        put(&moved, &lines[3..4]);
        put(&path, &lines[4..]);
        assert_eq!(all(&mut follower), [4, 5, 6]);
    }

    #[test]
    fn a_file_that_is_removed_is_let_go_of_once_nobody_writes_it() {
        let (_folder, path) = folder();
        let lines = samples(4);
        put(&path, &lines[..2]);
        let old = FileIdentity::of(&std::fs::metadata(&path).unwrap());
        let mut follower = Follower::new(&path);
        assert_eq!(numbers(&follower.next(up_to(2), 1).unwrap()), [1]);
        std::fs::rename(&path, path.with_extension("old")).unwrap();
        put(&path, &[]);
        let new = FileIdentity::of(&std::fs::metadata(&path).unwrap());
        let open = |follower: &Follower| follower.open.as_ref().map(|open| open.which);
        let mut next = |seq, file| {
            let lines = follower.next(LogPosition { seq, file: Some(file) }, 10).unwrap();
            (numbers(&lines), open(&follower) == Some(new))
        };
        assert_eq!(next(2, old), (vec![2], false));
        assert_eq!(next(2, old), (vec![], false), "a line may be on its way");
        put(&path.with_extension("old"), &lines[2..3]);
        assert_eq!(next(3, new), (vec![3], false), "it is read to its end");
        assert_eq!(next(3, new), (vec![], true), "the new one has no line yet");
        put(&path, &lines[3..]);
        assert_eq!(next(4, new), (vec![4], true));
    }

    #[test]
    fn a_log_says_which_file_it_writes() {
        let (_folder, path) = folder();
        let log = AuditLog::open(&path, "node-1").unwrap();
        log.write(&sample(0)).unwrap();
        assert!(log.flush(Duration::from_secs(30)));
        let mut follower = Follower::new(&path);
        assert_eq!(numbers(&follower.next(log.written(), 10).unwrap()), [1]);
        let old = follower.open.as_ref().unwrap().which;
        std::fs::remove_file(&path).unwrap();
        for _ in 0..3000 {
            assert_eq!(numbers(&follower.next(log.written(), 10).unwrap()), [0; 0]);
            if follower.open.as_ref().unwrap().which != old {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the file that was removed is still open");
    }

    #[test]
    fn a_file_that_was_cut_is_read_again_without_what_was_read() {
        let lines = samples(8);
        // How many lines stay, how many come behind them, and which of all are new then.
        let rows: &[(usize, usize, &[u64])] = &[
            (0, 1, &[5]),
            (0, 4, &[5, 6, 7, 8]),
            (2, 1, &[5]),
            (2, 4, &[5, 6, 7, 8]),
            (3, 0, &[]),
            (0, 0, &[]),
        ];
        for (stay, come, new) in rows {
            let (_folder, path) = folder();
            put(&path, &lines[..4]);
            let mut follower = Follower::new(&path);
            assert_eq!(all(&mut follower), [1, 2, 3, 4]);
            assert!(!follower.was_cut());
            // In its place, and perhaps longer than before when it is looked at again.
            std::fs::OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
            put(&path, &lines[..*stay]);
            put(&path, &lines[4..4 + come]);
            assert_eq!(all(&mut follower), *new, "{stay} {come}");
            assert!(follower.was_cut() && !follower.was_cut());
        }
    }

    #[test]
    fn it_begins_behind_what_is_known() {
        let (_folder, path) = folder();
        let lines = samples(5);
        let links: Vec<ChainLink> =
            lines.iter().map(|line| parsed(line.trim_end().as_bytes()).unwrap().this).collect();
        let other = ChainLink { seq: 2, hash: [7; 32] };
        put(&path, &lines[1..]);
        let rows: &[(&[ChainLink], Option<ChainLink>, &[u64])] = &[
            (&[], None, &[2, 3, 4, 5]),
            (&[other, ChainLink::START], None, &[2, 3, 4, 5]),
            (&[links[0]], Some(links[0]), &[2, 3, 4, 5]),
            (&[links[2], links[1], other], Some(links[2]), &[4, 5]),
            (&[links[4]], Some(links[4]), &[]),
        ];
        for (ends, found, rest) in rows {
            let mut follower = Follower::new(&path);
            assert_eq!(follower.go_behind(ends).unwrap(), *found);
            assert_eq!(all(&mut follower), *rest);
        }
    }
}
