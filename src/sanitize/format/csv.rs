//! Comma-separated values (RFC 4180, and what is written in its place): each cell is a text. A cell that a
//! spreadsheet would take for a formula gets an apostrophe before it.

use std::ops::Range;

use crate::edit::spliced_text;
use crate::sanitize::column::head as name_of;
use crate::sanitize::format::charset;
use crate::sanitize::format::patch::{Patches, SpelledText};
use crate::sanitize::format::text::{encoded, written};
use crate::sanitize::{ChangedObject, Edit, NamedText, ObjectAction, ObjectKind, Rejection, Work};

/// What programs take for the end of a cell, by their language.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Lines that are looked at for the delimiter.
const LINES: usize = 20;

/// Cells that are held at once.
const SOME: usize = 100_000;

/// Where the next cell is: its first byte, and its row and column.
#[derive(Default)]
struct NextCell {
    at: usize,
    place: (usize, usize),
}

/// A cell.
#[derive(Debug)]
struct Cell {
    /// All of it, with its quotes.
    range: Range<usize>,
    quoted: bool,
    text: SpelledText,
    /// Its row and column.
    place: (usize, usize),
}

/// A table while it is cleaned.
struct CsvTable {
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
    let mut decoded = charset::of_text(file);
    let table: &str = &decoded.text;
    let delimiter = delimiter(table);
    let mut next = NextCell::default();
    // Counted before any is judged: a table that is too large is refused at once.
    while next.at < table.len() {
        work.items(cells(table, &mut next, delimiter).len())?;
    }
    let mut cleaned = CsvTable { delimiter, heads: Vec::new(), patches: Patches::default() };
    let mut next = NextCell::default();
    while next.at < table.len() {
        cleaned.clean(&cells(table, &mut next, delimiter), work)?;
    }
    let edited = cleaned.patches;
    let unchanged = edited.is_empty();
    if !unchanged {
        let text = edited.apply(table.as_bytes());
        decoded.text = String::from_utf8_lossy(&text).into_owned().into();
    }
    // What is left of a cell may be what a spreadsheet runs: formulas are looked for in what is released.
    let patches = if work.options().interactive { quoted(&decoded.text, work) } else { Patches::default() };
    let same = unchanged || !patches.is_empty();
    Ok(if same { written(file, &decoded, patches) } else { encoded(&decoded, &decoded.text) })
}

/// The apostrophes before formulas.
fn quoted(table: &str, work: &mut Work<'_>) -> Patches {
    let (delimiter, mut next) = (delimiter(table), NextCell::default());
    let (mut patches, mut count) = (Patches::default(), 0_u64);
    while next.at < table.len() {
        for at in cells(table, &mut next, delimiter).iter().flat_map(|cell| formulas(cell, table)) {
            patches.put(at..at, "'");
            count = count.saturating_add(1);
        }
    }
    work.acting(ChangedObject::new(ObjectKind::Formula, ObjectAction::Disarmed, count));
    patches
}

