//! [`Records`] in one SQLite file: WAL, one writing connection, readers apart, every write synced before it is
//! answered. A second process (the command line beside the server, or the next version during an upgrade) may have
//! the same file open.
//!
//! Every write is one statement, which SQLite runs as a transaction that takes the write lock at once (there is
//! nothing to upgrade, so waiting always helps) and which leaves nothing open if the caller goes away. Two
//! statements that belong together need `BEGIN IMMEDIATE`, as the migrations have it.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::query::Query;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Row as _, SqlSafeStr, Sqlite};

use crate::base::clock::SharedClock;
use crate::store::columns::{DatabaseRow, changed, digest, signed};
use crate::store::{
    Closing, KeepPart, Key, NewRow, Precondition, Records, RecordsFuture, Row, StoreError, private,
};

/// Rows in one SQLite file.
pub struct EmbeddedRecords {
    writer: SqlitePool,
    readers: SqlitePool,
    clock: SharedClock,
}

/// What has been done to the schema, in order. Later entries may only add.
const SCHEMA: &[(i64, &str, &str)] = &[
    (1, "records", include_str!("schema/0001_records.sql")),
    (2, "audit", include_str!("schema/0002_audit.sql")),
];

/// How long a writer waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const READERS: u32 = 4;

impl EmbeddedRecords {
    /// Opens the file, which is made (mode 0600, in a folder of mode 0700) if it is missing, and brings its schema
    /// up to date. A schema newer than this program is taken as it is.
    pub async fn open(path: &Path, clock: SharedClock) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            private::folder(parent)?;
        }
        // SQLite gives its -wal and -shm files the permissions of this one.
        private::touch(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(BUSY_TIMEOUT)
            .synchronous(SqliteSynchronous::Full)
            .disable_statement_logging();
        migrate(&options).await?;
        let pool = |size| {
            SqlitePoolOptions::new()
                .max_connections(size)
                .idle_timeout(None)
                .max_lifetime(None)
                .test_before_acquire(false)
                .acquire_timeout(2 * BUSY_TIMEOUT)
        };
        let readers = pool(READERS).connect_with(options.clone().pragma("query_only", "ON")).await?;
        Ok(Self { writer: pool(1).connect_with(options).await?, readers, clock })
    }

    fn now(&self) -> i64 {
        signed(self.clock.now().as_millis())
    }

    /// What only reads.
    pub(super) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// Runs one statement that writes and returns how many rows it changed.
    pub(super) async fn write(
        &self,
        statement: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<u64, StoreError> {
        let mut connection = self.writer.acquire().await?;
        match statement.execute(&mut *connection).await {
            Ok(done) => Ok(done.rows_affected()),
            Err(error) => {
                // After a failed sync nobody knows what the handle believes: the next writer gets a new one.
                connection.close_on_drop();
                Err(error.into())
            }
        }
    }
}

impl std::fmt::Debug for EmbeddedRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EmbeddedRecords")
    }
}

const GET: &str = "SELECT kind, id, version, expires, value, digest FROM records
    WHERE kind = ?1 AND id = ?2 AND (expires IS NULL OR expires > ?3)";
const INSERT: &str = "INSERT INTO records (kind, id, version, expires, value, digest)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (kind, id) DO UPDATE
    SET version = ?3, expires = ?4, value = ?5, digest = ?6 WHERE records.expires <= ?7";
const UPDATE: &str = "UPDATE records SET version = ?3, expires = ?4, value = ?5, digest = ?6
    WHERE kind = ?1 AND id = ?2 AND version = ?8 AND (expires IS NULL OR expires > ?7)";
// What has expired where the row goes is in nobody's way.
const MOVE: &str =
    "UPDATE OR REPLACE records SET kind = ?9, version = ?3, expires = ?4, value = ?5, digest = ?6
    WHERE kind = ?1 AND id = ?2 AND version = ?8 AND (expires IS NULL OR expires > ?7)
    AND NOT EXISTS (SELECT 1 FROM records AS there
        WHERE there.kind = ?9 AND there.id = ?2 AND (there.expires IS NULL OR there.expires > ?7))";
const REMOVE: &str = "DELETE FROM records
    WHERE kind = ?1 AND id = ?2 AND version = ?3 AND (expires IS NULL OR expires > ?4)";
const SCAN: &str = "SELECT kind, id, version, expires, value, digest FROM records
    WHERE kind = ?1 AND id > ?2 AND (expires IS NULL OR expires > ?3) ORDER BY id LIMIT ?4";
