//! Content coding × media type × protocol → the rewriters of one body, built once: decode, frame, edit, encode.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use crate::api::apart;
use crate::base::budget::Budget;
use crate::gateway::filter::{Layer, TextLayer};
use crate::gateway::llm::{Deltas, WholeAnswer};
use crate::stream::codec::{Coding, Decoder, Encoder, Ratio};
use crate::stream::json::{EditorSlots, JsonSlots, PathSet};
use crate::stream::sse::Sse;
use crate::stream::{GenericEvents, Pipeline, Rewriter, StreamError, TextBody};
use crate::telemetry::Unscanned;

/// The largest single event of an event stream that is taken, in bytes.
pub const MAX_EVENT: usize = 16 << 20;

/// Pieces longer than this may take more than a millisecond, in bytes: of text, and of what is to be decoded first.
const LONG: usize = 4 << 10;
const LONG_PACKED: usize = 64;

/// Where text is in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// JSON, one document or a sequence of them (RFC 8259, NDJSON).
    Json,
    /// An event stream (WHATWG HTML, section 9.2).
    Events,
    /// All of it.
    Text,
}

/// What a head says of its body, as far as rewriting cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    /// Where text is.
    pub frame: Frame,
    /// Content codings, in the order they were applied.
    pub codings: Vec<Coding>,
}

impl Cast {
    /// Reads a head.
    ///
    /// # Errors
    /// Why the body cannot be scanned.
    pub fn of(headers: &HeaderMap) -> Result<Self, Unscanned> {
        let frame = headers.get(CONTENT_TYPE).and_then(frame_of).ok_or(Unscanned::ContentType)?;
        Ok(Self { frame, codings: codings(headers)? })
    }
}

/// The content codings a head names.
///
/// # Errors
/// One that we cannot decode.
pub fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, Unscanned> {
    let mut all = headers.get_all(CONTENT_ENCODING).iter();
    let Some(first) = all.next() else { return Ok(Vec::new()) };
    let text = first.to_str().map_err(|_| Unscanned::ContentCoding)?;
    match all.next() {
        None => Coding::parse(text).map_err(|_| Unscanned::ContentCoding),
        Some(_) => Err(Unscanned::ContentCoding),
    }
}

/// Media types by where their text is. Types that are not here cannot be scanned.
fn frame_of(value: &HeaderValue) -> Option<Frame> {
    let text = value.to_str().ok()?;
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next()?.to_ascii_lowercase();
    let readable = parts.filter_map(|part| part.split_once('=')).all(|(name, value)| {
        let charset = value.trim().trim_matches('"');
        // Every one of these keeps ASCII as it is; what is not UTF-8 passes byte for byte.
        let ascii_based = ["utf-8", "us-ascii", "iso-8859-1", "windows-1252"];
        !name.trim().eq_ignore_ascii_case("charset")
            || ascii_based.iter().any(|known| charset.eq_ignore_ascii_case(known))
    });
    if !readable {
        return None;
    }
    match essence.as_str() {
        "application/json" | "application/x-ndjson" | "application/jsonl" | "application/json-seq" => {
            Some(Frame::Json)
        }
        "text/event-stream" => Some(Frame::Events),
        "application/xml" | "application/javascript" | "application/yaml" | "application/graphql" => {
            Some(Frame::Text)
        }
        other if other.ends_with("+json") => Some(Frame::Json),
        other if other.ends_with("+xml") || other.starts_with("text/") => Some(Frame::Text),
        _ => None,
    }
}

/// One body being rewritten.
pub struct Body {
    decode: Pipeline,
    edit: Pipeline,
    encode: Pipeline,
    plain: BytesMut,
    edited: BytesMut,
    frame: Frame,
    scanned: u64,
    broken: bool,
}

impl Body {
    /// Builds the rewriters for `layers`.
    ///
    /// # Errors
    /// A coder that cannot be set up.
    pub fn new(layers: &[Layer], cast: &Cast, budget: &Budget) -> Result<Self, StreamError> {
        let mut edit = Pipeline::default();
        for layer in layers {
            edit.push(match layer {
                Layer::Bytes(recipe) => recipe(),
                Layer::Text(text) => framed(text, cast.frame, budget),
            });
        }
        let (decode, encode) = (decoders(&cast.codings, budget)?, encoders(&cast.codings, budget)?);
        let (plain, edited) = (BytesMut::new(), BytesMut::new());
        Ok(Self { decode, edit, encode, plain, edited, frame: cast.frame, scanned: 0, broken: false })
    }

