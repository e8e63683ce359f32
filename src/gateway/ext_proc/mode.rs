//! How a proxy shows bodies, and which of these ways serve.

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::ext_proc::message::{
    BodySendMode, HeaderSendMode, ProcessingMode, ProcessingRequest, ProtocolConfiguration,
};
use crate::gateway::plan::RequestPlan;

/// What the proxy must be told by its own configuration.
const HOW: &str = "it is BUFFERED, STREAMED or FULL_DUPLEX_STREAMED in the proxy's `processing_mode`";

/// A proxy that does not say how it shows bodies.
pub(super) fn unsaid() -> GatewayError {
    tracing::error!(
        target: "portcullis::gateway",
        "refused: the proxy does not say how it shows bodies (`protocol_config`); a newer Envoy does"
    );
    MISCONFIGURED
}

/// A proxy that does not show heads.
pub(super) fn headless() -> GatewayError {
    tracing::error!(
        target: "portcullis::gateway",
        "refused: the proxy does not show the heads of requests first; `request_header_mode` is SEND in its `processing_mode`"
    );
    MISCONFIGURED
}

/// How the proxy shows the bodies of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyModes {
    /// The request's.
    pub(super) request: BodySendMode,
    /// The answer's.
    pub(super) answer: BodySendMode,
}

/// The proxy is not configured so that its exchanges can go through the chain. The log says why; callers learn nothing of it.
pub(super) const MISCONFIGURED: GatewayError = GatewayError::Api(ApiError::Internal("ext_proc"));

impl BodyModes {
    /// What the first message of a stream says of them; `None` where it says nothing, or something that is not known.
    pub(super) fn of(first: &ProcessingRequest) -> Option<Self> {
        let ProtocolConfiguration { request_body_mode, response_body_mode } = first.protocol_config?;
        Some(Self {
            request: BodySendMode::try_from(request_body_mode).ok()?,
            answer: BodySendMode::try_from(response_body_mode).ok()?,
        })
    }

    /// Whether the body of a request that is planned so can be processed.
    ///
    /// # Errors
    /// It cannot: it would pass unseen.
    pub(super) fn check_request(self, x: &Exchange, plan: &RequestPlan) -> Result<(), GatewayError> {
        let minds = plan.collects().is_some() || !plan.layers().is_empty() || plan.must_show_kind();
        let minds = x.sends_body() && (minds || x.route().max_body.is_some());
        match minds && !shows(self.request) {
            true => Err(misconfigured(x, "request_body_mode", self.request)),
            false => Ok(()),
        }
    }

    /// Whether the body of an answer can be processed.
    ///
    /// # Errors
    /// It cannot: it would pass unseen.
    pub(super) fn check_answer(self, x: &Exchange) -> Result<(), GatewayError> {
        if shows(self.answer) { Ok(()) } else { Err(misconfigured(x, "response_body_mode", self.answer)) }
    }

    /// What the proxy is asked for where bodies are streamed: what follows them too, without which nobody here sees that they
    /// end. It does so where it is configured to (`allow_mode_override`).
    pub(super) fn with_trailers(self) -> Option<ProcessingMode> {
        let streams = [self.request, self.answer].contains(&BodySendMode::Streamed);
        (streams && self.may_change()).then(|| self.asked())
    }

    /// Whether the proxy may be asked for other modes.
    pub(super) fn may_change(self) -> bool {
        ![self.request, self.answer].contains(&BodySendMode::FullDuplexStreamed)
    }

    /// These modes, and everything else shown.
    pub(super) fn asked(self) -> ProcessingMode {
        ProcessingMode {
            response_header_mode: HeaderSendMode::Send.into(),
            request_body_mode: self.request.into(),
            response_body_mode: self.answer.into(),
            request_trailer_mode: HeaderSendMode::Send.into(),
            response_trailer_mode: HeaderSendMode::Send.into(),
        }
    }
}

/// Whether all of a body is shown.
pub(super) fn shows(mode: BodySendMode) -> bool {
    matches!(mode, BodySendMode::Streamed | BodySendMode::Buffered | BodySendMode::FullDuplexStreamed)
}

fn misconfigured(x: &Exchange, setting: &'static str, mode: BodySendMode) -> GatewayError {
    let (route, request_id) = (&x.route().name, &x.id);
    tracing::error!(
        target: "portcullis::gateway", route, %request_id, setting, ?mode,
        "refused: the proxy does not show this body; {HOW}"
    );
    MISCONFIGURED
}
