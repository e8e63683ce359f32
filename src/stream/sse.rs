//! Server-sent events as they pass, framed as the WHATWG HTML standard says (section 9.2.6, "Interpreting an event
//! stream"): lines end with LF, CR or CRLF, a blank line ends an event.
//!
//! An event that nobody changes leaves byte for byte, with its comments, unknown fields and line ends, as soon as
//! its blank line has begun. Its data is judged whole; its other lines (comments, names, ids, whatever has no meaning)
//! each for itself.

use std::borrow::Cow;

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::utf8::BOM;
use crate::stream::{Rewriter, StreamError};

/// What becomes of an event.
#[derive(Clone, PartialEq, Eq)]
pub enum EventAction {
    /// It leaves as it came.
    Keep,
    /// Its data is replaced: one `data` line, or one for each line of this.
    Data(Vec<u8>),
    /// It does not leave.
    Drop,
}

/// Sees the events of one stream in order.
pub trait Events: Send {
    /// An event with data has arrived. What is written to `before` leaves in front of it: whole events, made with
    /// [`write_event`].
    fn event(&mut self, event: &Event<'_>, before: &mut BytesMut) -> Result<EventAction, StreamError>;

    /// A line that is no data: what a comment says, the value of `event`, `id` or `retry`, or the whole of any other.
    /// Returns what to write instead, or `None` if it stays; a line break in that becomes a space.
    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError>;

    /// A block without data has come, such as an event that is nothing but a name. Returns whether it does not leave yet, or
    /// has left: it was written here, as is what leaves before it.
    ///
    /// # Errors
    /// The stream cannot go on.
    fn without_data(&mut self, block: &[u8], out: &mut BytesMut) -> Result<bool, StreamError> {
        let _ = (block, out);
        Ok(false)
    }

    /// Nothing comes for a while: what waits only for what may follow is written to `out`.
    ///
    /// # Errors
    /// The stream cannot go on.
    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let _ = out;
        Ok(())
    }

    /// Bytes of events that wait.
    fn held(&self) -> usize {
        0
    }

    /// The stream has ended. `rest` is what came of an event without its blank line (often nothing): it leaves only
    /// if it is written here, for which [`Event::parse`] and [`Event::write`] serve.
    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError>;
}

impl<V: Events + ?Sized> Events for &mut V {
    fn event(&mut self, event: &Event<'_>, before: &mut BytesMut) -> Result<EventAction, StreamError> {
        (**self).event(event, before)
    }

    fn line(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, StreamError> {
        (**self).line(text)
    }

    fn without_data(&mut self, block: &[u8], out: &mut BytesMut) -> Result<bool, StreamError> {
        (**self).without_data(block, out)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        (**self).release(out)
    }

    fn held(&self) -> usize {
        (**self).held()
    }

    fn end(&mut self, rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        (**self).end(rest, out)
    }
}

/// One event.
pub struct Event<'a> {
    block: &'a [u8],
    name: &'a [u8],
    data: Cow<'a, [u8]>,
}

impl<'a> Event<'a> {
    /// Reads the lines of an event, with or without the blank one.
    pub fn parse(block: &'a [u8]) -> Self {
        let mut event = Event { block, name: b"", data: Cow::Borrowed(b"") };
        let mut count = 0;
        for line in SseLines(block) {
            match line.field() {
                (b"event", value) => event.name = value,
                (b"data", value) => {
                    match count {
                        0 => event.data = Cow::Borrowed(value),
                        _ => {
                            let data = event.data.to_mut();
                            data.push(b'\n');
                            data.extend_from_slice(value);
                        }
                    }
                    count += 1;
                }
                _ => {}
            }
        }
        event
    }

    /// The event's `data` lines, joined by LF.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Its `event` field; empty where there is none, which clients take for `message`.
    pub fn name(&self) -> &[u8] {
        self.name
    }

    /// The bytes as they came, the blank line included.
    pub fn raw(&self) -> &'a [u8] {
        self.block
    }

    /// Appends what `verdict` makes of it. New data takes the place, the line ends and the spacing of the first
    /// `data` line.
    pub fn write(&self, verdict: &EventAction, out: &mut BytesMut) {
        let data = match verdict {
            EventAction::Keep => return out.extend_from_slice(self.block),
            EventAction::Drop => return,
            EventAction::Data(data) => data,
        };
        let mut written = false;
        for line in SseLines(self.block) {
            match line.field() {
                (b"data", _) if written => {}
                (b"data", _) => {
                    written = true;
                    write_data(data, &line, out);
                }
                _ => {
                    out.extend_from_slice(line.text);
                    out.extend_from_slice(line.end);
                }
            }
        }
    }

    /// Appends another event of the same name, in lines that end like its own.
    pub fn write_another(&self, data: &[u8], out: &mut BytesMut) {
        let end = SseLines(self.block).next().map(|line| line.end).filter(|end| !end.is_empty());
        write_lines(self.name(), data, end.unwrap_or(b"\n"), out);
    }
}

