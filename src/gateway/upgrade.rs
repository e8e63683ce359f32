//! A request for a WebSocket: sent as a collected one is, and carried as a session once the upstream agrees.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use pingora::connectors::http::Connector;
use pingora::proxy::Session;

use crate::gateway::dialer::Dialer;
use crate::gateway::error::GatewayError;
use crate::gateway::relay::finish;
use crate::gateway::sending::{SendPath, Upgrade, send};
use crate::gateway::state::{ActiveRequest, RequestState};
use crate::gateway::websocket::{TunnelParts, check_answer, tunnel};

/// By what a WebSocket is asked for, and how patiently.
pub(super) struct UpgradeRequest<'a> {
    /// Knows the peers.
    pub(super) dialer: &'a mut dyn Dialer,
    /// Opens connections.
    pub(super) connector: &'a Connector,
    /// The longest silence of a caller within a message.
    pub(super) read: Duration,
}

/// Asks for a WebSocket and carries its messages. An upstream that does not agree has its answer brought back.
///
/// # Errors
/// An error before the first byte of the answer, or a caller that left.
pub(super) async fn upgrade(
    session: &mut Session,
    request: &mut ActiveRequest,
    upgrade: UpgradeRequest<'_>,
) -> Result<(), GatewayError> {
    let UpgradeRequest { dialer, connector, read } = upgrade;
    request.state = RequestState::Collected;
    let plan = request.chain.messages(&mut request.x).await?;
    let reads = plan.reads();
    let mut via = SendPath { dialer, connector, upgrade: Some(Upgrade { reads }) };
    let mut sent = Box::pin(send(session, &mut request.x, &mut via, &Bytes::new())).await?;
    if sent.head.status != StatusCode::SWITCHING_PROTOCOLS {
        return finish(session, request, sent, via).await;
    }
    let mut head = sent.head.clone();
    if let Err(error) = check_answer(&mut head, reads) {
        sent.up.shutdown().await;
        return Err(error);
    }
    via.dialer.answer_head(session, &mut head).await?;
    request.answer(&mut head).await?;
    session.write_response_header(Box::new(head), false).await.map_err(|_| GatewayError::Gone)?;
    tunnel(TunnelParts { session, upstream: &mut sent.up, x: &mut request.x, plan, read }).await;
    Ok(())
}
