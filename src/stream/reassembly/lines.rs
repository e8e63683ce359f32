//! [`ReassembledLines`]: units of one line, with a document each.

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::json::walk;
use crate::stream::reassembly::labelled_line::LabelledLine;
use crate::stream::reassembly::line_value::{LineEnd, LineValue};
use crate::stream::reassembly::reassembler::{LeavingUnit, Reassembler};
use crate::stream::sse::SseLines;
use crate::stream::{Rewriter, StreamError};

/// A first line that is longer is no unit, in bytes.
const LONGEST_FIRST: usize = 64 << 10;
/// Nor is any that is longer than this.
const LONGEST: usize = 1 << 20;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// An object or a string of JSON.
    Document,
    /// One behind what says what it is, as in `0:"text"`.
    Labelled,
}

impl LineKind {
    /// Whether a line may go on from this beginning.
    fn may_begin(self, line: &[u8]) -> bool {
        match (self, line.trim_ascii_start()) {
            (Self::Document, []) => true,
            (Self::Document, [first, ..]) => matches!(first, b'{' | b'"'),
            (Self::Labelled, _) => {
                let label = line.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                match line.get(label..).unwrap_or_default() {
                    [] => label <= 2,
                    [b':'] => (1..=2).contains(&label),
                    [b':', first, ..] => (1..=2).contains(&label) && matches!(first, b'{' | b'[' | b'"'),
                    _ => false,
                }
            }
        }
    }

    /// Whether a whole line is one.
    fn is(self, line: &[u8]) -> bool {
        let document = match self {
            Self::Document => line,
            Self::Labelled => {
                let labelled = SseLines::of(line).next().and_then(|line| LabelledLine::parse(&line));
                labelled.map(|labelled| labelled.document).unwrap_or_default()
            }
        };
        walk(document, &mut |_, _| {}).is_ok()
    }
}

/// Puts together what the lines of a body cut. A body whose first line is none passes as it is.
pub struct ReassembledLines {
    /// None where the body passes.
    reassembler: Option<Reassembler>,
    kind: LineKind,
    /// The line as far as it has come.
    line: Vec<u8>,
    value: LineValue,
    /// Whether the first line is whole. It may be all of a body, so that it waits for another.
    is_whole: bool,
    /// Whether a line has been one.
    begun: bool,
    /// Whether the rest of the line passes as it comes, since its beginning has left.
    lets_through: bool,
    charge: MemoryCharge,
}

impl ReassembledLines {
    /// By this one, lines of this kind.
    pub fn new(reassembler: Reassembler, kind: LineKind, budget: &MemoryBudget) -> Self {
        let (line, value, charge) = (Vec::new(), LineValue::default(), budget.charge());
        let reassembler = Some(reassembler);
        Self { reassembler, kind, line, value, is_whole: false, begun: false, lets_through: false, charge }
    }

    /// Takes the next bytes of the body in, as far as they are of one line; returns the others.
    fn piece<'p>(&mut self, bytes: &'p [u8], out: &mut BytesMut) -> Result<&'p [u8], StreamError> {
        if std::mem::take(&mut self.is_whole) {
            self.line(out)?;
            self.value = LineValue::default();
            return Ok(bytes);
        }
        if self.line.is_empty() && !self.lets_through {
            let (space, rest) = bytes.split_at(bytes.iter().take_while(|byte| is_space(**byte)).count());
            self.trail(space, out)?;
            if rest.is_empty() || !space.is_empty() {
                return Ok(rest);
            }
        }
        // A text that only begins like a line goes on behind what would be its document.
        let by_value = self.begun || self.kind == LineKind::Document;
        let (length, end) = self.value.take(bytes, by_value);
        let (bytes, rest) = bytes.split_at(length);
        if self.lets_through {
            self.trail(bytes, out)?;
        } else {
            self.line.extend_from_slice(bytes);
            let longest = if self.begun { LONGEST } else { LONGEST_FIRST };
            let begins = self.begun || end.is_some() || self.kind.may_begin(&self.line);
            if self.line.len() > longest || !begins {
                self.pass(out)?;
            } else if end == Some(LineEnd::Value) && !self.begun {
                self.is_whole = true;
                return Ok(rest);
            } else if end.is_some() {
                self.line(out)?;
            }
        }
        if end.is_some() {
            (self.value, self.lets_through) = (LineValue::default(), false);
        }
        Ok(rest)
    }

    /// Takes the line that has come.
    fn line(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let line = std::mem::take(&mut self.line);
        self.begun = self.begun || self.kind.is(&line);
        match &mut self.reassembler {
            Some(reassembler) if self.begun => {
                let mut leaving = Vec::new();
                reassembler.push(b"", &line, b"", &mut leaving)?;
                write(leaving, out);
            }
            _ => {
                self.line = line;
                self.pass(out)?;
            }
        }
        Ok(())
    }

    /// Bytes of no line follow those that wait.
    fn trail(&mut self, bytes: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let mut leaving = Vec::new();
        match &mut self.reassembler {
            Some(reassembler) if reassembler.waits() => reassembler.trail(bytes, &mut leaving)?,
            _ => out.extend_from_slice(bytes),
        }
        write(leaving, out);
        Ok(())
    }

    /// Lets the rest of the body pass.
    fn pass(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.leave(out)?;
        self.reassembler = None;
        out.extend_from_slice(&std::mem::take(&mut self.line));
        Ok(())
    }

    /// Lets all lines leave that wait.
    fn leave(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let mut leaving = Vec::new();
        if let Some(reassembler) = &mut self.reassembler {
            reassembler.end(&mut leaving)?;
        }
        write(leaving, out);
        Ok(())
    }
}

/// Whether a byte is of no line: space, or what stands before each document of a sequence (RFC 7464 section 2.2).
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x1E
}

fn write(leaving: Vec<LeavingUnit>, out: &mut BytesMut) {
    leaving.into_iter().for_each(|unit| out.extend_from_slice(&unit.data));
}

impl Rewriter for ReassembledLines {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let mut rest = chunk;
        while self.reassembler.is_some() && !rest.is_empty() {
            rest = self.piece(rest, out)?;
        }
        out.extend_from_slice(rest);
        Ok(self.charge.set(self.line.len())?)
    }

    /// Half a line stays, for nobody reads it; but the first may be that of no lines.
    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        if !self.begun && self.reassembler.is_some() && !self.line.is_empty() {
            self.is_whole = false;
            if self.kind.is(&self.line) {
                self.line(out)?;
                self.value = LineValue::default();
            } else {
                out.extend_from_slice(&std::mem::take(&mut self.line));
                self.lets_through = true;
            }
        }
        self.leave(out)?;
        Ok(self.charge.set(self.line.len())?)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        // A line that broke off is none.
        if self.begun && self.reassembler.is_some() && !self.line.is_empty() && self.kind.is(&self.line) {
            self.line(out)?;
        }
        self.pass(out)?;
        Ok(self.charge.set(0)?)
    }

    fn held(&self) -> usize {
        self.line.len() + self.reassembler.as_ref().map_or(0, Reassembler::held)
    }
}
