//! What the model said of windows it has read: an LLM client sends its whole history again every turn. A text that grows, or
//! that was read in part, is read on from there.
//!
//! A window is known by a digest of its pieces under keys that this process drew, never kept; what is kept are figures.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use super::word::Certainty;
use crate::base::generations::Generations;

/// Bytes that an entry takes beside its figures, about.
const ENTRY: usize = 96;

/// A window: two 64-bit digests (SipHash) under different keys, and how many pieces it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WindowKey(u64, u64, usize);

/// What was read last.
pub(super) struct WindowCache {
    keys: [RandomState; 2],
    /// The most bytes of one entry.
    largest: usize,
    kept: Mutex<Generations<Arc<[Certainty]>, WindowKey>>,
}

impl WindowCache {
    /// Of at most so many bytes; 0 keeps nothing.
    pub(super) fn new(bytes: usize) -> Self {
        let half = bytes / 2;
        Self {
            keys: [RandomState::new(), RandomState::new()],
            largest: half,
            kept: Mutex::new(Generations::new(half)),
        }
    }

    /// What a window is known by.
    pub(super) fn known(&self, pieces: &[u32]) -> WindowKey {
        let [a, b] = &self.keys;
        WindowKey(a.hash_one(pieces), b.hash_one(pieces), pieces.len())
    }

    pub(super) fn get(&self, window: WindowKey) -> Option<Arc<[Certainty]>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&window)
    }

    pub(super) fn put(&self, window: WindowKey, read: Arc<[Certainty]>) {
        let size = ENTRY + size_of_val(&*read);
        if size <= self.largest {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).put(window, read, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sure(count: usize) -> Arc<[Certainty]> {
        vec![Certainty { person: 0.0, place: 0.0 }; count].into()
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let cache = WindowCache::new(8 * (ENTRY + size_of::<Certainty>()));
        let first = cache.known(&[100]);
        cache.put(first, sure(1));
        for n in 0..40 {
            cache.put(cache.known(&[n]), sure(1));
            assert!(cache.get(first).is_some(), "after {n}");
        }
        assert!(cache.get(cache.known(&[0])).is_none());
        assert!(cache.get(cache.known(&[39])).is_some());
        let known = (0..40).filter(|n| cache.get(cache.known(&[*n])).is_some()).count();
        assert!(known <= 7, "{known}");
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let cache = WindowCache::new(1000);
        cache.put(cache.known(&[7]), sure(1000));
        assert!(cache.get(cache.known(&[7])).is_none());
        let none = WindowCache::new(0);
        none.put(none.known(&[7]), sure(0));
        assert!(none.get(none.known(&[7])).is_none());
    }
}
