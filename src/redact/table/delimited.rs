//! Rows that are lines: what spreadsheets export, tables of Markdown, what databases' shells print, columns of blanks. A cell in
//! quotes may hold line ends (RFC 4180 section 2).

use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

use crate::redact::table::row::{CELLS, RowReader, are_heads, trimmed};

/// The longest row, in bytes.
const LINE: usize = 16 << 10;
/// How much is read for the ends of cells in other lines than theirs, in its bytes.
const SHARE: usize = 2;

/// What parts the cells of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Byte(u8),
    /// A bar, perhaps also before the first cell and behind the last.
    Bar,
    /// Two blanks or more.
    Blanks,
}

const DELIMITERS: [Delimiter; 5] =
    [Delimiter::Byte(b'\t'), Delimiter::Bar, Delimiter::Byte(b';'), Delimiter::Byte(b','), Delimiter::Blanks];

/// How the rows of a table are written.
struct TableForm {
    delimiter: Delimiter,
    /// Whether each row begins with a cell that has no head: its number, as data frames are printed.
    numbered: bool,
}

/// Shows the rows of a text.
pub(super) fn read(text: &str, reader: &mut impl RowReader) {
    let mut lines = DelimitedText { text, left: text.len().saturating_mul(SHARE) };
    let mut row = Vec::new();
    let mut begin = text.len() - text.trim_start_matches('\u{feff}').len();
    while let (Some(line), Some(next)) = (lines.line(begin), lines.line(lines.next(begin))) {
        begin = next.start;
        let Some(TableForm { delimiter, numbered }) = lines.heads(&line, &next, &mut row) else { continue };
        reader.heads(&row);
        let count = row.len() + usize::from(numbered);
        while let Some(line) = lines.line(begin) {
            let mut end = line.end;
            if !is_rule(lines.part(&line)) {
                match lines.row(&line, delimiter, &mut row) {
                    Some(read) if row.len() == count => end = read,
                    _ => break,
                }
                reader.row(row.get(usize::from(numbered)..).unwrap_or_default());
            }
            begin = lines.next(end);
        }
    }
}

/// A text whose lines may be rows.
struct DelimitedText<'t> {
    text: &'t str,
    /// How much more may be read for the ends of cells.
    left: usize,
}

impl<'t> DelimitedText<'t> {
    fn part(&self, line: &Range<usize>) -> &'t str {
        self.text.get(line.clone()).unwrap_or_default()
    }

    /// The line that begins there, without its end.
    fn line(&self, start: usize) -> Option<Range<usize>> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..length)?;
        Some(start..start + line.trim_end_matches('\r').len())
    }

    /// Where the line begins behind that in which `at` is.
    fn next(&self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        memchr(b'\n', rest).map_or(self.text.len(), |end| at + end + 1)
    }

    /// What parts the heads that a line holds, if the next one is a row under them or a rule; the heads are put into `row`.
    fn heads(
        &mut self,
        line: &Range<usize>,
        next: &Range<usize>,
        row: &mut Vec<Range<usize>>,
    ) -> Option<TableForm> {
        if line.is_empty() || next.is_empty() || line.len() > LINE || next.len() > LINE {
            return None;
        }
        let ruled = is_rule(self.part(next));
        DELIMITERS.into_iter().find_map(|delimiter| {
            let (above, under) = (self.part(line), self.part(next));
            let settings = || is_setting(above, delimiter) && is_setting(under, delimiter);
            if !may_part(above, under, delimiter, ruled) || settings() {
                return None;
            }
            let look = CellReader { text: self.text, delimiter, quotes: true, several: false };
            look.read(line, row)?;
            let count = row.len();
            if !are_heads(self.text, row) {
                return None;
            }
            if ruled {
                return Some(TableForm { delimiter, numbered: false });
            }
            self.row(next, delimiter, row)?;
            let below = row.len();
            let index =
                row.first().is_some_and(|cell| self.part(cell).bytes().all(|byte| byte.is_ascii_digit()));
            // Above the numbers of rows there is nothing.
            let indented = delimiter == Delimiter::Blanks && above.starts_with("  ");
            let numbered = indented && index && below == count + 1;
            if !numbered && below != count {
                return None;
            }
            look.read(line, row)?;
            Some(TableForm { delimiter, numbered })
        })
    }

    /// Puts the cells of the row into `row` that begins with this line, if there are at least two; tells where it ends.
    fn row(
        &mut self,
        line: &Range<usize>,
        delimiter: Delimiter,
        row: &mut Vec<Range<usize>>,
    ) -> Option<usize> {
        if line.len() > LINE {
            return None;
        }
        let mut look = CellReader { text: self.text, delimiter, quotes: true, several: false };
        let mut end = look.read(line, row);
        if end.is_none() && matches!(delimiter, Delimiter::Byte(_)) {
            let limit = self.text.len().min(line.start + LINE).min(line.end.saturating_add(self.left));
            look.several = true;
            end = look.read(&(line.start..limit), row);
            self.left -= end.unwrap_or(limit).saturating_sub(line.end);
        }
        if end.is_none() && !matches!(delimiter, Delimiter::Byte(b',' | b';')) {
            // Others than spreadsheets write quotes as they are.
            (look.quotes, look.several) = (false, false);
            end = look.read(line, row);
        }
        end.filter(|_| row.len() >= 2)
    }
}

