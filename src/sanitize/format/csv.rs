//! Comma-separated values (RFC 4180, and what is written in its place): each cell is a text. A cell that a
//! spreadsheet would take for a formula gets an apostrophe before it.

use std::ops::Range;

use crate::edit::spliced_text;
use crate::sanitize::format::charset;
use crate::sanitize::format::patch::{Patches, Spelled};
use crate::sanitize::format::text::written;
use crate::sanitize::work::head as name_of;
use crate::sanitize::{Edit, Named, Rejection, Work};

/// What programs take for the end of a cell, by their language.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Lines that are looked at for the delimiter.
const LINES: usize = 20;

/// Cells that are held at once.
const SOME: usize = 100_000;

/// Where the next cell is: its first byte, and its row and column.
#[derive(Default)]
struct Next {
    at: usize,
    place: (usize, usize),
}

/// A cell.
#[derive(Debug)]
struct Cell {
    /// All of it, with its quotes.
    range: Range<usize>,
    quoted: bool,
    text: Spelled,
    /// Its row and column.
    place: (usize, usize),
}

/// A table while it is cleaned.
struct Table<'t> {
    text: &'t str,
    delimiter: char,
    /// The cells of the first row.
    heads: Vec<String>,
    patches: Patches,
}

/// Cleans a table.
///
/// # Errors
/// The host's; [`Rejection::OverLimit`].
pub(super) fn clean(file: &[u8], work: &mut Work<'_>) -> Result<Vec<u8>, Rejection> {
    let decoded = charset::of_text(file);
    let table: &str = &decoded.text;
    let delimiter = delimiter(table);
    let mut next = Next::default();
    // Counted before any is judged: a table that is too large is refused at once.
    while next.at < table.len() {
        work.items(cells(table, &mut next, delimiter).len())?;
    }
    let mut cleaned = Table { text: table, delimiter, heads: Vec::new(), patches: Patches::default() };
    let mut next = Next::default();
    while next.at < table.len() {
        cleaned.clean(&cells(table, &mut next, delimiter), work)?;
    }
    Ok(written(file, &decoded, cleaned.patches))
}

impl Table<'_> {
    /// Cleans the next cells.
    fn clean(&mut self, cells: &[Cell], work: &mut Work<'_>) -> Result<(), Rejection> {
        let first = cells.iter().take_while(|cell| cell.place.0 == 0);
        self.heads.extend(first.map(|cell| cell.text.text().to_owned()));
        if work.options().interactive {
            for at in cells.iter().flat_map(|cell| formulas(cell, self.text)) {
                self.patches.put(at..at, "'");
                let stats = work.stats();
                stats.interactive = stats.interactive.saturating_add(1);
            }
        }
        let texts: Vec<Named<&str>> =
            cells.iter().map(|cell| Named { name: self.head(cell), text: cell.text.text() }).collect();
        for (cell, edits) in cells.iter().zip(work.named(&texts)?) {
            edits.iter().for_each(|edit| work.applied(edit));
            edited(cell, &edits, self.delimiter, &mut self.patches);
        }
        Ok(())
    }

    /// What a cell's column is called; nothing for the first row.
    fn head(&self, cell: &Cell) -> &str {
        match cell.place {
            (0, _) => "",
            (_, column) => self.heads.get(column).map(|first| name_of(first)).unwrap_or_default(),
        }
    }
}

fn edited(cell: &Cell, edits: &[Edit], delimiter: char, patches: &mut Patches) {
    let breaks = |edit: &Edit| edit.with.text.contains(['"', '\n', '\r', delimiter]);
    if !cell.quoted && edits.iter().any(breaks) {
        let text = spliced_text(cell.text.text(), edits);
        return patches.put(cell.range.clone(), format!("\"{}\"", doubled(&text)));
    }
    for edit in edits {
        patches.edit(&cell.text, edit, |text| if cell.quoted { doubled(text) } else { text.to_owned() });
    }
}

fn doubled(text: &str) -> String {
    text.replace('"', "\"\"")
}

/// The delimiter: the one that stands in most of the first lines, most often.
fn delimiter(table: &str) -> char {
    let lines = || table.lines().take(LINES);
    let outside = |line: &str, delimiter: char| {
        let mut quoted = false;
        let counted = |c: &char| {
            quoted ^= *c == '"';
            !quoted && *c == delimiter
        };
        line.chars().filter(counted).count()
    };
    let weight = |delimiter: char| {
        let counts = lines().map(|line| outside(line, delimiter)).filter(|count| *count > 0);
        counts.fold((0_usize, 0_usize), |(lines, all), count| {
            (lines.saturating_add(1), all.saturating_add(count))
        })
    };
    // The first of equals.
    let best = DELIMITERS.into_iter().rev().max_by_key(|delimiter| weight(*delimiter));
    best.unwrap_or(',')
}

