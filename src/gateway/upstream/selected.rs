//! [`SelectedPeer`]: where a request goes next.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::HeaderValue;
use pingora::upstreams::peer::HttpPeer;

use crate::gateway::upstream::addresses::ResolvedAddresses;

/// A chosen peer, and one of its addresses.
pub struct SelectedPeer {
    /// What `Host` says.
    pub authority: HeaderValue,
    place: usize,
    known: Arc<ResolvedAddresses>,
    dial: usize,
}

/// An address of a peer that is connected to.
#[derive(Clone, Copy)]
pub(super) struct DialedAddress {
    /// The peer's place in the pool.
    pub(super) place: usize,
    pub(super) address: Option<SocketAddr>,
}

impl SelectedPeer {
    /// The peer at `place` of its pool, at the address `dial` of those that are known.
    pub(super) fn new(
        authority: HeaderValue,
        place: usize,
        known: Arc<ResolvedAddresses>,
        dial: usize,
    ) -> Self {
        Self { authority, place, known, dial }
    }

    /// How the connector reaches it.
    pub fn dial(&self) -> Option<&HttpPeer> {
        self.known.dials.get(self.dial).map(|(_, peer)| peer)
    }

    /// Where it is.
    pub(super) fn dialed(&self) -> DialedAddress {
        let address = self.known.dials.get(self.dial).map(|(address, _)| *address);
        DialedAddress { place: self.place, address }
    }
}