const SWEEP: &str = "DELETE FROM records WHERE expires <= ?1";
// Behind every id that begins with the prefix stands the prefix with the last character that there is.
const TRIM: &str = "DELETE FROM records WHERE kind = ?1 AND id IN (SELECT id FROM
    (SELECT id, ROW_NUMBER() OVER longest AS place, SUM(LENGTH(value)) OVER longest AS bytes FROM records
        WHERE kind = ?1 AND id >= ?2 AND id < ?2 || char(1114111)
        WINDOW longest AS (ORDER BY COALESCE(expires, 9223372036854775807) DESC, id ROWS UNBOUNDED PRECEDING))
    WHERE place > ?3 OR bytes > ?4)";

impl Records for EmbeddedRecords {
    fn get<'a>(&'a self, key: &'a Key) -> RecordsFuture<'a, Option<Row>> {
        Box::pin(async move {
            let statement = sqlx::query(GET).bind(key.kind()).bind(key.id()).bind(self.now());
            let found = statement.fetch_optional(&self.readers).await?;
            found.map(|row| read(key.kind(), &row)).transpose()
        })
    }

    fn put_if<'a>(&'a self, key: &'a Key, expected: Precondition, entry: NewRow) -> RecordsFuture<'a, u64> {
        Box::pin(async move {
            let (version, now) = (expected.next(), self.now());
            let (sql, replaced) = match expected {
                Precondition::Absent => (INSERT, None),
                Precondition::Version(version) => (UPDATE, Some(signed(version))),
            };
            let statement = filled(sql, key, Row { key: key.clone(), version, entry }, now);
            let statement = match replaced {
                Some(version) => statement.bind(version),
                None => statement,
            };
            changed(self.write(statement).await?).map(|()| version)
        })
    }

    fn move_if<'a>(
        &'a self,
        key: &'a Key,
        version: u64,
        to: &'static str,
        entry: NewRow,
    ) -> RecordsFuture<'a, u64> {
        Box::pin(async move {
            let next = Precondition::Version(version).next();
            let moved = Row { key: Key::new(to, key.id()), version: next, entry };
            let statement = filled(MOVE, key, moved, self.now()).bind(signed(version)).bind(to);
            changed(self.write(statement).await?).map(|()| next)
        })
    }

    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> RecordsFuture<'a, ()> {
        Box::pin(async move {
            let statement = sqlx::query(REMOVE).bind(key.kind()).bind(key.id());
            let statement = statement.bind(signed(version)).bind(self.now());
            changed(self.write(statement).await?)
        })
    }

    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> RecordsFuture<'a, Vec<Row>> {
        Box::pin(async move {
            let statement = sqlx::query(SCAN).bind(kind).bind(after).bind(self.now()).bind(limit);
            statement.fetch_all(&self.readers).await?.iter().map(|row| read(kind, row)).collect()
        })
    }

    fn sweep(&self) -> RecordsFuture<'_, u64> {
        Box::pin(async move { self.write(sqlx::query(SWEEP).bind(self.now())).await })
    }

    fn trim<'a>(&'a self, kind: &'static str, prefix: &'a str, keep: KeepPart) -> RecordsFuture<'a, u64> {
        Box::pin(async move {
            let statement = sqlx::query(TRIM).bind(kind).bind(prefix);
            self.write(statement.bind(keep.rows).bind(signed(keep.bytes))).await
        })
    }

    fn close(&self) -> Closing<'_> {
        Box::pin(async move {
            self.readers.close().await;
            self.writer.close().await;
        })
    }
}

/// What every change binds first: the row it is about, what that holds afterwards, and the time.
fn filled<'a>(sql: &'static str, key: &'a Key, row: Row, now: i64) -> Query<'a, Sqlite, SqliteArguments> {
    let Row { key: moved, version, entry } = row;
    let digest = digest(&moved, version, &entry);
    sqlx::query(sql)
        .bind(key.kind())
        .bind(key.id())
        .bind(signed(version))
        .bind(entry.expires.map(|at| signed(at.as_millis())))
        .bind(entry.value)
        .bind(digest.to_vec())
        .bind(now)
}

fn read(kind: &'static str, row: &SqliteRow) -> Result<Row, StoreError> {
    let columns = DatabaseRow {
        id: row.try_get("id")?,
        version: row.try_get("version")?,
        expires: row.try_get("expires")?,
        value: row.try_get("value")?,
        digest: row.try_get("digest")?,
    };
    columns.read(kind)
}

