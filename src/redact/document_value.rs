//! [`DocumentValue`]: a value where it stands in a document.

use std::ops::Range;

use crate::redact::siblings::{is_value, named_beside};
use crate::stream::json::{Path, Segment};

/// A value in a document.
#[derive(Clone, Copy)]
pub(super) struct DocumentValue<'d> {
    /// The document; nothing where it is not there whole.
    pub(super) doc: &'d [u8],
    pub(super) path: &'d Path<'d>,
    /// Where in the document it begins and ends.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'d> DocumentValue<'d> {
    /// A value of a document.
    pub(super) fn new(doc: &'d [u8], path: &'d Path<'d>, span: &Range<usize>) -> Self {
        Self { doc, path, start: span.start, end: span.end }
    }

    /// A value whose document is not there whole.
    pub(super) fn passing(path: &'d Path<'d>) -> Self {
        Self { doc: &[], path, start: 0, end: 0 }
    }

    /// The name of its member, and where that says only that it is a value, the one that stands beside it.
    pub(super) fn beside(&self) -> Option<String> {
        let own = self.path.last();
        let Some(Segment::Key(_)) = own.filter(|own| matches!(own, Segment::Key(key) if is_value(key)))
        else {
            return None;
        };
        named_beside(self.doc, self.start..self.end)
    }
}
