//! [`UsageReader`]: how many tokens an answer took ([`AnswerUsage`]), as its provider says in it. It reads along: it sees the answer as it comes
//! from the upstream, out of its content coding, and changes nothing. What it cannot read counts as not said.

use bytes::BytesMut;
use memchr::memmem;

use crate::base::budget::MemoryBudget;
use crate::gateway::error::ErrorShape;
use crate::gateway::llm::amazon_deltas::document_of;
use crate::gateway::llm::protocol::{DeltaRule, ModelNaming, Nested, Protocol, StreamProtocol, TokenCount};
use crate::stream::amazon::{AmazonEventStream, EventStreamMessage, Messages};
use crate::stream::json::{NumberReader, Path, Segment, Treatment};
use crate::stream::sse::{Event, EventAction, Events, Sse};
use crate::stream::{Rewriter, StreamError};
use crate::usage::TokenUsage;

/// The largest event that is looked at, in bytes.
const MAX_EVENT: usize = 16 << 20;

/// What every event has in it that says something of tokens.
const MARK: &[u8] = b"oken";

/// More tokens than an answer ever has.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Bytes of text for a token, where nobody says how many there were: what English has with the usual tokenizers.
const BYTES_A_TOKEN: u64 = 4;

/// An answer of which it is not known what is spoken: the places of all, as far as they are none of anybody's text.
pub static UNKNOWN: Protocol = Protocol {
    name: "unknown",
    paths: &[],
    shape: ErrorShape::Envelope,
    request: &[],
    answer: &[],
    // Some text goes on, so that what nobody reports is estimated.
    nested: Nested::NONE,
    stream: StreamProtocol {
        deltas: &[DeltaRule { at: "text", treatment: Treatment::Text, when: None, key: &[] }],
        ..StreamProtocol::NONE
    },
    model: ModelNaming::MEMBER,
    usage: &[
        ("usage.prompt_tokens", TokenCount::Input),
        ("usage.completion_tokens", TokenCount::Output),
        ("usage.input_tokens", TokenCount::Input),
        ("usage.output_tokens", TokenCount::Output),
        ("usage.inputTokens", TokenCount::Input),
        ("usage.outputTokens", TokenCount::Output),
        ("message.usage.input_tokens", TokenCount::Input),
        ("message.usage.output_tokens", TokenCount::Output),
        ("response.usage.input_tokens", TokenCount::Input),
        ("response.usage.output_tokens", TokenCount::Output),
        ("usageMetadata.promptTokenCount", TokenCount::Input),
        ("usageMetadata.candidatesTokenCount", TokenCount::VisibleOutput),
        ("usageMetadata.thoughtsTokenCount", TokenCount::Reasoning),
        ("usage.billed_units.input_tokens", TokenCount::Input),
        ("usage.billed_units.output_tokens", TokenCount::Output),
        ("prompt_eval_count", TokenCount::Input),
        ("eval_count", TokenCount::Output),
    ],
};

/// Reads the numbers of tokens of one answer.
pub struct UsageReader {
    framing: Framing,
    protocol: &'static Protocol,
    /// What the stages write, which nobody reads.
    passed: BytesMut,
    bytes: u64,
    ended: bool,
    charged: MemoryBudget,
}

/// What is known of the tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerUsage {
    /// What it says itself; `None` while it has said nothing.
    pub reported: Option<TokenUsage>,
    /// About how many were written in what has come.
    pub about: u64,
    /// Whether all of it has come.
    pub ended: bool,
}

impl AnswerUsage {
    /// The tokens that were used, and whether they are estimated: `most` has those that were read, as far as nobody says. In
    /// the beginning of a stream some say what it will have at the least, which counts once it is `complete`.
    pub fn usage(self, most: TokenUsage, complete: bool) -> (TokenUsage, bool) {
        match self.reported {
            Some(reported) if self.ended || complete || self.about <= reported.output => (reported, false),
            Some(reported) => (TokenUsage { output: self.about, ..reported }, true),
            None => (TokenUsage { input: most.input, output: self.about, ..TokenUsage::default() }, true),
        }
    }
}

/// How documents lie in an answer.
enum Framing {
    /// Nothing has come that tells.
    Unknown,
    Events(Box<Sse<Reports>>),
    Messages(Box<AmazonEventStream<Reports>>),
    /// One document, one a line, or the elements of one array.
    Documents(Box<NumberReader>, Reports),
    /// It cannot be read any further.
    Lost(Reports),
}

