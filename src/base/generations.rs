//! [`Generations`]: what is known of things, in a bounded room: of two generations the older one goes when the younger is full,
//! so what was asked for lately stays. Things are known by a digest under a key of this process.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

/// What stands for a thing.
pub type Digest = [u8; 32];

#[derive(Clone)]
struct Entry<V> {
    value: V,
    charge: usize,
}

/// A value that holds for a time.
#[derive(Clone, Copy, Debug)]
pub struct Timed<V> {
    /// What holds.
    pub value: V,
    /// Until then.
    pub until: Instant,
}

/// Values by digest.
pub struct Generations<V, K = Digest> {
    young: HashMap<K, Entry<V>>,
    old: HashMap<K, Entry<V>>,
    /// Of the younger one, in bytes.
    charged: usize,
    most: usize,
}

impl<V: Clone, K: Copy + Eq + Hash> Generations<V, K> {
    /// Nothing yet; each of the two generations is charged for at most `most` bytes, or for one value that takes more.
    pub fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), charged: 0, most }
    }

    /// What is known of a thing.
    pub fn get(&mut self, digest: &K) -> Option<V> {
        if let Some(entry) = self.young.get(digest) {
            return Some(entry.value.clone());
        }
        let entry = self.old.remove(digest)?;
        let value = entry.value.clone();
        self.keep(*digest, entry);
        Some(value)
    }

    /// Keeps a value of about `charge` bytes, in place of the one before.
    pub fn put(&mut self, digest: K, value: V, charge: usize) {
        self.keep(digest, Entry { value, charge });
    }

    /// Nothing is known of this thing any more.
    pub fn forget(&mut self, digest: &K) {
        self.old.remove(digest);
        if let Some(entry) = self.young.remove(digest) {
            self.charged -= entry.charge;
        }
    }

    fn keep(&mut self, digest: K, entry: Entry<V>) {
        if self.charged + entry.charge > self.most {
            self.old = std::mem::take(&mut self.young);
            self.charged = 0;
        }
        self.charged += entry.charge;
        if let Some(before) = self.young.insert(digest, entry) {
            self.charged -= before.charge;
        }
    }
}

impl<V: Clone, K: Copy + Eq + Hash> Generations<Timed<V>, K> {
    /// What is known of a thing now.
    pub fn current(&mut self, digest: &K, now: Instant) -> Option<V> {
        let known = self.young.get(digest).or_else(|| self.old.get(digest));
        known.filter(|entry| entry.value.until > now)?;
        self.get(digest).map(|timed| timed.value)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::base::clock::{Clock, SystemClock};

    const MOST: usize = 4 << 10;
    const CHARGE: usize = 128;

    fn digest(n: usize) -> Digest {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_le_bytes());
        digest
    }

    fn charged(kept: &Generations<Timed<usize>>) -> usize {
        kept.young.values().map(|entry| entry.charge).sum()
    }

    #[test]
    fn what_is_asked_for_stays_until_its_time_and_memory_has_its_bound() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = Generations::new(MOST);
        let most = MOST / CHARGE;
        for n in 0..3 * most {
            kept.put(digest(n), Timed { value: n, until: later }, CHARGE);
            assert_eq!(kept.current(&digest(0), now), Some(0), "{n}");
            assert!(kept.young.len() + kept.old.len() <= 2 * most, "{n}");
            assert_eq!(kept.charged, charged(&kept), "{n}");
        }
        assert_eq!((kept.current(&digest(1), now), kept.current(&digest(0), later)), (None, None));
    }

    #[test]
    fn a_value_takes_the_place_of_the_one_before_and_can_be_forgotten_in_both_generations() {
        let now = SystemClock.instant();
        let later = now + Duration::from_secs(9);
        let mut kept = Generations::new(MOST);
        for n in 0..3 {
            kept.put(digest(0), Timed { value: n, until: later }, MOST / 2);
            assert_eq!((kept.current(&digest(0), now), kept.charged), (Some(n), charged(&kept)));
        }
        // Larger than a generation: it stands alone.
        kept.put(digest(1), Timed { value: 9, until: later }, 2 * MOST);
        assert_eq!(kept.current(&digest(1), now), Some(9));
        for n in [0, 1] {
            kept.forget(&digest(n));
            assert_eq!((kept.current(&digest(n), now), kept.charged), (None, charged(&kept)));
        }
    }
}
