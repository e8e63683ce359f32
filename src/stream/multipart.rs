//! Multipart bodies (RFC 2046, section 5.1; RFC 7578): parts between boundaries, each with a head of its own.
//!
//! Servers disagree about bodies that are not quite right, and a part that one of them sees and another does not would
//! pass unseen. So everything is refused that two of them may read differently: lines that end in LF alone, text before
//! the first boundary or behind the last, a boundary that begins another one.

mod head;

use std::ops::Range;

use bytes::{Buf, BytesMut};

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::{Rewriter, StreamError};

pub use head::{FieldSpelling, HeadText, PartHead, SaidLength};

/// The longest boundary, in bytes (RFC 2046, section 5.1.1).
const MAX_BOUNDARY: usize = 70;

/// The largest head of a part, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The most parts of one body.
const MAX_PARTS: usize = 1024;

/// The most white space behind a boundary, in bytes.
const MAX_PADDING: usize = 64;

const NOT_BEGUN: &str = "the multipart body does not begin with the boundary that its Content-Type names";
const NOT_ENDED: &str = "the multipart body ends before its last boundary";
const BAD_BOUNDARY: &str =
    "the Content-Type must name one boundary of 1 to 70 characters (RFC 2046, section 5.1.1)";
const BAD_DELIMITER: &str =
    "a boundary of the multipart body does not stand on a line of its own that ends in CRLF";
const BAD_LENGTH: &str = "a part of the multipart body is not as long as its head says";
const TRAILING: &str = "the multipart body goes on behind its last boundary";

/// What stands between the parts of a body, without its line break: `--` and the boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary(Vec<u8>);

impl Boundary {
    /// The one that a `Content-Type` names.
    ///
    /// # Errors
    /// None, more than one, or one that is none.
    pub fn of(content_type: &str) -> Result<Self, StreamError> {
        let bad = StreamError::NotText(BAD_BOUNDARY);
        let parameters = head::parameters(content_type.as_bytes(), 0).ok_or_else(|| bad.clone())?;
        let mut named = parameters.into_iter().filter(|one| one.name.eq_ignore_ascii_case("boundary"));
        let (Some(one), None) = (named.next(), named.next()) else { return Err(bad) };
        let text = one.text;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
        if text.is_empty() || text.len() > MAX_BOUNDARY || !text.bytes().all(fits) || text.ends_with(' ') {
            return Err(bad);
        }
        Ok(Self([b"--", text.as_bytes()].concat()))
    }
}

/// Sees the parts of a body as they pass, in order: a head, pieces of what it holds, its end.
pub trait PartVisitor: Send {
    /// A part begins: what its head is to be instead; `None` if that stays.
    fn begin(&mut self, head: &PartHead<'_>) -> Result<Option<Vec<u8>>, StreamError>;

    /// A piece of what the part holds: appends to `out` what is decided.
    fn piece(&mut self, piece: &[u8], out: &mut BytesMut) -> Result<(), StreamError>;

    /// The part has ended: appends the rest.
    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError>;
}

/// Where the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyPosition {
    /// Before the first boundary.
    Start,
    /// Behind a boundary.
    Boundary,
    Head,
    Part,
    /// Behind the last boundary.
    End,
}

/// A multipart body as it passes. What cannot be told yet to be no boundary is held.
pub struct Multipart<P> {
    parts: P,
    boundary: memchr::memmem::Finder<'static>,
    at: BodyPosition,
    held: BytesMut,
    count: usize,
    /// Whether nothing of the part has gone on yet.
    fresh: bool,
    charge: MemoryCharge,
}

impl<P: PartVisitor> Multipart<P> {
    /// Shows the parts between these boundaries to `parts`; what is held back is charged to `budget`.
    pub fn new(parts: P, boundary: &Boundary, budget: &MemoryBudget) -> Self {
        let boundary = memchr::memmem::Finder::new(&boundary.0).into_owned();
        Self {
            parts,
            boundary,
            at: BodyPosition::Start,
            held: BytesMut::new(),
            count: 0,
            fresh: true,
            charge: budget.charge(),
        }
    }

    /// Goes on as far as what is held tells; whether there was anything to do.
    fn step(&mut self, out: &mut BytesMut) -> Result<bool, StreamError> {
        match self.at {
            BodyPosition::Start => self.start(out),
            BodyPosition::Boundary => self.delimited(out),
            BodyPosition::Head => self.head(out),
            BodyPosition::Part => self.part(out),
            BodyPosition::End if self.held.iter().all(|byte| matches!(byte, b'\r' | b'\n')) => {
                self.give(self.held.len(), out);
                Ok(false)
            }
            BodyPosition::End => Err(StreamError::NotText(TRAILING)),
        }
    }

    /// Writes the first bytes that are held as they came.
    fn give(&mut self, length: usize, out: &mut BytesMut) {
        out.extend_from_slice(&self.held.split_to(length));
    }

    fn start(&mut self, out: &mut BytesMut) -> Result<bool, StreamError> {
        // Some clients begin with the line break that belongs to the boundary.
        if self.held.starts_with(b"\r\n") {
            self.give(2, out);
        }
        let needle = self.boundary.needle();
        if self.held.starts_with(needle) {
            self.give(needle.len(), out);
            self.at = BodyPosition::Boundary;
            return Ok(true);
        }
        let yet = needle.starts_with(&self.held) || self.held.as_ref() == b"\r";
        if yet { Ok(false) } else { Err(StreamError::NotText(NOT_BEGUN)) }
    }

