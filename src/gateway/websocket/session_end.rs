//! Why a session ends, and when one does that is to end once no message is under way.

use std::time::Duration;

use tokio::time::Instant;

use crate::api::ApiError;
use crate::gateway::error::GatewayError;
use crate::stream::websocket::WebSocketError;

/// How long a message may go on whose route is another now, or has another policy.
const LAST_MESSAGE: Duration = Duration::from_secs(5);

/// Which side is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The caller.
    Client,
    /// The upstream.
    Server,
}

/// Why a session ends.
pub(super) enum SessionEnd {
    /// Both sides have said so, or one has gone.
    Over,
    /// The caller has gone without a word.
    Left,
    /// By the fault of a side, or of ours.
    Failed(Side, GatewayError, u16),
}

/// That the message which is under way is a session's last.
pub(super) struct LastMessage {
    why: GatewayError,
    /// When the session ends all the same; a process that drains knows itself how long it waits.
    by: Option<Instant>,
}

impl LastMessage {
    /// Of a session whose route is another now.
    pub(super) fn under_old_policy() -> Self {
        Self { why: GatewayError::RouteChanged, by: Some(Instant::now() + LAST_MESSAGE) }
    }

    /// Of a process that drains.
    pub(super) fn of_draining() -> Self {
        Self { why: GatewayError::Draining, by: None }
    }

    /// When it is awaited no more.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.by
    }

    /// Whether it has been awaited long enough.
    pub(super) fn is_overdue(&self) -> bool {
        self.by.is_some_and(|by| by <= Instant::now())
    }
}

impl From<LastMessage> for SessionEnd {
    fn from(last: LastMessage) -> Self {
        let code = last.why.close_code();
        Self::Failed(Side::Client, last.why, code)
    }
}

/// The end by frames that are not as they must be.
pub(super) fn of_violation(side: Side, violation: &WebSocketError) -> SessionEnd {
    let error = match (side, violation) {
        (_, WebSocketError::Exhausted(why)) => (*why).into(),
        (Side::Client, WebSocketError::TooLarge { limit }) => GatewayError::Api(ApiError::TooLarge(*limit)),
        (Side::Client, WebSocketError::NotText) => GatewayError::BadBody("a text is not UTF-8"),
        (Side::Client, WebSocketError::Protocol(why)) => GatewayError::BadBody(why),
        (Side::Server, WebSocketError::TooLarge { .. }) => {
            GatewayError::Unscannable("a unit of it is too large")
        }
        (Side::Server, _) => GatewayError::Unscannable("it is not WebSocket"),
    };
    SessionEnd::Failed(side, error, violation.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_last_message_under_an_old_policy_is_awaited_for_a_while_only() {
        let (old, draining) = (LastMessage::under_old_policy(), LastMessage::of_draining());
        assert!(!old.is_overdue() && old.deadline().is_some());
        tokio::time::advance(LAST_MESSAGE).await;
        assert!(old.is_overdue() && !draining.is_overdue() && draining.deadline().is_none());
        for (last, code) in [(old, 1012), (draining, 1001)] {
            let end = SessionEnd::from(last);
            assert!(matches!(end, SessionEnd::Failed(Side::Client, _, said) if said == code), "{code}");
        }
    }
}