/// The next cells, [`SOME`] at most.
fn cells(table: &str, next: &mut Next, delimiter: char) -> Vec<Cell> {
    let mut cells = Vec::new();
    while next.at < table.len() && cells.len() < SOME {
        let cell = Cell { place: next.place, ..cell(table, next.at, delimiter) };
        let end = cell.range.end;
        cells.push(cell);
        let behind = table.get(end..).and_then(|rest| rest.chars().next());
        next.place = match behind {
            Some('\n' | '\r') => (next.place.0.saturating_add(1), 0),
            _ => (next.place.0, next.place.1.saturating_add(1)),
        };
        next.at = end.saturating_add(behind.map_or(1, char::len_utf8));
    }
    cells
}

fn cell(table: &str, from: usize, delimiter: char) -> Cell {
    let rest = table.get(from..).unwrap_or_default();
    let mut text = Spelled::default();
    let Some(inner) = rest.strip_prefix('"') else {
        let end = rest.find(['\n', '\r', delimiter]).unwrap_or(rest.len());
        text.plain(from, rest.get(..end).unwrap_or_default());
        return Cell { range: from..from.saturating_add(end), quoted: false, text, place: (0, 0) };
    };
    let start = from.saturating_add(1);
    let (mut done, mut close) = (0, inner.len());
    let mut quotes = inner.match_indices('"').peekable();
    while let Some((at, _)) = quotes.next() {
        if quotes.next_if(|(next, _)| *next == at.saturating_add(1)).is_none() {
            close = at;
            break;
        }
        text.plain(start.saturating_add(done), inner.get(done..at).unwrap_or_default());
        done = at.saturating_add(2);
        text.escape(start.saturating_add(at)..start.saturating_add(done), "\"");
    }
    text.plain(start.saturating_add(done), inner.get(done..close).unwrap_or_default());
    // What stands between the closing quote and the delimiter is read as part of the cell.
    let behind = close.saturating_add(1).min(inner.len());
    let tail = inner.get(behind..).unwrap_or_default();
    let length = tail.find(['\n', '\r', delimiter]).unwrap_or(tail.len());
    text.plain(start.saturating_add(behind), tail.get(..length).unwrap_or_default());
    let end = start.saturating_add(behind).saturating_add(length);
    Cell { range: from..end, quoted: true, text, place: (0, 0) }
}

/// Where formulas begin: at the beginning of the cell, and, where another program would see one, behind another
/// delimiter.
fn formulas(cell: &Cell, table: &str) -> Vec<usize> {
    let start = cell.range.start.saturating_add(usize::from(cell.quoted));
    let raw = table.get(start..cell.range.end).unwrap_or_default();
    let mut found: Vec<usize> = formula(raw).into_iter().collect();
    if !cell.quoted {
        for (at, delimiter) in raw.match_indices(DELIMITERS) {
            let from = at.saturating_add(delimiter.len());
            let inside = raw.get(from..).unwrap_or_default();
            let inside = inside.get(..inside.find(DELIMITERS).unwrap_or(inside.len())).unwrap_or_default();
            found.extend(formula(inside).map(|at| from.saturating_add(at)));
        }
        found.sort_unstable();
        found.dedup();
    }
    found.into_iter().map(|at| start.saturating_add(at)).collect()
}

/// Where in a cell a formula begins, if it is one. Numbers with a sign, dates and telephone numbers are none.
fn formula(cell: &str) -> Option<usize> {
    // Programs that trim a cell see a formula behind blanks and quotes.
    let first = cell.trim_start_matches([' ', '\u{a0}', '\u{feff}', '"', '\t', '\r', '\n']);
    let at = cell.len().saturating_sub(first.len());
    let mut chars = first.chars();
    let begins = match chars.next()? {
        '=' | '\u{ff1d}' => true,
        '@' | '\u{ff20}' => chars.next().is_some(),
        // `- item` behind a blank is a list.
        '+' | '-' | '\u{ff0b}' | '\u{ff0d}' | '\u{2212}' => {
            !cell.get(..at).is_some_and(|before| before.contains(' ')) && acts(chars.as_str())
        }
        _ => false,
    };
    begins.then_some(at)
}

