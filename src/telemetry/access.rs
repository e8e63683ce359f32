//! [`AccessLog`]: one line for each request, in the process's log or in a file of its own.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::telemetry::addresses::Addresses;
use crate::telemetry::event::Access;
use crate::telemetry::lines::{LineKind, LineQueue, LineSink};
use crate::telemetry::process_log;
use crate::telemetry::recent::RecentRequests;

/// How long is waited for the last lines.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

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
}

impl LogFile {
    fn open(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let found = file.metadata()?;
        Ok(Self { path: path.to_owned(), which: (found.dev(), found.ino()), file })
    }

    /// Whether its last line is: a process that was killed, or had no room, may have left one that is not.
    fn is_whole(&self) -> bool {
        let mut last = [b'\n'];
        let read = File::open(&self.path).and_then(|mut file| {
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
            return None;
        }
        *self = Self::open(&self.path).ok()?;
        Some(self.is_whole())
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }
}

#[cfg(test)]
mod tests {
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
}
