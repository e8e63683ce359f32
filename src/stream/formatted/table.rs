//! Tables (CSV: RFC 4180; TSV): each cell is called as the head of its column is, and stands behind the cell before it.

use std::ops::Range;

use crate::stream::formatted::reader::{FormatReader, SeeText};
use crate::stream::formatted::text::{FormattedText, TextSpelling};
use crate::stream::path::PathTracker;
use crate::stream::utf8::BOM;

/// What may part cells, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The most columns whose heads are remembered, and how much of a cell says what the next one is, in bytes.
const COLUMNS: usize = 1024;
const WORDS: usize = 48;

/// From this many digits on a cell is a value, and no head of a column.
const DIGITS: usize = 5;

/// What columns are called whose values are called after the cell before: those of pairs.
const PAIRS: [&str; 6] = ["value", "val", "content", "data", "answer", "response"];

/// Where in a row a scan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowState {
    /// At the beginning of a cell.
    #[default]
    Begin,
    Plain,
    Quoted,
    /// Behind a quote that ends a cell, or is the first of two.
    Closed,
}

/// Reads a table.
pub(super) struct TableReader {
    /// Once it is known.
    delimiter: Option<u8>,
    /// Once the first row has come.
    heads: Option<Vec<String>>,
    state: RowState,
    /// How much of the row has been scanned.
    scanned: usize,
}

/// One cell.
struct Cell {
    /// In the row, without quotes.
    range: Range<usize>,
    quoted: bool,
}

impl TableReader {
    pub(super) fn new(delimiter: Option<u8>) -> Self {
        Self { delimiter, heads: None, state: RowState::Begin, scanned: 0 }
    }

    fn parts(&self, byte: u8) -> bool {
        self.delimiter.map_or(DELIMITERS.contains(&byte), |delimiter| delimiter == byte)
    }
}

impl FormatReader for TableReader {
    fn unit(&mut self, held: &[u8], ended: bool) -> Option<usize> {
        for (at, &byte) in held.iter().enumerate().skip(self.scanned) {
            self.state = match (self.state, byte) {
                (RowState::Quoted, b'"') => RowState::Closed,
                (RowState::Quoted, _) => RowState::Quoted,
                (RowState::Begin | RowState::Closed, b'"') => RowState::Quoted,
                (_, b'\n') => {
                    (self.state, self.scanned) = (RowState::Begin, 0);
                    return Some(at + 1);
                }
                (_, byte) if self.parts(byte) => RowState::Begin,
                (RowState::Begin, byte) if BOM.get(at) == Some(&byte) => RowState::Begin,
                _ => RowState::Plain,
            };
        }
        self.scanned = held.len();
        (ended && self.state != RowState::Quoted).then_some(held.len())
    }

    fn texts(&mut self, row: &[u8], see: SeeText<'_>) {
        let begin = if row.starts_with(BOM) { BOM.len() } else { 0 };
        let line = row.strip_suffix(b"\n").unwrap_or(row);
        let end = line.strip_suffix(b"\r").unwrap_or(line).len();
        let line = begin..end.max(begin);
        if self.heads.is_none() && row.get(line.clone()).unwrap_or_default().trim_ascii().is_empty() {
            return;
        }
        // Excel: the first line may name the delimiter.
        if self.heads.is_none()
            && let Some([b's', b'e', b'p', b'=', delimiter]) = row.get(line.clone())
        {
            self.delimiter = Some(*delimiter);
            return;
        }
        let delimiter = self.delimiter.unwrap_or_else(|| sniffed(row.get(line.clone()).unwrap_or_default()));
        let cells: Vec<FormattedText> = cells(row, line, delimiter)
            .into_iter()
            .map(|Cell { range, quoted }| {
                let spelling = if quoted { TextSpelling::QuotedCell } else { TextSpelling::Cell(delimiter) };
                FormattedText::of(row.get(range.clone()).unwrap_or_default(), range.start, spelling)
            })
            .collect();
        // What is parted by nothing says nothing of what parts cells.
        if cells.len() > 1 {
            self.delimiter = Some(delimiter);
        }
        let Some(heads) = self.heads.as_ref().filter(|heads| !(is_title(heads) && are_heads(&cells))) else {
            let is_head = cells.iter().all(|cell| is_name(cell.text()));
            // A value alone in the first rows stands above a table, perhaps.
            if is_head || cells.len() > 1 {
                self.heads = Some(if is_head { heads(&cells) } else { Vec::new() });
            }
            let mut before = "";
            for cell in &cells {
                let trail =
                    if is_head { PathTracker::default() } else { PathTracker::through(words(before)) };
                see(&trail.path(), cell);
                before = cell.text();
            }
            return;
        };
        let pairs = heads.is_empty() || cells.len() == 2;
        let mut before = None;
        for (column, cell) in cells.iter().enumerate() {
            let head = heads.get(column).map_or("", String::as_str);
            let named = before.filter(|_| pairs || PAIRS.contains(&head.to_ascii_lowercase().as_str()));
            let names = [named.unwrap_or_default(), head];
            let trail = PathTracker::through(names.into_iter().filter(|name| !name.is_empty()));
            see(&trail.behind(before.unwrap_or_default()).path(), cell);
            before = words(cell.text());
        }
    }
}

