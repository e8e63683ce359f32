//! On the server that `PORTCULLIS_POSTGRES` names, each test in a schema of its own.

#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPool;
use sqlx::{AssertSqlSafe, Executor};

use crate::base::clock::{FixedClock, SharedClock, Timestamp};
use crate::base::secret::Secret;
use crate::store::postgres::{Database, PostgresRecords, SslMode};
use crate::store::{Key, NewRow, Precondition, Records, StoreError, conformance, log_lines};

/// A schema and somebody beside the store who may look at it.
struct Bench {
    database: Database,
    beside: PgPool,
    schema: &'static str,
}

impl Bench {
    /// `None`, and says so, where there is no server.
    async fn new(schema: &'static str) -> Option<Self> {
        let Ok(url) = std::env::var("PORTCULLIS_POSTGRES") else {
            println!("SKIPPED: PORTCULLIS_POSTGRES names no server; nothing of PostgreSQL was tested");
            return None;
        };
        let beside = PgPool::connect(&format!("{url}?options=-csearch_path%3D{schema}")).await.unwrap();
        let bench = Self { database: of(&url, schema), beside, schema };
        bench.sql(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE")).await;
        bench.sql(&format!("CREATE SCHEMA {schema}")).await;
        Some(bench)
    }

    async fn open(&self) -> (PostgresRecords, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let shared: SharedClock = Arc::clone(&clock) as SharedClock;
        (PostgresRecords::open(&self.database, shared).await.unwrap(), clock)
    }

    async fn sql(&self, sql: &str) {
        self.beside.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
    }

    async fn clean(self) {
        self.sql(&format!("DROP SCHEMA {} CASCADE", self.schema)).await;
    }
}

fn of(url: &str, schema: &str) -> Database {
    Database {
        url: Secret::new(format!("{url}?options=-csearch_path%3D{schema}&application_name={schema}")),
        tls: SslMode::Disable,
        ca: None,
        connections: 4,
        timeout: Duration::from_secs(5),
    }
}

async fn refused(database: &Database) -> String {
    let clock = Arc::new(FixedClock::at(Timestamp::from_millis(0)));
    PostgresRecords::open(database, clock).await.unwrap_err().to_string()
}

fn one(id: &str) -> (Key, NewRow) {
    (Key::new("case", id), NewRow::lasting(b"n".to_vec()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_conforms() {
    let Some(bench) = Bench::new("conforms").await else { return };
    let (records, clock) = bench.open().await;
    log_lines::conformance::check(&records).await;
    conformance::check(Arc::new(records), &clock).await;
    bench.clean().await;
}

#[tokio::test]
async fn a_flipped_bit_is_noticed_wherever_it_is() {
    let Some(bench) = Bench::new("flipped").await else { return };
    let (records, _) = bench.open().await;
    let faults = [
        "UPDATE portcullis_records SET value = 'o'",
        "UPDATE portcullis_records SET version = version + 2",
        "UPDATE portcullis_records SET expires = 1900000000000",
        "UPDATE portcullis_records SET digest = ''",
    ];
    for sql in faults {
        let (key, entry) = one("a");
        records.put_if(&key, Precondition::Absent, entry).await.unwrap();
        bench.sql(sql).await;
        assert!(matches!(records.get(&key).await, Err(StoreError::Corrupt)), "{sql}");
        assert!(matches!(records.scan("case", "", 1).await, Err(StoreError::Corrupt)), "{sql}");
        bench.sql("DELETE FROM portcullis_records").await;
    }
    bench.clean().await;
}

#[tokio::test]
async fn a_schema_from_the_next_version_is_taken_as_it_is() {
    let Some(bench) = Bench::new("newer").await else { return };
    let (records, _) = bench.open().await;
    let newer = "INSERT INTO portcullis_migrations (version, description, success, checksum, execution_time)
        VALUES (9999, 'later', TRUE, '', 0)";
    bench.sql(newer).await;
    bench.sql("ALTER TABLE portcullis_records ADD COLUMN later TEXT").await;
    records.close().await;
    let said = records.get(&one("a").0).await.unwrap_err().to_string();
    assert_eq!(said, "the store is unavailable (it is closed)");
    let (records, _) = bench.open().await;
    let (key, entry) = one("a");
    records.put_if(&key, Precondition::Absent, entry).await.unwrap();
    assert!(records.get(&key).await.unwrap().is_some());
    bench.clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_start_together_make_one_schema() {
    let Some(bench) = Bench::new("together").await else { return };
    let bench = Arc::new(bench);
    let starts = (0..6).map(|_| {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move { bench.open().await.0.sweep().await.unwrap() })
    });
    for start in starts.collect::<Vec<_>>() {
        assert_eq!(start.await.unwrap(), 0);
    }
    Arc::into_inner(bench).unwrap().clean().await;
}

/// The row is locked by somebody who does not let go: the call ends, and what it wanted did not happen.
#[tokio::test]
async fn no_call_waits_for_ever() {
    let Some(mut bench) = Bench::new("patience").await else { return };
    bench.database.timeout = Duration::from_millis(300);
    bench.database.connections = 1;
    let (records, _) = bench.open().await;
    let (key, entry) = one("a");
    records.put_if(&key, Precondition::Absent, entry.clone()).await.unwrap();
    let mut other = bench.beside.begin().await.unwrap();
    other.execute("SELECT * FROM portcullis_records FOR UPDATE").await.unwrap();
    let said = records.put_if(&key, Precondition::Version(1), entry.clone()).await.unwrap_err().to_string();
    assert!(said.contains("took too long"), "{said}");
    other.rollback().await.unwrap();
    assert_eq!(records.put_if(&key, Precondition::Version(1), entry).await.unwrap(), 2);
    bench.clean().await;
}

/// A caller who leaves and a server that cuts off everybody cost the next caller nothing lasting.
#[tokio::test]
async fn connections_that_were_cut_off_are_replaced() {
    let Some(bench) = Bench::new("cut_off").await else { return };
    let (records, _) = bench.open().await;
    let (key, entry) = one("a");
    let gone =
        tokio::time::timeout(Duration::ZERO, records.put_if(&key, Precondition::Absent, entry.clone()));
    drop(gone.await);
    bench
        .sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut_off'")
        .await;
    let mut tries = 0;
    while let Err(error) = records.get(&key).await {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
        tries += 1;
        assert!(tries < 8, "{error}");
    }
    bench.clean().await;
}

#[tokio::test]
async fn who_cannot_connect_is_told_why_and_shown_nothing() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let at = |address: &str| of(&format!("postgres://me:hunter2@{address}/hunter3"), "none");
    assert_eq!(refused(&at(&free.to_string())).await, "the store is unavailable (it cannot be reached)");
    // Takes the connection and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_at = silent.local_addr().unwrap().to_string();
    let database = Database { timeout: Duration::from_millis(200), ..at(&silent_at) };
    assert_eq!(refused(&database).await, "the store is unavailable (it does not answer)");
    let database = Database { url: Secret::new("postgres://[hunter2".to_owned()), ..at(&silent_at) };
    assert_eq!(refused(&database).await, "the store is unavailable (its URL cannot be used)");
    assert!(!format!("{database:?}").contains("hunter"));
    let Some(bench) = Bench::new("refusals").await else { return };
    let url = std::env::var("PORTCULLIS_POSTGRES").unwrap();
    let place = url.rsplit_once('@').map_or("", |(_, place)| place);
    let place = place.split_once('/').map_or(place, |(place, _)| place);
    let said = refused(&at(place)).await;
    assert!(said.contains("it refuses the user or the password, SQLSTATE 28"), "{said}");
    let missing = url.rsplit_once('/').map_or("", |(server, _)| server).to_owned() + "/hunter3";
    let said = refused(&Database { url: Secret::new(missing), ..at(place) }).await;
    assert!(said.contains("there is no such database"), "{said}");
    bench.clean().await;
}

/// Where the server has a certificate, whose authority `PORTCULLIS_POSTGRES_CA` names.
#[tokio::test]
async fn certificates_are_checked_as_far_as_was_asked() {
    let Some(bench) = Bench::new("certificates").await else { return };
    let Ok(ca) = std::env::var("PORTCULLIS_POSTGRES_CA") else {
        println!("SKIPPED: PORTCULLIS_POSTGRES_CA names no authority; TLS was not tested");
        return;
    };
    // As `main` does; without it a chain cannot be checked apart from the name.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let with = |tls, ca: Option<&str>, from: &str, to: &str| Database {
        url: Secret::new(bench.database.url.expose().replace(from, to)),
        ca: ca.map(Into::into),
        tls,
        connections: 1,
        timeout: Duration::from_secs(5),
    };
    let same = |tls, ca| with(tls, ca, "127.0.0.1", "127.0.0.1");
    // The certificate is for the address alone.
    let by_name = |tls, ca| with(tls, ca, "127.0.0.1", "localhost");
    let (trusted, untrusted) = (Some(ca.as_str()), None);
    let clock = || Arc::new(FixedClock::at(Timestamp::from_millis(0)));
    for database in [
        same(SslMode::VerifyFull, trusted),
        by_name(SslMode::VerifyCa, trusted),
        same(SslMode::Require, untrusted),
    ] {
        let records = PostgresRecords::open(&database, clock()).await.unwrap();
        assert!(records.is_encrypted().await, "{database:?}");
    }
    let (plain, _) = bench.open().await;
    assert!(!plain.is_encrypted().await);
    for database in [
        by_name(SslMode::VerifyFull, trusted),
        same(SslMode::VerifyFull, untrusted),
        same(SslMode::VerifyCa, untrusted),
    ] {
        let said = refused(&database).await;
        assert_eq!(said, "the store is unavailable (no TLS connection, or the certificate is not trusted)");
    }
    bench.clean().await;
}

impl PostgresRecords {
    async fn is_encrypted(&self) -> bool {
        let asked = sqlx::query_scalar("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
        asked.fetch_one(&self.pool).await.unwrap()
    }
}
