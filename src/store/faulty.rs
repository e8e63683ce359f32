//! [`FaultyRecords`]: records whose calls go wrong as a test says.

use crate::store::records::{Closing, KeepPart, Key, NewRow, Precondition, Records, RecordsFuture, Row};
use crate::store::{Cause, EmbeddedRecords, StoreError};
pub(crate) use crate::telemetry::StoreWork;

/// What becomes of a call.
pub(crate) enum Fault {
    /// It takes place and is answered.
    None,
    /// It does not take place, and that is said.
    Refused,
    /// It takes place, and its answer is lost.
    Unanswered,
    /// It does not end.
    Silent,
}

/// Records that ask a test before each call what becomes of it.
pub(crate) struct FaultyRecords<F> {
    records: EmbeddedRecords,
    fault: F,
}

impl<F: Fn(StoreWork) -> Fault + Send + Sync> FaultyRecords<F> {
    pub(crate) fn new(records: EmbeddedRecords, fault: F) -> Self {
        Self { records, fault }
    }

    fn call<'a, T: Send + 'a>(&'a self, work: StoreWork, call: RecordsFuture<'a, T>) -> RecordsFuture<'a, T> {
        let gone = || StoreError::Unavailable(Cause::of("a test says so"));
        match (self.fault)(work) {
            Fault::None => call,
            Fault::Refused => Box::pin(std::future::ready(Err(gone()))),
            Fault::Unanswered => Box::pin(async move {
                call.await?;
                Err(gone())
            }),
            Fault::Silent => Box::pin(std::future::pending()),
        }
    }
}

impl<F: Fn(StoreWork) -> Fault + Send + Sync + 'static> Records for FaultyRecords<F> {
    fn get<'a>(&'a self, key: &'a Key) -> RecordsFuture<'a, Option<Row>> {
        self.call(StoreWork::Read, self.records.get(key))
    }

    fn put_if<'a>(&'a self, key: &'a Key, expected: Precondition, entry: NewRow) -> RecordsFuture<'a, u64> {
        self.call(StoreWork::Write, self.records.put_if(key, expected, entry))
    }

    fn move_if<'a>(
        &'a self,
        key: &'a Key,
        version: u64,
        to: &'static str,
        entry: NewRow,
    ) -> RecordsFuture<'a, u64> {
        self.call(StoreWork::Write, self.records.move_if(key, version, to, entry))
    }

    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> RecordsFuture<'a, ()> {
        self.call(StoreWork::Write, self.records.remove_if(key, version))
    }

    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> RecordsFuture<'a, Vec<Row>> {
        self.call(StoreWork::Read, self.records.scan(kind, after, limit))
    }

    fn sweep(&self) -> RecordsFuture<'_, u64> {
        self.call(StoreWork::Write, self.records.sweep())
    }

    fn trim<'a>(&'a self, kind: &'static str, prefix: &'a str, keep: KeepPart) -> RecordsFuture<'a, u64> {
        self.call(StoreWork::Write, self.records.trim(kind, prefix, keep))
    }

    fn close(&self) -> Closing<'_> {
        self.records.close()
    }
}
