//! [`Deltas`]: texts that go on over the documents of a stream, one channel for each that the protocol tells apart.
//!
//! A channel holds back only what it cannot yet decide; that goes in front of the channel's next text. Before a channel
//! is closed, and at the end, what is held leaves in a document of its own, cloned from the one that brought it; where
//! events are numbered and none can be added, in that one itself, which has waited, and those behind it with it.
//! Everything else in a document stays byte for byte. What the texts are and what closes them is the protocol's data;
//! how documents become a stream is the framer's business.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::edit::{Edit, spliced};
use crate::gateway::llm::piece::{ChannelKey, DeltaPiece, Piece, PieceKind, closed, in_order, within};
use crate::gateway::llm::piece_reader::{EditorFactory, PieceReader};
use crate::gateway::llm::place::EventDocument;
use crate::gateway::llm::place_coverage::says_only;
use crate::gateway::llm::pointed::PointedDocument;
use crate::gateway::llm::protocol::{CompiledCovers, CompiledProtocol, CompiledSigned, CompiledStream};
use crate::gateway::llm::signed::SignedMember;
use crate::gateway::llm::template::EventTemplate;
use crate::gateway::llm::turns::Turns;
use crate::stream::json::{Decoded, Treatment, encoded, half_at_end};
use crate::stream::{Channel, Editor, StreamError, TextUse};

/// The longest text that is kept for its signature, in bytes.
const MOST_SIGNED: usize = 1 << 20;
/// So many texts are open before one is forgotten of which nothing is held: a stream may close none.
const MOST_OPEN: usize = 256;

/// The most texts that one stream may have.
const MOST_CHANNELS: usize = 4096;

/// A document that leaves before the one that is read.
pub(super) struct EarlierDocument {
    /// What stands around it in its stream, or stood around the one that it is cloned from.
    pub(super) envelope: Vec<u8>,
    /// Its bytes.
    pub(super) data: Vec<u8>,
    /// Whether the upstream never sent it.
    pub(super) added: bool,
}

/// Documents that leave before the one that is read.
pub(super) type EarlierDocuments = Vec<EarlierDocument>;

/// What becomes of a document.
pub enum DocumentOutcome {
    /// It leaves as it came.
    Keep,
    /// It leaves so.
    Replace(Vec<u8>),
    /// It would leave so, but says nothing any more: what it brought is held, and what stands beside it others say again. It
    /// can be left out.
    Emptied(Vec<u8>),
    /// It leaves later, among the documents before another.
    Wait,
}

struct OpenChannel {
    key: ChannelKey,
    channel: Channel,
    /// The first half of a character, as JSON spells it, whose second may come in the next document.
    half: Vec<u8>,
    /// What came of it, if a signature will cover it.
    original: Option<String>,
    /// What left of that.
    given: String,
    original_charge: MemoryCharge,
    /// The last document that brought text of it and left some behind.
    template: Option<EventTemplate>,
    charge: MemoryCharge,
}

/// A document that waits, since a channel holds some of its text or of one before it.
struct WaitingDocument {
    envelope: Vec<u8>,
    data: Vec<u8>,
    /// Where the text ends of each channel that holds some of it.
    ends: Vec<(ChannelKey, usize)>,
    _charge: MemoryCharge,
}

/// A document that is read: what stands around it, its bytes and its strings.
struct ReadDocument<'d> {
    envelope: &'d [u8],
    data: &'d [u8],
    pieces: &'d [Piece],
}

impl ReadDocument<'_> {
    /// Has numbers point at what they pointed at in texts that are there whole.
    fn point(&self, document: &EventDocument<'_>, stream: &CompiledStream, edits: &mut Vec<Edit>) {
        if self.pieces.iter().all(|piece| piece.edits.is_empty()) {
            return;
        }
        let told = PointedDocument { data: self.data, document, pieces: self.pieces };
        stream.offsets.iter().for_each(|offsets| offsets.edit(told, edits));
    }
}

/// A string as JSON spells it, in whole characters.
struct JsonString<'d> {
    bytes: Cow<'d, [u8]>,
    /// The half of a character that stood behind them.
    half: Vec<u8>,
}

/// Edits the texts of a stream in a known protocol.
pub(super) struct Deltas {
    reader: PieceReader,
    budget: MemoryBudget,
    open: Vec<OpenChannel>,
    waiting: VecDeque<WaitingDocument>,
    turns: Turns,
}

