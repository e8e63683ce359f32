//! Content coding × media type × protocol → the rewriters of one body, built once: decode, frame, edit, encode.

use std::sync::Arc;

use bytes::BytesMut;
use http::HeaderMap;

use crate::api::block_in_place;
use crate::base::budget::MemoryBudget;
use crate::gateway::content_coding::{codings, decoders, encoders};
use crate::gateway::layer::{Layer, TextLayer, UnscannedPolicy};
use crate::gateway::llm::{AmazonDeltas, FollowedTexts, JsonDeltas, SseDeltas, WholeAnswer};
use crate::gateway::media_type::{ContentFormat, DeclaredFormat, is_lines};
use crate::stream::amazon::AmazonEventStream;
use crate::stream::codec::Coding;
use crate::stream::form::FormBody;
use crate::stream::formatted::FormattedBody;
use crate::stream::json::{EditorSlots, JsonSlots, PathSet};
use crate::stream::reassembly::{
    Followed, LineKind, ReassembledEvents, ReassembledLines, ReassembledMessages, Reassembler,
};
use crate::stream::sniff::{DeclaredType, Guess, guess};
use crate::stream::sse::{Events, Sse};
use crate::stream::{GenericEvents, GenericMessages, Pipeline, Rewriter, StreamError, TextBody};
use crate::telemetry::{Direction, Unscanned};

/// The largest single event of an event stream that is taken, in bytes.
pub const MAX_EVENT: usize = 16 << 20;

/// Pieces longer than this may take more than a millisecond, in bytes: of text, and of what is to be decoded first.
const LONG: usize = 4 << 10;
const LONG_PACKED: usize = 64;

/// What a head says of its body, as far as rewriting cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyFormat {
    /// Where text is said to be.
    pub declared: DeclaredFormat,
    /// Content codings, in the order they were applied.
    pub codings: Vec<Coding>,
    /// Whether it belongs to a known protocol: then it is no prose, whatever its type.
    pub known: bool,
    /// Whether it is said to be one JSON document a line.
    pub lines: bool,
}

/// What a body turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// More of it will tell.
    More,
    /// Text is in it so.
    As(ContentFormat),
    /// Nobody knows.
    Unknown,
    /// It is not what can be looked at, and is said to be; why.
    Wrong(&'static str),
}

impl BodyFormat {
    /// Reads a head.
    ///
    /// # Errors
    /// A content coding that cannot be taken off.
    pub fn of(headers: &HeaderMap, known: bool) -> Result<Self, Unscanned> {
        Ok(Self {
            declared: DeclaredFormat::of(headers),
            codings: codings(headers)?,
            known,
            lines: is_lines(headers),
        })
    }

    /// Whether an answer may show what it is. Later than its head it cannot be refused well, so where unknown ones are,
    /// only those that say nothing may, and files in which a batch's results may be: every provider calls those bytes.
    pub fn may_show(&self, policy: UnscannedPolicy, may_have_results: bool) -> bool {
        match self.declared {
            DeclaredFormat::As(_) | DeclaredFormat::Nothing => true,
            DeclaredFormat::Bytes | DeclaredFormat::Unlisted => {
                self.known || may_have_results || policy == UnscannedPolicy::Pass
            }
            DeclaredFormat::Opaque => self.known,
        }
    }

    /// What a body is that begins with `head`, out of its codings; `ended` when that is all of it. How it begins counts
    /// for more than what it is said to be.
    pub fn kind(&self, head: &[u8], ended: bool, direction: Direction) -> BodyKind {
        // Binary, so that its beginning says nothing. Of requests nothing says what is in their messages.
        match self.declared {
            DeclaredFormat::As(ContentFormat::AmazonEventStream) if direction == Direction::Request => {
                return BodyKind::Unknown;
            }
            DeclaredFormat::As(ContentFormat::AmazonEventStream) => {
                return BodyKind::As(ContentFormat::AmazonEventStream);
            }
            _ => {}
        }
        if matches!(self.declared, DeclaredFormat::Bytes | DeclaredFormat::Unlisted)
            && !self.known
            && is_binary(head)
        {
            return BodyKind::Unknown;
        }
        let label = match self.declared {
            _ if self.known => DeclaredType::Other,
            DeclaredFormat::As(ContentFormat::Text | ContentFormat::Formatted(_)) => DeclaredType::Text,
            DeclaredFormat::As(ContentFormat::Form) => DeclaredType::Form,
            _ => DeclaredType::Other,
        };
        let wrong = match guess(head, ended, label, direction == Direction::Request) {
            Guess::More => return BodyKind::More,
            Guess::Json => return BodyKind::As(ContentFormat::Json),
            Guess::Events => return BodyKind::As(ContentFormat::Events),
            Guess::Form => return BodyKind::As(ContentFormat::Form),
            Guess::Packed => "the body is compressed and has no Content-Encoding that says so",
            Guess::Wide => NOT_UTF8,
            Guess::Multipart => "the body is multipart and has no Content-Type that says so",
            Guess::Other => match self.declared {
                DeclaredFormat::As(frame) => return BodyKind::As(frame),
                _ => return BodyKind::Unknown,
            },
        };
        if matches!(self.declared, DeclaredFormat::As(_)) {
            BodyKind::Wrong(wrong)
        } else {
            BodyKind::Unknown
        }
    }
}

