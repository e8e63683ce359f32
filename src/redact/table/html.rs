//! Rows of elements: `<tr><td>…</td>…</tr>` under a row of heads.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use crate::redact::table::row::{CELLS, RowReader, are_heads, trimmed};

/// The longest tag that is read, in bytes.
const TAG: usize = 1024;

/// Shows the rows of a text in HTML, those of each table under its first one.
pub(super) fn read(text: &str, reader: &mut impl RowReader) {
    let mut rows = Rows { text, reader, heads: None, row: Vec::new(), is_open: false };
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
            self.row.push(trimmed(self.text, start..end));
        }
    }

    fn close(&mut self) {
        if !self.is_open {
            return;
        }
        self.is_open = false;
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