/// Whether both lines may have as many cells, by a quick look: most lines are prose.
fn may_part(line: &str, next: &str, delimiter: Delimiter, ruled: bool) -> bool {
    let (line, next) = (line.as_bytes(), next.as_bytes());
    match delimiter {
        Delimiter::Byte(sign) => {
            let count = memchr_iter(sign, line).count();
            let quoted = || memchr(b'"', line).is_some() || memchr(b'"', next).is_some();
            count > 0 && (ruled || count == memchr_iter(sign, next).count() || quoted())
        }
        Delimiter::Bar => memchr(b'|', line).is_some() && (ruled || memchr(b'|', next).is_some()),
        Delimiter::Blanks => {
            let has = |line: &[u8]| memmem::find(line.trim_ascii(), b"  ").is_some();
            has(line) && (ruled || has(next))
        }
    }
}

/// Whether a line is a setting whose value stands apart from its name and colon: two of them are no table (`heroku config`).
fn is_setting(line: &str, delimiter: Delimiter) -> bool {
    let line = line.trim_start();
    let end = match delimiter {
        Delimiter::Blanks => line.find("  "),
        Delimiter::Byte(b'\t') => line.find('\t'),
        Delimiter::Byte(_) | Delimiter::Bar => None,
    };
    end.and_then(|end| line.get(..end)).is_some_and(|name| name.trim_end().ends_with(':'))
}

/// A line between heads and rows.
fn is_rule(line: &str) -> bool {
    line.bytes().all(|c| matches!(c, b'-' | b'=' | b'+' | b'|' | b':' | b' ')) && line.contains('-')
}

/// How cells are read.
struct CellReader<'t> {
    text: &'t str,
    delimiter: Delimiter,
    /// Whether a cell in quotes may hold what parts cells.
    quotes: bool,
    /// Whether it may also hold line ends.
    several: bool,
}

