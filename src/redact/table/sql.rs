//! Rows in statements of SQL: `INSERT INTO people (name, ssn) VALUES ('…', '…')`, those that replace rows or select what they fill a
//! table with, and what `COPY … FROM stdin` reads. Where a statement does not name its columns, the one that made its table does.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

use crate::redact::table::row::{CELLS, RowReader};
use crate::redact::table::sql_lists::{Entries, List, ListReader, is_of, list, space, word};
use crate::redact::table::sql_tables::{SqlTables, TableName};

/// The longest line before those that are read, in bytes.
const LINE: usize = 256;
/// How much of a text is read for lists that are none, in its bytes.
const SHARE: usize = 2;
/// The most words before the name of a table, and between it and what is filled in.
const BETWEEN: usize = 6;
/// Words between a statement's first one and the name of its table.
const BEFORE: [&str; 12] = [
    "into",
    "ignore",
    "or",
    "replace",
    "abort",
    "fail",
    "rollback",
    "overwrite",
    "table",
    "low_priority",
    "high_priority",
    "delayed",
];
/// Words before what fills a table.
const FILLS: [&str; 4] = ["values", "value", "select", "from"];

/// Words before `INTO` with which statements begin that are not searched for themselves.
const INTO: [&str; 3] = ["replace", "upsert", "merge"];

/// What finds the beginnings of statements.
static STATEMENTS: LazyLock<[(memmem::Finder<'static>, Beginning); 7]> = LazyLock::new(|| {
    [
        ("INSERT ", Beginning::Fills),
        ("insert ", Beginning::Fills),
        ("Insert ", Beginning::Fills),
        (" INTO ", Beginning::Into),
        (" into ", Beginning::Into),
        ("COPY ", Beginning::Reads),
        ("copy ", Beginning::Reads),
    ]
    .map(|(word, beginning)| (memmem::Finder::new(word), beginning))
});

/// What a statement begins with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning {
    /// A word that says that it fills a table.
    Fills,
    /// One that says so behind another.
    Into,
    /// One that says that it reads lines.
    Reads,
}

/// Where those words end with which the statements of a text begin, in order.
fn statements(text: &str) -> Vec<(usize, Beginning)> {
    let is_known = |(at, beginning): &(usize, Beginning)| {
        *beginning != Beginning::Into || {
            let before = text.get(..*at).unwrap_or_default().trim_end();
            let before = before.get(..before.len() - "into".len()).unwrap_or_default().trim_end();
            INTO.iter().any(|known| {
                let word = before.len().checked_sub(known.len()).and_then(|at| before.get(at..));
                word.is_some_and(|word| word.eq_ignore_ascii_case(known))
            })
        }
    };
    let of = |(word, beginning): &'static (memmem::Finder<'static>, Beginning)| {
        word.find_iter(text.as_bytes()).map(|at| (at + word.needle().len(), *beginning))
    };
    let mut all: Vec<(usize, Beginning)> = STATEMENTS.iter().flat_map(of).filter(is_known).collect();
    all.sort_unstable();
    all
}

/// Shows the rows of a text.
pub(super) fn read(text: &str, reader: &mut impl RowReader) {
    let mut tables: Option<SqlTables> = None;
    let (mut heads, mut row) = (Vec::new(), Vec::new());
    // All before has been read, and so much more may be that is no list.
    let (mut known, mut left) = (0, text.len().saturating_mul(SHARE));
    for (at, beginning) in statements(text) {
        if at < known {
            continue;
        }
        let Some(target) = InsertTarget::of(text, at) else { continue };
        let List { end, closed, .. } = list(text, target.end, &mut heads);
        known = end;
        if !closed {
            let rest = left.checked_sub(end.saturating_sub(target.end));
            known = if rest.is_some() { target.end } else { end };
            left = rest.unwrap_or_default();
            let fills = is_of(&FILLS, word(text, target.end));
            let Some(name) = target.name.filter(|_| fills) else { continue };
            let made = tables.get_or_insert_with(|| SqlTables::of(text));
            let Some(columns) = made.columns(&name) else { continue };
            heads = columns.to_vec();
        }
        if heads.is_empty() {
            continue;
        }
        reader.heads(&heads);
        let mut filled = RowSource { text, count: heads.len(), row: &mut row };
        let mut show = |row: &[Range<usize>]| reader.row(row);
        known = match beginning {
            Beginning::Reads => filled.copied(known, &mut show),
            Beginning::Fills | Beginning::Into => filled.inserted(known, &mut show),
        };
    }
}

