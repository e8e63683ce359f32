//! [`ActiveRequest`]: one request under way. Whoever moves it on takes the state it is in and leaves the next.

use std::sync::Arc;

use bytes::Bytes;
use pingora::http::ResponseHeader;
use pingora::{Error, ErrorType};

use crate::api::{ApiAnswer, ApiError};
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::{Exchange, RequestOutcome};
use crate::gateway::filter_chain::FilterChain;
use crate::gateway::state::answering::Answering;
use crate::gateway::state::received::{Received, Routed};
use crate::gateway::state::streaming::Streaming;
use crate::gateway::upstream::Upstream;

/// What is left to do once the filters have seen a request's head.
pub(in crate::gateway) enum HeadOutcome {
    /// Nothing: it is answered.
    Answered,
    /// It goes to this pool.
    Pool(Arc<Upstream>),
    /// It goes to the server that embeds the chain.
    Host,
}

/// The state a request is in.
pub(in crate::gateway) enum RequestState {
    /// Its head was read.
    Received(Received),
    /// Its filters have passed it.
    Routed(Routed),
    /// Its body was read whole, and is with the relay until an answer comes.
    Collected,
    /// Pingora sends its body on as it comes.
    Streaming(Box<Streaming>),
    /// Its answer passes. An upstream may answer before it has read all of a body that is streamed.
    Answering(Box<Answering>, Option<Box<Streaming>>),
    /// It is over, or was refused.
    Done,
}

/// One request under way: what lasts of it, its filters, and its state.
pub(in crate::gateway) struct ActiveRequest {
    /// What lasts.
    pub(in crate::gateway) x: Exchange,
    /// Its filters.
    pub(in crate::gateway) chain: FilterChain,
    /// Where it stands.
    pub(in crate::gateway) state: RequestState,
    /// An error of ours, while Pingora carries one of its own to `fail_to_proxy`.
    pending: Option<GatewayError>,
}

/// A callback or step came in a state that has no such step. A bug, answered as an internal error.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct InvalidState;

impl From<InvalidState> for Box<Error> {
    fn from(_: InvalidState) -> Self {
        Error::explain(ErrorType::InternalError, "callback out of turn")
    }
}

impl From<InvalidState> for GatewayError {
    fn from(_: InvalidState) -> Self {
        Self::Api(ApiError::Internal("state"))
    }
}

impl RequestState {
    /// The state, whose place the next one is to take.
    pub(in crate::gateway) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Done)
    }

    /// Begins to answer; a body that is still streamed goes on.
    pub(in crate::gateway) fn answer(&mut self, answering: Answering) {
        let streaming = match self.take() {
            Self::Streaming(streaming) => Some(streaming),
            _ => None,
        };
        *self = Self::Answering(Box::new(answering), streaming);
    }
}

impl ActiveRequest {
    /// One whose head was just read.
    pub(in crate::gateway) fn new(x: Exchange, chain: FilterChain, received: Received) -> Self {
        Self { x, chain, state: RequestState::Received(received), pending: None }
    }

    /// The request and its body, while that is streamed.
    ///
    /// # Errors
    /// It is not.
    pub(in crate::gateway) fn streaming(&mut self) -> Result<(&mut Exchange, &mut Streaming), InvalidState> {
        match &mut self.state {
            RequestState::Streaming(streaming) | RequestState::Answering(_, Some(streaming)) => {
                Ok((&mut self.x, streaming))
            }
            _ => Err(InvalidState),
        }
    }

    /// The request and its answer, while that passes.
    ///
    /// # Errors
    /// It does not.
    pub(in crate::gateway) fn answering(&mut self) -> Result<(&mut Exchange, &mut Answering), InvalidState> {
        match &mut self.state {
            RequestState::Answering(answering, _) => Ok((&mut self.x, answering)),
            _ => Err(InvalidState),
        }
    }

    /// Shows the head of an answer to the filters, and begins to answer.
    ///
    /// # Errors
    /// As [`Answering::begin`].
    pub(in crate::gateway) async fn answer(
        &mut self,
        head: &mut ResponseHeader,
    ) -> Result<(&mut Exchange, &mut Answering), GatewayError> {
        let answering = Answering::begin(&mut self.x, &self.chain, head).await?;
        self.state.answer(answering);
        Ok(self.answering()?)
    }

    /// What the filters leave of a request that is to be forwarded.
    ///
    /// # Errors
    /// They have not passed it, or it is on its way already.
    pub(in crate::gateway) fn routed(&mut self) -> Result<Routed, InvalidState> {
        match self.state.take() {
            RequestState::Routed(routed) => Ok(routed),
            _ => Err(InvalidState),
        }
    }

    /// Turns an error into the answer for this caller, whose head the filters see: it does not pass them as other answers
    /// do, since one of them may have raised it.
    pub(in crate::gateway) fn error_answer(&mut self, error: GatewayError) -> ApiAnswer {
        let mut answer = self.x.error_answer(error);
        self.chain.error(&self.x, &mut answer.headers);
        answer
    }

    /// What is still to be sent of an answer that cannot go on, see [`Answering::last_event`].
    ///
    /// # Errors
    /// [`GatewayError::Gone`] when there is no room for an error.
    pub(in crate::gateway) fn last_event(&mut self, error: &GatewayError) -> Result<Bytes, GatewayError> {
        if let Ok((x, answering)) = self.answering() {
            return answering.last_event(x, error);
        }
        self.x.error_word = Some(error.word());
        self.x.delivery.cut_short();
        Err(GatewayError::Gone)
    }

    /// Keeps an error of ours while Pingora carries its own to [`take_pending`](Self::take_pending).
    pub(in crate::gateway) fn carry(&mut self, error: GatewayError) -> Box<Error> {
        let word = error.word();
        self.x.error_word = Some(word);
        self.pending = Some(error);
        Error::explain(ErrorType::new("portcullis"), word)
    }

    /// Whether an error of ours is kept.
    pub(in crate::gateway) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The error that was kept.
    pub(in crate::gateway) fn take_pending(&mut self) -> Option<GatewayError> {
        self.pending.take()
    }

    /// Ends the request, whatever came of it.
    pub(in crate::gateway) async fn done(mut self, outcome: RequestOutcome) {
        // Its place at the upstream is free now, whatever the log still does.
        self.state = RequestState::Done;
        self.chain.done(&mut self.x, outcome).await;
    }
}
