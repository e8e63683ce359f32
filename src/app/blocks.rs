//! Input in blocks, which several threads work on before whoever takes them comes to them. They are taken in the order in which
//! they came, and what has come is not kept waiting for more: who follows a live text gets each piece of it at once.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::base::ordered_pool::{JobPanic, OrderedPool};

/// The largest block, in bytes; but for what cannot be parted.
const BLOCK: usize = 128 << 10;

/// The most that is read at once, in bytes.
const PIECE: usize = 64 << 10;

/// Pieces that are read and not looked at.
const READ_AHEAD: usize = 8;

/// All blocks together that are taken ahead have about so many bytes, with any number of threads.
const AHEAD: usize = 8 << 20;

/// What comes of an input.
pub enum InputPart {
    /// More of a text.
    Bytes(Vec<u8>),
    /// The text ends. Another may follow.
    End,
}

/// Where the parts of an input go to, for whoever reads it; an error ends it.
#[derive(Debug)]
pub struct InputParts<E> {
    send: SyncSender<Result<InputPart, E>>,
    /// Read at once, in bytes.
    piece: usize,
}

impl<E> InputParts<E> {
    /// Hands on what comes next; false if nobody wants it any more.
    pub fn send(&self, part: Result<InputPart, E>) -> bool {
        self.send.send(part).is_ok()
    }

    /// Reads a text to its end; false if nobody wants more.
    pub fn read(&self, mut text: impl Read, fails: impl Fn(std::io::Error) -> E) -> bool {
        let mut piece = vec![0; self.piece];
        loop {
            let part = match text.read(&mut piece) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(fails(error)),
                Ok(0) => Ok(InputPart::End),
                Ok(read) => Ok(InputPart::Bytes(piece.get(..read).unwrap_or_default().to_vec())),
            };
            let (over, failed) = (matches!(part, Ok(InputPart::End)), part.is_err());
            if !self.send(part) || failed {
                return false;
            }
            if over {
                return true;
            }
        }
    }
}

/// What is done with blocks ahead.
pub trait BlockWork: Send + Sync + 'static {
    /// What comes of a block.
    type Done: Send + 'static;

    /// How much of the text before a block it is told, in bytes.
    const CONTEXT: usize;

    /// What that begins at a multiple of in its text, in bytes.
    const ALIGNMENT: usize;

    /// How much of `bytes` blocks can have where more may follow: the rest begins the next one. Of the first `known` bytes none
    /// could.
    fn whole(&self, bytes: &[u8], known: usize) -> usize;

    /// Works on a block, before which `context` stands.
    fn work(&self, context: &[u8], block: &[u8]) -> Self::Done;
}

/// A block, and what came of it if it was worked on ahead.
pub struct Block<D> {
    /// The block.
    pub bytes: Arc<Vec<u8>>,
    /// What came of it.
    pub done: Option<D>,
}

impl<D> std::fmt::Debug for Block<D> {
    // The block is text from outside.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes)", self.bytes.len())
    }
}

/// What is taken of an input.
#[derive(Debug)]
pub enum Arrival<D> {
    /// The next block of a text.
    Block(Block<D>),
    /// The text has ended.
    End,
    /// Nothing came for as long as was waited.
    Pause,
}

/// A block for a thread, and what stands before it.
struct Job {
    context: Vec<u8>,
    block: Arc<Vec<u8>>,
}

/// What waits to be taken.
enum Waiting<E> {
    Block { bytes: Arc<Vec<u8>>, given: bool },
    End,
    Failed(E),
}

/// An input in blocks.
pub struct Blocks<W: BlockWork, E> {
    parts: Receiver<Result<InputPart, E>>,
    work: Arc<W>,
    pool: OrderedPool<Job, W::Done>,
    /// A block is cut where it has so many bytes, and so many blocks and ends of texts are taken ahead.
    size: usize,
    most: usize,
    waiting: VecDeque<Waiting<E>>,
    /// Bytes that are in no block yet; in the first `known` of them none ends.
    rest: Vec<u8>,
    known: usize,
    /// What stands before them, and where in the text they begin.
    context: Vec<u8>,
    at: usize,
}

/// How many blocks and ends of texts so many threads have ahead of who takes them.
const fn ahead_of(threads: usize) -> usize {
    if threads > 1 { 2 * threads + 2 } else { 0 }
}