impl Deltas {
    /// Follows the channels of one stream.
    pub(super) fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &MemoryBudget) -> Self {
        Self {
            reader: PieceReader::new(protocol, editor),
            budget: budget.clone(),
            open: Vec::new(),
            waiting: VecDeque::new(),
            turns: Turns::default(),
        }
    }

    /// Whether a stream may be one array of documents.
    pub(super) fn is_array(&self) -> bool {
        self.reader.protocol().protocol.stream.in_array
    }

    /// Whether this data is no document, but the end of the stream.
    pub(super) fn is_end(&self, data: &[u8]) -> bool {
        let end = self.reader.protocol().protocol.stream.end_data;
        !end.is_empty() && data.trim_ascii() == end
    }

    /// Edits one document of a stream, around which `envelope` stands. Channels that go on are fed, not ended.
    pub(super) fn document(
        &mut self,
        data: &[u8],
        envelope: &[u8],
        before: &mut EarlierDocuments,
    ) -> Result<DocumentOutcome, StreamError> {
        let document = EventDocument::new(data);
        let protocol = Arc::clone(self.reader.protocol());
        let stream = &protocol.stream;
        let Some(pieces) = self.reader.pieces(data, &document)? else {
            self.release(before);
            return Ok(self.reader.unknown(data)?.map_or(DocumentOutcome::Keep, DocumentOutcome::Replace));
        };
        let closed = closed(stream, &document);
        let closes = |key: &ChannelKey| closed.iter().any(|begin| key.parts.starts_with(begin));
        let mut edits: Vec<Edit> = Vec::new();
        let mut touched: Vec<ChannelKey> = Vec::new();
        let turns = self.turns.of(stream, &document, data, &pieces);
        let read = ReadDocument { envelope, data, pieces: &pieces };
        let (mut emptied, mut says) = (false, false);
        for (at, piece) in pieces.iter().enumerate() {
            let text = match &piece.kind {
                PieceKind::Whole(edited) => edited.clone(),
                PieceKind::Signature(..) => None,
                // A document that only closes a channel stays as it is: what is held leaves before it.
                PieceKind::Delta(delta) if piece.span.is_empty() && closes(&delta.key) => continue,
                PieceKind::Delta(delta) => {
                    let spelled =
                        self.whole_characters(&delta.key, data.get(piece.span.clone()).unwrap_or_default());
                    let decoded = Decoded::of(&spelled.bytes);
                    let mut text = self.feed(delta, decoded.text())?;
                    let halved = matches!(spelled.bytes, Cow::Owned(_)) || !spelled.half.is_empty();
                    self.keep_half(&delta.key, spelled.half);
                    if closes(&delta.key) || turns.is_complete(at) {
                        self.finish(&delta.key, &mut text)?;
                    }
                    touched.push(delta.key.clone());
                    emptied |= text.is_empty() && !piece.span.is_empty();
                    says |= !text.is_empty();
                    (halved || text != decoded.text()).then_some(text)
                }
            };
            let Some(text) = text else { continue };
            piece.edit(&text, &document, stream, &mut edits);
        }
        let overtaken = |key: &ChannelKey| turns.is_overtaken(stream, key) && !touched.contains(key);
        self.open.iter().filter(|open| overtaken(&open.key)).for_each(|open| self.turns.end(&open.key));
        // What other channels hold that end here must be said first.
        self.flush(before, |key| overtaken(key) || closes(key) && !touched.contains(key))?;
        self.sign(&read, &document, &mut edits);
        read.point(&document, stream, &mut edits);
        in_order(&mut edits);
        self.remember(&read, &edits)?;
        // A stream may go on for hours, and what follows is another text.
        self.open.retain(|open| open.original.is_some() || !closes(&open.key));
        if stream.numbered && self.wait(&read, &edits, before)? {
            return Ok(DocumentOutcome::Wait);
        }
        if edits.is_empty() {
            return Ok(DocumentOutcome::Keep);
        }
        let left = spliced(data, &edits);
        let repeated = self.reader.protocol().protocol.stream.repeated;
        // Most protocols say nothing of that, and their events are not read again.
        let is_empty = emptied && !says && !repeated.is_empty() && says_only(&left, repeated);
        Ok(if is_empty { DocumentOutcome::Emptied(left) } else { DocumentOutcome::Replace(left) })
    }

    /// Edits a document that is a whole answer: its texts are complete.
    pub(super) fn whole(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        let document = EventDocument::new(data);
        let protocol = Arc::clone(self.reader.protocol());
        let Some(mut pieces) = self.reader.pieces(data, &document)? else { return self.reader.unknown(data) };
        let mut edits: Vec<Edit> = Vec::new();
        for piece in &mut pieces {
            if let PieceKind::Delta(delta) = &piece.kind {
                let decoded = Decoded::of(data.get(piece.span.clone()).unwrap_or_default());
                piece.kind = self.reader.complete(None, decoded.text(), delta.treatment)?;
                piece.edits = self.reader.take_edits();
            }
            let PieceKind::Whole(Some(text)) = &piece.kind else { continue };
            piece.edit(text, &document, &protocol.stream, &mut edits);
        }
        let read = ReadDocument { envelope: b"", data, pieces: &pieces };
        self.sign(&read, &document, &mut edits);
        read.point(&document, &protocol.stream, &mut edits);
        in_order(&mut edits);
        Ok((!edits.is_empty()).then(|| spliced(data, &edits)))
    }

    /// The stream has ended: what channels hold leaves.
    pub(super) fn end(&mut self, before: &mut EarlierDocuments) -> Result<(), StreamError> {
        self.flush(before, |_| true)?;
        self.release(before);
        Ok(())
    }

    /// Lets the documents that wait leave.
    fn release(&mut self, before: &mut EarlierDocuments) {
        before.extend(self.waiting.drain(..).map(WaitingDocument::leaves));
    }

    /// Whether a document must wait, since a channel holds some of its text, or others wait still: numbers are in order.
    /// Those leave for which nothing is held any more.
    fn wait(
        &mut self,
        read: &ReadDocument<'_>,
        edits: &[Edit],
        before: &mut EarlierDocuments,
    ) -> Result<bool, StreamError> {
        let mut ends = Vec::new();
        for piece in read.pieces {
            let PieceKind::Delta(DeltaPiece { key, .. }) = &piece.kind else { continue };
            if self.holds(key) {
                let before = edits.iter().filter(|edit| edit.range.end <= piece.span.end);
                let (shrunk, grown) = before.fold((0, 0), |(shrunk, grown), edit| {
                    (shrunk + edit.range.len(), grown + edit.with.len())
                });
                ends.push((key.clone(), piece.span.end + grown - shrunk));
            }
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        // What is held belongs behind the last text of its channel.
        for one in &mut waiting {
            one.ends.retain(|(key, _)| self.holds(key) && !ends.iter().any(|(later, _)| later == key));
        }
        while let Some(first) = waiting.pop_front_if(|first| first.ends.is_empty()) {
            before.push(first.leaves());
        }
        self.waiting = waiting;
        if ends.is_empty() && self.waiting.is_empty() {
            return Ok(false);
        }
        let (envelope, data) = (read.envelope.to_vec(), spliced(read.data, edits));
        let mut charge = self.budget.charge();
        charge.set(envelope.len() + data.len())?;
        self.waiting.push_back(WaitingDocument { envelope, data, ends, _charge: charge });
        Ok(true)
    }

    fn holds(&self, key: &ChannelKey) -> bool {
        self.open.iter().any(|open| open.key == *key && open.holds())
    }

    /// What a string spells, behind the half of a character that its channel had before, and without one at its end.
    fn whole_characters<'d>(&mut self, key: &ChannelKey, spelled: &'d [u8]) -> JsonString<'d> {
        let open = self.open.iter_mut().find(|open| open.key == *key);
        let before = open.map(|open| std::mem::take(&mut open.half)).unwrap_or_default();
        let mut bytes =
            if before.is_empty() { Cow::Borrowed(spelled) } else { Cow::Owned([&before, spelled].concat()) };
        let end = bytes.len() - half_at_end(&bytes);
        let half = bytes.get(end..).unwrap_or_default().to_vec();
        match &mut bytes {
            Cow::Borrowed(bytes) => *bytes = bytes.get(..end).unwrap_or_default(),
            Cow::Owned(bytes) => bytes.truncate(end),
        }
        JsonString { bytes, half }
    }

    fn keep_half(&mut self, key: &ChannelKey, half: Vec<u8>) {
        if let Some(open) = self.open.iter_mut().find(|open| open.key == *key) {
            open.half = half;
        }
    }

    /// Feeds a channel, which is opened if it is new.
    fn feed(&mut self, delta: &DeltaPiece, text: &str) -> Result<String, StreamError> {
        let DeltaPiece { key, treatment, .. } = delta;
        let at = match self.open.iter().position(|open| open.key == *key) {
            Some(at) => at,
            None if self.open.len() == MOST_CHANNELS => {
                return Err(StreamError::TooLarge { unit: "number of texts", limit: MOST_CHANNELS });
            }
            None => {
                if self.open.len() >= MOST_OPEN
                    && let Some(idle) = self.open.iter().position(|open| !open.holds())
                {
                    self.open.remove(idle);
                }
                let channel =
                    Channel::new(self.reader.editor(*treatment, TextUse::of(*treatment, None)), &self.budget);
                let (charge, original_charge) = (self.budget.charge(), self.budget.charge());
                let signed = |signed: &CompiledSigned| matches!(&signed.covers, CompiledCovers::Channel { delta, .. } if *delta == key.delta);
                let original = self.reader.protocol().stream.signed.iter().any(signed).then(String::new);
                self.open.push(OpenChannel {
                    key: key.clone(),
                    channel,
                    half: Vec::new(),
                    original,
                    given: String::new(),
                    original_charge,
                    template: None,
                    charge,
                });
                self.open.len() - 1
            }
        };
        let mut out = String::with_capacity(text.len());
        if let Some(open) = self.open.get_mut(at) {
            open.channel.push(text, &mut out)?;
            // What is longer is not sealed.
            if let Some(original) = open.original.as_mut().filter(|original| original.len() <= MOST_SIGNED) {
                original.push_str(text);
                open.given.push_str(&out);
                open.original_charge.set(original.len() + open.given.len())?;
            }
        }
        Ok(out)
    }

    /// Ends a channel; what it held is appended.
    fn finish(&mut self, key: &ChannelKey, out: &mut String) -> Result<(), StreamError> {
        match self.open.iter_mut().find(|open| open.key == *key) {
            Some(open) => open.finish(out),
            None => Ok(()),
        }
    }

    /// Replaces the signatures of what would not come back as it was signed.
    fn sign(&self, read: &ReadDocument<'_>, document: &EventDocument<'_>, edits: &mut Vec<Edit>) {
        // Clients put such text together, and a value in it may lie in two documents: one of them does not come back alone.
        let goes_on = |span: &Range<usize>| {
            let lies_there = |piece: &Piece| span.start <= piece.span.start && piece.span.end <= span.end;
            read.pieces.iter().any(|piece| matches!(piece.kind, PieceKind::Delta(_)) && lies_there(piece))
        };
        for piece in read.pieces {
            let PieceKind::Signature(which, positions) = &piece.kind else { continue };
            let decoded = Decoded::of(read.data.get(piece.span.clone()).unwrap_or_default());
            let Some(signed) = self.reader.protocol().stream.signed.get(*which) else { continue };
            let sealed = match &signed.covers {
                CompiledCovers::Beside(places) => places
                    .iter()
                    .filter_map(|place| Some((place.name()?, document.span(place, positions)?)))
                    .filter(|(_, span)| !goes_on(span))
                    .find_map(|(name, span)| {
                        let value = std::str::from_utf8(read.data.get(span.clone())?).ok()?;
                        let given =
                            String::from_utf8(spliced(value.as_bytes(), &within(edits, &span))).ok()?;
                        let editor = self.reader.editor(Treatment::Text, TextUse::Text);
                        (!editor.comes_back_as(&given, value))
                            .then(|| editor.seal(&SignedMember { name, value }.text(), decoded.text()))?
                    }),
                CompiledCovers::Channel { delta, key, member } => {
                    let parts = document.key(key, positions);
                    let ours =
                        |open: &&OpenChannel| open.key.delta == *delta && open.key.parts.starts_with(&parts);
                    self.open.iter().find(ours).and_then(|open| {
                        let editor = open.channel.editor();
                        let given = format!("\"{}\"", encoded(&open.given));
                        let value = format!("\"{}\"", encoded(open.original.as_ref()?));
                        (!editor.comes_back_as(&given, &value)).then(|| {
                            editor.seal(&SignedMember { name: member, value: &value }.text(), decoded.text())
                        })?
                    })
                }
            };
            edits.extend(sealed.map(|with| Edit { range: piece.span.clone(), with: encoded(&with) }));
        }
    }

    /// Keeps a document that left text behind, so that it can be cloned.
    fn remember(&mut self, read: &ReadDocument<'_>, edits: &[Edit]) -> Result<(), StreamError> {
        let mut kept: Option<[Arc<[u8]>; 2]> = None;
        for piece in read.pieces {
            let PieceKind::Delta(delta) = &piece.kind else { continue };
            let Some(open) = self.open.iter_mut().find(|open| open.key == delta.key) else { continue };
            if !open.holds() {
                open.template = None;
                open.charge.set(0)?;
                continue;
            }
            // One that brought nothing may be about something else.
            if piece.span.is_empty() && open.template.is_some() {
                continue;
            }
            let [envelope, data] =
                kept.get_or_insert_with(|| [read.envelope.into(), blanked(read, edits).into()]);
            open.charge.set(data.len() + envelope.len())?;
            let (envelope, data) = (Arc::clone(envelope), Arc::clone(data));
            open.template = Some(EventTemplate { envelope, data, positions: delta.positions.clone() });
        }
        Ok(())
    }

    /// Ends the channels that `which` names; what they held leaves in the document that waits, or in ones of its own.
    fn flush(
        &mut self,
        before: &mut EarlierDocuments,
        which: impl Fn(&ChannelKey) -> bool,
    ) -> Result<(), StreamError> {
        for open in self.open.iter_mut().filter(|open| which(&open.key)) {
            let mut text = String::new();
            open.finish(&mut text)?;
            let Some(template) = open.template.take().filter(|_| !text.is_empty()) else { continue };
            open.charge.set(0)?;
            let text = encoded(&text);
            let ended = self.waiting.iter_mut().find_map(|waiting| {
                let end = waiting.ends.iter().find(|(key, _)| *key == open.key).map(|(_, end)| *end)?;
                Some((waiting, end))
            });
            if let Some((waiting, end)) = ended {
                waiting.data = spliced(&waiting.data, &[Edit { range: end..end, with: &text }]);
                waiting.ends.iter_mut().filter(|(_, at)| *at >= end).for_each(|(_, at)| *at += text.len());
                continue;
            }
            let place = self.reader.protocol().stream.deltas.get(open.key.delta).map(|delta| &delta.at);
            let data = place.and_then(|place| template.with(place, &text));
            before.extend(data.map(|data| EarlierDocument {
                envelope: template.envelope.to_vec(),
                data,
                added: true,
            }));
        }
        Ok(())
    }
}

