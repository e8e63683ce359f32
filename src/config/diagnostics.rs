//! Collects what is wrong while a file is read, by byte offset, and knows what is wrong only in consequence: what
//! was taken out because it was wrong must not be reported as missing too.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::config::problem::{Problem, Problems};

/// Something wrong at a byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    pub(crate) at: usize,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// All that is wrong so far.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    found: Vec<Diagnostic>,
    /// What is not there and need not be.
    missing: Vec<Diagnostic>,
    /// What is right and may not be meant.
    doubts: Vec<Diagnostic>,
    /// Key and where its table begins.
    lost: BTreeSet<(String, usize)>,
    /// Lines whose syntax is wrong: byte range and text.
    broken: Vec<(Range<usize>, String)>,
}

impl Diagnostics {
    pub(crate) fn say(&mut self, at: usize, message: impl Into<String>) {
        self.push(Diagnostic { at, message: message.into(), hint: None });
    }

    pub(crate) fn hint(&mut self, at: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Diagnostic { at, message: message.into(), hint: Some(hint.into()) });
    }

    /// What is pointed to is not there, and need not be.
    pub(crate) fn miss(&mut self, at: usize, message: impl Into<String>) {
        self.missing.push(Diagnostic { at, message: message.into(), hint: None });
    }

    /// It can be used, and may not be meant.
    pub(crate) fn doubt(&mut self, at: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.doubts.push(Diagnostic { at, message: message.into(), hint: Some(hint.into()) });
    }

    /// What may not be meant, with line and column.
    pub(crate) fn doubts(&mut self, file: &str, text: &str) -> Vec<Problem> {
        std::mem::take(&mut self.doubts).into_iter().map(|mistake| placed(mistake, file, text)).collect()
    }

    /// What is not there, with line and column.
    pub(crate) fn missing(&mut self, file: &str, text: &str) -> Vec<Problem> {
        std::mem::take(&mut self.missing).into_iter().map(|mistake| placed(mistake, file, text)).collect()
    }

    pub(crate) fn push(&mut self, mistake: Diagnostic) {
        self.found.push(mistake);
    }

    /// The entry `key` of the table that begins at `table` was taken out, whole or in part.
    pub(crate) fn lose(&mut self, table: usize, key: &str) {
        self.lost.insert((key.to_owned(), table));
    }

    /// Whether something within is wrong already.
    pub(crate) fn within(&self, span: &Range<usize>) -> bool {
        self.found.iter().any(|mistake| span.start < mistake.at && mistake.at < span.end)
    }

    /// These lines could not be read.
    pub(crate) fn broke(&mut self, lines: Range<usize>, text: &str) {
        self.broken.push((lines, text.to_owned()));
    }

    /// Whether `key` of the table that begins at `table` was in the file, but wrong.
    pub(crate) fn lost(&self, table: usize, key: &str) -> bool {
        self.lost.contains(&(key.to_owned(), table)) || self.unread(key)
    }

    /// Whether any table's entry of that name was in the file, but wrong.
    pub(crate) fn lost_anywhere(&self, key: &str) -> bool {
        self.lost.iter().any(|(lost, _)| lost == key) || self.unread(key)
    }

    fn unread(&self, key: &str) -> bool {
        self.broken.iter().any(|(_, text)| text.split(|c| !is_bare(c)).any(|word| word == key))
    }

    /// With line and column; what was said about lines that could not be read stays unsaid, save for their syntax.
    pub(crate) fn settle(self, file: &str, text: &str, syntax: Vec<Diagnostic>) -> Option<Problems> {
        let broken = self.broken;
        let sound = self.found.into_iter().filter(|m| !broken.iter().any(|(lines, _)| lines.contains(&m.at)));
        Problems::new(sound.chain(syntax).map(|mistake| placed(mistake, file, text)).collect())
    }
}

fn placed(mistake: Diagnostic, file: &str, text: &str) -> Problem {
    let (line, column) = position(text, mistake.at);
    let Diagnostic { message, hint, .. } = mistake;
    Problem { file: file.to_owned(), line, column, message, hint }
}

/// Whether TOML takes the character in a key without quotes.
fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Line and column (in characters), both from 1, of a byte offset; a text of nothing has no places.
fn position(text: &str, at: usize) -> (usize, usize) {
    if text.is_empty() {
        return (0, 0);
    }
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let shown = before.get(start..).unwrap_or_default().trim_start_matches('\u{feff}');
    (line, shown.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn columns_count_characters() {
        let text = "a = \"é\" # x\nb";
        let cases = [(0, (1, 1)), (4, (1, 5)), (9, (1, 9)), (13, (2, 1)), (14, (2, 2)), (99, (2, 2))];
        for (at, want) in cases {
            assert_eq!(position(text, at), want, "{at}");
        }
        assert_eq!(position("", 0), (0, 0));
    }
}
