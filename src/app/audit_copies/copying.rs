//! [`AuditCopies`]: what reads the audit log's file and gives its lines on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::app::audit_copies::collector::CollectorCopy;
use crate::app::audit_copies::destination::{Copied, CopyDestination, TARGET};
use crate::app::audit_copies::store::StoreCopy;
use crate::app::error::AppError;
use crate::app::open_store::OpenStore;
use crate::audit::{AuditLog, ChainLink, FollowedLine, Follower, LogPosition};
use crate::config::settings::Audit;
use crate::gateway::filters::AuditTrail;
use crate::telemetry::{AuditCopy, Metrics};

/// Lines that are copied at once, at the most.
const BATCH: usize = 500;

/// How often it is looked for lines, and how long after a failure it is tried again.
const EVERY: Duration = Duration::from_secs(1);

/// How often it is looked whether all lines are copied, where that is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How far copies have come.
#[derive(Default)]
pub(in crate::app) struct AuditCopies {
    all: Vec<(AuditCopy, Arc<CopyProgress>)>,
}

/// How far one copy has come.
#[derive(Default)]
struct CopyProgress {
    /// The number of the last line that it has.
    copied: AtomicU64,
    /// Somebody waits for it.
    hurry: Notify,
}

impl AuditCopies {
    /// The copies that the settings want.
    pub(in crate::app) fn new(setting: Option<&Audit>) -> Self {
        let store = setting.is_some_and(|audit| audit.store).then_some(AuditCopy::Store);
        let collector = setting.is_some_and(|audit| audit.otlp.is_some()).then_some(AuditCopy::Otlp);
        Self { all: [store, collector].into_iter().flatten().map(|to| (to, Arc::default())).collect() }
    }

    /// Makes them from now on.
    ///
    /// # Errors
    /// A client that cannot be had.
    pub(in crate::app) fn start(
        &self,
        setting: &Audit,
        trail: &AuditTrail,
        opened: &OpenStore,
    ) -> Result<(), AppError> {
        for (to, progress) in &self.all {
            let from = CopySource {
                log: Arc::clone(&trail.log),
                progress: Arc::clone(progress),
                metrics: Arc::clone(&opened.metrics),
                word: *to,
            };
            from.show_behind();
            match (to, &setting.otlp) {
                (AuditCopy::Store, _) => {
                    let store = StoreCopy::keeping(opened, setting.keep.get());
                    opened.io.spawn(LineCopier::new(from, store).run());
                }
                (AuditCopy::Otlp, Some(otlp)) => {
                    let collector = CollectorCopy::new(otlp, trail.log.path())?;
                    opened.io.spawn(LineCopier::new(from, collector).run());
                }
                (AuditCopy::Otlp, None) => {}
            }
        }
        Ok(())
    }

