//! Editors to test with.

use portcullis::stream::{Edit, Editor, StreamError};

/// Replaces some words, and holds back what may become one.
#[derive(Default)]
pub(crate) struct Censor {
    undecided: String,
    at: usize,
}

/// What is replaced by what: a replacement that needs escapes, a number that stays one and one that does not.
pub(crate) const WORDS: [(&str, &str); 5] = [
    ("secret", "<S>"),
    ("jane@x.org", "\"J\"\\\n"),
    ("4111111111111111", "5000000000000009"),
    ("7654321", "[N]"),
    ("😀é", ""),
];

impl Censor {
    fn settle(&mut self, wait: bool, edits: &mut Vec<Edit>) -> usize {
        let mut from = 0;
        while from < self.undecided.len() {
            let (_, rest) = self.undecided.split_at(from);
            if let Some((word, with)) = WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
                let range = self.at + from..self.at + from + word.len();
                edits.push(Edit { range, with: (*with).to_owned() });
                from += word.len();
            } else if wait && WORDS.iter().any(|(word, _)| word.starts_with(rest)) {
                break;
            } else {
                from += rest.chars().next().unwrap().len_utf8();
            }
        }
        self.undecided.drain(..from);
        self.at += from;
        self.at
    }
}

impl Editor for Censor {
    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.undecided.push_str(piece);
        Ok(self.settle(true, edits))
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.settle(false, edits);
        self.at = 0;
        Ok(())
    }
}

/// What [`Censor`] makes of a whole text.
pub(crate) fn censored(text: &str) -> String {
    let mut edits = Vec::new();
    let mut censor = Censor { undecided: text.to_owned(), at: 0 };
    censor.settle(false, &mut edits);
    let mut out = text.to_owned();
    for edit in edits.into_iter().rev() {
        out.replace_range(edit.range, &edit.with);
    }
    out
}

/// Edits nothing, but decides late: seven characters behind what it has seen.
#[derive(Default)]
pub(crate) struct Silent {
    recent: Vec<usize>,
    at: usize,
}

impl Editor for Silent {
    fn feed(&mut self, piece: &str, _: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.recent.extend(piece.char_indices().map(|(at, _)| self.at + at));
        self.at += piece.len();
        self.recent.drain(..self.recent.len().saturating_sub(7));
        Ok(self.recent.first().copied().unwrap_or(self.at))
    }

    fn end(&mut self, _: &mut Vec<Edit>) -> Result<(), StreamError> {
        *self = Self::default();
        Ok(())
    }
}
