//! [`ListReader`]: the entries of lists in statements of SQL.

use std::ops::Range;

use crate::redact::table::row::{CELLS, trimmed};

/// The longest list, in bytes, and the longest word.
const LIST: usize = 16 << 10;
const WORD: usize = 64;
/// The longest word before a text that says how it is written, in bytes: `N'…'`, `_utf8mb4'…'`.
const PREFIX: usize = 8;
/// Words with which a list of what is selected ends.
const ENDS: [&str; 10] =
    ["from", "where", "union", "on", "limit", "returning", "group", "order", "except", "intersect"];

/// How a list was read.
pub(super) struct List {
    /// Up to where.
    pub(super) end: usize,
    /// Whether it is one.
    pub(super) closed: bool,
    /// Whether it has a quote behind a backslash.
    pub(super) escaped: bool,
    /// Whether no word stands behind a text in quotes.
    pub(super) sound: bool,
}

/// Puts the entries of the list that opens at `at` into `row`.
pub(super) fn list(text: &str, at: usize, row: &mut Vec<Range<usize>>) -> List {
    ListReader { text, entries: Entries::Values, escapes: false }.read(at, row)
}

/// What the entries of a list are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// Values, or names: each without its quotes.
    Values,
    /// Columns with their types: each as it is written.
    Columns,
    /// What is selected, in no parentheses: literals without their quotes, and nothing of all else.
    Selected,
}

/// Reads lists.
pub(super) struct ListReader<'t> {
    pub(super) text: &'t str,
    pub(super) entries: Entries,
    /// Whether a backslash in a text makes the next character a part of it, as some servers have it.
    pub(super) escapes: bool,
}

impl ListReader<'_> {
    /// Puts the entries of the list that begins at `at` into `row`.
    pub(super) fn read(&self, at: usize, row: &mut Vec<Range<usize>>) -> List {
        row.clear();
        let bytes = self.text.as_bytes();
        let selected = self.entries == Entries::Selected;
        let mut done = List { end: at, closed: false, escaped: false, sound: true };
        if !selected && bytes.get(at) != Some(&b'(') {
            return done;
        }
        let start = if selected { at } else { at + 1 };
        done.end = bytes.len().min(at + LIST);
        let (mut entry, mut here) = (ListEntry::at(start), start);
        let (mut depth, mut quote) = (0usize, None);
        while let Some(&byte) = bytes.get(here).filter(|_| here < done.end) {
            match (quote, byte) {
                (Some(_), b'\\') => {
                    done.escaped |= matches!(bytes.get(here + 1), Some(b'\'' | b'"'));
                    here += usize::from(self.escapes);
                }
                // A quote in a text is written twice, which closes it and opens it again.
                (Some(open), _) if byte == open => {
                    quote = None;
                    entry.close(here, depth);
                    done.sound &= !is_before_word(bytes, here + 1);
                }
                (Some(_), _) => {}
                (None, b'\'' | b'"' | b'`') => {
                    quote = Some(byte);
                    entry.open(here, depth);
                }
                (None, b'-' | b'/' | b'#') => {
                    if let Some(end) = comment(self.text, here) {
                        entry.comment(self.text, here..end);
                        here = end;
                        continue;
                    }
                }
                (None, b'(') => depth += 1,
                (None, b')') if depth > 0 => depth -= 1,
                (None, _) if depth == 0 && self.ends_entry(here, byte) => {
                    row.push(entry.cell(self, here));
                    entry = ListEntry::at(here + 1);
                    if byte != b',' {
                        done.end = here + usize::from(!selected);
                        done.closed = true;
                        return done;
                    }
                    if row.len() > CELLS {
                        done.end = here;
                        return done;
                    }
                }
                (None, _) => {}
            }
            here += 1;
        }
        if selected && quote.is_none() && done.end == bytes.len() {
            row.push(entry.cell(self, done.end));
            done.closed = true;
        }
        done
    }

    /// Whether an entry ends at `at`, where this byte stands.
    fn ends_entry(&self, at: usize, byte: u8) -> bool {
        match byte {
            b',' | b')' => true,
            _ if self.entries != Entries::Selected => false,
            b';' => true,
            _ if byte.is_ascii_alphabetic() => {
                let before = at.checked_sub(1).and_then(|before| self.text.as_bytes().get(before));
                before.is_some_and(u8::is_ascii_whitespace) && is_of(&ENDS, word(self.text, at))
            }
            _ => false,
        }
    }
}

/// An entry of a list that is read.
struct ListEntry {
    start: usize,
    /// Where its first text in quotes begins and ends, and how many there are.
    literal: Range<usize>,
    literals: usize,
    /// Where a comment begins behind it.
    commented: Option<usize>,
}

impl ListEntry {
    const fn at(start: usize) -> Self {
        Self { start, literal: start..start, literals: 0, commented: None }
    }

    /// A comment stands at `range`: before the entry, or behind it.
    fn comment(&mut self, text: &str, range: Range<usize>) {
        if text.get(self.start..range.start).is_some_and(|before| before.trim_ascii().is_empty()) {
            self.start = range.end;
        } else {
            self.commented.get_or_insert(range.start);
        }
    }

