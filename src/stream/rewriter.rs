//! What rewrites bytes in motion: [`Rewriter`], its laws, and [`Pipeline`], which chains several.
//!
//! Push in, append out, no I/O, no clock, no `await`: everything here can be tested over every split of a file.

use bytes::BytesMut;

use crate::base::budget::Exhausted;
use crate::base::quota::QuotaExceeded;

/// Why a body cannot be rewritten any further. Never holds a byte of the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The body is not in the content coding it claims.
    #[error("the body is not valid {coding}")]
    BadCoding {
        /// The coding's registered name.
        coding: &'static str,
    },
    /// The body ended within a frame of its content coding.
    #[error("the body ends before its {coding} stream does")]
    Truncated {
        /// The coding's registered name.
        coding: &'static str,
    },
    /// The body is said to be text, and is none that can be looked at; why.
    #[error("{0}")]
    NotText(&'static str),
    /// Nobody knows where text is in the body.
    #[error("the body is of no known type")]
    Unlabelled,
    /// A coder could not be set up.
    #[error("no {coding} coder can be set up")]
    Unavailable {
        /// The coding's registered name.
        coding: &'static str,
    },
    /// The body inflates by more than is allowed: a decompression bomb.
    #[error("the body inflates more than {limit}-fold")]
    Ratio {
        /// Decoded bytes allowed for each encoded byte.
        limit: usize,
    },
    /// One unit that can only be judged whole (an event, a line, a token) is larger than is allowed.
    #[error("one {unit} is larger than {limit} bytes")]
    TooLarge {
        /// What is too large.
        unit: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// The body is not made of the messages that it is said to be made of.
    #[error("a message of the body is damaged")]
    Damaged,
    /// The body ended within a message.
    #[error("the body ends within a message")]
    BrokenOff,
    /// A budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// It holds what may not pass; the names of the rules that found it.
    #[error("it holds what may not pass: {0}")]
    Blocked(String),
    /// The caller has had as many different values replaced as it may.
    #[error(transparent)]
    Spent(#[from] QuotaExceeded),
    /// What was found cannot be replaced (no key, or too many different values).
    #[error("a value cannot be replaced: {0}")]
    Replace(&'static str),
}

/// Rewrites one body as it passes.
///
/// Laws, each a test over all splits of the fixtures:
///
/// 1. *Chunking is invisible*: any split of the input gives the same output.
/// 2. *Silence is identity*: what it does not change leaves byte for byte.
/// 3. *It holds back only what it cannot yet decide*, and charges the budget for it.
/// 4. A failed stage is not called again; the pipeline's later stages still finish, so that last words written
///    after a failure still pass the encoder.
///
/// Laws 1 and 2 hold on decoded bytes for content codings, where a flush for each write shows in the bytes.
pub trait Rewriter: Send {
    /// Takes the next piece and appends to `out` all that is decided.
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError>;

    /// The input has ended: appends the rest. Not called again afterwards.
    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError>;

    /// Nothing comes for a while: appends what waits only for what may follow, as if that were none of it. The input
    /// goes on afterwards. When that is, is the caller's to say; law 1 holds between two of these.
    fn release(&mut self, _out: &mut BytesMut) -> Result<(), StreamError> {
        Ok(())
    }

    /// Bytes taken in and not yet given out, for the metric of that name.
    fn held(&self) -> usize {
        0
    }

    /// Appends a last document to a stream of them, which ends with it; also after a failure. `false`: it is none, or has
    /// ended.
    fn last_document(&mut self, _document: &[u8], _out: &mut BytesMut) -> bool {
        false
    }
}

/// Passes bytes as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl Rewriter for Identity {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        out.extend_from_slice(chunk);
        Ok(())
    }

    fn finish(&mut self, _: &mut BytesMut) -> Result<(), StreamError> {
        Ok(())
    }
}

/// Rewriters in order; itself a rewriter, so pipelines nest.
#[derive(Default)]
pub struct Pipeline {
    stages: Vec<Box<dyn Rewriter>>,
    /// Stages before this one have failed or finished and are not called again.
    first_live: usize,
    input: BytesMut,
    output: BytesMut,
}

impl Pipeline {
    /// Adds a stage after those already there.
    pub fn push(&mut self, stage: Box<dyn Rewriter>) {
        self.stages.push(stage);
    }

    /// Whether bytes pass unchanged because there is no stage.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// See [`Rewriter::last_document`]; of the last stage.
    pub fn last_document(&mut self, document: &[u8], out: &mut BytesMut) -> bool {
        self.stages.last_mut().is_some_and(|stage| stage.last_document(document, out))
    }

    /// Writes `words` into the stages behind the one that failed and ends the stream: how a caller gets an error
    /// event through the encoder after law 4 has stopped the rest. With no failure, the words go before the last
    /// stage. What the failed and earlier stages held is dropped.
    pub fn last_words(&mut self, words: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        if self.first_live == 0 {
            self.first_live = self.stages.len().saturating_sub(1);
        }
        self.run(words, AfterChunk::End, out)
    }

    fn run(&mut self, chunk: &[u8], after: AfterChunk, out: &mut BytesMut) -> Result<(), StreamError> {
        let live = self.stages.len() - self.first_live.min(self.stages.len());
        let mut borrowed = Some(chunk);
        for n in 0..live {
            let at = self.first_live + n;
            let last = n + 1 == live;
            let sink = if last { &mut *out } else { &mut self.output };
            let result = {
                let source = borrowed.take().unwrap_or(&self.input);
                let Some(stage) = self.stages.get_mut(at) else { break };
                let written = if source.is_empty() { Ok(()) } else { stage.write(source, sink) };
                match after {
                    AfterChunk::End => written.and_then(|()| stage.finish(sink)),
                    AfterChunk::Pause => written.and_then(|()| stage.release(sink)),
                    AfterChunk::More => written,
                }
            };
            if let Err(error) = result {
                // What the stages behind already hold is decided text: only the failed one's output stops.
                self.first_live = at + 1;
                self.output.clear();
                self.input.clear();
                return Err(error);
            }
            if !last {
                std::mem::swap(&mut self.input, &mut self.output);
                self.output.clear();
            }
        }
        if live == 0 {
            out.extend_from_slice(chunk);
        }
        self.input.clear();
        Ok(())
    }
}

/// What follows a chunk.
#[derive(Clone, Copy)]
enum AfterChunk {
    /// More, at once or so.
    More,
    /// More, but not for a while.
    Pause,
    /// Nothing.
    End,
}

impl Rewriter for Pipeline {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        self.run(chunk, AfterChunk::More, out)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.run(&[], AfterChunk::End, out)
    }

    fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        self.run(&[], AfterChunk::Pause, out)
    }

    fn held(&self) -> usize {
        self.stages.iter().map(|stage| stage.held()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Doubles each byte; fails on `!`; says `.` when it ends.
    struct Twice;

    impl Rewriter for Twice {
        fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
            for &byte in chunk {
                if byte == b'!' {
                    return Err(StreamError::Replace("told to"));
                }
                out.extend_from_slice(&[byte, byte]);
            }
            Ok(())
        }

        fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
            out.extend_from_slice(b".");
            Ok(())
        }
    }

    fn two() -> Pipeline {
        let mut pipeline = Pipeline::default();
        pipeline.push(Box::new(Twice));
        pipeline.push(Box::new(Twice));
        pipeline
    }

    #[test]
    fn stages_run_in_order_and_finish_through_the_later_ones() {
        let mut out = BytesMut::new();
        let mut pipeline = two();
        pipeline.write(b"a", &mut out).unwrap();
        pipeline.write(b"", &mut out).unwrap();
        pipeline.finish(&mut out).unwrap();
        assert_eq!(&out[..], b"aaaa...");
    }

    /// Holds all that it has until it is released.
    #[derive(Default)]
    struct Holds(Vec<u8>);

    impl Rewriter for Holds {
        fn write(&mut self, chunk: &[u8], _: &mut BytesMut) -> Result<(), StreamError> {
            self.0.extend_from_slice(chunk);
            Ok(())
        }

        fn release(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
            out.extend(self.0.drain(..));
            Ok(())
        }

        fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
            self.release(out)
        }

        fn held(&self) -> usize {
            self.0.len()
        }
    }

    #[test]
    fn what_is_released_passes_the_later_stages() {
        let mut out = BytesMut::new();
        let mut pipeline = Pipeline::default();
        pipeline.push(Box::new(Holds::default()));
        pipeline.push(Box::new(Twice));
        pipeline.push(Box::new(Holds::default()));
        pipeline.write(b"a", &mut out).unwrap();
        assert_eq!((out.len(), pipeline.held()), (0, 1));
        pipeline.release(&mut out).unwrap();
        assert_eq!((&out[..], pipeline.held()), (&b"aa"[..], 0));
        pipeline.write(b"b", &mut out).unwrap();
        pipeline.finish(&mut out).unwrap();
        assert_eq!(&out[..], b"aabb.");
    }

    #[test]
    fn an_empty_pipeline_passes_bytes() {
        let mut out = BytesMut::new();
        Pipeline::default().write(b"as is", &mut out).unwrap();
        assert_eq!(&out[..], b"as is");
    }

    #[test]
    fn after_a_failure_the_later_stages_still_take_last_words() {
        let mut out = BytesMut::new();
        let mut pipeline = two();
        assert!(pipeline.write(b"!", &mut out).is_err());
        out.clear();
        pipeline.last_words(b"x", &mut out).unwrap();
        assert_eq!(&out[..], b"xx.");
    }
}