    fn delimited(&mut self, out: &mut BytesMut) -> Result<bool, StreamError> {
        if self.held.starts_with(b"--") {
            self.give(2, out);
            self.at = BodyPosition::End;
            return Ok(true);
        }
        let padding = self.held.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = self.held.get(padding..).unwrap_or_default();
        if rest.starts_with(b"\r\n") && padding <= MAX_PADDING {
            self.count += 1;
            if self.count > MAX_PARTS {
                return Err(StreamError::TooLarge { unit: "number of parts", limit: MAX_PARTS });
            }
            self.give(padding + 2, out);
            self.at = BodyPosition::Head;
            return Ok(true);
        }
        let open = matches!(rest, b"" | b"\r") || self.held.as_ref() == b"-";
        if open && padding <= MAX_PADDING { Ok(false) } else { Err(StreamError::NotText(BAD_DELIMITER)) }
    }

    fn head(&mut self, out: &mut BytesMut) -> Result<bool, StreamError> {
        let too_large = StreamError::TooLarge { unit: "head of a part", limit: MAX_HEAD };
        let end = match self.held.starts_with(b"\r\n") {
            true => Some(0),
            false => memchr::memmem::find(&self.held, b"\r\n\r\n").map(|at| at + 2),
        };
        let Some(end) = end else {
            return if self.held.len() > MAX_HEAD { Err(too_large) } else { Ok(false) };
        };
        if end > MAX_HEAD {
            return Err(too_large);
        }
        let lines = self.held.split_to(end);
        self.held.advance(2);
        let head = PartHead::parse(&lines)?;
        match self.parts.begin(&head)? {
            Some(rewritten) => out.extend_from_slice(&rewritten),
            None => out.extend_from_slice(&lines),
        }
        out.extend_from_slice(b"\r\n");
        (self.at, self.fresh) = (BodyPosition::Part, true);
        Ok(true)
    }

    fn part(&mut self, out: &mut BytesMut) -> Result<bool, StreamError> {
        let needle = self.boundary.needle().len();
        let mut from = 0;
        while let Some(at) = self.boundary.find(self.held.get(from..).unwrap_or_default()) {
            let at = from + at;
            let before = self.held.get(at.saturating_sub(2)..at).unwrap_or_default();
            match before {
                b"\r\n" => {
                    let rest = self.held.split_to(at - 2);
                    self.parts.piece(&rest, out)?;
                    self.parts.end(out)?;
                    self.give(needle + 2, out);
                    self.at = BodyPosition::Boundary;
                    return Ok(true);
                }
                // Some take these for boundaries, too; and the blank line behind the head for the break before one.
                [] if self.fresh => return Err(StreamError::NotText(BAD_DELIMITER)),
                [.., b'\n' | b'\r'] => return Err(StreamError::NotText(BAD_DELIMITER)),
                _ => from = at + needle,
            }
        }
        // So much may belong to a boundary: its line break, and all of it but the last byte; and a byte before.
        let decided = self.held.len().saturating_sub(needle + 2).max(from);
        if decided > 0 {
            self.fresh = false;
            let piece = self.held.split_to(decided);
            self.parts.piece(&piece, out)?;
        }
        Ok(false)
    }
}

impl<P: PartVisitor> Rewriter for Multipart<P> {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.held.extend_from_slice(chunk);
        while self.step(out)? {}
        Ok(self.charge.set(self.held.len())?)
    }

    fn finish(&mut self, _: &mut BytesMut) -> Result<(), StreamError> {
        match self.at {
            BodyPosition::End => Ok(()),
            BodyPosition::Start => Err(StreamError::NotText(NOT_BEGUN)),
            _ => Err(StreamError::NotText(NOT_ENDED)),
        }
    }

    fn held(&self) -> usize {
        self.held.len()
    }
}

/// Where the parts of a whole body are.
///
/// # Errors
/// As the body would have as it passes.
pub fn split(body: &[u8], boundary: &Boundary) -> Result<Vec<PartSpan>, StreamError> {
    let mut passing = Multipart::new(Spans::default(), boundary, &MemoryBudget::unlimited());
    passing.held.extend_from_slice(body);
    let (mut out, mut from) = (BytesMut::new(), 0);
    loop {
        let before = passing.at;
        let more = passing.step(&mut out)?;
        out.clear();
        let at = body.len() - passing.held.len();
        match (before, passing.at) {
            (BodyPosition::Boundary, BodyPosition::Head) => from = at,
            (BodyPosition::Head, BodyPosition::Part) => {
                let head = from..at - 2;
                passing.parts.0.push(PartSpan { head, body: at..at });
            }
            (BodyPosition::Part, BodyPosition::Boundary) => {
                let end = at - passing.boundary.needle().len() - 2;
                passing.parts.0.last_mut().into_iter().for_each(|span| span.body.end = end);
            }
            _ if !more => break,
            _ => {}
        }
    }
    passing.finish(&mut out)?;
    for PartSpan { head, body: part } in &passing.parts.0 {
        let head = PartHead::parse(body.get(head.clone()).unwrap_or_default())?;
        if head.length.is_some_and(|said| said.bytes != part.len()) {
            return Err(StreamError::NotText(BAD_LENGTH));
        }
    }
    Ok(passing.parts.0)
}

/// Where a part is in a body, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartSpan {
    /// Its head: lines that each end in CRLF, without the blank one.
    pub head: Range<usize>,
    /// What it holds.
    pub body: Range<usize>,
}

#[derive(Default)]
struct Spans(Vec<PartSpan>);

impl PartVisitor for Spans {
    fn begin(&mut self, _: &PartHead<'_>) -> Result<Option<Vec<u8>>, StreamError> {
        Ok(None)
    }

    fn piece(&mut self, _: &[u8], _: &mut BytesMut) -> Result<(), StreamError> {
        Ok(())
    }

    fn end(&mut self, _: &mut BytesMut) -> Result<(), StreamError> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "multipart_tests.rs"]
mod tests;
