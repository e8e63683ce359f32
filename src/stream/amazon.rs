//! Amazon event streams (`application/vnd.amazon.eventstream`) as they pass, framed as the "Amazon Event Stream
//! Specification" of Smithy says: a message is two lengths and their CRC-32, headers, a payload, and a CRC-32 of all.
//!
//! A message that nobody changes leaves byte for byte, as soon as it is whole. One that is damaged is an error: it is
//! neither passed unread nor given sums that fit.

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::{Rewriter, StreamError};

/// Both lengths and their CRC-32.
const PRELUDE: usize = 12;
/// The CRC-32 at the end.
const SUM: usize = 4;
/// The most bytes that all headers of a message may have.
const MAX_HEADERS: usize = 128 << 10;
/// A string among the types of a header's value.
const STRING: u8 = 7;

/// Headers that say what a message is; the strings of all others are text, such as `:error-message`.
const MEANINGS: [&[u8]; 5] =
    [b":message-type", b":event-type", b":exception-type", b":error-code", b":content-type"];

/// Sees the messages of one stream in order.
pub trait Messages: Send {
    /// A message has arrived, with its headers as [`Messages::header`] leaves them. Returns its payload if that changes. What is written to `before` leaves in front of it:
    /// whole messages, made with [`write_message`].
    ///
    /// # Errors
    /// The stream cannot go on.
    fn message(
        &mut self,
        message: &EventStreamMessage<'_>,
        before: &mut BytesMut,
    ) -> Result<Option<Vec<u8>>, StreamError>;

    /// Whether the message that was shown last does not leave yet.
    fn waits(&self) -> bool {
        false
    }

    /// A text in a message's headers. Returns what it becomes, or `None` if it stays.
    ///
    /// # Errors
    /// The stream cannot go on.
    fn header(&mut self, text: &str) -> Result<Option<String>, StreamError>;

    /// Nothing comes for a while: what waits only for what may follow is written to `out`.
    ///
    /// # Errors
    /// The stream cannot go on.
    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let _ = out;
        Ok(())
    }

    /// Bytes of messages that wait.
    fn held(&self) -> usize {
        0
    }

    /// The stream has ended; what is still to be said is written to `out`, as for [`Messages::message`].
    ///
    /// # Errors
    /// It cannot be said.
    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError>;
}

/// One message.
#[derive(Clone, Copy, Debug)]
pub struct EventStreamMessage<'a> {
    raw: &'a [u8],
    headers: &'a [u8],
    payload: &'a [u8],
}

impl<'a> EventStreamMessage<'a> {
    /// Reads the bytes of one message, no more and no less.
    ///
    /// # Errors
    /// Lengths that do not fit, a sum that is wrong, or headers that are none.
    pub fn parse(raw: &'a [u8]) -> Result<Self, StreamError> {
        let lengths = Lengths::read(raw)?.ok_or(StreamError::Damaged)?;
        let (checked, sum) = raw.split_last_chunk::<SUM>().ok_or(StreamError::Damaged)?;
        if lengths.total != raw.len() || crc32fast::hash(checked) != u32::from_be_bytes(*sum) {
            return Err(StreamError::Damaged);
        }
        let inside = checked.get(PRELUDE..).ok_or(StreamError::Damaged)?;
        let (headers, payload) = inside.split_at_checked(lengths.headers).ok_or(StreamError::Damaged)?;
        let mut rest = headers;
        while !rest.is_empty() {
            EventHeader::take(&mut rest).ok_or(StreamError::Damaged)?;
        }
        Ok(Self { raw, headers, payload })
    }

    /// All of it.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The block of headers.
    pub fn headers(&self) -> &'a [u8] {
        self.headers
    }

    /// What the message carries.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The text of the header `name`; `None` where there is none, or its value is no text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        let named = Headers(self.headers).find(|header| header.name == name.as_bytes())?;
        std::str::from_utf8(named.string?).ok()
    }
}

/// Appends a message with this block of headers, and the sums that belong to it.
///
/// # Errors
/// More bytes than a message's lengths can say.
pub fn write_message(headers: &[u8], payload: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
    let total = PRELUDE + headers.len() + payload.len() + SUM;
    let limit = u32::MAX as usize;
    let word = |length| u32::try_from(length).map_err(|_| StreamError::TooLarge { unit: "message", limit });
    let lengths = [word(total)?.to_be_bytes(), word(headers.len())?.to_be_bytes()];
    let mut sum = crc32fast::Hasher::new();
    sum.update(lengths.as_flattened());
    let prelude = sum.clone().finalize().to_be_bytes();
    for part in [&prelude, headers, payload] {
        sum.update(part);
    }
    for part in [lengths.as_flattened(), &prelude, headers, payload, &sum.finalize().to_be_bytes()] {
        out.extend_from_slice(part);
    }
    Ok(())
}

/// Appends a header whose value is a text. Of a name or text that is longer than a header may say, the rest is left out.
pub fn write_header(name: &str, text: &str, headers: &mut Vec<u8>) {
    let (name, text) = (until(name, u8::MAX.into()), until(text, u16::MAX.into()));
    headers.push(u8::try_from(name.len()).unwrap_or_default());
    headers.extend_from_slice(name.as_bytes());
    headers.push(STRING);
    headers.extend_from_slice(&u16::try_from(text.len()).unwrap_or_default().to_be_bytes());
    headers.extend_from_slice(text.as_bytes());
}