/// Appends a whole event: its name unless that is empty, its data, and the blank line.
pub fn write_event(name: &str, data: &[u8], out: &mut BytesMut) {
    write_lines(name.as_bytes(), data, b"\n", out);
}

fn write_lines(name: &[u8], data: &[u8], end: &[u8], out: &mut BytesMut) {
    if !name.is_empty() {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name);
        out.extend_from_slice(end);
    }
    write_data(data, &SseLine { text: b"data: ", end }, out);
    out.extend_from_slice(end);
}

/// Writes data in lines that look like `like`.
fn write_data(data: &[u8], like: &SseLine<'_>, out: &mut BytesMut) {
    let spaced = like.text.starts_with(b"data: ");
    let between = if like.end.is_empty() { b"\n" } else { like.end };
    // A line break at the very end begins one more line, and no data is one empty line.
    let last = matches!(data.last(), None | Some(b'\n' | b'\r')).then_some(&b""[..]);
    for (at, text) in SseLines(data).map(|line| line.text).chain(last).enumerate() {
        if at > 0 {
            out.extend_from_slice(between);
        }
        // One leading space is not part of the value: a value that begins with one needs another.
        let label: &[u8] = if spaced || text.starts_with(b" ") { b"data: " } else { b"data:" };
        out.extend_from_slice(label);
        out.extend_from_slice(text);
    }
    out.extend_from_slice(like.end);
}

/// A line of an event stream.
pub(in crate::stream) struct SseLine<'a> {
    text: &'a [u8],
    end: &'a [u8],
}

impl<'a> SseLine<'a> {
    /// The line without its end.
    pub(in crate::stream) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// How long it is with its end, in bytes.
    pub(in crate::stream) fn length(&self) -> usize {
        self.text.len() + self.end.len()
    }

    /// The name of its field, and the value.
    pub(in crate::stream) fn field(&self) -> (&'a [u8], &'a [u8]) {
        match memchr::memchr(b':', self.text) {
            Some(colon) => {
                let (name, value) = self.text.split_at(colon);
                (name, value.strip_prefix(b": ").or(value.strip_prefix(b":")).unwrap_or(value))
            }
            None => (self.text, b""),
        }
    }

    /// What of a line is text for people, if it is no data. It ends where the line does.
    fn other(&self) -> Option<&'a [u8]> {
        let text = match self.field() {
            (b"data", _) => return None,
            (b"" | b"event" | b"id" | b"retry", value) => value,
            _ => self.text,
        };
        (!text.trim_ascii().is_empty()).then_some(text)
    }
}

/// The lines of whole text.
pub(in crate::stream) struct SseLines<'a>(&'a [u8]);

impl<'a> SseLines<'a> {
    /// Those of this text.
    pub(in crate::stream) fn of(text: &'a [u8]) -> Self {
        Self(text)
    }
}

impl<'a> Iterator for SseLines<'a> {
    type Item = SseLine<'a>;

    fn next(&mut self) -> Option<SseLine<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let (text, rest) = self.0.split_at(memchr::memchr2(b'\n', b'\r', self.0).unwrap_or(self.0.len()));
        let width = match rest {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        let (end, rest) = rest.split_at(width);
        self.0 = rest;
        Some(SseLine { text, end })
    }
}

/// Splits a stream into events and shows them to a visitor.
///
/// A block without data is no event and leaves when its blank line has come; a comment that begins a block, such as
/// a keep-alive, does not wait even for that.
pub struct Sse<V> {
    visitor: V,
    max_event: usize,
    charge: MemoryCharge,
    /// Whether lines that are no data are shown.
    lines: bool,
    /// What has not left: an event without its blank line.
    raw: Vec<u8>,
    /// How far it has been searched for line ends, and where its last line begins.
    searched: usize,
    line: usize,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The last event was left out and ended with CR: so is the LF that follows.
    left_out: bool,
    has_data: bool,
    begun: bool,
}

impl<V: Events> Sse<V> {
    /// Shows the stream's events to `visitor`. An event of more than `max_event` bytes is an error, for it can only
    /// be judged whole.
    pub fn new(visitor: V, max_event: usize, budget: &MemoryBudget) -> Self {
        Self {
            visitor,
            max_event,
            charge: budget.charge(),
            lines: true,
            raw: Vec::new(),
            searched: 0,
            line: 0,
            after_cr: false,
            left_out: false,
            has_data: false,
            begun: false,
        }
    }

    /// What sees the events.
    pub fn visitor(&self) -> &V {
        &self.visitor
    }

    /// Shows nothing but data.
    #[must_use]
    pub fn data_only(self) -> Self {
        Self { lines: false, ..self }
    }

