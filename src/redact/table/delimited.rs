//! Rows that are lines: what spreadsheets export, tables of Markdown, what databases' shells print, columns of blanks.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};

use crate::redact::table::row::{CELLS, RowReader, are_heads, trimmed};

/// The longest line that is a row, in bytes.
const LINE: usize = 16 << 10;

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
    let mut lines = TextLines { text, at: 0 }.peekable();
    let mut row = Vec::new();
    while let Some(line) = lines.next() {
        let Some(TableForm { delimiter, numbered }) =
            lines.peek().and_then(|next| heads(text, &line, next, &mut row))
        else {
            continue;
        };
        reader.heads(&row);
        let count = row.len() + usize::from(numbered);
        while let Some(line) = lines.peek() {
            if !is_rule(part(text, line)) {
                if !cells(text, line, delimiter, &mut row) || row.len() != count {
                    break;
                }
                reader.row(row.get(usize::from(numbered)..).unwrap_or_default());
            }
            lines.next();
        }
    }
}

fn part<'t>(text: &'t str, line: &Range<usize>) -> &'t str {
    text.get(line.clone()).unwrap_or_default()
}

/// What parts the heads that a line holds, if the next one is a row under them or a rule; the heads are put into `row`.
fn heads(
    text: &str,
    line: &Range<usize>,
    next: &Range<usize>,
    row: &mut Vec<Range<usize>>,
) -> Option<TableForm> {
    if line.is_empty() || next.is_empty() || line.len() > LINE || next.len() > LINE {
        return None;
    }
    let ruled = is_rule(part(text, next));
    DELIMITERS.into_iter().find_map(|delimiter| {
        let (above, under) = (part(text, line), part(text, next));
        let settings = || is_setting(above, delimiter) && is_setting(under, delimiter);
        if !may_part(above, under, delimiter, ruled) || settings() {
            return None;
        }
        let fits = ruled || cells(text, next, delimiter, row);
        let below = row.len();
        let index =
            row.first().is_some_and(|cell| part(text, cell).bytes().all(|byte| byte.is_ascii_digit()));
        // Above the numbers of rows there is nothing.
        let indented = delimiter == Delimiter::Blanks && part(text, line).starts_with("  ");
        let fits = fits && cells(text, line, delimiter, row);
        let numbered = indented && index && !ruled && below == row.len() + 1;
        let fits = fits && (ruled || numbered || row.len() == below);
        (fits && are_heads(text, row)).then_some(TableForm { delimiter, numbered })
    })
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

/// Puts the cells of a line into `row`; says whether there are at least two.
fn cells(text: &str, line: &Range<usize>, delimiter: Delimiter, row: &mut Vec<Range<usize>>) -> bool {
    row.clear();
    let bytes = part(text, line).as_bytes();
    if bytes.len() > LINE {
        return false;
    }
    let (mut start, mut at, mut quoted, mut bare) = (0, 0, false, false);
    while let Some(&byte) = bytes.get(at) {
        let parts = if quoted { 0 } else { parted(bytes, at, delimiter) };
        if parts > 0 {
            row.push(start..at);
            (start, bare) = (at + parts, false);
            if row.len() > CELLS {
                return false;
            }
        } else if byte == b'"' && (quoted || !bare) {
            // A cell in quotes may hold what parts cells; a quote in it is written twice.
            quoted = !quoted;
        } else {
            bare |= byte != b' ';
        }
        at += parts.max(1);
    }
    row.push(start..bytes.len());
    if delimiter != Delimiter::Byte(b'\t') && !matches!(delimiter, Delimiter::Byte(_)) {
        let is_blank =
            |cell: &Range<usize>| bytes.get(cell.clone()).is_some_and(|cell| cell.trim_ascii().is_empty());
        if row.first().is_some_and(is_blank) {
            row.remove(0);
        }
        if row.last().is_some_and(is_blank) {
            row.pop();
        }
    }
    for cell in row.iter_mut() {
        *cell = trimmed(text, line.start + cell.start..line.start + cell.end);
    }
    !quoted && row.len() >= 2
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

/// The lines of a text, without their ends.
struct TextLines<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for TextLines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..length)?;
        let start = self.at;
        self.at += length + 1;
        Some(start..start + line.trim_end_matches('\r').len())
    }
}