/// Brings the schema up to date under the write lock, so that of two processes that start together one waits.
async fn migrate(options: &SqliteConnectOptions) -> Result<(), StoreError> {
    // The one step that SQLite does not wait for is the switch of a new file to WAL (its lock is taken without the
    // busy handler), so a process that comes second tries again.
    const PAUSE: Duration = Duration::from_millis(20);
    let options = options.clone().journal_mode(SqliteJournalMode::Wal);
    let mut tries = BUSY_TIMEOUT.as_millis() / PAUSE.as_millis();
    let mut connection = loop {
        match options.connect().await.map_err(StoreError::from) {
            Err(error) if error.is_busy() && tries > 0 => tries -= 1,
            connected => break connected?,
        }
        tokio::time::sleep(PAUSE).await;
    };
    let steps = SCHEMA.iter().map(|&(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let mut migrator = Migrator::with_migrations(steps.collect());
    migrator.set_ignore_missing(true);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    // Not `run`: its future is not `Send` over a transaction, and the crate keeps this one for that reason.
    migrator.run_direct(None, &mut *transaction, false).await.map_err(sqlx::Error::from)?;
    transaction.commit().await?;
    Ok(connection.close().await?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    use super::*;
    use crate::base::clock::{FixedClock, Timestamp};
    use crate::store::{conformance, log_lines};

    async fn open(folder: &Path) -> (EmbeddedRecords, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let shared: SharedClock = Arc::clone(&clock) as SharedClock;
        (EmbeddedRecords::open(&folder.join("data/portcullis.sqlite"), shared).await.unwrap(), clock)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn it_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let (records, clock) = open(folder.path()).await;
        log_lines::conformance::check(&records).await;
        conformance::check(Arc::new(records), &clock).await;
    }

    #[tokio::test]
    async fn everything_it_makes_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let (records, _) = open(folder.path()).await;
        let key = Key::new("case", "a");
        records.put_if(&key, Precondition::Absent, NewRow::lasting(vec![1])).await.unwrap();
        let data = folder.path().join("data");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&data), 0o700);
        let files: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 2, "the file and its log");
        for file in files {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }

    #[tokio::test]
    async fn a_flipped_bit_is_noticed_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (records, _) = open(folder.path()).await;
        let key = Key::new("case", "a");
        let faults = [
            "UPDATE records SET value = x'6f'",
            "UPDATE records SET version = version + 2",
            "UPDATE records SET expires = 1900000000000",
            "UPDATE records SET digest = zeroblob(32)",
            "UPDATE records SET digest = x''",
        ];
        for sql in faults {
            let at =
                records.put_if(&key, Precondition::Absent, NewRow::lasting(b"n".to_vec())).await.unwrap();
            assert_eq!(at, 1);
            sqlx::query(sql).execute(&records.writer).await.unwrap();
            assert!(matches!(records.get(&key).await, Err(StoreError::Corrupt)), "{sql}");
            assert!(matches!(records.scan("case", "", 1).await, Err(StoreError::Corrupt)), "{sql}");
            sqlx::query("DELETE FROM records").execute(&records.writer).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_full_disk_is_said_and_passes() {
        let folder = tempfile::tempdir().unwrap();
        let (records, _) = open(folder.path()).await;
        let key = Key::new("case", "small");
        records.put_if(&key, Precondition::Absent, NewRow::lasting(vec![1])).await.unwrap();
        sqlx::query("PRAGMA max_page_count = 16").execute(&records.writer).await.unwrap();
        let large = Key::new("case", "large");
        let refused = records.put_if(&large, Precondition::Absent, NewRow::lasting(vec![7; 1 << 20])).await;
        assert!(matches!(refused, Err(StoreError::Full)), "{refused:?}");
        assert_eq!(records.get(&large).await.unwrap(), None);
        assert!(records.get(&key).await.unwrap().is_some());
        // The limit was the failed connection's own: the next one has room again.
        records.put_if(&large, Precondition::Absent, NewRow::lasting(vec![7; 1 << 20])).await.unwrap();
    }

    #[tokio::test]
    async fn a_schema_from_the_next_version_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (records, _) = open(folder.path()).await;
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
            VALUES (9999, 'later', TRUE, x'00', 0)";
        sqlx::query(newer).execute(&records.writer).await.unwrap();
        sqlx::query("ALTER TABLE records ADD COLUMN later TEXT").execute(&records.writer).await.unwrap();
        records.close().await;
        let (records, _) = open(folder.path()).await;
        let key = Key::new("case", "a");
        records.put_if(&key, Precondition::Absent, NewRow::lasting(vec![1])).await.unwrap();
        assert!(records.get(&key).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_is_closed_or_no_database_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (records, clock) = open(folder.path()).await;
        records.close().await;
        let said = records.get(&Key::new("case", "a")).await.unwrap_err().to_string();
        assert_eq!(said, "the store is unavailable (it is closed)");
        let other = folder.path().join("other");
        private::publish(&other, &[b'x'; 4096]).unwrap();
        let opened = EmbeddedRecords::open(&other, clock).await;
        assert!(matches!(opened, Err(StoreError::Corrupt)), "{opened:?}");
    }
}
