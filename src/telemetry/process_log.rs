//! Lines on their way to standard error, where the process's log is.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use crate::telemetry::lines::{LineKind, LineQueue, LineSink};

/// What events of requests are called.
pub(super) const ACCESS: &str = "portcullis::access";

/// How long is waited for the last lines.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// The one queue to standard error; `None` inside where there is no thread for it.
static QUEUE: OnceLock<Option<LineQueue>> = OnceLock::new();

static ACCESS_LOST: AtomicU64 = AtomicU64::new(0);
static EVENTS_LOST: AtomicU64 = AtomicU64::new(0);

/// Standard error.
struct Stderr;

impl LineSink for Stderr {
    fn name(&self) -> String {
        "standard error".to_owned()
    }

    fn look(&mut self) -> Option<bool> {
        None
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().lock().write(bytes)
    }
}

fn queue() -> Option<&'static LineQueue> {
    let lost = |kind| {
        counter(kind).fetch_add(1, Ordering::Relaxed);
    };
    QUEUE.get_or_init(|| LineQueue::to(Stderr, true, lost).ok()).as_ref()
}

fn counter(kind: LineKind) -> &'static AtomicU64 {
    match kind {
        LineKind::Access => &ACCESS_LOST,
        LineKind::Event => &EVENTS_LOST,
    }
}

/// Lines that were lost since this was last asked.
pub(super) fn take_lost(kind: LineKind) -> u64 {
    counter(kind).swap(0, Ordering::Relaxed)
}

/// Has a line written, which ends with its line feed.
pub(super) fn push(line: Vec<u8>, kind: LineKind) {
    match queue() {
        Some(queue) => queue.push(line, kind),
        None if std::io::stderr().lock().write_all(&line).is_err() => {
            counter(kind).fetch_add(1, Ordering::Relaxed);
        }
        None => {}
    }
}

/// Has a line of the program's own written among those of the log. `false`: the log of this process has no queue, and the
/// line is still to be said.
pub fn log_line(line: &str) -> bool {
    let queued = QUEUE.get().is_some();
    if queued {
        push(format!("{line}\n").into_bytes(), LineKind::Event);
    }
    queued
}

/// Waits a second at the most until what was logged is written.
pub fn flush_log() {
    if let Some(Some(queue)) = QUEUE.get() {
        queue.flush(WRITE_TIMEOUT);
    }
}

/// Where events go that do not wait for standard error.
pub(super) struct Queued(());

impl Queued {
    /// From now on the process's log has a queue.
    pub(super) fn begun() -> Self {
        queue();
        Self(())
    }
}

/// What one event is written to, at once.
pub(super) struct QueuedEvent(LineKind);

impl<'a> MakeWriter<'a> for Queued {
    type Writer = QueuedEvent;

    fn make_writer(&'a self) -> QueuedEvent {
        QueuedEvent(LineKind::Event)
    }

    fn make_writer_for(&'a self, event: &tracing::Metadata<'_>) -> QueuedEvent {
        QueuedEvent(if event.target() == ACCESS { LineKind::Access } else { LineKind::Event })
    }
}

impl Write for QueuedEvent {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        push(line.to_vec(), self.0);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