impl OpenChannel {
    /// Whether some of its text has not left.
    fn holds(&self) -> bool {
        self.channel.held() > 0 || !self.half.is_empty()
    }

    /// Ends it; what it held is appended.
    fn finish(&mut self, out: &mut String) -> Result<(), StreamError> {
        if !std::mem::take(&mut self.half).is_empty() {
            self.channel.push("\u{FFFD}", out)?;
        }
        let before = out.len();
        self.channel.finish(out)?;
        if self.original.is_some() {
            self.given.push_str(out.get(before..).unwrap_or_default());
        }
        Ok(())
    }
}

impl WaitingDocument {
    fn leaves(self) -> EarlierDocument {
        EarlierDocument { envelope: self.envelope, data: self.data, added: false }
    }
}

/// A document as it leaves, without any channel's text.
fn blanked(read: &ReadDocument<'_>, edits: &[Edit]) -> Vec<u8> {
    let deltas = read.pieces.iter().filter(|piece| matches!(piece.kind, PieceKind::Delta(_)));
    let mut all: Vec<Edit> =
        deltas.map(|piece| Edit { range: piece.span.clone(), with: String::new() }).collect();
    // Of two that lie at one place the first counts.
    all.extend(edits.iter().cloned());
    in_order(&mut all);
    spliced(read.data, &all)
}

#[cfg(test)]
#[path = "delta_tests.rs"]
mod tests;
