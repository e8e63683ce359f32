//! [`Streaming`]: a request whose body Pingora sends on as it comes.

use std::sync::Mutex;
use std::time::Instant;

use bytes::{Bytes, BytesMut};

use crate::api::ApiError;
use crate::gateway::body::{BodyFormat, BodyRewriter, Task};
use crate::gateway::dialer::PoolDialer;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::plan::RequestPlan;
use crate::gateway::state::answering::unlocked;
use crate::telemetry::{BodyScan, Direction, Unscanned};

/// A request on its way to a peer, piece by piece.
pub(in crate::gateway) struct Streaming {
    plan: RequestPlan,
    /// Knows the peers; `None`: the embedding server does.
    pub(in crate::gateway) dialer: Option<PoolDialer>,
    /// When the exchange must be over.
    pub(in crate::gateway) deadline: Option<Instant>,
    /// Whether the head of this attempt goes out in HTTP/1.1 and nothing of the body was asked for yet.
    pub(in crate::gateway) unsent: bool,
    // A context must be Sync for Pingora, a rewriter is not; this lock is never waited for.
    body: Mutex<Option<BodyRewriter>>,
    /// Body bytes of this attempt that came so far.
    received: usize,
}

impl Streaming {
    /// With what the filters want done with the body.
    pub(in crate::gateway) fn new(plan: RequestPlan, dialer: Option<PoolDialer>) -> Self {
        Self { plan, dialer, deadline: None, unsent: false, body: Mutex::new(None), received: 0 }
    }

    /// Begins an attempt: the rewriters are built afresh, since Pingora replays the body on a retry. Returns whether the
    /// body will change.
    ///
    /// # Errors
    /// A layer that cannot be built for this head.
    pub(in crate::gateway) fn begin_attempt(&mut self, x: &Exchange) -> Result<bool, GatewayError> {
        self.received = 0;
        if self.plan.layers().is_empty() {
            return Ok(false);
        }
        let format = BodyFormat::of(&x.head().headers, false).map_err(|_| GatewayError::UNKNOWN_TYPE)?;
        let task = Task {
            layers: self.plan.layers(),
            format: &format,
            direction: Direction::Request,
            policy: self.plan.policy(),
            budget: &x.budget,
        };
        let body = BodyRewriter::new(&task).map_err(GatewayError::of_request)?;
        *unlocked(&mut self.body) = Some(body);
        Ok(true)
    }

    /// Rewrites a piece of the body. Leaves `Some(empty)` rather than `None` before the end: Pingora takes `None` for
    /// the end of the body.
    ///
    /// # Errors
    /// A body that is too large, or that a rewriter cannot take.
    pub(in crate::gateway) fn request_chunk(
        &mut self,
        x: &mut Exchange,
        chunk: &mut Option<Bytes>,
        end: bool,
    ) -> Result<(), GatewayError> {
        let size = chunk.as_ref().map_or(0, Bytes::len);
        self.received = self.received.saturating_add(size);
        if let Some(limit) = x.route().max_body.filter(|&limit| self.received > limit) {
            return Err(GatewayError::Api(ApiError::TooLarge(limit)));
        }
        let Some(body) = unlocked(&mut self.body) else {
            *chunk = piece(chunk.take(), end);
            return Ok(());
        };
        let mut out = BytesMut::with_capacity(size);
        let written = body.write(chunk.as_deref().unwrap_or_default(), end, &mut out);
        if end || written.is_err() {
            x.route().metrics.scanned(Direction::Request, body.scanned());
        }
        written.map_err(GatewayError::of_request)?;
        if body.is_unknown() && x.request_scan == BodyScan::Scanned {
            x.passes_unscanned(Direction::Request, Unscanned::ContentType);
        }
        *chunk = piece(Some(out.freeze()), end);
        Ok(())
    }
}

/// A piece as Pingora has to be given it: nothing where the body goes on is its end, and an empty last piece would be
/// written as a last chunk (RFC 9112 section 7.1) before the last chunk, which the upstream takes for a request.
fn piece(chunk: Option<Bytes>, end: bool) -> Option<Bytes> {
    chunk.filter(|chunk| !end || !chunk.is_empty())
}
