//! [`Offsets`]: numbers of an answer that point into a text of it.

use crate::gateway::llm::place::{PlaceError, ValuePlace};

/// Numbers that point into a text of the same document. Only of what is there whole: what a stream brings in pieces is counted from
/// a beginning that has left.
pub struct Offsets {
    /// The text.
    pub of: &'static str,
    /// Which of the text's innermost elements it is, where the numbers do not stand in that; none: the first.
    pub part: Option<&'static str>,
    /// Where it must not say this, beside the numbers.
    pub unless: Option<(&'static str, &'static str)>,
    /// What they count.
    pub unit: OffsetUnit,
    /// Where what is pointed at begins.
    pub starts: &'static str,
    /// Where it ends.
    pub ends: &'static str,
}

/// What an offset counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetUnit {
    /// Characters of Unicode.
    Character,
    /// Bytes of UTF-8.
    Byte,
}

impl OffsetUnit {
    pub(super) fn count(self, text: &str) -> usize {
        match self {
            Self::Character => text.chars().count(),
            Self::Byte => text.len(),
        }
    }
}

/// The same with its places compiled.
pub(super) struct CompiledOffsets {
    pub(super) of: ValuePlace,
    pub(super) part: Option<ValuePlace>,
    pub(super) unless: Option<(ValuePlace, &'static str)>,
    pub(super) unit: OffsetUnit,
    pub(super) starts: ValuePlace,
    pub(super) ends: ValuePlace,
}

impl CompiledOffsets {
    /// Compiles places with `place`.
    pub(super) fn new(
        offsets: &'static Offsets,
        place: impl Fn(&'static str) -> Result<ValuePlace, PlaceError>,
    ) -> Result<Self, PlaceError> {
        let Offsets { of, part, unless, unit, starts, ends } = offsets;
        let unless = unless.map(|(at, is)| Ok((place(at)?, is))).transpose()?;
        let part = part.map(&place).transpose()?;
        Ok(Self { of: place(of)?, part, unless, unit: *unit, starts: place(starts)?, ends: place(ends)? })
    }
}
