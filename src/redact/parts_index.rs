//! [`PartsIndex`]: where a text is spelled like a part of a surrogate.

use std::collections::HashSet;

use crate::redact::index::{CaseComparison, Index};
use crate::redact::issued::IssuedSurrogate;
use crate::redact::parts::parts_of;

/// The parts by which surrogates may be known.
pub(super) struct PartsIndex {
    /// Of how many values.
    pub(super) of: usize,
    /// Each with the number of its value.
    parts: Vec<(usize, String)>,
    index: Index,
}

impl PartsIndex {
    /// Of what `of` values have issued, each with its value's number.
    pub(super) fn new(of: usize, issued: impl Iterator<Item = (usize, IssuedSurrogate)>) -> Self {
        let numbers = issued.map(|(number, issued)| (number, IssuedSurrogate { parts: true, ..issued }));
        let parts: Vec<(usize, String)> = numbers
            .flat_map(|(number, issued)| parts_of(&issued).map(|part| (number, part)).collect::<Vec<_>>())
            .collect();
        let index = Index::new(parts.iter().zip(0..).map(|((_, text), at)| (text.as_bytes().into(), at)));
        Self { of, parts, index }
    }

    /// The numbers of the values of which a part stands in a text.
    pub(super) fn present(&self, text: &[u8]) -> HashSet<usize> {
        if self.index.is_empty() {
            return HashSet::new();
        }
        let mut present: HashSet<&str> = HashSet::new();
        self.index.all(text, CaseComparison::Folded, &mut |_, at| {
            present.extend(self.parts.get(at as usize).map(|(_, part)| part.as_str()));
        });
        if present.is_empty() {
            return HashSet::new();
        }
        let standing = self.parts.iter().filter(|(_, part)| present.contains(part.as_str()));
        standing.map(|(number, _)| *number).collect()
    }
}