/// Whether bytes are no text: of a hundred files that are none nearly each shows that at once.
fn is_binary(head: &[u8]) -> bool {
    // RFC 7464 puts 1E before each document of a sequence.
    let control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1e);
    head.iter().any(control) || std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
}

/// Why a body in UTF-16 or UTF-32 is refused: both have NUL bytes or a byte order mark of their own.
pub const NOT_UTF8: &str = "the body must be UTF-8 without NUL bytes";

/// How a body is to be rewritten.
pub struct Task<'a> {
    /// What is installed on it.
    pub layers: &'a [Layer],
    /// What its head says.
    pub format: &'a BodyFormat,
    /// Which way it goes.
    pub direction: Direction,
    /// What happens to it if its kind cannot be told.
    pub policy: UnscannedPolicy,
    /// What it may hold.
    pub budget: &'a MemoryBudget,
}

/// One body being rewritten.
pub struct BodyRewriter {
    decode: Pipeline,
    edit: Pipeline,
    encode: Pipeline,
    plain: BytesMut,
    edited: BytesMut,
    /// Until it has shown what it is.
    begin: Option<BodyStart>,
    frame: Option<ContentFormat>,
    /// Whether it is, if it is JSON, a stream of documents of a known protocol.
    documents: bool,
    /// Whether only text may be in it.
    strict: bool,
    scanned: u64,
    broken: bool,
}

/// The beginning of a body.
struct BodyStart {
    head: BytesMut,
    layers: Vec<Layer>,
    format: BodyFormat,
    direction: Direction,
    policy: UnscannedPolicy,
    budget: MemoryBudget,
}

impl BodyRewriter {
    /// Sets up the rewriting of a body.
    ///
    /// # Errors
    /// A coder that cannot be set up.
    pub fn new(task: &Task<'_>) -> Result<Self, StreamError> {
        let Task { layers, format, direction, policy, budget } = *task;
        let (decode, encode) = (decoders(&format.codings, budget)?, encoders(&format.codings, budget)?);
        let (plain, edited) = (BytesMut::new(), BytesMut::new());
        let (layers, format, budget) = (layers.to_vec(), format.clone(), budget.clone());
        let in_array = |layer: &Layer| match layer {
            Layer::Text(TextLayer { protocol: Some(protocol), .. }) => {
                format.lines || protocol.protocol.stream.in_array
            }
            _ => false,
        };
        let documents = layers.last().is_some_and(in_array);
        let begin = Some(BodyStart { head: BytesMut::new(), layers, format, direction, policy, budget });
        let edit = Pipeline::default();
        let (frame, strict, scanned, broken) = (None, false, 0, false);
        Ok(Self { decode, edit, encode, plain, edited, begin, frame, documents, strict, scanned, broken })
    }

    /// Rewrites the next piece; `end` when it is the last. Where that may take more than a millisecond, what else the
    /// thread has to do goes on elsewhere meanwhile.
    ///
    /// # Errors
    /// A stage's. Afterwards the body takes no more input: see [`BodyRewriter::cut`].
    pub fn write(&mut self, chunk: &[u8], end: bool, out: &mut BytesMut) -> Result<(), StreamError> {
        if self.broken {
            return Ok(());
        }
        let long = if self.decode.is_empty() { LONG } else { LONG_PACKED };
        let result = if chunk.len() > long {
            block_in_place(|| self.run(chunk, end, out))
        } else {
            self.run(chunk, end, out)
        };
        self.broken = result.is_err() || end;
        result
    }

