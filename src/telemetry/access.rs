//! [`AccessLog`]: one line for each request, in the process's log or in a file of its own.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::telemetry::addresses::Addresses;
use crate::telemetry::event::Access;
use crate::telemetry::recent::RecentRequests;

/// Lines that wait for the disk, at the most; those beyond it are dropped and counted.
const WAITING: usize = 8192;

/// How often a file is looked for under its name: whoever rotates it need not tell us.
const LOOK: Duration = Duration::from_secs(1);

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

enum Way {
    Off,
    Log,
    JsonLog,
    File(SyncSender<Line>),
}

enum Line {
    Text(String),
    /// To be answered once all before it is written.
    Flush(SyncSender<()>),
}

/// The access log.
pub struct AccessLog {
    way: Way,
    addresses: Addresses,
    lost: Box<dyn Fn() + Send + Sync>,
    faults: Box<dyn Fn(&'static str) + Send + Sync>,
    recent: Arc<RecentRequests>,
}

impl AccessLog {
    /// Opens it; `lost` is called for each line that cannot be written.
    ///
    /// # Errors
    /// A file that cannot be opened, or no thread to write it.
    pub fn open(
        to: AccessTo,
        addresses: Addresses,
        lost: impl Fn() + Clone + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let way = match to {
            AccessTo::Off => Way::Off,
            AccessTo::Log => Way::Log,
            AccessTo::JsonLog => Way::JsonLog,
            AccessTo::File(path) => {
                let (lines, writer) = (sync_channel(WAITING), Writer::open(&path)?);
                let lost = lost.clone();
                let run = move || writer.run(&lines.1, &lost);
                std::thread::Builder::new().name("access".to_owned()).spawn(run)?;
                Way::File(lines.0)
            }
        };
        Ok(Self { way, addresses, lost: Box::new(lost), faults: Box::new(|_| {}), recent: Arc::default() })
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
            Way::Off => {}
            Way::Log => access.log(self.addresses),
            Way::JsonLog => {
                let line = access.json(self.addresses) + "\n";
                if std::io::stderr().lock().write_all(line.as_bytes()).is_err() {
                    (self.lost)();
                }
            }
            Way::File(lines) => {
                if lines.try_send(Line::Text(access.json(self.addresses) + "\n")).is_err() {
                    (self.lost)();
                }
            }
        }
    }

    /// Waits a second at the most until what was logged is written.
    pub fn flush(&self) {
        let Way::File(lines) = &self.way else { return };
        let (done, written) = sync_channel(1);
        if lines.try_send(Line::Flush(done)).is_ok() {
            let _in_time = written.recv_timeout(Duration::from_secs(1));
        }
    }
}

struct Writer {
    path: PathBuf,
    file: File,
    /// Which file it is: device and number.
    which: (u64, u64),
}

impl Writer {
    fn open(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let found = file.metadata()?;
        Ok(Self { path: path.to_owned(), which: (found.dev(), found.ino()), file })
    }

    fn run(mut self, lines: &Receiver<Line>, lost: &impl Fn()) {
        let mut held = Vec::new();
        loop {
            let mut done = Vec::new();
            match lines.recv_timeout(LOOK) {
                Ok(line) => take(line, &mut held, &mut done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let mut count = 1;
            for line in lines.try_iter().take(WAITING) {
                count += 1;
                take(line, &mut held, &mut done);
            }
            self.look();
            if !held.is_empty() && self.file.write_all(&held).is_err() {
                (0..count).for_each(|_| lost());
            }
            held.clear();
            done.into_iter().for_each(|done| done.send(()).unwrap_or_default());
        }
    }

    /// If the name is another file's by now, or nobody's, that is opened.
    fn look(&mut self) {
        let found = std::fs::metadata(&self.path).map(|found| (found.dev(), found.ino()));
        if found.is_ok_and(|found| found == self.which) {
            return;
        }
        if let Ok(opened) = Self::open(&self.path) {
            *self = opened;
        }
    }
}

fn take(line: Line, held: &mut Vec<u8>, done: &mut Vec<SyncSender<()>>) {
    match line {
        Line::Text(text) => held.extend_from_slice(text.as_bytes()),
        Line::Flush(written) => done.push(written),
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
}
