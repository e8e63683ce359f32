//! [`Stats`]: what was removed and changed, and what could not be read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sanitize::ChangedObjects;

/// What a clean file's reader should know besides: things that were not looked into, or lost. Never counted as
/// redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// Pages, slides or parts that consist of images only: no text in them was examined.
    ImageOnly,
    /// Images whose content was not examined.
    Images,
    /// Characters that cannot be told from their glyphs.
    Undecodable,
    /// Signatures, which a change makes invalid, and which were removed.
    Signatures,
    /// Parts of a kind that is not rewritten, passed as they are.
    Passed,
    /// Parts that could not be scanned.
    NotScanned,
    /// Parts that were left out because they cannot be rewritten, or because they are scripts.
    Dropped,
    /// Files whose names did not fit what they are, and were put right.
    Renamed,
}

/// What was done to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// `cdr.file_attachments_removed`.
    pub attachments: u64,
    /// `cdr.interactive_contents_removed`.
    pub interactive: u64,
    /// `defang.defanged_count`: occurrences.
    pub defanged: u64,
    /// Replacements by rule.
    pub redacted: BTreeMap<String, u64>,
    /// What its reader should know, and how often.
    pub notes: BTreeMap<Note, u64>,
    /// What was removed, thing by thing.
    #[serde(default)]
    pub objects: ChangedObjects,
}

impl Stats {
    /// Notes `n` of something.
    pub fn note(&mut self, note: Note, n: u64) {
        if n > 0 {
            let count = self.notes.entry(note).or_default();
            *count = count.saturating_add(n);
        }
    }

    /// Whether anything else was counted than before; notes are about what stays as well.
    pub fn counts_other_than(&self, before: &Self) -> bool {
        let counts = |stats: &Self| (stats.attachments, stats.interactive, stats.defanged);
        counts(self) != counts(before) || self.redacted != before.redacted
    }

    /// How much there was that redaction did not read.
    pub fn unread(&self) -> u64 {
        let unread = [Note::ImageOnly, Note::Images, Note::Undecodable, Note::Passed];
        unread.iter().filter_map(|note| self.notes.get(note)).sum()
    }

    /// Whether nothing was removed or changed.
    pub fn untouched(&self) -> bool {
        self.attachments == 0 && self.interactive == 0 && self.defanged == 0 && self.redacted.is_empty()
    }
}
