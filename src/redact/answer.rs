//! The answer's side: an [`Editor`] that puts originals back where issued surrogates stand ([`Answering::Restore`]),
//! or redacts what the model says by itself ([`Answering::Mask`]).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::redact::encoded::{Strings, Whole};
use crate::redact::index::{Left, More, Seen};
use crate::redact::keys::Keys;
use crate::redact::live::Live;
use crate::redact::opaque::{Look, Named};
use crate::redact::redactor::Redactor;
use crate::redact::report::Counts;
use crate::redact::undo::Undo;
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError};

/// What to do with an answer.
#[derive(Clone, Debug)]
pub enum Answering {
    /// Put originals back.
    Restore(Arc<Undo>),
    /// Redact what is found, by the plan, one way.
    Mask {
        /// Needed where the plan encrypts.
        keys: Keys,
        /// Takes what was replaced.
        counts: Arc<Counts>,
    },
}

/// The editor of one channel of an answer, or of a request that passes. Of a document's strings it edits the texts that
/// they encode, and leaves the bytes in them as they are.
#[derive(Debug)]
pub struct Answer(Strings<Inner>);

#[derive(Debug)]
enum Inner {
    Restore(Restore),
    Mask(Box<Live>),
}

impl Redactor {
    /// Edits one channel of an answer.
    pub fn answer(&self, answering: Answering) -> Answer {
        Answer::new(self, answering)
    }
}

impl Answer {
    /// Puts originals back; needs no detector.
    pub fn restore(undo: Arc<Undo>) -> Self {
        Self(Strings::new(Inner::Restore(Restore::new(undo))))
    }

    pub(super) fn new(redactor: &Redactor, answering: Answering) -> Self {
        match answering {
            Answering::Restore(undo) => Self::restore(undo),
            Answering::Mask { keys, counts } => {
                Self(Strings::new(Inner::Mask(Box::new(redactor.live(&keys, counts)))))
            }
        }
    }

    /// Adds to `unread` the number of strings that nobody reads.
    #[must_use]
    pub fn counting(self, unread: Arc<AtomicU64>) -> Self {
        Self(self.0.counting(unread))
    }
}

impl Editor for Answer {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.0.under(path);
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.0.feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.0.end(edits)
    }
}

impl Whole for Inner {
    fn whole(&mut self, text: &str, look: Look, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self {
            Self::Mask(live) => live.whole(text, look, edits),
            Self::Restore(restore) => {
                let mut all = Vec::new();
                restore.feed(text, &mut all);
                restore.end(&mut all);
                edits.extend(all.into_iter().filter(|edit| look.admits(&edit.range, text.len())));
                Ok(())
            }
        }
    }

    fn named(&mut self, path: &Path<'_>) -> Named {
        match self {
            Self::Mask(live) => live.named(path),
            Self::Restore(_) => Named::of(path, || false),
        }
    }
}

impl Editor for Inner {
    fn under(&mut self, path: Option<&Path<'_>>) {
        if let Self::Mask(live) = self {
            live.under(path);
        }
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        match self {
            Self::Restore(restore) => Ok(restore.feed(piece, edits)),
            Self::Mask(live) => live.feed(piece, edits),
        }
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self {
            Self::Restore(restore) => {
                restore.end(edits);
                Ok(())
            }
            Self::Mask(live) => live.end(edits),
        }
    }
}

/// Finds issued surrogates in text as it passes. Holds back only what may yet become one.
struct Restore {
    undo: Arc<Undo>,
    /// What is held, from this offset on.
    text: String,
    from: usize,
    left: Left,
}

impl Restore {
    fn new(undo: Arc<Undo>) -> Self {
        Self { undo, text: String::new(), from: 0, left: Left::default() }
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> usize {
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

    fn end(&mut self, edits: &mut Vec<Edit>) {
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