/// The table that a statement fills.
struct InsertTarget {
    name: Option<TableName>,
    /// Where its columns are listed, or what fills it.
    end: usize,
}

impl InsertTarget {
    /// The one behind the first word of a statement.
    fn of(text: &str, at: usize) -> Option<Self> {
        let mut at = space(text, at);
        for _ in 0..BETWEEN {
            let word = word(text, at);
            if !is_of(&BEFORE, word) {
                break;
            }
            at = space(text, at + word.len());
        }
        // `WHEN NOT MATCHED THEN INSERT (…)`.
        if text.as_bytes().get(at) == Some(&b'(') {
            return Some(Self { name: None, end: at });
        }
        let (name, end) = TableName::at(text, at)?;
        Some(Self { name: Some(name), end: space(text, end) })
    }
}

/// What fills a table with so many columns.
struct RowSource<'t, 'r> {
    text: &'t str,
    count: usize,
    row: &'r mut Vec<Range<usize>>,
}

impl RowSource<'_, '_> {
    /// What stands behind the columns or the table's name: lists behind `VALUES`, or what is selected; where that ends.
    fn inserted(&mut self, at: usize, show: &mut dyn FnMut(&[Range<usize>])) -> usize {
        let mut at = space(self.text, at);
        for _ in 0..BETWEEN {
            let word = word(self.text, at);
            let behind = space(self.text, at + word.len());
            if word.eq_ignore_ascii_case("values") || word.eq_ignore_ascii_case("value") {
                return self.lists(behind, show);
            }
            if word.eq_ignore_ascii_case("select") {
                return self.selected(behind, show);
            }
            if word.is_empty() {
                break;
            }
            at = behind;
            // `MERGE INTO people (id, ssn) KEY (id) VALUES …`.
            if word.eq_ignore_ascii_case("key") {
                at = space(self.text, list(self.text, at, self.row).end);
            }
        }
        at
    }

    /// The lists at `at`, and where they end.
    fn lists(&mut self, at: usize, show: &mut dyn FnMut(&[Range<usize>])) -> usize {
        let mut at = at;
        loop {
            let List { end, closed, .. } = self.list(at);
            if !closed {
                return end;
            }
            if self.row.len() == self.count {
                show(self.row);
            }
            at = space(self.text, end);
            if self.text.as_bytes().get(at) != Some(&b',') {
                return at;
            }
            at = space(self.text, at + 1);
        }
    }

    /// The list at `at`. Some servers take a backslash in a text for an escape, others as it is: as what it makes a row.
    fn list(&mut self, at: usize) -> List {
        let (text, count, entries) = (self.text, self.count, Entries::Values);
        let mut read = |escapes| {
            let list = ListReader { text, entries, escapes }.read(at, self.row);
            (list.closed && self.row.len() == count, list)
        };
        let (fits, plain) = read(false);
        if fits && plain.sound || !plain.escaped {
            return plain;
        }
        match read(true) {
            (true, escaped) => escaped,
            _ => read(false).1,
        }
    }

    /// What is selected from `at` on, if that are literals, and where it ends: `SELECT 1, 'Doe' UNION ALL SELECT 2, …`.
    fn selected(&mut self, at: usize, show: &mut dyn FnMut(&[Range<usize>])) -> usize {
        let mut at = at;
        loop {
            let reader = ListReader { text: self.text, entries: Entries::Selected, escapes: false };
            let List { end, closed, .. } = reader.read(at, self.row);
            if closed && self.row.len() == self.count {
                show(self.row);
            }
            let mut more = end;
            for known in ["union", "all", "select"] {
                let word = word(self.text, more);
                if word.eq_ignore_ascii_case(known) {
                    more = space(self.text, more + word.len());
                } else if known != "all" {
                    return end;
                }
            }
            at = more;
        }
    }

