//! [`AuditLog`]: a bounded queue of events, and the thread that writes them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::audit::chain::{Chain, ChainLink};
use crate::audit::error::AuditError;
use crate::audit::event::{AuditEvent, EventMembers};
use crate::audit::file::{FileIdentity, LogFile, LogPosition};

/// Events that wait to be written, at the most.
const WAITING: usize = 8192;

/// How long a call waits for room among them.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// Events that are written at once, at the most.
const BATCH: usize = 1024;

/// How often the file is looked for under its name, and how long after a failed write the next is tried.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long lines gather behind a batch, so that a disk is asked to keep many at once.
const GATHERED: Duration = Duration::from_millis(5);

/// How long the end of the log waits for the disk.
const LAST: Duration = Duration::from_secs(5);

/// The audit log of one process. Events that it took are written in the order in which it took them, and
/// nothing of what it took is lost as long as the process runs: a write that fails is tried again until it
/// succeeds.
///
/// Dropping it writes what waits, for five seconds at the most.
pub struct AuditLog {
    path: PathBuf,
    shared: Arc<SharedWriter>,
    thread: Option<JoinHandle<()>>,
}

struct SharedWriter {
    state: Mutex<WriterState>,
    /// Events came, or the log is to end.
    arrived: Condvar,
    /// Events were taken or written, or the thread has ended.
    moved: Condvar,
}

#[derive(Default)]
struct WriterState {
    waiting: VecDeque<EventMembers>,
    /// Events that were ever taken in.
    accepted: u64,
    /// Events that the disk has.
    written: u64,
    /// The last line that the disk has.
    last: u64,
    /// The file that was written last, or would have been.
    file: Option<FileIdentity>,
    /// What went wrong the last time that something was written.
    fault: Option<String>,
    closed: bool,
    ended: bool,
}

