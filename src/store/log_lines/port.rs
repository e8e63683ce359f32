//! [`LogLines`], the port behind which logs live that are only added to: a line is a text under a log's name and a number.
//! Nothing changes a line that is there.

use crate::base::clock::Timestamp;
use crate::store::records::RecordsFuture;
use crate::store::{StoreError, columns};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its number in its log, from 1.
    pub number: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The line, without a line break.
    pub text: String,
}

/// The last line that there is of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// The log's name.
    pub log: String,
    /// The line.
    pub last: LogLine,
}

/// What came of lines that were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Appended {
    /// The log has all of them.
    Whole,
    /// Other lines stand under some of their numbers, so none was added: two logs went on from one line.
    Diverged,
}

/// Logs that outlive the process. Several processes may share one store, each with logs of its own.
pub trait LogLines: Send + Sync + 'static {
    /// Adds lines to a log, all or none. Those that it has already stay as they are, so that lines can be given again of which nobody
    /// knows whether they came; where it has others of their numbers none is added.
    fn append<'a>(&'a self, log: &'a str, lines: &'a [LogLine]) -> RecordsFuture<'a, Appended>;

    /// Up to `limit` lines of a log behind the number `after`, in their order; fewer are the last.
    fn read<'a>(&'a self, log: &'a str, after: u64, limit: u32) -> RecordsFuture<'a, Vec<LogLine>>;

    /// The last line of each log, by the logs' names.
    fn ends(&self) -> RecordsFuture<'_, Vec<LogEnd>>;

    /// Removes the lines at a log's beginning that were all written before this time, but not its last one; returns how many that
    /// were.
    fn remove_before<'a>(&'a self, log: &'a str, at: Timestamp) -> RecordsFuture<'a, u64>;
}

/// A line as databases have it.
pub(super) struct Columned {
    pub(super) number: i64,
    pub(super) at: i64,
    pub(super) line: String,
}

impl Columned {
    pub(super) fn of(line: &LogLine) -> Self {
        let LogLine { number, at, text } = line;
        let (number, at) = (columns::signed(*number), columns::signed(at.as_millis()));
        Self { number, at, line: text.clone() }
    }

    pub(super) fn read(self) -> Result<LogLine, StoreError> {
        let unsigned = |value: i64| u64::try_from(value).map_err(|_| StoreError::Corrupt);
        let at = Timestamp::from_millis(unsigned(self.at)?);
        Ok(LogLine { number: unsigned(self.number)?, at, text: self.line })
    }
}
