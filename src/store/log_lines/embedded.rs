//! [`LogLines`] in the SQLite file.

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite};

use crate::base::clock::Timestamp;
use crate::store::StoreError;
use crate::store::columns::signed;
use crate::store::embedded::EmbeddedRecords;
use crate::store::log_lines::port::{Columned, LogEnd, LogLine, LogLines};
use crate::store::records::Later;

const APPEND: &str = "INSERT INTO audit (log, number, at, line) ";
const KEEP: &str = " ON CONFLICT (log, number) DO NOTHING";
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
    fn append<'a>(&'a self, log: &'a str, lines: &'a [LogLine]) -> Later<'a, ()> {
        Box::pin(async move {
            if lines.is_empty() {
                return Ok(());
            }
            let mut statement: QueryBuilder<Sqlite> = QueryBuilder::new(APPEND);
            statement.push_values(lines, |mut row, line| {
                let Columned { number, at, line } = Columned::of(line);
                row.push_bind(log).push_bind(number).push_bind(at).push_bind(line);
            });
            statement.push(KEEP);
            self.write(statement.build()).await.map(drop)
        })
    }

    fn read<'a>(&'a self, log: &'a str, after: u64, limit: u32) -> Later<'a, Vec<LogLine>> {
        Box::pin(async move {
            let statement = sqlx::query(READ).bind(log).bind(signed(after)).bind(limit);
            statement.fetch_all(self.readers()).await?.iter().map(line).collect()
        })
    }

    fn ends(&self) -> Later<'_, Vec<LogEnd>> {
        Box::pin(async move {
            let rows = sqlx::query(ENDS).fetch_all(self.readers()).await?;
            rows.iter().map(|row| Ok(LogEnd { log: row.try_get("log")?, last: line(row)? })).collect()
        })
    }

    fn remove_before<'a>(&'a self, log: &'a str, at: Timestamp) -> Later<'a, u64> {
        Box::pin(async move { self.write(sqlx::query(REMOVE).bind(log).bind(signed(at.as_millis()))).await })
    }
}

fn line(row: &SqliteRow) -> Result<LogLine, StoreError> {
    let columns =
        Columned { number: row.try_get("number")?, at: row.try_get("at")?, line: row.try_get("line")? };
    columns.read()
}
