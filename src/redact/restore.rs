//! [`Restore`]: issued surrogates in text as it passes, and what they stand for.

use std::sync::Arc;

use crate::edit::Edit;
use crate::redact::before::{Before, Passed};
use crate::redact::index::{Left, More};
use crate::redact::surrogate_map::{Reading, Sought, SurrogateMap};

/// Takes an edit, and the number of the value that it is of.
type See<'e> = &'e mut dyn FnMut(Edit, u32);

/// Finds issued surrogates in text as it passes. Holds back only what may yet become one.
pub(super) struct Restore {
    undo: Arc<SurrogateMap>,
    reading: Reading,
    /// What is held, from this offset on.
    text: String,
    from: usize,
    /// What stands before that.
    passed: Passed,
    left: Left,
}

impl Restore {
    pub(super) fn new(undo: Arc<SurrogateMap>) -> Self {
        Self {
            undo,
            reading: Reading::default(),
            text: String::new(),
            from: 0,
            passed: Passed::default(),
            left: Left::default(),
        }
    }

    /// Only exact surrogates count.
    #[must_use]
    pub(super) fn exactly(self) -> Self {
        Self { reading: Reading::Exact, ..self }
    }

    /// Sees the next piece; returns up to where all is decided.
    pub(super) fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> usize {
        if self.undo.is_empty() {
            self.from += piece.len();
            return self.from;
        }
        let see: See<'_> = &mut |edit, _| edits.push(edit);
        if self.text.is_empty() {
            // Most pieces are decided whole: only what is held is copied.
            let done = self.settle(piece.as_bytes(), More::Yes, see);
            self.text.push_str(piece.get(done..).unwrap_or_default());
            return self.from;
        }
        let mut text = std::mem::take(&mut self.text);
        text.push_str(piece);
        let done = self.settle(text.as_bytes(), More::Yes, see);
        text.drain(..done.min(text.len()));
        self.text = text;
        self.from
    }

    /// The text has ended: settles the rest and begins again at 0.
    pub(super) fn end(&mut self, edits: &mut Vec<Edit>) {
        let text = std::mem::take(&mut self.text);
        self.finish(text.as_bytes(), &mut |edit, _| edits.push(edit));
    }

    /// Shows `see` the edits of a whole text, each with the number of the value that it is of.
    pub(super) fn whole(&mut self, text: &str, see: See<'_>) {
        self.finish(text.as_bytes(), see);
    }

    fn finish(&mut self, text: &[u8], see: See<'_>) {
        self.settle(text, More::No, see);
        self.from = 0;
        self.passed.clear();
        self.left = Left::default();
    }

    /// Goes through `text` up to where it must wait; returns how far that is.
    fn settle(&mut self, text: &[u8], more: More, see: See<'_>) -> usize {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let sought = if self.undo.may_begin(self.reading, byte) {
                let (behind, rest) = text.split_at_checked(at).unwrap_or_default();
                let before = Before { passed: &self.passed, text: behind, left: self.left };
                match before.may_begin(byte) {
                    true => self.undo.seek(self.reading, before, rest, more),
                    false => Sought::No,
                }
            } else {
                Sought::No
            };
            match sought {
                Sought::Wait => break,
                Sought::No => {
                    self.left = self.left.after(byte);
                    at += 1;
                }
                Sought::Found { len, with, entry } => {
                    see(Edit { range: self.from + at..self.from + at + len, with }, entry);
                    let found = text.get(at..at + len).unwrap_or_default();
                    self.left = found.iter().fold(self.left, |left, &byte| left.after(byte));
                    at += len;
                }
            }
        }
        self.from += at;
        self.passed.push(text.get(..at).unwrap_or_default());
        at
    }
}

impl std::fmt::Debug for Restore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Restore({:?}, {} bytes held)", self.undo, self.text.len())
    }
}
