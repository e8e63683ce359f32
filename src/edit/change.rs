//! [`Edit`]: one change to a text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::map::SourceMap;

/// Replace `range` by `with`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit<T = String> {
    /// Byte offsets of a text, on character boundaries.
    pub range: Range<usize>,
    /// What to write there.
    pub with: T,
}

impl<T> Edit<T> {
    /// The same change to what spells the text: where `map` leads, written as `spell` says.
    pub fn through<U>(self, map: &SourceMap, spell: impl FnOnce(T) -> U) -> Edit<U> {
        Edit { range: map.range(self.range), with: spell(self.with) }
    }

    /// The same change to a text in which this one begins at `at`.
    #[must_use]
    pub fn behind(self, at: usize) -> Self {
        Self { range: self.range.start + at..self.range.end + at, with: self.with }
    }
}

impl<T> std::fmt::Debug for Edit<T> {
    // `with` may be a restored original.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Edit({:?})", self.range)
    }
}
