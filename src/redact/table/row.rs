//! [`RowReader`]: who is shown rows; cells, and what may be their heads.

use std::ops::Range;

/// The most cells of a row.
pub(in crate::redact) const CELLS: usize = 256;
/// The longest head, in bytes, and the most words of one.
const HEAD: usize = 48;
const WORDS: usize = 6;
/// What the names of fields end in that says only that one writes there.
const FIELDS: &[&str] =
    &["field", "input", "box", "textbox", "textfield", "inputfield", "entry", "edit", "control"];

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
        && !cell.ends_with(['.', ';'])
        && !cell.contains("()")
}

/// Without the blanks around it, and without pairs of quotes and marks: one alone is a sign of the value.
pub(super) fn trimmed(text: &str, cell: Range<usize>) -> Range<usize> {
    let mut inner = cell;
    loop {
        let whole = text.get(inner.clone()).unwrap_or_default();
        let begin = whole.trim_start();
        let start = inner.start + (whole.len() - begin.len());
        inner = start..start + begin.trim_end().len();
        match text.as_bytes().get(inner.clone()) {
            Some([first @ (b'"' | b'\'' | b'`' | b'*'), .., last]) if first == last => {
                inner = inner.start + 1..inner.end - 1;
            }
            _ => return inner,
        }
    }
}

/// The name of a field of a form, without words at its end for where one writes.
pub(in crate::redact) fn subject(name: &str) -> &str {
    let mut said = name;
    loop {
        let begin = said.trim_end_matches(|c: char| !c.is_alphanumeric());
        let head = begin.trim_end_matches(char::is_alphanumeric);
        let last = begin.get(head.len()..).unwrap_or_default();
        let ends = FIELDS.iter().any(|end| end.eq_ignore_ascii_case(last));
        if !ends || !head.contains(char::is_alphanumeric) {
            return said;
        }
        said = head.trim_end_matches(|c: char| !c.is_alphanumeric());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_not_called_as_code_is_written() {
        for (cell, head) in [
            ("password", true),
            ("Amount (EUR)", true),
            ("password.as_bytes()", false),
            ("&mut password);", false),
            ("password = 1", false),
            ("See below.", false),
        ] {
            assert_eq!(is_head(cell), head, "{cell}");
        }
    }

    #[test]
    fn cells_are_without_pairs_around_them() {
        for (cell, inner) in [
            (" a ", "a"),
            ("\"a\"", "a"),
            ("**`a`** ", "a"),
            ("\"\"\"a\"\"\"", "a"),
            ("a*", "a*"),
            ("'a", "'a"),
            ("\"", "\""),
            ("''", ""),
            (" ", ""),
        ] {
            assert_eq!(cell.get(trimmed(cell, 0..cell.len())), Some(inner), "{cell}");
        }
    }

    #[test]
    fn where_one_writes_is_no_part_of_a_name() {
        for (name, said) in [
            ("Password field", "Password"),
            ("#password-input", "#password"),
            ("SSN input field", "SSN"),
            ("Password", "Password"),
            ("input", "input"),
            ("Text box", "Text"),
        ] {
            assert_eq!(subject(name), said, "{name}");
        }
    }
}
