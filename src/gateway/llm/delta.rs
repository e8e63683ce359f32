//! Words that span events: one channel of text for each (choice, tool call, field), followed over a stream.
//!
//! A channel holds back only what it cannot yet decide; that goes in front of the channel's next text. Before a
//! choice finishes, and before an error or the end, what is held leaves in an event of its own, cloned from the one
//! that brought it. Everything else in an event stays byte for byte.

use std::ops::Range;
use std::sync::Arc;

use bytes::BytesMut;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::base::budget::{Budget, Charge};
use crate::gateway::llm::protocol::CompiledProtocol;
use crate::redact::encodes_text;
use crate::stream::json::{Decoded, Embedded, Path, Segment, Take, Token, encode, walk};
use crate::stream::sse::{Event, Events, Verdict, write_event};
use crate::stream::{Channel, Edit, Editor, GenericEvents, Rewriter, StreamError};

/// What the end of an event stream looks like, beside its being over.
const DONE: &[u8] = b"[DONE]";

/// The largest answer that is read whole before it is rewritten, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// The members of an answer or event that say where its text belongs.
#[derive(Default, Deserialize)]
struct Head<'a> {
    #[serde(default, borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<usize>,
    #[serde(default, borrow)]
    finish_reason: Option<&'a RawValue>,
    #[serde(default, borrow)]
    logprobs: Option<&'a RawValue>,
    delta: Option<Delta>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    index: Option<usize>,
}

impl Head<'_> {
    fn choices(&self) -> &[Choice<'_>] {
        self.choices.as_deref().unwrap_or_default()
    }

    /// The number that the event itself gives the choice at `position` of its list.
    fn choice(&self, position: usize) -> usize {
        self.choices().get(position).and_then(|choice| choice.index).unwrap_or(position)
    }

    fn tool(&self, choice: usize, position: usize) -> usize {
        let calls = self.choices().get(choice).and_then(|choice| choice.delta.as_ref()?.tool_calls.as_ref());
        calls.and_then(|calls| calls.get(position)?.index).unwrap_or(position)
    }

    fn finishes(&self, choice: usize) -> bool {
        self.choices()
            .iter()
            .enumerate()
            .any(|(at, one)| one.finish_reason.is_some() && self.choice(at) == choice)
    }
}

/// Makes a fresh editor for each channel.
type EditorFactory = Arc<dyn Fn() -> Box<dyn Editor> + Send + Sync>;

/// Names a channel over all events: choice, tool call, field.
#[derive(Clone, PartialEq, Eq)]
struct Name {
    choice: usize,
    tool: Option<usize>,
    field: String,
}

impl Name {
    fn of(path: &Path<'_>, head: &Head<'_>) -> Self {
        let mut indexes = path.segments().filter_map(|segment| match segment {
            Segment::Index(index) => Some(index),
            Segment::Key(_) => None,
        });
        let at = indexes.next().unwrap_or_default();
        let tool = indexes.next().map(|position| head.tool(at, position));
        let field = path.segments().filter_map(|segment| match segment {
            Segment::Key(key) => Some(key),
            Segment::Index(_) => None,
        });
        Self { choice: head.choice(at), tool, field: field.collect::<Vec<_>>().join(".") }
    }
}

/// A string of an event.
struct Piece {
    span: Range<usize>,
    choice: Option<usize>,
    kind: Kind,
}

enum Kind {
    /// Text that goes on in later events.
    Goes(Name, Take),
    /// Text that is complete, and what becomes of it if it is edited.
    Whole(Option<String>),
}

/// Bytes of an event to be replaced.
type Patch = (Range<usize>, Vec<u8>);

struct Open {
    name: Name,
    channel: Channel,
    /// The last event that left text behind, without any channel's text, and where ours goes.
    template: Option<Template>,
    charge: Charge,
}

struct Template {
    data: Vec<u8>,
    at: usize,
}

/// Edits the text of a known protocol's events.
pub struct Deltas {
    spoken: Arc<CompiledProtocol>,
    editor: EditorFactory,
    budget: Budget,
    open: Vec<Open>,
    edits: Vec<Edit>,
    /// For lines of which the protocol says nothing.
    lines: GenericEvents<Box<dyn Editor>>,
}

impl Deltas {
    /// Follows the channels of one stream.
    pub fn new(spoken: Arc<CompiledProtocol>, editor: EditorFactory, budget: &Budget) -> Self {
        Self {
            spoken,
            lines: GenericEvents::new(editor()),
            editor,
            budget: budget.clone(),
            open: Vec::new(),
            edits: Vec::new(),
        }
    }