impl SharedWriter {
    fn lock(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditLog {
    /// Opens the file, or makes it for its owner alone, and goes on after the last line in it. `node` names
    /// this process in each line; it is cut at 256 characters. The file stays locked, so that nobody else
    /// writes it, until the log is dropped; when it is moved away, a new one is made under its name, and the
    /// chain goes on in that.
    ///
    /// # Errors
    /// Somebody else writes the file, it is no regular file, it cannot be used, or it does not end with lines
    /// of an audit log. A line that was being written when a process was killed is no error.
    pub fn open(path: &Path, node: &str) -> Result<Self, AuditError> {
        let (file, last) = LogFile::open(path)?;
        let written = last.unwrap_or(ChainLink::START);
        let state =
            Mutex::new(WriterState { last: written.seq, file: Some(file.which()), ..WriterState::default() });
        let shared = Arc::new(SharedWriter { state, arrived: Condvar::new(), moved: Condvar::new() });
        let writer = Writer {
            shared: Arc::clone(&shared),
            file,
            node: node.to_owned(),
            chain: Chain::after(written),
            written,
            batch: Vec::new(),
            events: 0,
        };
        let thread = std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run());
        Ok(Self { path: path.to_owned(), shared, thread: Some(thread.map_err(AuditError::Thread)?) })
    }

    /// Gives an event to the thread that writes. Where 8192 events wait already, it blocks the calling thread
    /// for a second at the most.
    ///
    /// # Errors
    /// [`AuditError::Behind`] if there is no room even then, and [`AuditError::Ended`] if nobody writes any
    /// more. The event is not in the log then.
    pub fn write(&self, event: &AuditEvent<'_>) -> Result<(), AuditError> {
        self.put(event, WRITE_TIMEOUT)
    }

    /// As [`AuditLog::write`], but never blocks.
    ///
    /// # Errors
    /// As [`AuditLog::write`], at once.
    pub fn try_write(&self, event: &AuditEvent<'_>) -> Result<(), AuditError> {
        self.put(event, Duration::ZERO)
    }

    fn put(&self, event: &AuditEvent<'_>, patience: Duration) -> Result<(), AuditError> {
        if self.has_ended() {
            return Err(AuditError::Ended);
        }
        let members = event.members();
        let is_full = |state: &mut WriterState| state.waiting.len() >= WAITING;
        let waited = self.shared.moved.wait_timeout_while(self.shared.lock(), patience, is_full);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.waiting.len() >= WAITING {
            return Err(AuditError::Behind);
        }
        state.waiting.push_back(members);
        state.accepted += 1;
        drop(state);
        self.shared.arrived.notify_one();
        Ok(())
    }

    /// Blocks the calling thread until the disk has every event that was taken in before; `false` if it has
    /// not `within` this time.
    pub fn flush(&self, within: Duration) -> bool {
        let state = self.shared.lock();
        let accepted = state.accepted;
        let waits = |state: &mut WriterState| state.written < accepted && !state.ended;
        let waited = self.shared.moved.wait_timeout_while(state, within, waits);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.written >= accepted
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of the last line that the disk has; 0 before the first.
    pub fn last_written(&self) -> u64 {
        self.shared.lock().last
    }

    /// How far it is written, for who follows the file.
    pub fn written(&self) -> LogPosition {
        let state = self.shared.lock();
        LogPosition { seq: state.last, file: state.file }
    }

    /// Whether what was to be written last could be. While it is not, events still wait, up to 8192 of them.
    pub fn healthy(&self) -> bool {
        self.fault().is_none()
    }

    /// Why the log is not healthy, for operators.
    pub fn fault(&self) -> Option<String> {
        match self.has_ended() {
            true => Some(AuditError::Ended.to_string()),
            false => self.shared.lock().fault.clone(),
        }
    }

    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        self.shared.arrived.notify_all();
        let waited = self.shared.moved.wait_timeout_while(state, LAST, |state| !state.ended);
        let ended = waited.unwrap_or_else(PoisonError::into_inner).0.ended;
        // A disk that does not answer must not keep the process from ending.
        if ended && let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What the thread holds.
struct Writer {
    shared: Arc<SharedWriter>,
    file: LogFile,
    node: String,
    /// Stands at the last line of the batch.
    chain: Chain,
    /// The last line that the disk has.
    written: ChainLink,
    /// Lines that are to be written. They stay as they are until the disk has them.
    batch: Vec<u8>,
    /// How many events those are.
    events: u64,
}

impl Writer {
    fn run(mut self) {
        loop {
            let closed = self.take();
            let done = match self.batch.is_empty() {
                // Nobody writes, but the file may have been moved away.
                true => self.file.follow(self.written),
                false => self.file.append(&self.batch, self.written),
            };
            if self.settle(done, closed) {
                return;
            }
            if !closed {
                std::thread::sleep(GATHERED);
            }
        }
    }

    /// Waits for events and makes lines of them; where there are lines already, waits until they may be tried
    /// again. Gives whether the log is to end.
    fn take(&mut self) -> bool {
        let again = !self.batch.is_empty();
        let waits = |state: &mut WriterState| !state.closed && (again || state.waiting.is_empty());
        let waited = self.shared.arrived.wait_timeout_while(self.shared.lock(), POLL_INTERVAL, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let closed = state.closed;
        if again {
            return closed;
        }
        let count = state.waiting.len().min(BATCH);
        let events: Vec<EventMembers> = state.waiting.drain(..count).collect();
        drop(state);
        self.shared.moved.notify_all();
        for members in &events {
            self.batch.extend_from_slice(self.chain.seal(&self.node, members).as_bytes());
        }
        self.events = events.len() as u64;
        closed
    }

    /// Says what became of the batch. Gives whether that was all: the log is to end and nothing waits, or it
    /// cannot be written.
    fn settle(&mut self, done: Result<(), AuditError>, closed: bool) -> bool {
        let mut state = self.shared.lock();
        state.fault = done.err().map(|error| error.to_string());
        state.file = Some(self.file.which());
        if state.fault.is_none() {
            state.written += self.events;
            self.written = self.chain.last();
            state.last = self.written.seq;
            self.batch.clear();
            self.events = 0;
        }
        let ended = closed && (state.fault.is_some() || state.waiting.is_empty());
        state.ended = ended;
        drop(state);
        self.shared.moved.notify_all();
        ended
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::audit::chain::sample;
    use crate::audit::verify::{Verified, verify};

    const LONG: Duration = Duration::from_secs(30);

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        (folder, path)
    }

    fn open(path: &Path) -> AuditLog {
        AuditLog::open(path, "node-1").unwrap()
    }

    fn write(log: &AuditLog, events: std::ops::Range<u64>) {
        events.for_each(|n| log.write(&sample(n)).unwrap());
    }

    fn check(path: &Path, after: Option<ChainLink>) -> Verified {
        verify(std::fs::read(path).unwrap().as_slice(), after).unwrap()
    }

    /// The events of a file, by their durations.
    fn events(path: &Path) -> Vec<u64> {
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.map(|line| line["took_us"].as_u64().unwrap()).collect()
    }

    /// Waits until the log is healthy, or is not.
    fn until(log: &AuditLog, healthy: bool) {
        for _ in 0..3000 {
            if log.healthy() == healthy {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("healthy is not {healthy}: {:?}", log.fault());
    }

    #[test]
    fn the_chain_goes_on_when_a_file_is_opened_again() {
        let (_folder, path) = folder();
        for round in 0..3 {
            let log = open(&path);
            write(&log, round * 10..round * 10 + 10);
            drop(log);
            let found = check(&path, Some(ChainLink::START));
            assert_eq!((found.lines, found.torn), (round * 10 + 10, 0));
        }
        assert_eq!(events(&path), (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn the_chain_goes_on_after_a_torn_line() {
        let (_folder, path) = folder();
        write(&open(&path), 0..3);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.get(..text.len() - 20).unwrap()).unwrap();
        write(&open(&path), 3..5);
        let found = check(&path, Some(ChainLink::START));
        assert_eq!((found.lines, found.torn, found.last.unwrap().seq), (4, 1, 4));
        assert_eq!(events(&path), [0, 1, 3, 4]);
    }

    #[test]
    fn the_chain_goes_over_files() {
        let (folder, path) = folder();
        let log = open(&path);
        write(&log, 0..3);
        assert!(log.flush(LONG) && log.healthy());
        let moved = folder.path().join("audit.1");
        std::fs::rename(&path, &moved).unwrap();
        write(&log, 3..5);
        assert!(log.flush(LONG));
        let old = check(&moved, Some(ChainLink::START));
        let new = check(&path, old.last);
        assert_eq!((old.lines, new.lines, new.first), (3, 2, old.last));
        // The new file is locked as the first was, and is made even where nothing is written.
        assert!(matches!(AuditLog::open(&path, "other"), Err(AuditError::Locked { .. })));
        std::fs::remove_file(&path).unwrap();
        for _ in 0..3000 {
            if path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no new file");
    }

    #[test]
    fn a_file_has_one_writer() {
        let (_folder, path) = folder();
        let log = open(&path);
        assert!(matches!(AuditLog::open(&path, "other"), Err(AuditError::Locked { .. })));
        drop(log);
        assert!(AuditLog::open(&path, "other").is_ok());
    }

    #[test]
    fn what_cannot_be_written_is_written_later_once() {
        let (folder, path) = folder();
        let log = open(&path);
        write(&log, 0..1);
        assert!(log.flush(LONG));
        // As long as a folder has the name no file can follow.
        let moved = folder.path().join("audit.1");
        std::fs::rename(&path, &moved).unwrap();
        std::fs::create_dir(&path).unwrap();
        write(&log, 1..2);
        until(&log, false);
        assert!(!log.flush(Duration::from_millis(50)));
        assert!(log.fault().unwrap().contains("not a regular file"));
        let taken = (2..20_000).take_while(|n| log.try_write(&sample(*n)).is_ok()).count() as u64;
        assert!(taken >= WAITING as u64 && taken <= (WAITING + BATCH) as u64, "{taken}");
        assert!(matches!(log.write(&sample(0)), Err(AuditError::Behind)));
        std::fs::remove_dir(&path).unwrap();
        assert!(log.flush(LONG) && log.healthy());
        let old = check(&moved, Some(ChainLink::START));
        assert_eq!(check(&path, old.last).lines, taken + 1);
        assert_eq!(events(&path), (1..taken + 2).collect::<Vec<_>>());
    }

    #[test]
    fn many_threads_write_one_chain() {
        let (_folder, path) = folder();
        let log = open(&path);
        std::thread::scope(|scope| {
            for n in 0..4 {
                let log = &log;
                scope.spawn(move || write(log, n * 1000..n * 1000 + 500));
            }
        });
        assert!(log.flush(LONG));
        let mut found = events(&path);
        found.sort_unstable();
        let expected: Vec<u64> = (0..4).flat_map(|n| n * 1000..n * 1000 + 500).collect();
        assert_eq!((found, check(&path, Some(ChainLink::START)).lines), (expected, 2000));
    }
}