    /// A quote opens at `at`.
    fn open(&mut self, at: usize, depth: usize) {
        // A quote in a text is written twice.
        let again = self.literals > 0 && at == self.literal.end + 1;
        if depth > 0 || again {
            return;
        }
        self.literals += 1;
        if self.literals == 1 {
            self.literal = at + 1..at + 1;
        }
    }

    /// A quote closes at `at`.
    fn close(&mut self, at: usize, depth: usize) {
        if depth == 0 && self.literals == 1 {
            self.literal.end = at;
        }
    }

    /// What of the entry that ends before `end` is its cell.
    fn cell(&self, reader: &ListReader<'_>, end: usize) -> Range<usize> {
        let text = reader.text;
        let end = self.commented.unwrap_or(end);
        let whole = trimmed(text, self.start..end);
        let is_number = |cell: &str| cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match (reader.entries, self.literal_of(text, end)) {
            (Entries::Columns, _) => space(text, self.start)..end,
            (_, Some(literal)) => literal,
            (Entries::Values, None) => whole,
            (Entries::Selected, None) => {
                let value = text.get(whole.clone()).is_some_and(is_number);
                if value { whole } else { whole.start..whole.start }
            }
        }
    }

    /// Where the text stands that the entry is, perhaps with a word for how it is written, a type or a name.
    fn literal_of(&self, text: &str, end: usize) -> Option<Range<usize>> {
        let before = text.get(self.start..self.literal.start.checked_sub(1)?)?.trim_start();
        let behind = text.get(self.literal.end + 1..end)?;
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.') || c.is_whitespace();
        let fits = self.literals == 1
            && before.len() <= PREFIX
            && before.chars().all(|c| c.is_alphanumeric() || c == '_')
            && behind.chars().all(word);
        fits.then(|| self.literal.clone())
    }
}

/// Whether a word stands behind the blanks at `at`.
fn is_before_word(bytes: &[u8], at: usize) -> bool {
    let mut rest = bytes.iter().skip(at).take(WORD).skip_while(|byte| **byte == b' ');
    rest.next().is_some_and(u8::is_ascii_alphanumeric)
}

/// Behind blanks, line ends and comments at `at`.
pub(super) fn space(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        at += rest.len() - rest.trim_start().len();
        match comment(text, at) {
            Some(end) => at = end,
            None => return at,
        }
    }
}

/// Where the comment ends that begins at `at`, if one does.
pub(super) fn comment(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if let Some(inner) = rest.strip_prefix("/*") {
        return Some(inner.find("*/").map_or(text.len(), |end| at + end + 4));
    }
    let before = text.get(..at)?.trim_end_matches([' ', '\t']);
    let begins = before.is_empty() || before.ends_with('\n');
    let hash = rest.starts_with("# ") || begins && rest.starts_with('#');
    let line = || at + rest.find('\n').unwrap_or(rest.len());
    (hash || rest.starts_with("--")).then(line)
}

/// The word at `at`.
pub(super) fn word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = rest.bytes().take(WORD).take_while(is_inner).count();
    rest.get(..length).unwrap_or_default()
}

/// Whether a word is one of these, in any case.
pub(super) fn is_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, entries: Entries, escapes: bool) -> Vec<&str> {
        let mut row = Vec::new();
        ListReader { text, entries, escapes }.read(0, &mut row);
        row.into_iter().map(|cell| text.get(cell).unwrap()).collect()
    }

    #[test]
    fn entries_are_without_quotes() {
        for (text, expected) in [
            ("(1, 'a''b', N'c', 'd'::text, \"e\")", &["1", "a''b", "c", "d", "e"][..]),
            ("('a(,)', f('b', 2), 'c' || 'd', NULL)", &["a(,)", "f('b', 2)", "c' || 'd", "NULL"]),
            ("(a, `b c`, [d])", &["a", "b c", "[d]"]),
            ("('')", &[""]),
            ("(1, -- it's, of\n 'a' /* b, c */, 'd')", &["1", "a", "d"]),
            ("(a int, # the id\n b)", &["a int", "b"]),
        ] {
            assert_eq!(read(text, Entries::Values, false), expected, "{text}");
        }
    }

    #[test]
    fn a_backslash_is_an_escape_where_it_is_one() {
        assert_eq!(read("('it\\'s', 'b')", Entries::Values, true), ["it\\'s", "b"]);
        assert_eq!(read("('C:\\', 'b')", Entries::Values, false), ["C:\\", "b"]);
    }

    #[test]
    fn of_what_is_selected_literals_are_read() {
        for (text, expected) in [
            ("1, 'a', 'b' AS c, d, f('e') FROM t", &["1", "a", "b", "", ""][..]),
            ("'a', 'b from c'; next", &["a", "b from c"]),
            ("'a'", &["a"]),
        ] {
            assert_eq!(read(text, Entries::Selected, false), expected, "{text}");
        }
    }
}