    fn run(&mut self, chunk: &[u8], end: bool, out: &mut BytesMut) -> Result<(), StreamError> {
        self.plain.clear();
        self.edited.clear();
        let plain = if self.decode.is_empty() {
            chunk
        } else {
            self.decode.write(chunk, &mut self.plain)?;
            if end {
                self.decode.finish(&mut self.plain)?;
            }
            &self.plain
        };
        let head;
        let plain = match self.begin.take() {
            None => plain,
            Some(mut begin) => {
                begin.head.extend_from_slice(plain);
                match begin.kind(end) {
                    BodyKind::More => {
                        self.begin = Some(begin);
                        return Ok(());
                    }
                    kind => (self.frame, self.strict) = begin.settle(kind, &mut self.edit)?,
                }
                head = begin.head;
                &head
            }
        };
        if self.frame.is_some() {
            self.scanned += plain.len() as u64;
        }
        let binary = self.frame == Some(ContentFormat::AmazonEventStream);
        if self.strict && !binary && memchr::memchr(0, plain).is_some() {
            return Err(StreamError::NotText(NOT_UTF8));
        }
        let edited = if self.encode.is_empty() { &mut *out } else { &mut self.edited };
        self.edit.write(plain, edited)?;
        if end {
            self.edit.finish(edited)?;
        }
        if !self.encode.is_empty() {
            self.encode.write(&self.edited, out)?;
            if end {
                self.encode.finish(out)?;
            }
        }
        Ok(())
    }

    /// Nothing comes for a while: what waits only for what may follow leaves. The input goes on afterwards.
    ///
    /// # Errors
    /// A stage's, as of [`BodyRewriter::write`].
    pub fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        if self.broken || self.begin.is_some() {
            return Ok(());
        }
        self.edited.clear();
        let edited = if self.encode.is_empty() { &mut *out } else { &mut self.edited };
        let mut released = self.edit.release(edited);
        if released.is_ok() && !self.edited.is_empty() {
            released = self.encode.write(&self.edited, out);
        }
        self.broken = released.is_err();
        released
    }

    /// The input broke off, or a stage failed: what is decided leaves, then `words` in the event stream's own form,
    /// then the coding ends. `false` when the frame has no room for words, and the body must look broken instead.
    pub fn cut(&mut self, words: &[u8], out: &mut BytesMut) -> bool {
        let frame = self.stream_frame();
        if let Some(begin) = self.begin.take().filter(|_| frame == Some(ContentFormat::Json)) {
            // Nothing has come of it, and nothing of what has is a document.
            drop(begin.settle(BodyKind::As(ContentFormat::Json), &mut self.edit));
        }
        self.edited.clear();
        if !self.broken {
            // What the last events held back is text of the caller's; an incomplete event stays behind.
            drop(self.edit.finish(&mut self.edited));
        }
        self.broken = true;
        let speaks = match frame {
            Some(ContentFormat::Json) => self.edit.last_document(words, &mut self.edited),
            Some(_) => {
                self.edited.extend_from_slice(words);
                true
            }
            None => false,
        };
        let encoded = self.encode.write(&self.edited, out);
        if speaks {
            drop(encoded.and_then(|()| self.encode.finish(out)));
        }
        speaks
    }

    /// The frame of a stream that has room for last words: events, messages, or documents that follow each other.
    pub fn stream_frame(&self) -> Option<ContentFormat> {
        // Of one that has not shown what it is, nothing has left: it is what it is said to be.
        let declared = self.begin.as_ref().map(|begin| begin.format.declared);
        let is = |frame: &ContentFormat| {
            self.frame == Some(*frame) || declared == Some(DeclaredFormat::As(*frame))
        };
        let documents = self.documents.then_some(ContentFormat::Json);
        [ContentFormat::Events, ContentFormat::AmazonEventStream].into_iter().chain(documents).find(is)
    }

    /// The piece that was written last, out of its content coding, as it came.
    pub fn decoded<'a>(&'a self, chunk: &'a [u8]) -> &'a [u8] {
        if self.decode.is_empty() { chunk } else { &self.plain }
    }

    /// Decoded bytes looked at so far.
    pub fn scanned(&self) -> u64 {
        self.scanned
    }

    /// Bytes held back now.
    pub fn held(&self) -> usize {
        self.begin.as_ref().map_or(0, |begin| begin.head.len()) + self.edit.held()
    }

    /// Whether it passes as it is, since its kind cannot be told.
    pub fn is_unknown(&self) -> bool {
        self.begin.is_none() && self.frame.is_none()
    }
}

impl BodyStart {
    /// What the body is, as far as it has come.
    fn kind(&self, ended: bool) -> BodyKind {
        match ended && self.head.is_empty() {
            true => BodyKind::As(ContentFormat::Text),
            false => self.format.kind(&self.head, ended, self.direction),
        }
    }