/// As much of a text as `most` bytes hold.
fn until(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// The lengths of a message, in bytes.
struct Lengths {
    total: usize,
    headers: usize,
}

impl Lengths {
    /// Reads a prelude; `None` while it is not all there.
    fn read(raw: &[u8]) -> Result<Option<Self>, StreamError> {
        let Some(prelude) = raw.first_chunk::<PRELUDE>() else { return Ok(None) };
        let [a, b, c, d, e, f, g, h, sum @ ..] = *prelude;
        let length = |word| usize::try_from(u32::from_be_bytes(word)).map_err(|_| StreamError::Damaged);
        let lengths = Self { total: length([a, b, c, d])?, headers: length([e, f, g, h])? };
        let sums = crc32fast::hash(&[a, b, c, d, e, f, g, h]) == u32::from_be_bytes(sum);
        if !sums || lengths.total < PRELUDE + SUM || lengths.headers > lengths.total - PRELUDE - SUM {
            return Err(StreamError::Damaged);
        }
        if lengths.headers > MAX_HEADERS {
            return Err(StreamError::TooLarge { unit: "headers", limit: MAX_HEADERS });
        }
        Ok(Some(lengths))
    }
}

/// One header.
struct EventHeader<'a> {
    name: &'a [u8],
    /// Its value, if that is a string.
    string: Option<&'a [u8]>,
    raw: &'a [u8],
}

impl<'a> EventHeader<'a> {
    /// Reads the first of `rest`, which goes on behind it.
    fn take(rest: &mut &'a [u8]) -> Option<Self> {
        let whole = *rest;
        let (length, mut after) = whole.split_first()?;
        let name = after.split_off(..usize::from(*length))?;
        let kind = *after.split_off_first()?;
        let fixed = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | STRING => usize::from(u16::from_be_bytes(*after.split_off(..2)?.first_chunk()?)),
            9 => 16,
            _ => return None,
        };
        let value = after.split_off(..fixed)?;
        let raw = whole.get(..whole.len() - after.len())?;
        *rest = after;
        Some(Self { name, string: (kind == STRING).then_some(value), raw })
    }

    /// What of it is text for people.
    fn text(&self) -> Option<&'a str> {
        let value = self.string.filter(|_| !MEANINGS.contains(&self.name))?;
        std::str::from_utf8(value).ok().filter(|text| !text.is_empty())
    }
}

/// The headers of a block that was found good.
struct Headers<'a>(&'a [u8]);

impl<'a> Iterator for Headers<'a> {
    type Item = EventHeader<'a>;

    fn next(&mut self) -> Option<EventHeader<'a>> {
        EventHeader::take(&mut self.0)
    }
}

/// Splits a stream into messages and shows them to a visitor.
pub struct AmazonEventStream<V> {
    visitor: V,
    max_message: usize,
    charge: MemoryCharge,
    /// What has not left: a message of which not all is there.
    raw: Vec<u8>,
}

impl<V: Messages> AmazonEventStream<V> {
    /// What sees the messages.
    pub fn visitor(&self) -> &V {
        &self.visitor
    }

    /// Shows the stream's messages to `visitor`. One of more than `max_message` bytes is an error, for it can only be
    /// judged whole.
    pub fn new(visitor: V, max_message: usize, budget: &MemoryBudget) -> Self {
        Self { visitor, max_message, charge: budget.charge(), raw: Vec::new() }
    }

    /// Gives out all messages of `raw` that are whole; returns where the rest begins.
    fn messages(&mut self, raw: &[u8], out: &mut BytesMut) -> Result<usize, StreamError> {
        let mut begin = 0;
        while let Some(Lengths { total, .. }) = Lengths::read(raw.get(begin..).unwrap_or_default())? {
            let limit = self.max_message;
            if total > limit {
                return Err(StreamError::TooLarge { unit: "message", limit });
            }
            let Some(whole) = raw.get(begin..begin + total) else { break };
            self.show(whole, out)?;
            begin += total;
        }
        Ok(begin)
    }

    fn show(&mut self, raw: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let mut message = EventStreamMessage::parse(raw)?;
        let mut renewed = BytesMut::new();
        if let Some(headers) = self.headers(message.headers)? {
            write_message(&headers, message.payload, &mut renewed)?;
            message = EventStreamMessage::parse(&renewed)?;
        }
        match self.visitor.message(&message, out)? {
            _ if self.visitor.waits() => Ok(()),
            Some(payload) => write_message(message.headers, &payload, out),
            None => {
                out.extend_from_slice(message.raw);
                Ok(())
            }
        }
    }

    /// A block of headers with its texts edited, if they are.
    fn headers(&mut self, block: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        let mut edited: Option<Vec<u8>> = None;
        let mut end = 0;
        for header in Headers(block) {
            let start = end;
            end += header.raw.len();
            let with = match header.text() {
                Some(text) => self.visitor.header(text)?,
                None => None,
            };
            if let Some(with) = with {
                let out = edited.get_or_insert_with(|| block.get(..start).unwrap_or_default().to_vec());
                write_header(&String::from_utf8_lossy(header.name), &with, out);
            } else if let Some(out) = &mut edited {
                out.extend_from_slice(header.raw);
            }
        }
        Ok(edited)
    }
}

impl<V: Messages> Rewriter for AmazonEventStream<V> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.raw.extend_from_slice(chunk);
        let mut raw = std::mem::take(&mut self.raw);
        let begin = self.messages(&raw, out)?;
        raw.drain(..begin);
        self.raw = raw;
        Ok(self.charge.set(self.raw.len())?)
    }

    /// A message that broke off stays behind: it cannot be judged.
    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let rest = std::mem::take(&mut self.raw);
        self.visitor.end(out)?;
        self.charge.set(0)?;
        if rest.is_empty() { Ok(()) } else { Err(StreamError::BrokenOff) }
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.visitor.release(out)
    }

    fn held(&self) -> usize {
        self.raw.len() + self.visitor.held()
    }
}

#[cfg(test)]
#[path = "amazon_tests.rs"]
mod tests;
