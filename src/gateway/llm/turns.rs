//! [`Turns`]: whose turn it is in a stream whose texts come one after another.
//!
//! Servers are few that send texts side by side, letter by letter; but what is cut there is no value any more. So where a text goes on
//! that had ended, none of that answer ends another from then on.

use std::collections::{HashMap, HashSet};

use crate::gateway::llm::piece::{ChannelKey, DeltaPiece, Piece, PieceKind};
use crate::gateway::llm::place::{EventDocument, KeyPart};
use crate::gateway::llm::protocol::CompiledStream;

/// The most texts that are remembered to have ended: where there were more, none ends another, since nobody could tell whether they
/// come side by side.
const MOST: usize = 256;

/// Blanks as JSON spells them.
const BLANKS: [&[u8]; 4] = [b" ", b"\\n", b"\\t", b"\\r"];

/// What turns there were.
#[derive(Default)]
pub(super) struct Turns {
    /// Texts that ended since another's turn came.
    ended: Vec<ChannelKey>,
    /// The first values of the keys of texts that come side by side.
    mixed: HashSet<Option<KeyPart>>,
}

/// The texts that go on in a document with one first value of their key.
#[derive(Default)]
struct ActiveTexts {
    /// The numbers of their rules.
    rules: Vec<usize>,
    /// Those of rules that go by keys, the last of each run.
    keys: Vec<ChannelKey>,
}

/// The turns of one document.
#[derive(Default)]
pub(super) struct DocumentTurns {
    active: HashMap<Option<KeyPart>, ActiveTexts>,
    /// The pieces of texts that end where another goes on in the same document.
    complete: HashSet<usize>,
}

impl DocumentTurns {
    /// Whether a text ends that had no piece in the document.
    pub(super) fn is_overtaken(&self, stream: &CompiledStream, key: &ChannelKey) -> bool {
        let Some(own) = rule(stream, key) else { return false };
        self.active.get(&key.parts.first().cloned()).is_some_and(|active| {
            active.rules.iter().any(|rule| *rule != own) || active.keys.iter().any(|other| other != key)
        })
    }

    /// Whether the text of this piece ends with it.
    pub(super) fn is_complete(&self, piece: usize) -> bool {
        self.complete.contains(&piece)
    }
}

impl Turns {
    /// Whose turn it is in a document.
    pub(super) fn of(
        &mut self,
        stream: &CompiledStream,
        document: &EventDocument<'_>,
        data: &[u8],
        pieces: &[Piece],
    ) -> DocumentTurns {
        let mut turns = DocumentTurns::default();
        if stream.in_turn.is_empty() {
            return turns;
        }
        let mut texts: Vec<(usize, &ChannelKey, usize)> = Vec::new();
        let mut last: HashMap<Option<&KeyPart>, (usize, &ChannelKey)> = HashMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            let PieceKind::Delta(DeltaPiece { key, .. }) = &piece.kind else { continue };
            let Some(own) = rule(stream, key) else { continue };
            if !has_text(data.get(piece.span.clone()).unwrap_or_default()) {
                continue;
            }
            if stream.in_turn.get(own).is_some_and(|turn| turn.by_key) {
                if let Some((before, _)) =
                    last.insert(key.parts.first(), (at, key)).filter(|(_, other)| *other != key)
                {
                    turns.complete.insert(before);
                }
            } else if self.ended.contains(key) {
                self.mixed.insert(key.parts.first().cloned());
            }
            texts.push((at, key, own));
        }
        for (_, key, own) in &texts {
            self.go_on(&mut turns, key.parts.first().cloned(), *own);
        }
        for (_, key) in last.into_values() {
            turns.active.entry(key.parts.first().cloned()).or_default().keys.push(key.clone());
        }
        for (own, turn) in stream.in_turn.iter().enumerate() {
            let delta = turn.of.first().and_then(|delta| stream.deltas.get(*delta));
            let key = delta.and_then(|delta| delta.key.get(..1)).unwrap_or_default();
            for place in &turn.begins {
                for positions in document.all(place, None) {
                    if !document.is(place, &positions, Some("")) {
                        self.go_on(&mut turns, document.key(key, &positions).into_iter().next(), own);
                    }
                }
            }
        }
        for (at, key, own) in texts {
            let active = turns.active.get(&key.parts.first().cloned());
            if active.is_some_and(|active| active.rules.iter().any(|rule| *rule > own)) {
                turns.complete.insert(at);
                self.end(key);
            }
        }
        turns
    }

    /// A text goes on with this first value of its key, by this rule.
    fn go_on(&self, turns: &mut DocumentTurns, first: Option<KeyPart>, rule: usize) {
        if self.ended.len() < MOST && !self.mixed.contains(&first) {
            let active = turns.active.entry(first).or_default();
            if !active.rules.contains(&rule) {
                active.rules.push(rule);
            }
        }
    }

    /// A text has ended, since another's turn came.
    pub(super) fn end(&mut self, key: &ChannelKey) {
        if self.ended.len() < MOST && !self.ended.contains(key) {
            self.ended.push(key.clone());
        }
    }
}

/// The number of the rule of a text.
fn rule(stream: &CompiledStream, key: &ChannelKey) -> Option<usize> {
    stream.in_turn.iter().position(|turn| turn.of.contains(&key.delta))
}

/// Whether a text, as JSON spells it, says anything: blanks alone stand between any.
fn has_text(spelled: &[u8]) -> bool {
    let mut rest = spelled;
    while let Some(behind) = BLANKS.iter().find_map(|blank| rest.strip_prefix(*blank)) {
        rest = behind;
    }
    !rest.is_empty()
}
