//! [`Records`], the port behind which rows live: a row is a version and some bytes under a kind and an id, and is
//! written only by someone who says which version it replaces. It knows no domain type and no SQL.

use std::fmt;
use std::pin::Pin;

use crate::base::clock::Timestamp;
use crate::store::StoreError;

/// A store's answer, awaited. Boxed, so that parts can hold `Arc<dyn Records>`.
pub type RecordsFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store's end, awaited.
pub type Closing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Names one row.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    kind: &'static str,
    id: String,
}

impl Key {
    /// The row `id` among those of `kind`. Kinds are chosen by the code (`vault.key`), ids may be any
    /// text of at most 1 KiB: what a database can keep in an index.
    pub fn new(kind: &'static str, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }

    /// Which sort of row this is.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Which of them.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for Key {
    // Ids may come from outside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.kind)
    }
}

/// What a row is to hold.
#[derive(Clone, PartialEq, Eq)]
pub struct NewRow {
    /// The bytes, as the owner of the kind writes them.
    pub value: Vec<u8>,
    /// From this moment on the row is as good as removed. `None`: it stays.
    pub expires: Option<Timestamp>,
}

impl NewRow {
    /// A row that stays until it is removed.
    pub fn lasting(value: Vec<u8>) -> Self {
        Self { value, expires: None }
    }
}

impl fmt::Debug for NewRow {
    // The value may be anything, a caller's text included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewRow({} bytes)", self.value.len())
    }
}

/// A row as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub key: Key,
    /// 1 when it was made, one more with each write. A row removed and made anew begins at 1 again, so ids that
    /// must never be mistaken for one another are random and not used twice.
    pub version: u64,
    /// What it holds.
    pub entry: NewRow,
}

/// What must be true of the row for a write to take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// There is no such row, or it has expired.
    Absent,
    /// The row is there, at this version.
    Version(u64),
}

impl Precondition {
    /// The row is as it was read; `None`: there was none.
    pub fn of(row: Option<&Row>) -> Self {
        Self::at(row.map_or(0, |row| row.version))
    }

    /// The row is at this version; 0: there is none, since a row begins at 1.
    pub fn at(version: u64) -> Self {
        match version {
            0 => Self::Absent,
            version => Self::Version(version),
        }
    }

    /// The version the row has once the write took place: known before it, so that a seal can bind it.
    pub fn next(self) -> u64 {
        match self {
            Self::Absent => 1,
            Self::Version(version) => version.saturating_add(1),
        }
    }
}

/// How much of something stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepPart {
    /// The most rows.
    pub rows: u32,
    /// The most bytes of values, in all of them together.
    pub bytes: u64,
}

impl KeepPart {
    /// Nothing stays.
    pub const NOTHING: Self = Self { rows: 0, bytes: 0 };
}

/// Rows that outlive the process. Several processes may share one store.
///
/// Laws, each a case of the conformance suite: a write that was answered is durable and seen by every later read
/// of every process; of two writers that expect the same version exactly one wins, the other gets
/// [`StoreError::Conflict`] and has changed nothing; an expired row is to every call as if it were not there.
pub trait Records: Send + Sync + 'static {
    /// The row, or `None` if there is none.
    fn get<'a>(&'a self, key: &'a Key) -> RecordsFuture<'a, Option<Row>>;

    /// Writes the row if what is expected is true; returns its new version, which is [`Precondition::next`]. Where others
    /// may write it too, [`update()`](fn@crate::store::update) goes round until nobody else was first.
    fn put_if<'a>(&'a self, key: &'a Key, expected: Precondition, entry: NewRow) -> RecordsFuture<'a, u64>;

    /// The row, if it is at `version`, goes to another kind under the same id, with what it is to hold there. Returns its
    /// version, one more than before; a row that is there already is a conflict.
    fn move_if<'a>(
        &'a self,
        key: &'a Key,
        version: u64,
        to: &'static str,
        entry: NewRow,
    ) -> RecordsFuture<'a, u64>;

    /// Removes the row if it is at `version`.
    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> RecordsFuture<'a, ()>;

    /// Up to `limit` rows of the kind with an id greater than `after`, in the order of the ids' bytes. Begin with
    /// the empty id (which no row of a scanned kind should have), go on with the last one's; fewer than `limit`
    /// rows are the last page. [`Pages`](crate::store::Pages) does that.
    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> RecordsFuture<'a, Vec<Row>>;

    /// Removes what has expired and returns how many rows that were. Only frees room: no other call sees a
    /// difference.
    fn sweep(&self) -> RecordsFuture<'_, u64>;

    /// Of the rows of the kind whose ids begin with `prefix`, those that live longest stay, as many as `keep` says; the others
    /// are removed. Returns how many rows that were. What never expires lives longest.
    fn trim<'a>(&'a self, kind: &'static str, prefix: &'a str, keep: KeepPart) -> RecordsFuture<'a, u64>;

    /// Waits for what is under way and lets go of the store. Calls made from now on fail.
    fn close(&self) -> Closing<'_>;
}
