//! One request on its way to one peer, and how that went.

use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use crate::gateway::upstream::breaker::Permit;
use crate::gateway::upstream::pool::Upstream;

/// Peers that a request has been to already, by their places in the pool. Those beyond 64 are not remembered.
#[derive(Clone, Copy, Debug, Default)]
pub struct TriedPeers(u64);

impl TriedPeers {
    pub(super) fn has(self, peer: usize) -> bool {
        u32::try_from(peer).ok().and_then(|n| 1u64.checked_shl(n)).is_some_and(|bit| self.0 & bit != 0)
    }

    pub(super) fn add(&mut self, peer: usize) {
        self.0 |= u32::try_from(peer).ok().and_then(|n| 1u64.checked_shl(n)).unwrap_or(0);
    }
}

/// One attempt. Its peer and the pool's breaker learn how it went when it is dropped; of one that the caller gave up
/// they learn nothing.
pub struct Attempt {
    upstream: Arc<Upstream>,
    peer: usize,
    begun: Instant,
    went: Option<bool>,
}

impl Attempt {
    pub(super) fn new(upstream: Arc<Upstream>, peer: usize, begun: Instant) -> Self {
        Self { upstream, peer, begun, went: None }
    }

    /// The head of an answer is there: the peer works, unless it says itself that it does not. `pass` is told.
    pub fn answered(&mut self, status: StatusCode, permit: Option<&mut Permit>) {
        let well = !matches!(
            status,
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
        );
        self.went = Some(well);
        self.upstream.answers(self.begun);
        if let Some(permit) = permit {
            permit.tell(well);
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
            self.upstream.went(self.peer, well);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_remembered_up_to_the_64th() {
        let mut tried = TriedPeers::default();
        for peer in [0, 63, 64, usize::MAX] {
            assert!(!tried.has(peer));
            tried.add(peer);
            assert_eq!(tried.has(peer), peer < 64, "{peer}");
        }
        assert!(!tried.has(1));
    }
}
