//! [`Deltas`]: texts that go on over the documents of a stream, one channel for each that the protocol tells apart.
//!
//! A channel holds back only what it cannot yet decide; that goes in front of the channel's next text. Before a channel
//! is closed, and at the end, what is held leaves in a document of its own, cloned from the one that brought it.
//! Everything else in a document stays byte for byte. What the texts are and what closes them is the protocol's data;
//! how documents become a stream is the framer's business.

use std::ops::Range;
use std::sync::Arc;

use crate::base::budget::{Budget, Charge};
use crate::edit::{Edit, spliced};
use crate::gateway::llm::place::{Document, KeyPart};
use crate::gateway::llm::protocol::{CompiledProtocol, CompiledStream};
use crate::redact::encodes_text;
use crate::stream::json::{Decoded, Embedded, Path, Take, Token, encoded, walk};
use crate::stream::{Channel, Editor, StreamError};

/// Makes a fresh editor for each channel.
pub type EditorFactory = Arc<dyn Fn() -> Box<dyn Editor> + Send + Sync>;

/// Documents that leave before the one that is read.
pub(super) type Before = Vec<Vec<u8>>;

/// Tells channels apart: which delta of the protocol, and the values of its key.
#[derive(Clone, PartialEq, Eq)]
struct ChannelKey {
    delta: usize,
    parts: Vec<KeyPart>,
}

/// A string of a document.
struct Piece {
    span: Range<usize>,
    /// For each echo of the protocol, the element of it that the string lies in.
    elements: Vec<Option<Vec<usize>>>,
    kind: PieceKind,
}

enum PieceKind {
    /// Text that goes on in later documents.
    Delta(ChannelKey, Take),
    /// Text that is complete, and what becomes of it if it is edited.
    Whole(Option<String>),
}

struct OpenChannel {
    key: ChannelKey,
    channel: Channel,
    /// The last document that left text behind, without any channel's text, and where ours goes.
    template: Option<Template>,
    charge: Charge,
}

struct Template {
    data: Vec<u8>,
    at: usize,
}

/// Edits the texts of a stream in a known protocol.
pub(super) struct Deltas {
    protocol: Arc<CompiledProtocol>,
    editor: EditorFactory,
    budget: Budget,
    open: Vec<OpenChannel>,
    edits: Vec<Edit>,
}

