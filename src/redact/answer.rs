//! The answer's side: an [`Editor`] that puts originals back where issued surrogates stand ([`AnswerTreatment::Restore`]),
//! redacts what is found ([`AnswerTreatment::Mask`]), or does both in one window ([`AnswerTreatment::Both`]).

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::base::quota::Quota;
use crate::redact::encoded::{Strings, WholeEditor};
use crate::redact::file::FileClass;
use crate::redact::keys::Keys;
use crate::redact::live::Live;
use crate::redact::opaque::{PathHint, ScanMode};
use crate::redact::redactor::Redactor;
use crate::redact::report::RedactionCounts;
use crate::redact::restore::{FoundSurrogate, Restore};
use crate::redact::signed::BlockSeal;
use crate::redact::surrogate_map::{FindingLimits, SurrogateMap};
use crate::redact::urls::UrlPolicy;
use crate::stream::json::{Path, PathSet};
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

/// The largest value that is looked through while its answer passes, in bytes: a millisecond or two.
const LOOKED_AT: usize = 64 << 10;

/// What reads an answer when its caller sends it again, as clients of models do with all that was said.
#[derive(Clone, Debug)]
pub struct NextRequest {
    redactor: Redactor,
    keys: Keys,
}

impl NextRequest {
    /// Requests are redacted so, under these keys.
    pub fn new(redactor: Redactor, keys: &Keys) -> Self {
        // What is tried is not issued, and takes from nobody's share.
        let keys = Keys { quota: Quota::default(), recall: keys.recall.unchanged(), ..keys.clone() };
        Self { redactor, keys }
    }

    /// Whether it makes `signed` of `given`, both JSON. What takes long to know, while a stream waits, counts as another.
    fn makes(&self, given: &str, signed: &str) -> bool {
        static EVERYTHING: PathSet = PathSet::everything();
        if given.len() > LOOKED_AT || self.redactor.detector.reads_names() || self.redactor.hears() {
            return false;
        }
        let read =
            self.redactor.document(given.as_bytes(), &EVERYTHING, &self.keys, FindingLimits::default());
        read.is_ok_and(|(redacted, _)| redacted.value() == signed.as_bytes())
    }
}

/// The editor of one channel of an answer, or of a request that passes. Of a document's strings it edits the texts that
/// they encode, and leaves the bytes in them as they are.
#[derive(Debug)]
pub struct AnswerEditor {
    strings: Strings<AnswerTextEditor>,
    next: Option<NextRequest>,
    /// What was issued, if it is put back.
    undo: Option<Arc<SurrogateMap>>,
    urls: Option<UrlPolicy>,
}

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
        let known = Arc::clone(&undo);
        Self::by(AnswerTextEditor::Restore(Box::new(Restore::new(undo)))).undoing(known)
    }

    pub(super) fn new(redactor: &Redactor, answering: AnswerTreatment) -> Self {
        match answering {
            AnswerTreatment::Restore(undo) => Self::restore(undo),
            AnswerTreatment::Mask { keys, counts } => {
                Self::by(AnswerTextEditor::Mask(Box::new(redactor.live(&keys, counts))))
            }
            AnswerTreatment::Both { undo, keys, counts, restored } => {
                let restore = Restore::new(Arc::clone(&undo));
                let live = redactor.live(&keys, counts).restoring(restore, restored);
                Self::by(AnswerTextEditor::Mask(Box::new(live))).undoing(undo)
            }
        }
    }

    fn by(editor: AnswerTextEditor) -> Self {
        Self { strings: Strings::new(editor), next: None, undo: None, urls: None }
    }

    fn undoing(self, undo: Arc<SurrogateMap>) -> Self {
        Self { undo: Some(undo), ..self }
    }

    fn map(self, change: impl FnOnce(Strings<AnswerTextEditor>) -> Strings<AnswerTextEditor>) -> Self {
        Self { strings: change(self.strings), ..self }
    }

    /// The answer may come back in a request that is read so: what its provider signed can be sealed then.
    #[must_use]
    pub fn with_next_request(self, next: Option<NextRequest>) -> Self {
        Self { next, ..self }
    }

    /// In URLs, restores originals as `policy` says; without one, all.
    #[must_use]
    pub fn with_urls(self, policy: UrlPolicy) -> Self {
        // What is only tried is not counted.
        let urls = Some(UrlPolicy { kept: Arc::default(), ..policy.clone() });
        Self { urls, ..self }.map(|strings| {
            strings.map(|inner| match inner {
                AnswerTextEditor::Restore(restore) => {
                    AnswerTextEditor::Restore(Box::new(restore.with_urls(policy)))
                }
                AnswerTextEditor::Mask(live) => AnswerTextEditor::Mask(Box::new(live.with_urls(policy))),
            })
        })
    }

    /// Refuses bodies with files of these classes in strings.
    #[must_use]
    pub fn refusing(self, files: Vec<FileClass>) -> Self {
        self.map(|strings| strings.refusing(files))
    }

    /// Adds to `unread` the number of strings that nobody reads.
    #[must_use]
    pub fn counting(self, unread: Arc<AtomicU64>) -> Self {
        self.map(|strings| strings.counting(unread))
    }
}