impl<W: BlockWork, E: From<JobPanic> + Send + 'static> Blocks<W, E> {
    /// Of what `read` hands on, on a thread of its own: only so can it be known that nothing comes. With one thread nothing is
    /// done ahead; with more, so many do it.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn new(
        work: W,
        threads: usize,
        read: impl FnOnce(&InputParts<E>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let size = (AHEAD / ahead_of(threads).max(1)).min(BLOCK);
        Self::sized(work, threads, size, read)
    }

    /// The same, with blocks of this size.
    fn sized(
        work: W,
        threads: usize,
        size: usize,
        read: impl FnOnce(&InputParts<E>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let most = ahead_of(threads);
        let (send, parts) = sync_channel(READ_AHEAD);
        let run = move || read(&InputParts { send, piece: PIECE.min(size) });
        // It is not waited for: it may hang in a read when nobody wants its result any more.
        std::thread::Builder::new().name("input".to_owned()).spawn(run)?;
        let work = Arc::new(work);
        let worker = Arc::clone(&work);
        let pool = OrderedPool::new(threads, most, move |job: Job| worker.work(&job.context, &job.block));
        Ok(Self {
            parts,
            work,
            pool,
            size,
            most,
            waiting: VecDeque::new(),
            rest: Vec::new(),
            known: 0,
            context: Vec::new(),
            at: 0,
        })
    }

    /// What is done with blocks, for whoever takes one on which nothing was done ahead.
    pub fn work(&self) -> &W {
        &self.work
    }

    /// Takes what comes next, and waits for it; where nothing has come that waits for its rest, no longer than `pause`.
    ///
    /// # Errors
    /// Reading; and a thread that has failed, be it the one that reads.
    pub fn take(&mut self, pause: Option<Duration>) -> Result<Arrival<W::Done>, E> {
        loop {
            self.take_ahead();
            if self.waiting.is_empty() {
                // Nothing more is there: what has come does not wait for it.
                self.end_block();
            }
            match self.waiting.pop_front() {
                Some(Waiting::Block { bytes, given: false }) => {
                    return Ok(Arrival::Block(Block { bytes, done: None }));
                }
                Some(Waiting::Block { bytes, given: true }) => {
                    let done = self.pool.take().transpose().map_err(E::from)?;
                    return Ok(Arrival::Block(Block { bytes, done }));
                }
                Some(Waiting::End) => return Ok(Arrival::End),
                Some(Waiting::Failed(error)) => return Err(error),
                None => {}
            }
            // What waits for its rest is no reason to end anything.
            let next = match pause.filter(|_| self.rest.is_empty()) {
                Some(pause) => self.parts.recv_timeout(pause),
                None => self.parts.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(part) => self.put(part),
                Err(RecvTimeoutError::Timeout) => return Ok(Arrival::Pause),
                // Whoever reads says when a text ends; this one has panicked.
                Err(RecvTimeoutError::Disconnected) => return Err(JobPanic.into()),
            }
        }
    }

    /// Whether what is taken next may still be to come.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes what is there already, as much as may wait.
    fn take_ahead(&mut self) {
        while self.waiting.len() < self.most
            && let Ok(part) = self.parts.try_recv()
        {
            self.put(part);
        }
    }

    fn put(&mut self, part: Result<InputPart, E>) {
        match part {
            Ok(InputPart::Bytes(bytes)) if self.rest.is_empty() => self.rest = bytes,
            Ok(InputPart::Bytes(bytes)) => self.rest.extend_from_slice(&bytes),
            Ok(InputPart::End) => {
                self.cut(self.rest.len());
                self.context.clear();
                self.at = 0;
                self.waiting.push_back(Waiting::End);
            }
            Err(error) => {
                self.end_block();
                self.rest.clear();
                self.waiting.push_back(Waiting::Failed(error));
            }
        }
        if self.rest.len() >= self.size {
            self.end_block();
        }
    }

    /// Makes a block of what has come, as far as one can end there.
    fn end_block(&mut self) {
        let whole = self.work.whole(&self.rest, self.known);
        self.known = self.rest.len();
        self.cut(whole);
    }

    /// Makes a block of the first `length` bytes.
    fn cut(&mut self, length: usize) {
        if length == 0 {
            return;
        }
        let rest = self.rest.split_off(length.min(self.rest.len()));
        let bytes = Arc::new(std::mem::replace(&mut self.rest, rest));
        self.known = self.rest.len();
        // The one that is taken next is worked on by whoever takes it.
        let given = !self.waiting.is_empty() && {
            let job = Job { context: self.context.clone(), block: Arc::clone(&bytes) };
            self.pool.submit(job).is_ok()
        };
        self.pass(&bytes);
        self.waiting.push_back(Waiting::Block { bytes, given });
    }

    /// Keeps the end of a block for the next.
    fn pass(&mut self, bytes: &[u8]) {
        self.at += bytes.len();
        if W::CONTEXT == 0 || self.most == 0 {
            return;
        }
        let kept = W::CONTEXT + self.at % W::ALIGNMENT;
        self.context.extend_from_slice(bytes.get(bytes.len().saturating_sub(kept)..).unwrap_or_default());
        self.context.drain(..self.context.len().saturating_sub(kept));
    }
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