    /// Edits one document; `None` when nothing changes. Channels that go on are fed, not ended.
    fn document(&mut self, data: &[u8], before: &mut BytesMut) -> Result<Option<Vec<u8>>, StreamError> {
        // A document of another shape has strings all the same.
        let head = serde_json::from_slice::<Head<'_>>(data).unwrap_or_default();
        let Some(pieces) = self.pieces(data, &head)? else { return self.unknown(data) };
        if head.error.is_some() {
            self.flush(before, |_| true)?;
        }
        let mut patches: Vec<Patch> = Vec::new();
        let mut rewritten: Vec<usize> = Vec::new();
        let mut touched: Vec<Name> = Vec::new();
        for piece in &pieces {
            let text = match &piece.kind {
                Kind::Whole(edited) => edited.clone(),
                Kind::Goes(name, take) => {
                    let decoded = Decoded::of(data.get(piece.span.clone()).unwrap_or_default());
                    let mut text = self.goes_on(name, *take, decoded.text())?;
                    if head.finishes(name.choice) {
                        self.ends(name, &mut text)?;
                    }
                    self.remember(name, data, &pieces, &piece.span)?;
                    touched.push(name.clone());
                    (text != decoded.text()).then_some(text)
                }
            };
            if let Some(text) = text {
                let mut bytes = Vec::new();
                encode(&text, &mut bytes);
                patches.push((piece.span.clone(), bytes));
                rewritten.extend(piece.choice);
            }
        }
        // Of a choice that ends here, what other channels hold must be said first.
        self.flush(before, |name| head.finishes(name.choice) && !touched.contains(name))?;
        for position in rewritten {
            patches.extend(logprobs(data, &head, position));
        }
        Ok(patched(data, patches))
    }