    /// The lines behind `FROM stdin;` up to the one that ends them, with tabs between their cells; where they end.
    fn copied(&mut self, at: usize, show: &mut dyn FnMut(&[Range<usize>])) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let head = rest.split_once('\n').map_or(rest, |(head, _)| head);
        if head.len() > LINE || !head.to_ascii_lowercase().contains("stdin") {
            return at;
        }
        let mut at = at + head.len() + 1;
        for line in self.text.get(at..).unwrap_or_default().split_inclusive('\n') {
            if line.starts_with("\\.") || line.trim_end().is_empty() {
                break;
            }
            self.row.clear();
            let mut start = at;
            for cell in line.trim_end_matches(['\n', '\r']).split('\t').take(CELLS) {
                self.row.push(start..start + cell.len());
                start += cell.len() + 1;
            }
            if self.row.len() == self.count {
                show(self.row);
            }
            at += line.len();
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows: each cell with its head.
    struct Rows<'t> {
        text: &'t str,
        heads: Vec<&'t str>,
        rows: Vec<String>,
    }

    impl RowReader for Rows<'_> {
        fn heads(&mut self, row: &[Range<usize>]) {
            self.heads = row.iter().map(|head| self.text.get(head.clone()).unwrap()).collect();
        }

        fn row(&mut self, row: &[Range<usize>]) {
            let cells = row.iter().map(|cell| self.text.get(cell.clone()).unwrap());
            let cells = self.heads.iter().zip(cells).map(|(head, cell)| format!("{head}={cell}"));
            self.rows.push(cells.collect::<Vec<_>>().join(" "));
        }
    }

    fn rows(text: &str) -> Vec<String> {
        let mut rows = Rows { text, heads: Vec::new(), rows: Vec::new() };
        read(text, &mut rows);
        rows.rows
    }

    #[test]
    fn statements_fill_tables_in_many_ways() {
        for text in [
            "INSERT IGNORE INTO `u` (`a`, b) VALUES (1, 'x'),(2, 'y');",
            "INSERT OR REPLACE INTO u\n(a, b)\nVALUES\n(1, 'x'),\n(2, 'y')",
            "REPLACE INTO dbo.u (a, b) VALUES (1, N'x'), (2, 'y'::text)",
            "upsert into u (a,b) values (1,'x'),(2,'y')",
            "INSERT u (a, b) VALUES (1, 'x'), (2, 'y')",
            "MERGE INTO u (a, b) KEY (a) VALUES (1, 'x'), (2, 'y')",
            "MERGE INTO u USING t ON u.a = t.a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1, 'x'), (2, 'y');",
            "INSERT INTO u (a, b) SELECT 1, 'x' UNION ALL SELECT 2, 'y' FROM dual;",
            "INSERT INTO u (a, b) OVERRIDING SYSTEM VALUES (1, 'x'), (2, 'y')",
            "CREATE TABLE `u` (\n `a` int,\n `b` varchar(40),\n PRIMARY KEY (`a`)\n);\nINSERT INTO `u` VALUES (1,'x'),(2,'y');",
            "create table if not exists public.u (a int, b text);\ninsert into u values (1, 'x');\ninsert into u values (2, 'y');",
            "CREATE TABLE u (a int, b text);\nCOPY u FROM stdin;\n1\tx\n2\ty\n\\.\n",
        ] {
            assert_eq!(rows(text), ["a=1 b=x", "a=2 b=y"], "{text}");
        }
    }

    #[test]
    fn quotes_behind_backslashes_are_read_as_the_server_has_them() {
        let text = "INSERT INTO u (a, b) VALUES ('it\\'s', 'x'), ('O\\'Riordan, \\\"J\\\"', 'y');";
        assert_eq!(rows(text), ["a=it\\'s b=x", "a=O\\'Riordan, \\\"J\\\" b=y"]);
        let text = "INSERT INTO u (a, b) VALUES ('C:\\', 'x'), ('it''s', 'y');";
        assert_eq!(rows(text), ["a=C:\\ b=x", "a=it''s b=y"]);
    }

    #[test]
    fn what_is_no_list_hides_no_statement() {
        let text = "To insert it (don't ask, see below) run:\nINSERT INTO u (a, b) VALUES (1, 'x');";
        assert_eq!(rows(text), ["a=1 b=x"]);
    }

    #[test]
    fn other_texts_fill_none() {
        for text in [
            "INSERT INTO u VALUES (1, 'x')",
            "CREATE TABLE u (a int);\nINSERT INTO u VALUES (1, 'x')",
            "CREATE TABLE v (a int, b int);\nINSERT INTO u VALUES (1, 'x')",
            "insert the coin (a, b) and go",
            "INSERT INTO u (a, b) SELECT a FROM t",
            "INSERT ",
            "copy ",
            "INSERT INTO u (a, b",
        ] {
            assert_eq!(rows(text), [""; 0], "{text}");
        }
    }
}
