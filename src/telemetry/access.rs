//! [`AccessLog`]: one line for each request, in the process's log or in a file of its own.

use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::base::regular_file;
use crate::base::throttle::LogThrottle;
use crate::telemetry::addresses::Addresses;
use crate::telemetry::event::Access;
use crate::telemetry::lines::{LineKind, LineQueue, LineSink};
use crate::telemetry::process_log;
use crate::telemetry::recent::RecentRequests;

/// How long is waited for the last lines.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// How often it is said that a file that was moved away still takes the lines.
const SAID_EVERY: Duration = Duration::from_secs(60);

/// Where lines go.
#[derive(Clone, Debug, Default)]
pub enum AccessTo {
    /// Nowhere.
    Off,
    /// The process's log, as its other lines are.
    #[default]
    Log,
    /// The process's log, as JSON.
    JsonLog,
    /// This file, as JSON; it is made if it is not there, for its owner alone.
    File(PathBuf),
}

enum AccessSink {
    Off,
    Log,
    JsonLog,
    File(LineQueue),
}

/// The access log.
pub struct AccessLog {
    way: AccessSink,
    addresses: Addresses,
    faults: Box<dyn Fn(&'static str) + Send + Sync>,
    recent: Arc<RecentRequests>,
}

impl AccessLog {
    /// Opens it; `lost` is called for each line that cannot be written to a file of its own.
    ///
    /// # Errors
    /// A file that cannot be opened, or no thread to write it.
    pub fn open(
        to: AccessTo,
        addresses: Addresses,
        lost: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let way = match to {
            AccessTo::Off => AccessSink::Off,
            AccessTo::Log => AccessSink::Log,
            AccessTo::JsonLog => AccessSink::JsonLog,
            AccessTo::File(path) => {
                let file = LogFile::open(&path)?;
                let whole = file.is_whole();
                AccessSink::File(LineQueue::to(file, whole, move |_| lost())?)
            }
        };
        Ok(Self { way, addresses, faults: Box::new(|_| {}), recent: Arc::default() })
    }

    /// Has `faults` called with what went wrong, for each request of which something did.
    #[must_use]
    pub fn counting(self, faults: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self { faults: Box::new(faults), ..self }
    }

    /// The last requests, which are kept once somebody wants them, wherever lines go.
    pub fn recent(&self) -> &Arc<RecentRequests> {
        &self.recent
    }

    /// Writes a line.
    pub fn write(&self, access: &Access<'_>) {
        self.recent.add(access, self.addresses);
        if access.fault != "-" {
            (self.faults)(access.fault);
        }
        match &self.way {
            AccessSink::Off => {}
            AccessSink::Log => access.log(self.addresses),
            AccessSink::JsonLog => process_log::push(self.line(access), LineKind::Access),
            AccessSink::File(lines) => lines.push(self.line(access), LineKind::Access),
        }
    }

    fn line(&self, access: &Access<'_>) -> Vec<u8> {
        (access.json(self.addresses) + "\n").into_bytes()
    }

    /// Waits a second at the most until what was logged is written.
    pub fn flush(&self) {
        if let AccessSink::File(lines) = &self.way {
            lines.flush(WRITE_TIMEOUT);
        }
    }
}

/// A file that may be moved away at any time: whoever rotates it need not tell us.
struct LogFile {
    path: PathBuf,
    file: File,
    /// Which file it is: device and number.
    which: (u64, u64),
    /// Why no file can be opened by the name, where the one that had it is gone.
    fault: Option<Error>,
    seldom: LogThrottle,
}

impl LogFile {
    fn open(path: &Path) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = regular_file::open(path, options.append(true).create(true).mode(0o600))?;
        let found = file.metadata()?;
        let which = (found.dev(), found.ino());
        Ok(Self { path: path.to_owned(), file, which, fault: None, seldom: LogThrottle::every(SAID_EVERY) })
    }

    /// What becomes of lines while no file can be opened by the name: one that was moved away still takes them, in one that was
    /// removed they would be lost.
    fn unopened(&mut self, why: Error) {
        let is_there = self.file.metadata().is_ok_and(|found| found.nlink() > 0);
        if is_there && self.seldom.due().is_some() {
            let to = self.path.display();
            let what = "the file cannot be opened anew, so lines go on into the one that was moved away";
            tracing::warn!(target: "portcullis::log", %to, "{what}: {why}");
        }
        self.fault = (!is_there).then_some(why);
    }

