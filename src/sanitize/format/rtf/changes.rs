//! [`PlannedChanges`]: what changes in a file, and what is to be asked about.

use crate::sanitize::format::patch::{Patches, SpelledText};
use crate::sanitize::format::rtf::group::GroupAction;
use crate::sanitize::identifiers::has_form;

/// What changes in a file, and its texts.
#[derive(Default)]
pub(super) struct PlannedChanges {
    pub(super) patches: Patches,
    /// Running text.
    pub(super) blocks: Vec<SpelledText>,
    /// Names that programs give.
    pub(super) names: Vec<SpelledText>,
}

impl PlannedChanges {
    /// Keeps the text of a group that is for this. What a font is called by its form is no value: many are called like people
    /// and places.
    pub(super) fn keep(&mut self, text: SpelledText, place: GroupAction) {
        match place {
            _ if text.text().trim().is_empty() => {}
            GroupAction::Fonts if !has_form(text.text()) => {}
            GroupAction::Names | GroupAction::Fonts => self.names.push(text),
            _ => self.blocks.push(text),
        }
    }
}
