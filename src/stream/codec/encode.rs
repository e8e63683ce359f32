//! Puts a content coding on, an event at a time.

use std::io::Write;

use brotli::CompressorWriter;
use bytes::BytesMut;
use flate2::{Compress, Compression, FlushCompress, Status};
use zstd::stream::raw::{CParameter, Encoder as Frames, InBuffer, Operation, OutBuffer};

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::stream::codec::coding::{BLOCK, Coding};
use crate::stream::{Rewriter, StreamError};

enum Coder {
    Flate(Compress),
    Br(Box<CompressorWriter<Vec<u8>>>),
    Zstd(Frames<'static>),
    Finished,
}

/// Puts one content coding on a body, and flushes after each write that had input: quick and small settings, since
/// what is sent has been compressed for one reader only.
pub struct Encoder {
    coding: Coding,
    coder: Coder,
    _charge: MemoryCharge,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EncodeUntil {
    Flushed,
    Finished,
}

impl Encoder {
    /// An encoder for one body. What its settings need is charged to `budget` at once.
    pub fn new(coding: Coding, budget: &MemoryBudget) -> Result<Self, StreamError> {
        let mut charge = budget.charge();
        // Rounded up from what windows and hash tables of these settings take.
        charge.set(match coding {
            Coding::Gzip | Coding::Deflate => 384 << 10,
            Coding::Br | Coding::Zstd => 1 << 20,
        })?;
        let coder = Coder::new(coding).ok_or(StreamError::Unavailable { coding: coding.name() })?;
        Ok(Self { coding, coder, _charge: charge })
    }

    fn run(&mut self, chunk: &[u8], until: EncodeUntil, out: &mut BytesMut) -> Result<(), StreamError> {
        let done = match &mut self.coder {
            Coder::Flate(flate) => deflate(flate, chunk, until, out),
            Coder::Br(writer) => brotli(writer, chunk, out),
            Coder::Zstd(frames) => zstandard(frames, chunk, until, out),
            Coder::Finished => None,
        };
        done.ok_or(StreamError::Unavailable { coding: self.coding.name() })
    }
}

impl Rewriter for Encoder {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        if chunk.is_empty() { Ok(()) } else { self.run(chunk, EncodeUntil::Flushed, out) }
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        match std::mem::replace(&mut self.coder, Coder::Finished) {
            Coder::Br(writer) => out.extend_from_slice(&writer.into_inner()),
            coder => {
                self.coder = coder;
                self.run(&[], EncodeUntil::Finished, out)?;
                self.coder = Coder::Finished;
            }
        }
        Ok(())
    }
}

impl Coder {
    fn new(coding: Coding) -> Option<Self> {
        Some(match coding {
            Coding::Gzip => Self::Flate(Compress::new_gzip(Compression::new(4), 15)),
            Coding::Deflate => Self::Flate(Compress::new(Compression::new(4), true)),
            Coding::Br => Self::Br(Box::new(CompressorWriter::new(Vec::new(), 4096, 3, 18))),
            Coding::Zstd => {
                let mut frames = Frames::new(1).ok()?;
                frames.set_parameter(CParameter::WindowLog(17)).ok()?;
                Self::Zstd(frames)
            }
        })
    }
}

/// Lets `step` write a block, and says how much of it is written.
fn block<T>(out: &mut BytesMut, step: impl FnOnce(&mut [u8]) -> Option<(usize, T)>) -> Option<(usize, T)> {
    let length = out.len();
    out.resize(length + BLOCK, 0);
    let result = step(out.get_mut(length..).unwrap_or_default());
    out.truncate(length + result.as_ref().map_or(0, |(written, _)| *written));
    result
}

fn deflate(flate: &mut Compress, chunk: &[u8], until: EncodeUntil, out: &mut BytesMut) -> Option<()> {
    let flush = match until {
        EncodeUntil::Flushed => FlushCompress::Sync,
        EncodeUntil::Finished => FlushCompress::Finish,
    };
    let mut rest = chunk;
    loop {
        let (taken, given) = (flate.total_in(), flate.total_out());
        let (written, status) = block(out, |room| {
            let status = flate.compress(rest, room, flush).ok()?;
            Some((usize::try_from(flate.total_out() - given).ok()?, status))
        })?;
        rest = rest.get(usize::try_from(flate.total_in() - taken).ok()?..)?;
        match until {
            EncodeUntil::Flushed if rest.is_empty() && written < BLOCK => return Some(()),
            EncodeUntil::Finished if status == Status::StreamEnd => return Some(()),
            _ => {}
        }
    }
}

fn brotli(writer: &mut CompressorWriter<Vec<u8>>, chunk: &[u8], out: &mut BytesMut) -> Option<()> {
    writer.write_all(chunk).ok()?;
    writer.flush().ok()?;
    out.extend_from_slice(writer.get_ref());
    writer.get_mut().clear();
    Some(())
}

fn zstandard(
    frames: &mut Frames<'static>,
    chunk: &[u8],
    until: EncodeUntil,
    out: &mut BytesMut,
) -> Option<()> {
    let mut from = InBuffer::around(chunk);
    while from.pos() < chunk.len() {
        block(out, |room| {
            let mut to = OutBuffer::around(room);
            frames.run(&mut from, &mut to).ok()?;
            Some((to.pos(), ()))
        })?;
    }
    loop {
        let (_, left) = block(out, |room| {
            let mut to = OutBuffer::around(room);
            let left = match until {
                EncodeUntil::Flushed => frames.flush(&mut to),
                EncodeUntil::Finished => frames.finish(&mut to, false),
            };
            Some((to.pos(), left.ok()?))
        })?;
        if left == 0 {
            return Some(());
        }
    }
}
