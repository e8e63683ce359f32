//! What [`Offsets`](super::Offsets) point at: where values in a text become longer or shorter, they go with it.

use std::ops::Range;

use crate::edit::{Edit, SourceMap};
use crate::gateway::llm::offsets::CompiledOffsets;
use crate::gateway::llm::piece::Piece;
use crate::gateway::llm::place::{EventDocument, ValuePlace};
use crate::stream::json::Decoded;

impl CompiledOffsets {
    /// Edits the numbers of a document of which these are the texts.
    pub(super) fn edit(&self, told: PointedDocument<'_, '_>, edits: &mut Vec<Edit>) {
        let PointedDocument { data, document, .. } = told;
        for (at, moved) in [(&self.starts, SourceMap::floor as MovedOffset), (&self.ends, SourceMap::ceil)] {
            for positions in document.all(at, None) {
                let unless = |(place, is): &(ValuePlace, &str)| document.is(place, &positions, Some(is));
                if self.unless.as_ref().is_some_and(unless) {
                    continue;
                }
                let Some(piece) = self.text(at, &positions, told) else { continue };
                let Some(number) = document.span(at, &positions) else { continue };
                let Some(offset) = read(data, &number) else { continue };
                let decoded = Decoded::of(data.get(piece.span.clone()).unwrap_or_default());
                let with = moved(&self.map(decoded.text(), &piece.edits), offset);
                if with != offset {
                    edits.push(Edit { range: number, with: with.to_string() });
                }
            }
        }
    }

    /// The text that a number points into, if it changes.
    fn text<'t>(
        &self,
        at: &ValuePlace,
        positions: &[usize],
        PointedDocument { data, document, pieces }: PointedDocument<'t, '_>,
    ) -> Option<&'t Piece> {
        let mut elements = positions.get(..self.of.shared(at))?.to_vec();
        if elements.len() < self.of.elements() {
            let part = self.part.as_ref().and_then(|part| read(data, &document.span(part, positions)?));
            elements.push(part.unwrap_or(0));
        }
        let text = document.span(&self.of, &elements)?;
        let within = text.start + 1..text.end.checked_sub(1)?;
        pieces.iter().find(|piece| piece.span == within && !piece.edits.is_empty())
    }

    /// From the text as it came to what becomes of it.
    fn map(&self, text: &str, edits: &[Edit]) -> SourceMap {
        let (mut map, mut from) = (SourceMap::default(), 0);
        let count = |range: Range<usize>| self.unit.count(text.get(range).unwrap_or_default());
        for Edit { range, with } in edits {
            map.plain(count(from..range.start));
            map.spelled(count(range.clone()), self.unit.count(with));
            from = range.end;
        }
        map
    }
}

/// A document: its bytes, its values and its texts.
#[derive(Clone, Copy)]
pub(super) struct PointedDocument<'t, 'd> {
    pub(super) data: &'t [u8],
    pub(super) document: &'t EventDocument<'d>,
    pub(super) pieces: &'t [Piece],
}

/// Where a number leads.
type MovedOffset = fn(&SourceMap, usize) -> usize;

fn read(data: &[u8], span: &Range<usize>) -> Option<usize> {
    std::str::from_utf8(data.get(span.clone())?).ok()?.parse().ok()
}