    /// A block with its lines that are no data edited.
    fn looked<'b>(&mut self, block: &'b [u8]) -> Result<Cow<'b, [u8]>, StreamError> {
        let mut edited: Option<Vec<u8>> = None;
        let mut end = 0;
        for line in SseLines(block) {
            let start = end;
            end += line.length();
            let with = match line.other() {
                Some(text) if self.lines => self.visitor.line(text)?.map(|with| (text, with)),
                _ => None,
            };
            if let Some((text, mut with)) = with {
                let out = edited.get_or_insert_with(|| block.get(..start).unwrap_or_default().to_vec());
                let kept = line.text.len() - text.len();
                out.extend_from_slice(line.text.get(..kept).unwrap_or_default());
                with.iter_mut().filter(|b| matches!(b, b'\n' | b'\r')).for_each(|b| *b = b' ');
                out.append(&mut with);
                out.extend_from_slice(line.end);
            } else if let Some(out) = &mut edited {
                out.extend_from_slice(block.get(start..end).unwrap_or_default());
            }
        }
        Ok(edited.map_or(Cow::Borrowed(block), Cow::Owned))
    }

    /// Passes a byte order mark; says whether there is anything behind it to read.
    fn begin(&mut self, out: &mut BytesMut) -> bool {
        if !self.begun {
            if self.raw.len() < BOM.len() && BOM.starts_with(&self.raw) {
                return false;
            }
            if self.raw.starts_with(BOM) {
                out.extend_from_slice(BOM);
                self.raw.drain(..BOM.len());
            }
            self.begun = true;
        }
        true
    }

    /// Gives out all blocks of `raw` that are complete; returns where the rest begins.
    fn blocks(&mut self, raw: &[u8], out: &mut BytesMut) -> Result<usize, StreamError> {
        let mut begin = 0;
        while let Some(found) = memchr::memchr2(b'\n', b'\r', raw.get(self.searched..).unwrap_or_default()) {
            let at = self.searched + found;
            let line = raw.get(self.line..at).unwrap_or_default();
            let kind = self.kind(line, raw.get(at).copied(), begin == self.line);
            self.searched = at + 1;
            self.line = at + 1;
            let block = raw.get(begin..=at).unwrap_or_default();
            let left_out = std::mem::take(&mut self.left_out) && block == b"\n";
            match kind {
                LineMeaning::Field => continue,
                LineMeaning::Passes if left_out => {}
                LineMeaning::Passes if self.visitor.without_data(block, out)? => {
                    self.left_out = block.ends_with(b"\r");
                }
                LineMeaning::Passes => out.extend_from_slice(&self.looked(block)?),
                LineMeaning::Ends => self.show(block, out)?,
            }
            begin = at + 1;
        }
        self.searched = raw.len();
        Ok(begin)
    }

    fn kind(&mut self, line: &[u8], end: Option<u8>, first: bool) -> LineMeaning {
        let second_half = self.after_cr && line.is_empty() && end == Some(b'\n');
        self.after_cr = end == Some(b'\r');
        match line {
            [] if second_half && !first => LineMeaning::Field,
            [] if second_half || !self.has_data => LineMeaning::Passes,
            [] => LineMeaning::Ends,
            [b':', ..] if first => LineMeaning::Passes,
            line => {
                self.has_data |= matches!(SseLine { text: line, end: b"" }.field(), (b"data", _));
                LineMeaning::Field
            }
        }
    }

    fn show(&mut self, block: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.has_data = false;
        self.check(block.len())?;
        let block = self.looked(block)?;
        let event = Event::parse(&block);
        let verdict = self.visitor.event(&event, out)?;
        event.write(&verdict, out);
        self.left_out = matches!(verdict, EventAction::Drop) && block.ends_with(b"\r");
        Ok(())
    }

    fn check(&self, length: usize) -> Result<(), StreamError> {
        let limit = self.max_event;
        if length > limit { Err(StreamError::TooLarge { unit: "event", limit }) } else { Ok(()) }
    }
}

/// What a line's end means.
enum LineMeaning {
    /// The block goes on.
    Field,
    /// What has come of the block can leave: there is nothing to judge in it.
    Passes,
    /// The event is complete.
    Ends,
}

impl<V: Events> Rewriter for Sse<V> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.raw.extend_from_slice(chunk);
        if !self.begin(out) {
            return Ok(self.charge.set(self.raw.len())?);
        }
        let mut raw = std::mem::take(&mut self.raw);
        let begin = self.blocks(&raw, out)?;
        raw.drain(..begin);
        self.raw = raw;
        self.line -= begin;
        self.searched -= begin;
        self.check(self.raw.len())?;
        Ok(self.charge.set(self.raw.len())?)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let rest = std::mem::take(&mut self.raw);
        let rest = self.looked(&rest)?;
        self.visitor.end(&rest, out)?;
        Ok(self.charge.set(0)?)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.visitor.release(out)
    }

    fn held(&self) -> usize {
        self.raw.len() + self.visitor.held()
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
