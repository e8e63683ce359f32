//! [`RowReader`]: who is shown rows; cells, and what may be their heads.

use std::ops::Range;

/// The most cells of a row.
pub(in crate::redact) const CELLS: usize = 256;
/// The longest head, in bytes, and the most words of one.
const HEAD: usize = 48;
const WORDS: usize = 6;

/// Is shown the rows of tables; cells are bytes of the text, without blanks, quotes and marks around them.
pub(super) trait RowReader {
    /// A table begins, with these heads.
    fn heads(&mut self, row: &[Range<usize>]);

    /// A row of as many cells under them.
    fn row(&mut self, row: &[Range<usize>]);
}

/// Whether these may be what columns are called.
pub(super) fn are_heads(text: &str, row: &[Range<usize>]) -> bool {
    let named = || row.iter().filter(|cell| !cell.is_empty());
    named().count() >= 2 && named().all(|cell| is_head(text.get(cell.clone()).unwrap_or_default()))
}

/// Whether a column may be called so.
pub(in crate::redact) fn is_head(cell: &str) -> bool {
    let letters = cell.chars().filter(|c| c.is_alphabetic()).count();
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    cell.len() <= HEAD
        && letters > digits
        && cell.split_whitespace().count() <= WORDS
        && !cell.contains(['@', '=', '{', '}', '<', '>', '!', '"'])
        && !cell.ends_with('.')
}

/// Without the blanks, quotes and marks around it.
pub(super) fn trimmed(text: &str, cell: Range<usize>) -> Range<usize> {
    let outer = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*');
    let whole = text.get(cell.clone()).unwrap_or_default();
    let begin = whole.trim_start_matches(outer);
    let start = cell.start + (whole.len() - begin.len());
    start..start + begin.trim_end_matches(outer).len()
}
