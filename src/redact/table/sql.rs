//! Rows in statements of SQL: `INSERT INTO people (name, ssn) VALUES ('…', '…')`, and what `COPY … FROM stdin` reads.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

use crate::redact::table::row::{CELLS, RowReader, trimmed};

/// The longest list in parentheses, in bytes.
const LIST: usize = 16 << 10;
/// The longest name of a table, in bytes.
const NAME: usize = 256;

/// What finds the beginnings of statements, each with whether they read lines.
static STATEMENTS: LazyLock<[(memmem::Finder<'static>, bool); 6]> = LazyLock::new(|| {
    [
        ("INSERT INTO ", false),
        ("insert into ", false),
        ("Insert into ", false),
        ("Insert Into ", false),
        ("COPY ", true),
        ("copy ", true),
    ]
    .map(|(word, reads)| (memmem::Finder::new(word), reads))
});

/// Where the names of the tables begin that statements fill, in order, and whether lines follow.
fn statements(text: &str) -> Vec<(usize, bool)> {
    let of = |(word, reads): &'static (memmem::Finder<'static>, bool)| {
        word.find_iter(text.as_bytes()).map(|at| (at + word.needle().len(), *reads))
    };
    let mut all: Vec<(usize, bool)> = STATEMENTS.iter().flat_map(of).collect();
    all.sort_unstable();
    all
}

/// Shows the rows of a text.
pub(super) fn read(text: &str, reader: &mut impl RowReader) {
    let mut row = Vec::new();
    // All before has been read.
    let mut known = 0;
    for (at, reads) in statements(text) {
        if at < known {
            continue;
        }
        let Some(open) = open(text, at) else { continue };
        let heads = list(text, open, &mut row);
        known = heads.end;
        if !heads.closed || row.len() < 2 {
            continue;
        }
        reader.heads(&row);
        let count = row.len();
        let mut show = |row: &[Range<usize>]| {
            if row.len() == count {
                reader.row(row);
            }
        };
        known = match reads {
            false => inserted(text, known, &mut show),
            true => copied(text, known, &mut show),
        };
    }
}

/// The list behind a table's name at `at`.
fn open(text: &str, at: usize) -> Option<usize> {
    let head = text.as_bytes().get(at..)?;
    let open = head.iter().take(NAME).position(|byte| matches!(byte, b'(' | b';' | b'\n'))?;
    (head.get(open) == Some(&b'(')).then_some(at + open)
}

/// Where the lists behind `VALUES` begin, if that stands there.
fn values(text: &str, at: usize) -> Option<usize> {
    let at = space(text, at);
    let word = text.get(at..at + 6)?;
    word.eq_ignore_ascii_case("values").then(|| space(text, at + 6))
}

/// The lists behind `VALUES`, and where they end.
fn inserted(text: &str, at: usize, show: &mut dyn FnMut(&[Range<usize>])) -> usize {
    let Some(mut at) = values(text, at) else { return at };
    let mut row = Vec::new();
    loop {
        let List { end, closed } = list(text, at, &mut row);
        if !closed {
            return end;
        }
        show(&row);
        at = space(text, end);
        if text.as_bytes().get(at) != Some(&b',') {
            return at;
        }
        at = space(text, at + 1);
    }
}

/// The lines behind `FROM stdin;` up to the one that ends them, with tabs between their cells; where they end.
fn copied(text: &str, at: usize, show: &mut dyn FnMut(&[Range<usize>])) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let head = rest.split_once('\n').map_or(rest, |(head, _)| head);
    if head.len() > NAME || !head.to_ascii_lowercase().contains("stdin") {
        return at;
    }
    let (mut row, mut at) = (Vec::new(), at + head.len() + 1);
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        if line.starts_with("\\.") || line.trim_end().is_empty() {
            break;
        }
        row.clear();
        let mut start = at;
        for cell in line.trim_end_matches(['\n', '\r']).split('\t').take(CELLS) {
            row.push(start..start + cell.len());
            start += cell.len() + 1;
        }
        show(&row);
        at += line.len();
    }
    at
}

/// Behind blanks and line ends at `at`.
pub(super) fn space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start().len())
}

/// How a list was read.
pub(super) struct List {
    /// Up to where.
    pub(super) end: usize,
    /// Whether it is one.
    pub(super) closed: bool,
}

/// Puts the entries of the list that opens at `at` into `row`.
pub(super) fn list(text: &str, at: usize, row: &mut Vec<Range<usize>>) -> List {
    row.clear();
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'(') {
        return List { end: at, closed: false };
    }
    let (mut start, mut depth, mut quote) = (at + 1, 0usize, None);
    let end = bytes.len().min(at + LIST);
    for here in at + 1..end {
        match (quote, bytes.get(here).copied().unwrap_or_default()) {
            // A quote in a text is written twice, which closes it and opens it again.
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'\'' | b'"' | b'`')) => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') if depth > 0 => depth -= 1,
            (None, sign @ (b')' | b',')) if depth == 0 => {
                row.push(trimmed(text, start..here));
                start = here + 1;
                if sign == b')' {
                    return List { end: here + 1, closed: true };
                }
                if row.len() > CELLS {
                    return List { end: here, closed: false };
                }
            }
            _ => {}
        }
    }
    List { end, closed: false }
}
