//! [`LineQueue`]: lines on their way to the log, written by a thread of their own. A disk that is slow, and a reader of
//! standard error that reads no more, keep nobody waiting who logs: what finds no room is dropped and counted.

use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::base::clock::{Clock, SystemClock};
use crate::base::throttle::LogThrottle;

/// Lines that wait, at the most, and their bytes.
const WAITING: usize = 8192;
const WAITING_BYTES: usize = 16 << 20;

/// How often the place is looked at while there is nothing to write.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long lines are gathered before they are written together: who logs wakes the writer but once for all of them.
const GATHERED: Duration = Duration::from_millis(2);

/// Between two tries to have a full queue written.
const RETRY_AFTER: Duration = Duration::from_millis(5);

/// What a line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A request.
    Access,
    /// Anything else.
    Event,
}

/// Where lines are written.
pub(super) trait LineSink: Send + 'static {
    /// What it is called where it is said that lines are lost.
    fn name(&self) -> String;

    /// Follows it to where it is by now. `Some`: that is another place, of which this says whether its last line is whole.
    fn look(&mut self) -> Option<bool>;

    /// As [`std::io::Write::write`].
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize>;
}

enum QueuedLine {
    Text(Vec<u8>, LineKind),
    /// To be answered once all before it is written.
    Flush(SyncSender<()>),
}

/// Lines on their way.
pub(super) struct LineQueue {
    lines: SyncSender<QueuedLine>,
    counts: Arc<Counts>,
}

struct Counts {
    /// Bytes that wait.
    held: AtomicUsize,
    /// Lines that found no room and of which that was not said yet.
    dropped: AtomicU64,
    lost: Box<dyn Fn(LineKind) + Send + Sync>,
}

impl LineQueue {
    /// Begins to write to `place`, whose last line is whole or not; `lost` is called for each line that is not written.
    ///
    /// # Errors
    /// No thread.
    pub(super) fn to(
        place: impl LineSink,
        whole: bool,
        lost: impl Fn(LineKind) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let (lines, coming) = sync_channel(WAITING);
        let counts = Arc::new(Counts {
            held: AtomicUsize::default(),
            dropped: AtomicU64::default(),
            lost: Box::new(lost),
        });
        let writer =
            Writer { place, whole, counts: Arc::clone(&counts), lost: 0, seldom: LogThrottle::default() };
        std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.run(&coming))?;
        Ok(Self { lines, counts })
    }

    /// Has a line written, which ends with its line feed. Never waits.
    pub(super) fn push(&self, line: Vec<u8>, kind: LineKind) {
        let (size, counts) = (line.len(), &self.counts);
        let fits = counts.held.fetch_add(size, Ordering::Relaxed).saturating_add(size) <= WAITING_BYTES;
        if !fits || self.lines.try_send(QueuedLine::Text(line, kind)).is_err() {
            counts.held.fetch_sub(size, Ordering::Relaxed);
            counts.dropped.fetch_add(1, Ordering::Relaxed);
            (counts.lost)(kind);
        }
    }

    /// Waits until what was pushed is written, but not longer than that.
    pub(super) fn flush(&self, patience: Duration) {
        let until = SystemClock.instant() + patience;
        let left = || until.saturating_duration_since(SystemClock.instant());
        let (done, written) = sync_channel(1);
        let mut flush = QueuedLine::Flush(done);
        while let Err(TrySendError::Full(back)) = self.lines.try_send(flush) {
            if left().is_zero() {
                return;
            }
            std::thread::sleep(RETRY_AFTER);
            flush = back;
        }
        let _in_time = written.recv_timeout(left());
    }
}

struct Writer<P> {
    place: P,
    /// Whether the last line there is.
    whole: bool,
    counts: Arc<Counts>,
    /// Lines that could not be written and of which that was not said yet.
    lost: u64,
    seldom: LogThrottle,
}

/// Lines that are written together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Where each line ends, and what it is of.
    ends: Vec<(usize, LineKind)>,
    done: Vec<SyncSender<()>>,
}

impl Batch {
    fn take(&mut self, line: QueuedLine) {
        match line {
            QueuedLine::Text(text, kind) => {
                self.bytes.extend_from_slice(&text);
                self.ends.push((self.bytes.len(), kind));
            }
            QueuedLine::Flush(written) => self.done.push(written),
        }
    }
}

