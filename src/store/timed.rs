//! [`Timed`]: records that are measured: how long each call takes, and what fails.

use std::sync::Arc;
use std::time::Instant;

use crate::base::clock::SharedClock;
use crate::base::seldom::Seldom;
use crate::store::StoreError;
use crate::store::records::{Closing, Entry, Expected, Keep, Key, Later, Records, Row};
use crate::telemetry::{StoreWork, WorkMetrics};

/// Measures the calls of other records.
pub struct Timed {
    records: Arc<dyn Records>,
    metrics: WorkMetrics,
    clock: SharedClock,
    told: Seldom,
}

impl Timed {
    /// Measures these.
    pub fn new(records: Arc<dyn Records>, metrics: WorkMetrics, clock: SharedClock) -> Self {
        Self { records, metrics, clock, told: Seldom::default() }
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

    fn timed<'a, T: Send + 'a>(&'a self, work: StoreWork, done: Later<'a, T>) -> Later<'a, T> {
        let began = self.clock.instant();
        Box::pin(async move { self.told(work, began, done.await) })
    }
}

impl Records for Timed {
    fn get<'a>(&'a self, key: &'a Key) -> Later<'a, Option<Row>> {
        self.timed(StoreWork::Read, self.records.get(key))
    }

    fn put_if<'a>(&'a self, key: &'a Key, expected: Expected, entry: Entry) -> Later<'a, u64> {
        self.timed(StoreWork::Write, self.records.put_if(key, expected, entry))
    }

    fn move_if<'a>(&'a self, key: &'a Key, version: u64, to: &'static str, entry: Entry) -> Later<'a, u64> {
        self.timed(StoreWork::Write, self.records.move_if(key, version, to, entry))
    }

    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> Later<'a, ()> {
        self.timed(StoreWork::Write, self.records.remove_if(key, version))
    }

    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> Later<'a, Vec<Row>> {
        self.timed(StoreWork::Read, self.records.scan(kind, after, limit))
    }

    fn sweep(&self) -> Later<'_, u64> {
        self.timed(StoreWork::Write, self.records.sweep())
    }

    fn trim<'a>(&'a self, kind: &'static str, prefix: &'a str, keep: Keep) -> Later<'a, u64> {
        self.timed(StoreWork::Write, self.records.trim(kind, prefix, keep))
    }

    fn close(&self) -> Closing<'_> {
        self.records.close()
    }
}