/// What the first row parts its cells by. One bar alone stands within values, such as the tokens of some services.
fn sniffed(row: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [0_usize; DELIMITERS.len()];
    for byte in row {
        quoted ^= *byte == b'"';
        let place = DELIMITERS.iter().position(|delimiter| delimiter == byte);
        if let Some(count) = place.filter(|_| !quoted).and_then(|place| counts.get_mut(place)) {
            *count += 1;
        }
    }
    let likely = |(count, delimiter): &(&usize, u8)| *delimiter != b'|' || **count > 1;
    let most = counts.iter().zip(DELIMITERS).rev().filter(likely).max_by_key(|(count, _)| **count);
    most.map_or(b',', |(_, delimiter)| delimiter)
}

/// The cells of a row, which lies at `line`.
fn cells(row: &[u8], line: Range<usize>, delimiter: u8) -> Vec<Cell> {
    let (mut all, mut at) = (Vec::new(), line.start);
    loop {
        let rest = row.get(at..line.end).unwrap_or_default();
        let quoted = quoted(rest, delimiter);
        let length = quoted.or_else(|| memchr::memchr(delimiter, rest)).unwrap_or(rest.len());
        let (from, to) = if quoted.is_some() { (at + 1, at + length - 1) } else { (at, at + length) };
        all.push(Cell { range: from..to, quoted: quoted.is_some() });
        at += length + 1;
        if at > line.end {
            return all;
        }
    }
}

/// How long the cell in quotes is that a row begins with, with its quotes.
fn quoted(rest: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 1;
    if rest.first() != Some(&b'"') {
        return None;
    }
    loop {
        at += memchr::memchr(b'"', rest.get(at..)?)? + 1;
        match rest.get(at) {
            Some(b'"') => at += 1,
            Some(byte) if *byte != delimiter => return None,
            _ => return Some(at),
        }
    }
}

/// Whether what was taken for heads is a phrase or a comment that stands above them: one cell, whatever else is empty.
fn is_title(heads: &[String]) -> bool {
    let mut said = heads.iter().filter(|head| !head.is_empty());
    let phrase = |head: &String| head.starts_with('#') || head.contains([' ', ':']);
    said.next().is_some_and(phrase) && said.next().is_none()
}

/// Whether cells below a title are the heads: several, and each is words.
fn are_heads(cells: &[FormattedText]) -> bool {
    let word = |c: char| c.is_alphabetic() || matches!(c, ' ' | '_' | '-' | '.');
    let says =
        |cell: &FormattedText| cell.text().contains(char::is_alphabetic) && cell.text().chars().all(word);
    cells.len() > 1 && cells.iter().all(says)
}

/// Whether a cell may be the head of a column.
fn is_name(cell: &str) -> bool {
    !cell.contains('@') && cell.bytes().filter(u8::is_ascii_digit).count() < DIGITS
}

fn heads(cells: &[FormattedText]) -> Vec<String> {
    let head = |cell: &FormattedText| {
        let text = cell.text();
        text.get(..text.floor_char_boundary(WORDS)).unwrap_or_default().trim().to_owned()
    };
    cells.iter().take(COLUMNS).map(head).collect()
}

/// What a cell says of the one behind it.
fn words(cell: &str) -> Option<&str> {
    let says = is_name(cell) && cell.len() <= WORDS && cell.contains(char::is_alphabetic);
    says.then(|| cell.trim())
}