impl Deltas {
    /// Follows the channels of one stream.
    pub(super) fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &Budget) -> Self {
        Self { protocol, editor, budget: budget.clone(), open: Vec::new(), edits: Vec::new() }
    }

    /// Whether this data is no document, but the end of the stream.
    pub(super) fn is_end(&self, data: &[u8]) -> bool {
        let end = self.protocol.protocol.stream.end_data;
        !end.is_empty() && data.trim_ascii() == end
    }

    /// Edits one document; `None` when nothing changes. Channels that go on are fed, not ended.
    pub(super) fn document(
        &mut self,
        data: &[u8],
        before: &mut Before,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        let document = Document::new(data);
        let protocol = Arc::clone(&self.protocol);
        let stream = &protocol.stream;
        let Some(pieces) = self.pieces(data, &document)? else { return self.unknown(data) };
        let closed = closed(stream, &document);
        let closes = |key: &ChannelKey| closed.iter().any(|begin| key.parts.starts_with(begin));
        let mut edits: Vec<Edit> = Vec::new();
        let mut touched: Vec<ChannelKey> = Vec::new();
        for piece in &pieces {
            let text = match &piece.kind {
                PieceKind::Whole(edited) => edited.clone(),
                PieceKind::Delta(key, treatment) => {
                    let decoded = Decoded::of(data.get(piece.span.clone()).unwrap_or_default());
                    let mut text = self.feed(key, *treatment, decoded.text())?;
                    if closes(key) {
                        self.finish(key, &mut text)?;
                    }
                    self.remember(key, data, &pieces, &piece.span)?;
                    touched.push(key.clone());
                    (text != decoded.text()).then_some(text)
                }
            };
            let Some(text) = text else { continue };
            edits.push(Edit { range: piece.span.clone(), with: encoded(&text) });
            for (echo, element) in stream.echoes.iter().zip(&piece.elements) {
                let span = element.as_ref().and_then(|element| document.span(&echo.at, element));
                edits.extend(span.map(|range| Edit { range, with: echo.with.to_owned() }));
            }
        }
        // What other channels hold that end here must be said first.
        self.flush(before, |key| closes(key) && !touched.contains(key))?;
        edits.sort_by_key(|edit| edit.range.start);
        edits.dedup_by(|next, edit| next.range == edit.range);
        Ok((!edits.is_empty()).then(|| spliced(data, &edits)))
    }

    /// The stream has ended: what channels hold leaves.
    pub(super) fn end(&mut self, before: &mut Before) -> Result<(), StreamError> {
        self.flush(before, |_| true)
    }

    /// The strings of a document that are text; `None` if it is not one document.
    fn pieces(&mut self, data: &[u8], document: &Document<'_>) -> Result<Option<Vec<Piece>>, StreamError> {
        let protocol = Arc::clone(&self.protocol);
        let stream = &protocol.stream;
        let (mut pieces, mut failed) = (Vec::new(), Ok(()));
        let walked = walk(data, &mut |path, leaf| {
            if leaf.token != Token::Text || stream.echoes.iter().any(|echo| echo.at.holds(path)) {
                return;
            }
            let kind = match delta(stream, path, document) {
                Some(delta) => delta,
                None => {
                    let decoded = Decoded::of(data.get(leaf.span.clone()).unwrap_or_default());
                    let treatment = match protocol.answer.take(path) {
                        Take::Typed(_) if encodes_text(decoded.text()) => Take::Text,
                        treatment => treatment.of(leaf.token, decoded.text()),
                    };
                    if treatment == Take::Skip {
                        return;
                    }
                    match self.whole(Some(path), decoded.text(), treatment) {
                        Ok(None) => return,
                        Ok(edited) => PieceKind::Whole(edited),
                        Err(error) => {
                            failed = Err(error);
                            return;
                        }
                    }
                }
            };
            let elements = stream.echoes.iter().map(|echo| echo.at.element(path)).collect();
            pieces.push(Piece { span: leaf.span, elements, kind });
        });
        failed.map(|()| walked.is_ok().then_some(pieces))
    }

    /// Data that is not JSON is text. What is nested too deep, or goes wrong late, is read as far as it is JSON.
    fn unknown(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        let edited = self.whole(None, &String::from_utf8_lossy(data), Take::Embedded)?;
        Ok(edited.map(String::into_bytes))
    }

    /// What becomes of a text that is complete, if it is edited.
    fn whole(
        &mut self,
        path: Option<&Path<'_>>,
        text: &str,
        treatment: Take,
    ) -> Result<Option<String>, StreamError> {
        let mut editor = self.editor(treatment);
        self.edits.clear();
        editor.under(path);
        editor.feed(text, &mut self.edits)?;
        editor.end(&mut self.edits)?;
        if self.edits.is_empty() {
            return Ok(None);
        }
        // Edits begin and end between characters.
        let edited = String::from_utf8(spliced(text.as_bytes(), &self.edits));
        self.edits.clear();
        let edited = edited.map_err(|_| StreamError::Replace("edit"))?;
        Ok((edited != text).then_some(edited))
    }

    fn editor(&self, treatment: Take) -> Box<dyn Editor> {
        match treatment {
            Take::Embedded => Box::new(Embedded::new((self.editor)())),
            Take::Text | Take::Typed(_) | Take::Skip => (self.editor)(),
        }
    }

    /// Feeds a channel, which is opened if it is new.
    fn feed(&mut self, key: &ChannelKey, treatment: Take, text: &str) -> Result<String, StreamError> {
        let at = match self.open.iter().position(|open| open.key == *key) {
            Some(at) => at,
            None => {
                let channel = Channel::new(self.editor(treatment), &self.budget);
                let charge = self.budget.charge();
                self.open.push(OpenChannel { key: key.clone(), channel, template: None, charge });
                self.open.len() - 1
            }
        };
        let mut out = String::with_capacity(text.len());
        if let Some(open) = self.open.get_mut(at) {
            open.channel.push(text, &mut out)?;
        }
        Ok(out)
    }

    /// Ends a channel; what it held is appended.
    fn finish(&mut self, key: &ChannelKey, out: &mut String) -> Result<(), StreamError> {
        match self.open.iter_mut().find(|open| open.key == *key) {
            Some(open) => open.channel.finish(out),
            None => Ok(()),
        }
    }

    /// Keeps the document that left text behind, so that it can be cloned.
    fn remember(
        &mut self,
        key: &ChannelKey,
        data: &[u8],
        pieces: &[Piece],
        ours: &Range<usize>,
    ) -> Result<(), StreamError> {
        let Some(open) = self.open.iter_mut().find(|open| open.key == *key) else { return Ok(()) };
        if open.channel.held() == 0 {
            open.template = None;
            return Ok(open.charge.set(0)?);
        }
        let deltas = pieces.iter().filter(|piece| matches!(piece.kind, PieceKind::Delta(..)));
        let blanks: Vec<Edit<&str>> =
            deltas.map(|piece| Edit { range: piece.span.clone(), with: "" }).collect();
        let blanked: usize =
            blanks.iter().filter(|blank| blank.range.start < ours.start).map(|blank| blank.range.len()).sum();
        let blank = spliced(data, &blanks);
        open.charge.set(blank.len())?;
        open.template = Some(Template { data: blank, at: ours.start - blanked });
        Ok(())
    }

    /// Ends the channels that `which` names; what they held leaves in documents of its own.
    fn flush(&mut self, before: &mut Before, which: impl Fn(&ChannelKey) -> bool) -> Result<(), StreamError> {
        for open in self.open.iter_mut().filter(|open| which(&open.key)) {
            let mut text = String::new();
            open.channel.finish(&mut text)?;
            let Some(template) = open.template.take().filter(|_| !text.is_empty()) else { continue };
            let at = template.at..template.at;
            before.push(spliced(&template.data, &[Edit { range: at, with: encoded(&text) }]));
            open.charge.set(0)?;
        }
        Ok(())
    }
}

/// The channel of a string whose text goes on in later documents.
fn delta(stream: &CompiledStream, path: &Path<'_>, document: &Document<'_>) -> Option<PieceKind> {
    stream.deltas.iter().enumerate().find_map(|(at, delta)| {
        let positions = delta.at.positions(path)?;
        let fits = |(place, is): &(_, &str)| document.is(place, &positions, Some(is));
        if !delta.when.as_ref().is_none_or(fits) {
            return None;
        }
        let parts = document.key(&delta.key, &positions);
        Some(PieceKind::Delta(ChannelKey { delta: at, parts }, delta.treatment))
    })
}

/// How the keys begin of the channels that a document closes.
fn closed(stream: &CompiledStream, document: &Document<'_>) -> Vec<Vec<KeyPart>> {
    let each = stream.closes.iter().flat_map(|close| {
        let all = document.all(&close.at, close.is);
        all.into_iter().map(|positions| document.key(&close.key, &positions))
    });
    each.collect()
}

#[cfg(test)]
#[path = "delta_tests.rs"]
mod tests;
