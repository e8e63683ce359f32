//! [`LogLines`] in the PostgreSQL database.

use sqlx::postgres::PgRow;
use sqlx::{Connection as _, Row as _};

use crate::base::clock::Timestamp;
use crate::store::StoreError;
use crate::store::columns::signed;
use crate::store::log_lines::port::{Appended, Columned, LogEnd, LogLine, LogLines};
use crate::store::postgres::PostgresRecords;
use crate::store::records::RecordsFuture;

// A line that is there already is written once more as it is, so that it counts; of another nothing is.
const APPEND: &str = "INSERT INTO portcullis_audit (log, number, at, line)
    SELECT $1, added.number, added.at, added.line
    FROM UNNEST($2::bigint[], $3::bigint[], $4::text[]) AS added (number, at, line)
    ON CONFLICT (log, number) DO UPDATE SET line = excluded.line WHERE portcullis_audit.line = excluded.line";
const READ: &str = "SELECT number, at, line FROM portcullis_audit WHERE log = $1 AND number > $2
    ORDER BY number LIMIT $3";
// From each log's name to the next one, however many lines lie in between.
const ENDS: &str = "WITH RECURSIVE logs (log) AS (SELECT MIN(log) FROM portcullis_audit UNION ALL
        SELECT (SELECT MIN(audit.log) FROM portcullis_audit AS audit WHERE audit.log > logs.log)
        FROM logs WHERE logs.log IS NOT NULL)
    SELECT audit.log AS log, number, at, line FROM logs JOIN portcullis_audit AS audit ON audit.log = logs.log
    WHERE number = (SELECT MAX(other.number) FROM portcullis_audit AS other WHERE other.log = logs.log)
    ORDER BY audit.log";
const REMOVE: &str = "DELETE FROM portcullis_audit WHERE log = $1 AND number < COALESCE(
    (SELECT number FROM portcullis_audit WHERE log = $1 AND at >= $2 ORDER BY number LIMIT 1),
    (SELECT MAX(number) FROM portcullis_audit WHERE log = $1))";

impl LogLines for PostgresRecords {
    fn append<'a>(&'a self, log: &'a str, lines: &'a [LogLine]) -> RecordsFuture<'a, Appended> {
        let count = lines.len() as u64;
        let log = log.to_owned();
        let (mut numbers, mut times, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for Columned { number, at, line } in lines.iter().map(Columned::of) {
            numbers.push(number);
            times.push(at);
            texts.push(line);
        }
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let mut all = connection.begin().await?;
                let statement = sqlx::query(APPEND).bind(log).bind(numbers).bind(times).bind(texts);
                if statement.execute(&mut *all).await?.rows_affected() != count {
                    all.rollback().await?;
                    return Ok(Appended::Diverged);
                }
                all.commit().await?;
                Ok(Appended::Whole)
            })
        }))
    }

    fn read<'a>(&'a self, log: &'a str, after: u64, limit: u32) -> RecordsFuture<'a, Vec<LogLine>> {
        let (log, after) = (log.to_owned(), signed(after));
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let statement = sqlx::query(READ).bind(log).bind(after).bind(i64::from(limit));
                statement.fetch_all(connection).await?.iter().map(line).collect()
            })
        }))
    }

    fn ends(&self) -> RecordsFuture<'_, Vec<LogEnd>> {
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                let rows = sqlx::query(ENDS).fetch_all(connection).await?;
                rows.iter().map(|row| Ok(LogEnd { log: row.try_get("log")?, last: line(row)? })).collect()
            })
        }))
    }

    fn remove_before<'a>(&'a self, log: &'a str, at: Timestamp) -> RecordsFuture<'a, u64> {
        let (log, at) = (log.to_owned(), signed(at.as_millis()));
        Box::pin(self.run(move |connection| {
            Box::pin(async move {
                Ok(sqlx::query(REMOVE).bind(log).bind(at).execute(connection).await?.rows_affected())
            })
        }))
    }
}

fn line(row: &PgRow) -> Result<LogLine, StoreError> {
    let columns =
        Columned { number: row.try_get("number")?, at: row.try_get("at")?, line: row.try_get("line")? };
    columns.read()
}
