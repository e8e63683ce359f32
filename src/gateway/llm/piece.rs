//! [`Piece`]: the strings of a document of a stream, and what becomes of each.

use std::ops::Range;

use crate::edit::Edit;
use crate::gateway::llm::place::{EventDocument, KeyPart};
use crate::gateway::llm::protocol::CompiledStream;
use crate::stream::json::{JsonToken, Path, Treatment, encoded};

/// Tells channels apart: which delta of the protocol, and the values of its key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ChannelKey {
    pub(super) delta: usize,
    pub(super) parts: Vec<KeyPart>,
}

/// A string of a document, or a name or a number in a value of which nothing is known.
pub(super) struct Piece {
    pub(super) span: Range<usize>,
    pub(super) token: JsonToken,
    /// For each echo of the protocol, the element of it that the string lies in.
    pub(super) elements: Vec<Option<Vec<usize>>>,
    pub(super) kind: PieceKind,
    /// What changes in it, where numbers of the document point into it.
    pub(super) edits: Vec<Edit>,
}

/// What becomes of it.
pub(super) enum PieceKind {
    /// Text that goes on in later documents.
    Delta(DeltaPiece),
    /// Text that is complete, and what becomes of it if it is edited.
    Whole(Option<String>),
    /// A signature: which of the protocol, and the positions of the elements on the way.
    Signature(usize, Vec<usize>),
}

/// A piece of a channel's text.
pub(super) struct DeltaPiece {
    pub(super) key: ChannelKey,
    pub(super) treatment: Treatment,
    /// The positions of the elements on the way.
    pub(super) positions: Vec<usize>,
}

impl PieceKind {
    /// What becomes of a text that is complete, if it is edited.
    pub(super) fn into_edited(self) -> Option<String> {
        match self {
            Self::Whole(edited) => edited,
            Self::Delta(_) | Self::Signature(..) => None,
        }
    }
}

impl Piece {
    /// Replaces it, and what repeats it.
    pub(super) fn edit(
        &self,
        text: &str,
        document: &EventDocument<'_>,
        stream: &CompiledStream,
        edits: &mut Vec<Edit>,
    ) {
        let with = if self.token == JsonToken::Number { text.to_owned() } else { encoded(text) };
        edits.push(Edit { range: self.span.clone(), with });
        for (echo, element) in stream.echoes.iter().zip(&self.elements) {
            let span = element.as_ref().and_then(|element| document.span(&echo.at, element));
            edits.extend(span.map(|range| Edit { range, with: echo.with.to_owned() }));
        }
    }
}

/// Puts edits in order. Texts of one element share what repeats them.
pub(super) fn in_order(edits: &mut Vec<Edit>) {
    edits.sort_by_key(|edit| edit.range.start);
    edits.dedup_by(|next, edit| next.range == edit.range);
}

/// The edits within a span, in order and counted from its beginning.
pub(super) fn within(edits: &[Edit], span: &Range<usize>) -> Vec<Edit> {
    let inner = edits.iter().filter(|edit| span.start <= edit.range.start && edit.range.end <= span.end);
    let from_there = |edit: &Edit| {
        let range = edit.range.start - span.start..edit.range.end - span.start;
        Edit { range, with: edit.with.clone() }
    };
    let mut inner: Vec<Edit> = inner.map(from_there).collect();
    in_order(&mut inner);
    inner
}

/// The channel of a string whose text goes on in later documents.
pub(super) fn delta(
    stream: &CompiledStream,
    path: &Path<'_>,
    document: &EventDocument<'_>,
) -> Option<PieceKind> {
    stream.deltas.iter().enumerate().find_map(|(at, delta)| {
        let positions = delta.at.positions(path)?;
        let fits = |(place, is): &(_, &str)| document.is(place, &positions, Some(is));
        if !delta.when.as_ref().is_none_or(fits) {
            return None;
        }
        let key = ChannelKey { delta: at, parts: document.key(&delta.key, &positions) };
        Some(PieceKind::Delta(DeltaPiece { key, treatment: delta.treatment, positions }))
    })
}

/// The signature that a string is.
pub(super) fn signature(stream: &CompiledStream, path: &Path<'_>) -> Option<PieceKind> {
    let mut signed = stream.signed.iter().enumerate();
    signed.find_map(|(which, signed)| Some(PieceKind::Signature(which, signed.at.positions(path)?)))
}

/// How the keys begin of the channels that a document closes.
pub(super) fn closed(stream: &CompiledStream, document: &EventDocument<'_>) -> Vec<Vec<KeyPart>> {
    let each = stream.closes.iter().flat_map(|close| {
        let all = document.all(&close.at, close.is);
        all.into_iter().map(|positions| document.key(&close.key, &positions))
    });
    each.collect()
}