impl<P: LineSink> Writer<P> {
    fn run(mut self, lines: &Receiver<QueuedLine>) {
        loop {
            let mut batch = Batch::default();
            match lines.recv_timeout(POLL_INTERVAL) {
                Ok(line @ QueuedLine::Flush(_)) => batch.take(line),
                Ok(line) => {
                    batch.take(line);
                    std::thread::sleep(GATHERED);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            lines.try_iter().take(WAITING).for_each(|line| batch.take(line));
            self.whole = self.place.look().unwrap_or(self.whole);
            let failed = self.write(&batch).err();
            self.counts.held.fetch_sub(batch.bytes.len(), Ordering::Relaxed);
            batch.done.into_iter().for_each(|done| done.send(()).unwrap_or_default());
            self.tell(failed.as_ref());
        }
    }

    /// Writes whole lines, the first of them on a line of its own.
    fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        if batch.bytes.is_empty() {
            return Ok(());
        }
        let mut sent = 0;
        let mut written = if self.whole { Ok(()) } else { self.once(b"\n").map(drop) };
        while written.is_ok() && sent < batch.bytes.len() {
            written = self.once(batch.bytes.get(sent..).unwrap_or_default()).map(|more| sent += more);
        }
        for (_, kind) in batch.ends.iter().filter(|(end, _)| *end > sent) {
            self.lost += 1;
            (self.counts.lost)(*kind);
        }
        written
    }

    fn once(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        loop {
            match self.place.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(sent) => {
                    self.whole = sent.checked_sub(1).and_then(|last| bytes.get(last)) == Some(&b'\n');
                    return Ok(sent);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Says that lines are lost, in the log, which may be where they are.
    fn tell(&mut self, failed: Option<&Error>) {
        let dropped = self.counts.dropped.load(Ordering::Relaxed);
        if self.lost + dropped == 0 || self.seldom.due().is_none() {
            return;
        }
        self.counts.dropped.fetch_sub(dropped, Ordering::Relaxed);
        let lost = std::mem::take(&mut self.lost) + dropped;
        let (to, why) =
            (self.place.name(), failed.map_or_else(|| "it is too slow".to_owned(), Error::to_string));
        tracing::error!(target: "portcullis::log", to, lost, why, "lines of the log are lost");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Takes so many bytes, and then no more until it gets room again.
    struct Small(Arc<Mutex<(Vec<u8>, usize)>>);

    impl LineSink for Small {
        fn name(&self) -> String {
            "small".to_owned()
        }

        fn look(&mut self) -> Option<bool> {
            None
        }

        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let mut held = self.0.lock().unwrap();
            let room = held.1.min(bytes.len());
            if room == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            held.0.extend_from_slice(&bytes[..room]);
            held.1 -= room;
            Ok(room)
        }
    }

    #[test]
    fn a_line_that_was_torn_is_ended_before_the_next_begins_and_is_counted() {
        let place = Arc::new(Mutex::new((Vec::new(), 9)));
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        let count = move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let queue = LineQueue::to(Small(Arc::clone(&place)), true, count).unwrap();
        let push = |line: &str| {
            queue.push(line.as_bytes().to_vec(), LineKind::Access);
            queue.flush(Duration::from_secs(5));
        };
        let there = || String::from_utf8(place.lock().unwrap().0.clone()).unwrap();
        push("12345\n");
        push("abcdef\n");
        push("lost\n");
        assert_eq!((there().as_str(), lost.load(Ordering::Relaxed)), ("12345\nabc", 2));
        place.lock().unwrap().1 = 100;
        push("next\n");
        push("last\n");
        assert_eq!((there().as_str(), lost.load(Ordering::Relaxed)), ("12345\nabc\nnext\nlast\n", 2));
    }

    /// Never comes back.
    struct Stalled;

    impl LineSink for Stalled {
        fn name(&self) -> String {
            "stalled".to_owned()
        }

        fn look(&mut self) -> Option<bool> {
            None
        }

        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            loop {
                std::thread::park();
            }
        }
    }

    #[test]
    fn a_place_that_takes_nothing_keeps_nobody_waiting() {
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        let queue = LineQueue::to(Stalled, true, move |kind| {
            assert_eq!(kind, LineKind::Event);
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let queue = queue.unwrap();
        let began = SystemClock.instant();
        for _ in 0..3 * WAITING {
            queue.push(b"event\n".to_vec(), LineKind::Event);
        }
        queue.flush(Duration::from_millis(50));
        queue.push(vec![b'x'; WAITING_BYTES + 1], LineKind::Event);
        assert!(SystemClock.instant() - began < Duration::from_secs(5));
        let lost = usize::try_from(lost.load(Ordering::Relaxed)).unwrap();
        assert!((WAITING..2 * WAITING + 2).contains(&lost), "{lost}");
    }
}
