//! [`LogLines`] in the SQLite file.

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite};

use crate::base::clock::Timestamp;
use crate::store::StoreError;
use crate::store::columns::signed;
use crate::store::embedded::EmbeddedRecords;
use crate::store::log_lines::port::{Appended, Columned, LogEnd, LogLine, LogLines};
use crate::store::records::RecordsFuture;

// All of them or none. A line that is there already is written once more as it is, so that it counts.
const APPEND: &str = ") INSERT INTO audit (log, number, at, line) SELECT log.name, number, at, line FROM added, log
    WHERE NOT EXISTS (SELECT 1 FROM audit JOIN added AS other USING (number) WHERE audit.log = log.name AND audit.line <> other.line)
    ON CONFLICT (log, number) DO UPDATE SET line = excluded.line";
const READ: &str =
    "SELECT number, at, line FROM audit WHERE log = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
// From each log's name to the next one, however many lines lie in between.
const ENDS: &str = "WITH RECURSIVE logs (log) AS (SELECT MIN(log) FROM audit UNION ALL
        SELECT (SELECT MIN(log) FROM audit WHERE audit.log > logs.log) FROM logs WHERE logs.log IS NOT NULL)
    SELECT audit.log AS log, number, at, line FROM logs JOIN audit ON audit.log = logs.log
    WHERE number = (SELECT MAX(number) FROM audit AS other WHERE other.log = logs.log) ORDER BY audit.log";
const REMOVE: &str = "DELETE FROM audit WHERE log = ?1 AND number < COALESCE(
    (SELECT number FROM audit WHERE log = ?1 AND at >= ?2 ORDER BY number LIMIT 1),
    (SELECT MAX(number) FROM audit WHERE log = ?1))";

impl LogLines for EmbeddedRecords {
    fn append<'a>(&'a self, log: &'a str, lines: &'a [LogLine]) -> RecordsFuture<'a, Appended> {
        Box::pin(async move {
            if lines.is_empty() {
                return Ok(Appended::Whole);
            }
            let mut statement: QueryBuilder<Sqlite> = QueryBuilder::new("WITH log (name) AS (VALUES (");
            statement.push_bind(log).push(")), added (number, at, line) AS (");
            statement.push_values(lines, |mut row, line| {
                let Columned { number, at, line } = Columned::of(line);
                row.push_bind(number).push_bind(at).push_bind(line);
            });
            statement.push(APPEND);
            let there = self.write(statement.build()).await?;
            Ok(if there == lines.len() as u64 { Appended::Whole } else { Appended::Diverged })
        })
    }

    fn read<'a>(&'a self, log: &'a str, after: u64, limit: u32) -> RecordsFuture<'a, Vec<LogLine>> {
        Box::pin(async move {
            let statement = sqlx::query(READ).bind(log).bind(signed(after)).bind(limit);
            statement.fetch_all(self.readers()).await?.iter().map(line).collect()
        })
    }

    fn ends(&self) -> RecordsFuture<'_, Vec<LogEnd>> {
        Box::pin(async move {
            let rows = sqlx::query(ENDS).fetch_all(self.readers()).await?;
            rows.iter().map(|row| Ok(LogEnd { log: row.try_get("log")?, last: line(row)? })).collect()
        })
    }

    fn remove_before<'a>(&'a self, log: &'a str, at: Timestamp) -> RecordsFuture<'a, u64> {
        Box::pin(async move { self.write(sqlx::query(REMOVE).bind(log).bind(signed(at.as_millis()))).await })
    }
}

fn line(row: &SqliteRow) -> Result<LogLine, StoreError> {
    let columns =
        Columned { number: row.try_get("number")?, at: row.try_get("at")?, line: row.try_get("line")? };
    columns.read()
}