    /// Whether its last line is: a process that was killed, or had no room, may have left one that is not.
    fn is_whole(&self) -> bool {
        let mut last = [b'\n'];
        let read = regular_file::open(&self.path, OpenOptions::new().read(true)).and_then(|mut file| {
            file.seek(SeekFrom::End(-1))?;
            file.read(&mut last)
        });
        // Of an empty file there is none.
        read.is_err() || last == *b"\n"
    }
}

impl LineSink for LogFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// If the name is another file's by now, or nobody's, that is opened.
    fn look(&mut self) -> Option<bool> {
        let found = std::fs::metadata(&self.path).map(|found| (found.dev(), found.ino()));
        if found.is_ok_and(|found| found == self.which) {
            self.fault = None;
            return None;
        }
        match Self::open(&self.path) {
            Ok(next) => {
                *self = next;
                Some(self.is_whole())
            }
            Err(why) => {
                self.unopened(why);
                None
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &self.fault {
            Some(why) => Err(Error::new(why.kind(), why.to_string())),
            None => self.file.write(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::base::clock::Timestamp;
    use crate::base::id::RequestId;

    #[test]
    fn lines_are_whole_and_follow_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.jsonl");
        let log = AccessLog::open(AccessTo::File(path.clone()), Addresses::Network, || {}).unwrap();
        let id = RequestId::from_random([1; 20]);
        let findings = [("EMAIL_ADDRESS".to_owned(), 2)].into();
        let access = Access {
            time: Timestamp::from_millis(0),
            client: Some("192.0.2.77".parse().unwrap()),
            findings: &findings,
            status: 200,
            ..Access::of(&id)
        };
        log.write(&access);
        log.flush();
        let moved = folder.path().join("access.1");
        std::fs::rename(&path, &moved).unwrap();
        log.write(&access);
        log.write(&access);
        log.flush();
        let lines = |path: &Path| -> Vec<serde_json::Value> {
            let text = std::fs::read_to_string(path).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        assert_eq!((lines(&moved).len(), lines(&path).len()), (1, 2));
        let line = &lines(&path)[0];
        assert_eq!(line["client"], "192.0.2.0");
        assert_eq!(line["findings"]["EMAIL_ADDRESS"], 2);
        assert_eq!(line["timestamp"], "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_line_that_somebody_left_torn_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        for (before, after) in [("", ""), ("{}\n", "{}\n"), ("{}\n{\"torn", "{}\n{\"torn\n")] {
            let path = folder.path().join("access.jsonl");
            std::fs::write(&path, before).unwrap();
            let log = AccessLog::open(AccessTo::File(path.clone()), Addresses::Off, || {}).unwrap();
            log.write(&Access::of(&RequestId::from_random([1; 20])));
            log.flush();
            let text = std::fs::read_to_string(&path).unwrap();
            let line = text.strip_prefix(after).unwrap();
            assert!(line.starts_with('{') && line.ends_with("}\n"), "{line}");
        }
    }

    #[test]
    fn where_no_file_can_be_opened_anew_lines_are_counted_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        let (path, moved) = (logs.join("access.jsonl"), logs.join("access.1"));
        std::fs::create_dir(&logs).unwrap();
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        let count = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let log = AccessLog::open(AccessTo::File(path.clone()), Addresses::Off, count).unwrap();
        let write = |expected: u64| {
            log.write(&Access::of(&RequestId::from_random([1; 20])));
            log.flush();
            assert_eq!(lost.load(Ordering::Relaxed), expected);
        };
        let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
        write(0);
        std::fs::remove_dir_all(&logs).unwrap();
        write(1);
        std::fs::create_dir(&logs).unwrap();
        write(1);
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        write(2);
        std::fs::remove_dir(&path).unwrap();
        write(2);
        // Moved away, it is somewhere.
        std::fs::rename(&path, &moved).unwrap();
        std::fs::create_dir(&path).unwrap();
        write(2);
        std::fs::remove_dir(&path).unwrap();
        write(2);
        assert_eq!((lines(&moved), lines(&path)), (2, 1));
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.jsonl");
        let _socket = UnixListener::bind(&path).unwrap();
        let opened = AccessLog::open(AccessTo::File(path), Addresses::Off, || {});
        assert_eq!(opened.err().unwrap().to_string(), "this is not a file");
    }
}
