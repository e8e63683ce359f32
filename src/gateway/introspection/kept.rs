//! [`Kept`]: what a server said of tokens, until it is too old. Bounded: of two generations the older one goes when the
//! younger is full, so what was asked for lately stays.

use std::collections::HashMap;
use std::time::Instant;

use crate::gateway::introspection::server::Standing;

/// What stands for a token: a digest under a key of this process.
pub(super) type Digest = [u8; 32];

/// The most bytes that a generation is charged for.
const GENERATION: usize = 8 << 20;

/// What an entry is charged for besides its answer, in bytes.
const ENTRY: usize = 256;

/// How much more a read answer takes than its text, about.
const READ: usize = 4;

/// One standing, and how long it is good.
#[derive(Clone)]
struct Entry {
    standing: Standing,
    until: Instant,
    charge: usize,
}

/// Standings by digest.
#[derive(Default)]
struct Generations {
    young: HashMap<Digest, Entry>,
    old: HashMap<Digest, Entry>,
    charged: usize,
}

/// Standings of tokens. Those that are active and those that are not do not crowd each other out: anybody can make up any
/// number of the others.
#[derive(Default)]
pub(super) struct Kept {
    active: Generations,
    inactive: Generations,
}

impl Kept {
    /// What is known of a token now.
    pub(super) fn get(&mut self, digest: &Digest, now: Instant) -> Option<Standing> {
        let Self { active, inactive } = self;
        [active, inactive].into_iter().find_map(|generations| generations.get(digest, now))
    }

    /// Keeps what a server said in an answer of so many bytes, in place of what it said before.
    pub(super) fn put(&mut self, digest: Digest, standing: Standing, bytes: usize, until: Instant) {
        let Self { active, inactive } = self;
        let (to, from) = match &standing {
            Standing::Active(_) => (active, inactive),
            Standing::Inactive => (inactive, active),
        };
        from.forget(&digest);
        to.put(digest, Entry { standing, until, charge: ENTRY + READ * bytes });
    }
}

impl Generations {
    fn get(&mut self, digest: &Digest, now: Instant) -> Option<Standing> {
        let known = self.young.get(digest).or_else(|| self.old.get(digest));
        let entry = known.filter(|entry| entry.until > now)?.clone();
        let standing = entry.standing.clone();
        if !self.young.contains_key(digest) {
            self.put(*digest, entry);
        }
        Some(standing)
    }

    fn put(&mut self, digest: Digest, entry: Entry) {
        if self.charged + entry.charge > GENERATION {
            self.old = std::mem::take(&mut self.young);
            self.charged = 0;
        }
        self.charged += entry.charge;
        if let Some(before) = self.young.insert(digest, entry) {
            self.charged -= before.charge;
        }
    }

    fn forget(&mut self, digest: &Digest) {
        self.old.remove(digest);
        if let Some(entry) = self.young.remove(digest) {
            self.charged -= entry.charge;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::base::clock::{Clock, SystemClock};
    use crate::vault::jwt::Introspected;

    fn active() -> Standing {
        Standing::Active(Arc::new(Introspected::parse(br#"{"active":true}"#).unwrap().unwrap()))
    }

    fn digest(n: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_le_bytes());
        digest
    }

    fn is_active(kept: &mut Kept, n: usize, now: Instant) -> Option<bool> {
        kept.get(&digest(n), now).map(|standing| matches!(standing, Standing::Active(_)))
    }

    #[test]
    fn a_standing_is_known_until_its_time_and_replaced_by_a_later_one() {
        let now = SystemClock.instant();
        let (soon, later) = (now + Duration::from_secs(1), now + Duration::from_secs(9));
        let mut kept = Kept::default();
        assert_eq!(is_active(&mut kept, 1, now), None);
        kept.put(digest(1), active(), 10, soon);
        assert_eq!(is_active(&mut kept, 1, now), Some(true));
        assert_eq!(is_active(&mut kept, 1, soon), None);
        kept.put(digest(1), Standing::Inactive, 10, later);
        assert_eq!(is_active(&mut kept, 1, soon), Some(false));
        kept.put(digest(1), active(), 10, later);
        assert_eq!(is_active(&mut kept, 1, soon), Some(true));
    }

    #[test]
    fn made_up_tokens_crowd_out_no_good_one_and_memory_has_its_bound() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = Kept::default();
        kept.put(digest(0), active(), 100, later);
        let many = 3 * GENERATION / ENTRY;
        for n in 1..=many {
            kept.put(digest(n), Standing::Inactive, 0, later);
        }
        assert_eq!(is_active(&mut kept, 0, now), Some(true));
        assert_eq!((is_active(&mut kept, 1, now), is_active(&mut kept, many, now)), (None, Some(false)));
        let Generations { young, old, charged } = &kept.inactive;
        assert!(young.len() + old.len() <= 2 * GENERATION / ENTRY, "{} {}", young.len(), old.len());
        assert_eq!(*charged, young.values().map(|entry| entry.charge).sum::<usize>());
    }

    #[test]
    fn what_is_asked_for_stays() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = Kept::default();
        for n in 0..4 * GENERATION / ENTRY {
            kept.put(digest(n), active(), 0, later);
            assert_eq!(is_active(&mut kept, 0, now), Some(true), "{n}");
        }
    }
}
