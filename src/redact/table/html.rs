//! Rows of elements: `<tr><td>…</td>…</tr>` under a row of heads.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use crate::redact::table::row::{CELLS, RowReader, are_heads, trimmed};

/// The longest tag that is read, in bytes.
const TAG: usize = 1024;
/// How a blank is written that does not break.
const BLANK: &str = "&nbsp;";

/// Shows the rows of a text in HTML, those of each table under its first one.
pub(super) fn read(text: &str, reader: &mut impl RowReader) {
    let mut rows = Rows { text, reader, heads: None, row: Vec::new(), is_open: false, padded: false };
    let bytes = text.as_bytes();
    for open in memchr_iter(b'<', bytes) {
        let name = bytes.get(open + 1..).unwrap_or_default();
        let length =
            name.iter().take(8).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'/').count();
        let mut buffer = [0; 8];
        let Some(place) = buffer.get_mut(..length) else { continue };
        place.copy_from_slice(name.get(..length).unwrap_or_default());
        place.make_ascii_lowercase();
        match &*place {
            b"td" | b"th" if rows.is_open => rows.cell(open),
            b"tr" => {
                rows.close();
                rows.is_open = true;
            }
            b"/tr" => rows.close(),
            b"table" | b"/table" => {
                rows.close();
                rows.heads = None;
            }
            _ => {}
        }
    }
    rows.close();
}

struct Rows<'t, 'r, R> {
    text: &'t str,
    reader: &'r mut R,
    /// How many heads the table has, 0 if its first row names nothing; `None` before that row.
    heads: Option<usize>,
    row: Vec<Range<usize>>,
    is_open: bool,
    /// Whether a cell of the row has blanks around it.
    padded: bool,
}

impl<R: RowReader> Rows<'_, '_, R> {
    /// The cell whose tag opens there: its text up to the next tag.
    fn cell(&mut self, open: usize) {
        let bytes = self.text.as_bytes();
        let tag = bytes.get(open..bytes.len().min(open + TAG)).unwrap_or_default();
        let Some(start) = memchr(b'>', tag).map(|close| open + close + 1) else { return };
        let rest = bytes.get(start..).unwrap_or_default();
        let end = start + memchr(b'<', rest).unwrap_or(rest.len());
        if self.row.len() < CELLS {
            let inner = unpadded(self.text, start..end);
            self.padded |= inner != (start..end);
            self.row.push(trimmed(self.text, inner));
        }
    }

    fn close(&mut self) {
        if !self.is_open {
            return;
        }
        self.is_open = false;
        if let ([name, value], true) = (self.row.as_slice(), self.padded) {
            self.reader.pair(name, value);
        }
        self.padded = false;
        match self.heads {
            None if are_heads(self.text, &self.row) => {
                self.heads = Some(self.row.len());
                self.reader.heads(&self.row);
            }
            None => self.heads = Some(0),
            Some(count) if count > 0 && count == self.row.len() => self.reader.row(&self.row),
            Some(_) => {}
        }
        self.row.clear();
    }
}

/// Without the blanks around it, however they are written.
fn unpadded(text: &str, cell: Range<usize>) -> Range<usize> {
    let mut inner = cell;
    loop {
        let whole = text.get(inner.clone()).unwrap_or_default();
        let begin = whole.trim_start();
        let begin = begin.strip_prefix(BLANK).unwrap_or(begin);
        let end = begin.trim_end();
        let end = end.strip_suffix(BLANK).unwrap_or(end);
        if end.len() == whole.len() {
            return inner;
        }
        let start = inner.end - begin.len();
        inner = start..start + end.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs that are shown.
    struct Pairs<'t>(&'t str, Vec<(&'t str, &'t str)>);

    impl RowReader for Pairs<'_> {
        fn heads(&mut self, _: &[Range<usize>]) {}

        fn row(&mut self, _: &[Range<usize>]) {}

        fn pair(&mut self, name: &Range<usize>, value: &Range<usize>) {
            let text = self.0;
            let part = |at: &Range<usize>| text.get(at.clone()).unwrap();
            self.1.push((part(name), part(value)));
        }
    }

    #[test]
    fn rows_of_two_cells_with_blanks_are_pairs() {
        for (text, expected) in [
            ("<tr><td class=\"e\">Password </td><td>Xk9 </td></tr>", &[("Password", "Xk9")][..]),
            ("<tr><td>Password:&nbsp;</td><td>&nbsp; Xk9</td></tr>", &[("Password:", "Xk9")]),
            ("<tr><td>Password</td><td>Xk9</td></tr>", &[]),
            ("<tr><td>a </td><td>b </td><td>c </td></tr>", &[]),
        ] {
            let mut pairs = Pairs(text, Vec::new());
            read(text, &mut pairs);
            assert_eq!(pairs.1, expected, "{text}");
        }
    }
}
