//! [`Records`] in a PostgreSQL database (13 or newer), which several gateways may share.
//!
//! Every write is one statement, which is a transaction of its own at READ COMMITTED: a second writer of a row waits
//! for the first and then judges the row as that left it. What has expired is told by each gateway's own clock, as
//! with a file, so their clocks should agree.
//!
//! Calls run as tasks of the runtime that opened the store, whoever makes them: a connection belongs to the runtime
//! it was made in, and a caller who goes away leaves no statement half sent.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgRow, PgSslMode};
use sqlx::query::Query;
use sqlx::{ConnectOptions, Connection, Postgres, Row as _, SqlSafeStr};
use tokio::runtime::Handle;

use crate::base::clock::SharedClock;
use crate::base::secret::Secret;
use crate::store::columns::{DatabaseRow, changed, digest, signed};
use crate::store::{
    Cause, Closing, KeepPart, Key, NewRow, Precondition, Records, RecordsFuture, Row, StoreError,
};

/// How a connection is protected: libpq's `sslmode`, without those that fall back to plaintext. Default `verify-full`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SslMode {
    /// Plaintext: the password may be read on the way.
    Disable,
    /// TLS with whoever answers.
    Require,
    /// TLS, with a certificate of a trusted authority. The process must have an active rustls provider.
    VerifyCa,
    /// The same, and the certificate is for the host's name.
    #[default]
    VerifyFull,
}

/// A database and how to reach it.
#[derive(Debug)]
pub struct Database {
    /// `postgres://user:password@host:port/name`. What it leaves out is taken from libpq's environment variables
    /// and password file, and else from libpq's defaults.
    pub url: Secret<String>,
    /// Over TCP; on a socket of this machine there is no TLS.
    pub tls: SslMode,
    /// PEM file of authorities trusted beside the public ones.
    pub ca: Option<PathBuf>,
    /// The most connections that are open at once; at least 1.
    pub connections: u32,
    /// How long a call waits for a connection, and how long a statement may take.
    pub timeout: Duration,
}

impl Database {
    fn options(&self) -> Result<PgConnectOptions, StoreError> {
        let options: PgConnectOptions = self.url.expose().parse()?;
        let mode = match self.tls {
            _ if options.get_socket().is_some() || options.get_host().starts_with('/') => PgSslMode::Disable,
            SslMode::Disable => PgSslMode::Disable,
            SslMode::Require => PgSslMode::Require,
            SslMode::VerifyCa => PgSslMode::VerifyCa,
            SslMode::VerifyFull => PgSslMode::VerifyFull,
        };
        let options = match &self.ca {
            Some(path) => options.ssl_root_cert(path),
            None => options,
        };
        let options = match options.get_application_name() {
            Some(_) => options,
            None => options.application_name("portcullis"),
        };
        Ok(options.ssl_mode(mode).disable_statement_logging())
    }
}

/// Rows in a PostgreSQL database.
pub struct PostgresRecords {
    pub(super) pool: PgPool,
    clock: SharedClock,
    runtime: Handle,
    /// No statement is waited for any longer, whatever became of the network.
    patience: Duration,
}

/// What has been done to the schema, in order. Later entries may only add.
const SCHEMA: &[(i64, &str, &str)] = &[
    (1, "records", include_str!("schema/postgres/0001_records.sql")),
    (2, "audit", include_str!("schema/postgres/0002_audit.sql")),
];

/// How long one of several that start together waits for the schema.
const MIGRATION: Duration = Duration::from_secs(60);

/// A connection that lay idle for this long may have been cut off meanwhile.
const STALE: Duration = Duration::from_secs(1);

/// Settings of a session, whatever the database's own are. A write that is answered must be on disk; the milder
/// values of `synchronous_commit` leave that to standbys, or ask for more.
const SESSION: &str = "SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $1, false),
    set_config('default_transaction_isolation', 'read committed', false),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END";

impl PostgresRecords {
    /// Connects, and brings the schema up to date: its user must be allowed to make tables. A schema newer than
    /// this program is taken as it is.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], which says why and shows no part of the URL.
    pub async fn open(database: &Database, clock: SharedClock) -> Result<Self, StoreError> {
        let options = database.options()?;
        // A connection of its own, since the pool keeps its reasons for having none to itself.
        let connect = tokio::time::timeout(database.timeout, options.connect());
        let mut connection = connect.await.map_err(|_| silent())??;
        tokio::time::timeout(MIGRATION, migrate(&mut connection)).await.map_err(|_| silent())??;
        connection.close().await?;
        let limit = format!("{}ms", database.timeout.as_millis());
        let pool = PgPoolOptions::new()
            .max_connections(database.connections.max(1))
            .acquire_timeout(database.timeout)
            .test_before_acquire(false)
            .before_acquire(|connection, idle| {
                Box::pin(async move {
                    if idle.idle_for <= STALE {
                        return Ok(true);
                    }
                    let pinged = tokio::time::timeout(STALE, connection.ping()).await;
                    Ok(pinged.is_ok_and(|pinged| pinged.is_ok()))
                })
            })
            .after_connect(move |connection, _| {
                let limit = limit.clone();
                Box::pin(async move {
                    sqlx::query(SESSION).bind(limit).execute(connection).await?;
                    Ok(())
                })
            });
        let pool = pool.connect_with(options).await?;
        let patience = database.timeout.saturating_add(STALE);
        Ok(Self { pool, clock, runtime: Handle::current(), patience })
    }

