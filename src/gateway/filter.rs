//! What a filter is, and when it runs.
//!
//! Filters decide when they see a head or a collected document; there they may await. What they leave for bytes in
//! motion is a [`Layer`](super::layer::Layer) in the plan of the state they see. There are no chunk hooks.

use async_trait::async_trait;
use bytes::Bytes;
use http::HeaderMap;
use pingora::http::ResponseHeader;

use crate::api::ApiAnswer;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, RequestOutcome};
use crate::gateway::plan::{AnswerPlan, RequestPlan};
use crate::gateway::websocket::MessagePlan;
use crate::telemetry::Refusal;

/// When a filter runs. The order is here and nowhere else: a configuration says which filters, never when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// First, so that a request refused by any other filter is seen.
    Observe,
    /// Before anything is spent on the request.
    LoadShed,
    /// From where, before anything that a stranger sends is tried.
    Admit,
    /// Before identification: a browser's preflight carries no credentials.
    Preflight,
    /// Who calls.
    Identify,
    /// What the caller may do; needs to know who.
    Authorize,
    /// How often; after authorization, so that a stranger cannot use up a caller's share.
    Limit,
    /// Bodies; only for requests that will be forwarded.
    Rewrite,
    /// Credentials for the upstream; last, so that no other filter sees them.
    Sign,
}

/// Whether the request goes on.
#[must_use]
pub enum Flow {
    /// To the next filter, or the terminal.
    Next,
    /// No: this is the answer.
    Answer(ApiAnswer),
    /// Not before its body was read whole, of at most so many bytes: this filter then sees it again, with the
    /// [body](crate::gateway::exchange::ExchangeFacts::read). Only of a head.
    Read(usize),
}

/// One concern, both ways. All of its methods see the same [`Exchange`].
#[async_trait]
pub trait Filter: Send + Sync + 'static {
    /// The name of its table in the configuration.
    fn name(&self) -> &'static str;

    /// When it runs.
    fn stage(&self) -> Stage;

    /// Why it would refuse any request now, whatever that asks for. Also called before there is a session, which costs
    /// more than such a refusal.
    fn rejects_all(&self) -> Option<Refusal> {
        None
    }

    /// Whether it answers preflights, so that its route takes those which ask about a method that the route takes.
    fn answers_preflights(&self) -> bool {
        false
    }

    /// Whether it looks through the bodies of answers, so that none may pass unseen.
    fn edits_answers(&self) -> bool {
        false
    }

    /// `Received`: sees the request's head. May await, plan what is done with the body, or answer.
    async fn request(&self, _: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        Ok(Flow::Next)
    }

    /// `Routed`, where the request asks for WebSocket: sees the request's head once more. May plan what is done with
    /// messages.
    async fn messages(&self, _: &mut Exchange, _: &mut MessagePlan) -> Result<(), GatewayError> {
        Ok(())
    }

    /// `Collected`: sees the document, as it came and as rewritten so far, before a peer is chosen.
    async fn collected(&self, _: &mut Exchange, _: &mut RequestDocument) -> Result<Flow, GatewayError> {
        Ok(Flow::Next)
    }

    /// `Answering`: sees the answer's head (never a 1xx), innermost filter first; only filters that were entered. May
    /// plan what is done with the body.
    async fn response(
        &self,
        _: &mut Exchange,
        _: &mut ResponseHeader,
        _: &mut AnswerPlan,
    ) -> Result<(), GatewayError> {
        Ok(())
    }

    /// An error of ours is about to be sent: sees the head of that answer, innermost filter first; all filters of the route,
    /// also those that were not entered.
    fn error(&self, _: &Exchange, _: &mut HeaderMap) {}

    /// `Done`: on every exit, also after failures.
    async fn done(&self, _: &mut Exchange, _: &RequestOutcome) {}
}

/// A collected request body: plain, out of its content coding.
pub struct RequestDocument {
    /// As it came.
    pub original: Bytes,
    /// As rewritten so far; `None` while no filter has changed it.
    pub rewritten: Option<Bytes>,
}

impl RequestDocument {
    /// What goes to the upstream.
    pub fn current(&self) -> &Bytes {
        self.rewritten.as_ref().unwrap_or(&self.original)
    }
}
