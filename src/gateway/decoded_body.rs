//! [`DecodedBody`]: a body out of its content codings, for whoever reads along.

use bytes::BytesMut;

use crate::base::budget::MemoryBudget;
use crate::gateway::content_coding::decoders;
use crate::stream::codec::Coding;
use crate::stream::{Pipeline, Rewriter, StreamError};

/// Takes the content codings off a body that passes as it is, for whoever reads along.
pub(super) struct DecodedBody {
    stages: Pipeline,
    plain: BytesMut,
    /// What came is not in its coding: nothing more is read.
    broken: bool,
}

impl DecodedBody {
    /// Sets up the decoders.
    ///
    /// # Errors
    /// One that cannot be had.
    pub(super) fn new(codings: &[Coding], budget: &MemoryBudget) -> Result<Self, StreamError> {
        Ok(Self { stages: decoders(codings, budget)?, plain: BytesMut::new(), broken: false })
    }

    /// The next piece out of its coding; `end` when it is the last.
    pub(super) fn decoded<'a>(&'a mut self, chunk: &'a [u8], end: bool) -> &'a [u8] {
        if self.stages.is_empty() {
            return chunk;
        }
        self.plain.clear();
        if !self.broken {
            let written = self.stages.write(chunk, &mut self.plain);
            let ended = written.and_then(|()| if end { self.stages.finish(&mut self.plain) } else { Ok(()) });
            self.broken = ended.is_err();
        }
        &self.plain
    }
}
