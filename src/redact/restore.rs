//! [`Restore`]: issued surrogates in text as it passes, and what they stand for.

use std::ops::Range;
use std::sync::Arc;

use crate::edit::Edit;
use crate::redact::index::More;
use crate::redact::left_context::LeftContext;
use crate::redact::preceding::{PassedText, PrecedingContext};
use crate::redact::surrogate_map::{LookupResult, SurrogateMap};
use crate::redact::urls::{RestoreDecision, RestoreInUrls, UrlGuard, UrlPolicy};
use crate::stream::TextUse;
use crate::stream::json::{Path, Segment};

/// A surrogate that was found.
pub(super) struct FoundSurrogate {
    /// What puts its original back.
    pub(super) edit: Edit,
    /// The number of its value.
    pub(super) entry: u32,
    /// Whether it stays as it is.
    pub(super) kept: bool,
}

/// Takes surrogates in order.
type SurrogateVisitor<'e> = &'e mut dyn FnMut(FoundSurrogate);

/// Finds issued surrogates in text as it passes. Holds back only what may yet become one.
pub(super) struct Restore {
    undo: Arc<SurrogateMap>,
    /// What is held, from this offset on.
    text: String,
    from: usize,
    /// What stands before that.
    passed: PassedText,
    left: LeftContext,
    urls: Option<UrlPolicy>,
    /// Keeps values out of URLs.
    guard: Option<UrlGuard>,
}

impl Restore {
    pub(super) fn new(undo: Arc<SurrogateMap>) -> Self {
        Self {
            undo,
            text: String::new(),
            from: 0,
            passed: PassedText::default(),
            left: LeftContext::default(),
            urls: None,
            guard: None,
        }
    }

    /// In URLs, originals are restored as `policy` says.
    #[must_use]
    pub(super) fn with_urls(self, policy: UrlPolicy) -> Self {
        let mut restore = Self { urls: Some(policy), ..self };
        restore.used_as(TextUse::Text);
        restore
    }

    /// What the next text is.
    pub(super) fn used_as(&mut self, text: TextUse) {
        let Some(urls) = &self.urls else { return };
        let rule = match text {
            TextUse::Text | TextUse::Id | TextUse::Record => urls.texts,
            TextUse::Argument => urls.arguments,
            TextUse::Url => RestoreInUrls::On,
        };
        let kept = || Arc::clone(&urls.kept);
        self.guard = match rule {
            RestoreInUrls::On => None,
            RestoreInUrls::Off => Some(UrlGuard::new(None, kept())),
            RestoreInUrls::SameHost => Some(UrlGuard::new(Some(Arc::clone(self.undo.hosts())), kept())),
        };
    }

    /// The next text is the value of the member that `path` ends with: its name stands before it.
    pub(super) fn under(&mut self, path: Option<&Path<'_>>) {
        self.passed.clear();
        if let Some(Segment::Key(name)) = path.and_then(Path::last) {
            self.passed.push(name.as_bytes());
            self.passed.push(b": ");
        }
    }

