//! [`TimedRecords`]: records that are measured: how long each call takes, and what fails.

use std::sync::Arc;
use std::time::Instant;

use crate::base::clock::SharedClock;
use crate::base::throttle::LogThrottle;
use crate::store::StoreError;
use crate::store::records::{Closing, KeepPart, Key, NewRow, Precondition, Records, RecordsFuture, Row};
use crate::telemetry::{StoreWork, WorkMetrics};

/// Measures the calls of other records.
pub struct TimedRecords {
    records: Arc<dyn Records>,
    metrics: WorkMetrics,
    clock: SharedClock,
    told: LogThrottle,
}

impl TimedRecords {
    /// Measures these.
    pub fn new(records: Arc<dyn Records>, metrics: WorkMetrics, clock: SharedClock) -> Self {
        Self { records, metrics, clock, told: LogThrottle::default() }
    }

    fn told<T>(&self, work: StoreWork, began: Instant, done: Result<T, StoreError>) -> Result<T, StoreError> {
        self.metrics.store.observe(work, self.clock.instant().duration_since(began).as_secs_f64());
        // That somebody else was first is an answer.
        if let Some(error) = done.as_ref().err().filter(|error| !matches!(error, StoreError::Conflict)) {
            self.metrics.store_errors.inc();
            if let Some(unsaid) = self.told.due() {
                tracing::error!(target: "portcullis::store", unsaid, "{error}");
            }
        }
        done
    }

    fn timed<'a, T: Send + 'a>(
        &'a self,
        work: StoreWork,
        done: RecordsFuture<'a, T>,
    ) -> RecordsFuture<'a, T> {
        let began = self.clock.instant();
        Box::pin(async move { self.told(work, began, done.await) })
    }
}

impl Records for TimedRecords {
    fn get<'a>(&'a self, key: &'a Key) -> RecordsFuture<'a, Option<Row>> {
        self.timed(StoreWork::Read, self.records.get(key))
    }

    fn put_if<'a>(&'a self, key: &'a Key, expected: Precondition, entry: NewRow) -> RecordsFuture<'a, u64> {
        self.timed(StoreWork::Write, self.records.put_if(key, expected, entry))
    }

    fn move_if<'a>(
        &'a self,
        key: &'a Key,
        version: u64,
        to: &'static str,
        entry: NewRow,
    ) -> RecordsFuture<'a, u64> {
        self.timed(StoreWork::Write, self.records.move_if(key, version, to, entry))
    }

    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> RecordsFuture<'a, ()> {
        self.timed(StoreWork::Write, self.records.remove_if(key, version))
    }

    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> RecordsFuture<'a, Vec<Row>> {
        self.timed(StoreWork::Read, self.records.scan(kind, after, limit))
    }

    fn sweep(&self) -> RecordsFuture<'_, u64> {
        self.timed(StoreWork::Write, self.records.sweep())
    }

    fn trim<'a>(&'a self, kind: &'static str, prefix: &'a str, keep: KeepPart) -> RecordsFuture<'a, u64> {
        self.timed(StoreWork::Write, self.records.trim(kind, prefix, keep))
    }

    fn close(&self) -> Closing<'_> {
        self.records.close()
    }
}
