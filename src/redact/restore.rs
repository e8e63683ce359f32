//! [`Restore`]: issued surrogates in text as it passes, and what they stand for.

use std::sync::Arc;

use crate::edit::Edit;
use crate::redact::index::{Left, More, Seen};
use crate::redact::undo::Undo;

/// Finds issued surrogates in text as it passes. Holds back only what may yet become one.
pub(super) struct Restore {
    undo: Arc<Undo>,
    /// What is held, from this offset on.
    text: String,
    from: usize,
    left: Left,
}

impl Restore {
    pub(super) fn new(undo: Arc<Undo>) -> Self {
        Self { undo, text: String::new(), from: 0, left: Left::default() }
    }

    /// Sees the next piece; returns up to where all is decided.
    pub(super) fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> usize {
        if self.undo.is_empty() {
            self.from += piece.len();
            return self.from;
        }
        if self.text.is_empty() {
            // Most pieces are decided whole: only what is held is copied.
            let done = self.settle(piece.as_bytes(), More::Yes, edits);
            self.text.push_str(piece.get(done..).unwrap_or_default());
            return self.from;
        }
        let mut text = std::mem::take(&mut self.text);
        text.push_str(piece);
        let done = self.settle(text.as_bytes(), More::Yes, edits);
        text.drain(..done.min(text.len()));
        self.text = text;
        self.from
    }

    /// The text has ended: settles the rest and begins again at 0.
    pub(super) fn end(&mut self, edits: &mut Vec<Edit>) {
        let text = std::mem::take(&mut self.text);
        self.settle(text.as_bytes(), More::No, edits);
        self.from = 0;
        self.left = Left::default();
    }

    /// Goes through `text` up to where it must wait; returns how far that is.
    fn settle(&mut self, text: &[u8], more: More, edits: &mut Vec<Edit>) -> usize {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let seen = match text.get(at..) {
                Some(rest) if self.undo.may_begin(byte) && self.left.admits(byte) => {
                    self.undo.seek(rest, more)
                }
                _ => Seen::No,
            };
            match seen {
                Seen::Wait => break,
                Seen::No => {
                    self.left = self.left.after(byte);
                    at += 1;
                }
                Seen::Found { len, entry } => {
                    let range = self.from + at..self.from + at + len;
                    edits.push(Edit { range, with: self.undo.original(entry).to_owned() });
                    let found = text.get(at..at + len).unwrap_or_default();
                    self.left = found.iter().fold(self.left, |left, &byte| left.after(byte));
                    at += len;
                }
            }
        }
        self.from += at;
        at
    }
}

impl std::fmt::Debug for Restore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Restore({:?}, {} bytes held)", self.undo, self.text.len())
    }
}