    /// Sees the next piece; returns up to where all is decided.
    pub(super) fn feed(&mut self, piece: &str, found: &mut Vec<FoundSurrogate>) -> usize {
        if self.undo.is_empty() {
            self.from += piece.len();
            return self.from;
        }
        let see: SurrogateVisitor<'_> = &mut |known| found.push(known);
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

    /// Sees the last piece, with which the text ends; begins again at 0.
    pub(super) fn last(&mut self, piece: &str, found: &mut Vec<FoundSurrogate>) {
        let see: SurrogateVisitor<'_> = &mut |known| found.push(known);
        // Where nothing was issued, nothing is looked for.
        let piece = if self.undo.is_empty() { "" } else { piece };
        if self.text.is_empty() {
            return self.finish(piece.as_bytes(), see);
        }
        let mut text = std::mem::take(&mut self.text);
        text.push_str(piece);
        self.finish(text.as_bytes(), see);
    }

    /// Shows `see` all of a whole text.
    pub(super) fn whole(&mut self, text: &str, see: SurrogateVisitor<'_>) {
        self.finish(text.as_bytes(), see);
    }

    fn finish(&mut self, text: &[u8], see: SurrogateVisitor<'_>) {
        self.settle(text, More::No, see);
        self.from = 0;
        self.passed.clear();
        self.left = LeftContext::default();
        self.guard.iter_mut().for_each(UrlGuard::clear);
    }

    /// Goes through `text` up to where it must wait; returns how far that is.
    fn settle(&mut self, text: &[u8], more: More, see: SurrogateVisitor<'_>) -> usize {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let begins = rest.iter().position(|&byte| self.undo.may_begin(byte));
            let (skipped, rest) = rest.split_at(begins.unwrap_or(rest.len()));
            self.left = self.left.behind(skipped);
            if let Some(guard) = &mut self.guard {
                guard.wrote(skipped);
            }
            at += skipped.len();
            let Some(&byte) = rest.first() else { break };
            // Within a word nothing begins but last digits, and nearly all of a text is within words.
            let letters = self.left.letters_of_word(rest);
            if letters > 0 {
                self.guard.iter_mut().for_each(|guard| guard.wrote(rest.get(..letters).unwrap_or_default()));
                at += letters;
                continue;
            }
            match self.seek(text, at, self.left, more) {
                LookupResult::Wait => break,
                LookupResult::No => {
                    self.left = self.left.after(byte);
                    self.guard.iter_mut().for_each(|guard| guard.wrote(&[byte]));
                    at += 1;
                }
                LookupResult::Found { len, with, entry } => {
                    let found = text.get(at..at + len).unwrap_or_default();
                    let Some(kept) = self.keeps(text, at..at + len, &with, more) else { break };
                    let left = found.iter().fold(self.left, |left, &byte| left.after(byte));
                    if let Some(guard) = &mut self.guard {
                        guard.decided(!kept, if kept { found } else { with.as_bytes() });
                    }
                    see(FoundSurrogate {
                        edit: Edit { range: self.from + at..self.from + at + len, with },
                        entry,
                        kept,
                    });
                    self.left = left;
                    at += len;
                }
            }
        }
        self.from += at;
        self.passed.push(text.get(..at).unwrap_or_default());
        at
    }

    /// What begins at `at`, behind what ends like `left`.
    fn seek(&self, text: &[u8], at: usize, left: LeftContext, more: More) -> LookupResult {
        let (behind, rest) = text.split_at_checked(at).unwrap_or_default();
        let Some(&byte) = rest.first().filter(|byte| self.undo.may_begin(**byte)) else {
            return LookupResult::No;
        };
        let before = PrecedingContext { passed: &self.passed, text: behind, left };
        match before.may_begin(byte) {
            true => self.undo.seek(before, rest, more),
            false => LookupResult::No,
        }
    }

    /// Whether the surrogate at `found` stays as it is, since its original would leave in a URL;
    /// `None` while more text must be seen.
    fn keeps(&mut self, text: &[u8], found: Range<usize>, with: &str, more: More) -> Option<bool> {
        let Some(guard) = &mut self.guard else { return Some(false) };
        let mut ahead = match guard.begin() {
            RestoreDecision::Yes => return Some(false),
            RestoreDecision::No => return Some(true),
            RestoreDecision::If(ahead) => ahead,
        };
        // How it would read with this and what follows put back.
        ahead.wrote(with.as_bytes());
        let mut at = found.end;
        let mut left =
            text.get(found).unwrap_or_default().iter().fold(self.left, |left, &byte| left.after(byte));
        loop {
            if let Some(home) = ahead.leads_home() {
                return Some(!home);
            }
            let Some(&byte) = text.get(at) else { break };
            let len = match self.seek(text, at, left, more) {
                LookupResult::Wait => return None,
                LookupResult::No => {
                    ahead.wrote(&[byte]);
                    1
                }
                LookupResult::Found { len, with, .. } => {
                    ahead.cut();
                    ahead.wrote(with.as_bytes());
                    ahead.cut();
                    len
                }
            };
            let read = text.get(at..at + len).unwrap_or_default();
            left = read.iter().fold(left, |left, &byte| left.after(byte));
            at += len;
        }
        match more {
            More::Yes => None,
            More::No => Some(!ahead.led_home()),
        }
    }
}

impl std::fmt::Debug for Restore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Restore({:?}, {} bytes held)", self.undo, self.text.len())
    }
}
