//! What the model said of windows it has read: an LLM client sends its whole history again every turn. A text that grows, or
//! that was read in part, is read on from there.
//!
//! A window is known by a digest of its pieces under keys that this process drew, never kept; what is kept are figures.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use super::word::Certainty;

/// Bytes that an entry takes beside its figures, about.
const ENTRY: usize = 96;

/// A window: two 64-bit digests (SipHash) under different keys, and how many pieces it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WindowKey(u64, u64, usize);

/// What was read last, in two halves: once the young one is full it becomes the old one, which is forgotten.
pub(super) struct WindowCache {
    keys: [RandomState; 2],
    /// The most bytes of both halves.
    bytes: usize,
    halves: Mutex<CacheHalves>,
}

#[derive(Default)]
struct CacheHalves {
    young: HashMap<WindowKey, Arc<[Certainty]>>,
    old: HashMap<WindowKey, Arc<[Certainty]>>,
    /// Bytes of the young half.
    bytes: usize,
}

impl WindowCache {
    /// Of at most so many bytes; 0 keeps nothing.
    pub(super) fn new(bytes: usize) -> Self {
        Self { keys: [RandomState::new(), RandomState::new()], bytes, halves: Mutex::default() }
    }

    /// What a window is known by.
    pub(super) fn known(&self, pieces: &[u32]) -> WindowKey {
        let [a, b] = &self.keys;
        WindowKey(a.hash_one(pieces), b.hash_one(pieces), pieces.len())
    }

    pub(super) fn get(&self, window: WindowKey) -> Option<Arc<[Certainty]>> {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = halves.young.get(&window) {
            return Some(Arc::clone(read));
        }
        let read = halves.old.remove(&window)?;
        self.keep(&mut halves, window, Arc::clone(&read));
        Some(read)
    }

    pub(super) fn put(&self, window: WindowKey, read: Arc<[Certainty]>) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        self.keep(&mut halves, window, read);
    }

    fn keep(&self, halves: &mut CacheHalves, window: WindowKey, read: Arc<[Certainty]>) {
        let size = ENTRY + size_of_val(&*read);
        if size > self.bytes / 2 {
            return;
        }
        if halves.bytes + size > self.bytes / 2 {
            halves.old = std::mem::take(&mut halves.young);
            halves.bytes = 0;
        }
        if halves.young.insert(window, read).is_none() {
            halves.bytes += size;
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
        let halves = cache.halves.lock().unwrap();
        assert!(halves.young.len() <= 4 && halves.old.len() <= 4);
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
