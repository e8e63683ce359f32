//! [`NamePlace`]: where a name stands in a document.

use std::ops::Range;

/// Where a name stands in a document, in few bytes: there may be many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NamePlace {
    start: u32,
    length: u16,
}

impl NamePlace {
    /// A place; `None` where it is too long or too far away.
    pub(super) fn of(span: &Range<usize>) -> Option<Self> {
        let length = u16::try_from(span.len()).ok()?;
        u32::try_from(span.start).ok().map(|start| Self { start, length })
    }

    /// Where it begins.
    pub(super) fn start(self) -> usize {
        usize::try_from(self.start).unwrap_or(usize::MAX)
    }

    /// What stands there.
    pub(super) fn text(self, doc: &[u8]) -> Option<&[u8]> {
        doc.get(self.start()..self.start().checked_add(usize::from(self.length))?)
    }
}