    fn now(&self) -> i64 {
        signed(self.clock.now().as_millis())
    }

    /// Runs one call to its end or until patience ends, also if nobody waits for it any more.
    pub(super) async fn run<T, F>(&self, call: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut PgConnection) -> RecordsFuture<'c, T> + Send + 'static,
    {
        let (pool, patience) = (self.pool.clone(), self.patience);
        let task = self.runtime.spawn(async move {
            let mut connection = pool.acquire().await?;
            let called = tokio::time::timeout(patience, call(&mut connection)).await;
            let called = called.unwrap_or_else(|_| Err(silent()));
            if !matches!(called, Ok(_) | Err(StoreError::Conflict)) {
                // Nobody knows what it is in the middle of; the next call gets a new one.
                connection.close_on_drop();
            }
            called
        });
        task.await.unwrap_or_else(|_| Err(StoreError::Unavailable(Cause::of("it is closed"))))
    }
}

fn silent() -> StoreError {
    StoreError::Unavailable(Cause::of("it does not answer"))
}

impl std::fmt::Debug for PostgresRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgresRecords")
    }
}

const GET: &str = "SELECT id, version, expires, value, digest FROM portcullis_records
    WHERE kind = $1 AND id = $2 AND (expires IS NULL OR expires > $3)";
const INSERT: &str = "INSERT INTO portcullis_records (kind, id, version, expires, value, digest)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (kind, id) DO UPDATE
    SET version = $3, expires = $4, value = $5, digest = $6 WHERE portcullis_records.expires <= $7";
const UPDATE: &str = "UPDATE portcullis_records SET version = $3, expires = $4, value = $5, digest = $6
    WHERE kind = $1 AND id = $2 AND version = $8 AND (expires IS NULL OR expires > $7)";
// What has expired where the row goes is removed before it goes there: the count asks for that.
const MOVE: &str = "WITH gone AS
    (DELETE FROM portcullis_records WHERE kind = $9 AND id = $2 AND expires <= $7 RETURNING 1)
    UPDATE portcullis_records SET kind = $9, version = $3, expires = $4, value = $5, digest = $6
    WHERE kind = $1 AND id = $2 AND version = $8 AND (expires IS NULL OR expires > $7)
    AND (SELECT count(*) FROM gone) >= 0
    AND NOT EXISTS (SELECT 1 FROM portcullis_records AS there
        WHERE there.kind = $9 AND there.id = $2 AND (there.expires IS NULL OR there.expires > $7))";
const REMOVE: &str = "DELETE FROM portcullis_records
    WHERE kind = $1 AND id = $2 AND version = $3 AND (expires IS NULL OR expires > $4)";
const SCAN: &str = "SELECT id, version, expires, value, digest FROM portcullis_records
    WHERE kind = $1 AND id > $2 AND (expires IS NULL OR expires > $3) ORDER BY id LIMIT $4";
// Two gateways that sweep at once do not wait for one another.
const SWEEP: &str = "DELETE FROM portcullis_records WHERE (kind, id) IN
    (SELECT kind, id FROM portcullis_records WHERE expires <= $1 FOR UPDATE SKIP LOCKED)";
// No id is longer than an index can hold, and no text has the byte 0xFF.
const TRIM: &str = "DELETE FROM portcullis_records WHERE kind = $1 AND id IN (SELECT id FROM
    (SELECT id, ROW_NUMBER() OVER longest AS place, SUM(OCTET_LENGTH(value)) OVER longest AS bytes
        FROM portcullis_records WHERE kind = $1 AND id >= $2 AND id < $2 || '\\xff'::bytea
        WINDOW longest AS (ORDER BY COALESCE(expires, 9223372036854775807) DESC, id ROWS UNBOUNDED PRECEDING)) AS ranked
    WHERE place > $3 OR bytes > $4)";

