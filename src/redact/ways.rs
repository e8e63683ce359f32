//! [`Ways`]: fingerprints of the way to a value of a document and of all that it leads through; [`NamePlace`]: where a name stands.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::stream::json::Path;

/// The deepest value that is looked at.
const DEEPEST: usize = 32;

/// The fingerprints of a way's beginnings, from the root on.
pub(super) struct Ways([u64; DEEPEST + 1]);

impl Ways {
    /// Those of the way to a value; `None` where it lies too deep.
    pub(super) fn of(path: &Path<'_>) -> Option<Self> {
        if path.len() > DEEPEST {
            return None;
        }
        let mut ways = [0; DEEPEST + 1];
        let mut hasher = DefaultHasher::new();
        for (at, way) in ways.iter_mut().enumerate().take(path.len() + 1) {
            *way = hasher.finish();
            path.segment(at).hash(&mut hasher);
        }
        Some(Self(ways))
    }

    /// That of the first `length` segments.
    pub(super) fn to(&self, length: usize) -> u64 {
        self.0.get(length).copied().unwrap_or_default()
    }
}

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
