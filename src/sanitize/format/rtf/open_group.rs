//! [`OpenGroup`]: a group that is being read.

use std::ops::Range;

use encoding_rs::Encoding;

use crate::sanitize::format::rtf::group::GroupAction;

/// An open group.
#[derive(Clone, Debug)]
pub(super) struct OpenGroup {
    pub(super) start: usize,
    pub(super) place: GroupAction,
    /// `\uc`.
    pub(super) count: u32,
    pub(super) page: &'static Encoding,
    /// Its text is a block of its own.
    pub(super) apart: bool,
    /// So is that of each group in it.
    pub(super) table: bool,
    /// A field within a field's instruction.
    pub(super) nested: bool,
    /// Of a field: control words that go if its instruction does, and whether it does.
    pub(super) words: Vec<Range<usize>>,
    pub(super) gone: bool,
    /// Of an object: the groups that show it. Of a picture: where its bytes stand.
    pub(super) shown: Vec<Range<usize>>,
    /// The control word that made the group what it is.
    pub(super) word: Option<Range<usize>>,
    /// An object's kind, a property's name, or an object's bytes or a picture's in hexadecimal.
    pub(super) collected: Vec<u8>,
    /// It holds a bitmap without the header that files of it have.
    pub(super) bitmap: bool,
    /// It holds an attached file.
    pub(super) package: bool,
}

impl OpenGroup {
    /// One that begins at `start` within another one; where there is none, `page` is the file's.
    pub(super) fn within(around: Option<&Self>, start: usize, page: &'static Encoding) -> Self {
        let place = match around.map_or(GroupAction::Text, |around| around.place) {
            // Only what shows them is read of these.
            GroupAction::Object
            | GroupAction::ObjectData
            | GroupAction::ObjectClass
            | GroupAction::Property => GroupAction::Data,
            GroupAction::Field => GroupAction::Text,
            GroupAction::Gone(_) => GroupAction::Gone(None),
            other => other,
        };
        Self {
            start,
            place,
            count: around.map_or(1, |around| around.count),
            page: around.map_or(page, |around| around.page),
            apart: around.is_some_and(|around| around.table) && place == GroupAction::Text
                || place.is_named(),
            table: false,
            nested: false,
            words: Vec::new(),
            gone: false,
            shown: Vec::new(),
            word: None,
            collected: Vec::new(),
            bitmap: false,
            package: false,
        }
    }
}
