//! The answer's side: an [`Editor`] that puts originals back where issued surrogates stand ([`AnswerTreatment::Restore`]),
//! redacts what is found ([`AnswerTreatment::Mask`]), or does both in one window ([`AnswerTreatment::Both`]).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::redact::encoded::{Strings, WholeEditor};
use crate::redact::file::FileClass;
use crate::redact::keys::Keys;
use crate::redact::live::Live;
use crate::redact::opaque::{PathHint, ScanMode};
use crate::redact::redactor::Redactor;
use crate::redact::report::RedactionCounts;
use crate::redact::restore::{FoundSurrogate, Restore};
use crate::redact::surrogate_map::SurrogateMap;
use crate::redact::urls::UrlPolicy;
use crate::stream::json::Path;
use crate::stream::{Edit, Editor, StreamError, TextUse};

/// What to do with an answer.
#[derive(Clone, Debug)]
pub enum AnswerTreatment {
    /// Put originals back.
    Restore(Arc<SurrogateMap>),
    /// Redact what is found, by the plan, one way.
    Mask {
        /// Needed where the plan encrypts.
        keys: Keys,
        /// Takes what was replaced.
        counts: Arc<RedactionCounts>,
    },
    /// Put originals back, and redact what else is found: what the model says by itself.
    Both {
        /// What was issued.
        undo: Arc<SurrogateMap>,
        /// Needed where the plan encrypts.
        keys: Keys,
        /// Takes what was redacted.
        counts: Arc<RedactionCounts>,
        /// Takes how many originals were put back.
        restored: Arc<AtomicU64>,
    },
}

/// The editor of one channel of an answer, or of a request that passes. Of a document's strings it edits the texts that
/// they encode, and leaves the bytes in them as they are.
#[derive(Debug)]
pub struct AnswerEditor(Strings<AnswerTextEditor>);

#[derive(Debug)]
enum AnswerTextEditor {
    Restore(Box<Restore>),
    Mask(Box<Live>),
}

impl Redactor {
    /// Edits one channel of an answer.
    pub fn answer(&self, answering: AnswerTreatment) -> AnswerEditor {
        AnswerEditor::new(self, answering)
    }
}

impl AnswerEditor {
    /// Puts originals back; needs no detector.
    pub fn restore(undo: Arc<SurrogateMap>) -> Self {
        Self(Strings::new(AnswerTextEditor::Restore(Box::new(Restore::new(undo)))))
    }

    /// Puts originals back where surrogates stand as they were issued, and in no other spelling: in text that must go back
    /// as it came, such as what a provider signed.
    #[must_use]
    pub fn exactly(self) -> Self {
        Self(self.0.map(|inner| match inner {
            AnswerTextEditor::Restore(restore) => AnswerTextEditor::Restore(Box::new(restore.exactly())),
            AnswerTextEditor::Mask(live) => AnswerTextEditor::Mask(Box::new(live.exactly())),
        }))
    }

    pub(super) fn new(redactor: &Redactor, answering: AnswerTreatment) -> Self {
        match answering {
            AnswerTreatment::Restore(undo) => Self::restore(undo),
            AnswerTreatment::Mask { keys, counts } => {
                Self(Strings::new(AnswerTextEditor::Mask(Box::new(redactor.live(&keys, counts)))))
            }
            AnswerTreatment::Both { undo, keys, counts, restored } => {
                let live = redactor.live(&keys, counts).restoring(Restore::new(undo), restored);
                Self(Strings::new(AnswerTextEditor::Mask(Box::new(live))))
            }
        }
    }

    /// In URLs, restores originals as `policy` says; without one, all.
    #[must_use]
    pub fn with_urls(self, policy: UrlPolicy) -> Self {
        Self(self.0.map(|inner| match inner {
            AnswerTextEditor::Restore(restore) => {
                AnswerTextEditor::Restore(Box::new(restore.with_urls(policy)))
            }
            AnswerTextEditor::Mask(live) => AnswerTextEditor::Mask(Box::new(live.with_urls(policy))),
        }))
    }

    /// Refuses bodies with files of these classes in strings.
    #[must_use]
    pub fn refusing(self, files: Vec<FileClass>) -> Self {
        Self(self.0.refusing(files))
    }

    /// Adds to `unread` the number of strings that nobody reads.
    #[must_use]
    pub fn counting(self, unread: Arc<AtomicU64>) -> Self {
        Self(self.0.counting(unread))
    }
}

impl Editor for AnswerEditor {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.0.under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.0.used_as(text);
    }

    fn unread(&mut self) {
        self.0.unread();
    }

    fn is_lossy(&self) -> bool {
        self.0.is_lossy()
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        self.0.seal(text, signature)
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.0.feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.0.end(edits)
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.0.last(piece, edits)
    }
}

/// The edits of those that do not stay.
fn restored(found: Vec<FoundSurrogate>) -> impl Iterator<Item = Edit> {
    found.into_iter().filter(|known| !known.kept).map(|known| known.edit)
}

impl WholeEditor for AnswerTextEditor {
    fn whole(&mut self, text: &str, look: ScanMode, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        match self {
            Self::Mask(live) => live.whole(text, look, edits),
            Self::Restore(restore) => {
                let mut all = Vec::new();
                restore.last(text, &mut all);
                edits.extend(restored(all).filter(|edit| look.admits(&edit.range, text.len())));
                Ok(())
            }
        }
    }

    fn named(&mut self, path: &Path<'_>) -> PathHint {
        match self {
            Self::Mask(live) => live.named(path),
            Self::Restore(_) => PathHint::of(path, || false),
        }
    }
}

impl Editor for AnswerTextEditor {
    fn under(&mut self, path: Option<&Path<'_>>) {
        if let Self::Mask(live) = self {
            live.under(path);
        }
    }

    fn used_as(&mut self, text: TextUse) {
        match self {
            Self::Restore(restore) => restore.used_as(text),
            Self::Mask(live) => live.used_as(text),
        }
    }

    fn is_lossy(&self) -> bool {
        matches!(self, Self::Mask(live) if live.is_lossy())
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        match self {
            Self::Mask(live) => live.seal(text, signature),
            Self::Restore(_) => None,
        }
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        match self {
            Self::Restore(restore) => {
                let mut found = Vec::new();
                let decided = restore.feed(piece, &mut found);
                edits.extend(restored(found));
                Ok(decided)
            }
            Self::Mask(live) => live.feed(piece, edits),
        }
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.last("", edits)
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.whole(piece, ScanMode::Text, edits)
    }
}
