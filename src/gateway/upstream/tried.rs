//! [`TriedPeers`]: where a request has been.

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
