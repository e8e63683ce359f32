//! [`Answering`]: an answer whose head has passed the filters, and whose body passes now.

use std::sync::{Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use pingora::http::ResponseHeader;

use crate::gateway::body::{Body, BodyFormat, Task, strip_body_headers};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, has_body};
use crate::gateway::filter_chain::FilterChain;
use crate::gateway::layer::UnscannedPolicy;
use crate::gateway::terminal::Terminal;
use crate::telemetry::{Direction, Scan, Unscanned};

/// The body of an answer on its way to the caller.
pub(in crate::gateway) struct Answering {
    // A context must be Sync for Pingora, a rewriter is not; this lock is never waited for.
    body: Mutex<Option<Body>>,
}

impl Answering {
    /// Shows the head of the answer (never a 1xx) to the filters; then the rewriters are built, and the head is made to
    /// fit what they leave.
    ///
    /// # Errors
    /// A filter's, or a body that the route refuses to pass unscanned.
    pub(in crate::gateway) async fn begin(
        x: &mut Exchange,
        chain: &FilterChain,
        head: &mut ResponseHeader,
    ) -> Result<Self, GatewayError> {
        if let Terminal::Upstream(_) = &x.route().terminal {
            x.trace.answered(head.status.as_u16());
        }
        let plan = chain.response(x, head).await?;
        let as_it_is = Ok(Self { body: Mutex::new(None) });
        if plan.layers().is_empty() || !has_body(&x.head().method, head.status) {
            return as_it_is;
        }
        let format = BodyFormat::of(&head.headers, plan.knows_protocol()).and_then(|format| {
            format.may_show(plan.policy()).then_some(format).ok_or(Unscanned::ContentType)
        });
        match format {
            Ok(format) => {
                let task = Task {
                    layers: plan.layers(),
                    format: &format,
                    direction: Direction::Answer,
                    policy: plan.policy(),
                    budget: &x.budget,
                };
                let body = Body::new(&task).map_err(GatewayError::of_answer)?;
                x.answer_scan = Scan::Scanned;
                strip_body_headers(head, x.head().version);
                Ok(Self { body: Mutex::new(Some(body)) })
            }
            Err(why) if plan.policy() == UnscannedPolicy::Pass => {
                x.passes_unscanned(Direction::Answer, why);
                as_it_is
            }
            Err(Unscanned::ContentCoding) => {
                Err(GatewayError::Unscannable("its content coding is not known"))
            }
            Err(_) => Err(GatewayError::UNKNOWN_ANSWER),
        }
    }

    /// Whether the body will change.
    pub(in crate::gateway) fn rewrites(&mut self) -> bool {
        unlocked(&mut self.body).is_some()
    }

    /// Whether the body has room for an error: it is a stream.
    pub(in crate::gateway) fn is_stream(&mut self) -> bool {
        unlocked(&mut self.body).as_ref().is_some_and(|body| body.stream_frame().is_some())
    }

    /// Rewrites a piece of the body. After an error in an event stream the last event says so and the rest is dropped.
    ///
    /// # Errors
    /// An error in a body that has no room for one: unless its head is still here, the connection must look broken.
    pub(in crate::gateway) fn chunk(
        &mut self,
        x: &mut Exchange,
        chunk: &mut Option<Bytes>,
        end: bool,
    ) -> Result<(), GatewayError> {
        let Some(body) = unlocked(&mut self.body) else {
            x.delivery.sent(chunk.as_deref().unwrap_or_default(), end);
            return Ok(());
        };
        if x.delivery.is_cut_short() {
            *chunk = None;
            return Ok(());
        }
        let piece = chunk.as_deref().unwrap_or_default();
        let mut out = BytesMut::with_capacity(piece.len() + 64);
        let written = body.write(piece, end, &mut out);
        if end {
            x.route().metrics.scanned(Direction::Answer, body.scanned());
        } else {
            x.route().metrics.held_back(body.held());
        }
        if body.is_unknown() && x.answer_scan == Scan::Scanned {
            x.passes_unscanned(Direction::Answer, Unscanned::ContentType);
        }
        if let Err(error) = written {
            let error = GatewayError::of_answer(error);
            match self.last_event(x, &error) {
                Ok(event) => out.extend_from_slice(&event),
                Err(_) => return Err(error),
            }
        }
        x.delivery.sent(&out, end);
        *chunk = (!out.is_empty()).then(|| out.freeze());
        Ok(())
    }

    /// The answer broke off, or cannot go on: what is still to be sent to a caller who reads a stream of events.
    ///
    /// # Errors
    /// [`GatewayError::Gone`] when the body has no room for an error.
    pub(in crate::gateway) fn last_event(
        &mut self,
        x: &mut Exchange,
        error: &GatewayError,
    ) -> Result<Bytes, GatewayError> {
        x.error_word = Some(error.word());
        let mut out = BytesMut::new();
        let to = x.error_target();
        let say = |body: &mut Body| body.cut(&error.event(&to, body.stream_frame()), &mut out);
        let said = !x.delivery.is_cut_short() && unlocked(&mut self.body).as_mut().is_some_and(say);
        x.delivery.cut_short();
        if said { Ok(out.freeze()) } else { Err(GatewayError::Gone) }
    }
}

/// What is in a lock that is never shared while it is used.
pub(super) fn unlocked<T>(lock: &mut Mutex<T>) -> &mut T {
    lock.get_mut().unwrap_or_else(PoisonError::into_inner)
}