    /// Rewrites the next piece; `end` when it is the last. Where that may take more than a millisecond, what else the
    /// thread has to do goes on elsewhere meanwhile.
    ///
    /// # Errors
    /// A stage's. Afterwards the body takes no more input: see [`Body::cut`].
    pub fn write(&mut self, chunk: &[u8], end: bool, out: &mut BytesMut) -> Result<(), StreamError> {
        if self.broken {
            return Ok(());
        }
        let long = if self.decode.is_empty() { LONG } else { LONG_PACKED };
        let result =
            if chunk.len() > long { apart(|| self.run(chunk, end, out)) } else { self.run(chunk, end, out) };
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
        self.scanned += plain.len() as u64;
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

    /// The input broke off, or a stage failed: what is decided leaves, then `words` in the event stream's own form,
    /// then the coding ends. `false` when the frame has no room for words, and the body must look broken instead.
    pub fn cut(&mut self, words: &[u8], out: &mut BytesMut) -> bool {
        let speaks = self.frame == Frame::Events;
        self.edited.clear();
        if !self.broken {
            // What the last events held back is text of the caller's; an incomplete event stays behind.
            drop(self.edit.finish(&mut self.edited));
        }
        self.broken = true;
        if speaks {
            self.edited.extend_from_slice(words);
        }
        let encoded = self.encode.write(&self.edited, out);
        if speaks {
            drop(encoded.and_then(|()| self.encode.finish(out)));
        }
        speaks
    }

    /// Decoded bytes looked at so far.
    pub fn scanned(&self) -> u64 {
        self.scanned
    }

    /// Bytes held back now.
    pub fn held(&self) -> usize {
        self.edit.held()
    }
}

fn framed(layer: &TextLayer, frame: Frame, budget: &Budget) -> Box<dyn Rewriter> {
    match (frame, &layer.protocol) {
        (Frame::Json, Some(spoken)) => Box::new(WholeAnswer::new(Arc::clone(spoken), layer, budget)),
        (Frame::Json, None) => {
            let slots = EditorSlots::new((layer.editor)(), PathSet::everything()).with_keys_and_numbers();
            Box::new(JsonSlots::new(slots, budget))
        }
        (Frame::Events, Some(spoken)) => {
            Box::new(Sse::new(Deltas::new(Arc::clone(spoken), layer, budget), MAX_EVENT, budget))
        }
        (Frame::Events, None) => Box::new(Sse::new(GenericEvents::new((layer.editor)()), MAX_EVENT, budget)),
        (Frame::Text, _) => Box::new(TextBody::new((layer.editor)(), budget)),
    }
}

fn decoders(codings: &[Coding], budget: &Budget) -> Result<Pipeline, StreamError> {
    let mut stages = Pipeline::default();
    for coding in codings.iter().rev() {
        stages.push(Box::new(Decoder::new(*coding, Ratio::default(), budget)?));
    }
    Ok(stages)
}

fn encoders(codings: &[Coding], budget: &Budget) -> Result<Pipeline, StreamError> {
    let mut stages = Pipeline::default();
    for coding in codings {
        stages.push(Box::new(Encoder::new(*coding, budget)?));
    }
    Ok(stages)
}

/// How a collected body is taken out of its codings.
pub struct Unpack<'a> {
    /// The codings, in the order they were applied.
    pub codings: &'a [Coding],
    /// The most that may come of it, in bytes.
    pub limit: usize,
    /// What it may hold.
    pub budget: &'a Budget,
}

/// Takes a collected body out of its codings.
///
/// # Errors
/// A decoder's, or more than the limit.
pub fn decode(body: &Bytes, unpack: &Unpack<'_>) -> Result<Bytes, StreamError> {
    let Unpack { codings, limit, budget } = *unpack;
    if codings.is_empty() {
        return Ok(body.clone());
    }
    let mut stages = decoders(codings, budget)?;
    let mut charge = budget.charge();
    let mut plain = BytesMut::new();
    // In pieces, so that a bomb is noticed before it is unpacked.
    for piece in body.chunks(16 << 10) {
        stages.write(piece, &mut plain)?;
        if plain.len() > limit {
            return Err(StreamError::TooLarge { unit: "decoded body", limit });
        }
        charge.set(plain.len())?;
    }
    stages.finish(&mut plain)?;
    Ok(plain.freeze())
}

/// Puts a collected body into these codings.
///
/// # Errors
/// An encoder's.
pub fn encode(plain: &[u8], codings: &[Coding], budget: &Budget) -> Result<Bytes, StreamError> {
    let mut stages = encoders(codings, budget)?;
    let mut body = BytesMut::new();
    stages.write(plain, &mut body)?;
    stages.finish(&mut body)?;
    Ok(body.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_framed_or_refused() {
        let rows = [
            ("application/json", Some(Frame::Json)),
            ("Application/Problem+JSON; charset=utf-8", Some(Frame::Json)),
            ("application/x-ndjson", Some(Frame::Json)),
            ("text/event-stream; charset=utf-8", Some(Frame::Events)),
            ("text/plain", Some(Frame::Text)),
            ("text/html; charset=\"UTF-8\"", Some(Frame::Text)),
            ("text/plain; charset=utf-16", None),
            ("multipart/form-data; boundary=x", None),
            ("application/octet-stream", None),
            ("image/png", None),
        ];
        for (text, frame) in rows {
            assert_eq!(frame_of(&HeaderValue::from_static(text)), frame, "{text}");
        }
    }
}