impl Editor for AnswerEditor {
    fn under(&mut self, path: Option<&Path<'_>>) {
        self.strings.under(path);
    }

    fn used_as(&mut self, text: TextUse) {
        self.strings.used_as(text);
    }

    fn unread(&mut self) {
        self.strings.unread();
    }

    fn comes_back_as(&self, given: &str, signed: &str) -> bool {
        self.next.as_ref().is_none_or(|next| next.makes(given, signed))
    }

    fn seal(&self, text: &str, signature: &str) -> Option<String> {
        BlockSeal::new(&self.next.as_ref()?.keys).seal(text, signature)
    }

    fn restorer(&self) -> Option<Box<dyn Editor>> {
        let undo = self.undo.as_ref().filter(|undo| !undo.is_empty())?;
        let restore = Restore::new(Arc::clone(undo));
        let restore = match &self.urls {
            Some(urls) => restore.with_urls(urls.clone()),
            None => restore,
        };
        Some(Box::new(AnswerTextEditor::Restore(Box::new(restore))))
    }

    fn feed(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<usize, StreamError> {
        self.strings.feed(piece, edits)
    }

    fn end(&mut self, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.strings.end(edits)
    }

    fn last(&mut self, piece: &str, edits: &mut Vec<Edit>) -> Result<(), StreamError> {
        self.strings.last(piece, edits)
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
        match self {
            Self::Restore(restore) => restore.under(path),
            Self::Mask(live) => live.under(path),
        }
    }

    fn used_as(&mut self, text: TextUse) {
        match self {
            Self::Restore(restore) => restore.used_as(text),
            Self::Mask(live) => live.used_as(text),
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::redact::fixture::{document, keys, redactor};
    use crate::redact::method::Method;
    use crate::redact::recall::{IssuedToCaller, Recall};

    /// Notes what is issued.
    #[derive(Default)]
    struct Noting(Mutex<Vec<Vec<u8>>>);

    impl IssuedToCaller for Noting {
        fn has(&self, canonical: &[u8]) -> bool {
            self.0.lock().unwrap().iter().any(|one| one == canonical)
        }

        fn add(&self, canonical: &[u8]) {
            self.0.lock().unwrap().push(canonical.to_owned());
        }
    }

    #[test]
    fn what_puts_back_masks_nothing_and_is_none_where_nothing_was_issued() {
        let said = "Mail jane.doe@harbour-post.com, or tom@elsewhere-post.com";
        let given = format!("\"{said}\"");
        let (sent, _, undo) = document(&given, &PathSet::everything());
        let sent = sent.trim_matches('"');
        let restored = AnswerEditor::restore(Arc::new(undo)).with_urls(UrlPolicy::default()).restorer();
        let mut edits = Vec::new();
        restored.unwrap().last(sent, &mut edits).unwrap();
        assert_eq!(crate::edit::spliced_text(sent, &edits), said);
        assert!(AnswerEditor::restore(Arc::new(SurrogateMap::nothing())).restorer().is_none());
        let counts = Arc::new(RedactionCounts::new(redactor(Method::Mask).detector().rule_count()));
        let masking = AnswerTreatment::Mask { keys: keys(), counts };
        assert!(redactor(Method::Mask).answer(masking).restorer().is_none());
    }

    #[test]
    fn what_comes_back_otherwise_is_sealed_and_trying_it_issues_nothing() {
        let issued = Arc::new(Noting::default());
        let recall = Recall { caller: Some(Arc::clone(&issued) as _), ..Recall::default() };
        let keys = Keys { recall, ..keys() };
        let next = NextRequest::new(redactor(Method::Encrypt), &keys);
        let editor = AnswerEditor::restore(Arc::new(SurrogateMap::nothing())).with_next_request(Some(next));
        let given = "\"Mail jane.doe@harbour-post.com about order 1001.\"";
        let (signed, ..) = document(given, &PathSet::everything());
        assert_ne!(signed, given);
        // A value of the caller's, which gets its surrogate again; one of the model's, which would get one; and none.
        for (signed, same) in [(signed.as_str(), true), (given, false)] {
            assert_eq!(editor.comes_back_as(given, signed), same, "{signed}");
        }
        assert!(editor.comes_back_as("\"order 1001\"", "\"order 1001\""));
        let long = format!("\"{}\"", "x".repeat(LOOKED_AT));
        assert!(!editor.comes_back_as(&long, &long), "nobody waits for so much");
        assert!(editor.seal("text", "c2lnbmVk").is_some_and(|ours| ours.ends_with("c2lnbmVk")));
        assert!(issued.0.lock().unwrap().is_empty());
        // Where requests pass as they are, nothing is sealed.
        let editor = AnswerEditor::restore(Arc::new(SurrogateMap::nothing()));
        assert!(editor.comes_back_as(given, given) && editor.seal("text", "c2lnbmVk").is_none());
    }
}