impl UsageReader {
    /// Reads an answer of this protocol; `binary` if it is said to be an Amazon event stream, which does not show it.
    pub fn new(protocol: &'static Protocol, binary: bool, budget: &MemoryBudget) -> Self {
        let reports = Reports::of(protocol);
        let framing = match binary {
            true => Framing::Messages(Box::new(AmazonEventStream::new(reports, MAX_EVENT, budget))),
            false => Framing::Unknown,
        };
        Self { framing, protocol, passed: BytesMut::new(), bytes: 0, ended: false, charged: budget.clone() }
    }

    /// Reads the next piece; `end` when it is the last.
    pub fn read(&mut self, piece: &[u8], end: bool) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        self.ended |= end;
        if matches!(self.framing, Framing::Unknown) {
            self.begin(piece);
        }
        let passed = &mut self.passed;
        let read = match &mut self.framing {
            Framing::Unknown | Framing::Lost(_) => Ok(()),
            Framing::Events(stage) => rewritten(stage.as_mut(), piece, end, passed),
            Framing::Messages(stage) => rewritten(stage.as_mut(), piece, end, passed),
            Framing::Documents(reader, reports) => {
                let mut see = |path: &Path<'_>, number: &str| reports.see(path, number);
                reader.feed(piece, &mut see);
                if end {
                    reader.end(&mut see);
                }
                Ok(())
            }
        };
        self.passed.clear();
        if read.is_err() {
            self.framing =
                Framing::Lost(self.reports().cloned().unwrap_or_else(|| Reports::of(self.protocol)));
        }
    }

    /// The first byte that is no blank tells: those of a stream of events begin with a letter or a colon.
    fn begin(&mut self, piece: &[u8]) {
        let reports = Reports::of(self.protocol);
        match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[' | 0x1e) => {
                self.framing = Framing::Documents(Box::default(), reports);
            }
            Some(_) => {
                let events = Sse::new(reports, MAX_EVENT, &self.charged).data_only();
                self.framing = Framing::Events(Box::new(events));
            }
            None => {}
        }
    }

    fn reports(&self) -> Option<&Reports> {
        match &self.framing {
            Framing::Unknown => None,
            Framing::Events(stage) => Some(stage.visitor()),
            Framing::Messages(stage) => Some(stage.visitor()),
            Framing::Documents(_, reports) | Framing::Lost(reports) => Some(reports),
        }
    }

    /// What is known of the answer so far.
    pub fn taken(&self) -> AnswerUsage {
        AnswerUsage { reported: self.reported(), about: self.estimated_output(), ended: self.ended }
    }

    fn reported(&self) -> Option<TokenUsage> {
        self.reports()?.usage()
    }

    /// About how many tokens were written in what has come: an event says how long its text is, a document has some bytes for each.
    fn estimated_output(&self) -> u64 {
        // Vectors, pictures and sound are no text of a model's.
        if self.protocol.stream.deltas.is_empty() {
            return 0;
        }
        let written = self.reports().map_or(0, |reports| reports.written);
        if written > 0 { written } else { estimated(self.bytes) }
    }
}

/// About how many tokens so many bytes of text are.
pub fn estimated(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_A_TOKEN)
}

/// Bytes of the longest text in one event. Names, ids, signatures, sound and pictures are none: they have nothing but letters, digits and
/// signs of ASCII, and what a model wrote has blanks, escapes or other scripts as soon as it is more than a word.
fn longest_text(document: &[u8]) -> u64 {
    let (mut longest, mut begun, mut escaped) = (0, None, usize::MAX);
    for at in memchr::memchr2_iter(b'"', b'\\', document) {
        match document.get(at) {
            _ if at == escaped => {}
            Some(b'\\') => escaped = at + 1,
            _ => match begun.take() {
                None => begun = Some(at + 1),
                Some(start) => {
                    let text = document.get(start..at).unwrap_or_default();
                    let is_text = |byte: &u8| matches!(byte, b' ' | b'\\') || !byte.is_ascii();
                    if text.len() > longest && text.iter().any(is_text) {
                        longest = text.len();
                    }
                }
            },
        }
    }
    longest as u64
}

fn rewritten(
    stage: &mut dyn Rewriter,
    piece: &[u8],
    end: bool,
    passed: &mut BytesMut,
) -> Result<(), StreamError> {
    stage.write(piece, passed)?;
    if end { stage.finish(passed) } else { Ok(()) }
}

/// What has been said so far.
#[derive(Clone)]
struct Reports {
    places: &'static [(&'static str, TokenCount)],
    /// The member that they are in; empty: none.
    within: &'static str,
    /// The largest number of each count.
    last: [Option<u64>; COUNTS],
    /// About how many tokens its events brought.
    written: u64,
    /// Whether something stood there that is no number of tokens: then nothing counts as said.
    odd: bool,
}

