//! One request on its way to one peer, and how that went.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use crate::gateway::upstream::breaker::Permit;
use crate::gateway::upstream::pool::Upstream;
use crate::gateway::upstream::selected::{DialedAddress, SelectedPeer};

/// One attempt. How it went is recorded for its peer when it is dropped; nothing is recorded of one that the caller gave up.
pub struct Attempt {
    upstream: Arc<Upstream>,
    dialed: DialedAddress,
    begun: Instant,
    went: Option<bool>,
}

impl Attempt {
    /// Begins one at the peer that was chosen; `again`: there was another one before.
    pub fn begin(upstream: &Arc<Upstream>, chosen: &SelectedPeer, again: bool) -> Self {
        let begun = upstream.begin_attempt(again);
        Self { upstream: Arc::clone(upstream), dialed: chosen.dialed(), begun, went: None }
    }

    /// Notes the head of an answer: the peer works, unless its status says that it does not. So does `permit`.
    pub fn answered(&mut self, status: StatusCode, permit: Option<&mut Permit>) {
        let well = !matches!(
            status,
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
        );
        self.went = Some(well);
        self.upstream.reached(&self.dialed);
        self.upstream.answers(self.begun);
        if let Some(permit) = permit {
            permit.record(well);
        }
    }

    /// Its address could not be connected to. That is the peer's fault if it has no other.
    pub fn unreachable(&mut self) {
        if self.upstream.unreachable(&self.dialed) {
            self.failed();
        }
    }

    /// It failed, by the peer's fault.
    pub fn failed(&mut self) {
        self.went = Some(false);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(well) = self.went {
            self.upstream.went(self.dialed.place, well);
        }
    }
}
