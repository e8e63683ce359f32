//! [`Follower`]: reads the file of an audit log as it grows, for whoever keeps a copy of the lines elsewhere. It goes over
//! to the next file when the one that it reads was moved away, once it has read that to its end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::audit::chain::{Link, READ, Sealed};
use crate::audit::error::AuditError;
use crate::audit::file::Which;
use crate::base::clock::Timestamp;

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedLine {
    /// What it follows.
    pub before: Link,
    /// Itself.
    pub this: Link,
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

/// Reads lines in their order, each once.
pub struct Follower {
    path: PathBuf,
    open: Option<OpenFile>,
}

/// The file that is read.
struct OpenFile {
    file: File,
    which: Which,
    /// Where the next line begins.
    at: u64,
}

/// What is read of a line's own words.
#[derive(Deserialize)]
struct Said {
    node: String,
    time: String,
    decision: String,
}

impl Follower {
    /// Of the file that has this name now, or once will have it; from its first line on.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), open: None }
    }

    /// Goes to the line behind the last one of these that the file has, or that its first line follows. `None`: there is no such
    /// line, and it begins with the first.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn go_behind(&mut self, ends: &[Link]) -> Result<Option<Link>, AuditError> {
        self.open = OpenFile::named(&self.path).map_err(|cause| failed(&self.path, cause))?;
        let mut found = None;
        let Some(open) = &mut self.open else { return Ok(None) };
        loop {
            let start = open.at;
            let read = open.next(u64::MAX).map_err(|cause| failed(&self.path, cause))?;
            let Some(line) = read else { break };
            for (link, at) in [(line.before, start), (line.this, open.at)] {
                if link.seq > 0 && ends.contains(&link) {
                    found = Some((link, at));
                }
            }
        }
        open.at = found.map_or(0, |(_, at)| at);
        Ok(found.map(|(link, _)| link))
    }

    /// Up to `most` lines that come next, of those up to the number `until`: what lies behind that may yet be taken back.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn next(&mut self, until: u64, most: usize) -> Result<Vec<FollowedLine>, AuditError> {
        if self.open.is_none() {
            self.open = OpenFile::named(&self.path).map_err(|cause| failed(&self.path, cause))?;
        }
        loop {
            let Some(open) = &mut self.open else { return Ok(Vec::new()) };
            let lines = open.lines(until, most).map_err(|cause| failed(&self.path, cause))?;
            if !lines.is_empty() {
                return Ok(lines);
            }
            let Some(next) = self.successor(until).map_err(|cause| failed(&self.path, cause))? else {
                return Ok(lines);
            };
            // Its first line was written behind the last one of the file before: only now that has an end.
            let Some(open) = &mut self.open else { return Ok(lines) };
            let rest = open.lines(until, most).map_err(|cause| failed(&self.path, cause))?;
            if !rest.is_empty() {
                return Ok(rest);
            }
            self.open = Some(next);
        }
    }

    /// Another file that has the name by now, once it has a line.
    fn successor(&self, until: u64) -> io::Result<Option<OpenFile>> {
        let Some(mut next) = OpenFile::named(&self.path)? else { return Ok(None) };
        if self.open.as_ref().is_some_and(|open| open.which == next.which) {
            return Ok(None);
        }
        let has_one = next.next(until)?.is_some();
        next.at = 0;
        Ok(has_one.then_some(next))
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
                let which = Which::of(&file.metadata()?);
                Ok(Some(Self { file, which, at: 0 }))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn next(&mut self, until: u64) -> io::Result<Option<FollowedLine>> {
        self.lines(until, 1).map(|mut lines| lines.pop())
    }

    /// Whole lines from where it stands, up to a number. What is no line of a log is passed over: the next one's number says
    /// whether anything is missing.
    fn lines(&mut self, until: u64, most: usize) -> io::Result<Vec<FollowedLine>> {
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
            lines.extend(line);
        }
        Ok(lines)
    }
}

fn parsed(text: &[u8]) -> Option<FollowedLine> {
    let sealed = Sealed::parse(text)?;
    let said: Said = serde_json::from_slice(text).ok()?;
    Some(FollowedLine {
        before: Link { seq: sealed.seq - 1, hash: sealed.prev },
        this: Link { seq: sealed.seq, hash: sealed.hash },
        node: said.node,
        time: Timestamp::parse_iso8601(&said.time)?,
        decision: said.decision,
        text: String::from_utf8(text.to_vec()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::samples;

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

    fn numbers(lines: &[FollowedLine]) -> Vec<u64> {
        lines.iter().map(|line| line.this.seq).collect()
    }

    /// The numbers of all that comes next.
    fn all(follower: &mut Follower) -> Vec<u64> {
        let mut all = Vec::new();
        loop {
            let lines = follower.next(u64::MAX, 2).unwrap();
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
        let first = follower.next(u64::MAX, 1).unwrap().remove(0);
        assert_eq!((first.before, first.text.as_str()), (Link::START, lines[0].trim_end()));
        assert_eq!((first.time, first.decision.as_str()), (Timestamp::from_millis(1000), "passed"));
        assert_eq!(numbers(&follower.next(2, 10).unwrap()), [2], "what may be taken back is not read");
        assert_eq!(numbers(&follower.next(2, 10).unwrap()), [0; 0]);
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
        assert_eq!(numbers(&follower.next(u64::MAX, 1).unwrap()), [1]);
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
    fn it_begins_behind_what_is_known() {
        let (_folder, path) = folder();
        let lines = samples(5);
        let links: Vec<Link> =
            lines.iter().map(|line| parsed(line.trim_end().as_bytes()).unwrap().this).collect();
        let other = Link { seq: 2, hash: [7; 32] };
        put(&path, &lines[1..]);
        let rows: &[(&[Link], Option<Link>, &[u64])] = &[
            (&[], None, &[2, 3, 4, 5]),
            (&[other, Link::START], None, &[2, 3, 4, 5]),
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