const COUNTS: usize = 9;

impl Reports {
    /// Of an answer of this protocol.
    fn of(protocol: &'static Protocol) -> Self {
        Self {
            places: protocol.usage,
            within: protocol.stream.within,
            last: [None; COUNTS],
            written: 0,
            odd: false,
        }
    }

    /// Looks at one document; whether it says how many tokens there were.
    fn document(&mut self, document: &[u8]) -> bool {
        self.written = self.written.saturating_add(estimated(longest_text(document)).max(1));
        if memmem::find(document, MARK).is_none() {
            return false;
        }
        let before = self.last;
        let mut reader = NumberReader::default();
        reader.feed(document, &mut |path, number| self.see(path, number));
        self.last != before
    }

    fn see(&mut self, path: &Path<'_>, number: &str) {
        // Of a stream in one array, each element is a document.
        let mut first = usize::from(matches!(path.segment(0), Some(Segment::Index(_))));
        if !self.within.is_empty() {
            if path.segment(first) != Some(Segment::Key(self.within)) {
                return;
            }
            first += 1;
        }
        let is = |place: &str| {
            let mut at = first;
            let leads = place.split('.').all(|name| {
                at += 1;
                path.segment(at - 1) == Some(Segment::Key(name))
            });
            leads && at == path.len()
        };
        let Some((_, count)) = self.places.iter().find(|(place, _)| is(place)) else { return };
        let Some(last) = self.last.get_mut(*count as usize) else { return };
        match whole(number) {
            // Those of a stream grow, and what comes behind them may say nothing.
            Some(number) => *last = Some(last.map_or(number, |before| number.max(before))),
            None => self.odd = true,
        }
    }

    /// The tokens that were said.
    fn usage(&self) -> Option<TokenUsage> {
        let said = |count: TokenCount| self.last.get(count as usize).copied().flatten();
        let or_none = |count: TokenCount| said(count).unwrap_or(0);
        let all = [TokenCount::Input, TokenCount::FreshInput, TokenCount::Output, TokenCount::VisibleOutput];
        if self.odd || !all.into_iter().chain([TokenCount::Total]).any(|count| said(count).is_some()) {
            return None;
        }
        let (cached, written) = (or_none(TokenCount::CachedInput), or_none(TokenCount::CacheWrite));
        let reasoning = or_none(TokenCount::Reasoning);
        let visible = said(TokenCount::VisibleOutput).map(|visible| visible.saturating_add(reasoning));
        let output = said(TokenCount::Output).or(visible).unwrap_or(0);
        let fresh = said(TokenCount::FreshInput);
        let fresh = fresh.map(|fresh| fresh.saturating_add(cached).saturating_add(written));
        let total = || or_none(TokenCount::Total).saturating_sub(output);
        let input = said(TokenCount::Input).or(fresh).unwrap_or_else(total);
        let input = input.saturating_add(or_none(TokenCount::OtherInput));
        let cached_input = cached.min(input);
        Some(TokenUsage {
            input,
            cached_input,
            cache_write: written.min(input - cached_input),
            output,
            reasoning: reasoning.min(output),
        })
    }
}

/// A number of tokens: some write `40.0`, `4e1` or an average. No answer has a billion.
fn whole(number: &str) -> Option<u64> {
    let number = number.parse::<f64>().ok()?.ceil();
    #[expect(clippy::cast_precision_loss, reason = "a billion is exact in a double")]
    let fits = (0.0..=MOST_TOKENS as f64).contains(&number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within these bounds")]
    fits.then_some(number as u64)
}

impl Events for Reports {
    fn event(&mut self, event: &Event<'_>, _: &mut BytesMut) -> Result<EventAction, StreamError> {
        self.document(event.data());
        Ok(EventAction::Drop)
    }

    fn line(&mut self, _: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(None)
    }

    fn end(&mut self, rest: &[u8], _: &mut BytesMut) -> Result<(), StreamError> {
        // The last event of some servers has no blank line behind it.
        let last = Event::parse(rest);
        if !last.data().is_empty() {
            self.document(last.data());
        }
        Ok(())
    }
}

impl Messages for Reports {
    fn message(
        &mut self,
        message: &EventStreamMessage<'_>,
        _: &mut BytesMut,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        self.document(&document_of(message));
        Ok(None)
    }

    fn header(&mut self, _: &str) -> Result<Option<String>, StreamError> {
        Ok(None)
    }

    fn end(&mut self, _: &mut BytesMut) -> Result<(), StreamError> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
