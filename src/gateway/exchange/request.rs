//! The request's body: collected whole, or rewritten as it passes, or let pass.

use bytes::{Bytes, BytesMut};

use crate::api::ApiError;
use crate::gateway::body::{Body, BodyFormat, BodyKind, Task, beginning};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, UnscannedPolicy, inner};
use crate::gateway::filter::Layer;
use crate::telemetry::{Direction, Scan, Unscanned};

impl Exchange {
    /// Asks for the request's body to be read whole, up to `limit` bytes, before it is sent on.
    pub fn collect(&mut self, limit: usize) {
        let limit = self.route.max_body.map_or(limit, |max| max.min(limit));
        self.collect = Some(limit);
    }

    /// How much of the body to collect, if a filter asked.
    pub fn collects(&self) -> Option<usize> {
        self.collect
    }

    /// Installs a layer on the request's body as it passes.
    pub fn rewrite_request(&mut self, layer: Layer) {
        self.up.push(layer);
    }

    /// Has the request's body show what it is before it is sent on, since its head does not say.
    pub fn doubt(&mut self, unknown: UnscannedPolicy) {
        (self.unsure, self.unknown_request) = (true, unknown);
    }

    /// Whether the request's body must show what it is.
    pub fn is_unsure(&self) -> bool {
        self.unsure
    }

    /// The request's body begins so; `ended` when that is all. What it is may take more to tell, and is told then.
    ///
    /// # Errors
    /// Nobody knows what it is, and the route passes no such body.
    pub fn begins(&mut self, body: Bytes, ended: bool) -> Result<(), GatewayError> {
        let format = BodyFormat::of(&self.head.headers, false).map_err(|_| GatewayError::UNKNOWN_TYPE)?;
        let head = beginning(&body, &format.codings, &self.budget).map_err(GatewayError::of_request)?;
        self.began = body;
        match format.kind(&head, ended, Direction::Request) {
            BodyKind::Unknown if self.unknown_request == UnscannedPolicy::Pass => {
                self.up.clear();
                self.collect = None;
                self.unseen(Direction::Request, Unscanned::ContentType);
                Ok(())
            }
            BodyKind::Unknown if !head.is_empty() => Err(GatewayError::UNKNOWN_TYPE),
            _ => Ok(()),
        }
    }

    /// What of a body that is collected has been read already.
    pub fn began(&mut self) -> Bytes {
        std::mem::take(&mut self.began)
    }

    /// A body passes as it is.
    pub fn unseen(&mut self, direction: Direction, why: Unscanned) {
        let scan = match direction {
            Direction::Request => &mut self.request_scan,
            Direction::Answer => &mut self.answer_scan,
        };
        *scan = Scan::NotScanned(why);
        self.route.metrics.unscanned(direction);
    }

    /// Begins an attempt to send a streamed request: a fresh pipeline, since Pingora replays the body on a retry.
    /// Returns whether the body will change.
    ///
    /// # Errors
    /// A layer that cannot be built for this head.
    pub fn begin_attempt(&mut self) -> Result<bool, GatewayError> {
        self.streamed = 0;
        if self.up.is_empty() {
            return Ok(false);
        }
        let format = BodyFormat::of(&self.head.headers, false).map_err(|_| GatewayError::UNKNOWN_TYPE)?;
        let (unknown, direction) = (self.unknown_request, Direction::Request);
        let task = Task { layers: &self.up, format: &format, direction, unknown, budget: &self.budget };
        let built = Body::new(&task).map_err(GatewayError::of_request)?;
        *inner(&mut self.request) = Some(built);
        Ok(true)
    }

    /// A piece of a streamed request. Leaves `Some(empty)` rather than `None` before the end: Pingora takes `None`
    /// for the end of the body.
    ///
    /// # Errors
    /// A body that is too large, or that a rewriter cannot take.
    pub fn request_chunk(&mut self, chunk: &mut Option<Bytes>, end: bool) -> Result<(), GatewayError> {
        let size = chunk.as_ref().map_or(0, Bytes::len);
        self.streamed = self.streamed.saturating_add(size);
        if let Some(limit) = self.route.max_body.filter(|&limit| self.streamed > limit) {
            return Err(GatewayError::Api(ApiError::TooLarge(limit)));
        }
        let Some(body) = inner(&mut self.request) else { return Ok(()) };
        let mut out = BytesMut::with_capacity(size);
        let written = body.write(chunk.as_deref().unwrap_or_default(), end, &mut out);
        if end || written.is_err() {
            self.route.metrics.scanned(Direction::Request, body.scanned());
        }
        written.map_err(GatewayError::of_request)?;
        if body.is_unknown() && self.request_scan == Scan::Scanned {
            self.unseen(Direction::Request, Unscanned::ContentType);
        }
        *chunk = Some(out.freeze());
        Ok(())
    }
}
