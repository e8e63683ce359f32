//! [`DocumentValue`]: a value where it stands in a document.

use std::ops::Range;

use crate::stream::json::Path;

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
}
