//! [`TriedPeers`]: where a request has been.

use std::net::SocketAddr;

/// Peers that a request has been to already, by their places in the pool, and their addresses. Peers beyond 64 are not
/// remembered.
#[derive(Clone, Debug, Default)]
pub struct TriedPeers {
    peers: u64,
    addresses: Vec<SocketAddr>,
}

impl TriedPeers {
    pub(super) fn has(&self, peer: usize) -> bool {
        bit(peer).is_some_and(|bit| self.peers & bit != 0)
    }

    pub(super) fn add(&mut self, peer: usize) {
        self.peers |= bit(peer).unwrap_or(0);
    }

    pub(super) fn has_address(&self, address: SocketAddr) -> bool {
        self.addresses.contains(&address)
    }

    pub(super) fn add_address(&mut self, address: SocketAddr) {
        if !self.has_address(address) {
            self.addresses.push(address);
        }
    }
}

fn bit(peer: usize) -> Option<u64> {
    1u64.checked_shl(u32::try_from(peer).ok()?)
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

    #[test]
    fn addresses_are_remembered_with_their_ports() {
        let mut tried = TriedPeers::default();
        let [first, second] = [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        tried.add_address(first);
        tried.add_address(first);
        assert!(tried.has_address(first) && !tried.has_address(second));
        assert_eq!(tried.addresses.len(), 1);
    }
}