/// Whether what stands behind a sign names anything.
fn acts(rest: &str) -> bool {
    let number = |c: char| {
        c.is_ascii_digit()
            || c.is_whitespace()
            || ".,:/()%'+-*xXeE€$£¥°#".contains(c)
            || !c.is_ascii() && !c.is_alphabetic()
    };
    let extension = |rest: &str| rest.to_ascii_lowercase().replace("ext", "");
    rest.contains(|c: char| !number(c)) && extension(rest).contains(|c: char| !number(c))
        || rest.contains(['=', '!', '|'])
}

#[cfg(test)]
mod tests {
    use crate::sanitize::FileKind;
    use crate::sanitize::bench::Bench;

    fn clean(table: &str) -> (String, u64) {
        let mut bench = Bench::redacting("Jane");
        let stats = bench.clean(FileKind::Csv, table.as_bytes()).expect("a clean file").1;
        (bench.text(FileKind::Csv, table), stats.interactive)
    }

    #[test]
    fn formulas_become_text() {
        for (table, want, count) in [
            ("a,=1+1,b\n", "a,'=1+1,b\n", 1),
            ("\"=cmd|' /C calc'!A0\",x", "\"'=cmd|' /C calc'!A0\",x", 1),
            ("@SUM(A1)\r\n+cmd|x!y\r\n-2+3+cmd|x\r\n", "'@SUM(A1)\r\n'+cmd|x!y\r\n'-2+3+cmd|x\r\n", 3),
            (
                "-5,+49 30 1234,-1.5e-3,+1 (555) 010-9999 ext. 5,-,--,@",
                "-5,+49 30 1234,-1.5e-3,+1 (555) 010-9999 ext. 5,-,--,@",
                0,
            ),
            (" =1,\t=2,\"\t=3\"", " '=1,\t'=2,\"\t'=3\"", 3),
            ("a;=b;c\nd;e;f\n", "a;'=b;c\nd;e;f\n", 1),
            ("a,b;=HYPERLINK(1)\nc,d\n", "a,b;'=HYPERLINK(1)\nc,d\n", 1),
            ("\u{ff1d}1,'=1,x=1", "'\u{ff1d}1,'=1,x=1", 1),
            ("a,b\n1,2\n", "a,b\n1,2\n", 0),
            ("", "", 0),
        ] {
            assert_eq!(clean(table), (want.to_owned(), count), "{table}");
        }
    }

    #[test]
    fn cells_stay_cells() {
        for (table, want) in [
            ("name,url\nJane,http://a.example/x,1\n", "name,url\n<N>,hxxp://a[.]example/x,1\n"),
            ("\"Ja\"\"ne\",\"a \"\"Jane\"\" b\"\n", "\"Ja\"\"ne\",\"a \"\"<N>\"\" b\"\n"),
            ("\"a\nJane\";\"b\";c\n", "\"a\n<N>\";\"b\";c\n"),
            ("\"open Jane", "\"open <N>"),
            ("\"a\"Jane,x", "\"a\"<N>,x"),
        ] {
            assert_eq!(clean(table).0, want, "{table}");
        }
    }

    #[test]
    fn cells_are_read_with_the_heads_of_their_columns() {
        let mut bench = Bench::redacting("ssn: 12");
        let table = "name,ssn\r\n12,1234\r\n\"12\",\"12\"\r\n";
        assert_eq!(
            bench.clean(FileKind::Csv, table.as_bytes()).unwrap().0,
            b"name,ssn\r\n12,<N>34\r\n\"12\",\"<N>\"\r\n"
        );
    }

    #[test]
    fn what_would_break_a_cell_is_quoted() {
        use super::*;
        use crate::sanitize::NewText;
        let table = "a,Jane\"s,c";
        let cells = cells(table, &mut Next::default(), ',');
        let mut patches = Patches::default();
        let edit = Edit { range: 0..4, with: NewText { text: "x,\"y".to_owned(), ..NewText::default() } };
        edited(&cells[1], &[edit], ',', &mut patches);
        assert_eq!(patches.apply(table.as_bytes()), b"a,\"x,\"\"y\"\"s\",c");
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_clean_after_one_cleaning(table in "([a=+@,;\t\" \n\r|-]|Jane|http://a.bc|5){0,24}") {
            clean(&table);
        }
    }
}
