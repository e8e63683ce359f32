//! Takes a content coding off, within a ratio.

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use bytes::BytesMut;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder as Frames, InBuffer, Operation, OutBuffer};

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::codec::coding::{BLOCK, Coding};
use crate::stream::{Rewriter, StreamError};

/// How much a body may inflate.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// Bytes given out for each byte taken in.
    pub per_byte: usize,
    /// Bytes that are given out whatever was taken in: short texts of one letter are no bombs.
    pub free: usize,
}

impl Default for Ratio {
    fn default() -> Self {
        Self { per_byte: 100, free: 1 << 20 }
    }
}

type Brotli = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

enum Coder {
    /// Deflate, until two bytes tell whether it is zlib's.
    Unknown(Vec<u8>),
    Flate(Decompress),
    Br(Box<Brotli>),
    Zstd(Frames<'static>),
}

/// Takes one content coding off a body. Law 1 holds on what it gives out.
///
/// An empty body is an empty body in every coding: servers send it so.
pub struct Decoder {
    coding: Coding,
    coder: Coder,
    ratio: Ratio,
    charge: MemoryCharge,
    taken: usize,
    given: usize,
    /// Between members or frames, where a body may end.
    whole: bool,
}

/// What one step did.
struct DecodeStep {
    read: usize,
    written: usize,
    whole: bool,
}

impl Decoder {
    /// A decoder for one body. Its window is charged to `budget` as it fills.
    pub fn new(coding: Coding, ratio: Ratio, budget: &MemoryBudget) -> Result<Self, StreamError> {
        let mut charge = budget.charge();
        charge.set(BASE)?;
        let coder = Coder::new(coding).ok_or(StreamError::Unavailable { coding: coding.name() })?;
        Ok(Self { coding, coder, ratio, charge, taken: 0, given: 0, whole: true })
    }

    fn bad(&self) -> StreamError {
        StreamError::BadCoding { coding: self.coding.name() }
    }

    fn run(&mut self, mut rest: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        while !rest.is_empty() || !self.whole {
            if self.whole && self.given + self.taken > 0 {
                self.again()?;
            }
            let length = out.len();
            out.resize(length + BLOCK, 0);
            let step = self.coder.step(rest, out.get_mut(length..).unwrap_or_default());
            out.truncate(length + step.as_ref().map_or(0, |step| step.written));
            let step = step.ok_or_else(|| self.bad())?;
            rest = rest.get(step.read..).unwrap_or_default();
            self.taken += step.read;
            self.given += step.written;
            self.whole = step.whole;
            self.check()?;
            if rest.is_empty() && step.written < BLOCK {
                break;
            }
            if step.read == 0 && step.written == 0 && !step.whole {
                return Err(self.bad());
            }
        }
        Ok(())
    }

    /// Something follows what was whole: another member (RFC 1952 section 2.2) or frame (RFC 8878 section 3.1), or
    /// garbage.
    fn again(&mut self) -> Result<(), StreamError> {
        match self.coding {
            Coding::Gzip => self.coder = Coder::new(self.coding).ok_or_else(|| self.bad())?,
            Coding::Zstd => {}
            Coding::Deflate | Coding::Br => return Err(self.bad()),
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), StreamError> {
        let limit = self.ratio.per_byte;
        if self.given > self.ratio.free && self.given > self.taken.saturating_mul(limit) {
            return Err(StreamError::Ratio { limit });
        }
        let window = match self.coding {
            Coding::Gzip | Coding::Deflate => 32 << 10,
            Coding::Br => 16 << 20,
            Coding::Zstd => 1 << ZSTD_WINDOW_LOG,
        };
        Ok(self.charge.set(BASE + self.given.min(window))?)
    }
}

impl Rewriter for Decoder {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let Coder::Unknown(head) = &mut self.coder else { return self.run(chunk, out) };
        head.extend_from_slice(chunk);
        let &[first, second, ..] = head.as_slice() else { return Ok(()) };
        // RFC 1950 section 2.2: method 8, a window of at most 32 KiB, and a check over both bytes.
        let zlib =
            first & 0x0F == 8 && first >> 4 <= 7 && u16::from_be_bytes([first, second]).is_multiple_of(31);
        let head = std::mem::take(head);
        self.coder = Coder::Flate(Decompress::new(zlib));
        self.run(&head, out)
    }

    fn finish(&mut self, _: &mut BytesMut) -> Result<(), StreamError> {
        let cut = matches!(&self.coder, Coder::Unknown(head) if !head.is_empty());
        if self.whole && !cut { Ok(()) } else { Err(StreamError::Truncated { coding: self.coding.name() }) }
    }
}

impl Coder {
    fn new(coding: Coding) -> Option<Self> {
        Some(match coding {
            Coding::Gzip => Self::Flate(Decompress::new_gzip(15)),
            Coding::Deflate => Self::Unknown(Vec::new()),
            // Strict: no windows beyond RFC 7932's 16 MiB.
            Coding::Br => Self::Br(Box::new(Brotli::new_strict(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ))),
            Coding::Zstd => {
                let mut frames = Frames::new().ok()?;
                frames.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).ok()?;
                Self::Zstd(frames)
            }
        })
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Option<DecodeStep> {
        match self {
            Self::Unknown(_) => None,
            Self::Flate(flate) => {
                let (taken, given) = (flate.total_in(), flate.total_out());
                let status = flate.decompress(input, output, FlushDecompress::None).ok()?;
                Some(DecodeStep {
                    read: usize::try_from(flate.total_in() - taken).ok()?,
                    written: usize::try_from(flate.total_out() - given).ok()?,
                    whole: status == Status::StreamEnd,
                })
            }
            Self::Br(state) => {
                let (mut left, mut read) = (input.len(), 0);
                let (mut room, mut written, mut total) = (output.len(), 0, 0);
                let result = BrotliDecompressStream(
                    &mut left,
                    &mut read,
                    input,
                    &mut room,
                    &mut written,
                    output,
                    &mut total,
                    state,
                );
                match result {
                    BrotliResult::ResultFailure => None,
                    result => Some(DecodeStep {
                        read,
                        written,
                        whole: matches!(result, BrotliResult::ResultSuccess),
                    }),
                }
            }
            Self::Zstd(frames) => {
                let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(output));
                let hint = frames.run(&mut from, &mut to).ok()?;
                Some(DecodeStep { read: from.pos(), written: to.pos(), whole: hint == 0 })
            }
        }
    }
}

/// What a decoder needs besides its window.
const BASE: usize = 64 << 10;

/// RFC 9659: a receiver need not take windows above 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;