    /// Builds the stages for what the body is. Returns that, and whether only text may be in it.
    fn settle(
        &self,
        kind: BodyKind,
        edit: &mut Pipeline,
    ) -> Result<(Option<ContentFormat>, bool), StreamError> {
        let Self { layers, policy, .. } = self;
        // What puts values back takes nothing out: what it cannot read has none.
        let restores = |layer: &Layer| matches!(layer, Layer::Text(text) if text.restores);
        let strict = !layers.iter().all(restores);
        let frame = match kind {
            BodyKind::As(frame) => frame,
            BodyKind::Wrong(why) if strict => return Err(StreamError::NotText(why)),
            BodyKind::Unknown if *policy == UnscannedPolicy::Refuse => return Err(StreamError::Unlabelled),
            _ => return Ok((None, false)),
        };
        for layer in layers {
            match layer {
                Layer::Bytes(recipe) => edit.push(recipe()),
                Layer::Text(text) => {
                    self.reassembled(text, frame).into_iter().for_each(|stage| edit.push(stage));
                    edit.push(self.framed(text, frame));
                }
            }
        }
        Ok((Some(frame), strict))
    }

    /// The rewriter that puts together what the documents of a stream cut, where nobody follows its texts.
    fn reassembled(&self, layer: &TextLayer, frame: ContentFormat) -> Option<Box<dyn Rewriter>> {
        let TextLayer { editor, protocol, fields, restores: true } = layer else { return None };
        let lines = |kind| move |by| Box::new(ReassembledLines::new(by, kind, &self.budget)) as _;
        let followed = match protocol {
            Some(protocol) => Some(Arc::new(FollowedTexts::of(protocol)?) as Arc<dyn Followed>),
            None => None,
        };
        let known = followed.is_some();
        let by = || Reassembler::new(editor(), followed.clone(), &self.budget);
        match frame {
            ContentFormat::Events => {
                let events = |by| Sse::new(ReassembledEvents::new(by), MAX_EVENT, &self.budget).data_only();
                by().map(|by| Box::new(events(by)) as _)
            }
            ContentFormat::AmazonEventStream if !known => {
                let messages =
                    |by| AmazonEventStream::new(ReassembledMessages::new(by), MAX_EVENT, &self.budget);
                by().map(|by| Box::new(messages(by)) as _)
            }
            ContentFormat::Json if fields.is_none() && (self.format.lines || !known) => {
                by().map(lines(LineKind::Document))
            }
            ContentFormat::Text if !known => by().map(lines(LineKind::Labelled)),
            _ => None,
        }
    }

    /// The rewriter that finds the texts of a body.
    fn framed(&self, layer: &TextLayer, frame: ContentFormat) -> Box<dyn Rewriter> {
        let budget = &self.budget;
        match (frame, &layer.protocol) {
            (ContentFormat::Json, Some(protocol))
                if self.format.lines || protocol.protocol.stream.in_array =>
            {
                Box::new(JsonDeltas::new(Arc::clone(protocol), Arc::clone(&layer.editor), budget))
            }
            (ContentFormat::Json, Some(protocol)) => {
                Box::new(WholeAnswer::new(Arc::clone(protocol), Arc::clone(&layer.editor), budget))
            }
            (ContentFormat::Json, None) => {
                let fields = layer.fields.clone().unwrap_or_else(|| Arc::new(PathSet::everything()));
                let slots = EditorSlots::new((layer.editor)(), fields).with_keys_and_numbers();
                Box::new(JsonSlots::new(slots, budget))
            }
            (ContentFormat::Events, Some(protocol)) => {
                let deltas = SseDeltas::new(Arc::clone(protocol), Arc::clone(&layer.editor), budget);
                events(Sse::new(deltas, MAX_EVENT, budget), layer)
            }
            (ContentFormat::Events, None) => {
                events(Sse::new(GenericEvents::new((layer.editor)()), MAX_EVENT, budget), layer)
            }
            (ContentFormat::AmazonEventStream, Some(protocol)) => {
                let deltas = AmazonDeltas::new(Arc::clone(protocol), Arc::clone(&layer.editor), budget);
                Box::new(AmazonEventStream::new(deltas, MAX_EVENT, budget))
            }
            (ContentFormat::AmazonEventStream, None) => {
                let messages = GenericMessages::new((layer.editor)());
                Box::new(AmazonEventStream::new(messages, MAX_EVENT, budget))
            }
            (ContentFormat::Form, _) => Box::new(FormBody::new((layer.editor)(), budget)),
            (ContentFormat::Formatted(format), _) => {
                Box::new(FormattedBody::new(format, (layer.editor)(), budget))
            }
            (ContentFormat::Text, _) => {
                let body = TextBody::new((layer.editor)(), budget);
                Box::new(if layer.restores { body.pausing() } else { body })
            }
        }
    }
}

/// What was restored in an id would come back in `Last-Event-ID`, and go on to the upstream.
fn events<V: Events + 'static>(events: Sse<V>, layer: &TextLayer) -> Box<dyn Rewriter> {
    Box::new(if layer.restores { events.data_only() } else { events })
}