impl CsvTable {
    /// Cleans the next cells.
    fn clean(&mut self, cells: &[Cell], work: &mut Work<'_>) -> Result<(), Rejection> {
        let first = cells.iter().take_while(|cell| cell.place.0 == 0);
        self.heads.extend(first.map(|cell| cell.text.text().to_owned()));
        let texts: Vec<NamedText<&str>> =
            cells.iter().map(|cell| NamedText { name: self.head(cell), text: cell.text.text() }).collect();
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
fn cells(table: &str, next: &mut NextCell, delimiter: char) -> Vec<Cell> {
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
    let mut text = SpelledText::default();
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
    // Where one program's cell ends at a bar, the next cell tells another what program to start (DDE).
    let bar = |at: usize| table.get(at..).is_some_and(|rest| rest.starts_with('|'));
    let mut found: Vec<usize> = formula(raw, bar(cell.range.end)).into_iter().collect();
    if !cell.quoted {
        for (at, delimiter) in raw.match_indices(DELIMITERS) {
            let from = at.saturating_add(delimiter.len());
            let inside = raw.get(from..).unwrap_or_default();
            let inside = inside.get(..inside.find(DELIMITERS).unwrap_or(inside.len())).unwrap_or_default();
            let bar = bar(start.saturating_add(from).saturating_add(inside.len()));
            found.extend(formula(inside, bar).map(|at| from.saturating_add(at)));
        }
        found.sort_unstable();
        found.dedup();
    }
    found.into_iter().map(|at| start.saturating_add(at)).collect()
}

/// Where in a cell a formula begins, if it is one. Numbers with a sign, dates, telephone numbers and words behind a sign are
/// none; `bar`: what follows begins with one.
fn formula(cell: &str, bar: bool) -> Option<usize> {
    // Programs that trim a cell see a formula behind blanks and quotes.
    let first = cell.trim_start_matches([' ', '\u{a0}', '\u{feff}', '"', '\t', '\r', '\n']);
    let at = cell.len().saturating_sub(first.len());
    let mut chars = first.chars();
    let begins = match chars.next()? {
        '=' | '\u{ff1d}' => true,
        '@' | '\u{ff20}' => names(chars.as_str()) && (bar || runs(chars.as_str())),
        // `- item` behind a blank is a list.
        '+' | '-' | '\u{ff0b}' | '\u{ff0d}' | '\u{2212}' => {
            let list = cell.get(..at).is_some_and(|before| before.contains(' '));
            !list && names(chars.as_str()) && (bar || runs(chars.as_str()))
        }
        _ => false,
    };
    begins.then_some(at)
}

/// Whether what stands behind a sign names anything.
fn names(rest: &str) -> bool {
    let number = |c: char| {
        c.is_ascii_digit()
            || c.is_whitespace()
            || ".,:/()%'+-*xXeE€$£¥°#".contains(c)
            || !c.is_ascii() && !c.is_alphabetic() && plain(c) == c
    };
    let extension = |rest: &str| rest.to_ascii_lowercase().replace("ext", "");
    rest.contains(|c: char| !number(c)) && extension(rest).contains(|c: char| !number(c))
        || rest.contains(['=', '!', '|'])
}

/// Whether a spreadsheet would run what stands behind a sign: it calls a function, starts a program (DDE), or reads a cell.
/// Names alone (`@home`, `-see below`) are of nothing: a table of text defines none.
fn runs(rest: &str) -> bool {
    let rest: String = rest.chars().map(plain).collect();
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let behind = |at: usize| rest.get(at.saturating_add(1)..).and_then(|rest| rest.chars().next());
    let before = |at: usize| rest.get(..at).unwrap_or_default();
    let calls = |at: usize| {
        let before = before(at).trim_end();
        let from =
            before.rfind(|c| !of_name(c)).map_or(0, |at| before.ceil_char_boundary(at.saturating_add(1)));
        let name = before.get(from..).unwrap_or_default();
        name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !name.ends_with('.')
    };
    let signs = |c: char| c.is_whitespace() || "+-@\u{2212}".contains(c);
    rest.contains('|')
        || rest.trim_start_matches(signs).starts_with('=')
        || rest.match_indices('(').any(|(at, _)| calls(at))
        || rest.match_indices('!').any(|(at, _)| behind(at).is_some_and(|c| of_name(c) || "$#'[".contains(c)))
        || rest.match_indices('[').any(|(at, _)| {
            before(at).ends_with(of_name) && behind(at).is_some_and(|c| !matches!(c, '.' | ':'))
        })
        || rest.split(|c: char| !c.is_alphanumeric() && !matches!(c, '$' | '_' | ':')).any(is_reference)
}

/// Whether a word is a cell (`A1`, `$B$2`, `R1C1`) or several (`A1:B2`, `C:C`).
fn is_reference(word: &str) -> bool {
    let word = word.replace('$', "");
    let parted = |word: &str| {
        let letters = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        let (column, row) = word.split_at_checked(letters).unwrap_or_default();
        let numbered = row.len() <= 7 && row.bytes().all(|byte| byte.is_ascii_digit());
        ((1..=3).contains(&column.len()) && numbered).then_some(!row.is_empty())
    };
    let cell = |word: &str| parted(word) == Some(true);
    let turned = |word: &str| {
        let rest = word.strip_prefix(['R', 'r']);
        let Some((row, column)) = rest.and_then(|rest| rest.split_once(['C', 'c'])) else { return false };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        digits(row) && digits(column) && !(row.is_empty() && column.is_empty())
    };
    match word.split_once(':') {
        Some((from, to)) => cell(from) || cell(to) || parted(from).is_some() && parted(to).is_some(),
        None => cell(&word) || turned(&word),
    }
}

/// A character in its usual width: some programs take full-width ones for those.
fn plain(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c).saturating_sub(0xfee0)).unwrap_or(c),
        _ => c,
    }
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
    fn a_sign_before_what_runs_is_a_formula() {
        for cell in [
            "@SUM(A1)",
            "@A1",
            "+HYPERLINK(\"x\")",
            "-see IMPORTXML(x)",
            "+ZÄHLENWENN (A:A)",
            "-СУММ(x)",
            "-a+B2",
            "+$A$1",
            "-A1:B2",
            "+C:C",
            "-R1C1",
            "-r2c",
            "-R[-1]C",
            "+Table1[Total]",
            "-Sheet1!x",
            "+'[b.xls]S'!A1",
            "-MSEXCEL|'\\..\\cmd'!x",
            "\"@cmd\"|' /C calc'!A0",
            "+=1",
            "@=cmd",
            "-+=x",
            "\u{ff0b}\u{ff33}\u{ff35}\u{ff2d}\u{ff08}1\u{ff09}",
            "+$Sheet1.A1",
            "-_xlfn.WEBSERVICE(1)",
            "@jane\u{ff5c}x",
            "+'file:///a.ods'#$S.B3",
        ] {
            let quoted = usize::from(cell.starts_with('"'));
            let (before, behind) = cell.split_at(quoted);
            assert_eq!(clean(cell).0, format!("{before}'{behind}"), "{cell}");
        }
    }

    #[test]
    fn words_behind_a_sign_are_words() {
        for cell in [
            "@home",
            "@jane_doe",
            "@acme/pkg",
            "@ 9 o'clock",
            "-see below",
            "- item",
            "-",
            "-n/a",
            "+plus",
            "-wow! thanks",
            "-yes & no",
            "-Apple Inc. (US)",
            "+1 555 x12",
            "-5 °C",
            "+49 (0)30 12",
            "-Ärger",
            "-see [1]",
            "-a=b",
            "@王伟",
            "-12:30",
            "+3 apples (red)",
            "-see note: a b",
        ] {
            let want = if cell == "+3 apples (red)" { format!("'{cell}") } else { cell.to_owned() };
            assert_eq!(clean(cell).0, want, "{cell}");
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
        let cells = cells(table, &mut NextCell::default(), ',');
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