impl CellReader<'_> {
    /// Puts the cells of the row that stands there into `row`, and tells where it ends; `None` if a quote is open there.
    fn read(&self, lines: &Range<usize>, row: &mut Vec<Range<usize>>) -> Option<usize> {
        row.clear();
        let bytes = self.text.as_bytes().get(..lines.end)?;
        let (mut start, mut at) = (lines.start, lines.start);
        let (mut quoted, mut bare, mut closed) = (false, false, false);
        while let Some(&byte) = bytes.get(at) {
            if byte == b'\n' && !quoted {
                break;
            }
            let parts = if quoted { 0 } else { parted(bytes, at, self.delimiter) };
            if parts > 0 {
                row.push(start..at);
                (start, bare, closed) = (at + parts, false, false);
                if row.len() > CELLS {
                    return None;
                }
            } else if byte == b'"' && self.quotes && quoted && bytes.get(at + 1) == Some(&b'"') {
                // A quote in a cell in quotes is written twice.
                at += 1;
            } else if byte == b'"' && self.quotes && (quoted || !bare) {
                quoted = !quoted;
                closed = !quoted;
            } else {
                let blank = matches!(byte, b' ' | b'\r');
                if self.several && closed && !blank {
                    return None;
                }
                bare |= !quoted && byte != b' ';
            }
            at += parts.max(1);
        }
        if quoted || self.several && at == lines.end && lines.end < self.text.len() {
            return None;
        }
        row.push(start..at);
        if !matches!(self.delimiter, Delimiter::Byte(_)) {
            self.strip(row);
        }
        for cell in row.iter_mut() {
            *cell = trimmed(self.text, cell.clone());
        }
        Some(at)
    }

    /// Without the empty cells before the first bar and behind the last.
    fn strip(&self, row: &mut Vec<Range<usize>>) {
        let is_blank = |cell: &Range<usize>| {
            self.text.get(cell.clone()).is_some_and(|cell| cell.trim_ascii().is_empty())
        };
        if row.first().is_some_and(is_blank) {
            row.remove(0);
        }
        if row.last().is_some_and(is_blank) {
            row.pop();
        }
    }
}

/// How many bytes part cells at `at`.
fn parted(bytes: &[u8], at: usize, delimiter: Delimiter) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    match delimiter {
        Delimiter::Byte(sign) => usize::from(rest.first() == Some(&sign)),
        Delimiter::Bar => {
            let escaped = at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\\');
            usize::from(rest.first() == Some(&b'|') && !escaped)
        }
        Delimiter::Blanks => match rest.iter().take_while(|&&byte| byte == b' ').count() {
            1 => 0,
            blanks => blanks,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows, each with bars between its cells.
    struct Rows<'t>(&'t str, Vec<String>);

    impl RowReader for Rows<'_> {
        fn heads(&mut self, _: &[Range<usize>]) {}

        fn row(&mut self, row: &[Range<usize>]) {
            let cells: Vec<&str> = row.iter().map(|cell| self.0.get(cell.clone()).unwrap()).collect();
            self.1.push(cells.join("|"));
        }
    }

    fn rows(text: &str) -> Vec<String> {
        let mut rows = Rows(text, Vec::new());
        read(text, &mut rows);
        rows.1
    }

    #[test]
    fn cells_in_quotes_may_hold_line_ends_and_quotes() {
        for (text, expected) in [
            ("id,note\n1,\"a\nb\"\n2,c\n", &["1|a\nb", "2|c"][..]),
            ("id;note\r\n1;\"a\r\n;\r\nb\"\r\n2;c", &["1|a\r\n;\r\nb", "2|c"]),
            ("\u{feff}\"id\",\"note\"\n1,\"x9\"\"Lq2z\"\n", &["1|x9\"\"Lq2z"]),
            ("id\tnote\n1\t\"a\n2\t\"b\"c\n", &["1|\"a", "2|\"b\"c"]),
            ("| id | note |\n|---|---|\n| 1 | \"a |\n| 2 | b\"c |\n", &["1|\"a", "2|b\"c"]),
            ("id,note\n1,\"a\n2,b\n", &[]),
        ] {
            assert_eq!(rows(text), expected, "{text}");
        }
    }

    #[test]
    fn the_look_for_ends_of_cells_is_bounded() {
        let text = "id,note\n1,\"a\n".repeat(3);
        let mut lines = DelimitedText { text: &text, left: 8 };
        let (mut row, line) = (Vec::new(), 8..12);
        assert_eq!(lines.row(&line, Delimiter::Byte(b','), &mut row), None);
        assert_eq!(lines.left, 0);
        assert_eq!(lines.row(&line, Delimiter::Byte(b','), &mut row), None);
    }
}
