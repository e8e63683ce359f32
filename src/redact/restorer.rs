//! [`Restorer`]: puts originals back where surrogates of a context stand.

use std::ops::Range;
use std::sync::Arc;

use crate::base::checkpoint::Checkpoint;
use crate::crypto::fpe::FpeKey;
use crate::edit::{Edit, spliced_text};
use crate::redact::answer::AnswerEditor;
use crate::redact::encrypt::Ff1Inverse;
use crate::redact::error::RedactError;
use crate::redact::fpe_context::{ContextGroup, FpeContext, Print};
use crate::redact::index::joined;
use crate::redact::issued::SurrogateIdentity;
use crate::redact::left_context::LeftContext;
use crate::redact::surrogate_map::SurrogateMap;
use crate::stream::Editor;

/// Bytes other than letters and digits that may stand between two groups of a number.
const GAP: usize = 3;

impl FpeContext {
    /// Makes it ready to restore; `key` is the one it names.
    pub fn restorer(self, key: Arc<FpeKey>) -> Restorer {
        let undo = Arc::new(SurrogateMap::of(self.issued));
        Restorer { groups: self.groups.into(), undo, key, checkpoint: Checkpoint::default() }
    }
}

/// Puts originals back where surrogates stand that were issued. Cheap to clone.
#[derive(Clone)]
pub struct Restorer {
    groups: Arc<[ContextGroup]>,
    undo: Arc<SurrogateMap>,
    key: Arc<FpeKey>,
    /// Asked whether the work goes on.
    checkpoint: Checkpoint,
}

impl std::fmt::Debug for Restorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Restorer({} groups)", self.groups.len())
    }
}

impl Restorer {
    /// The same, asking whether to go on as it works.
    #[must_use]
    pub fn with_checkpoint(self, checkpoint: Checkpoint) -> Self {
        Self { checkpoint, ..self }
    }

    /// The text with originals where surrogates stood.
    ///
    /// # Errors
    /// [`RedactError::Stopped`]; a surrogate that the key cannot decrypt.
    pub fn text(&self, text: &str) -> Result<String, RedactError> {
        Ok(spliced_text(text, &self.edits(text)?))
    }

    /// What is to be changed in a text, in order.
    pub(super) fn edits(&self, text: &str) -> Result<Vec<Edit>, RedactError> {
        let mut edits = Vec::new();
        if !self.undo.is_empty() {
            let mut answer = AnswerEditor::restore(Arc::clone(&self.undo));
            // What is held back is decided at the end; neither step can fail.
            let _ = answer.feed(text, &mut edits);
            let _ = answer.end(&mut edits);
        }
        let mut from = 0;
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut permuted = Vec::new();
        let mut left = LeftContext::default();
        while at < bytes.len() {
            while edits.get(from).is_some_and(|edit| edit.range.end <= at) {
                from += 1;
            }
            // What travels with its original goes before what only looks like a print.
            if let Some(edit) = edits.get(from).filter(|edit| edit.range.contains(&at)) {
                left = left.behind(bytes.get(at..edit.range.end).unwrap_or_default());
                at = edit.range.end;
                continue;
            }
            let limit = edits.get(from).map_or(bytes.len(), |edit| edit.range.start);
            let starts = !self.groups.is_empty()
                && bytes.get(at).is_some_and(|byte| begins(*byte) && left.admits(*byte));
            let found = if starts { self.seek(bytes, at, limit)? } else { None };
            let next = match found {
                Some((end, group)) => {
                    let with = self.decrypt(group, text, at..end)?;
                    permuted.push(Edit { range: at..end, with });
                    end
                }
                None => at + 1,
            };
            left = bytes.get(at..next).unwrap_or_default().iter().fold(left, |left, &byte| left.after(byte));
            at = next;
        }
        edits.extend(permuted);
        edits.sort_by_key(|edit| edit.range.start);
        Ok(edits)
    }

    /// The longest surrogate that begins at `at`: where it ends, and how it is undone.
    fn seek(
        &self,
        text: &[u8],
        at: usize,
        limit: usize,
    ) -> Result<Option<(usize, &ContextGroup)>, RedactError> {
        self.checkpoint.pass()?;
        let longest = |group| Some((seek(group, text, at, limit)?, group));
        Ok(self.groups.iter().filter_map(longest).max_by_key(|(end, _)| *end))
    }

    fn decrypt(&self, group: &ContextGroup, text: &str, range: Range<usize>) -> Result<String, RedactError> {
        let surrogate = text.get(range).unwrap_or_default();
        let Ff1Inverse { alphabet, tweak } = &group.permuted;
        let mut numbers = alphabet.numbers(surrogate);
        self.key.decrypt(alphabet.radix(), tweak, &mut numbers)?;
        Ok(alphabet.write(surrogate, &numbers))
    }
}

/// Where the longest of the group's surrogates ends that begins at `at`, before `limit`.
fn seek(group: &ContextGroup, text: &[u8], at: usize, limit: usize) -> Option<usize> {
    let (mut print, mut count, mut gap, mut best) = (Print::default(), 0, 0, None);
    let grouped = group.spelling == SurrogateIdentity::Grouped;
    for (place, byte) in text.iter().enumerate().take(limit).skip(at) {
        if grouped && !byte.is_ascii_alphanumeric() {
            gap += 1;
            if count == 0 || gap > GAP || *byte == b'\n' {
                break;
            }
            continue;
        }
        gap = 0;
        print = print.with(byte);
        count += 1;
        if count > group.longest {
            break;
        }
        let ends = text.get(place + 1).is_none_or(|next| !joined(*byte, *next) && begins(*next));
        if ends && group.prints.contains(&print.value()) {
            best = Some(place + 1);
        }
    }
    best
}

/// Whether a character begins with this byte.
const fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}
