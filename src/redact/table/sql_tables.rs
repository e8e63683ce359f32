//! [`SqlTables`]: the columns of the tables that the statements of a text make.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memmem;

use crate::redact::table::sql_lists::{Entries, ListReader, is_of, space, word};

/// How statements that make tables are written.
const TABLE: [&str; 3] = [" TABLE ", " table ", " Table "];
/// What stands before that, and how much is read for it, in bytes.
const CREATE: &str = "create";
const BEFORE: usize = 32;
/// The most tables of a text.
const TABLES: usize = 1000;
/// The longest name, in bytes, and the most parts of one.
const NAME: usize = 256;
const PARTS: usize = 4;
/// What entries begin with that are no columns.
const OTHERS: [&str; 11] = [
    "primary",
    "key",
    "unique",
    "constraint",
    "index",
    "foreign",
    "check",
    "fulltext",
    "spatial",
    "exclude",
    "like",
];

/// What a table is called, without the names of its schema and its database, in lower case.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TableName(String);

impl TableName {
    /// The one at `at`, and where it ends.
    pub(super) fn at(text: &str, at: usize) -> Option<(Self, usize)> {
        let mut at = at;
        for _ in 0..PARTS {
            let (part, end) = identifier(text, at)?;
            if text.as_bytes().get(end) != Some(&b'.') {
                return Some((Self(text.get(part)?.to_lowercase()), end));
            }
            at = end + 1;
        }
        None
    }
}

/// The tables of a text.
#[derive(Debug, Default)]
pub(super) struct SqlTables(HashMap<TableName, Vec<Range<usize>>>);

impl SqlTables {
    pub(super) fn of(text: &str) -> Self {
        let all = TABLE.iter().flat_map(|word| {
            memmem::find_iter(text.as_bytes(), word.as_bytes()).map(move |at| (at, at + word.len()))
        });
        let mut places: Vec<(usize, usize)> = all.collect();
        places.sort_unstable();
        let (mut tables, mut row, mut known) = (Self::default(), Vec::new(), 0);
        for (start, end) in places {
            if start < known || tables.0.len() >= TABLES || !is_made(text, start) {
                continue;
            }
            let mut at = space(text, end);
            for skipped in ["if", "not", "exists"] {
                let word = word(text, at);
                if word.eq_ignore_ascii_case(skipped) {
                    at = space(text, at + word.len());
                }
            }
            let Some((name, end)) = TableName::at(text, at) else { continue };
            let reader = ListReader { text, entries: Entries::Columns, escapes: false };
            let list = reader.read(space(text, end), &mut row);
            known = list.end;
            if list.closed {
                let columns = row.iter().filter_map(|entry| column(text, entry.start)).collect();
                tables.0.entry(name).or_insert(columns);
            }
        }
        tables
    }

    /// Where the names of a table's columns stand, in order.
    pub(super) fn columns(&self, table: &TableName) -> Option<&[Range<usize>]> {
        self.0.get(table).map(Vec::as_slice)
    }
}

/// Whether the statement makes a table whose word for that stands at `at`.
fn is_made(text: &str, at: usize) -> bool {
    let from = text.ceil_char_boundary(at.saturating_sub(BEFORE));
    text.get(from..at).is_some_and(|head| head.to_ascii_lowercase().contains(CREATE))
}

/// The name of the column that an entry is which begins at `at`.
fn column(text: &str, at: usize) -> Option<Range<usize>> {
    let (name, _) = identifier(text, at)?;
    // What stands in quotes begins behind one.
    let bare = name.start == at;
    let said = text.get(name.clone())?;
    (!(bare && is_of(&OTHERS, said))).then_some(name)
}

/// The name at `at`, without quotes, and where it ends.
fn identifier(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let rest = text.get(at..)?;
    let close = match rest.chars().next()? {
        '[' => ']',
        quote @ ('"' | '`' | '\'') => quote,
        _ => {
            let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '@');
            let length = rest.find(|c: char| !inner(c)).unwrap_or(rest.len());
            return (1..=NAME).contains(&length).then(|| (at..at + length, at + length));
        }
    };
    let length = rest.get(1..)?.find(close).filter(|length| (1..=NAME).contains(length))?;
    Some((at + 1..at + 1 + length, at + length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns<'t>(text: &'t str, table: &str) -> Vec<&'t str> {
        let tables = SqlTables::of(text);
        let found = tables.columns(&TableName(table.to_owned())).unwrap_or_default();
        found.iter().map(|name| text.get(name.clone()).unwrap()).collect()
    }

    #[test]
    fn statements_say_what_columns_are_called() {
        for text in [
            "CREATE TABLE users (\n  id int NOT NULL DEFAULT '0',\n  `full name` varchar(40),\n  PRIMARY KEY (id)\n);",
            "create table if not exists public.\"Users\" (id int, \"full name\" decimal(3,2), unique (id))",
            "CREATE TEMPORARY TABLE [dbo].[Users] ([id] int, [full name] text, CONSTRAINT c CHECK (id > 0))",
        ] {
            assert_eq!(columns(text, "users"), ["id", "full name"], "{text}");
        }
        for text in ["DROP TABLE users (id)", "a table (id, b)", "CREATE TABLE users (id, b", ""] {
            assert_eq!(columns(text, "users"), [""; 0], "{text}");
        }
    }
}