    /// Returns once they have all lines that the file has.
    pub(in crate::app) async fn caught_up(&self, log: &AuditLog) {
        for (_, progress) in &self.all {
            while progress.copied.load(Ordering::Acquire) < log.last_written() {
                progress.hurry.notify_one();
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}

/// Copies the lines of a file that no gateway writes any more into the store, and returns how many that were; lines that it has
/// already are not copied again.
///
/// # Errors
/// A file that cannot be read; the store's.
pub fn copy_audit_file(opened: &OpenStore, path: &Path) -> Result<u64, AppError> {
    let failed = |error: String| AppError::Io(format!("{}: {error}", path.display()));
    let mut store = StoreCopy::of(opened);
    let mut follower = Follower::new(path);
    let ends = opened.io.block_on(store.ends()).map_err(failed)?;
    follower.go_behind(&ends).map_err(|error| AppError::Io(error.to_string()))?;
    let mut copied = 0;
    loop {
        let lines =
            follower.next(LogPosition::WHOLE, BATCH).map_err(|error| AppError::Io(error.to_string()))?;
        if lines.is_empty() {
            return Ok(copied);
        }
        for run in lines.chunk_by(|one, next| next.before == one.this) {
            opened.io.block_on(store.take(run)).map_err(failed)?;
            copied += run.len() as u64;
        }
    }
}

/// What is copied, and where it is seen how far that has come.
struct CopySource {
    log: Arc<AuditLog>,
    progress: Arc<CopyProgress>,
    metrics: Arc<Metrics>,
    word: AuditCopy,
}

impl CopySource {
    /// Has metrics say how many lines are missing, at any time: a place may take long to answer.
    fn show_behind(&self) {
        // What metrics hold must not keep the log open.
        let (log, progress) = (Arc::downgrade(&self.log), Arc::clone(&self.progress));
        let (gauge, word) = (self.metrics.audit_behind.clone(), self.word);
        self.metrics.before_exposing(move || {
            let written = log.upgrade().map(|log| log.last_written());
            if let Some(written) = written {
                let behind = written.saturating_sub(progress.copied.load(Ordering::Acquire));
                gauge.set(word, usize::try_from(behind).unwrap_or(usize::MAX));
            }
        });
    }
}

/// Copies lines to one place.
struct LineCopier<C> {
    from: CopySource,
    to: C,
    /// Absent while a thread reads.
    follower: Option<Follower>,
    /// Whether it is known where to begin.
    placed: bool,
    /// The last line that was copied.
    last: Option<ChainLink>,
    /// Lines that are to be copied.
    waiting: Vec<FollowedLine>,
    failing: bool,
}

impl<C: CopyDestination> LineCopier<C> {
    fn new(from: CopySource, to: C) -> Self {
        Self { from, to, follower: None, placed: false, last: None, waiting: Vec::new(), failing: false }
    }

    async fn run(mut self) {
        loop {
            let round = self.round().await;
            self.tell(round.as_ref().err());
            if !matches!(round, Ok(true)) {
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    () = self.from.progress.hurry.notified() => {}
                }
            }
        }
    }

    /// Copies what there is, up to a batch; whether there may be more.
    async fn round(&mut self) -> Copied<bool> {
        // What waits already does not keep a file open that was removed: what that has is read, as far as there is room.
        if self.waiting.len() < BATCH {
            self.read().await?;
        }
        let more = self.waiting.len() == BATCH;
        while let Some(first) = self.waiting.first() {
            let before = first.before;
            let run = self.waiting.chunk_by(|one, next| next.before == one.this).next().unwrap_or_default();
            if self.last != Some(before) && before != ChainLink::START {
                let missing = before.seq.saturating_sub(self.last.map_or(0, |last| last.seq));
                let to = self.from.word.word();
                tracing::error!(
                    target: TARGET, to, missing, before = before.seq + 1,
                    "lines of the audit log are not copied: the file that has them was moved away or cut"
                );
                self.last = Some(before);
            }
            self.to.take(run).await?;
            let done = run.len();
            self.last = run.last().map(|line| line.this);
            self.waiting.drain(..done);
            self.note();
        }
        self.to.keep_up().await?;
        Ok(more)
    }

    /// Reads lines that the disk has. Files are read apart from what waits for networks.
    async fn read(&mut self) -> Copied<()> {
        let ends = if self.placed { None } else { Some(self.to.ends().await?) };
        let (written, room) = (self.from.log.written(), BATCH - self.waiting.len());
        let mut follower = self.follower.take().unwrap_or_else(|| Follower::new(self.from.log.path()));
        let reading = tokio::task::spawn_blocking(move || {
            let placed = ends.map(|ends| follower.go_behind(&ends)).transpose();
            let read = placed.and_then(|placed| Ok((placed, follower.next(written, room)?)));
            (follower, read)
        });
        let (mut follower, read) = reading.await.map_err(|error| error.to_string())?;
        if follower.was_cut() {
            tracing::warn!(
                target: TARGET, to = self.from.word.word(),
                "the file of the audit log was cut or written anew in its place, and is read from its beginning again; \
                 lines are lost where it is not moved away instead"
            );
        }
        self.follower = Some(follower);
        let (placed, lines) = read.map_err(|error| error.to_string())?;
        if let Some(last) = placed {
            (self.last, self.placed) = (last, true);
            self.note();
        }
        self.waiting.extend(lines);
        Ok(())
    }

    fn note(&self) {
        self.from.progress.copied.store(self.last.map_or(0, |last| last.seq), Ordering::Release);
    }

    /// Says when it fails for the first time and when no more.
    fn tell(&mut self, error: Option<&String>) {
        let to = self.from.word.word();
        match error {
            Some(error) if !self.failing => tracing::warn!(
                target: TARGET, to, "lines of the audit log are not copied for now, the file holds them: {error}"
            ),
            None if self.failing => {
                tracing::info!(target: TARGET, to, "lines of the audit log are copied again")
            }
            _ => {}
        }
        self.failing = error.is_some();
    }
}
