//! [`TurnTaking`]: texts of a stream that come one after another, so that where one goes on the others are complete. Servers that
//! say side by side what a model thinks, says and calls are known by that, and then no text ends where another goes on.

use std::collections::HashMap;

use crate::gateway::llm::piece::{ChannelKey, DeltaPiece, Piece, PieceKind};
use crate::gateway::llm::place::KeyPart;
use crate::gateway::llm::protocol::{CompiledStream, CompiledTurn};

/// A text that goes on within so many documents of the one that took its turn comes beside others.
const BESIDE: u32 = 8;

/// A text that has something to say in a document, where texts come one after another.
pub(super) struct ActiveText<'p> {
    /// Which.
    pub(super) of: &'p ChannelKey,
    /// The piece of the text whose turn it was before in the same document.
    pub(super) before: Option<usize>,
}

impl ActiveText<'_> {
    /// Whether another text, which `may_end` where it is, ends as this one goes on. Where they alternate it is over in any case.
    pub(super) fn ends(&self, stream: &CompiledStream, other: &ChannelKey, may_end: bool) -> bool {
        self.of.ends(stream, other) && (may_end || self.of.turn(stream).is_some_and(|turn| turn.by_key))
    }
}

/// Whose turn it is in a stream, and was.
#[derive(Default)]
pub(super) struct TurnTaking {
    documents: u32,
    seen: Vec<SeenText>,
    /// Whether texts come side by side.
    beside: bool,
}

struct SeenText {
    key: ChannelKey,
    /// In which document another took its turn.
    overtaken: Option<u32>,
}

impl TurnTaking {
    /// The texts whose turn it is in the next document, in order.
    pub(super) fn next<'p>(&mut self, stream: &CompiledStream, pieces: &'p [Piece]) -> Vec<ActiveText<'p>> {
        if self.beside || stream.in_turn.is_empty() {
            return Vec::new();
        }
        self.documents = self.documents.saturating_add(1);
        let turns = turns(stream, pieces);
        turns.iter().for_each(|turn| self.take(stream, turn.of));
        if self.beside { Vec::new() } else { turns }
    }

    /// It is the turn of this text.
    fn take(&mut self, stream: &CompiledStream, key: &ChannelKey) {
        let (now, mut known) = (self.documents, false);
        for seen in &mut self.seen {
            if seen.key == *key {
                known = true;
                let again = seen.overtaken.take().is_some_and(|at| now - at <= BESIDE);
                self.beside |= again && key.turn(stream).is_some_and(|turn| !turn.by_key);
            } else if key.ends(stream, &seen.key) {
                seen.overtaken.get_or_insert(now);
            }
        }
        if !known {
            self.seen.push(SeenText { key: key.clone(), overtaken: None });
        }
    }
}

impl ChannelKey {
    /// Whether another text ends where this one goes on.
    pub(super) fn ends(&self, stream: &CompiledStream, other: &Self) -> bool {
        let (Some(mine), Some(theirs)) = (self.turn(stream), other.turn(stream)) else { return false };
        let apart = !std::ptr::eq(mine, theirs) || mine.by_key && self != other;
        apart && self.parts.first() == other.parts.first()
    }

    /// The texts that this one may go on beside, where others come before or behind.
    fn turn<'s>(&self, stream: &'s CompiledStream) -> Option<&'s CompiledTurn> {
        stream.in_turn.iter().find(|turn| turn.deltas.contains(&self.delta))
    }
}

/// The texts whose turn it is in a document, in order.
fn turns<'p>(stream: &CompiledStream, pieces: &'p [Piece]) -> Vec<ActiveText<'p>> {
    let mut turns: Vec<ActiveText<'p>> = Vec::new();
    let mut last: HashMap<Option<&KeyPart>, (usize, &'p ChannelKey)> = HashMap::new();
    for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| !piece.span.is_empty()) {
        let PieceKind::Delta(DeltaPiece { key, .. }) = &piece.kind else { continue };
        if key.turn(stream).is_some() {
            let before = last.insert(key.parts.first(), (at, key));
            let before = before.filter(|(_, before)| key.ends(stream, before)).map(|(at, _)| at);
            turns.push(ActiveText { of: key, before });
        }
    }
    turns
}