    /// The strings of a document that are text; `None` if it is not one document.
    fn pieces(&mut self, data: &[u8], head: &Head<'_>) -> Result<Option<Vec<Piece>>, StreamError> {
        let (mut pieces, mut failed) = (Vec::new(), Ok(()));
        let walked = walk(data, &mut |path, leaf| {
            if leaf.token != Token::Text {
                return;
            }
            let choice = match (path.segment(0), path.segment(1), path.segment(2)) {
                (Some(Segment::Key("choices")), Some(Segment::Index(_)), Some(Segment::Key("logprobs"))) => {
                    return;
                }
                (Some(Segment::Key("choices")), Some(Segment::Index(at)), _) => Some(at),
                _ => None,
            };
            let decoded = Decoded::of(data.get(leaf.span.clone()).unwrap_or_default());
            let whole = || match self.spoken.reply.take(path) {
                Take::Typed(_) if encodes_text(decoded.text()) => Take::Text,
                take => take.of(leaf.token, decoded.text()),
            };
            let kind = match self.spoken.delta.take(path) {
                Take::Skip => match whole() {
                    Take::Skip => return,
                    take => match self.whole(Some(path), decoded.text(), take) {
                        Ok(None) => return,
                        Ok(edited) => Kind::Whole(edited),
                        Err(error) => {
                            failed = Err(error);
                            return;
                        }
                    },
                },
                take => Kind::Goes(Name::of(path, head), take),
            };
            pieces.push(Piece { span: leaf.span, choice, kind });
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
        take: Take,
    ) -> Result<Option<String>, StreamError> {
        let mut editor = self.editor(take);
        self.edits.clear();
        editor.under(path);
        editor.feed(text, &mut self.edits)?;
        editor.end(&mut self.edits)?;
        if self.edits.is_empty() {
            return Ok(None);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for edit in self.edits.drain(..) {
            out.push_str(text.get(at..edit.range.start).unwrap_or_default());
            out.push_str(&edit.with);
            at = edit.range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Ok((out != text).then_some(out))
    }

    fn editor(&self, take: Take) -> Box<dyn Editor> {
        match take {
            Take::Embedded => Box::new(Embedded::new((self.editor)())),
            Take::Text | Take::Typed(_) | Take::Skip => (self.editor)(),
        }
    }

    /// Feeds a channel, which is opened if it is new.
    fn goes_on(&mut self, name: &Name, take: Take, text: &str) -> Result<String, StreamError> {
        let at = match self.open.iter().position(|open| open.name == *name) {
            Some(at) => at,
            None => {
                let channel = Channel::new(self.editor(take), &self.budget);
                let charge = self.budget.charge();
                self.open.push(Open { name: name.clone(), channel, template: None, charge });
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
    fn ends(&mut self, name: &Name, out: &mut String) -> Result<(), StreamError> {
        match self.open.iter_mut().find(|open| open.name == *name) {
            Some(open) => open.channel.finish(out),
            None => Ok(()),
        }
    }

    /// Keeps the event that left text behind, so that it can be cloned.
    fn remember(
        &mut self,
        name: &Name,
        data: &[u8],
        pieces: &[Piece],
        ours: &Range<usize>,
    ) -> Result<(), StreamError> {
        let Some(open) = self.open.iter_mut().find(|open| open.name == *name) else { return Ok(()) };
        if open.channel.held() == 0 {
            open.template = None;
            return Ok(open.charge.set(0)?);
        }
        let mut blank = Vec::with_capacity(data.len());
        let (mut from, mut at) = (0, 0);
        for piece in pieces.iter().filter(|piece| matches!(piece.kind, Kind::Goes(..))) {
            blank.extend_from_slice(data.get(from..piece.span.start).unwrap_or_default());
            if piece.span == *ours {
                at = blank.len();
            }
            from = piece.span.end;
        }
        blank.extend_from_slice(data.get(from..).unwrap_or_default());
        open.charge.set(blank.len())?;
        open.template = Some(Template { data: blank, at });
        Ok(())
    }

    /// Ends the channels that `which` names; what they held leaves in events of its own.
    fn flush(&mut self, out: &mut BytesMut, which: impl Fn(&Name) -> bool) -> Result<(), StreamError> {
        for open in self.open.iter_mut().filter(|open| which(&open.name)) {
            let mut text = String::new();
            open.channel.finish(&mut text)?;
            let Some(template) = open.template.take().filter(|_| !text.is_empty()) else { continue };
            let mut data = template.data.get(..template.at).unwrap_or_default().to_vec();
            encode(&text, &mut data);
            data.extend_from_slice(template.data.get(template.at..).unwrap_or_default());
            write_event("", &data, out);
            open.charge.set(0)?;
        }
        Ok(())
    }
}

impl Events for Deltas {
    fn event(&mut self, event: &Event<'_>, before: &mut BytesMut) -> Result<Verdict, StreamError> {
        if event.data().is_empty() {
            return Ok(Verdict::Keep);
        }
        if event.data().trim_ascii() == DONE {
            self.flush(before, |_| true)?;
            return Ok(Verdict::Keep);
        }
        Ok(self.document(event.data(), before)?.map_or(Verdict::Keep, Verdict::Data))
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        self.lines.line(text)
    }

    fn end(&mut self, _incomplete: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        // An incomplete event cannot be judged, and no client would dispatch it.
        self.flush(out, |_| true)
    }
}

/// Where `choices[position].logprobs` has a value: it repeats the text, token by token and byte by byte.
fn logprobs(data: &[u8], head: &Head<'_>, position: usize) -> Option<Patch> {
    let value = head.choices().get(position)?.logprobs?.get();
    let start = (value.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
    let span = start..start + value.len();
    data.get(span.clone())?;
    Some((span, b"null".to_vec()))
}

fn patched(data: &[u8], mut patches: Vec<Patch>) -> Option<Vec<u8>> {
    if patches.is_empty() {
        return None;
    }
    patches.sort_by_key(|(span, _)| span.start);
    let mut out = Vec::with_capacity(data.len() + 64);
    let mut from = 0;
    for (span, bytes) in patches {
        if span.start < from {
            continue;
        }
        out.extend_from_slice(data.get(from..span.start).unwrap_or_default());
        out.extend_from_slice(&bytes);
        from = span.end;
    }
    out.extend_from_slice(data.get(from..).unwrap_or_default());
    Some(out)
}

/// An answer in one document, read whole: what its `logprobs` repeat may stand before or behind what they repeat.
pub struct WholeAnswer {
    deltas: Deltas,
    document: BytesMut,
    charge: Charge,
}

impl WholeAnswer {
    /// Rewrites one answer.
    pub fn new(spoken: Arc<CompiledProtocol>, editor: EditorFactory, budget: &Budget) -> Self {
        let deltas = Deltas::new(spoken, editor, budget);
        Self { deltas, document: BytesMut::new(), charge: budget.charge() }
    }
}

impl Rewriter for WholeAnswer {
    fn write(&mut self, chunk: &[u8], _: &mut BytesMut) -> Result<(), StreamError> {
        let size = self.document.len() + chunk.len();
        if size > MAX_ANSWER {
            return Err(StreamError::TooLarge { unit: "answer", limit: MAX_ANSWER });
        }
        self.charge.set(size)?;
        self.document.extend_from_slice(chunk);
        Ok(())
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let document = self.document.split();
        let mut before = BytesMut::new();
        let changed = self.deltas.document(&document, &mut before)?;
        out.extend_from_slice(changed.as_deref().unwrap_or(&document));
        Ok(self.charge.set(0)?)
    }

    fn held(&self) -> usize {
        self.document.len()
    }
}