impl Records for PostgresRecords {
    fn get<'a>(&'a self, key: &'a Key) -> RecordsFuture<'a, Option<Row>> {
        let (now, key) = (self.now(), key.clone());
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let statement = sqlx::query(GET).bind(key.kind()).bind(key.id().as_bytes()).bind(now);
                let found = statement.fetch_optional(connection).await?;
                found.map(|row| read(key.kind(), &row)).transpose()
            })
        }))
    }

    fn put_if<'a>(&'a self, key: &'a Key, expected: Precondition, entry: NewRow) -> RecordsFuture<'a, u64> {
        let (now, key) = (self.now(), key.clone());
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let version = expected.next();
                let (sql, replaced) = match expected {
                    Precondition::Absent => (INSERT, None),
                    Precondition::Version(version) => (UPDATE, Some(signed(version))),
                };
                let statement = filled(sql, &key, Row { key: key.clone(), version, entry }, now);
                let statement = match replaced {
                    Some(version) => statement.bind(version),
                    None => statement,
                };
                changed(statement.execute(connection).await?.rows_affected()).map(|()| version)
            })
        }))
    }

    fn move_if<'a>(
        &'a self,
        key: &'a Key,
        version: u64,
        to: &'static str,
        entry: NewRow,
    ) -> RecordsFuture<'a, u64> {
        let (now, key) = (self.now(), key.clone());
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let next = Precondition::Version(version).next();
                let moved = Row { key: Key::new(to, key.id()), version: next, entry };
                let statement = filled(MOVE, &key, moved, now).bind(signed(version)).bind(to);
                changed(statement.execute(connection).await?.rows_affected()).map(|()| next)
            })
        }))
    }

    fn remove_if<'a>(&'a self, key: &'a Key, version: u64) -> RecordsFuture<'a, ()> {
        let (now, key) = (self.now(), key.clone());
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let statement = sqlx::query(REMOVE).bind(key.kind()).bind(key.id().as_bytes());
                let statement = statement.bind(signed(version)).bind(now);
                changed(statement.execute(connection).await?.rows_affected())
            })
        }))
    }

    fn scan<'a>(&'a self, kind: &'static str, after: &'a str, limit: u32) -> RecordsFuture<'a, Vec<Row>> {
        let (now, after) = (self.now(), after.as_bytes().to_vec());
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let statement = sqlx::query(SCAN).bind(kind).bind(after).bind(now).bind(i64::from(limit));
                statement.fetch_all(connection).await?.iter().map(|row| read(kind, row)).collect()
            })
        }))
    }

    fn sweep(&self) -> RecordsFuture<'_, u64> {
        let now = self.now();
        Box::pin(self.run(move |connection| {
            Box::pin(
                async move { Ok(sqlx::query(SWEEP).bind(now).execute(connection).await?.rows_affected()) },
            )
        }))
    }

    fn trim<'a>(&'a self, kind: &'static str, prefix: &'a str, keep: KeepPart) -> RecordsFuture<'a, u64> {
        let prefix = prefix.as_bytes().to_vec();
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let statement = sqlx::query(TRIM).bind(kind).bind(prefix);
                let statement = statement.bind(i64::from(keep.rows)).bind(signed(keep.bytes));
                Ok(statement.execute(connection).await?.rows_affected())
            })
        }))
    }

    fn close(&self) -> Closing<'_> {
        let (pool, patience) = (self.pool.clone(), self.patience);
        Box::pin(async move {
            // Connections that do not answer are left to the operating system.
            let closing = async move { tokio::time::timeout(patience, pool.close()).await };
            drop(self.runtime.spawn(closing).await);
        })
    }
}

/// What every change binds first: the row it is about, what that holds afterwards, and the time.
fn filled<'a>(sql: &'static str, key: &'a Key, row: Row, now: i64) -> Query<'a, Postgres, PgArguments> {
    let Row { key: moved, version, entry } = row;
    let digest = digest(&moved, version, &entry);
    sqlx::query(sql)
        .bind(key.kind())
        .bind(key.id().as_bytes())
        .bind(signed(version))
        .bind(entry.expires.map(|at| signed(at.as_millis())))
        .bind(entry.value)
        .bind(digest.to_vec())
        .bind(now)
}

fn read(kind: &'static str, row: &PgRow) -> Result<Row, StoreError> {
    let id: Vec<u8> = row.try_get("id")?;
    let columns = DatabaseRow {
        id: String::from_utf8(id).map_err(|_| StoreError::Corrupt)?,
        version: row.try_get("version")?,
        expires: row.try_get("expires")?,
        value: row.try_get("value")?,
        digest: row.try_get("digest")?,
    };
    columns.read(kind)
}

/// Brings the schema up to date under the migrator's advisory lock, so that of those that start together one works.
async fn migrate(connection: &mut PgConnection) -> Result<(), StoreError> {
    // "already exists, skipping" is no news.
    sqlx::query("SET client_min_messages = warning").execute(&mut *connection).await?;
    let steps = SCHEMA.iter().map(|&(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let mut migrator = Migrator::with_migrations(steps.collect());
    migrator.set_ignore_missing(true);
    migrator.dangerous_set_table_name("portcullis_migrations");
    migrator.run_direct(None, connection, false).await.map_err(sqlx::Error::from)?;
    Ok(())
}
