//! [`TokenStatusCache`]: what a server said of tokens, until it is too old, in a bounded room.

use std::time::Instant;

pub(super) use crate::base::generations::Digest;
use crate::base::generations::{Generations, Timed};
use crate::gateway::introspection::server::TokenStatus;

/// The most bytes that a generation is charged for.
const GENERATION: usize = 8 << 20;

/// What an entry is charged for besides its answer, in bytes.
const ENTRY: usize = 256;

/// How much more a read answer takes than its text, about.
const READ: usize = 4;

/// Standings of tokens. Those that are active and those that are not do not crowd each other out: anybody can make up any
/// number of the others.
pub(super) struct TokenStatusCache {
    active: Generations<Timed<TokenStatus>>,
    inactive: Generations<Timed<TokenStatus>>,
}

impl Default for TokenStatusCache {
    fn default() -> Self {
        Self { active: Generations::new(GENERATION), inactive: Generations::new(GENERATION) }
    }
}

impl TokenStatusCache {
    /// What is known of a token now.
    pub(super) fn get(&mut self, digest: &Digest, now: Instant) -> Option<TokenStatus> {
        let Self { active, inactive } = self;
        [active, inactive].into_iter().find_map(|generations| generations.current(digest, now))
    }

    /// Keeps what a server said in an answer of so many bytes, in place of what it said before.
    pub(super) fn put(&mut self, digest: Digest, standing: TokenStatus, bytes: usize, until: Instant) {
        let Self { active, inactive } = self;
        let (to, from) = match &standing {
            TokenStatus::Active(_) => (active, inactive),
            TokenStatus::Inactive => (inactive, active),
        };
        from.forget(&digest);
        to.put(digest, Timed { value: standing, until }, ENTRY + READ * bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::base::clock::{Clock, SystemClock};
    use crate::vault::jwt::Introspected;

    fn active() -> TokenStatus {
        TokenStatus::Active(Arc::new(Introspected::parse(br#"{"active":true}"#).unwrap().unwrap()))
    }

    fn digest(n: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_le_bytes());
        digest
    }

    fn is_active(kept: &mut TokenStatusCache, n: usize, now: Instant) -> Option<bool> {
        kept.get(&digest(n), now).map(|standing| matches!(standing, TokenStatus::Active(_)))
    }

    #[test]
    fn a_standing_is_known_until_its_time_and_replaced_by_a_later_one() {
        let now = SystemClock.instant();
        let (soon, later) = (now + Duration::from_secs(1), now + Duration::from_secs(9));
        let mut kept = TokenStatusCache::default();
        assert_eq!(is_active(&mut kept, 1, now), None);
        kept.put(digest(1), active(), 10, soon);
        assert_eq!(is_active(&mut kept, 1, now), Some(true));
        assert_eq!(is_active(&mut kept, 1, soon), None);
        kept.put(digest(1), TokenStatus::Inactive, 10, later);
        assert_eq!(is_active(&mut kept, 1, soon), Some(false));
        kept.put(digest(1), active(), 10, later);
        assert_eq!(is_active(&mut kept, 1, soon), Some(true));
    }

    #[test]
    fn made_up_tokens_crowd_out_no_good_one_and_memory_has_its_bound() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = TokenStatusCache::default();
        kept.put(digest(0), active(), 100, later);
        let many = 3 * GENERATION / ENTRY;
        for n in 1..=many {
            kept.put(digest(n), TokenStatus::Inactive, 0, later);
        }
        assert_eq!(is_active(&mut kept, 0, now), Some(true));
        assert_eq!((is_active(&mut kept, 1, now), is_active(&mut kept, many, now)), (None, Some(false)));
        let known = (1..=many).filter(|n| kept.inactive.current(&digest(*n), now).is_some()).count();
        assert!(known <= 2 * GENERATION / ENTRY, "{known}");
    }

    #[test]
    fn what_is_asked_for_stays() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = TokenStatusCache::default();
        for n in 0..4 * GENERATION / ENTRY {
            kept.put(digest(n), active(), 0, later);
            assert_eq!(is_active(&mut kept, 0, now), Some(true), "{n}");
        }
    }
}
