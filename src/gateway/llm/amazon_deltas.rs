//! [`AmazonDeltas`]: the messages of an Amazon event stream as documents. What a message is, stands in its headers, so a
//! document is the payload as a member that is named after the event, as the API's own clients show it:
//! `{"contentBlockDelta":{…}}`. Where a model's own events are in base64 in a member `bytes`, they are the documents.

use std::ops::Range;
use std::sync::Arc;

use bytes::BytesMut;
use data_encoding::BASE64;

use crate::base::budget::MemoryBudget;
use crate::edit::{Edit, spliced};
use crate::gateway::llm::delta::{Deltas, DocumentOutcome, EarlierDocument, EarlierDocuments};
use crate::gateway::llm::piece_reader::EditorFactory;
use crate::gateway::llm::protocol::CompiledProtocol;
use crate::stream::amazon::{EventStreamMessage, Messages, write_message};
use crate::stream::json::{Decoded, JsonToken, Segment, Treatment, Type, walk};
use crate::stream::{Editor, GenericMessages, StreamError};

/// What a message is called whose headers have no name that an API would give.
const UNNAMED: &str = "message";

/// A document that is no longer in its place, which no edit within its strings can do.
const MOVED: StreamError = StreamError::Replace("message");

/// Rewrites one stream.
pub struct AmazonDeltas {
    deltas: Deltas,
    /// For headers, of which the protocol says nothing.
    headers: GenericMessages<Box<dyn Editor>>,
}

impl AmazonDeltas {
    /// Rewrites one stream.
    pub fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &MemoryBudget) -> Self {
        Self { headers: GenericMessages::new(editor()), deltas: Deltas::new(protocol, editor, budget) }
    }

    /// Edits the document of a message; returns the payload with it, if it changes.
    fn payload(
        &mut self,
        message: &EventStreamMessage<'_>,
        before: &mut EarlierDocuments,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        let carrier = Carrier::of(message);
        let document = carrier.document(message.payload());
        match self.deltas.document(&document, message.raw(), before)? {
            DocumentOutcome::Keep => Ok(None),
            DocumentOutcome::Replace(document) | DocumentOutcome::Emptied(document) => {
                carrier.payload(message.payload(), &document).map(Some)
            }
            // Events have no numbers here.
            DocumentOutcome::Wait => Err(MOVED),
        }
    }
}

/// Writes messages that leave before another, each like the one that it is cloned from.
fn write_before(before: EarlierDocuments, out: &mut BytesMut) -> Result<(), StreamError> {
    for EarlierDocument { envelope, data, .. } in before {
        let message = EventStreamMessage::parse(&envelope)?;
        let payload = Carrier::of(&message).payload(message.payload(), &data)?;
        write_message(message.headers(), &payload, out)?;
    }
    Ok(())
}

impl Messages for AmazonDeltas {
    fn message(
        &mut self,
        message: &EventStreamMessage<'_>,
        before: &mut BytesMut,
    ) -> Result<Option<Vec<u8>>, StreamError> {
        let mut first = EarlierDocuments::new();
        // An error ends all texts, whatever it is called.
        if message.text(":message-type").is_some_and(|kind| kind != "event") {
            self.deltas.end(&mut first)?;
        }
        let payload = if message.payload().is_empty() { None } else { self.payload(message, &mut first)? };
        write_before(first, before)?;
        Ok(payload)
    }

    fn header(&mut self, text: &str) -> Result<Option<String>, StreamError> {
        self.headers.header(text)
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let mut first = EarlierDocuments::new();
        self.deltas.end(&mut first)?;
        write_before(first, out)
    }
}

/// The document of a message.
pub(super) fn document_of(message: &EventStreamMessage<'_>) -> Vec<u8> {
    Carrier::of(message).document(message.payload())
}

/// How a document lies in a payload.
enum Carrier {
    /// It is all of it.
    Bare,
    /// It is all of it, as the member of an object that begins so.
    Member(String),
    /// It is in base64 at this range, between the quotes of a string.
    Base64(Range<usize>, Vec<u8>),
}

impl Carrier {
    fn of(message: &EventStreamMessage<'_>) -> Self {
        let payload = message.payload();
        if let Some((range, document)) = encoded_document(payload) {
            return Self::Base64(range, document);
        }
        match payload.trim_ascii() {
            [b'{', .., b'}'] => {
                let name = message.text(":event-type").or_else(|| message.text(":exception-type"));
                let is_name =
                    |name: &&str| name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
                Self::Member(format!("{{\"{}\":", name.filter(is_name).unwrap_or(UNNAMED)))
            }
            _ => Self::Bare,
        }
    }

    /// The document in `payload`.
    fn document(&self, payload: &[u8]) -> Vec<u8> {
        match self {
            Self::Bare => payload.to_vec(),
            Self::Member(begin) => [begin.as_bytes(), payload, b"}"].concat(),
            Self::Base64(_, document) => document.clone(),
        }
    }

    /// `payload` with this document instead of its own.
    fn payload(&self, payload: &[u8], document: &[u8]) -> Result<Vec<u8>, StreamError> {
        match self {
            Self::Bare => Ok(document.to_vec()),
            Self::Member(begin) => {
                let inside = document.strip_prefix(begin.as_bytes()).and_then(|rest| rest.strip_suffix(b"}"));
                inside.map(<[u8]>::to_vec).ok_or(MOVED)
            }
            Self::Base64(range, _) => {
                Ok(spliced(payload, &[Edit { range: range.clone(), with: BASE64.encode(document) }]))
            }
        }
    }
}

/// The one member `bytes` of a payload that has nothing else but padding, if it is text in base64: where it stands, and what
/// it says.
fn encoded_document(payload: &[u8]) -> Option<(Range<usize>, Vec<u8>)> {
    memchr::memmem::find(payload, b"bytes")?;
    let (mut found, mut others) = (None, false);
    walk(payload, &mut |path, leaf| {
        let is = |name| path.len() == 1 && path.segment(0) == Some(Segment::Key(name));
        match leaf.token {
            JsonToken::Text if is("bytes") => others |= found.replace(leaf.span).is_some(),
            JsonToken::Text if is("p") => {
                let padding = Decoded::of(payload.get(leaf.span).unwrap_or_default());
                others |= Treatment::Typed(Type::Name).of(JsonToken::Text, padding.text()) != Treatment::Skip;
            }
            JsonToken::Key if path.is_empty() => {}
            _ => others = true,
        }
    })
    .ok()?;
    let range = found.filter(|_| !others)?;
    let document = BASE64.decode(Decoded::of(payload.get(range.clone())?).text().as_bytes()).ok()?;
    std::str::from_utf8(&document).is_ok().then_some((range, document))
}

#[cfg(test)]
#[path = "amazon_deltas_tests.rs"]
mod tests;
