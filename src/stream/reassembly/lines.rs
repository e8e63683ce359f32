//! [`ReassembledLines`]: units of one line, with a document each.

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::json::walk;
use crate::stream::reassembly::first_value::FirstValue;
use crate::stream::reassembly::labelled_line::LabelledLine;
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
    line: Vec<u8>,
    /// Whether a line has been one.
    begun: bool,
    /// How far the document of the first line has come.
    first: FirstValue,
    charge: MemoryCharge,
}

impl ReassembledLines {
    /// By this one, lines of this kind.
    pub fn new(reassembler: Reassembler, kind: LineKind, budget: &MemoryBudget) -> Self {
        let (line, first, charge) = (Vec::new(), FirstValue::default(), budget.charge());
        Self { reassembler: Some(reassembler), kind, line, begun: false, first, charge }
    }

    /// Takes the line that has come.
    fn line(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let line = std::mem::take(&mut self.line);
        let blank = line.trim_ascii().is_empty();
        self.begun = self.begun || (!blank && self.kind.is(&line));
        match &mut self.reassembler {
            Some(reassembler) if self.begun => {
                let mut leaving = Vec::new();
                reassembler.push(b"", &line, b"", &mut leaving)?;
                write(leaving, out);
            }
            _ if blank => out.extend_from_slice(&line),
            _ => {
                self.line = line;
                self.pass(out)?;
            }
        }
        Ok(())
    }

    /// Lets the rest of the body pass.
    fn pass(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        if let Some(mut reassembler) = self.reassembler.take() {
            let mut leaving = Vec::new();
            reassembler.end(&mut leaving)?;
            write(leaving, out);
        }
        out.extend_from_slice(&std::mem::take(&mut self.line));
        Ok(())
    }
}

fn write(leaving: Vec<LeavingUnit>, out: &mut BytesMut) {
    leaving.into_iter().for_each(|unit| out.extend_from_slice(&unit.data));
}

impl Rewriter for ReassembledLines {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let mut rest = chunk;
        while self.reassembler.is_some()
            && let Some(at) = memchr::memchr(b'\n', rest)
        {
            let (line, behind) = rest.split_at(at + 1);
            self.line.extend_from_slice(line);
            rest = behind;
            let longest = if self.begun { LONGEST } else { LONGEST_FIRST };
            if self.line.len() > longest { self.pass(out)? } else { self.line(out)? }
        }
        if self.reassembler.is_none() {
            out.extend_from_slice(rest);
            return Ok(self.charge.set(0)?);
        }
        let is_line = self.begun || self.first.goes_on(rest);
        self.line.extend_from_slice(rest);
        let longest = if self.begun { LONGEST } else { LONGEST_FIRST };
        let begins = self.begun || (is_line && self.kind.may_begin(&self.line));
        if self.line.len() > longest || !begins {
            self.pass(out)?;
        }
        Ok(self.charge.set(self.line.len())?)
    }

    /// A line that is not whole stays, for nobody reads half a line; what may be none leaves.
    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        match &mut self.reassembler {
            Some(reassembler) if self.begun => {
                let mut leaving = Vec::new();
                reassembler.end(&mut leaving)?;
                write(leaving, out);
            }
            Some(_) if !self.line.is_empty() => self.pass(out)?,
            _ => {}
        }
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
